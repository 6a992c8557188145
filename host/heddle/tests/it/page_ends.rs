//! What a page tells of strands, and of their waits, that end with their process or not at all.

#[allow(dead_code, reason = "other tests use the rest")]
use crate::common::{Program, not_ended};
use crate::trace_page::{Page, view};
use crate::viewing::said;
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
    let writer = heddle_trace_file::write::TraceWriter::create(&child).unwrap();
    let mut process = writer.process(4712, 4711, program.path()).unwrap();
    process.module(0, 0x100_0000, 0, None, program.path());
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
