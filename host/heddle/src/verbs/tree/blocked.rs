//! `heddle tree --blocked`: what each strand waits for when the records end.

use crate::incomplete;
use crate::names::{Length, Names};
use crate::notes;
use crate::screen;
use crate::waits::{self, Again, Blocked, By, Cycle, Has, HoldingStrand, HoldingThread};
use crate::waits::{Ends, cycles, ends};
use heddle_trace_file::{ObjectKind, Trace};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::process::ExitCode;

/// The words behind a wait that a time-out ends.
const UNTIL: &str = " until a certain time";

/// Prints the strands that wait, then the circles that they wait in.
pub fn run(trace: &Trace, length: Length) -> anyhow::Result<ExitCode> {
    let found = waits::read(trace, Names::new(trace).of_length(length))?;
    screen::show(|out, _| Ok(print(out, &found.blocked)?))?;
    incomplete::tell(trace, found.loose, &found.remarks);
    notes::unsure(&found.unresolved);
    Ok(ExitCode::SUCCESS)
}

fn print(out: &mut dyn Write, blocked: &[Blocked]) -> io::Result<()> {
    if blocked.is_empty() {
        return writeln!(out, "no strand waits at the end");
    }
    for wait in blocked {
        one(out, wait)?;
    }
    for cycle in cycles(blocked) {
        circle(out, blocked, &cycle)?;
    }
    Ok(())
}

/// Strands each of which waits for what the next one has.
fn circle(out: &mut dyn Write, blocked: &[Blocked], cycle: &Cycle) -> io::Result<()> {
    let waits = || cycle.iter().map(|&index| &blocked[index]);
    let holders = || waits().filter_map(Blocked::held_by);
    let strands = waits().map(|wait| wait.strand);
    let strands: BTreeSet<_> = strands.chain(holders().map(|holder| holder.id)).collect();
    let who = match strands.len() {
        1 => "a strand waits for itself".to_owned(),
        several => format!("{several} strands wait for one another"),
    };
    let what = match ends(blocked, cycle) {
        Ends { timed: true, .. } => "circle until a time-out",
        Ends {
            posts: true,
            resumes: true,
            ..
        } => "deadlock, unless another thread posts, or resumes what is suspended",
        Ends { posts: true, .. } => "deadlock, unless another thread posts",
        Ends { resumes: true, .. } => "deadlock, unless another thread resumes what is suspended",
        _ => "deadlock",
    };
    writeln!(out, "{what}: {who}")?;
    let next = cycle.iter().cycle().skip(1);
    for (&index, &next) in cycle.iter().zip(next) {
        let (wait, holder) = (&blocked[index], &blocked[next].label);
        let has = match (wait.kind, wait.held_by()) {
            (Some(ObjectKind::Thread), _) => format!("which is {holder}"),
            (_, None) => format!("which {holder} has"),
            (_, Some(strand)) if strand.suspended => format!("which {}, has", carried(strand)),
            (_, Some(strand)) => format!("which {} has", carried(strand)),
        };
        let until = if wait.timed { UNTIL } else { "" };
        writeln!(
            out,
            "    {} waits for {}{until}, {has}",
            wait.label,
            object(wait)
        )?;
        // Its thread runs another one, or that runs on its stack.
        if let Some(strand) = wait.held_by().filter(|it| it.id != blocked[next].strand) {
            let how = if strand.suspended { ", suspended," } else { "" };
            writeln!(
                out,
                "    {}{how} needs its thread, which is in {holder}",
                strand.label
            )?;
        }
    }
    Ok(())
}

