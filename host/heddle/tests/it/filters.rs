//! Filters over a recorded trace: the same calls as `heddle record` with them would have left, and
//! what each verb says of them. Recordings are compared with filters behind them in tests/filter.

use crate::common::{BUILD_ID, LIBC, Program, abc, heddle, json_lines};
use crate::strands::{self, written};
use heddle_trace_file::write::TraceWriter;
use heddle_trace_file::{Made, Nanos, Switch, SwitchKind};
use predicates::prelude::*;
use predicates::str::{contains, ends_with, is_empty};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// What the verb prints on stdout, and on stderr.
fn said(directory: &Path, arguments: &[&str]) -> (String, String) {
    let run = heddle(directory).args(arguments).assert().success();
    let output = run.get_output();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

/// The rows of a report, `function calls,total,self,min`, by name; and the last line on stderr.
fn report(directory: &Path, options: &[&str]) -> (Vec<String>, String) {
    let report = ["report", "-s", "function", "--format", "csv"];
    let (out, notes) = said(directory, &[&report[..], options].concat());
    let rows = out.lines().skip(1).map(|line| {
        let columns: Vec<&str> = line.split(',').collect();
        format!("{} {}", columns[6], columns[..4].join(","))
    });
    let last = notes.lines().last().unwrap_or_default();
    (rows.collect(), last.to_owned())
}

#[test]
fn what_is_left_out_counts_as_its_callers_own_time() {
    let (directory, _) = abc();
    let main = "main 1,14000070000,35000,14000070000";
    let a = "A() 1,14000035000,1999987000,14000035000";
    let b = "B() 1,12000048000,5000048000,12000048000";
    let c = "C() 1,7000000000,7000000000,7000000000";
    let whole_b = "B() 1,12000048000,12000048000,12000048000";
    let whole_a = "A() 1,14000035000,14000035000,14000035000";
    let whole_main = "main 1,14000070000,14000070000,14000070000";
    for (options, rows, left_out) in [
        ("-F B", &[b, c][..], "2 of 4 calls: 2 by --filter"),
        ("-F ^B -F C", &[b, c], "2 of 4 calls: 2 by --filter"),
        ("-F glob:B*", &[b, c], "2 of 4 calls: 2 by --filter"),
        ("-N C", &[a, whole_b, main], "1 of 4 calls: 1 by --exclude"),
        ("-N A", &[whole_main], "3 of 4 calls: 3 by --exclude"),
        (
            "-F A -N B",
            &[whole_a],
            "3 of 4 calls: 2 by --exclude, 1 by --filter",
        ),
        ("-D 2", &[whole_a, main], "2 of 4 calls: 2 by --depth"),
        (
            "-F B -D 1",
            &[whole_b],
            "3 of 4 calls: 2 by --filter, 1 by --depth",
        ),
        ("-t 13s", &[whole_a, main], "2 of 4 calls: 2 by --min-time"),
        (
            "-D 3 -t 13s",
            &[whole_a, main],
            "2 of 4 calls: 1 by --depth, 1 by --min-time",
        ),
        ("-t 1h", &[], "4 of 4 calls: 4 by --min-time"),
        ("-D 9 -t 1ns", &[a, b, c, main], "none of 4 calls"),
    ] {
        for by in ["function", "thread", "strand"] {
            let options: Vec<&str> = options.split(' ').chain(["--by", by]).collect();
            if by == "function" {
                let (found, last) = report(directory.path(), &options);
                assert_eq!(found, rows, "{options:?}");
                assert_eq!(last, format!("heddle: left out {left_out}"), "{options:?}");
                continue;
            }
            let all = [&["report", "--format", "csv"][..], &options].concat();
            let (out, notes) = said(directory.path(), &all);
            assert_eq!(out.lines().count(), rows.len() + 1, "{options:?}");
            assert!(notes.ends_with(&format!("left out {left_out}\n")));
        }
    }
}

#[test]
fn replay_moves_up_what_a_filtered_function_calls() {
    let (directory, _) = abc();
    let replayed = |options: &[&str]| said(directory.path(), &[&["replay"], options].concat());
    let (out, notes) = replayed(&["-F", "B"]);
    let lines = "    2.000000000  abc 4711  Enter B()  <- A()\n    7.000000000  abc 4711  Enter   C()  <- B()\n   14.000000000  abc 4711  Exit    C()  <- B()\n   14.000048000  abc 4711  Exit  B()  <- A()\n";
    assert_eq!(out, lines);
    assert_eq!(notes, "heddle: left out 2 of 4 calls: 2 by --filter\n");
    let (out, _) = replayed(&["-F", "B", "-D", "1", "--backtrace"]);
    let open = "Enter B()  <- A()\n      #0   B()\n      #1   A()\n";
    assert!(out.contains(open) && !out.contains("C()"), "{out}");
    // In between is nothing but this: no call seems to be entered when the range begins.
    let (out, notes) = replayed(&["--time-range", "5s..10s"]);
    assert_eq!(out, "    7.000000000  abc 4711  Enter       C()  <- B()\n");
    assert_eq!(notes, "heddle: left out none of 4 calls\n");
    let (out, _) = replayed(&["--time-range", "14.00004..14.00007", "--format", "source"]);
    assert_eq!(out.lines().count(), 2, "{out}");
    let (out, _) = replayed(&["--time-range", "8s..9s"]);
    assert_eq!(out, "");
}

#[test]
fn replay_tells_of_waits_whose_next_event_is_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let trace = TraceWriter::create(&directory.path().join("heddle.trace")).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    process.module(0x1000, 0x2000, 0x1000, None, "/bin/app");
    let mut thread = process.thread(42, "app");
    thread.enter(10, 0x1010, 0x1500, 0x7000);
    thread.enter(20, 0x1100, 0x1020, 0x6f00);
    thread.exit(100, 0x1100, 0x1020, 0x6f00);
    thread.exit(200, 0x1010, 0x1500, 0x7000).finish().unwrap();
    process.finish().unwrap();
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
        switch(110, SwitchKind::Blocks),
        switch(150, SwitchKind::Runs),
    ];
    trace.switches(&all, Some(300)).unwrap();
    for by in ["thread", "strand"] {
        for (options, since) in [
            (&[][..], &[60, 150][..]),
            (&["-D", "1"], &[60, 150]),
            // The first ended before it.
            (&["-D", "1", "--time-range", "105ns.."], &[150]),
        ] {
            let (out, _) = said(
                directory.path(),
                &[&["replay", "--by", by], options].concat(),
            );
            let backs = out.lines().filter(|line| line.contains("  Back  "));
            let backs: Vec<&str> = backs.collect();
            let told: Vec<String> = since.iter().map(|at| format!("since 0.{at:09}:")).collect();
            assert_eq!(backs.len(), told.len(), "{options:?}: {out}");
            for (back, told) in backs.iter().zip(&told) {
                assert!(back.contains(told), "{options:?}: {out}");
            }
        }
    }
}

