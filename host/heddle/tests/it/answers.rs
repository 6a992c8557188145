//! What the tracing verbs answer where something is not as it should be.

use crate::common::{LIBC, Program, abc, heddle, idle_library, run};
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
fn a_result_that_cannot_be_printed_is_an_error() {
    let (directory, _) = abc();
    for verb in ["replay", "report", "info", "check heddle.trace", "flags"] {
        for (to, why) in [
            (
                ">/dev/full",
                "error: standard output: No space left on device",
            ),
            (">&-", "error: standard output: closed"),
        ] {
            let output = shell(directory.path(), "", verb, to);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{verb} {to}: {stderr}");
            assert!(stderr.contains(why), "{verb} {to}: {stderr}");
        }
        let output = shell(directory.path(), "", verb, ">/dev/null");
        assert!(output.status.success(), "{verb}: {output:?}");
    }
}

#[test]
fn a_start_that_fails_leaves_nothing_in_the_way_of_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    // The marker fits into 512 bytes, what follows does not.
    for _ in 0..2 {
        let output = shell(path, "ulimit -f 1; ", "record true", "");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(125), "{stderr}");
        assert!(stderr.contains("control"), "{stderr}");
        assert!(!path.join("heddle.trace").exists(), "{stderr}");
    }
}

#[test]
fn where_no_more_files_can_be_opened_that_is_what_is_said() {
    let directory = tempfile::tempdir().unwrap();
    // Room for one file beside the standard streams, whatever was left open to us.
    let only = "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 4; ";
    let output = shell(directory.path(), only, "record true", "");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{stderr}");
    assert!(stderr.contains("Too many open files"), "{stderr}");
    assert!(!stderr.contains("ELF"), "{stderr}");
}

