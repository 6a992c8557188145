//! What a trace does not know is said not to be known, and never shown as 0.

use crate::common::heddle;
use heddle_trace_file::write::{
    ASKED_ALLOCATION, ASKED_SWITCHES, ASKED_WAITS, ProcessWriter, TraceWriter,
};
use heddle_trace_file::{Nanos, Of, Switch, SwitchKind};
use predicates::prelude::*;
use predicates::str::contains;
use std::path::Path;

const MUTEX: u32 = 1;

/// A process whose thread waits for an object, in the trace `heddle.trace` there.
fn trace(directory: &Path, more: impl FnOnce(&mut ProcessWriter)) -> TraceWriter {
    let trace = TraceWriter::create(&directory.join("heddle.trace")).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    process.module(0x1000, 0x2000, 0x1000, None, "/bin/app");
    let mut thread = process.thread(42, "app");
    thread.enter(10, 0x1010, 0x1500, 0x7000);
    thread.wait(20, (MUTEX, 0x5000, 1), 0x1200, (0, 0));
    thread.wait_ended(70, 0, 0);
    thread.exit(1000, 0x1010, 0x1500, 0x7000).finish().unwrap();
    more(&mut process);
    process.finish().unwrap();
    trace
}

#[test]
fn what_lost_files_would_tell_is_not_known() {
    let directory = tempfile::tempdir().unwrap();
    let asked = ASKED_WAITS | ASKED_ALLOCATION | ASKED_SWITCHES;
    trace(directory.path(), |process| _ = process.asked(asked, 1, 1));
    let run = |arguments: &[&str]| heddle(directory.path()).args(arguments).assert();
    let lost = || {
        contains("42/objects-1 is missing")
            .and(contains("42/allocation-1 is missing"))
            .and(contains("switches is missing"))
    };
    let info = run(&["info"]).success().stderr(lost());
    info.stdout(lost().and(contains("allocation not known")));
    let locks = run(&["report", "--by", "lock"]).success().stderr(lost());
    locks.stdout(contains("   not known           1       50 ns"));
    let json = run(&["report", "--by", "lock", "--format", "json"]).success();
    json.stdout(contains("\"taken\": null"));
    run(&["advise"]).success().stdout(
        contains("taken a number of times that is not known, 1 operation had to wait")
            .and(contains(
                "allocation: not known: a file that counts it is gone",
            ))
            .and(contains("other models: not known")),
    );
    for by in ["sched", "time"] {
        let unknown = "is not known: the file switches is gone or damaged";
        run(&["report", "--by", by])
            .code(1)
            .stderr(contains(unknown));
    }
}

#[test]
fn what_had_no_table_is_counted_by_each_verb() {
    let directory = tempfile::tempdir().unwrap();
    trace(directory.path(), |process| {
        process.asked(ASKED_WAITS | ASKED_ALLOCATION, 0, 0);
        process.uncounted(31, 7, libc::EFBIG);
    });
    // A process that could store nothing.
    let lost = "uncounted 5 6 13\nbarred 1 13\n";
    std::fs::write(directory.path().join("heddle.trace/unrecorded"), lost).unwrap();
    let run = |arguments: &[&str]| heddle(directory.path()).args(arguments).assert();
    run(&["info"]).success().stdout(
        contains("waits      31 operations on locks and their like not counted (file size limit")
            .and(contains(
                "allocation not known: 7 calls not counted (file size limit reached)",
            ))
            .and(contains(
                "unrecorded 5 operations on locks and their like were not counted (perm",
            ))
            .and(contains(
                "unrecorded 6 calls of malloc and its like were not counted (perm",
            ))
            .and(contains(
                "unrecorded 1 program that a process became could not open the trace",
            )),
    );
    let all = "36 operations on locks and their like were not counted (file size limit reached; permission denied)";
    let locks = run(&["report", "--by", "lock"]).success();
    locks.stderr(contains(all).and(contains("its calls and times are missing")));
    let advise = run(&["advise"]).success();
    advise
        .stdout(contains("allocation: not known: no call could be counted"))
        .stderr(contains(all).and(contains("13 calls of malloc and its like were not counted")));
}

