//! What happens to a long trace while it is read.

use crate::common::heddle;
use assert_cmd::cargo::cargo_bin;
use heddle_trace_file::write::TraceWriter;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// `heddle.trace`, of some 100 MB of events.
fn written(path: &Path) {
    let trace = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    for tid in 42..142 {
        let mut thread = process.thread(tid, "app");
        for call in 0..40_000 {
            thread.enter(call * 10, 0x1000, 0x1500, 0x7000);
            thread.exit(call * 10 + 5, 0x1000, 0x1500, 0x7000);
        }
        thread.finish().unwrap();
    }
    process.finish().unwrap();
}

fn count(path: &Path) -> usize {
    path.read_dir().unwrap().count()
}

#[test]
fn nothing_is_left_of_what_a_signal_ends() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    written(path);
    heddle(path).arg("pack").assert().success();
    let scratch = path.join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    // A shell's job in the background ignores the first of these signals, and so do its children.
    let heeded = || {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    let begin = || {
        let mut command = Command::new(cargo_bin("heddle"));
        unsafe { command.pre_exec(heeded) };
        let child = command
            .args(["info", "--max-size", "1G", "heddle.trace.packed"])
            .current_dir(path)
            .env("TMPDIR", &scratch)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while count(&scratch) == 0 {
            assert!(begun.elapsed() < Duration::from_secs(60));
        }
        child
    };
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let mut child = begin();
        unsafe { libc::kill(child.id() as i32, signal) };
        assert_eq!(child.wait().unwrap().signal(), Some(signal));
        assert_eq!(count(&scratch), 0);
    }
    // What even this leaves, the next one removes.
    let mut child = begin();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(count(&scratch), 1);
    heddle(path)
        .args(["info", "--max-size", "1G", "heddle.trace.packed"])
        .env("TMPDIR", &scratch)
        .assert()
        .success();
    assert_eq!(count(&scratch), 0);
}

#[test]
fn a_file_that_is_cut_short_while_it_is_read_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    written(path);
    let mut child = Command::new(cargo_bin("heddle"))
        .args(["replay", "heddle.trace"])
        .current_dir(path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It has begun to print, and waits until that is read.
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 100]).unwrap();
    let events = path.join("heddle.trace/42/events");
    std::fs::File::options()
        .write(true)
        .open(events)
        .unwrap()
        .set_len(1 << 20)
        .unwrap();
    std::io::copy(&mut out, &mut std::io::sink()).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    let [file, offset] =
        ["heddle.trace/42/events: at offset ", ": cut short"].map(|text| told.find(text));
    assert!(file.is_some() && offset > file, "{told}");
}

#[test]
fn too_few_descriptors_are_an_error_that_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let trace = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    let mut thread = process.thread(42, "app");
    thread.enter(10, 0x1000, 0x1500, 0x7000);
    thread.exit(20, 0x1000, 0x1500, 0x7000);
    thread.finish().unwrap();
    process.finish().unwrap();
    heddle(path).arg("pack").assert().success();
    let scratch = path.join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let mut failures = 0;
    // Each stage on the way needs one more.
    for most in 4..30 {
        let shell = format!("ulimit -n {most}; exec \"$0\" info heddle.trace.packed");
        let mut child = Command::new("sh")
            .args(["-c", &shell])
            .arg(cargo_bin("heddle"))
            .current_dir(path)
            .env("TMPDIR", &scratch)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        let code = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status.code();
            }
            // A directory that could not be locked was made again and again.
            let made = count(&scratch);
            assert!(made < 10, "{made} directories with {most} descriptors");
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(5));
        };
        let mut said = String::new();
        let _ = child.stderr.take().unwrap().read_to_string(&mut said);
        assert_eq!(count(&scratch), 0, "with {most} descriptors: {said}");
        if code != Some(0) {
            failures += 1;
            // The loader says it by its number.
            let reasons = ["open files", "Error 24"];
            let told = reasons.iter().any(|reason| said.contains(reason));
            assert!(told, "with {most}: {code:?} {said}");
        }
    }
    assert!((1..26).contains(&failures), "{failures} failed");
}

#[test]
fn a_pack_that_a_signal_ends_is_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    written(path);
    let mut child = Command::new(cargo_bin("heddle"))
        .arg("pack")
        .current_dir(path)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let files = format!("/proc/{}/fd", child.id());
    let is_begun = || {
        let open = std::fs::read_dir(&files).into_iter().flatten().flatten();
        let mut targets = open.filter_map(|file| std::fs::read_link(file.path()).ok());
        targets.any(|target| {
            target.starts_with(path) && !target.starts_with(path.join("heddle.trace"))
        })
    };
    let begun = Instant::now();
    while !is_begun() {
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
    unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGTERM));
    assert_eq!(count(path), 1);
    heddle(path).arg("pack").assert().success();
    assert_eq!(count(path), 2);
}

#[test]
fn a_link_where_a_result_would_go_unasked_is_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    TraceWriter::create(&path.join("heddle.trace"))
        .unwrap()
        .process(42, 1, "/bin/app")
        .unwrap()
        .finish()
        .unwrap();
    let kept = path.join("kept");
    std::fs::write(&kept, "kept").unwrap();
    for (verb, name) in [
        ("view", "heddle.trace.html"),
        ("export", "heddle.trace.perfetto-trace"),
        ("pack", "heddle.trace.packed"),
    ] {
        std::os::unix::fs::symlink(&kept, path.join(name)).unwrap();
        let refused = heddle(path).arg(verb).assert().code(1);
        let said = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(
            said.contains(name) && said.contains("with -o FILE"),
            "{said}"
        );
        assert_eq!(std::fs::read(&kept).unwrap(), b"kept");
    }
    // A name that was typed leads where it leads.
    heddle(path)
        .args(["view", "-o", "heddle.trace.html"])
        .assert()
        .success();
    assert_ne!(std::fs::read(&kept).unwrap(), b"kept");
}
