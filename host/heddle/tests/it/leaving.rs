//! Calls that `longjmp` or an exception has left, before calls whose frames reach further down: a
//! written trace.

use crate::common::{LIBC, Program, heddle, run};
use heddle_trace_file::Way;
use heddle_trace_file::write::ThreadWriter;
use predicates::prelude::*;
use predicates::str::contains;
use std::path::Path;

const SOURCE: &str = "void A() {}\nvoid B() {}\nint main() { A(); B(); }\n";

/// Writes `heddle.trace`: main calls A, which has no exit, and B, three times. `returns`: main has
/// an exit.
fn written(path: &Path, way: Way, returns: bool) {
    let program = Program::compile(path, "abc", SOURCE, &["-O0", "-finstrument-functions"]);
    program.trace(|thread, at| {
        let (main, a, b) = (at("main"), at("_Z1Av"), at("_Z1Bv"));
        thread.stack(0, 0x1000);
        let enter = |thread: &mut ThreadWriter, time, function, caller, sp| match way {
            Way::Instrumented => _ = thread.enter(time, function, caller, sp),
            Way::Entry => _ = thread.entry(time, function + 5, caller, sp),
        };
        let exit = |thread: &mut ThreadWriter, time, function, caller, sp| match way {
            Way::Instrumented => _ = thread.exit(time, function, caller, sp),
            Way::Entry => _ = thread.leave(time, sp),
        };
        enter(thread, 0, main, LIBC + 9, 0x900);
        for time in [100, 200, 300] {
            enter(thread, time, a, main + 9, 0x880);
            enter(thread, time + 10, b, main + 19, 0x600);
            exit(thread, time + 20, b, main + 19, 0x600);
        }
        if returns {
            exit(thread, 400, main, LIBC + 9, 0x900);
        }
    });
}

#[test]
fn calls_that_were_left_without_an_exit_contain_nothing_that_follows() {
    for way in [Way::Instrumented, Way::Entry] {
        for returns in [true, false] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path();
            written(path, way, returns);
            let rounds = "    loop: x3\n      A()\n      B()\n";
            heddle(path)
                .args(["check", "heddle.trace"])
                .assert()
                .success()
                .stdout(contains(rounds));
            heddle(path)
                .args(["replay", "--by", "thread"])
                .assert()
                .success()
                .stdout(contains("Enter   B()").and(contains("Enter     B()").not()));
            let gone = "    A(); /* left without an exit, by a jump or an exception */\n";
            for by in ["thread", "strand"] {
                heddle(path)
                    .args(["replay", "--format", "tree", "--by", by])
                    .assert()
                    .success()
                    .stdout(contains(gone).count(3).and(contains("    B();\n").count(3)));
            }
            for by in ["function", "thread", "strand"] {
                heddle(path)
                    .args(["report", "--format", "csv", "--by", by])
                    .assert()
                    .success()
                    .stdout(contains("3,30,30,,,,A(),abc").and(contains("3,30,30,10,10,10,B()")));
            }
        }
    }
}

#[test]
fn without_symbols_a_call_is_not_taken_for_gone_because_of_a_call_site() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    written(path, Way::Instrumented, true);
    run("strip", &[path.join("abc").to_str().unwrap()]);
    // A may well have made the call: of the code behind main nothing is known.
    heddle(path)
        .args(["check", "heddle.trace"])
        .assert()
        .success()
        .stdout(contains("\n    abc+").and(contains("\n      abc+")));
}
