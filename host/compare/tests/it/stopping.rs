//! How `heddle compare` ends before its time: what it says, keeps, and leaves behind.

#![allow(clippy::expect_used, reason = "a test may panic")]

use crate::house::House;
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

/// A sample that has written a file into its directory and started two processes, one of which has
/// left its session. Their ids and the directory's name are in files of these names.
const BUSY: &str = "echo $HEDDLE_SCRATCH > scratch; : > pids; echo trace > $HEDDLE_SCRATCH/trace\n\
    sleep 987 & echo $! >> pids; setsid sh -c 'echo $$ >> pids; exec sleep 987' &\n\
    until [ $(cat pids | wc -l) = 2 ]; do sleep 0.01; done\n";

/// A comparison whose files for samples are under `tmp`.
fn compare(house: &House, arguments: &[&str]) -> Command {
    std::fs::create_dir_all(house.path("tmp")).unwrap();
    let mut command = house.compare(arguments);
    command.env("TMPDIR", house.path("tmp"));
    command
}

/// What there is under `tmp`.
fn left(house: &House) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(house.path("tmp")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn assert_gone(house: &House) {
    let pids = std::fs::read_to_string(house.path("own/pids")).unwrap();
    assert_eq!(pids.lines().count(), 2);
    for pid in pids.lines() {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(
            !state.contains("(sleep)") || state.contains(") Z "),
            "{pid} still runs: {state}"
        );
    }
    let place = std::fs::read_to_string(house.path("own/scratch")).unwrap();
    assert!(
        place.starts_with(house.path("tmp").to_str().unwrap()),
        "{place}"
    );
    assert!(!Path::new(place.trim_end()).exists());
    assert_eq!(left(house), [""; 0].map(PathBuf::from));
}

#[test]
fn an_interrupted_comparison_writes_what_it_has_and_leaves_nothing_else() {
    for (signal, code) in [("INT", 130), ("HUP", 129), ("TERM", 143)] {
        let house = House::new();
        // The third sample sends the signal that Ctrl-C or a closed terminal sends, then never
        // ends.
        house.mine(
            &format!("[ $s = 2 ] && {{ {BUSY} kill -{signal} $PPID; sleep 600; }}; line 1000\n"),
            "'fast'",
            "",
        );
        compare(&house, &["own/"]).assert().code(code).stdout(
            contains("Partial: interrupted after 2 of at least 20 samples\n")
                .and(contains("heddle compare --resume goes on from here\n"))
                .and(contains("REPORT   report.partial/index.html\n")),
        );
        assert_eq!(house.samples_in("report.partial").len(), 2);
        assert!(
            house
                .page_in("report.partial")
                .contains("Partial: interrupted")
        );
        assert!(!house.path("report").exists());
        assert_gone(&house);
    }
}

/// Both ends of a stream into the second of which nothing more can be written.
fn full_stream() -> (UnixStream, OwnedFd) {
    let (reader, mut writer) = UnixStream::pair().unwrap();
    writer.set_nonblocking(true).unwrap();
    while writer.write(&[b'x'; 4096]).is_ok() {}
    writer.set_nonblocking(false).unwrap();
    (reader, writer.into())
}

/// Starts a comparison, with this as standard output and standard error.
fn spawn(house: &House, output: Stdio, errors: Stdio) -> Child {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("heddle-compare"));
    std::fs::create_dir_all(house.path("tmp")).unwrap();
    command.arg("own/").current_dir(house.home.path());
    command
        .env("TMPDIR", house.path("tmp"))
        .env("HEDDLE_LAB", house.path("lab"));
    command.stdout(output).stderr(errors).spawn().unwrap()
}

fn send(child: &Child, signal: libc::c_int) {
    // SAFETY: plain system call; the id is the child's until it is waited for.
    unsafe { libc::kill(child.id() as libc::pid_t, signal) };
}

/// Asks every 50 ms until there is an answer.
fn wait_for<T>(mut answer: impl FnMut() -> Option<T>) -> T {
    let mut asked = (0..1200).map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        answer()
    });
    asked.find_map(|it| it).expect("within a minute")
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let house = House::new();
    house.mine(
        "[ $s = 2 ] && { kill -TERM $PPID; sleep 600; }; line 1000\n",
        "'fast'",
        "",
    );
    // It waits until the sentences are read.
    let (_reader, full) = full_stream();
    let mut child = spawn(&house, full.into(), Stdio::null());
    wait_for(|| {
        house
            .path("report.partial/index.html")
            .exists()
            .then_some(())
    });
    let status = wait_for(|| {
        send(&child, libc::SIGTERM);
        child.try_wait().unwrap()
    });
    assert_eq!(status.code(), Some(143));
    assert_eq!(house.samples_in("report.partial").len(), 2);
}

