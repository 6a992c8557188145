//! What is said on stderr beside the result.

use crate::patience;
use crate::progress;
use heddle_calls::Loose;
use heddle_strands::Unresolved;
use heddle_symbols::printable;
use heddle_trace_file::{
    Damages, Error, ImageId, LostCounts, Process, Refusal, Thread, Trace, Uncertainty,
    Unrecordable, Why, in_words,
};
use std::fmt::Display;
use std::io::Write as _;
use std::path::Path;

/// Writes a line to standard error. One that cannot be written (a full disk, a closed reader) is
/// lost: the result does not depend on it, nor may a traced program. `eprintln!` would panic.
fn say(line: impl Display) {
    let _aside = progress::aside();
    let line = format!("{line}\n");
    for piece in line.as_bytes().chunks(patience::PIECE) {
        if !patience::allows() || anstream::stderr().write_all(piece).is_err() {
            return;
        }
    }
}

/// A note: all is well, and there is something to know.
pub fn note(text: impl Display) {
    say(format_args!("heddle: {text}"));
}

/// A warning: the result is not what it could be, and here is what to do.
pub fn warning(text: impl Display) {
    let (yellow, reset) = (
        anstyle::AnsiColor::Yellow.on_default().bold(),
        anstyle::Reset,
    );
    say(format_args!("{yellow}warning:{reset} {text}"));
}

/// An error, as `main` prints it: for verbs that choose their own exit code.
pub fn error(text: impl Display) {
    let (red, reset) = (anstyle::AnsiColor::Red.on_default().bold(), anstyle::Reset);
    say(format_args!("{red}error:{reset} {text}"));
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
    match number {
        1 => format!("1 {thing}"),
        _ if thing.ends_with("ch") => format!("{number} {thing}es"),
        _ => format!("{number} {thing}s"),
    }
}

/// Where the patterns of `heddle record` were not applied, and what follows, if there is such a
/// place.
pub fn unplanned(trace: &Trace) -> Option<String> {
    let all = trace.processes().iter().filter_map(Process::unplanned);
    let why = reasons(all.clone().map(|it| it.why));
    let (mut what, mut calls, mut values) = (Vec::new(), 0_usize, 0_usize);
    for it in all.clone() {
        calls += usize::from(it.calls);
        values += usize::from(it.values);
    }
    if calls > 0 {
        what.push("its filters by function were not applied everywhere, so calls may be missing, or here that should not be");
    }
    if values > 0 {
        what.push("arguments and results were not recorded everywhere");
    }
    let mend = match all.clone().any(|it| it.why == libc::ENOMEM) {
        true => "record again with more memory: ulimit -v unlimited",
        false => "record again",
    };
    let of = match (calls.max(values), trace.processes().len()) {
        (0, _) => return None,
        (_, 1) => String::new(),
        (some, all) => format!("{some} of {all} processes: "),
    };
    Some(format!(
        "{of}heddle record could not look at every function ({why}): {}; {mend}",
        what.join(", and ")
    ))
}

/// How much less than it was to keep a flight recorder has kept, if the system gave it no more.
pub fn flight_short(process: &Process) -> Option<String> {
    let (asked, why) = (process.flight()?, process.flight_trouble()?);
    let kept: u64 = process.threads().iter().map(Thread::bytes).sum();
    let mend = match why {
        libc::ENOMEM => "; record again with more memory: ulimit -v unlimited",
        _ => "",
    };
    Some(format!(
        "{kept} bytes of events were kept, and not {asked} (--flight): there was no more room ({}){mend}",
        reasons(std::iter::once(why))
    ))
}

