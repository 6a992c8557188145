//! Where threads and strands spent their time, as `heddle record --sched` has it: on a processor,
//! ready and without one, or blocked, and on what.

mod between;
mod collect;
mod on_thread;
mod sum;

pub use between::{BLOCKED, Between, READY, Stretches, why_off};
pub use on_thread::OnThread;
pub use sum::{Cause, Group, Split, State};

use crate::names::Names;
use crate::notes;
use crate::waits::Labels;
use anyhow::{Context, bail};
use collect::Collect;
use heddle_calls::Loose;
use heddle_strands::{Analysis, StrandId, Unresolved};
use heddle_trace_file::{Early, Nanos, Remarks, Switches, Trace};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// What a trace says of processors.
pub struct Sched {
    /// Strands of one process, kind and name; each thread by itself.
    pub groups: Vec<Group>,
    /// Of the strand that was asked for.
    pub one: Option<Split>,
    pub loose: Loose,
    pub remarks: Remarks,
    pub unresolved: Vec<Unresolved>,
}

/// The switches of a trace.
///
/// # Errors
/// They were not asked for, or the kernel has refused them.
pub fn switches(trace: &Trace) -> anyhow::Result<Switches> {
    let path = trace.path().display();
    let switches = trace.switches()?.with_context(|| match trace.lacks_switches() {
        true => format!(
            "{path}: when threads were off their processors is not known: the file switches is gone or damaged"
        ),
        false => format!(
            "{path}: when threads were off their processors was not recorded; record again: heddle record --sched …"
        ),
    })?;
    if let Some(refused) = switches.refused {
        bail!(
            "{path}: when threads were off their processors is not known: {}",
            notes::refusal(refused)
        );
    }
    Ok(switches)
}

/// The stretches off a processor of all threads, where they are known. Warns where the latest are
/// missing.
///
/// # Errors
/// What reading them gives.
pub fn stretches(trace: &Trace) -> anyhow::Result<Option<Arc<Stretches>>> {
    let known = known_stretches(trace)?;
    if let Some(early) = known.as_ref().and_then(|known| early(known.switches())) {
        notes::warning(early);
    }
    Ok(known)
}

/// The same, for who says himself what is missing.
///
/// # Errors
/// What reading them gives.
pub fn known_stretches(trace: &Trace) -> anyhow::Result<Option<Arc<Stretches>>> {
    let known = trace
        .switches()?
        .filter(|switches| switches.refused.is_none());
    Ok(known.map(|switches| Arc::new(Stretches::new(trace, switches))))
}

/// Reads the whole trace, in order of time; `one`: a strand of which the split is wanted by itself.
///
/// # Errors
/// Those of [`switches`], and what reading the trace gives.
pub fn read<'a>(
    trace: &'a Trace,
    mut names: Names<'a>,
    one: Option<StrandId>,
) -> anyhow::Result<Sched> {
    let switches = switches(trace)?;
    tell_incomplete(&switches);
    let (told, has_end) = (switches.told, switches.early.is_none());
    let stretches = Arc::new(Stretches::new(trace, switches));
    let labels = Rc::new(Labels::of_all(trace, &mut names)?);
    let names = Rc::new(RefCell::new(names));
    let analysis = Analysis::new(trace, names.borrow_mut().images());
    let make = |process| {
        let (names, labels) = (names.clone(), labels.clone());
        let off = Between::new(&stretches, process);
        Collect::new(trace, process, off, names, labels, one)
    };
    let decoded = analysis.stream(make, |_, _, _| true)?;
    let (mut groups, mut split) = (Vec::new(), None);
    for (_, collect) in decoded.sinks {
        let found = collect.finish();
        groups.extend(found.0);
        split = split.or(found.1);
    }
    tell_unknown(&groups, told, has_end);
    Ok(Sched {
        groups,
        one: split,
        loose: decoded.loose,
        remarks: decoded.remarks,
        unresolved: decoded.unresolved,
    })
}

/// Warns of what threads did when `heddle record` had ended: processes may outlive it.
fn tell_unknown(groups: &[Group], told: Nanos, has_end: bool) {
    let unknown = groups
        .iter()
        .map(|group| group.split.of(State::NotKnown).total.0);
    let unknown = Nanos(unknown.fold(0, u64::saturating_add));
    if has_end && unknown > Nanos(0) {
        notes::warning(unknown_after(told, unknown));
    }
}

/// Says that time is not known in which threads went on recording.
pub fn unknown_after(told: Nanos, unknown: Nanos) -> String {
    format!(
        "the program went on when heddle record had ended: what threads did after {told} is not known ({unknown} of all threads together)"
    )
}

/// Why the latest switches are missing, and what follows, if they are.
pub fn early(switches: &Switches) -> Option<String> {
    let why = match switches.early? {
        Early::Unfinished => "heddle record was killed, or still records".to_owned(),
        Early::Unwritten(error) => {
            let why = notes::reasons(std::iter::once(error));
            format!("heddle record could not write them ({why})")
        }
        Early::Cut => "the file switches was cut".to_owned(),
    };
    Some(format!(
        "the latest switches of threads are missing: {why}; what threads did after {} is not known",
        switches.told
    ))
}

/// Warns of what is missing among the switches.
fn tell_incomplete(switches: &Switches) {
    if switches.lost > 0 {
        notes::warning(format_args!(
            "{} lost: the kernel's records came faster than heddle record could take them, and what was not seen counts as running",
            notes::were(switches.lost, "switch record")
        ));
    }
    if let Some(early) = early(switches) {
        notes::warning(early);
    }
}
