//! Whose a time off the processor is, where a thread runs coroutines.

#[allow(dead_code, reason = "other tests use the rest")]
use crate::common::Program;
use crate::trace_page::{Page, view};
use crate::viewing::{lines_with, said};
use heddle_trace_file::write::TraceWriter;
use heddle_trace_file::{Nanos, Switch, SwitchKind};
use std::path::Path;

/// `main` runs a coroutine and sleeps, has it destroyed and sleeps, and returns late.
fn sleeping(directory: &Path) {
    let source = "task co() { co_return; }\nint main() { co(); }\n";
    let program = Program::of_tasks(directory, source, &["-O0", "-g"]);
    let places = [" main", "cov.Frame.actor", "cov.Frame.destroy"];
    let [main, co, destroy] = program.places(places);
    let path = directory.join("heddle.trace");
    let mut process = program.process(&path);
    process
        .thread(4711, "app")
        .enter(0, main, 0, 900)
        .capture(co, 0x5581_0010, Some(0))
        .enter(10, co, main + 9, 800)
        .exit(20, co, 0, 800)
        .long_call(130, 30, "usleep")
        .capture(co, 0x5581_0010, Some(2))
        .enter(140, co, main + 9, 800)
        .long_call(250, 150, "read 0 pipe:[1]")
        .exit(260, co, 0, 800)
        .capture(destroy, 0x5581_0010, Some(4))
        .enter(270, destroy, main + 9, 800)
        .exit(280, destroy, 0, 800)
        .long_call(390, 290, "usleep")
        .exit(500, main, 0, 900)
        .finish()
        .unwrap();
    process.finish().unwrap();
    let switch = |time, kind| Switch {
        time: Nanos(time),
        pid: 4711,
        tid: 4711,
        cpu: 0,
        kind,
    };
    let off = [(35, 125), (155, 245), (295, 385), (400, 490)];
    let all = off.iter().flat_map(|&(from, to)| {
        [
            switch(from, SwitchKind::Blocks),
            switch(to, SwitchKind::Runs),
        ]
    });
    let trace = TraceWriter::create(&path).unwrap();
    trace.switches(&all.collect::<Vec<_>>(), Some(600)).unwrap();
}

#[test]
fn a_thread_s_sleep_is_not_the_coroutine_s_that_it_ran_before() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    sleeping(path);
    for filter in [&[][..], &["--hide", "co()*"], &["-N", "co()*"]] {
        let mut page = Page::open(&view(path, filter));
        let waits = page.rows("waits");
        let mut kernel: Vec<_> = waits
            .iter()
            .filter(|row| row[0].contains("kernel"))
            .map(|row| [&*row[1], &*row[3], &*row[4], &*row[5]])
            .collect();
        kernel.sort_unstable();
        let expected = [
            ["", "thread app", "1", "90 ns"],
            ["read 0 pipe:[1]", "coroutine co()", "1", "90 ns"],
            ["usleep", "thread app", "2", "180 ns"],
        ];
        // A coroutine without calls is not on the page.
        let expected = expected
            .iter()
            .filter(|row| filter.is_empty() || row[1] == "thread app");
        assert!(kernel.iter().eq(expected), "{filter:?}: {waits:?}");
    }
    // `report --by sched` tells the same.
    let (report, _) = said(path, &["report", "--by", "sched", "--format", "csv"]);
    let sleeps = lines_with(&report, "usleep");
    assert!(sleeps[0].contains("thread"), "{report}");
    assert_eq!(sleeps.len(), 1, "{report}");
}
