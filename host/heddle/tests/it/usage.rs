//! What a command line cannot mean ends with exit code 2, whichever verb it is said to.

use crate::common::{Program, heddle};
use crate::strands::written;
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
