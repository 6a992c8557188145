//! `heddle info`: docs/info.md.

mod strands;

use crate::coroutine_calls::{ClangModules, Count};
use crate::incomplete;
use crate::names::printable;
use crate::notes::counted;
use crate::sched::Between;
use crate::trace_arg::TraceArg;
use crate::{notes, output, sched};
use heddle_calls::{Loose, Profile, Source, Workers};
use heddle_strands::Inherited;
use heddle_symbols::Images;
use heddle_trace_file::{
    AllocationEntry, ClockKind, Nanos, Process, Remarks, Switches, Trace, Unrecordable,
};
use std::io::{self, Write};
use std::process::ExitCode;

/// Arguments of `heddle info`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    trace: TraceArg,
}

/// Runs `heddle info`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let trace = args.trace.open()?;
    output::print(|out| info(&trace, out))?;
    Ok(ExitCode::SUCCESS)
}

fn info(trace: &Trace, out: &mut dyn Write) -> anyhow::Result<()> {
    let first = &trace.processes()[0];
    let clock = match first.clock() {
        ClockKind::Tsc => "time-stamp counter",
        ClockKind::MonotonicRaw => "CLOCK_MONOTONIC_RAW",
    };
    writeln!(
        out,
        "trace      {}, format version {}",
        trace.path().display(),
        trace.version()
    )?;
    writeln!(out, "host       {}", printable(first.host()))?;
    writeln!(
        out,
        "begun      {} (seconds since 1970)",
        seconds(trace.epoch())
    )?;
    writeln!(
        out,
        "clock      {clock}, {:.3} MHz",
        trace.rate().frequency() / 1e6
    )?;
    if let Some(filters) = trace.filters() {
        writeln!(out, "filtered   {}", printable(filters))?;
    }
    if let Some(unplanned) = notes::unplanned(trace) {
        writeln!(out, "not known  {unplanned}")?;
    }
    for ((why, path), count) in trace.unrecorded() {
        let (path, reason) = (printable(path), notes::unrecordable(why));
        match why {
            Unrecordable::Namespace => writeln!(out, "unrecorded {path}: {reason}")?,
            _ => writeln!(
                out,
                "unrecorded {} of {path}: {reason}",
                counted(count, "start")
            )?,
        }
    }
    if let (events @ 1.., why) = trace.lost() {
        let why = notes::reasons(why.into_iter());
        writeln!(
            out,
            "unrecorded {} of processes that could store nothing here: {why}",
            counted(events, "event")
        )?;
    }
    let lost = [
        notes::lost_operations(trace),
        notes::lost_allocations(trace),
        notes::barred(&trace.lost_counts()),
    ];
    for text in lost.into_iter().flatten() {
        writeln!(out, "unrecorded {text}")?;
    }
    for lack in trace.lacking() {
        writeln!(out, "missing    {}", printable(&lack.to_string()))?;
    }
    let switches = trace.switches()?;
    if let Some(switches) = &switches {
        switches_info(out, switches)?;
    }
    let off = sched::known_stretches(trace)?;
    let mut loose = Loose::default();
    let mut remarks = Remarks::default();
    let mut images = trace.symbols().map_or_else(Images::new, Images::packed);
    let strands = strands::Counts::of(trace, &mut images)?;
    for (index, process) in trace.processes().iter().enumerate() {
        let (pid, image) = (process.pid(), process.id().image);
        let later = |other: &Process| other.pid() == pid && other.id().image > image;
        let replaced = trace.processes().iter().any(later);
        let one_stack = !strands.has_fibers(index);
        let sums = (&mut loose, &mut remarks);
        let inherited = strands.inherited(index);
        process_info(out, trace, process, replaced, one_stack, inherited, sums)?;
        if let Some(off) = &off {
            off_info(out, process, &Between::new(off, index))?;
        }
        strands.print(out, index)?;
    }
    out.flush()?;
    incomplete::tell(trace, strands.loose(loose), &remarks);
    Ok(())
}

