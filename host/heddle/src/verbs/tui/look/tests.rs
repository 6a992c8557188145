//! What is read in pieces is what one walk over each thread finds.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::names::Length;
use crate::verbs::report::row::By;
use crate::verbs::report::rows;
use heddle_calls::{Profile, SoFar, Source, Workers};
use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use heddle_trace_file::{Made, Switch, SwitchKind, Why};
use heddle_tui::{Graph, Strands};
use std::num::NonZeroUsize;

/// Numbers by chance, the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }
}

const TOP: u64 = 1 << 20;

/// A thread's events; gives the time of the last one.
fn write(thread: &mut ThreadWriter, chance: &mut Chance, making: &mut u32) -> u64 {
    let mut open: Vec<(u64, u64)> = Vec::new();
    let mut time = 100;
    thread.stack(64, TOP + 64);
    for _ in 0..300 + chance.below(300) {
        time += 1 + chance.below(40);
        let sp = TOP - 64 * (open.len() as u64 + 1);
        match chance.below(100) {
            0..45 if open.len() < 12 => {
                let function = 0x1000 + 64 * chance.below(5);
                open.push((function, sp));
                thread.enter(time, function, 0x2000 + 16 * chance.below(3), sp);
            }
            0..88 => {
                if let Some((function, sp)) = open.pop() {
                    thread.exit(time, function, 0x2000, sp);
                }
            }
            88..92 => {
                let object = (1, 0x7000 + 16 * chance.below(2), 0);
                thread.wait(
                    time,
                    object,
                    0x2040 + chance.below(2),
                    (1 + chance.below(2) as u32, 0),
                );
                // A signal's handler runs meanwhile. One piece may begin somewhere in the wait.
                let handlers = chance.below(3);
                let begins = chance.below(3 * (1 + handlers));
                if begins == 0 {
                    thread.next_run();
                }
                for handler in 1..=handlers {
                    thread.enter(time + 10, 0x1000, 0x2000, sp - 640);
                    thread.enter(time + 20, 0x1040, 0x2000, sp - 704);
                    if begins == handler {
                        thread.next_run();
                    }
                    thread.exit(time + 30, 0x1040, 0x2000, sp - 704);
                    time += 50 + chance.below(50);
                    thread.exit(time, 0x1000, 0x2000, sp - 640);
                }
                time += 1 + chance.below(900);
                thread.wait_ended(time, 0, 0);
            }
            92 => _ = thread.mark(time, 0, "here"),
            93 => _ = thread.gap(time, Why::Paused, Some(2)),
            94 => {
                *making += 1;
                thread.makes(time, Made::Thread, *making);
            }
            95 => _ = thread.long_call(time, time - 30, "read 3 pipe:[1]"),
            // An exit without a call.
            96 if open.is_empty() => _ = thread.exit(time, 0x1000, 7, TOP - 64),
            _ => _ = thread.next_run(),
        }
    }
    if chance.below(3) == 0 {
        // It waits until the end.
        thread.wait(time, (1, 0x7000, 0), 0x2040, (1, 0));
    }
    time
}

/// A trace by chance; every second one says when threads were off their processors, whatever they
/// did.
fn trace(seed: u64) -> (tempfile::TempDir, Trace) {
    let mut chance = Chance(seed);
    let directory = tempfile::tempdir().unwrap();
    let writer = TraceWriter::create(directory.path()).unwrap();
    let mut process = writer.process(1, 0, "/x").unwrap();
    let (mut making, mut switches) = (0, Vec::new());
    for tid in 1..2 + chance.below(3) as u32 {
        let mut thread = process.thread(tid, "x");
        if tid > 1 && making > 0 {
            thread.made_by(1 + chance.below(u64::from(making)) as u32);
        }
        let last = write(&mut thread, &mut chance, &mut making);
        thread.finish().unwrap();
        let mut time = 0;
        loop {
            time += 20 + chance.below(600);
            let kind = match chance.below(2) {
                0 => SwitchKind::Preempted,
                _ => SwitchKind::Blocks,
            };
            let mut switch = |time, kind| {
                let time = Nanos(time);
                switches.push(Switch {
                    time,
                    pid: 1,
                    tid,
                    cpu: tid,
                    kind,
                });
            };
            switch(time, kind);
            time += 1 + chance.below(50);
            switch(time, SwitchKind::Runs);
            if time > last {
                break;
            }
        }
    }
    process.finish().unwrap();
    if seed % 2 == 0 {
        writer.switches(&switches, Some(1 << 30)).unwrap();
    }
    let trace = Trace::open(directory.path()).unwrap();
    (directory, trace)
}

