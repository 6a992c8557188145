//! The tracing verbs as a user meets them, on traces written here: the recorder itself is tested in
//! `trace/` and end to end in `tests/`.

use crate::common::{BIAS, BUILD_ID, LIBC, Program, abc, heddle, idle_library, run};
use heddle_trace_file::Why;
use heddle_trace_file::write::{ProcessWriter, TraceWriter};
use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};
use std::fs;
use std::path::Path;

#[test]
fn replay_prints_a_line_an_event_indented_with_caller() {
    let (directory, _) = abc();
    let expected = "    0.000010000  abc 4711  Enter main  <- [libc.so.6]+0x29d68\n    0.000032000  abc 4711  Enter   A()  <- main\n";
    heddle(directory.path())
        .arg("replay")
        .assert()
        .success()
        .stdout(starts_with(expected))
        .stderr(is_empty());
    let mangled = contains("Enter     _Z1Bv  <- _Z1Av\n").and(contains("B()").not());
    heddle(directory.path())
        .args(["replay", "--no-demangle"])
        .assert()
        .success()
        .stdout(mangled);
    let backtrace =
        "Enter   A()  <- main\n      #0   A()\n      #1   main\n      #2   [libc.so.6]+0x29d68\n";
    heddle(directory.path())
        .args(["replay", "--backtrace"])
        .assert()
        .success()
        .stdout(contains(backtrace));
}

#[test]
fn replay_prints_the_source_documents_log() {
    let (directory, program) = abc();
    let log = "1715025463.427767 - Enter: main called: [libc.so.6]+0x29d68\n1715025463.427789 - Enter: _Z1Av called: main\n\
               1715025465.427757 - Enter: _Z1Bv called: _Z1Av\n1715025470.427757 - Enter: _Z1Cv called: _Z1Bv\n\
               1715025477.427757 - Exit: _Z1Cv called: _Z1Bv\n1715025477.427805 - Exit: _Z1Bv called: _Z1Av\n\
               1715025477.427824 - Exit: _Z1Av called: main\n1715025477.427837 - Exit: main called: [libc.so.6]+0x29d68\n";
    heddle(directory.path())
        .args(["replay", "--format", "source"])
        .assert()
        .success()
        .stdout(log);
    let (a, main) = (program.at("_Z1Av"), program.at("main") + 5);
    let line =
        format!("1715025463.427789 - Enter function: _Z1Av ({a:#x}) called by: main ({main:#x})\n");
    heddle(directory.path())
        .args(["replay", "--format", "source", "--addresses"])
        .assert()
        .success()
        .stdout(contains(line));
}

#[test]
fn an_inlined_function_was_called_by_its_container() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|thread, at| {
        thread
            .enter(1, at("main"), LIBC + 5, 900)
            .enter(2, at("_Z1Av"), LIBC + 5, 900)
            .exit(3, at("_Z1Av"), LIBC + 5, 900);
    });
    heddle(directory.path())
        .arg("replay")
        .assert()
        .success()
        .stdout(contains("Enter   A()  <- main (inlined)"));
    let log = contains("Enter: _Z1Av called: main\n").and(contains("Exit: _Z1Av called: main\n"));
    heddle(directory.path())
        .args(["replay", "--format", "source"])
        .assert()
        .success()
        .stdout(log);
}

#[test]
fn a_reader_that_stops_reading_is_no_failure() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|thread, at| {
        for time in 0..50_000 {
            thread.enter(2 * time, at("main"), LIBC + 5, 900).exit(
                2 * time + 1,
                at("main"),
                LIBC + 5,
                900,
            );
        }
    });
    let command = assert_cmd::cargo::cargo_bin("heddle");
    let mut child = std::process::Command::new(command)
        .arg("replay")
        .current_dir(directory.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
}

#[test]
fn report_sorts_by_self_time_in_every_format() {
    let (directory, _) = abc();
    let csv = "calls,total_ns,self_ns,min_ns,avg_ns,max_ns,function,module\n1,7000000000,7000000000,7000000000,7000000000,7000000000,C(),abc\n\
               1,12000048000,5000048000,12000048000,12000048000,12000048000,B(),abc\n";
    heddle(directory.path())
        .args(["report", "--format", "csv"])
        .assert()
        .success()
        .stdout(starts_with(csv));
    heddle(directory.path())
        .args(["report", "-n", "1"])
        .assert()
        .success()
        .stdout(contains("7.000 s  C()").and(contains("B()").not()));
    heddle(directory.path())
        .args(["report", "--format", "md", "-s", "total"])
        .assert()
        .success()
        .stdout(contains("|---|\n| 1 | 14.000 s | 35.000 µs |"));
    let json = heddle(directory.path())
        .args(["report", "--format", "json", "--by", "thread"])
        .output()
        .unwrap()
        .stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(
        (&json[0]["function"], &json[0]["tid"], &json[0]["total_ns"]),
        (&"C()".into(), &4711.into(), &7_000_000_000_u64.into())
    );
}