/// What the kernel told of threads and processors.
fn switches_info(out: &mut dyn Write, switches: &Switches) -> io::Result<()> {
    if let Some(refused) = switches.refused {
        let why = notes::refusal(refused);
        return writeln!(out, "switches   not known: {why}");
    }
    let mut line = format!(
        "switches   of {}",
        counted(switches.threads().count() as u64, "thread")
    );
    for (number, what) in [
        (switches.lost, "lost"),
        (switches.unpaired, "without a partner"),
    ] {
        if number > 0 {
            line += &format!(", {number} {what}");
        }
    }
    if let Some(early) = sched::early(switches) {
        line += &format!(", {early}");
    }
    writeln!(out, "{line}")
}

/// How often and how long each thread was off its processor.
fn off_info(out: &mut dyn Write, process: &Process, off: &Between) -> io::Result<()> {
    for (index, thread) in process.threads().iter().enumerate() {
        let (mut ready, mut blocked) = ((0u64, Nanos(0)), (0u64, Nanos(0)));
        for off in off.all(index) {
            let sum = match off.preempted {
                true => &mut ready,
                false => &mut blocked,
            };
            *sum = (sum.0 + 1, Nanos(sum.1.0.saturating_add(off.took().0)));
        }
        writeln!(
            out,
            "off        {:<7} {:<16} preempted {} times, {}; blocked {} times, {}",
            thread.tid(),
            printable(thread.name()),
            ready.0,
            ready.1,
            blocked.0,
            blocked.1
        )?;
    }
    Ok(())
}

/// `one_stack`: each of its threads has one, so that what does not pair up by thread is worth
/// telling.
fn process_info(
    out: &mut dyn Write,
    trace: &Trace,
    process: &Process,
    replaced: bool,
    one_stack: bool,
    inherited: &Inherited,
    (loose, remarks): (&mut Loose, &mut Remarks),
) -> anyhow::Result<()> {
    let image = match process.id().image {
        0 => String::new(),
        image => format!(", image {image} (after exec)"),
    };
    let end = if process.ended() {
        ""
    } else if process.running() {
        ", still running"
    } else if replaced {
        ", replaced itself by exec"
    } else {
        ", its exit was not seen (killed, left by _exit, or replaced itself by exec)"
    };
    writeln!(
        out,
        "\nprocess    {} (parent {}){image}{end}",
        process.pid(),
        process.parent()
    )?;
    writeln!(out, "program    {}", printable(process.executable()))?;
    writeln!(
        out,
        "command    {}",
        printable(&process.command().join(" "))
    )?;
    if let Some(bytes) = process.flight() {
        let kept = "the latest events of each thread";
        writeln!(out, "kept       {kept}, {bytes} bytes in all (--flight)")?;
        if let Some(short) = notes::flight_short(process) {
            writeln!(out, "           {short}")?;
        }
    }
    if let Some(bytes) = process.sparse() {
        let read = "once in at most";
        writeln!(
            out,
            "clock read {read} {bytes} bytes of records (--clock sparse)"
        )?;
    }
    if process.uncollected() > 0 {
        let (buffers, then) = (
            counted(process.uncollected() as u64, "buffer"),
            if process.running() {
                "it still runs"
            } else {
                "heddle recover copies what is in them and removes them"
            },
        );
        writeln!(out, "uncollected {buffers}: {then}")?;
    }
    for module in process.modules().iter() {
        let id = module.build_id.as_deref().unwrap_or("no build id");
        let unloaded = module.unloaded.map_or(String::new(), |time| {
            format!(", unloaded at {}", seconds(time))
        });
        let range = format!("{:#x}-{:#x}", module.start.0, module.end.0);
        writeln!(
            out,
            "module     {range:<30} {} ({id}){unloaded}",
            printable(&module.path.to_string_lossy())
        )?;
    }
    if let Some(objects) = process.objects().filter(|objects| objects.uncounted > 0) {
        let what = counted(objects.uncounted, "operation");
        let why = notes::no_room(objects.trouble);
        writeln!(
            out,
            "waits      {what} on locks and their like not counted ({why})"
        )?;
    }
    allocation_info(out, process)?;
    let mut coroutines = Count::default();
    let threads: Vec<_> = process
        .threads()
        .iter()
        .enumerate()
        .map(|(index, thread)| Source {
            before: inherited.of(index),
            ..Source::new(thread, process.modules())
        })
        .collect();
    let profiles = Profile::of_all(&threads, Workers::all())?;
    for (thread, profile) in process.threads().iter().zip(profiles) {
        *loose += profile.loose;
        *remarks += &profile.remarks;
        coroutines.add(&profile);
        let mut line = format!(
            "thread     {:<7} {:<16} {}",
            thread.tid(),
            printable(thread.name()),
            counted(profile.events, "event")
        );
        let own = match one_stack {
            true => profile.loose,
            false => Loose::default(),
        };
        for (number, what) in [
            (profile.remarks.dropped, "dropped"),
            (own.unmatched, "without enter"),
            (own.unwound, "without exit"),
            (own.open, "open at the end"),
            (thread.missing_runs(), "stretches missing"),
        ] {
            if number > 0 {
                line += &format!(", {number} {what}");
            }
        }
        writeln!(out, "{line}")?;
        if profile.remarks.uncertainty.events() > 0 {
            let uncertain = notes::uncertain(&profile.remarks.uncertainty);
            writeln!(out, "           {uncertain}")?;
        }
    }
    coroutines.print(out, trace, process)?;
    for warning in coroutines.unseen(&ClangModules::of(trace, process)) {
        writeln!(out, "           {warning}")?;
    }
    if process.dropped() > 0 {
        writeln!(
            out,
            "           {} of threads without a buffer were dropped",
            counted(process.dropped(), "event")
        )?;
    }
    if let Some(error) = process.trouble() {
        let why = notes::reasons(std::iter::once(error));
        writeln!(out, "           first dropped because: {why}")?;
    }
    if process.missing_threads() > 0 {
        writeln!(
            out,
            "           nothing of {}",
            counted(process.missing_threads().into(), "more thread")
        )?;
    }
    Ok(())
}