#[test]
fn a_time_range_cuts_calls_and_their_times() {
    let (directory, _) = abc();
    for (options, rows, left_out) in [
        (
            "--time-range 5s..10s",
            &[
                "A() 1,5000000000,0,",
                "B() 1,5000000000,2000000000,",
                "C() 1,3000000000,3000000000,",
                "main 1,5000000000,0,",
            ][..],
            "none of 4 calls",
        ),
        (
            "--time-range 5s..",
            &[
                "A() 1,9000067000,19000,",
                "B() 1,9000048000,2000048000,",
                "C() 1,7000000000,7000000000,7000000000",
                "main 1,9000080000,13000,",
            ],
            "none of 4 calls",
        ),
        (
            "--time-range ..1s",
            &["A() 1,999968000,999968000,", "main 1,999990000,22000,"],
            "2 of 4 calls: 2 by --time-range",
        ),
        (
            "--time-range 14.00006s..",
            &["A() 1,7000,7000,", "main 1,20000,13000,"],
            "2 of 4 calls: 2 by --time-range",
        ),
        // What is left out counts for who called it, as far as it lies in the range.
        (
            "--time-range 6s..10s -N C",
            &[
                "A() 1,4000000000,0,",
                "B() 1,4000000000,4000000000,",
                "main 1,4000000000,0,",
            ],
            "1 of 4 calls: 1 by --exclude",
        ),
        // How long a call took does not depend on the range.
        (
            "--time-range 13s.. -t 8s -F B",
            &["B() 1,1000048000,1000048000,"],
            "3 of 4 calls: 2 by --filter, 1 by --min-time",
        ),
        ("--time-range 20s..", &[], "4 of 4 calls: 4 by --time-range"),
    ] {
        let words: Vec<&str> = options.split(' ').collect();
        let (found, last) = report(directory.path(), &words);
        assert_eq!(found, rows, "{options}");
        assert_eq!(last, format!("heddle: left out {left_out}"), "{options}");
    }
}

