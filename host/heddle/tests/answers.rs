//! What the tracing verbs answer where something is not as it should be.

#![allow(clippy::unwrap_used)]

mod common;

use common::{LIBC, Program, abc, heddle, idle_library, run};
use heddle_trace_file::write::TraceWriter;
use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};
use std::fs;
use std::path::Path;

/// `arguments` for heddle, run by a shell after `before` and with `after` behind.
fn shell(directory: &Path, before: &str, arguments: &str, after: &str) -> std::process::Output {
    let heddle = assert_cmd::cargo::cargo_bin("heddle");
    std::process::Command::new("sh")
        .args(["-c", &format!("{before}\"$0\" {arguments} {after}")])
        .arg(heddle)
        .current_dir(directory)
        .env("HEDDLE_LIB", idle_library(directory))
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

#[test]
fn a_function_that_never_returned_has_no_shortest_call() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = Program::build(path);
    program.trace(|thread, at| {
        thread
            .enter(0, at("main"), LIBC + 5, 900)
            .enter(10, at("_Z1Av"), at("main") + 5, 800)
            .exit(40, at("_Z1Av"), at("main") + 5, 800)
            .enter(50, at("_Z1Av"), at("main") + 5, 800)
            .enter(1050, at("_Z1Bv"), at("_Z1Av") + 5, 700);
    });
    let report = |format: &str| {
        let arguments = ["report", "-s", "function", "--format", format];
        let output = heddle(path).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let csv = report("csv");
    assert!(csv.contains("2,1030,1030,30,30,30,A(),abc\n"), "{csv}");
    assert!(csv.contains("1,1050,20,,,,main,abc\n"), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&report("json")).unwrap();
    for column in ["min_ns", "avg_ns", "max_ns"] {
        assert_eq!(json[2][column], serde_json::Value::Null);
    }
    assert!(report("md").contains("| 1 | 1.050 µs | 20 ns | - | - | - | main |"));
    assert!(report("table").contains("           -           -           -  main\n"));
    // An unfinished call sets no bound that is written, and is held to those that are there.
    let check = |tree: &str| {
        fs::write(path.join("some.tree"), tree).unwrap();
        heddle(path)
            .args(["check", "heddle.trace", "some.tree"])
            .assert()
    };
    let times = heddle(path)
        .args(["check", "heddle.trace", "--times"])
        .assert()
        .stdout(contains(
            "  main\n    A() [30ns..30ns]\n    A()\n      B()\n",
        ));
    let written = String::from_utf8(times.get_output().stdout.clone()).unwrap();
    check(&written).success();
    check("main [2us..]\n  ...\n").success();
    check("main [..1us]\n  ...\n").code(1);
}
