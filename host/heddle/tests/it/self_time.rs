//! Self time is the same whichever command adds it up.

use crate::common::{LIBC, heddle};
use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const CODE: u64 = 0x40_0000;
const MAIN: u64 = CODE;
const RESUME: u64 = CODE + 0x100;
const BODY: u64 = CODE + 0x200;
const TOP: u64 = 0x7fff_7000;

/// Writes `heddle.trace`, of the threads that `does` writes.
fn written(path: &Path, threads: &[&dyn Fn(&mut ThreadWriter)]) {
    let writer = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    let mut process = writer.process(4711, 1, "/nowhere/app").unwrap();
    process.module(CODE, CODE + 0x1000, CODE, None, "/nowhere/app");
    process.module(LIBC, LIBC + 0x10_0000, LIBC, None, "[libc.so.6]");
    for (number, does) in threads.iter().enumerate() {
        let mut thread = process.thread(4711 + number as u32, "app");
        let below = number as u64 * 0x10_0000;
        thread.stack(0x7fff_0000 - below, 0x7fff_8000 - below);
        does(&mut thread);
        thread.finish().unwrap();
    }
    process.finish().unwrap();
}

/// Self time by function: `column` is that of the functions' names, `own` that of the times.
fn table(path: &Path, arguments: &[&str], own: usize) -> BTreeMap<String, u64> {
    let output = heddle(path).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut all = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let name = cells[cells.len() - 2].to_owned();
        *all.entry(name).or_default() += cells[own].parse::<u64>().unwrap();
    }
    all
}

fn add(node: &Value, all: &mut BTreeMap<String, u64>) {
    let name = node["name"].as_str().unwrap().to_owned();
    *all.entry(name).or_default() += node["self_ns"].as_u64().unwrap();
    let callees = node["callees"].as_array().unwrap();
    callees.iter().for_each(|callee| add(callee, all));
}

/// The same of `heddle graph`, without the rows of strands.
fn graph(path: &Path) -> BTreeMap<String, u64> {
    let output = heddle(path)
        .args(["graph", "--format", "json"])
        .output()
        .unwrap();
    let strands: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut all = BTreeMap::new();
    for strand in strands.as_array().unwrap() {
        let callees = strand["callees"].as_array().unwrap();
        callees.iter().for_each(|callee| add(callee, &mut all));
    }
    all
}

/// What each command says, which must be this.
fn all_say(path: &Path, expected: &[(&str, u64)]) {
    let expected = expected
        .iter()
        .map(|&(name, own)| (name.to_owned(), own))
        .collect();
    let csv = ["report", "--format", "csv", "--by"];
    let by = |by: &'static str| [&csv[..], &[by]].concat();
    assert_eq!(table(path, &by("strand"), 7), expected, "by strand");
    assert_eq!(table(path, &by("function"), 2), expected, "by function");
    let filtered = [&by("function")[..], &["-t", "1ns"]].concat();
    assert_eq!(table(path, &filtered, 2), expected, "of calls one by one");
    assert_eq!(graph(path), expected, "graph");
}

/// Where the fibers' stacks begin.
const BASES: [u64; 2] = [0x6000_1f00, 0x6000_3f00];

/// A fiber's stack is made, and `main` and `resume` are entered, which switches to it.
fn resumes(thread: &mut ThreadWriter, number: u64) -> &mut ThreadWriter {
    let (base, top) = (BASES[number as usize], TOP - number * 0x10_0000);
    thread
        .enter(100, MAIN, LIBC + 9, top)
        .stack_made(105, base - 0xf00..base + 0x100, top - 0x40)
        .enter(110, RESUME, MAIN + 9, top - 0x100)
}

#[test]
fn a_fiber_without_an_open_call_leaves_the_time_to_who_resumed_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    // The fiber's own function has no hooks: it makes two calls.
    written(
        path,
        &[&|thread| {
            resumes(thread, 0)
                .enter(120, BODY, LIBC + 0x500, BASES[0])
                .exit(140, BODY, 0, BASES[0])
                .enter(160, BODY, LIBC + 0x500, BASES[0])
                .exit(170, BODY, 0, BASES[0])
                .exit(190, RESUME, 0, TOP - 0x100)
                .exit(200, MAIN, 0, TOP);
        }],
    );
    all_say(
        path,
        &[("app+0x0", 20), ("app+0x100", 50), ("app+0x200", 30)],
    );
}

#[test]
fn while_a_fiber_has_an_open_call_the_time_is_not_self_of_who_resumed_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    written(
        path,
        &[&|thread| {
            resumes(thread, 0)
                .enter(120, BODY, LIBC + 0x500, BASES[0])
                // It switches back, and is gone on with: its last event tells when.
                .exit(150, RESUME, 0, TOP - 0x100)
                .enter(160, RESUME, MAIN + 9, TOP - 0x100)
                .exit(180, BODY, 0, BASES[0])
                .exit(200, RESUME, 0, TOP - 0x100)
                .exit(210, MAIN, 0, TOP);
        }],
    );
    all_say(
        path,
        &[("app+0x0", 30), ("app+0x100", 50), ("app+0x200", 30)],
    );
}

/// What nests by time is still two stacks': the thread's own goes on while the fiber is suspended.
#[test]
fn a_fiber_whose_calls_nest_in_the_threads_has_none_of_its_time() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    written(
        path,
        &[&|thread| {
            resumes(thread, 0)
                .enter(120, BODY, LIBC + 0x500, BASES[0])
                // Each is a call into the kernel that the fiber, the thread, and the fiber make.
                .by(BASES[0] - 0x40)
                .long_call(130, 125, "nanosleep")
                .by(TOP - 0x180)
                .long_call(170, 135, "nanosleep")
                .by(BASES[0] - 0x40)
                .long_call(180, 175, "nanosleep")
                .exit(185, BODY, 0, BASES[0])
                .exit(190, RESUME, 0, TOP - 0x100)
                .exit(200, MAIN, 0, TOP);
        }],
    );
    all_say(
        path,
        &[("app+0x0", 20), ("app+0x100", 55), ("app+0x200", 25)],
    );
    // Without a word, replay puts each where it was.
    let replayed = heddle(path).args(["replay"]).output().unwrap();
    let replayed = String::from_utf8(replayed.stdout).unwrap();
    let kernel = replayed.lines().filter(|line| line.contains("Kernel"));
    let whose: Vec<bool> = kernel.map(|line| line.contains("app+0x200")).collect();
    assert_eq!(whose, [true, false, true], "{replayed}");
}

#[test]
fn a_call_without_an_exit_is_timed_until_its_own_threads_last_event() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    // Both threads run fibers, so they are read together; the second is killed before the first.
    let runs = |thread: &mut ThreadWriter, number: u64, last: u64| {
        let top = TOP - number * 0x10_0000;
        resumes(thread, number)
            .enter(120, BODY, LIBC + 0x500, BASES[number as usize])
            .exit(150, RESUME, 0, top - 0x100)
            .enter(160, RESUME, MAIN + 9, top - 0x100)
            .exit(180, BODY, 0, BASES[number as usize])
            .exit(last, RESUME, 0, top - 0x100);
    };
    written(
        path,
        &[&|thread| runs(thread, 0, 1000), &|thread| {
            runs(thread, 1, 200)
        }],
    );
    // Of `main`: 110 of both, less what is in `resume`.
    all_say(
        path,
        &[("app+0x0", 40), ("app+0x100", 900), ("app+0x200", 60)],
    );
}