#[test]
fn what_is_incomplete_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|thread, at| {
        thread
            .dropped(3)
            .exit(1, at("_Z1Av"), 0, 900)
            .enter(2, at("main"), LIBC + 5, 900)
            .gap(3, Why::Paused, None);
    });
    let said = [
        "3 events were dropped",
        "1 exit has no enter",
        "1 call was still open",
        "recording was paused once",
    ];
    for verb in ["report", "info", "check"] {
        let arguments = [verb, "heddle.trace"];
        let output = heddle(directory.path()).args(arguments).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.success() && said.iter().all(|text| stderr.contains(text)),
            "{verb}: {stderr}"
        );
    }
}

#[test]
fn calls_that_are_left_open_are_named_from_the_innermost_on() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    let [main, a, b, c] = ["main", "_Z1Av", "_Z1Bv", "_Z1Cv"].map(|symbol| program.at(symbol));
    let calls = [(main, LIBC + 5), (a, main + 5), (b, a + 5), (c, b + 5)];
    // By the depths of the threads' calls.
    for (depths, names) in [
        (&[1][..], "main"),
        (&[2], "A(), main"),
        (&[4], "C(), B(), A(), …"),
        (&[2, 2], "A() ×2, main ×2"),
        (&[4, 1], "C(), main ×2, B(), …"),
    ] {
        let _ = fs::remove_dir_all(directory.path().join("heddle.trace"));
        let trace = TraceWriter::create(&directory.path().join("heddle.trace")).unwrap();
        let mut process = trace.process(4711, 1, program.path()).unwrap();
        process.module(BIAS, BIAS + 0x10_0000, BIAS, Some(BUILD_ID), program.path());
        for (tid, &depth) in (4711..).zip(depths) {
            let mut thread = process.thread(tid, "abc");
            for (time, &(function, caller)) in (1..).zip(&calls[..depth]) {
                thread.enter(time, function, caller, 0x900 - 0x100 * time);
            }
            thread.finish().unwrap();
        }
        process.finish().unwrap();
        for verb in ["report", "replay", "tree", "info"] {
            let done = heddle(directory.path()).arg(verb).assert().success();
            done.stderr(contains(format!(" still open at the end ({names}): timed")));
        }
    }
}

#[test]
fn calls_left_open_are_not_named_where_a_fiber_may_have_ended_them() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|thread, at| {
        let (own, fiber) = (0x7900, 0x2_0900);
        thread
            .stack(0x7000, 0x8000)
            .enter(1, at("main"), LIBC + 5, own)
            .enter(2, at("_Z1Av"), LIBC + 9, fiber);
    });
    let done = heddle(directory.path()).arg("report").assert().success();
    done.stderr(contains("2 calls were still open at the end: timed"));
}

#[test]
fn check_says_yes_or_shows_the_difference() {
    let (directory, _) = abc();
    let path = directory.path();
    for arguments in [&["check", "heddle.trace"][..], &["check"]] {
        let tree = "thread abc\n  main\n    A()\n      B()\n        C()\n";
        heddle(path).args(arguments).assert().success().stdout(tree);
    }
    fs::write(
        path.join("good.tree"),
        "# exit code: 3\nmain\n  A [14s..15s]\n    B\n      C [..7s]\n",
    )
    .unwrap();
    heddle(path)
        .args(["check", "heddle.trace", "good.tree"])
        .assert()
        .success()
        .stdout(contains("as expected"));
    heddle(path)
        .args(["check", "good.tree"])
        .assert()
        .code(1)
        .stderr(contains("heddle check heddle.trace good.tree"));
    fs::write(path.join("bad.tree"), "main\n  A\n    B x2\n").unwrap();
    let difference = contains("\n-       B x2\n+       B()\n");
    heddle(path)
        .args(["check", "heddle.trace", "bad.tree"])
        .assert()
        .code(1)
        .stdout(difference);
    heddle(path)
        .args(["check", "heddle.trace", "good.tree", "--bless"])
        .assert()
        .success();
    assert_eq!(
        fs::read_to_string(path.join("good.tree")).unwrap(),
        "# exit code: 3\nthread abc\n  main\n    A()\n      B()\n        C()\n"
    );
    heddle(path)
        .args(["check", "heddle.trace", "none.tree"])
        .assert()
        .code(1)
        .stderr(contains("none.tree: no such file").and(contains("--bless")));
    fs::write(path.join("wrong.tree"), "main\n\tA\n").unwrap();
    heddle(path)
        .args(["check", "heddle.trace", "wrong.tree"])
        .assert()
        .code(1)
        .stderr(contains("wrong.tree").and(contains("line 2")));
}

#[test]
fn info_names_what_the_trace_holds() {
    let (directory, _) = abc();
    let all = contains("format version 5")
        .and(contains("host       loom"))
        .and(contains("process    4711 (parent 1)"));
    let all = all
        .and(contains("[libc.so.6] (no build id)"))
        .and(contains("thread     4711    abc              8 events"));
    heddle(directory.path())
        .arg("info")
        .assert()
        .success()
        .stdout(all);
}

#[test]
fn a_thread_whose_records_are_gone_is_missed() {
    let (directory, program) = abc();
    program.abc();
    fs::remove_file(directory.path().join("heddle.trace/4711/events")).unwrap();
    let missed = || {
        // Nothing says that it had no calls.
        let none = contains("warning: no call is in heddle.trace\n");
        none.and(contains("nothing of 1 thread is in heddle.trace"))
    };
    for verb in [&["report"][..], &["replay"], &["check", "heddle.trace"]] {
        heddle(directory.path())
            .args(verb)
            .assert()
            .success()
            .stderr(missed());
    }
}