/// Says which parts of a trace are missing, as when buffers or events were left out of a copy.
pub fn missing(trace: &Trace) {
    for lack in trace.lacking() {
        warning(lack);
    }
    if let Some(unplanned) = unplanned(trace) {
        warning(unplanned);
    }
    for process in trace.processes() {
        if let Some(short) = flight_short(process) {
            warning(format_args!("process {}: {short}", process.id()));
        }
    }
    for (why, path) in trace.unrecorded().into_keys() {
        if why == Unrecordable::Namespace {
            let (path, why) = (printable(path), unrecordable(why));
            warning(format_args!("calls of {path} are missing: {why}"));
        }
    }
    let sum = |figure: fn(&Process) -> u64| trace.processes().iter().map(figure).sum::<u64>();
    let threads = sum(|process| process.missing_threads().into());
    if threads > 0 {
        warning(format_args!(
            "nothing of {} is in {}: their events or buffers are missing, or they were killed as they began",
            counted(threads, "thread"),
            trace.path().display()
        ));
    }
    let runs = sum(Process::missing_runs);
    if runs > 0 {
        warning(format_args!(
            "{} of threads' events missing from {}: calls and times are missing",
            counted(runs, "stretch"),
            trace.path().display()
        ));
    }
    let blocks = sum(Process::missing_blocks);
    if blocks > 0 && runs == 0 && threads == 0 {
        warning(format_args!(
            "{} of events missing from {}: calls and times are missing",
            counted(blocks, "block"),
            trace.path().display()
        ));
    }
    let mut damages = Damages::default();
    let all = trace.processes().iter().map(Process::damages);
    all.for_each(|each| damages += each);
    damaged(&damages);
    for process in trace.processes().iter().filter(|process| process.running()) {
        note(format_args!(
            "process {} still runs: this is what it had recorded when the trace was opened",
            process.id()
        ));
    }
}

/// Says where the trace's events contradict its format, and how much is passed over.
pub fn damaged(damages: &Damages) {
    let Some(first) = &damages.first else { return };
    let others = match damages.places {
        1 => String::new(),
        places => format!(", and in {} more", counted(places - 1, "place")),
    };
    // What lies in a file's place may be there instead of one, or of nothing.
    let missing = match damages.bytes {
        0 => "whether calls and times are missing is not known".to_owned(),
        bytes => format!(
            "{} of events are passed over: calls and times are missing",
            counted(bytes, "byte")
        ),
    };
    warning(format_args!("{first}{others}; {missing}"));
}

/// Why a table has no room for more: an error number, or it is as large as it may be.
pub fn no_room(error: Option<i32>) -> String {
    match error {
        Some(_) => reasons(error.into_iter()),
        None => "no more room in its tables".to_owned(),
    }
}

/// `3 operations on locks and their like not counted (no space left on device)`, if there are any.
fn not_counted(
    count: u64,
    (thing, of): (&str, &str),
    errors: impl Iterator<Item = i32>,
) -> Option<String> {
    let mut errors = errors.peekable();
    let why = match errors.peek() {
        None => no_room(None),
        Some(_) => reasons(errors),
    };
    let were = if count == 1 { "was" } else { "were" };
    (count > 0).then(|| format!("{} {of} {were} not counted ({why})", counted(count, thing)))
}

const OPERATION: (&str, &str) = ("operation", "on locks and their like");
const ALLOCATION: (&str, &str) = ("call", "of malloc and its like");

/// The operations of processes that could store nothing, if there were any.
pub fn lost_operations(trace: &Trace) -> Option<String> {
    let lost = trace.lost_counts();
    not_counted(lost.operations, OPERATION, lost.why.into_iter())
}

/// Likewise, calls of malloc and its like.
pub fn lost_allocations(trace: &Trace) -> Option<String> {
    let lost = trace.lost_counts();
    not_counted(lost.allocations, ALLOCATION, lost.why.into_iter())
}

/// The operations on locks that no process could count, if there were any, and why.
pub fn uncounted_operations(trace: &Trace) -> Option<String> {
    let lost = trace.lost_counts();
    let all = trace.processes().iter().filter_map(Process::objects);
    let count = all.clone().map(|objects| objects.uncounted);
    let why = all.filter_map(|objects| objects.trouble).chain(lost.why);
    not_counted(
        count.fold(lost.operations, u64::saturating_add),
        OPERATION,
        why,
    )
}

/// Likewise, calls of malloc and its like.
pub fn uncounted_allocations(trace: &Trace) -> Option<String> {
    let lost = trace.lost_counts();
    let all = trace.processes().iter().filter_map(Process::allocation);
    let count = all.clone().map(|allocation| allocation.uncounted);
    let why = all
        .filter_map(|allocation| allocation.trouble)
        .chain(lost.why);
    not_counted(
        count.fold(lost.allocations, u64::saturating_add),
        ALLOCATION,
        why,
    )
}