#[test]
fn a_short_call_stays_for_what_is_inside_it_and_where_its_end_is_not_known() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = Program::build(path);
    program.trace(|thread, at| {
        let (main, a, b, c) = (at("main"), at("_Z1Av"), at("_Z1Bv"), at("_Z1Cv"));
        thread
            .enter(1_000, main, LIBC + 5, 900)
            // With a mark.
            .enter(2_000, a, main + 5, 800)
            .mark(2_010, 0, "here")
            .exit(2_020, a, main + 5, 800)
            // Short, with another short one inside.
            .enter(3_000, a, main + 5, 800)
            .enter(3_010, b, a + 5, 700)
            .exit(3_020, b, a + 5, 700)
            .exit(3_030, a, main + 5, 800)
            // Long enough.
            .enter(4_000, b, main + 5, 800)
            .exit(4_100, b, main + 5, 800)
            // With a mark in a call inside.
            .enter(4_500, a, main + 5, 800)
            .enter(4_502, b, a + 5, 700)
            .mark(4_503, 0, "there")
            .exit(4_506, b, a + 5, 700)
            .exit(4_516, a, main + 5, 800)
            // Left without an exit, and open at the end.
            .enter(5_000, c, main + 5, 700)
            .enter(5_010, b, main + 5, 800)
            .enter(5_020, c, b + 5, 700);
    });
    let (rows, last) = report(path, &["-t", "100ns"]);
    // The recorder keeps what has no exit, too.
    assert_eq!(
        rows,
        [
            "A() 2,36,32,16",
            "B() 3,114,114,4",
            "C() 2,10,10,",
            "main 1,4020,3864,"
        ]
    );
    assert_eq!(last, "heddle: left out 2 of 10 calls: 2 by --min-time");
    let (out, _) = said(path, &["replay", "-t", "100ns"]);
    let marks = "Enter   A()  <- main\n    0.000002010  abc 4711  Mark      here\n";
    assert!(out.contains(marks), "{out}");
    assert_eq!(out.matches("A()").count(), 6, "{out}");
}

#[test]
fn a_call_that_a_time_range_cuts_has_returned_all_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = Program::build(path);
    program.trace(|thread, at| {
        let (main, a) = (at("main"), at("_Z1Av"));
        thread
            .enter(1_000, main, LIBC + 5, 900)
            .enter(2_000, a, main + 5, 800)
            .exit(4_000, a, main + 5, 800)
            .exit(9_000, main, LIBC + 5, 900);
    });
    let words = [
        "export",
        "--format",
        "json",
        "-o",
        "-",
        "--time-range",
        "3us..8us",
    ];
    let (out, _) = said(path, &words);
    let rows = json_lines(&out);
    let calls = rows.iter().filter(|row| row["row"] == "call");
    let calls = calls.map(|row| {
        let [from, to] = ["enter_ns", "exit_ns"].map(|time| row[time].as_u64().unwrap());
        (from, to, row["end"].as_str().unwrap().to_owned())
    });
    let expected = [(3_000, 4_000, "returned"), (3_000, 8_000, "open")];
    let expected = expected.map(|(from, to, end)| (from, to, end.to_owned()));
    assert_eq!(calls.collect::<Vec<_>>(), expected);
}