#[test]
fn a_trace_without_calls_is_said_to_be_one() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    let mut process = program.process(&directory.path().join("heddle.trace"));
    let mut thread = process.thread(4711, "abc");
    thread.wait(20, (1, 0x5000, 1), 0x1200, (0, 0));
    thread.wait_ended(70, 0, 0).finish().unwrap();
    process.objects(&[], 0).unwrap().finish().unwrap();
    let hint = "warning: no call is in heddle.trace; was the program compiled with";
    for verb in [
        &["report"][..],
        &["replay"],
        &["tree"],
        &["graph"],
        &["info"],
        &["export", "--format", "json"],
    ] {
        let said = contains(hint).count(1);
        heddle(directory.path())
            .args(verb)
            .assert()
            .success()
            .stderr(said);
    }
    // What needs no calls is there all the same.
    let mut locks = heddle(directory.path());
    let locks = locks.args(["report", "--by", "lock"]).assert().success();
    locks.stderr(contains("no call").not());
}

#[test]
fn what_is_neither_an_enter_nor_an_exit_is_replayed_too() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|thread, at| {
        thread
            .enter(1, at("main"), LIBC + 5, 900)
            .mark(2, 0, "half\nway")
            .strand_switch(3, 7)
            .strand_name(4, 7, "seven")
            .strand_waits(5, 7, "rain")
            .gap(6, Why::Dropped, Some(12))
            .exit(7, at("_Z1Bv"), 0, 880)
            .exit(8, at("main"), 0, 900);
    });
    let line = |time: u32, what: &str| format!("    0.00000000{time}  abc 4711  {what}\n");
    let expected = [
        line(2, "Mark    half?way"),
        line(3, "Strand   7 runs"),
        line(4, "Strand   7 is named seven"),
        line(5, "Strand   7 waits: rain"),
        line(6, "Gap     12 events missing: no space or memory"),
        line(7, "Exit    ?  <- (its enter was not recorded)"),
    ];
    heddle(directory.path())
        .arg("replay")
        .assert()
        .success()
        .stdout(contains(expected.concat()))
        .stderr(contains("12 events were dropped"));
}

#[test]
fn times_that_are_known_badly_are_said_to_be() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|thread, at| {
        thread.enter(10, at("main"), LIBC + 5, 900);
        thread.untimed().enter(0, at("_Z1Av"), at("main") + 5, 800);
        thread.exit(110, at("_Z1Av"), 0, 800);
    });
    let said = "times of 1 event lie between those of others (--clock sparse): half of them are good to 50 ns, 99 % to 50 ns, all to 50 ns";
    for verb in [
        &["report"][..],
        &["replay"],
        &["info"],
        &["check", "heddle.trace"],
    ] {
        heddle(directory.path())
            .args(verb)
            .assert()
            .success()
            .stderr(contains(said));
    }
}

#[test]
fn every_verb_reads_what_was_not_collected_and_recover_collects_it() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    let calls = |buffered: bool| {
        program.trace(|thread, at| {
            thread
                .enter(1, at("main"), LIBC + 5, 900)
                .enter(2, at("_Z1Av"), at("main") + 5, 800);
            thread.next_run();
            thread
                .exit(3, at("_Z1Av"), 0, 800)
                .exit(4, at("main"), 0, 900);
            if buffered {
                thread.in_buffer(&[2]);
            }
        });
    };
    let verbs = [
        &["report"][..],
        &["replay"],
        &["check", "heddle.trace"],
        &["report", "--by", "thread", "--format", "json"],
    ];
    let answers = || {
        verbs.map(|verb| {
            let output = heddle(directory.path()).args(verb).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap()
        })
    };
    calls(false);
    let collected = answers();
    fs::remove_dir_all(directory.path().join("heddle.trace")).unwrap();
    calls(true);
    assert_eq!(answers(), collected);
    let buffers = contains("uncollected 1 buffer: heddle recover copies");
    heddle(directory.path())
        .arg("info")
        .assert()
        .success()
        .stdout(buffers);
    let said = "heddle.trace: collected 2 blocks (480 bytes) from the buffers of 1 process\n";
    heddle(directory.path())
        .arg("recover")
        .assert()
        .success()
        .stderr(contains(said));
    assert_eq!(answers(), collected);
    heddle(directory.path())
        .arg("recover")
        .assert()
        .success()
        .stderr(contains("no buffer of an ended process was left"));
    heddle(directory.path())
        .args(["recover", "none"])
        .assert()
        .code(1)
        .stderr(contains("none: no such trace"));
}