/// Waits for what another process does, a minute at most.
fn until(what: &str, done: impl Fn() -> bool) {
    for _ in 0..6000 {
        if done() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("not in a minute: {what}");
}

#[test]
fn recordings_that_go_on_at_once_have_directories_of_their_own() {
    let (directory, _) = abc();
    let path = directory.path();
    let library = idle_library(path);
    // Each leaves a mark where the recorder would leave a process, and ends when all have begun.
    let program = "mkdir $HEDDLE_DIR/mark; while [ ! -e go ]; do sleep 0.01; done";
    let mut running: Vec<_> = (0..3)
        .map(|_| {
            std::process::Command::new(assert_cmd::cargo::cargo_bin("heddle"))
                .args(["record", "sh", "-c", program])
                .current_dir(path)
                .env("HEDDLE_LIB", &library)
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let names = ["heddle.trace", "heddle.trace.2", "heddle.trace.3"];
    until("three directories", || {
        names
            .iter()
            .all(|name| path.join(name).join("mark").exists())
    });
    // The trace that was there is not lost, whoever moved it, and a fourth removes nothing.
    shell(path, "", "record true", "");
    assert!(path.join("heddle.trace.old/4711").exists());
    assert!(
        names
            .iter()
            .all(|name| path.join(name).join("control").exists())
    );
    fs::write(path.join("go"), "").unwrap();
    let mut said = String::new();
    for process in running.drain(..) {
        let output = process.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        said += &String::from_utf8_lossy(&output.stderr);
    }
    for name in &names[1..] {
        let text = format!("heddle.trace is being recorded; this recording goes to {name}\n");
        assert!(said.contains(&text), "{said}");
    }
    assert!(
        names
            .iter()
            .all(|name| !path.join(name).join("control").exists())
    );
}

#[test]
fn a_note_that_cannot_be_printed_changes_no_exit_code() {
    let (directory, _) = abc();
    for (verb, code) in [
        ("record -o other sh -c 'exit 7'", 7),
        ("record -o other no-such-program", 127),
        ("recover", 0),
        ("report", 0),
        ("report no-such-trace", 1),
        ("info", 0),
        ("info no-such-trace", 1),
        ("pack", 0),
        ("compare no-such-experiment", 2),
    ] {
        for to in ["2>/dev/full", "2>&-"] {
            let output = shell(directory.path(), "", verb, to);
            assert_eq!(output.status.code(), Some(code), "{verb} {to}: {output:?}");
            let _ = fs::remove_file(directory.path().join("heddle.trace.packed"));
        }
    }
}

#[test]
fn a_limit_on_file_sizes_is_an_error_of_ours_and_a_signal_for_the_program() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let output = shell(path, "ulimit -f 0; ", "record true", "");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{stderr}");
    assert!(
        stderr.contains("heddle.trace/heddle: File too large")
            && stderr.contains("ulimit -f unlimited"),
        "{stderr}"
    );
    assert!(!path.join("heddle.trace").exists());
    let kill = "record sh -c 'kill -XFSZ $$'";
    let output = shell(path, "", kill, "");
    assert_eq!(output.status.code(), Some(128 + libc::SIGXFSZ));
    let output = shell(path, "trap '' XFSZ; ", kill, "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_help_shows_where_the_program_begins() {
    heddle(Path::new("/"))
        .args(["record", "--help"])
        .assert()
        .success()
        .stdout(contains("heddle record [OPTIONS] [--] <PROGRAM>"));
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

#[test]
fn a_check_that_fails_says_why_where_the_lines_do_not() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let source = "namespace app { void risky(int) {} void check() {} }\n\
                  int main() { app::risky(1); app::check(); }\n";
    let program = Program::compile(path, "app", source, &[]);
    let mut process = program.process(&path.join("heddle.trace"));
    for (tid, name) in [(1, "app"), (2, "worker")] {
        let mut thread = process.thread(tid, name);
        let (risky, check) = (
            program.place(" _ZN3app5riskyEi"),
            program.place(" _ZN3app5checkEv"),
        );
        thread.enter(1, risky, 0, 900).exit(2, risky, 0, 900);
        thread.enter(3, check, 0, 900).exit(4, check, 0, 900);
        thread.finish().unwrap();
    }
    process.finish().unwrap();
    let threads =
        "one thread, and the trace has 2: write `thread NAME` lines; there are `app`, `worker`";
    for (tree, hint) in [
        (
            "risky\ncheck\n",
            "no call in the trace is named `risky`; did you mean `app::risky`?",
        ),
        ("risky\ncheck\n", threads),
        (
            "thread app\n  app::rsiky\n",
            "named `app::rsiky`; did you mean `app::risky`?",
        ),
        (
            "thread app\n  risky(int)\n",
            "named `risky(int)`; did you mean `app::risky(int)`?",
        ),
        (
            "thread app\n  app::risky(long)\n",
            "did you mean `app::risky(int)`?",
        ),
        (
            "thread app\n  frobnicate\n",
            "no call in the trace is named `frobnicate`\n",
        ),
        (
            "thread wroker\n  ...\n",
            "no thread in the trace is named `wroker`; there are `app`, `worker`",
        ),
    ] {
        fs::write(path.join("app.tree"), tree).unwrap();
        heddle(path)
            .args(["check", "heddle.trace", "app.tree"])
            .assert()
            .code(1)
            .stderr(contains(hint));
    }
    // What is not called because it must not be is no riddle.
    let right = "thread * x2\n  app::risky\n  frobnicate x0\n  app::check\n";
    fs::write(path.join("app.tree"), right).unwrap();
    heddle(path)
        .args(["check", "heddle.trace", "app.tree"])
        .assert()
        .success()
        .stderr(is_empty());
}

#[test]
fn a_stripped_program_is_said_to_be_one() {
    let (directory, program) = abc();
    run("strip", &[program.path()]);
    for verb in [&["report"][..], &["replay"], &["check", "heddle.trace"]] {
        let said = starts_with("warning: abc has no symbol table (it is stripped)");
        heddle(directory.path())
            .args(verb)
            .assert()
            .success()
            .stdout(contains("abc+0x"))
            .stderr(said.and(contains("no symbol table").count(1)));
    }
}

#[test]
fn a_process_that_became_another_did_not_vanish() {
    let (directory, program) = abc();
    let path = directory.path();
    let trace = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    let executable = program.path();
    for last in [false, true] {
        let mut process = trace.process(4712, 4711, executable).unwrap();
        let mut thread = process.thread(4712, "abc");
        thread.enter(1, program.at("main"), LIBC, 900);
        thread.finish().unwrap();
        process.killed().finish().unwrap();
        if !last {
            let [first, second] = ["4712", "kept"].map(|name| path.join("heddle.trace").join(name));
            fs::rename(first, second).unwrap();
        }
    }
    for (from, to) in [("4712", "4712.1"), ("kept", "4712")] {
        let [from, to] = [from, to].map(|name| path.join("heddle.trace").join(name));
        fs::rename(from, to).unwrap();
    }
    let said = contains("process    4712 (parent 4711), replaced itself by exec\n").and(contains(
        "4712 (parent 4711), image 1 (after exec), its exit was not seen (killed, ",
    ));
    heddle(path).arg("info").assert().success().stdout(said);
}

#[test]
fn info_and_recover_say_which_files_are_missing_or_damaged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let trace = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    for pid in [42, 43, 44, 45] {
        let mut process = trace.process(pid, 1, "/bin/app").unwrap();
        process.module(0x1000, 0x2000, 0x1000, None, "/bin/app");
        process.module(0x3000, 0x4000, 0x3000, None, "/lib/a");
        let mut thread = process.thread(pid, "app");
        thread.enter(10, 0x1010, 0x1500, 0x7000);
        thread.finish().unwrap();
        process.finish().unwrap();
    }
    std::fs::write(path.join("heddle.trace/43/process"), "").unwrap();
    std::fs::remove_file(path.join("heddle.trace/44/modules")).unwrap();
    // The newline behind the first line: the two are one.
    let joined = path.join("heddle.trace/45/modules");
    let text = std::fs::read_to_string(&joined).unwrap();
    std::fs::write(&joined, text.replacen('\n', "\u{b}", 1)).unwrap();
    let header = "heddle.trace/43/process is empty: nothing of this process is read";
    let modules = "heddle.trace/44/modules is missing: functions of this process have no names";
    let damaged = "heddle.trace/45/modules is damaged in 1 line, first at offset 0 (line 1 does \
                   not match its sum): some functions of this process may have no names, or wrong \
                   ones";
    heddle(path).arg("pack").assert().success();
    for trace in ["heddle.trace", "heddle.trace.packed"] {
        let [header, modules, damaged] =
            [header, modules, damaged].map(|said| said.replace("heddle.trace", trace));
        let info = heddle(path).args(["info", trace]).assert().success();
        info.stdout(contains(format!(
            "missing    {header}\nmissing    {modules}\nmissing    {damaged}\n"
        )));
        let report = heddle(path).args(["report", trace]).assert().success();
        report.stderr(contains(format!("warning: {damaged}")));
    }
    let recover = heddle(path).arg("recover").assert().success();
    let warning = contains(format!("warning: {header}"));
    recover.stderr(warning.and(contains(modules)).and(contains(damaged)));
}

#[test]
fn what_lies_in_a_file_s_place_is_not_said_to_have_held_calls() {
    let (directory, _program) = abc();
    let path = directory.path();
    let process = fs::read_dir(path.join("heddle.trace")).unwrap();
    let process = process
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_dir());
    fs::create_dir(process.unwrap().join("events-1")).unwrap();
    let report = heddle(path).arg("report").assert().success();
    let said = "events-1: at offset 0: expected a regular file; whether calls and times are missing is not known";
    report.stderr(contains(said));
    let recover = heddle(path).arg("recover").assert().success();
    recover.stderr(contains(
        "of which every command reads what can be read: heddle.trace/",
    ));
}

#[test]
fn buffers_that_recover_must_leave_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let trace = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    for pid in [42, 43] {
        let mut process = trace.process(pid, 1, "/bin/app").unwrap();
        let mut thread = process.thread(pid, "app");
        thread.mark(10, 0, "here");
        thread.in_buffer(&[1]).finish().unwrap();
        process.finish().unwrap();
    }
    let gone = |pid: u32| {
        fs::remove_file(path.join(format!("heddle.trace/{pid}/process"))).unwrap();
        heddle(path).arg("recover").assert().code(1)
    };
    let stay = |of: &str, why: &str| {
        contains(format!(
            "warning: heddle.trace: the buffers of {of} cannot be collected, and stay: {why} cannot be read (below); if there is a copy, put it there, and: heddle recover heddle.trace"
        ))
    };
    gone(42).stderr(
        stay("process 42", "its file process")
            .and(contains("warning: heddle.trace/42/process is missing")),
    );
    // What was collected of it is nobody's then, and its buffers were.
    gone(43).stderr(
        stay("process 42", "its file process")
            .and(contains("error: heddle.trace/42/process is missing")),
    );
}
