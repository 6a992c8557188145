//! `heddle advise`: docs/advise.md.

mod lock;
mod models;
mod told;

use crate::incomplete;
use crate::names::Names;
use crate::notes::{self, counted};
use crate::number_arg::count;
use crate::sched::{self, Stretches};
use crate::trace_arg::TraceArg;
use crate::waits::{self, Waits};
use crate::{calls_of, output};
use heddle_trace_file::{Allocation, Nanos, ObjectKind, Process, Trace};
use lock::{Advice, Inside};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use told::Told;

/// What is gained by fewer threads is not said either, unless processors are known.
const FEWER: (&str, &str) = (
    "what is gained by fewer threads",
    "whether a thread that could run had no processor is not recorded: heddle record --sched",
);

/// A trace tells what allocation takes only where its calls were counted.
const ALLOCATION: (&str, &str) = (
    "allocation",
    "calls of malloc and its like are not counted: heddle record --alloc",
);

/// Calls into the kernel are recorded by --sched.
const CALLS: (&str, &str) = (
    "sleep, input and output within a critical section",
    "only waits for other threads are recorded: heddle record --sched",
);

/// These it does not record.
const OTHER_CALLS: (&str, &str) = (
    "calls into the kernel that are short, or libc's own (stdio), within a critical section",
    "they leave no record",
);

/// What these waits do not say.
const NOT_SAID: [(&str, &str); 2] = [
    (
        "what fibers, coroutines or other work would cost",
        "measure them: heddle new, heddle compare",
    ),
    (
        "false sharing, caches and memory",
        "nothing that is recorded depends on them alone",
    ),
];

/// Arguments of `heddle advise`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    trace: TraceArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Where a report is whose samples say what operations cost on this machine [default: report]
    #[arg(long, value_name = "REPORT")]
    costs: Option<PathBuf>,
    /// The first N locks
    #[arg(short = 'n', long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    limit: Option<usize>,
}

/// Runs `heddle advise`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    calls_of::with_deep_stack(move || {
        let trace = args.trace.open()?;
        let found = waits::read(&trace, Names::new(&trace))?;
        let off = sched::known_stretches(&trace)?;
        let off = off.as_deref();
        // --sched records long calls into the kernel, too.
        let has_calls = trace.switches()?.is_some();
        let mut all = lock::of_all(&trace, &found);
        let whole = is_whole(&trace, &found);
        let told = Told::new(&trace, &found, &all, off, args.costs.as_deref(), whole)?;
        all.truncate(args.limit.unwrap_or(usize::MAX));
        output::print(|out| match args.json {
            true => print_json(out, &trace, &found, &all, &told, off, has_calls),
            false => Ok(print(out, &trace, &found, &all, &told, off, has_calls)?),
        })?;
        for uncounted in [
            notes::uncounted_operations(&trace),
            notes::uncounted_allocations(&trace),
        ] {
            uncounted.into_iter().for_each(notes::warning);
        }
        if !whole {
            notes::warning("parts of the run are not recorded: the limits hold without them");
        }
        incomplete::losses(&trace, found.loose, &found.remarks);
        notes::unsure(&found.unresolved);
        Ok(ExitCode::SUCCESS)
    })
}

/// Whether nothing of the run is known to be missing.
fn is_whole(trace: &Trace, found: &Waits) -> bool {
    let remarks = &found.remarks;
    let mut processes = trace.processes().iter();
    remarks.dropped == 0
        && remarks.pauses == 0
        && processes.all(|process| process.dropped() == 0 && process.flight().is_none())
}

fn print(
    out: &mut dyn Write,
    trace: &Trace,
    found: &Waits,
    all: &[Advice<'_>],
    told: &Told,
    off: Option<&Stretches>,
    has_calls: bool,
) -> io::Result<()> {
    for (index, (process, span)) in trace.processes().iter().zip(&found.spans).enumerate() {
        let threads = counted(process.threads().len() as u64, "thread");
        writeln!(
            out,
            "process {}: {threads}, recorded for {span}",
            process.pid()
        )?;
        if let Some((sum, covered)) = off.map(|off| off.ready(index)) {
            processors(out, sum, covered, *span)?;
        }
        if let Some(allocation) = process.allocation() {
            allocated(out, allocation)?;
        }
    }
    if all.is_empty() {
        let said = match found.counted {
            true => "no mutex, rwlock or spin lock was used, nor a semaphore as one",
            false => "which locks were used is not known: not all that is used of them is counted",
        };
        writeln!(out, "\n{said}")?;
    }
    let several = trace.processes().len() > 1;
    for advice in all {
        one(out, advice, several, has_calls)?;
    }
    let order = order(found);
    if !order.is_empty() {
        writeln!(
            out,
            "\nother waits: {}\n    no advice: they say in what order the work must be done, which every model has to keep",
            order.join(", ")
        )?;
    }
    told.print(out)?;
    writeln!(out, "\nnot told by this trace")?;
    not_said(trace, off, has_calls).try_for_each(|(what, why)| writeln!(out, "    {what}: {why}"))
}

fn not_said(
    trace: &Trace,
    off: Option<&Stretches>,
    has_calls: bool,
) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let fewer = off.is_none().then_some(&FEWER);
    let mut processes = trace.processes().iter();
    let counted = processes.any(|process| process.allocation().is_some());
    let allocation = (!counted).then_some(&ALLOCATION);
    let calls = match has_calls {
        true => &OTHER_CALLS,
        false => &CALLS,
    };
    let [first, others @ ..] = &NOT_SAID;
    [first]
        .into_iter()
        .chain(fewer)
        .chain(allocation)
        .chain([calls])
        .chain(others)
}

