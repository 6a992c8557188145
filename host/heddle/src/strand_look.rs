//! Whether a trace has more than threads, for what must know that before it begins.

use crate::names::Names;
use heddle_calls::{Profile, Source, Stack, Wanted, Workers};
use heddle_strands::Analysis;
use heddle_trace_file::{Error, EventKind, Thread, Trace};

/// The number of events that are looked at in all threads together. It takes a millisecond, and
/// covers a trace whose threads have not filled a block each.
const LOOK: usize = 1 << 17;

/// The number of events that are looked at in each thread at least.
const LEAST: usize = 256;

/// Whether the trace has fibers or coroutines: as far as the beginning of each thread tells, and of
/// each stretch of its events. Where those show nothing else than one stack a thread, nothing is
/// decoded.
///
/// # Errors
/// What reading the trace gives.
pub fn finds_more_than_threads(trace: &Trace, names: &mut Names<'_>) -> Result<bool, Error> {
    let threads = || {
        trace
            .processes()
            .iter()
            .flat_map(|process| process.threads())
    };
    let each = (LOOK / threads().count().max(1)).max(LEAST);
    for thread in threads() {
        if may_run_others(thread, each)? {
            return Analysis::new(trace, names.images()).has_more_than_threads();
        }
    }
    Ok(false)
}

/// Whether the trace may have fibers or coroutines, as all events of all threads tell.
///
/// # Errors
/// What reading the trace gives.
pub fn has_more_than_threads(trace: &Trace) -> Result<bool, Error> {
    let threads = trace.processes().iter().flat_map(|process| {
        let threads = process.threads().iter();
        threads.map(|thread| Source::new(thread, process.modules()))
    });
    let threads: Vec<_> = threads.collect();
    let profiles = Profile::of_wanted(&threads, Workers::all(), Wanted::OneStrand)?;
    Ok(profiles.iter().any(Option::is_none))
}

fn may_run_others(thread: &Thread, events: usize) -> Result<bool, Error> {
    let mut stack = Stack::of(thread);
    for event in thread.events().take(events) {
        let event = event?;
        if matches!(event.kind, EventKind::Enter { frame: Some(_), .. }) {
            return Ok(true);
        }
        stack.feed(event, |_, _| {});
        // Or the thread's own stack has those of fibers in it.
        let loose = stack.loose();
        let leaves_stack = stack.may_have_fibers() || stack.was_elsewhere();
        if leaves_stack || (loose.unwound > 0 && loose.unmatched > 0) {
            return Ok(true);
        }
    }
    Ok(thread.runs().any(|run| run.begins_elsewhere()))
}