/// `1 program could not open the trace (permission denied) and recorded nothing`, if there is one.
pub fn barred(lost: &LostCounts) -> Option<String> {
    let why = reasons(lost.why_barred.into_iter());
    let programs = counted(lost.programs, "program");
    (lost.programs > 0).then(|| {
        format!("{programs} that a process became could not open the trace ({why}), and recorded nothing")
    })
}

/// Why no thread can be started, and what to do about it.
pub fn no_thread(error: &std::io::Error) -> String {
    let remedy = match error.raw_os_error() {
        Some(libc::ENOMEM) => "; raise the limit: ulimit -v unlimited",
        // The C library says the same where a thread's stack finds no room.
        Some(libc::EAGAIN) => {
            "; this user has too many processes and threads, or there is no room for one more thread's stack: raise the limits (ulimit -u, ulimit -v, ulimit -d)"
        }
        _ => "",
    };
    format!("cannot start a thread: {}{remedy}", in_words(error))
}

/// Why a program, or a library, cannot be recorded.
pub fn unrecordable(why: Unrecordable) -> &'static str {
    match why {
        Unrecordable::Static => "it is statically linked",
        Unrecordable::Rights => {
            "it has rights that its caller has not (set-user-ID, capabilities or the like)"
        }
        Unrecordable::Machine => "it is no 64-bit x86 program",
        Unrecordable::Namespace => {
            "it is in a link namespace of its own (dlmopen), for which the loader takes no recorder"
        }
    }
}

/// Why events were dropped, by error numbers, each reason once.
pub fn reasons(errors: impl Iterator<Item = i32>) -> String {
    let mut all: Vec<String> = Vec::new();
    for error in errors {
        let reason = reason(error);
        if !all.contains(&reason) {
            all.push(reason);
        }
    }
    match all.is_empty() {
        true => "for lack of space or memory".to_owned(),
        false => all.join("; "),
    }
}

/// Why the kernel does not tell when threads are off their processors, and what would help.
pub fn refusal(Refusal { error, paranoid }: Refusal) -> String {
    let why = reason(error);
    match (error, paranoid) {
        (libc::EACCES | libc::EPERM, Some(level @ 3..)) => format!(
            "the kernel refuses perf_event_open ({why}), as kernel.perf_event_paranoid is {level}; up to 2 everybody may: sudo sysctl kernel.perf_event_paranoid=2, or record as root or with CAP_PERFMON"
        ),
        (libc::EACCES | libc::EPERM, _) => format!(
            "perf_event_open is refused ({why}): a sandbox or container forbids it (seccomp); let it allow that system call, or record outside of it"
        ),
        (libc::ENOSYS | libc::ENOENT | libc::EOPNOTSUPP, _) => {
            format!(
                "this kernel has no perf events ({why}): it was built without CONFIG_PERF_EVENTS"
            )
        }
        (libc::EMFILE, _) => {
            format!("perf_event_open fails ({why}); raise the limit: ulimit -n 65536")
        }
        (libc::ENOMEM, _) => format!(
            "there is no room for the kernel's records ({why}); raise kernel.perf_event_mlock_kb"
        ),
        _ => format!("perf_event_open fails ({why})"),
    }
}

/// What an error number of the recorder means.
fn reason(error: i32) -> String {
    match error {
        libc::EFBIG => "file size limit reached".to_owned(),
        libc::EMFILE => "too many open files in the process".to_owned(),
        // The recorder's, where another directory has the trace's name.
        libc::ESTALE => "the trace was moved".to_owned(),
        libc::ENOMEM => "out of memory, address space or mappings".to_owned(),
        // The recorder gives these reasons why it got no plan.
        libc::ENODATA => "the list of modules was cut, removed or damaged".to_owned(),
        libc::ESRCH => "heddle record was gone".to_owned(),
        libc::ETIMEDOUT => "heddle record did not answer".to_owned(),
        _ => in_words(&std::io::Error::from_raw_os_error(error)).to_lowercase(),
    }
}

/// Says which events and strands could not be told for certain, if any, of each process.
pub fn unresolved(all: &[Unresolved]) {
    let mut sum = Unresolved::default();
    all.iter().for_each(|&one| sum += one);
    for text in unresolved_kinds(&sum) {
        note(text);
    }
}

