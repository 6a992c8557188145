//! What is said on stderr beside the result.

use heddle_calls::Loose;
use heddle_trace_file::Trace;
use std::fmt::Display;
use std::path::Path;

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

/// A path as a shell takes it, for commands that are printed to be copied.
pub fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// `1 event`, `2 events`.
pub fn counted(number: u64, thing: &str) -> String {
    if number == 1 {
        format!("1 {thing}")
    } else {
        format!("{number} {thing}s")
    }
}

/// Says how many thread files were made and are not there: whoever copied or cleaned the trace left threads out.
pub fn missing(trace: &Trace) {
    let missing: u64 = trace
        .processes()
        .iter()
        .map(|process| u64::from(process.missing_threads()))
        .sum();
    if missing > 0 {
        warning(format_args!(
            "{} missing from {}, and with them their threads' calls",
            counted(missing, "thread file"),
            trace.path().display()
        ));
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
