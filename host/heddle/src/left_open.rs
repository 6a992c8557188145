//! Names the calls that are open at the end of a trace.

use crate::names::{Length, Names};
use heddle_calls::{Frame, Stack};
use heddle_trace_file::{Thread, Ticks, Trace};
use std::rc::Rc;

/// Bytes of records that are read again in all threads together. The calls of a longer trace that
/// began earlier are not named.
const READ: u64 = 2 << 20;
/// Bytes of one thread's records that are read again: as many as a run may have.
const EACH: u64 = 1 << 20;
/// Functions that are named.
const MOST: usize = 3;

/// ` (stop(), main ×2, …)`: functions whose calls are among the `open` ones, the innermost ones of
/// all threads first. Nothing where none is known for certain.
pub fn in_brackets(trace: &Trace, open: u64) -> String {
    let Found { named, others } = find(trace);
    let calls: u64 = named.iter().map(|(_, calls)| calls).sum();
    // Calls of fibers may look open to whoever pairs them by thread.
    if calls == 0 || calls + others > open {
        return String::new();
    }
    let mut all: Vec<String> = named
        .iter()
        .map(|(name, calls)| match calls {
            1 => name.to_string(),
            calls => format!("{name} \u{d7}{calls}"),
        })
        .collect();
    if calls < open {
        all.push("\u{2026}".to_owned());
    }
    format!(" ({})", all.join(", "))
}

/// Calls that are open at the end.
#[derive(Default)]
struct Found {
    /// The first functions, with the number of their calls.
    named: Vec<(Rc<str>, u64)>,
    /// Calls of other functions.
    others: u64,
}

impl Found {
    fn add(&mut self, name: Rc<str>) {
        let is_full = self.named.len() == MOST;
        match self.named.iter_mut().find(|(known, _)| *known == name) {
            Some((_, calls)) => *calls += 1,
            None if is_full => self.others += 1,
            None => self.named.push((name, 1)),
        }
    }
}

/// Finds what the ends of the threads' records tell. Threads whose end was not seen come first:
/// most others left no call open.
fn find(trace: &Trace) -> Found {
    let mut names = Names::new(trace).of_length(Length::Short).quiet();
    let processes = trace.processes().iter().enumerate();
    let mut threads: Vec<_> = processes
        .flat_map(|(index, process)| process.threads().iter().map(move |thread| (index, thread)))
        .collect();
    threads.sort_by_key(|(_, thread)| thread.ended());
    // With how many calls of its thread each is around.
    let mut frames: Vec<(usize, usize, Frame)> = Vec::new();
    let mut left = READ;
    for (process, thread) in threads {
        let Some((stack, bytes)) = end_of(thread, left.min(EACH)) else {
            break;
        };
        left -= bytes;
        if stack.may_have_fibers() || stack.was_elsewhere() {
            continue;
        }
        let around = stack.open().iter().rev().enumerate();
        frames.extend(around.map(|(level, frame)| (level, process, *frame)));
    }
    frames.sort_by_key(|&(level, ..)| level);
    let mut found = Found::default();
    for (_, process, frame) in frames {
        found.add(name(&mut names, process, &frame));
    }
    found
}

fn name(names: &mut Names<'_>, process: usize, frame: &Frame) -> Rc<str> {
    let function = names.function(process, frame.function, frame.enter);
    names.source_name(&function)
}

/// Reads the last runs of a thread again, of at most so many bytes together: the calls that are
/// open behind them, and the bytes of these runs. `None` where the last run alone has more bytes.
fn end_of(thread: &Thread, most: u64) -> Option<(Stack, u64)> {
    let runs = thread.runs().len();
    let (mut count, mut bytes) = (0, 0);
    for run in thread.runs().rev() {
        let more = bytes + run.bytes() as u64;
        if more > most {
            break;
        }
        (count, bytes) = (count + 1, more);
    }
    if count == 0 && runs > 0 {
        return None;
    }
    let mut stack = Stack::of(thread);
    let events = thread.stretch(runs - count..runs, Ticks(0));
    for event in events.flatten() {
        stack.feed(event, |_, _| {});
    }
    Some((stack, bytes))
}