#[test]
fn interrupted_twice_it_cleans_up_and_makes_no_report() {
    let house = House::new();
    house.mine("line 1000\n", "'fast'", "");
    // It waits until the line that it begins is read.
    let (mut reader, full) = full_stream();
    let mut child = spawn(&house, Stdio::null(), full.into());
    let status = format!("/proc/{}/status", child.id());
    let catches = |text: String| {
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = u64::from_str_radix(caught.unwrap_or("0").trim(), 16).unwrap();
        caught & (1 << (libc::SIGTERM - 1)) != 0
    };
    wait_for(|| catches(std::fs::read_to_string(&status).unwrap()).then_some(()));
    send(&child, libc::SIGTERM);
    // `timeout` sends two at a time, which are one.
    std::thread::sleep(Duration::from_millis(400));
    send(&child, libc::SIGINT);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(
        text.contains("interrupted twice: no report is made; there is no sample yet"),
        "{text}"
    );
    assert_eq!(left(&house), [""; 0].map(PathBuf::from));
}

#[test]
fn what_a_stopped_or_failed_sample_wrote_is_gone_before_the_next() {
    let house = House::new();
    house.mine(
        "ls $HEDDLE_SCRATCH >> found; mkdir $HEDDLE_SCRATCH/trace-$s; echo x > $HEDDLE_SCRATCH/trace-$s/1\n\
         case $m in hangs) sleep 600;; crashes) kill -SEGV $$;; esac; line 1000\n",
        "'hangs', 'crashes', 'fast'",
        "",
    );
    compare(&house, &["own/", "-n", "6", "--timeout", "0.5"])
        .assert()
        .code(1);
    assert_eq!(house.count("status", "hung"), 2);
    let found = std::fs::read_to_string(house.path("own/found")).unwrap();
    assert_eq!(found, "");
    assert_eq!(left(&house), [""; 0].map(PathBuf::from));
}

#[test]
fn what_a_killed_comparison_left_is_removed_by_the_next() {
    let house = House::new();
    house.mine(
        &format!("{BUSY} kill -KILL $PPID; sleep 600\n"),
        "'fast'",
        "",
    );
    compare(&house, &["own/"]).assert().interrupted();
    assert_eq!(left(&house).len(), 1);
    for pid in std::fs::read_to_string(house.path("own/pids"))
        .unwrap()
        .lines()
    {
        let pid: libc::pid_t = pid.parse().unwrap();
        // SAFETY: plain system call; they sleep for longer than this test takes, so the ids are
        // still theirs.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }
    house.mine("line 1000\n", "'fast'", "");
    compare(&house, &["own/", "-n", "1"]).assert().code(0);
    assert_eq!(left(&house), [""; 0].map(PathBuf::from));
}

#[test]
fn what_was_measured_stays_where_it_cannot_go_on() {
    let house = House::new();
    house.mine("echo x > $HEDDLE_SCRATCH/trace; line 1000\n", "'fast'", "");
    std::fs::create_dir_all(house.path("tmp")).unwrap();
    let heddle = Command::cargo_bin("heddle-compare").unwrap();
    // A file of at most 8 KiB, as if the disk were full: some samples fit.
    let output = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" own/ -n 100"])
        .arg(heddle.get_program())
        .current_dir(house.home.path())
        .env("TMPDIR", house.path("tmp"))
        .env("HEDDLE_LAB", house.path("lab"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("the comparison cannot go on; the samples so far are in report.partial/results.jsonl, and `heddle compare --resume` goes on from there: cannot write"),
        "{text}"
    );
    let raw = std::fs::read_to_string(house.path("report.partial/results.jsonl")).unwrap();
    assert!(
        raw.lines().count() > 2 && raw.contains("\"experiment\":\"mine\""),
        "{raw}"
    );
    assert_eq!(left(&house), [""; 0].map(PathBuf::from));
}

#[test]
fn what_nohup_ignores_stays_ignored() {
    let house = House::new();
    house.mine("kill -HUP $PPID; line 1000\n", "'fast'", "");
    let heddle = Command::cargo_bin("heddle-compare").unwrap();
    let status = std::process::Command::new("sh")
        .args(["-c", "trap '' HUP; \"$0\" own/ -n 2"])
        .arg(heddle.get_program())
        .current_dir(house.home.path())
        .status();
    assert_eq!(status.unwrap().code(), Some(0));
    assert_eq!(house.samples().len(), 2);
}
