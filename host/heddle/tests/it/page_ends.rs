//! What a page tells of strands, and of their waits, that end with their process or not at all.

#[allow(dead_code, reason = "other tests use the rest")]
use crate::common::{BUILD_ID, Program, not_ended};
use crate::trace_page::{Page, view};
use crate::viewing::said;
use heddle_trace_file::write::TraceWriter;
use heddle_trace_file::{Nanos, Switch, SwitchKind};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const MUTEX: (u32, u64, u32) = (1, 0x5000, 1);

/// The row that begins with this, without what is not asked for.
fn row<'a, const N: usize>(rows: &'a [Vec<String>], name: &str, cells: [usize; N]) -> [&'a str; N] {
    let row = rows.iter().find(|row| row[0] == name);
    let row = row.unwrap_or_else(|| panic!("{name} in {rows:?}"));
    cells.map(|cell| row[cell].as_str())
}

/// A program that calls exec twice: while its first thread waits, and in a coroutine.
fn becoming_others(directory: &Path) {
    let source = "task co() { co_return; }\nint main() { co(); }\n";
    let program = Program::of_tasks(directory, source, &["-O0", "-g"]);
    let [main, co] = program.places([" main", "cov.Frame.actor"]);
    let trace = directory.join("heddle.trace");
    let image = |number: u64| match number {
        0 => trace.clone(),
        _ => directory.join(format!("later-{number}")),
    };
    let events = |number| image(number).join("4711/events");

    let mut process = program.process(&image(0));
    let mut waits = process.thread(4711, "app");
    waits
        .enter(0, main, 0, 900)
        .wait(100, MUTEX, main + 9, (4712, 0))
        .finish()
        .unwrap();
    let mut execs = process.thread(4712, "app");
    execs.mark(1_000, 0, "execs").finish().unwrap();
    process.replaced().finish().unwrap();
    not_ended(&events(0), 4711);
    not_ended(&events(0), 4712);

    let mut process = program.process(&image(1));
    process
        .thread(4711, "app")
        .enter(2_000, main, 0, 900)
        .capture(co, 0x5581_0010, Some(0))
        .enter(2_010, co, main + 9, 800)
        .exit(2_020, co, 0, 800)
        .capture(co, 0x5581_0010, Some(2))
        .enter(2_100, co, main + 9, 800)
        .mark(2_500, 0, "execs")
        .finish()
        .unwrap();
    process.replaced().finish().unwrap();
    not_ended(&events(1), 4711);

    let mut process = program.process(&image(2));
    let mut last = process.thread(4711, "app");
    last.enter(5_000, main, 0, 900).exit(9_000, main, 0, 900);
    last.finish().unwrap();
    process.finish().unwrap();
    for number in [1, 2] {
        let to = trace.join(format!("4711.{number}"));
        fs::rename(image(number).join("4711"), to).unwrap();
    }
}

#[test]
fn exec_ends_what_waits_and_its_programs_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    becoming_others(path);
    let mut page = Page::open(&view(path, &[]));
    let strands = page.rows("strands");
    assert_eq!(strands.len(), 5, "{strands:?}");
    // Lived, waited, the longest wait.
    let first = row(&strands, "thread app #4711/1", [3, 5, 6]);
    assert_eq!(first[..2], ["1.000 µs", "900 ns"]);
    assert!(first[2].ends_with(" 900 ns"), "{first:?}");
    row(&strands, "thread app #4711/2", []);
    row(&strands, "thread app #4711.1/1", []);
    row(&strands, "thread app #4711.2/1", []);
    // It ran when exec came, so nothing suspends it.
    let co = row(&strands, "coroutine co() #4711.1/2", [1, 3, 5]);
    assert_eq!(co, ["thread app #4711.1/1", "490 ns", "80 ns"]);
    let waits = page.rows("waits");
    let of = |kind: &str| {
        let rows = waits.iter().filter(|row| row[0].contains(kind));
        rows.map(|row| [&*row[3], &*row[4], &*row[5]])
            .collect::<Vec<_>>()
    };
    assert_eq!(of("lock"), [["thread app of 4711", "1", "900 ns"]]);
    assert_eq!(
        of("suspended"),
        [["coroutine co() of 4711.1", "1", "80 ns"]]
    );
    page.is_clean();
}

