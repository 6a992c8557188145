//! What a command line cannot mean ends with exit code 2, whichever verb it is said to.

use crate::common::{BIAS, BUILD_ID, LIBC, Program, heddle};
use crate::strands::written;
use crate::viewing::said;
use predicates::str::contains;

#[test]
fn what_an_option_cannot_mean_is_an_error_of_usage_in_every_verb() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    written(path);
    let percentage = "expected a percentage from 0 to";
    let number = "expected a whole number, such as 20";
    let strand = "not a strand's number; `heddle strands` prints them";
    let no_strand = "heddle.trace: no strand 999; `heddle strands` lists";
    let mut lines: Vec<(Vec<&str>, &str)> = vec![
        (vec!["graph", "--least", "200"], "from 0 to 100, such as 5"),
        (vec!["graph", "--least", "-1"], percentage),
        (vec!["graph", "--least", "nan"], percentage),
        (
            vec!["graph", "nobody"],
            "no call of `nobody` is in the trace",
        ),
        (vec!["graph", "no("], "unclosed group"),
        (vec!["replay", "--strand", "abc"], strand),
        (vec!["tree", "--strand", "abc"], strand),
        (vec!["export", "--strand", "abc"], strand),
        (vec!["replay", "--strand", "999"], no_strand),
        (vec!["tree", "--strand", "999"], no_strand),
        (
            vec!["export", "--strand", "999"],
            "none of these strands is there",
        ),
        (vec!["tree", "--nested", "-1"], number),
        (
            vec!["tree", "--blocked", "-D", "1"],
            "leave out the filters",
        ),
        (
            vec!["report", "--by", "lock", "-D", "1"],
            "leave out the filters",
        ),
        (
            vec!["report", "--by", "time", "-D", "1"],
            "leave out the filters",
        ),
        (
            vec!["report", "--by", "sched", "-D", "1"],
            "leave out the filters",
        ),
        (
            vec!["report", "--by", "time", "-n", "3"],
            "leave out --sort and --limit",
        ),
        (
            vec!["report", "--by", "time", "-s", "total"],
            "leave out --sort and --limit",
        ),
        (vec!["report", "--of", "f"], "--of goes with --by args only"),
    ];
    for verb in ["report", "strands", "advise"] {
        lines.push((vec![verb, "-n", "-1"], number));
    }
    let diff = ["diff", "heddle.trace", "heddle.trace"];
    for value in ["-5", "nan", "inf"] {
        let more = ["--fail-if-slower", value];
        lines.push(([&diff[..], &more].concat(), percentage));
    }
    lines.push(([&diff[..], &["--limit", "x"]].concat(), number));
    let filters = [
        (["--thread", "9999"], "no thread with this number or name"),
        (["-F", "nobody"], "--filter nobody matches no function"),
        (["-N", "no("], "unclosed group"),
        (["-D", "0"], "0 is not in 1..=4096"),
        (["-t", "10"], "write it as 500ns"),
        (["-t", "0s"], "more than 0"),
        (["--time-range", "2s..1s"], "it ends before it begins"),
    ];
    for verb in [
        "replay", "report", "graph", "tree", "view", "export", "check",
    ] {
        for (filter, told) in &filters {
            lines.push(([&[verb, "heddle.trace"][..], filter].concat(), *told));
        }
    }
    for (arguments, told) in lines {
        heddle(path)
            .args(arguments)
            .assert()
            .code(2)
            .stderr(contains(told));
    }
}

#[test]
fn a_strand_of_one_of_several_processes_has_its_pid_in_front() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = Program::build(path);
    let trace = heddle_trace_file::write::TraceWriter::create(&path.join("heddle.trace")).unwrap();
    for pid in [4711, 4712] {
        let mut process = trace.process(pid, 1, program.path()).unwrap();
        process.thread(pid, "abc").finish().unwrap();
        process.finish().unwrap();
    }
    let told = "several processes have a strand 1; say which with the pid in front: 4711/1";
    let mut tree = heddle(path);
    tree.args(["tree", "--strand", "1"])
        .assert()
        .code(2)
        .stderr(contains(told));
    let mut tree = heddle(path);
    tree.args(["tree", "--strand", "4712/1"]).assert().success();
}

/// An exec keeps the pid: the strands of what it began have names of their own.
#[test]
fn strands_of_a_program_and_of_what_it_became_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = Program::build(path);
    for (trace, function) in [("heddle.trace", "_Z1Av"), ("later", "_Z1Bv")] {
        let trace = heddle_trace_file::write::TraceWriter::create(&path.join(trace)).unwrap();
        let mut process = trace.process(4711, 1, program.path()).unwrap();
        process.module(BIAS, BIAS + 0x10_0000, BIAS, Some(BUILD_ID), program.path());
        let mut thread = process.thread(4711, "abc");
        thread
            .enter(10, program.at(function), LIBC, 900)
            .exit(20, program.at(function), LIBC, 900);
        thread.finish().unwrap();
        process.finish().unwrap();
    }
    std::fs::rename(path.join("later/4711"), path.join("heddle.trace/4711.1")).unwrap();
    for (strand, function, other) in [("4711/1", "A()", "B()"), ("4711.1/1", "B()", "A()")] {
        for verb in ["tree", "replay"] {
            let (told, _) = said(path, &[verb, "--strand", strand]);
            assert!(
                told.contains(function) && !told.contains(other),
                "{verb} {strand}: {told}"
            );
        }
    }
    let (strands, _) = said(path, &["strands"]);
    assert!(
        strands.contains("\n  4711/1 ") && strands.contains("\n4711.1/1 "),
        "{strands}"
    );
    let (csv, _) = said(path, &["report", "--by", "thread", "--format", "csv"]);
    let rows = [
        "4711,0,4711,abc,1,10,10,10,10,10,A()",
        "4711,1,4711,abc,1,10,10,10,10,10,B()",
    ];
    assert!(rows.iter().all(|row| csv.contains(row)), "{csv}");
    let (json, _) = said(path, &["export", "--format", "json", "-o", "/dev/stdout"]);
    for row in [
        r#""row":"call","pid":4711,"image":0,"#,
        r#""row":"call","pid":4711,"image":1,"#,
    ] {
        assert!(json.contains(row), "{json}");
    }
}
