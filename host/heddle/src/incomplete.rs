//! Says what is incomplete in a trace that was read.

use crate::left_open;
use crate::notes::{
    barred, counted, damaged, have, note, reasons, times, uncertain, warning, were,
};
use heddle_calls::Loose;
use heddle_symbols::printable;
use heddle_trace_file::{EventKind, Process, Remarks, Trace};

/// Says what is incomplete in a trace whose calls were read, if anything.
pub fn tell(trace: &Trace, loose: Loose, remarks: &Remarks) {
    losses(trace, loose, remarks);
    if !has_calls(trace) {
        warning(format_args!(
            "no call is in {}{}",
            trace.path().display(),
            why_no_calls(trace, remarks)
        ));
    }
}

/// Whether there is a call in the trace, or what damage leaves of it. Reads up to the first one.
fn has_calls(trace: &Trace) -> bool {
    let mut threads = trace.processes().iter().flat_map(Process::threads);
    threads.any(|thread| {
        thread.events().any(|event| match event {
            Ok(event) => matches!(event.kind, EventKind::Enter { .. } | EventKind::Exit { .. }),
            Err(_) => true,
        })
    })
}

/// Why a trace may have no calls, and what to do; nothing where some are known to be missing, or
/// may come yet, of which other lines tell.
fn why_no_calls(trace: &Trace, remarks: &Remarks) -> String {
    let is_whole = |process: &Process| {
        let missing = [
            process.dropped(),
            process.missing_threads().into(),
            process.missing_runs(),
            process.missing_blocks(),
            process.damages().places,
        ];
        !process.running() && missing.into_iter().all(|count| count == 0)
    };
    let found_whole = remarks.dropped == 0 && remarks.damages.places == 0 && trace.lost().0 == 0;
    if !found_whole || trace.lacking().next().is_some() || !trace.processes().iter().all(is_whole) {
        return String::new();
    }
    match trace.filters() {
        Some(filters) => format!(
            ": none was wanted by the options of heddle record ({})",
            printable(filters)
        ),
        // A trace does not tell that recording was never on.
        None => "; was the program compiled with -finstrument-functions (`heddle flags` prints the flags to use), and recording ever on (--paused)?".to_owned(),
    }
}

/// Says what is incomplete in a trace that was read, if anything, for readers who need no calls.
pub fn losses(trace: &Trace, loose: Loose, remarks: &Remarks) {
    let dropped = trace.processes().iter().map(Process::dropped);
    let dropped = dropped.fold(remarks.dropped, u64::saturating_add);
    let (lost, why_lost) = trace.lost();
    let dropped = dropped.saturating_add(lost);
    if dropped > 0 {
        let why = trace.processes().iter().filter_map(Process::trouble);
        let why = reasons(why.chain(why_lost));
        warning(format_args!(
            "{} dropped while recording ({why}): calls and times are missing",
            were(dropped, "event")
        ));
    }
    if let Some(barred) = barred(&trace.lost_counts()) {
        warning(format_args!("{barred}: its calls and times are missing"));
    }
    damaged(&remarks.damages);
    if remarks.shapeless > 0 {
        warning(format_args!(
            "the arguments or results of {} are not shown: the file shapes does not say any more what they are",
            counted(remarks.shapeless, "call")
        ));
    }
    if remarks.pauses > 0 {
        note(format_args!(
            "recording was paused {}: calls that were open then may have ended meanwhile",
            times(remarks.pauses)
        ));
    }
    if remarks.uncertainty.events() > 0 {
        note(uncertain(&remarks.uncertainty));
    }
    if loose.unmatched > 0 {
        note(format_args!(
            "{} no enter: recording began, or went on, inside the call, or it is a thunk (docs/replay.md)",
            have(loose.unmatched, "exit")
        ));
    }
    if loose.unwound > 0 {
        note(format_args!(
            "{} left without an exit (longjmp or the like): timed until the next event that shows it",
            were(loose.unwound, "call")
        ));
    }
    if loose.open > 0 {
        note(format_args!(
            "{} still open at the end{}: timed until the thread's last event",
            were(loose.open, "call"),
            left_open::in_brackets(trace, loose.open)
        ));
    }
}