#[test]
fn a_wait_keeps_no_call_that_is_shorter_than_what_is_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = Program::build(path);
    let mutex = (1, 0x5000, 1);
    program.trace(|thread, at| {
        let (main, a, b, c) = (at("main"), at("_Z1Av"), at("_Z1Bv"), at("_Z1Cv"));
        thread
            .enter(1_000, main, LIBC + 5, 900)
            .enter(2_000, a, main + 5, 800)
            .object_met(2_005, mutex, a + 5)
            .wait(2_010, mutex, a + 5, (0, 0))
            .wait_ended(2_040, 0, 0)
            .wake(2_045, 1, 1, a + 5)
            .exit(2_050, a, main + 5, 800)
            // A call as short as that one is blocked in the kernel.
            .enter(3_000, b, main + 5, 800)
            .long_call(3_040, 3_010, "read 3 pipe:[5]")
            .exit(3_050, b, main + 5, 800)
            // Long enough, by its wait.
            .enter(4_000, c, main + 5, 800)
            .wait(4_010, mutex, c + 5, (0, 0))
            .wait_ended(4_190, 0, 0)
            .exit(4_200, c, main + 5, 800)
            .exit(5_000, main, LIBC + 5, 900);
    });
    let (rows, last) = report(path, &["-t", "100ns"]);
    assert_eq!(rows, ["C() 1,200,200,200", "main 1,4000,3800,4000"]);
    assert_eq!(last, "heddle: left out 2 of 4 calls: 2 by --min-time");
    // The waits are those of their nearest caller that is kept.
    let (out, _) = said(path, &["replay", "-t", "100ns"]);
    assert_eq!(out.matches("Waits").count(), 2, "{out}");
    assert!(!out.contains("A()") && !out.contains("B()"), "{out}");
}

#[test]
fn threads_are_chosen_by_number_and_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let trace = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    let mut process = trace.process(4711, 1, "/app").unwrap();
    for (tid, name) in [(4711, "app"), (4712, "worker"), (4713, "worker")] {
        let mut thread = process.thread(tid, name);
        let function = 0x1000 * u64::from(tid);
        thread
            .enter(10, function, 0, 900)
            .exit(60, function, 0, 900);
        thread.finish().unwrap();
    }
    process.finish().unwrap();
    for (chosen, threads, left_out) in [
        (&["4712"][..], &["4712"][..], 2),
        (&["worker"], &["4712", "4713"], 1),
        (&["app", "4713"], &["4711", "4713"], 1),
    ] {
        let options: Vec<&str> = chosen.iter().flat_map(|&one| ["--thread", one]).collect();
        let (out, notes) = said(path, &[&["replay"], &options[..]].concat());
        for thread in ["4711", "4712", "4713"] {
            assert_eq!(out.contains(thread), threads.contains(&thread), "{out}");
        }
        let last = format!("left out {left_out} of 3 calls: {left_out} by --thread\n");
        assert!(notes.ends_with(&last), "{notes}");
    }
    heddle(path)
        .args(["report", "--thread", "workre"])
        .assert()
        .code(2)
        .stdout(is_empty())
        .stderr(contains(
            "--thread workre: the trace has no thread with this number or name; there are: 4711 app, 4712 worker, 4713 worker",
        ));
}