#[test]
fn locks_that_were_not_used_are_told_from_those_that_are_not_known() {
    let (used, unused) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (directory, operations) in [(&unused, 0), (&used, 9)] {
        let trace = TraceWriter::create(&directory.path().join("heddle.trace")).unwrap();
        let mut process = trace.process(42, 1, "/bin/app").unwrap();
        process.asked(ASKED_WAITS, 0, 0);
        process.uncounted(operations, 0, 0);
        let mut thread = process.thread(42, "app");
        thread.mark(0, 0, "here").finish().unwrap();
        process.finish().unwrap();
    }
    let run = |directory: &tempfile::TempDir, arguments: &[&str]| {
        heddle(directory.path()).args(arguments).assert().success()
    };
    run(&unused, &["report", "--by", "lock"]).stderr(contains("no lock was used"));
    run(&unused, &["advise"]).stdout(contains("no mutex, rwlock or spin lock was used"));
    run(&used, &["report", "--by", "lock"]).stderr(contains("no lock was used").not());
    run(&used, &["advise"]).stdout(contains("which locks were used is not known"));
}

#[test]
fn time_behind_the_last_switch_that_is_told_is_not_known() {
    let directory = tempfile::tempdir().unwrap();
    let trace = trace(directory.path(), |process| {
        process.asked(ASKED_SWITCHES | ASKED_WAITS, 0, 0);
    });
    let switch = |time, kind| Switch {
        time: Nanos(time),
        pid: 42,
        tid: 42,
        cpu: 0,
        kind,
    };
    let all = [
        switch(5, SwitchKind::Runs),
        switch(30, SwitchKind::Blocks),
        switch(60, SwitchKind::Runs),
        switch(90, SwitchKind::Blocks),
    ];
    let run = |arguments: &[&str]| {
        let output = heddle(directory.path()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    // It outlived heddle record: of 1000 ns the last 800 are not known.
    trace.switches(&all, Some(200)).unwrap();
    let [rows, said] = run(&["report", "--by", "sched", "--format", "csv"]);
    assert!(rows.contains("not known,,,,800,"), "{rows}");
    assert!(
        said.contains("what threads did after 200 ns is not known (800 ns"),
        "{said}"
    );
    let [table, _] = run(&["report", "--by", "sched"]);
    assert!(
        table.contains("after the last switch that is told: 800 ns"),
        "{table}"
    );
    let [time, said] = run(&["report", "--by", "time", "--format", "json"]);
    assert!(time.contains("\"not_known_ns\": 910"), "{time}");
    assert!(
        said.contains("what threads did after 200 ns is not known"),
        "{said}"
    );

    // It could not be written, and it was cut.
    let file = directory.path().join("heddle.trace/switches");
    trace.switches(&all, None).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[48] = libc::ENOSPC as u8;
    std::fs::write(&file, &bytes).unwrap();
    let unwritten = "heddle record could not write them (no space left on device)";
    trace.switches(&all, Some(200)).unwrap();
    let whole = std::fs::read(&file).unwrap();
    for (bytes, why) in [
        (&bytes[..], unwritten),
        (&whole[..whole.len() - 24], "the file switches was cut"),
    ] {
        std::fs::write(&file, bytes).unwrap();
        let [info, _] = run(&["info"]);
        assert!(info.contains(why) && !info.contains("killed"), "{info}");
        for verb in [
            &["report", "--by", "sched"][..],
            &["report", "--by", "time"],
            &["replay"],
        ] {
            let [_, said] = run(verb);
            assert_eq!(said.matches(why).count(), 1, "{said}");
        }
    }
}

#[test]
fn values_whose_shapes_are_gone_are_not_said_not_to_be_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let trace = TraceWriter::create(&directory.path().join("heddle.trace")).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    let mut thread = process.thread(42, "app");
    thread.values(Of::Arguments, 0x1010, (7, 0), &[]);
    thread.enter(10, 0x1010, 0x1500, 0x7000).finish().unwrap();
    process.finish().unwrap();
    let run = |arguments: &[&str]| heddle(directory.path()).args(arguments).assert();
    let args = run(&["report", "--by", "args"]).code(1);
    args.stderr(contains(
        "arguments or results of 1 call were recorded, but",
    ));
    let replay = run(&["replay"]).success();
    replay.stderr(contains("the arguments or results of 1 call are not shown"));
}