/// A sentence for each kind of what could not be told.
pub fn unresolved_kinds(unresolved: &Unresolved) -> Vec<String> {
    let share = |count: u64| {
        format!(
            "{:.3} %",
            count as f64 * 100.0 / unresolved.events.max(1) as f64
        )
    };
    let mut kinds = Vec::new();
    let mut add = |count: u64, text: String| {
        if count > 0 {
            kinds.push(format!("{text} ({} of all events)", share(count)));
        }
    };
    add(
        unresolved.enters,
        format!(
            "{} an instrumented caller that is open nowhere: put on the strand that ran",
            have(unresolved.enters, "enter")
        ),
    );
    add(
        unresolved.ambiguous,
        format!(
            "{} by uninstrumented code that may have run on more than one fiber: put on the nearest",
            were(unresolved.ambiguous, "call")
        ),
    );
    if unresolved.parents > 0 {
        kinds.push(format!(
            "{} made unseen: shown below the strand that ran each first",
            were(unresolved.parents, "coroutine")
        ));
    }
    if unresolved.fibers > 0 {
        kinds.push(format!(
            "{} made unseen: shown below the thread that ran each first",
            were(unresolved.fibers, "fiber")
        ));
    }
    kinds
}

/// Says how many calls are on strands that are not sure, if any.
pub fn unsure(all: &[Unresolved]) {
    let mut sum = Unresolved::default();
    all.iter().for_each(|&one| sum += one);
    unsure_strands(&sum).into_iter().for_each(note);
}

/// A sentence about strands that are not sure, if there are such.
pub fn unsure_strands(unresolved: &Unresolved) -> Option<String> {
    let threads = unresolved.unsure_threads;
    let coroutines = unresolved.unsure_coroutines;
    let fibers = unresolved.unsure - threads - coroutines;
    let threads = (threads > 0).then(|| format!("{} not sure", are(threads, "thread")));
    let others = match (fibers, coroutines) {
        (0, 0) => None,
        (0, _) => Some(are(coroutines, "coroutine")),
        (_, 0) => Some(are(fibers, "fiber")),
        _ => Some(format!(
            "{} and {} are",
            counted(fibers, "fiber"),
            counted(coroutines, "coroutine")
        )),
    };
    let sure = format!(
        "{:.1} % of calls are sure to be where they are shown",
        // Never more than there are.
        (unresolved.confidence() * 1000.0).floor() / 10.0
    );
    let calls = counted(unresolved.unsure_calls, "call");
    let Some(others) = others else {
        return threads.map(|threads| match unresolved.unsure_calls {
            // The thread's calls are where they are shown all the same.
            0 => format!("{threads}: a mark there may be another strand's"),
            _ => format!("{sure}; {threads}, with {calls}"),
        });
    };
    let said = format!("{sure}; {others} not known, with {calls}");
    Some(match threads {
        Some(threads) => format!("{said}, and {threads}"),
        None => said,
    })
}

/// Says why calls are told apart by strand though no option asks for it.
pub fn goes_by_strand() {
    note(
        "the program has fibers or coroutines: its calls are told apart by strand; `--by thread` takes each thread for one stack",
    );
}

/// Says what else may be behind calls that did not pair up by thread.
pub fn by_thread(loose: Loose) {
    if loose.unmatched > 0 && loose.unwound > 0 {
        note(
            "if the program has fibers, these are their switches: `--by strand` tells their calls apart",
        );
    }
}

/// How well times are known that were recorded with `--clock sparse`.
pub fn uncertain(uncertainty: &Uncertainty) -> String {
    format!(
        "times of {} lie between those of others (--clock sparse): half of them are good to {}, 99 % to {}, all to {}",
        counted(uncertainty.events(), "event"),
        uncertainty.quantile(0.5),
        uncertainty.quantile(0.99),
        uncertainty.largest()
    )
}

pub fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

/// `1 event was`, `2 events were`.
pub fn were(number: u64, thing: &str) -> String {
    format!(
        "{} {}",
        counted(number, thing),
        if number == 1 { "was" } else { "were" }
    )
}

/// `1 fiber is`, `2 fibers are`.
pub fn are(number: u64, thing: &str) -> String {
    format!(
        "{} {}",
        counted(number, thing),
        if number == 1 { "is" } else { "are" }
    )
}

pub fn have(number: u64, thing: &str) -> String {
    format!(
        "{} {}",
        counted(number, thing),
        if number == 1 { "has" } else { "have" }
    )
}