/// `depth` calls of C inside each other.
#[test]
fn a_packed_trace_answers_alike_without_the_program() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|thread, at| {
        thread
            .enter(1, at("main"), LIBC + 5, 900)
            .enter(2, at("_Z1Av"), at("main") + 5, 800)
            .exit(3, at("_Z1Av"), 0, 800)
            .exit(4, at("main"), 0, 900);
    });
    let answers = |trace: &str| {
        [["report"], ["replay"], ["check"]].map(|verb| {
            let output = heddle(directory.path())
                .args(verb)
                .arg(trace)
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap()
        })
    };
    let before = answers("heddle.trace");
    assert!(before[0].contains("A()"));
    let said = "packed heddle.trace of 4 events into heddle.trace.packed: ";
    let pack = || heddle(directory.path()).arg("pack").assert();
    pack().success().stderr(contains(said));
    fs::remove_file(&program.path).unwrap();
    assert_eq!(answers("heddle.trace.packed"), before);
    // The trace itself has lost its names.
    assert!(!answers("heddle.trace")[0].contains("A()"));
    pack()
        .code(1)
        .stderr(contains(
            "heddle.trace.packed: it exists; remove it, or name another",
        ))
        .stderr(contains("os error").count(0));
    heddle(directory.path())
        .args(["pack", "-o", "none/packed"])
        .assert()
        .code(1)
        .stderr(contains(
            "none/packed: there is no directory none; make it, or",
        ));
    heddle(directory.path())
        .args(["pack", "heddle.trace.packed", "-o", "again"])
        .assert()
        .code(1)
        .stderr(contains("heddle.trace.packed: it is packed already"));
}

fn nested(program: &Program, depth: u64) {
    program.trace(|thread, at| {
        let (c, top) = (at("_Z1Cv"), 1 << 40);
        for call in 0..depth {
            thread.enter(10 + call, c, c + 5, top - 16 * call);
        }
        for call in (0..depth).rev() {
            thread.exit(10 + 2 * depth - call, c, c + 5, top - 16 * call);
        }
    });
}

#[test]
fn deep_calls_are_compared_and_too_deep_ones_are_an_error() {
    let (directory, program) = abc();
    fs::write(
        directory.path().join("some.tree"),
        "thread abc\n  C\n    ...\n",
    )
    .unwrap();
    fs::write(
        directory.path().join("other.tree"),
        "thread abc\n  B\n    ...\n",
    )
    .unwrap();
    let check = |tree: &[&str]| {
        let arguments = ["check", "heddle.trace"];
        heddle(directory.path()).args(arguments).args(tree).assert()
    };
    // Deeper than formatting can indent, deeper than a tree is printed.
    nested(&program, 40_000);
    check(&["some.tree"]).success();
    check(&["other.tree"]).code(1).stdout(contains("+   C()"));
    for print in [&[][..], &["new.tree", "--bless"]] {
        check(print)
            .code(1)
            .stdout("")
            .stderr(contains("deeper than 10000"));
    }
    nested(&program, 100_001);
    check(&["some.tree"])
        .code(1)
        .stdout("")
        .stderr(contains("deeper than 100000"));
}

#[test]
fn no_name_steers_the_terminal_or_breaks_a_line() {
    let directory = tempfile::tempdir().unwrap();
    let odd = "/tmp/\x1b[31mred\n\u{202e}green";
    let trace = TraceWriter::create(&directory.path().join("heddle.trace")).unwrap();
    let mut process = trace.process(4711, 1, odd).unwrap();
    process.module(0x1000, 0x2000, 0x1000, None, "\x1b[31mred\\ngreen");
    let mut thread = process.thread(4711, "\x1b[2J\n\u{202e}");
    thread.enter(1, 0x1010, 0x1500, 9);
    thread.exit(2, 0x1010, 0x1500, 9);
    thread.finish().unwrap();
    process.finish().unwrap();
    for (verb, lines) in [
        (&["info"][..], 11),
        (&["strands"], 2),
        (&["tree"], 2),
        (&["report"], 2),
        (&["report", "--format", "csv", "--by", "thread"], 2),
        (&["replay"], 2),
        (&["replay", "--format", "source"], 2),
        (&["check", "heddle.trace"], 2),
    ] {
        let output = heddle(directory.path()).args(verb).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.lines().count(), lines, "{text}");
        assert!(!text.contains(['\x1b', '\u{202e}']), "{text:?}");
    }
}

#[test]
fn a_wrong_trace_is_an_error_that_says_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::create_dir(path.join("other")).unwrap();
    fs::create_dir(path.join("newer")).unwrap();
    fs::write(path.join("newer/heddle"), "heddle trace 9\n").unwrap();
    for verb in ["replay", "report", "info", "check"] {
        let error = |trace: &str, text: &str| {
            let said = starts_with("error: ")
                .and(contains(trace))
                .and(contains(text));
            heddle(path)
                .args([verb, trace])
                .assert()
                .code(1)
                .stdout(is_empty())
                .stderr(said);
        };
        error("missing", "heddle record -- PROGRAM");
        error("other", "not a heddle trace");
        error(
            "newer",
            "version 9 of the format; this heddle reads versions 2 to 5",
        );
    }
}

fn record(directory: &Path, arguments: &[&str]) -> assert_cmd::assert::Assert {
    let library = idle_library(directory);
    heddle(directory)
        .env("HEDDLE_LIB", library)
        .arg("record")
        .args(arguments)
        .assert()
}