/// What one strand waits for, and what is known of that.
fn one(out: &mut dyn Write, wait: &Blocked) -> io::Result<()> {
    let Some(kind) = wait.kind else {
        return writeln!(
            out,
            "{} waits since {}: {}",
            wait.label, wait.since, wait.object
        );
    };
    let how = match (&wait.again, wait.writes, wait.timed) {
        (Some(Again::Waits(condition)), ..) => {
            format!(" again, after condition {condition} was signalled")
        }
        (_, true, true) => format!(" to write it,{UNTIL}"),
        (_, true, false) => " to write it".to_owned(),
        (_, false, true) => UNTIL.to_owned(),
        (_, false, false) => String::new(),
    };
    writeln!(
        out,
        "{} waits since {} for {}{how}, in {}",
        wait.label,
        wait.since,
        object(wait),
        wait.function
    )?;
    if let Some(has) = wait.has.as_ref().filter(|_| kind != ObjectKind::Thread) {
        writeln!(out, "    {}", holding(kind, has))?;
    }
    match &wait.again {
        Some(Again::ByOthers(mutex)) => {
            writeln!(out, "    whether another process has woken it is not known")?;
            if let Some(mutex) = mutex {
                let (name, has) = (&mutex.name, holding(ObjectKind::Mutex, &mutex.has));
                writeln!(out, "    if so, it waits for mutex {name} again, {has}")?;
            }
        }
        Some(Again::GoesOn(time)) => {
            writeln!(out, "    woken at {time}, and was about to go on")?;
        }
        Some(Again::Perhaps {
            wakes,
            waiters,
            mutex,
        }) => {
            let came = match wakes {
                1 => "1 wake-up has come".to_owned(),
                several => format!("{several} wake-ups have come"),
            };
            writeln!(
                out,
                "    {came} since, for {waiters} that waited: who was woken is not known"
            )?;
            if let Some(mutex) = mutex {
                let (name, has) = (&mutex.name, holding(ObjectKind::Mutex, &mutex.has));
                writeln!(out, "    who was woken waits for mutex {name} again, {has}")?;
            }
        }
        _ => {}
    }
    if wait.unmet > 0 {
        writeln!(
            out,
            "    {} when nobody waited",
            match wait.unmet {
                1 => "1 wake-up came".to_owned(),
                several => format!("{several} wake-ups came"),
            }
        )?;
    }
    Ok(())
}

/// Who has an object of this kind.
fn holding(kind: ObjectKind, has: &Has) -> String {
    let verb = match kind {
        ObjectKind::Semaphore => "taken last by",
        ObjectKind::Once => "being done by",
        _ => "held by",
    };
    let readers = |number: u32| match number {
        1 => "1 reader".to_owned(),
        several => format!("{several} readers"),
    };
    match has {
        Has::Taker(thread) => format!(
            "{verb} {}; whether it is to give it back is not known: no post came yet",
            holder(thread)
        ),
        Has::Thread(thread) => {
            let ended = match (thread.ended && !thread.at_begin, kind) {
                (false, _) => "",
                // Whoever took a semaphore need not be the one that gives it back.
                (true, ObjectKind::Semaphore) => ", which has ended",
                (true, _) => ", which has ended and so never lets go of it",
            };
            let first = format!("{verb} {}{ended}", holder(thread));
            match (thread.beside, &thread.other) {
                (0, _) => first,
                (_, Some(other)) => format!("{first}, and by {other}"),
                (beside, None) => format!("{first}, and by {} more", readers(beside)),
            }
        }
        Has::Uncopied(name) => format!(
            "held for ever: {name} had it when this process was forked, which has no such thread"
        ),
        Has::Readers(number) => {
            format!("{verb} {}; which ones is not known", readers(*number))
        }
        Has::SeveralProcesses => {
            "who took it last is not known: threads of several processes did".to_owned()
        }
        Has::Nobody(last) => format!("nobody holds it any more: {last} has let go of it"),
        Has::NotKnown(why) => format!("who holds it is not known: {why}"),
    }
}

/// Who has an object, and how it got that.
fn holder(thread: &HoldingThread) -> String {
    let how = how(thread);
    match &thread.by {
        By::Own => format!("{}{how}", thread.name),
        By::Strand(strand) => format!("{}{how}", carried(strand)),
        By::NotKnown => format!(
            "{}{how}; which of its fibers or coroutines has it is not known",
            thread.name
        ),
    }
}

/// A strand, and the thread that runs it.
fn carried(strand: &HoldingStrand) -> String {
    match strand.suspended {
        true => format!("{}, suspended on {}", strand.label, strand.thread),
        false => format!("{} on {}", strand.label, strand.thread),
    }
}

/// What is known of how a thread got an object.
fn how(thread: &HoldingThread) -> String {
    match thread {
        HoldingThread {
            forked_as: Some(name),
            ..
        } => format!(", which took it before it was forked, as {name}"),
        HoldingThread { at_begin: true, .. } => {
            " when the wait began; who holds it at the end is not known".to_owned()
        }
        HoldingThread {
            taken_in: Some(function),
            ..
        } => format!(", in {function}"),
        _ => "; where it took it is not known".to_owned(),
    }
}

fn object(wait: &Blocked) -> String {
    match (wait.kind, &wait.has) {
        (Some(ObjectKind::Thread), Some(Has::Thread(thread))) => {
            format!("the end of thread {}", thread.name)
        }
        (Some(ObjectKind::Thread), _) => "the end of a thread".to_owned(),
        (Some(kind), _) => format!("{} {}", kind.name(), wait.object),
        (None, _) => wait.object.clone(),
    }
}