/// Calls of malloc and its like, or why they are not known.
fn allocation_info(out: &mut dyn Write, process: &Process) -> io::Result<()> {
    let Some(all) = process.allocation() else {
        return Ok(());
    };
    if all.other_malloc {
        let why = "the program calls a malloc of its own, in front of the recorder's";
        return writeln!(out, "allocation not known: {why}");
    }
    if all.missing {
        let why = "a file that counts it is gone or damaged, or left out of a snapshot";
        return writeln!(out, "allocation not known: {why}");
    }
    if !all.known() {
        let (calls, why) = (counted(all.uncounted, "call"), notes::no_room(all.trouble));
        return writeln!(out, "allocation not known: {calls} not counted ({why})");
    }
    let sum = |of: fn(&AllocationEntry) -> u64| {
        let all = all.entries.iter().map(of);
        all.fold(0u64, u64::saturating_add)
    };
    let given = sum(|entry| entry.allocated);
    let mut line = format!(
        "allocation {} that {} memory, {} that free it, {} bytes, {}",
        counted(given, "call"),
        if given == 1 { "gives" } else { "give" },
        sum(|entry| entry.freed),
        sum(|entry| entry.bytes),
        Nanos(sum(|entry| entry.took.0)),
    );
    if all.uncounted > 0 {
        let why = notes::no_room(all.trouble);
        line += &format!(", {} not counted ({why})", all.uncounted);
    }
    if all.full {
        line += ", in more stretches than there is room for";
    }
    writeln!(out, "{line}")?;
    if all.other_new {
        let why = "that does not call malloc is not seen";
        writeln!(
            out,
            "           operator new is not the C++ library's, but the program's or a sanitizer's: \
             what of it {why}"
        )?;
    }
    Ok(())
}

fn seconds(time: Nanos) -> String {
    format!("{}.{:09}", time.0 / 1_000_000_000, time.0 % 1_000_000_000)
}