#[test]
fn record_says_why_a_program_cannot_run() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::write(path.join("text"), "no program").unwrap();
    record(path, &["./none"])
        .code(127)
        .stderr("error: ./none: not found\n");
    record(path, &["no-such-program-anywhere"])
        .code(127)
        .stderr(contains("not found in PATH"));
    record(path, &["text"])
        .code(127)
        .stderr(contains("heddle record -- ./text"));
    record(path, &["./text"])
        .code(126)
        .stderr(contains("chmod +x ./text"));
    record(path, &["/"])
        .code(126)
        .stderr(contains("is a directory"));
    assert!(!path.join("heddle.trace").exists());
}

#[test]
fn record_says_why_a_program_cannot_be_traced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let name = |name: &str| path.join(name).to_str().unwrap().to_owned();
    fs::write(path.join("m.c"), "int main(void) { return 0; }\n").unwrap();
    run("gcc", &["-static", &name("m.c"), "-o", &name("static")]);
    record(path, &["./static"])
        .code(125)
        .stderr(contains("statically linked").and(contains("without -static")));
    // An ELF header of 32 bits for another machine is enough to be told apart.
    let mut narrow = b"\x7fELF\x01\x01\x01".to_vec();
    narrow.resize(64, 0);
    narrow[18] = 3;
    fs::write(path.join("narrow"), narrow).unwrap();
    run("chmod", &["+x", &name("narrow")]);
    record(path, &["./narrow"])
        .code(125)
        .stderr(contains("32-bit x86").and(contains("x86-64")));
    heddle(path)
        .env("HEDDLE_LIB", name("gone.so"))
        .args(["record", "./static"])
        .assert()
        .code(125)
        .stderr(contains("HEDDLE_LIB names"));
    assert!(!path.join("heddle.trace").exists());
}

#[test]
fn a_dry_run_prints_what_patterns_match_and_runs_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let library = r"
        namespace lib {
        template <typename T> T add(T a, T b) { return a + b; }
        template int add<int>(int, int);
        int sub(int a, int b) { return a - b; }
        }
    ";
    let flags = ["-finstrument-functions", "-shared", "-fPIC"];
    Program::compile(path, "libparts.so", library, &flags);
    let source = r#"
        #include <fstream>
        namespace lib { int sub(int, int); }
        void sub(int) {}
        int main() { std::ofstream("ran"); sub(lib::sub(2, 1)); }
    "#;
    let parts = path.join("libparts.so");
    let flags = [
        "-finstrument-functions",
        "-Wl,--no-as-needed",
        parts.to_str().unwrap(),
        "-Wl,-rpath,$ORIGIN",
    ];
    Program::compile(path, "parts", source, &flags);
    let patterns = ["-N", "^lib::", "-F", "sub$", "--stop-at", "subtract"];
    let printed = "\
--filter 'sub$': 2 functions
    sub(int)  (parts)
    lib::sub(int, int)  (libparts.so)
--exclude '^lib::': 2 functions
    int lib::add<int>(int, int)  (libparts.so)
    lib::sub(int, int)  (libparts.so)
--stop-at subtract: 0 functions
";
    record(path, &[&patterns[..], &["--dry-run", "./parts"]].concat())
        .success()
        .stdout(printed)
        .stderr(contains("--stop-at subtract matched no function"));
    assert!(!path.join("ran").exists());
    assert!(!path.join("heddle.trace").exists());
    record(path, &["--dry-run", "./parts"])
        .code(2)
        .stderr(contains("add -F"));
    fs::write(path.join("script"), "#!/bin/sh\n").unwrap();
    run("chmod", &["+x", path.join("script").to_str().unwrap()]);
    record(path, &["--dry-run", "-F", "sub", "./script"])
        .code(125)
        .stderr(contains("is a script"));
}

/// What a mistake of ours, or memory that is missing, ends in.
#[test]
fn record_that_aborts_passes_the_exit_code_on_when_the_program_has_ended() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = "kill -ABRT $PPID; sleep 0.1; echo on; exit 7";
    record(path, &["-o", "a b", "sh", "-c", program])
        .code(7)
        .stdout("on\n")
        .stderr(contains(
            "error: heddle record has failed, as said above: nothing more is collected; when the \
             program has ended: heddle recover 'a b'\n",
        ));
    record(
        path,
        &["-o", "a b", "sh", "-c", "kill -ABRT $PPID; kill -TERM $$"],
    )
    .code(143);
}

#[test]
fn too_little_memory_is_an_error_that_says_what_to_do() {
    use std::os::unix::process::CommandExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let library = idle_library(path);
    for little in [3 << 20, 4 << 20] {
        let mut starved = std::process::Command::new(heddle(path).get_program());
        starved
            .current_dir(path)
            .env("HEDDLE_LIB", &library)
            .args(["record", "sh", "-c", "echo run"]);
        // SAFETY: between fork and exec only `setrlimit` is called, which is async-signal-safe.
        unsafe {
            starved.pre_exec(move || {
                let little = libc::rlimit {
                    rlim_cur: little,
                    rlim_max: little,
                };
                match libc::setrlimit(libc::RLIMIT_DATA, &raw const little) {
                    0 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                }
            })
        };
        assert_cmd::Command::from_std(starved)
            .assert()
            .code(125)
            .stdout("")
            .stderr(starts_with("error: ").and(contains("ulimit -d")));
        assert!(!path.join("heddle.trace").exists(), "{little}");
    }
    // Nothing is in the next one's way.
    record(path, &["sh", "-c", "exit 7"]).code(7);
}