#[test]
fn a_filter_that_leaves_everything_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    written(path);
    for verb in [
        "replay --by strand",
        "replay --by thread",
        "replay --by strand --backtrace",
        "report --format csv",
        "report --by thread --format csv",
        "report --by strand --format csv",
        "tree",
        "tree --strand 2",
        "check heddle.trace --times",
        "check heddle.trace --times --by thread",
        "export -o -",
    ] {
        let words: Vec<&str> = verb.split(' ').collect();
        let output = |options: &[&str]| {
            let run = heddle(path).args([&words[..], options].concat()).assert();
            let output = run.success().get_output().clone();
            (output.stdout, String::from_utf8(output.stderr).unwrap())
        };
        let (plain, notes) = output(&[]);
        for options in [
            &["-D", "4096"][..],
            &["-t", "1ns"],
            &["--time-range", "0.."],
            &["--time-range", "..60min"],
            &["--thread", "app"],
        ] {
            let (found, more) = output(options);
            assert!(found == plain, "{verb} {options:?}");
            let more = more.strip_prefix(&notes).unwrap_or(&more);
            assert!(more.contains("left out none of "), "{verb}: {more}");
        }
    }
}

#[test]
fn a_coroutine_is_inside_what_resumes_it_and_a_fiber_on_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    written(path);
    // Each fiber begins with body(), which calls step().
    let (rows, last) = report(path, &["-F", "main", "--by", "function"]);
    let names: Vec<&str> = rows
        .iter()
        .map(|row| row.split(' ').next().unwrap())
        .collect();
    assert_eq!(
        names,
        ["leaf(int)", "leaf(int)", "leaf(int)", "main", "step()"]
    );
    assert_eq!(last, "heddle: left out 4 of 12 calls: 4 by --filter");
    let (tree, notes) = said(path, &["tree", "-F", "step"]);
    assert!(
        tree.contains("coroutine #2 leaf(int)") && tree.contains("fiber ×2 body()"),
        "{tree}"
    );
    assert!(
        !tree.contains("thread #1 app"),
        "app calls no step() itself: {tree}"
    );
    assert!(
        notes.contains("times are those of whole strands"),
        "{notes}"
    );
    let (out, _) = said(path, &["tree", "--strand", "2", "-F", "step"]);
    assert!(out.contains("    step()  50 ns\n"), "{out}");
    let (out, _) = said(path, &["replay", "--by", "strand", "-N", r"leaf \[resume"]);
    assert!(
        out.contains("2 leaf(int)") && !out.contains("[resume]"),
        "{out}"
    );
    // What is inside a level that is left out is not on the next one.
    let (out, _) = said(path, &["check", "heddle.trace", "-D", "1"]);
    assert!(out.contains("  main\n") && !out.contains("leaf"), "{out}");
}

/// Calls, total and self, by the columns that say whose they are.
fn times(directory: &Path, options: &[&str]) -> BTreeMap<String, [i64; 2]> {
    let report = ["report", "--format", "json"];
    let (out, _) = said(directory, &[&report[..], options].concat());
    let rows: Vec<serde_json::Value> = serde_json::from_str(&out).unwrap();
    let row = |row: &serde_json::Value| {
        let whose = ["kind", "strand", "tid", "function"].map(|column| row[column].to_string());
        let times = ["total_ns", "self_ns"].map(|column| row[column].as_i64().unwrap());
        (whose.join(" "), times)
    };
    rows.iter().map(row).collect()
}

#[test]
fn both_sides_of_a_moment_make_the_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    written(path);
    for by in ["function", "thread", "strand"] {
        for filter in [&["-D", "4096"][..], &["-N", "step"], &["-F", "glob:leaf*"]] {
            let options = [&["--by", by][..], filter].concat();
            let whole = times(path, &options);
            // Between activations, in a coroutine, in its callee, in fibers that take turns.
            for moment in [150, 225, 405, 430, 480, 550, 702, 710, 722, 810, 823, 900] {
                let (before, after) = (format!("..{moment}ns"), format!("{moment}ns.."));
                let [before, after] = [before, after]
                    .map(|range| times(path, &[&options[..], &["--time-range", &range]].concat()));
                for (row, sums) in &whole {
                    let part = |side: &BTreeMap<_, [i64; 2]>| side.get(row).copied();
                    let [before, after] =
                        [&before, &after].map(|side| part(side).unwrap_or([0; 2]));
                    let both = [before[0] + after[0], before[1] + after[1]];
                    assert_eq!(both, *sums, "{options:?} {moment} {row}");
                }
            }
        }
    }
}