/// All that a page shows, in no order.
fn said(data: &Data) -> Vec<String> {
    let text = |index: u32| &data.texts[index as usize];
    let function = |index: u32| &data.functions[index as usize].0.name;
    let mut all: Vec<String> = Vec::new();
    all.extend(
        data.functions
            .iter()
            .map(|(function, total)| format!("{} {total:?}", function.name)),
    );
    all.extend(data.strands.iter().map(|strand| format!("{strand:?}")));
    for call in &data.calls.kept {
        let (of, site) = (function(call.function), text(call.site));
        let call = heddle_view::Call {
            function: 0,
            site: 0,
            ..*call
        };
        all.push(format!("{of} {site} {call:?}"));
    }
    for cell in &data.calls.cells {
        let of = function(cell.key.what);
        let key = heddle_view::Key {
            what: 0,
            ..cell.key
        };
        all.push(format!("{of} {:?}", heddle_view::Cell { key, ..*cell }));
    }
    for pause in &data.pauses.kept {
        let (reason, place) = (text(pause.reason), text(pause.place));
        let of = pause.function.map(function);
        let pause = heddle_view::Pause {
            reason: 0,
            place: 0,
            function: None,
            ..*pause
        };
        all.push(format!("{of:?} {reason} {place} {pause:?}"));
    }
    for event in &data.events {
        all.push(format!(
            "{} {} {}",
            event.strand,
            event.time,
            text(event.text)
        ));
    }
    all.push(format!(
        "{:?} {:?}",
        data.calls.summed, data.calls.threshold
    ));
    all.push(format!("{:?} {:?}", data.pauses.cells, data.pauses.summed));
    all.push(format!("{:?} {} {}", data.runs, data.more_events, data.end));
    all.sort();
    all
}

fn said_of_graph(graph: &Graph) -> Vec<String> {
    let rows = graph.rows.iter();
    rows.map(|row| {
        format!(
            "{} {:?}",
            graph.names[row.name as usize],
            heddle_tui::GraphRow { name: 0, ..*row }
        )
    })
    .collect()
}

/// One walk over each thread for each view.
fn walked(trace: &Trace) -> (Vec<String>, Vec<String>, Strands) {
    let mut names = Names::new(trace).of_length(Length::Short);
    let found = strand_list::read(trace, &mut names).unwrap();
    let mut all = strands::rows(trace, &found.all, &mut names);
    let found = paths::read(trace, &mut names, &FilterArgs::default(), None).unwrap();
    let calls = graph::rows(&found.strands);
    let wanted = tables::Wanted {
        selection: Selection::new(trace, &[]),
        filter: None,
        lives: true,
    };
    let spill = spill(trace.path()).unwrap();
    let mut page = ToPage::new(trace);
    tables::read(trace, &mut names, wanted, &spill, &mut page).unwrap();
    let data = page.finish();
    strands::waiting(&mut all, &data);
    (said(&data), said_of_graph(&calls), all)
}

/// In pieces of at least so many bytes; `None` if symbols are asked how calls ended.
fn in_pieces(trace: &Trace, bytes: u64) -> Option<(Vec<String>, Vec<String>, Strands)> {
    let filter = FilterArgs::default();
    let found = rows::read(trace, By::Function, &filter, Length::Short).unwrap();
    let apart = |standing: &Standing| matches!(standing, Standing::Apart(..));
    if !found.standing.iter().all(apart) {
        return None;
    }
    let process = &trace.processes()[0];
    let source = |thread| Source::new(thread, process.modules());
    let threads: Vec<_> = process.threads().iter().map(source).collect();
    let places = Places::default();
    let note = |index, so_far: &SoFar<'_, '_>| places.note((0, index), so_far);
    let workers = Workers::new(NonZeroUsize::new(2).unwrap()).with_chunks_of(bytes);
    Profile::of_watched(
        &threads,
        workers,
        heddle_calls::Wanted::OneStrand,
        Some(&note),
    )
    .unwrap();
    let mut names = Names::new(trace).of_length(Length::Short);
    let mut model = Model::default();
    read(
        trace,
        &mut names,
        &found.standing,
        places,
        &mut model,
        |_| (),
    )
    .unwrap();
    let (data, graph) = (model.timeline.unwrap(), model.graph.unwrap());
    Some((said(&data), said_of_graph(&graph), model.strands.unwrap()))
}

