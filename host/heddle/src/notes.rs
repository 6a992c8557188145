//! What is said on stderr beside the result.

use heddle_calls::Loose;
use std::fmt::Display;

/// A note: all is well, and there is something to know.
pub fn note(text: impl Display) {
    anstream::eprintln!("heddle: {text}");
}

/// A warning: the result is not what it could be, and here is what to do.
pub fn warning(text: impl Display) {
    let (yellow, reset) = (
        anstyle::AnsiColor::Yellow.on_default().bold(),
        anstyle::Reset,
    );
    anstream::eprintln!("{yellow}warning:{reset} {text}");
}

/// An error, as `main` prints it: for verbs that choose their own exit code.
pub fn error(text: impl Display) {
    let (red, reset) = (anstyle::AnsiColor::Red.on_default().bold(), anstyle::Reset);
    anstream::eprintln!("{red}error:{reset} {text}");
}

/// `1 event`, `2 events`.
pub fn counted(number: u64, thing: &str) -> String {
    if number == 1 {
        format!("1 {thing}")
    } else {
        format!("{number} {thing}s")
    }
}

/// Says what is incomplete in a trace, if anything.
pub fn incomplete(loose: Loose, dropped: u64, holes: u64) {
    if dropped > 0 {
        warning(format_args!(
            "{} dropped while recording, for lack of space or memory: calls and times are missing",
            were(dropped, "event")
        ));
    }
    if holes > 0 {
        note(format_args!(
            "{} never written: a thread was killed inside the recorder",
            were(holes, "record")
        ));
    }
    if loose.unmatched > 0 {
        note(format_args!(
            "{} no enter: recording began inside the call (as in a forked child)",
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
            "{} still open at the end: timed until the thread's last event",
            were(loose.open, "call")
        ));
    }
}

fn were(number: u64, thing: &str) -> String {
    format!(
        "{} {}",
        counted(number, thing),
        if number == 1 { "was" } else { "were" }
    )
}

fn have(number: u64, thing: &str) -> String {
    format!(
        "{} {}",
        counted(number, thing),
        if number == 1 { "has" } else { "have" }
    )
}