/// The time in all calls, unless it is not known.
fn in_calls(allocation: &Allocation) -> Option<Nanos> {
    let took = allocation.entries.iter().map(|entry| entry.took.0);
    allocation
        .known()
        .then(|| Nanos(took.fold(0, u64::saturating_add)))
}

/// How much of the threads' time is allocation.
fn allocated(out: &mut dyn Write, allocation: &Allocation) -> io::Result<()> {
    let Some(took) = in_calls(allocation) else {
        let why = match (allocation.other_malloc, allocation.missing) {
            (true, _) => "the program calls a malloc of its own",
            (_, true) => "a file that counts it is gone or damaged, or left out of a snapshot",
            _ => "no call could be counted",
        };
        return writeln!(out, "    allocation: not known: {why}");
    };
    let entries = allocation.entries.iter();
    let calls = entries.map(|entry| entry.allocated.saturating_add(entry.freed));
    let calls = counted(calls.fold(0, u64::saturating_add), "call");
    let more = match allocation.uncounted {
        0 => String::new(),
        more => format!("; {more} more not counted"),
    };
    writeln!(
        out,
        "    allocation: {took} in {calls} of malloc, free and their like, of all threads together{more}"
    )?;
    if allocation.other_new {
        let why = "that does not call malloc is not in it";
        writeln!(
            out,
            "        operator new is not the C++ library's: what of it {why}"
        )?;
    }
    Ok(())
}

/// Whether there were more threads that could run than processors.
fn processors(out: &mut dyn Write, sum: Nanos, covered: Nanos, span: Nanos) -> io::Result<()> {
    if sum == Nanos(0) {
        return writeln!(out, "    processors: no thread was preempted");
    }
    let share = covered.0 as f64 / span.0.max(1) as f64;
    writeln!(
        out,
        "    processors: a thread that could run had none for {covered} of {span}, {:.1} % ({sum} of all threads together)",
        share.min(1.0) * 100.0
    )?;
    writeln!(
        out,
        "        preempted by this program's threads or by others; what a thread waits for a processor after it was blocked is not known"
    )
}

/// `3 for condition news`, of what is waited for and not held.
fn order(found: &Waits) -> Vec<String> {
    let locks = found.locks.iter();
    let order = locks.filter(|lock| !lock.is_held() && lock.blocked > 0);
    let order = order.map(|lock| match lock.kind {
        ObjectKind::Thread => format!("{} for the end of a thread", lock.blocked),
        kind => format!("{} for {} {}", lock.blocked, kind.name(), lock.name),
    });
    order.collect()
}

fn one(out: &mut dyn Write, advice: &Advice<'_>, several: bool, has_calls: bool) -> io::Result<()> {
    let lock = advice.lock;
    let process = match several {
        true => format!("{}/", lock.process),
        false => String::new(),
    };
    let count = match lock.objects {
        1 => String::new(),
        count => format!(" \u{d7}{count}"),
    };
    let (kind, name) = (lock.kind.name(), &lock.name);
    writeln!(out, "\n{process}{kind} {name}{count}")?;
    writeln!(
        out,
        "    taken {}, {} had to wait",
        lock.taken
            .map_or_else(|| "a number of times that is not known".to_owned(), times),
        counted(lock.blocked, "operation")
    )?;
    gain(out, advice, has_calls)?;
    match advice.inside {
        Inside::NeverSeen => writeln!(
            out,
            "    within it: not known, as no wait tells what its holder did"
        ),
        Inside::Several => writeln!(
            out,
            "    within it: not known, as of several readers only the latest is"
        ),
        Inside::Waits {
            nested,
            suspended,
            in_calls,
            off,
            looks,
        } => {
            let finds = [
                ("waited for another lock or thread", nested),
                ("was suspended", suspended),
                ("was in a call into the kernel that took long", in_calls),
                ("was blocked on something not known", off),
            ];
            let finds = finds.iter().filter(|(_, number)| *number > 0);
            let finds: Vec<_> = finds
                .map(|(what, number)| format!("{what} in {number}"))
                .collect();
            writeln!(
                out,
                "    within it: its holder {} of {looks} looks: \
                 under a cooperative scheduler it must stay a lock",
                finds.join(", ")
            )
        }
        Inside::TooFew { looks } => writeln!(
            out,
            "    within it: its holder was not seen waiting, but {} {} too few to tell",
            counted(looks, "look"),
            if looks == 1 { "is" } else { "are" }
        ),
        Inside::NoneSeen { looks, most } => {
            writeln!(
                out,
                "    within it: its holder was not seen waiting in {looks} looks: it waits in fewer than {:.1} % (95 %)",
                most * 100.0
            )?;
            let unseen = match has_calls {
                true => " in a way that is not recorded",
                false => "",
            };
            writeln!(
                out,
                "    could go under one cooperative scheduler, if nothing within it sleeps, reads or \
                 writes{unseen}"
            )?;
            functions(out, advice)
        }
    }
}