/// A strand, from and to when it pauses, and why. What has not ended has no end.
type Pause = (u64, u64, u64, String);

/// `heddle export --format json`: strands, and when they pause.
fn pauses(path: &Path, options: &[&str]) -> (BTreeSet<u64>, BTreeSet<Pause>) {
    let export = ["export", "--format", "json", "-o", "-"];
    let (out, _) = said(path, &[&export[..], options].concat());
    let rows = json_lines(&out);
    let of = |kind: &'static str| rows.iter().filter(move |row| row["row"] == kind);
    let number = |row: &serde_json::Value, name: &str| row[name].as_u64().unwrap_or(u64::MAX);
    let pause = |row: &serde_json::Value| {
        let times = ["from_ns", "to_ns"].map(|name| number(row, name));
        let why = format!("{} {}", row["why"], row["for"]);
        (number(row, "strand"), times[0], times[1], why)
    };
    let strands = of("strand").map(|row| number(row, "strand")).collect();
    (strands, of("pause").map(pause).collect())
}

/// A coroutine that two threads run in turn, and a fiber that waits for what it says.
fn taking_turns(path: &Path) {
    let program = Program::of_tasks(path, strands::SOURCE, &["-g"]);
    let [main, ramp, body, actor] =
        program.places([" main", " _Z4leafi", " _Z4bodyv", "leafi.Frame.actor"]);
    let mut process = program.process(&path.join("heddle.trace"));
    process.module(LIBC, LIBC + 0x10_0000, LIBC, None, "[libc.so.6]");
    let frame = 0x5581_0010;
    let mut thread = process.thread(4711, "app");
    thread
        .stack(0x7fff_0000, 0x7fff_8000)
        .enter(100, main, LIBC + 9, 0x7fff_7000)
        .enter(110, ramp, main + 9, 0x7fff_6f00)
        .capture(actor, frame, Some(0))
        .enter(120, actor, ramp + 9, 0x7fff_6e00)
        .exit(130, actor, 0, 0x7fff_6e00)
        .exit(140, ramp, 0, 0x7fff_6f00)
        .strand_made(150, 9)
        .strand_switch(160, 9)
        .enter(170, body, LIBC + 5, 0x4_f000)
        .strand_waits(200, 9, "the door")
        .strand_switch(210, 0)
        .capture(actor, frame, Some(4))
        .enter(500, actor, main + 17, 0x7fff_6f00)
        .exit(510, actor, 0, 0x7fff_6f00)
        .strand_switch(600, 9)
        .exit(620, body, LIBC + 5, 0x4_f000)
        .strand_end(630, 9)
        .strand_switch(640, 0)
        .exit(700, main, 0, 0x7fff_7000)
        .finish()
        .unwrap();
    let mut thread = process.thread(4712, "app");
    thread
        .stack(0x7ffe_0000, 0x7ffe_8000)
        .enter(200, body, LIBC + 9, 0x7ffe_7000)
        .capture(actor, frame, Some(2))
        .enter(300, actor, body + 9, 0x7ffe_6f00)
        .exit(310, actor, 0, 0x7ffe_6f00)
        .exit(900, body, 0, 0x7ffe_7000)
        .finish()
        .unwrap();
    process.finish().unwrap();
}

