//! The lines of a trace by strand.

use super::Line;
use crate::names::Names;
use crate::strand_list::label;
use heddle_calls::{End, Loose};
use heddle_strands::{Call, Kind, Plan, Sink, Strand, StrandId, StrandSpan, Unresolved};
use heddle_trace_file::{Callee, Error, Event, Nanos, Place, Remarks, Trace};
use std::collections::HashMap;

/// What an event became.
#[derive(Clone, Copy, Debug)]
enum Became {
    Nothing,
    Enter(Call),
    Exit(StrandSpan),
    Unmatched(StrandId, Callee, Nanos),
    Other(StrandId),
}

/// Remembers what the last event became, and who is alive.
struct Latest {
    became: Became,
    depths: HashMap<StrandId, usize>,
    /// Those that live.
    strands: HashMap<StrandId, Strand>,
    /// Those whose label is another now, or is not needed any more.
    changed: Vec<StrandId>,
}

impl Sink for Latest {
    fn born(&mut self, strand: &Strand) {
        self.strands.insert(strand.id, strand.clone());
    }

    fn named(&mut self, strand: &Strand) {
        self.strands.insert(strand.id, strand.clone());
        self.changed.push(strand.id);
    }

    fn enter(&mut self, call: &Call) {
        self.depths.insert(call.strand, call.depth + 1);
        self.became = Became::Enter(*call);
    }

    fn leave(&mut self, span: &StrandSpan) {
        self.depths.insert(span.strand, span.span.depth);
        if span.span.end == End::Returned {
            self.became = Became::Exit(*span);
        }
    }

    fn unmatched(&mut self, strand: StrandId, _thread: usize, function: Callee, time: Nanos) {
        self.became = Became::Unmatched(strand, function, time);
    }

    fn other(&mut self, strand: StrandId, _thread: usize, _event: &Event<'_>) {
        self.became = Became::Other(strand);
    }

    fn ended(&mut self, strand: &Strand) {
        self.depths.remove(&strand.id);
        self.changed.push(strand.id);
    }
}

/// What else is to be said.
pub struct Told {
    pub loose: Loose,
    pub remarks: Remarks,
    pub unresolved: Vec<Unresolved>,
}

/// One event of a strand: a call's line, or another event and the depth at which it was.
pub enum Step<'a> {
    Line(Line),
    Other(&'a Event<'a>, usize),
}

/// Gives `each` every event, in order of time, with its strand's label.
///
/// # Errors
/// What reading the trace gives, and what `each` gives.
pub fn replay(
    trace: &Trace,
    names: &mut Names<'_>,
    mut each: impl FnMut(&str, Step<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<Told> {
    let plan = Plan::new(trace, names.images());
    let mut labels = Labels {
        trace,
        known: HashMap::new(),
    };
    let mut failed = None;
    let latest = |_| Latest {
        became: Became::Nothing,
        depths: HashMap::new(),
        strands: HashMap::new(),
        changed: Vec::new(),
    };
    let decoded: Result<_, Error> = plan.stream(latest, |place: Place, event, latest| {
        let (id, step) = match std::mem::replace(&mut latest.became, Became::Nothing) {
            Became::Nothing => return true,
            Became::Enter(call) => {
                let line = Line::enter_on_strand(names, place, &call);
                (call.strand, Step::Line(line))
            }
            Became::Exit(span) => {
                let line = Line::exit_on_strand(names, place, &span);
                (span.strand, Step::Line(line))
            }
            Became::Unmatched(id, function, time) => {
                let depth = latest.depths.get(&id).copied().unwrap_or(0);
                let line = Line::unmatched(names, place, time, function, depth);
                (id, Step::Line(line))
            }
            Became::Other(id) => {
                let depth = latest.depths.get(&id).copied().unwrap_or(0);
                (id, Step::Other(event, depth))
            }
        };
        let label = labels.of(names, id, latest.strands.get(&id));
        failed = each(label, step).err();
        for id in latest.changed.drain(..) {
            labels.known.remove(&id);
            if !latest.depths.contains_key(&id) {
                latest.strands.remove(&id);
            }
        }
        failed.is_none()
    });
    let decoded = decoded?;
    failed.map_or(Ok(()), Err)?;
    Ok(Told {
        loose: decoded.loose,
        remarks: decoded.remarks,
        unresolved: decoded.unresolved,
    })
}

struct Labels<'a> {
    trace: &'a Trace,
    known: HashMap<StrandId, String>,
}

impl Labels<'_> {
    /// `3 body(int)`: number and name.
    fn of(&mut self, names: &mut Names<'_>, id: StrandId, strand: Option<&Strand>) -> &str {
        const WIDTH: usize = 20;
        self.known.entry(id).or_insert_with(|| {
            let name = match strand {
                Some(strand) if strand.kind == Kind::Thread && strand.name().is_none() => {
                    "?".into()
                }
                Some(strand) => names.strand(strand),
                None => "?".into(),
            };
            let text = format!("{} {name}", label(self.trace, id));
            format!("{text:WIDTH$}")
        })
    }
}