/// Writes a process of one call, whose header `header` fills in. Gives what each verb says of it on
/// standard error, and what `info` prints.
fn said_of(header: impl FnOnce(&mut ProcessWriter)) -> (Vec<String>, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let trace = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    process.module(0, 0x10_0000, 0, None, "[app]");
    header(&mut process);
    let mut thread = process.thread(42, "app");
    thread.enter(10, 0x1000, 0x1500, 0x7000);
    thread.exit(20, 0x1000, 0x1500, 0x7000);
    thread.finish().unwrap();
    process.finish().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let all = ["report", "replay", "info"].map(|verb| heddle(path).arg(verb).output().unwrap());
    let info = text(all[2].stdout.clone());
    (all.map(|output| text(output.stderr)).into(), info)
}

#[test]
fn every_verb_says_where_patterns_were_not_applied() {
    for (why, calls, values, expected) in [
        (
            libc::ENOMEM,
            true,
            false,
            "at every function (out of memory, address space or mappings): its filters by function \
             were not applied everywhere, so calls may be missing, or here that should not be; \
             record again with more memory: ulimit -v unlimited\n",
        ),
        (
            libc::ENODATA,
            false,
            true,
            "at every function (the list of modules was cut, removed or damaged): arguments and \
             results were not recorded everywhere; record again\n",
        ),
        (
            libc::ESRCH,
            true,
            true,
            "(heddle record was gone): its filters",
        ),
    ] {
        let (said, info) = said_of(|process| _ = process.unplanned(why, calls, values));
        for text in said {
            assert!(text.starts_with("warning: heddle record could not look"));
            assert!(text.contains(expected), "{text}");
        }
        assert!(info.contains("\nnot known  heddle record could not look"));
        assert!(info.contains(expected), "{info}");
    }
    for (why, wanted) in [(0, true), (libc::ENOMEM, false)] {
        let (said, info) = said_of(|process| _ = process.unplanned(why, wanted, wanted));
        assert_eq!(said, ["", "", ""]);
        assert!(!info.contains("not known"), "{info}");
    }
}

#[test]
fn every_verb_says_how_much_a_flight_recorder_kept_that_got_less_room() {
    let expected = " bytes of events were kept, and not 67108864 (--flight): there was no more room \
                    (out of memory, address space or mappings); record again with more memory";
    let (said, info) = said_of(|process| _ = process.mode(64 << 20, 0).flight_trouble(12));
    for text in said {
        assert!(text.starts_with("warning: process 42: "), "{text}");
        assert!(text.contains(expected), "{text}");
    }
    assert!(info.contains(expected), "{info}");
    for (flight, why) in [(64 << 20, 0), (0, libc::ENOMEM)] {
        let (said, info) = said_of(|process| _ = process.mode(flight, 0).flight_trouble(why));
        assert_eq!(said, ["", "", ""]);
        assert!(!info.contains("were kept"), "{info}");
    }
}

#[test]
fn record_passes_the_exit_code_through_and_says_when_nothing_was_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let not_instrumented = contains("made no recorded call")
        .and(contains("-finstrument-functions"))
        .and(contains("heddle flags"));
    record(directory.path(), &["--", "sh", "-c", "exit 42"])
        .code(42)
        .stderr(not_instrumented);
    assert!(!directory.path().join("heddle.trace").exists());
    record(directory.path(), &["sh", "-c", "kill -SEGV $$"])
        .code(139)
        .stderr(contains("killed by signal 11 (Segmentation fault)"));
    record(directory.path(), &["sh", "-c", "echo $HEDDLE_DIR"])
        .success()
        .stdout(contains("/heddle.trace\n").and(starts_with("/")));
}

#[test]
fn record_says_so_when_nothing_could_be_stored() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    // What the recorder leaves where there is no room for its first file.
    record(path, &["sh", "-c", "mkdir $HEDDLE_DIR/4711"])
        .success()
        .stderr(contains("could not store anything in heddle.trace"));
    assert!(!path.join("heddle.trace").exists());
    // And where there was room for that only.
    let trace = TraceWriter::create(&path.join("full")).unwrap();
    let mut process = trace.process(4711, 1, "/x").unwrap();
    process.dropped(12).finish().unwrap();
    record(path, &["sh", "-c", "cp -r full/4711 $HEDDLE_DIR"])
        .success()
        .stderr(contains(
            "nothing is in heddle.trace: 12 events were dropped",
        ));
}

#[test]
fn record_tells_the_library_how_to_record() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let show = ["sh", "-c", "env | grep ^HEDDLE_ | grep -v DIR | sort"];
    let said = |options: &[&str], expected: &str| {
        record(path, &[options, &show].concat())
            .success()
            .stdout(contains(expected.to_owned()));
    };
    said(
        &["--clock", "sparse", "--paused"],
        "HEDDLE_CLOCK=sparse\nHEDDLE_COROUTINES=auto\nHEDDLE_LIB=",
    );
    said(&["--paused"], "HEDDLE_PAUSED=1\n");
    said(&["--coroutines", "scan"], "HEDDLE_COROUTINES=scan\n");
    said(
        &["--flight", "64M", "--snapshot-signal", "USR2"],
        "HEDDLE_FLIGHT=67108864\n",
    );
    said(
        &["--flight", "64M", "--snapshot-signal", "USR2"],
        "HEDDLE_SNAPSHOT_SIGNAL=12\n",
    );
    for wrong in [&["--flight", "much"][..], &["--snapshot-signal", "USR2"]] {
        record(path, &[wrong, &["true"]].concat()).code(2);
    }
}