/// What a gap says: `3 events missing: no space or memory`.
pub fn gap(why: Why, events: Option<u64>) -> String {
    let why = match why {
        Why::Paused => "recording was paused",
        Why::Dropped => "no space or memory",
    };
    let events = events.map_or("events".into(), |events| counted(events, "event"));
    format!("{events} missing: {why}")
}

/// The condition under which `heddle recover` can copy what could not be copied now.
fn when_to_recover(trouble: &Error) -> &'static str {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match trouble {
        Error::Io { cause, .. } if cause.kind() == FileTooLarge => {
            "without that limit (ulimit -f unlimited)"
        }
        Error::Io { cause, .. } if matches!(cause.kind(), StorageFull | QuotaExceeded) => {
            "when there is room again"
        }
        _ if trouble.lacks_memory() => "with more memory (ulimit -v unlimited)",
        _ => "when that is mended",
    }
}

/// Says what stopped the copying of buffers to the trace.
pub fn uncopied(trouble: &Error, trace: &Path) {
    use std::io::ErrorKind::NotFound;
    if let Error::Io { path, cause } = trouble
        && cause.kind() == NotFound
    {
        warning(format_args!(
            "{}: it was removed while it was being recorded: events that threads cannot write there are counted as dropped",
            path.display()
        ));
        return;
    }
    if let Error::Damaged { .. } = trouble {
        return warning(trouble);
    }
    let when = when_to_recover(trouble);
    warning(format_args!(
        "{trouble}: what could not be copied is still in the buffers, and every command reads it there; {when}: heddle recover {}",
        quoted(trace)
    ));
}

/// Says that the buffers of these processes stay, whose headers cannot be read, if there are any.
pub fn left(processes: &[ImageId], trace: &Path) {
    const NAMED: usize = 3;
    let names = processes.iter().take(NAMED).map(ImageId::to_string);
    let mut names = names.collect::<Vec<String>>().join(", ");
    if let Some(more @ 1..) = processes.len().checked_sub(NAMED) {
        names += &format!(" and {more} more");
    }
    let (processes, why) = match processes {
        [] => return,
        [_] => ("process", "its file process"),
        _ => ("processes", "their files process"),
    };
    warning(format_args!(
        "{}: the buffers of {processes} {names} cannot be collected, and stay: {why} cannot be read (below); if there is a copy, put it there, and: heddle recover {}",
        trace.display(),
        quoted(trace)
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_asked_for_where_there_is_none() {
        let when = |number| {
            let path = std::path::PathBuf::from("trace/42/events");
            let cause = std::io::Error::from_raw_os_error(number);
            when_to_recover(&Error::Io { path, cause })
        };
        for full in [libc::ENOSPC, libc::EDQUOT] {
            assert_eq!(when(full), "when there is room again");
        }
        assert!(when(libc::EFBIG).contains("ulimit -f"));
        for other in [libc::ELOOP, libc::EISDIR, libc::ESPIPE] {
            assert_eq!(when(other), "when that is mended");
        }
    }

    #[test]
    fn a_thread_that_is_not_sure_has_its_calls_all_the_same() {
        let of = |unsure, unsure_threads, unsure_calls| {
            unsure_strands(&Unresolved {
                calls: 1000,
                unsure,
                unsure_threads,
                unsure_calls,
                ..Unresolved::default()
            })
        };
        assert_eq!(of(0, 0, 0), None);
        let thread = "1 thread is not sure: a mark there may be another strand's";
        assert_eq!(of(1, 1, 0).as_deref(), Some(thread));
        let placed = "90.0 % of calls are sure to be where they are shown; 1 thread is not sure, with 100 calls";
        assert_eq!(of(1, 1, 100).as_deref(), Some(placed));
        let fibers = "97.9 % of calls are sure to be where they are shown; 2 fibers are not known, with 21 calls";
        assert_eq!(of(2, 0, 21).as_deref(), Some(fibers));
        let both = format!("{fibers}, and 1 thread is not sure");
        assert_eq!(of(3, 1, 21), Some(both));
        let with_coroutine = unsure_strands(&Unresolved {
            calls: 1000,
            unsure: 3,
            unsure_coroutines: 1,
            unsure_calls: 21,
            ..Unresolved::default()
        });
        let others = fibers.replace("2 fibers", "2 fibers and 1 coroutine");
        assert_eq!(with_coroutine, Some(others));
    }
}