#[test]
fn who_made_a_thread_is_told_whatever_is_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let trace = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    process.module(0x1000, 0x2000, 0x1000, None, "/bin/app");
    let mut main = process.thread(42, "app");
    main.enter(10, 0x1010, 0x1500, 0x7000)
        .makes(20, Made::Thread, 1);
    main.exit(300, 0x1010, 0x1500, 0x7000).finish().unwrap();
    let mut made = process.thread(43, "made");
    made.made_by(1);
    made.enter(100, 0x1100, 0x1020, 0x6f00);
    made.exit(200, 0x1100, 0x1020, 0x6f00).finish().unwrap();
    process.finish().unwrap();
    for filter in [&["--time-range", "50ns.."][..], &["--thread", "43"], &[]] {
        let (tree, _) = said(path, &[&["tree"][..], filter].concat());
        let depth = |name: &str| {
            let row = tree.lines().find(|line| line.contains(name));
            row.map(|row| row.find("thread #").unwrap())
        };
        // By --thread the maker is left out.
        let below = depth("made") > depth("app");
        assert!(below || filter == ["--thread", "43"], "{filter:?}: {tree}");
        let export = ["export", "--format", "json", "-o", "-"];
        let (rows, _) = said(path, &[&export[..], filter].concat());
        let made = rows
            .lines()
            .find(|row| row.contains("\"strand\":2,\"kind\""));
        assert!(
            made.unwrap().contains("\"parent\":1,"),
            "{filter:?}: {rows}"
        );
    }
}

#[test]
fn replay_says_so_where_a_wait_began_before_what_is_shown() {
    let directory = tempfile::tempdir().unwrap();
    let trace = TraceWriter::create(&directory.path().join("heddle.trace")).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    let mut thread = process.thread(42, "app");
    thread.wait(20, (1, 0x5000, 0), 0x1200, (0, 0));
    thread.wait_ended(70, 0, 0).finish().unwrap();
    process.finish().unwrap();
    for (options, said_of_it) in [
        (&[][..], "after 50 ns"),
        (
            &["--time-range", "30ns.."],
            "after a wait whose beginning is not there",
        ),
    ] {
        for format in ["text", "tree"] {
            let replay = ["replay", "--format", format];
            let (out, _) = said(directory.path(), &[&replay[..], options].concat());
            assert!(out.contains(said_of_it), "{format} {options:?}: {out}");
        }
    }
}

#[test]
fn a_time_range_cuts_what_strands_wait() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    taking_turns(path);
    let (_, whole) = pauses(path, &[]);
    assert!(
        whole
            .iter()
            .any(|(_, from, to, _)| (*from, *to) == (310, 500)),
        "{whole:?}"
    );
    let mut kinds = BTreeSet::new();
    for (from, to) in [
        (0, 205),
        (125, 205),
        (140, 300),
        (150, 299),
        (220, 290),
        (250, 450),
        (320, 400),
        (320, 505),
        (400, 610),
        (505, 800),
        (210, 900),
    ] {
        let (strands, found) = pauses(path, &["--time-range", &format!("{from}ns..{to}ns")]);
        let cut = whole.iter().filter(|pause| strands.contains(&pause.0));
        let cut = cut.map(|(strand, begin, end, why)| {
            let times = (from.max(*begin), to.min(*end));
            (*strand, times.0, times.1, why.clone())
        });
        let cut: BTreeSet<_> = cut.filter(|(_, from, to, _)| from < to).collect();
        assert_eq!(found, cut, "{from}..{to}");
        kinds.extend(found.into_iter().map(|(strand, .., why)| (strand, why)));
    }
    // The coroutine's, and the fiber's with and without a reason.
    assert_eq!(kinds.len(), 3, "{kinds:?}");
}

#[test]
fn an_export_has_no_track_for_what_is_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    written(path);
    let exported = |options: &[&str]| {
        let (_, notes) = said(path, &[&["export", "-o", "out"], options].concat());
        let bytes = fs::read(path.join("out")).unwrap();
        let has = |text: &str| bytes.windows(text.len()).any(|at| at == text.as_bytes());
        (has("fibers"), has("coroutines"), notes)
    };
    let (fibers, coroutines, notes) = exported(&["-F", "body"]);
    assert!(fibers && !coroutines);
    assert!(notes.contains("left out 8 of 12 calls: 8 by --filter\n"));
    assert!(notes.contains("exported 4 calls of 2 strands"), "{notes}");
    // The second activation of the first coroutine.
    let (fibers, coroutines, notes) = exported(&["--time-range", "405ns..490ns"]);
    assert!(!fibers && coroutines);
    assert!(notes.contains("exported 3 calls of 2 strands"), "{notes}");
}