#[test]
fn record_keeps_the_last_trace_and_nothing_else_is_touched() {
    let (directory, _) = abc();
    let path = directory.path();
    // A program that leaves a mark where the recorder would leave a process.
    let leave = |mark: &str| format!("mkdir $HEDDLE_DIR/{mark}");
    record(path, &["sh", "-c", &leave("first")]).success();
    assert!(
        path.join("heddle.trace.old/4711").exists() && path.join("heddle.trace/first").exists()
    );
    fs::write(path.join("heddle.trace/heddle"), "heddle trace 2\n").unwrap();
    record(path, &["sh", "-c", &leave("second")]).success();
    assert!(
        path.join("heddle.trace.old/first").exists() && path.join("heddle.trace/second").exists()
    );
    fs::create_dir(path.join("mine")).unwrap();
    fs::write(path.join("mine/file"), "precious").unwrap();
    record(path, &["-o", "mine", "true"])
        .code(125)
        .stderr(contains("not a heddle trace"));
    assert_eq!(
        fs::read_to_string(path.join("mine/file")).unwrap(),
        "precious"
    );
}

#[test]
fn record_hands_down_which_directory_it_made() {
    use std::os::unix::fs::MetadataExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::create_dir(path.join("kept")).unwrap();
    std::os::unix::fs::symlink("kept", path.join("link")).unwrap();
    let about = fs::metadata(path.join("kept")).unwrap();
    let kept = fs::canonicalize(path.join("kept")).unwrap();
    let (kept, about) = (kept.display(), (about.dev(), about.ino()));
    let expected = format!("{kept} {}:{}:{kept}\n", about.0, about.1);
    let show = ["-o", "link", "sh", "-c", "echo $HEDDLE_DIR $HEDDLE_TRACE"];
    record(path, &show).success().stdout(expected);
}

/// A recording by a link's name moves that away: the next one does not remove it.
#[test]
fn record_says_that_a_link_is_in_the_way() {
    let (directory, _) = abc();
    let path = directory.path();
    let old = path.join("heddle.trace.old");
    std::os::unix::fs::symlink("elsewhere", &old).unwrap();
    let said = "heddle.trace.old is in the way of keeping the last trace, and is a link; \
                rm heddle.trace.old, or record elsewhere";
    record(path, &["true"]).code(125).stderr(contains(said));
    assert!(old.is_symlink());
}

/// What is known of a program that was started and cannot be recorded is not lost with the trace.
#[test]
fn record_names_what_was_started_where_nothing_is_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    for (lines, others) in [
        ("rights ./su", ""),
        ("rights ./su\\nstarted machine ./x", " and 1 other program"),
    ] {
        let script = format!("printf 'started {lines}\\n' > $HEDDLE_DIR/unrecorded; exit 3");
        let said = format!(
            "sh made no recorded call, and started ./su{others}, which cannot be recorded: it has rights that its caller has not"
        );
        record(path, &["sh", "-c", &script])
            .code(3)
            .stderr(contains(said));
        assert!(!path.join("heddle.trace").exists());
    }
}

#[test]
fn record_names_the_directory_that_another_recording_is_in() {
    let (directory, _) = abc();
    let path = directory.path();
    fs::rename(path.join("heddle.trace"), path.join("heddle.trace.old")).unwrap();
    let trace = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    trace.process(4712, 1, "/x").unwrap().finish().unwrap();
    let _claim = heddle_trace_file::Claim::of(&path.join("heddle.trace.old")).unwrap();
    record(path, &["true"]).success().stderr(contains(
        "heddle.trace.old is being recorded; this recording goes to heddle.trace.2\n",
    ));
}

#[test]
fn a_start_that_fails_is_not_in_the_next_ones_way() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let library = idle_library(path);
    let mut failed = 0;
    for files in 4..14 {
        let limit = move || {
            let limit = libc::rlimit {
                rlim_cur: files,
                rlim_max: files,
            };
            // SAFETY: a valid structure.
            match unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) } {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        };
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_heddle"));
        command
            .current_dir(path)
            .env("HEDDLE_LIB", &library)
            .args(["record", "true"]);
        // SAFETY: setrlimit is async-signal-safe.
        unsafe { std::os::unix::process::CommandExt::pre_exec(&mut command, limit) };
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("/proc/self/fd"), "{said}");
        failed += u32::from(output.status.code() == Some(125));
        // Whatever it could not remove is taken over, and no trace to be kept.
        record(path, &["true"]).success();
        for left in ["heddle.trace", "heddle.trace.old", "heddle.trace.2"] {
            assert!(!path.join(left).exists(), "{files} files: {said}");
        }
    }
    assert!(failed > 0);
}