fn gain(out: &mut dyn Write, advice: &Advice<'_>, has_switches: bool) -> io::Result<()> {
    let Some(limit) = advice.limit else {
        let endless = advice.lock.sum.endless;
        if endless > 0 {
            let more = match has_switches {
                true => "",
                false => ": heddle record --sched",
            };
            return writeln!(
                out,
                "    gain without it: not known, as {} for it had not ended, for how long is not recorded{more}",
                counted(endless, "wait")
            );
        }
        return writeln!(
            out,
            "    gain without it: not known, as no time was recorded"
        );
    };
    let with = match advice.conditions {
        Nanos(0) => String::new(),
        time => format!(", {time} of it in conditions, which take a mutex again"),
    };
    if advice.lock.blocked == 0 && limit == Nanos(0) {
        return writeln!(
            out,
            "    gain without it: no wait, so none from waiting less"
        );
    }
    writeln!(
        out,
        "    gain without it: at most {limit} of {}, {:.1} %{with}",
        advice.span,
        advice.share() * 100.0
    )
}

/// Where to look.
fn functions(out: &mut dyn Write, advice: &Advice<'_>) -> io::Result<()> {
    const MOST: usize = 5;
    // Who has a semaphore is not told by name; those who wait for a lock are those who take it.
    let sum = &advice.lock.sum;
    let holders = match sum.holders.is_empty() {
        true => &sum.waiters,
        false => &sum.holders,
    };
    let mut all: Vec<_> = holders.iter().collect();
    all.sort_by_key(|(_, stat)| std::cmp::Reverse(stat.total));
    for (function, _) in all.iter().take(MOST) {
        writeln!(out, "        look at {function}")?;
    }
    match all.len().checked_sub(MOST) {
        None | Some(0) => Ok(()),
        Some(more) => writeln!(out, "        \u{2026} {more} more"),
    }
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

fn print_json(
    out: &mut dyn Write,
    trace: &Trace,
    found: &Waits,
    all: &[Advice<'_>],
    told: &Told,
    off: Option<&Stretches>,
    has_calls: bool,
) -> anyhow::Result<()> {
    let processes = trace.processes().iter().zip(&found.spans).enumerate();
    let processes = processes.map(|(index, (process, span)): (usize, (&Process, &Nanos))| {
        let ready = off.map(|off| off.ready(index));
        json!({
            "pid": process.pid(),
            "threads": process.threads().len(),
            "span_ns": span.0,
            "ready_ns": ready.map(|(sum, _)| sum.0),
            "some_ready_ns": ready.map(|(_, covered)| covered.0),
            "allocation_ns": process.allocation().and_then(in_calls).map(|took| took.0),
        })
    });
    let not_said =
        not_said(trace, off, has_calls).map(|(what, why)| json!({ "what": what, "why": why }));
    let value = json!({
        "whole": is_whole(trace, found),
        "processes": processes.collect::<Vec<Value>>(),
        "locks": all.iter().map(object).collect::<Vec<Value>>(),
        "models": told.json(),
        "not_told": not_said.collect::<Vec<Value>>(),
    });
    serde_json::to_writer_pretty(&mut *out, &value)?;
    writeln!(out)?;
    Ok(())
}

fn object(advice: &Advice<'_>) -> Value {
    let lock = advice.lock;
    let most = match advice.inside {
        Inside::NoneSeen { most, .. } => Some(most),
        _ => None,
    };
    json!({
        "pid": lock.process.pid,
        "kind": lock.kind.name(),
        "name": lock.name,
        "objects": lock.objects,
        "taken": lock.taken,
        "blocked": lock.blocked,
        "gain_at_most_ns": advice.limit.map(|limit| limit.0),
        "of_it_conditions_ns": advice.conditions.0,
        "inside": advice.inside.word(),
        "looks": lock.sum.looks,
        "holder_waited": lock.sum.nested,
        "holder_suspended": lock.sum.suspended,
        "holder_in_call": lock.sum.in_calls,
        "holder_blocked": lock.sum.off,
        "holder_waits_at_most": most,
    })
}