/// The same trace, with stretches in which threads were off their processors and did nothing.
fn with_stretches(directory: &tempfile::TempDir, trace: Trace, chance: &mut Chance) -> Trace {
    let mut switches = Vec::new();
    for thread in trace.processes()[0].threads() {
        let mut times: Vec<u64> = thread.events().map(|event| event.unwrap().time.0).collect();
        times.sort_unstable();
        for between in times.windows(2) {
            let [from, to] = [between[0] + 1, between[1].saturating_sub(1)];
            if from < to && chance.below(3) == 0 {
                let kind = [SwitchKind::Preempted, SwitchKind::Blocks][chance.below(2) as usize];
                for (time, kind) in [(from, kind), (to, SwitchKind::Runs)] {
                    switches.push(Switch {
                        time: Nanos(time),
                        pid: 1,
                        tid: thread.tid(),
                        cpu: thread.tid(),
                        kind,
                    });
                }
            }
        }
    }
    drop(trace);
    let writer = TraceWriter::create(directory.path()).unwrap();
    writer.switches(&switches, Some(1 << 30)).unwrap();
    Trace::open(directory.path()).unwrap()
}

/// What is shown behind this filter, by one walk.
fn filtered(trace: &Trace, arguments: &[&str]) -> Data {
    #[derive(clap::Parser)]
    struct Options {
        #[command(flatten)]
        filter: FilterArgs,
    }
    let arguments = ["look"].iter().chain(arguments);
    let options = <Options as clap::Parser>::parse_from(arguments);
    let (mut names, mut model) = (Names::new(trace), Model::default());
    read_filtered(trace, &mut names, &options.filter, &mut model, |_| ()).unwrap();
    model.timeline.unwrap()
}

/// Pauses within this time, cut to it. Why a thread was in the kernel is often known only later.
fn pauses(data: &Data, from: u64, to: u64) -> Vec<String> {
    let within = data.pauses.kept.iter().filter_map(|pause| {
        let (from, to) = (pause.from.max(from), pause.to.min(to));
        let number = |strand: u32| data.strands[strand as usize].0.number;
        let text = |index: u32| data.texts[index as usize].clone();
        let reason = (pause.why != heddle_view::Why::Kernel).then(|| text(pause.reason));
        let function = pause
            .function
            .map(|index| &data.functions[index as usize].0.name);
        (from < to).then(|| {
            format!(
                "{} {from} {to} {:?} {reason:?} {function:?} {} {:?}",
                number(pause.strand),
                pause.why,
                text(pause.place),
                pause.holder.map(number)
            )
        })
    });
    let mut all: Vec<String> = within.collect();
    all.sort();
    all
}

#[test]
fn a_time_range_cuts_what_threads_wait() {
    let mut compared = 0;
    for seed in 0..12 {
        let mut chance = Chance(seed);
        let (directory, trace) = trace(2 * seed + 1);
        let trace = with_stretches(&directory, trace, &mut chance);
        let whole = filtered(&trace, &["--time-range", "0ns.."]);
        for _ in 0..20 {
            let from = chance.below(whole.end - 1);
            let to = from + 1 + chance.below(whole.end - from - 1);
            let part = filtered(&trace, &["--time-range", &format!("{from}ns..{to}ns")]);
            let (found, expected) = (pauses(&part, 0, u64::MAX), pauses(&whole, from, to));
            // A strand is shown that has a call then.
            let shown = |line: &&String| {
                let number: u64 = line.split_once(' ').unwrap().0.parse().unwrap();
                part.find(0, number).is_some()
            };
            let expected: Vec<&String> = expected.iter().filter(shown).collect();
            let only = |a: &[&String], b: &[&String]| {
                let only = a.iter().filter(|line| !b.contains(line));
                only.map(ToString::to_string).collect::<Vec<_>>().join("\n")
            };
            let found: Vec<&String> = found.iter().collect();
            assert!(
                found == expected,
                "seed {seed}, {from}..{to}: found\n{}\nexpected\n{}",
                only(&found, &expected),
                only(&expected, &found)
            );
            assert!(part.end <= to && part.begin <= part.end);
            compared += found.len();
        }
    }
    assert!(compared > 600, "{compared}");
}

#[test]
fn pieces_give_what_one_walk_gives() {
    let mut compared = 0;
    for seed in 0..40 {
        let (_directory, trace) = trace(seed);
        let walked = walked(&trace);
        for bytes in [1, 900, 1 << 20] {
            let Some(found) = in_pieces(&trace, bytes) else {
                break;
            };
            compared += 1;
            let only = |a: &[String], b: &[String]| {
                let only = a.iter().filter(|line| !b.contains(line));
                only.cloned().collect::<Vec<_>>().join("\n")
            };
            assert!(
                found.0 == walked.0,
                "seed {seed}, pieces of {bytes} bytes: found\n{}\nwalked\n{}",
                only(&found.0, &walked.0),
                only(&walked.0, &found.0)
            );
            assert_eq!(found.1, walked.1, "seed {seed}, pieces of {bytes} bytes");
            assert_eq!(found.2, walked.2, "seed {seed}, pieces of {bytes} bytes");
        }
    }
    assert!(compared >= 60, "{compared}");
}