#[test]
fn nobody_need_read_what_record_says_for_it_to_end() {
    use std::io::Write as _;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let library = idle_library(path);
    let (_reader, mut writer) = std::io::pipe().unwrap();
    let full = std::os::fd::AsRawFd::as_raw_fd(&writer);
    let set = |flags: libc::c_int| {
        // SAFETY: F_SETFL takes a number.
        assert_eq!(unsafe { libc::fcntl(full, libc::F_SETFL, flags) }, 0);
    };
    set(libc::O_NONBLOCK);
    while writer.write(&[0; 4096]).is_ok() {}
    while writer.write(&[0]).is_ok() {}
    set(0);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_heddle"));
    command
        .current_dir(path)
        .env("HEDDLE_LIB", library)
        .stderr(writer);
    let mut child = command
        .args(["record", "sh", "-c", "exit 42"])
        .spawn()
        .unwrap();
    assert_eq!(ended(&mut child, "heddle record").code(), Some(42));
}

#[test]
fn a_signal_that_ends_a_program_before_its_first_call_is_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    record(directory.path(), &["sh", "-c", "kill -TERM $$"])
        .code(143)
        .stderr(contains("made no recorded call before that signal"));
}

/// The command with these signals in this state. A shell that starts the tests in the background
/// ignores them, and a child inherits that.
fn with_signals(
    command: &mut std::process::Command,
    state: libc::sighandler_t,
) -> &mut std::process::Command {
    let set = move || {
        for signal in [libc::SIGINT, libc::SIGTERM] {
            // SAFETY: signal is async-signal-safe.
            unsafe { libc::signal(signal, state) };
        }
        Ok(())
    };
    // SAFETY: between fork and exec only `signal` is called.
    unsafe { std::os::unix::process::CommandExt::pre_exec(command, set) }
}

/// Waits for the end of `child`; what takes longer than 20 s is killed, and fails.
fn ended(child: &mut std::process::Child, what: &str) -> std::process::ExitStatus {
    let begun = std::time::Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if begun.elapsed() > std::time::Duration::from_secs(20) {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{what}: still running after 20 s");
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn a_signal_for_us_reaches_the_program_and_we_wait_for_it() {
    let directory = tempfile::tempdir().unwrap();
    for (signal, name) in [
        (libc::SIGTERM, "TERM"),
        (libc::SIGINT, "INT"),
        (libc::SIGUSR1, "USR1"),
        (libc::SIGUSR2, "USR2"),
    ] {
        let script = format!("trap 'exit 7' {name}; echo ready; while :; do sleep 0.01; done");
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("heddle"));
        command
            .args(["record", "sh", "-c", &script])
            .current_dir(directory.path())
            .env("HEDDLE_LIB", idle_library(directory.path()))
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null());
        let mut child = with_signals(&mut command, libc::SIG_DFL).spawn().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(
            &mut std::io::BufReader::new(child.stdout.as_mut().unwrap()),
            &mut line,
        )
        .unwrap();
        assert_eq!(line, "ready\n");
        // SAFETY: our own child, not yet waited for.
        unsafe { libc::kill(child.id() as i32, signal) };
        assert_eq!(ended(&mut child, name).code(), Some(7), "{name}");
    }
}

#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["TERM", "INT"] {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("heddle"));
        command
            .args([
                "record",
                "sh",
                "-c",
                &format!("kill -{name} $PPID $$; exit 9"),
            ])
            .current_dir(directory.path())
            .env("HEDDLE_LIB", idle_library(directory.path()))
            .stderr(std::process::Stdio::null());
        let mut child = with_signals(&mut command, libc::SIG_IGN).spawn().unwrap();
        assert_eq!(ended(&mut child, name).code(), Some(9), "{name}");
    }
}

#[test]
fn the_printed_flags_instrument_the_program_and_not_the_standard_library() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("sort.cpp");
    fs::write(&source, "#include <algorithm>\n#include <vector>\nint main() { std::vector<int> v{3, 1, 2}; std::sort(v.begin(), v.end()); return v[0] - 1; }\n").unwrap();
    let flags = String::from_utf8(
        heddle(directory.path())
            .arg("flags")
            .output()
            .unwrap()
            .stdout,
    )
    .unwrap();
    let mut arguments: Vec<&str> = flags.split_whitespace().collect();
    arguments.extend(["-S", "-o", "-", source.to_str().unwrap()]);
    let assembly = run("g++", &arguments);
    assert_eq!(
        assembly.matches("call\t__cyg_profile_func_enter").count(),
        1,
        "main only"
    );
    for system in ["--cmake", "--make", "--meson"] {
        // The flags themselves hold a comma; commas and quotes are also what the systems put
        // between them.
        let all = flags
            .split_whitespace()
            .fold(String::new(), |all, flag| all + flag)
            .replace(',', "");
        let snippet = heddle(directory.path())
            .args(["flags", system])
            .output()
            .unwrap()
            .stdout;
        let snippet = String::from_utf8(snippet)
            .unwrap()
            .replace([' ', '\'', ','], "");
        assert!(snippet.contains(&all), "{system}: {snippet}");
    }
    heddle(directory.path())
        .args(["flags", "--make", "--meson"])
        .assert()
        .code(2);
}