#[test]
fn a_pattern_that_no_function_has_is_an_error_of_usage() {
    let (directory, _) = abc();
    let path = directory.path();
    for (options, said) in [
        (
            &["-F", "mian"][..],
            "error: --filter mian matches no function of the trace; did you mean `main`?\n",
        ),
        (
            &["-F", "main", "-N", "glob:nothing*"],
            "error: --exclude 'glob:nothing*' matches no function of the trace\n",
        ),
    ] {
        for verb in ["replay", "report", "tree", "export", "check heddle.trace"] {
            let verb: Vec<&str> = verb.split(' ').collect();
            let run = heddle(path).args([&verb[..], options].concat()).assert();
            run.code(2).stdout(is_empty()).stderr(ends_with(said));
        }
    }
    assert!(!path.join("heddle.trace.perfetto-trace").exists());
    for (options, said) in [
        (&["-F", "f("][..], "unclosed group"),
        (&["-D", "0"], "1..=4096"),
        (&["-t", "0s"], "more than 0"),
        (&["--time-range", "2s..1s"], "it ends before it begins"),
        (&["--time-range", "2s"], "expected FROM..TO"),
    ] {
        let run = heddle(path).arg("report").args(options).assert();
        run.code(2).stderr(contains(said));
    }
}

#[test]
fn the_filters_are_the_same_for_every_verb() {
    for verb in ["replay", "report", "tree", "export", "check"] {
        let help = heddle(Path::new("/")).args([verb, "--help"]).assert();
        let filters = contains("Filters:\n")
            .and(contains("-F, --filter <PATTERN>"))
            .and(contains("-N, --exclude <PATTERN>"))
            .and(contains("-D, --depth <N>"))
            .and(contains("-t, --min-time <TIME>"))
            .and(contains("--time-range <FROM..TO>"))
            .and(contains("--thread <TID|NAME>"));
        help.success().stdout(filters);
    }
}

/// Each `$ heddle …` in a block of the page, with what stands below it.
fn examples(page: &str) -> Vec<(Vec<String>, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let text = fs::read_to_string(path.join(page)).unwrap();
    let filters = text.split("## Filters").nth(1).unwrap();
    let blocks = filters.split("```").skip(1).step_by(2);
    let shown = blocks.filter_map(|block| block.trim_start().strip_prefix("$ heddle "));
    let example = |block: &str| {
        let (command, printed) = block.split_once('\n').unwrap();
        let words = command.split(' ').map(str::to_owned);
        (words.collect(), printed.to_owned())
    };
    shown.map(example).collect()
}

#[test]
fn the_examples_of_the_pages_print_what_they_say() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = Program::build(path);
    // README's trace.
    let trace = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    let mut process = trace.process(3692, 1, program.path()).unwrap();
    process.module(0, 0x100_0000, 0, Some(BUILD_ID), program.path());
    let mut thread = process.thread(3692, "abc");
    let [main, a, b, c] = [" main", " _Z1Av", " _Z1Bv", " _Z1Cv"].map(|name| program.place(name));
    thread
        .enter(148_325, main, 0, 900)
        .enter(150_035, a, main + 5, 800)
        .enter(21_784_419, b, a + 5, 700)
        .enter(71_855_053, c, b + 5, 600)
        .exit(141_930_070, c, b + 5, 600)
        .exit(141_930_940, b, a + 5, 700)
        .exit(141_930_950, a, main + 5, 800)
        .exit(141_930_960, main, 0, 900);
    thread.finish().unwrap();
    process.finish().unwrap();
    for page in ["report.md", "replay.md"] {
        let examples = examples(page);
        assert!(!examples.is_empty(), "{page}");
        for (words, printed) in examples {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let (out, notes) = said(path, &words);
            assert_eq!(format!("{out}{notes}"), printed, "{page}: {words:?}");
        }
    }
}