#[test]
fn a_coroutine_that_runs_at_the_end_is_not_suspended() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    becoming_others(path);
    let (tree, _) = said(path, &["tree", "--strand", "4711.1/2"]);
    assert!(tree.starts_with("coroutine co() #4711.1/2\n"), "{tree}");
    for wrong in ["left at", "not resumed"] {
        assert!(!tree.contains(wrong), "{tree}");
    }
    let (rows, _) = said(path, &["export", "--format", "json", "-o", "-"]);
    let suspended: Vec<&str> = (rows.lines())
        .filter(|row| row.contains(r#""why":"suspended""#))
        .collect();
    assert_eq!(suspended.len(), 1, "{suspended:?}");
    assert!(suspended[0].contains(r#""to_ns":2100,"#), "{suspended:?}");
}

#[test]
fn strands_end_with_their_process() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    child_that_returns(path);
    let mut page = Page::open(&view(path, &[]));
    let strands = page.rows("strands");
    assert_eq!(row(&strands, "thread app #4711/1", [3]), ["10.00 µs …"]);
    assert_eq!(row(&strands, "thread app #4712/1", [3]), ["2.000 µs"]);
    assert_eq!(
        row(&strands, "thread app #4712/2", [3, 5]),
        ["1.600 µs", "1.500 µs"]
    );
    page.follow("#body tbody tr", "thread app #4712/2");
    page.follow("#body tbody tr", "mutex");
    let wait = page.text("body");
    assert!(wait.contains("not ended when its strand did"), "{wait}");
    page.is_clean();
}

/// A process that returns from `main` while another one goes on, and its second thread waits.
pub fn child_that_returns(directory: &Path) {
    let program = Program::build(directory);
    let [main, a] = program.places([" main", "_Z1Av"]);
    let trace = directory.join("heddle.trace");
    let child = directory.join("child");
    let mut process = program.process(&trace);
    let mut thread = process.thread(4711, "app");
    thread.enter(0, main, 0, 900).exit(10_000, main, 0, 900);
    thread.finish().unwrap();
    process.finish().unwrap();
    not_ended(&trace.join("4711/events"), 4711);
    let writer = TraceWriter::create(&child).unwrap();
    let mut process = writer.process(4712, 4711, program.path()).unwrap();
    process.module(0, 0x100_0000, 0, Some(BUILD_ID), program.path());
    let mut thread = process.thread(4712, "app");
    thread.first(1_000).enter(1_000, main, 0, 900);
    thread.exit(3_000, main, 0, 900).finish().unwrap();
    let mut thread = process.thread(4713, "app");
    thread
        .first(1_400)
        .enter(1_400, a, 0, 0x9_0900)
        .wait(1_500, MUTEX, a + 9, (4712, 0))
        .finish()
        .unwrap();
    process.finish().unwrap();
    for tid in [4712, 4713] {
        not_ended(&child.join("4712/events"), tid);
    }
    fs::rename(child.join("4712"), trace.join("4712")).unwrap();
}

#[test]
fn what_a_strand_waited_has_what_it_still_waits_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let source = "task co() { co_return; }\nint main() { co(); }\n";
    let program = Program::of_tasks(path, source, &["-O0", "-g"]);
    let [main, co] = program.places([" main", "cov.Frame.actor"]);
    let mut process = program.process(&path.join("heddle.trace"));
    process
        .thread(4711, "app")
        .enter(0, main, 0, 900)
        .capture(co, 0x5581_0010, Some(0))
        .enter(10, co, main + 9, 800)
        .exit(20, co, 0, 800)
        .capture(co, 0x5581_0010, Some(2))
        .enter(100, co, main + 9, 800)
        .wait(110, MUTEX, co + 9, (4712, 0))
        .wait_ended(150, 0, 0)
        .exit(160, co, 0, 800)
        .exit(1_000, main, 0, 900)
        .finish()
        .unwrap();
    process.finish().unwrap();
    let mut page = Page::open(&view(path, &[]));
    let strands = page.rows("strands");
    // 80 ns suspended, 40 ns for the mutex, and suspended to the end.
    let co = row(&strands, "coroutine co() #2", [5, 6]);
    assert_eq!(co[0], "960 ns");
    assert!(co[1].ends_with(" 840 ns"), "{co:?}");
    page.is_clean();
}

/// What begins and ends on the tracks of an export: names that have begun and not ended.
fn open_slices(path: &Path) -> Vec<String> {
    let (chrome, _) = said(path, &["export", "--format", "chrome", "-o", "-"]);
    let chrome: serde_json::Value = serde_json::from_str(&chrome).unwrap();
    let mut open: BTreeMap<String, Vec<(String, f64)>> = BTreeMap::new();
    for event in chrome["traceEvents"].as_array().unwrap() {
        let track = format!("{}/{}", event["pid"], event["tid"]);
        let slices = open.entry(track).or_default();
        match event["ph"].as_str() {
            Some("B") => {
                let name = event["name"].as_str().unwrap().to_owned();
                slices.push((name, event["ts"].as_f64().unwrap()));
            }
            Some("E") => {
                let (_, begin) = slices.pop().unwrap();
                assert!(begin <= event["ts"].as_f64().unwrap(), "{event}");
            }
            _ => {}
        }
    }
    let open = open.into_values().flatten();
    open.map(|(name, _)| name).collect()
}

#[test]
fn exports_end_what_exec_ended() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    becoming_others(path);
    assert_eq!(open_slices(path), [""; 0]);
    let (chrome, _) = said(path, &["export", "--format", "chrome", "-o", "-"]);
    // The exec came with the last event of the process, of its other thread.
    let ends = |line: &&str| line.contains(r#""ph":"E""#) && line.contains(r#""ts":1.000"#);
    let ends: Vec<&str> = chrome.lines().filter(ends).collect();
    assert!(ends[0].contains("waits: mutex"), "{ends:?}");
    assert!(ends[1].contains("main"), "{ends:?}");
    let (profile, _) = said(path, &["export", "--format", "firefox", "-o", "-"]);
    let profile: serde_json::Value = serde_json::from_str(&profile).unwrap();
    let first = &profile["threads"][0];
    assert_eq!(first["unregisterTime"], 0.001, "{first}");
    assert_eq!(first["markers"]["endTime"][0], 0.001, "{first}");
}

#[test]
fn locks_of_a_program_and_of_what_it_became_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    becoming_others(path);
    let (table, _) = said(path, &["report", "--by", "lock"]);
    assert!(table.contains("4711/mutex "), "{table}");
    // There is nothing to look up: the program went on.
    assert!(table.contains("1 wait ended by exec"), "{table}");
    assert!(!table.contains("tree --blocked"), "{table}");
    let (csv, _) = said(path, &["report", "--by", "lock", "--format", "csv"]);
    assert!(csv.starts_with("pid,image,kind,"), "{csv}");
    assert!(csv.contains("\n4711,0,mutex,"), "{csv}");
    let (json, _) = said(path, &["report", "--by", "lock", "--format", "json"]);
    assert!(json.contains(r#""image": 0"#), "{json}");
}

/// A program that is killed while its second thread is in the kernel; its child, which has a
/// coroutine, has left by `_exit` before.
fn killed_in_the_kernel(directory: &Path) {
    use SwitchKind::{Blocks, Ended, Runs};
    let source = "task co() { co_return; }\nvoid a() {}\nint main() { a(); co(); }\n";
    let program = Program::of_tasks(directory, source, &["-O0", "-g"]);
    let [main, a] = program.places([" main", "_Z1av"]);
    let trace = directory.join("heddle.trace");
    let mut process = program.process(&trace);
    let mut thread = process.thread(4711, "app");
    thread.enter(0, main, 0, 900).mark(5_000, 0, "the last");
    thread.finish().unwrap();
    let mut thread = process.thread(4712, "app");
    thread.enter(100, a, 0, 0x9_0900).finish().unwrap();
    process.killed().finish().unwrap();
    let writer = TraceWriter::create(&trace).unwrap();
    let mut process = writer.process(4713, 4711, program.path()).unwrap();
    process.module(0, 0x100_0000, 0, Some(BUILD_ID), program.path());
    let mut thread = process.thread(4713, "app");
    thread.first(200).enter(200, main, 0, 900).finish().unwrap();
    process.killed().finish().unwrap();
    for (pid, tid) in [(4711, 4711), (4711, 4712), (4713, 4713)] {
        not_ended(&trace.join(format!("{pid}/events")), tid);
    }
    let switch = |time, tid, kind| Switch {
        time: Nanos(time),
        pid: if tid == 4713 { 4713 } else { 4711 },
        tid,
        cpu: 0,
        kind,
    };
    let all = [
        switch(90, 4712, Runs),
        switch(110, 4712, Blocks),
        switch(190, 4713, Runs),
        switch(250, 4713, Blocks),
        switch(900, 4713, Runs),
        switch(950, 4713, Ended),
        switch(6_150, 4712, Runs),
        switch(6_160, 4712, Ended),
    ];
    writer.switches(&all, Some(7_000)).unwrap();
}

#[test]
fn what_the_kernel_told_of_a_killed_thread_is_on_the_page() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    killed_in_the_kernel(path);
    let (report, _) = said(path, &["report", "--by", "sched", "--format", "csv"]);
    assert!(report.contains(",blocked,,a(),1,6040,"), "{report}");
    let mut page = Page::open(&view(path, &[]));
    let strands = page.rows("strands");
    assert_eq!(row(&strands, "thread app #4711/2", [5]), ["6.040 µs"]);
    // It is known when the child ended: it has not lived on, and waited no longer.
    let child = row(&strands, "thread app #4713/1", [3, 5]);
    assert_eq!(child, ["750 ns", "650 ns"]);
    // Of a call no more is known than up to its thread's last event.
    let functions = page.rows("functions");
    assert!(!functions.iter().flatten().any(|cell| cell == "6.040 µs"));
    page.is_clean();
}

#[test]
fn the_last_to_come_to_a_barrier_has_not_waited() {
    const BARRIER: (u32, u64, u32) = (5, 0x5000, 1);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = Program::build(path);
    let [main, a] = program.places([" main", "_Z1Av"]);
    let mut process = program.process(&path.join("heddle.trace"));
    for (tid, from, result) in [(4711, 100, 0), (4712, 190, u32::MAX)] {
        let sp = 900 + u64::from(tid - 4711) * 0x9_0000;
        let mut thread = process.thread(tid, "app");
        thread
            .enter(0, main, 0, sp)
            .wait(from, BARRIER, a + 9, (0, 0))
            .wait_ended(200, result, 0)
            .exit(300, main, 0, sp);
        thread.finish().unwrap();
    }
    process.finish().unwrap();
    let (report, _) = said(path, &["report", "--by", "lock", "--format", "json"]);
    assert!(report.contains(r#""waits": 1,"#), "{report}");
    for format in ["chrome", "json", "firefox"] {
        let (export, _) = said(path, &["export", "--format", format, "-o", "-"]);
        let begins = export.matches("barrier").count();
        // A slice that begins and ends; a row; a name.
        let expected = if format == "chrome" { 2 } else { 1 };
        assert_eq!(begins, expected, "{format}: {export}");
    }
    let mut page = Page::open(&view(path, &[]));
    let waits = page.rows("waits");
    let barrier = waits.iter().find(|row| row[1].contains("barrier"));
    assert_eq!(barrier.unwrap()[4..6], ["1", "100 ns"], "{waits:?}");
    page.is_clean();
}
