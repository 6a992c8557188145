//! What is written is what is read, and whatever else is in the files gives an error with file and offset.

#![allow(clippy::unwrap_used)]

use heddle_trace_file::write::{EPOCH, TraceWriter};
use heddle_trace_file::{Addr, Error, Event, EventKind, Nanos, Place, Trace, Way, stamp};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn sample(path: &Path) {
    let trace = TraceWriter::create(path, 1).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    process.module(0x1000, 0x2000, 0x1000, Some("abcd"), "/bin/app");
    process
        .thread(42, "app")
        .enter(10, 0x1010, 0x1500, 0x7000)
        .record(0, 0, 0, 0)
        .exit(30, 0x1010, 0x1500, 0x7000)
        .finish()
        .unwrap();
    process
        .thread(43, "worker")
        .stack(0x5000, 0x6000)
        .dropped(7)
        .enter(20, 0x1020, 0x9, 0x5800)
        .exit(15, 0x1020, 0x9, 0x5800)
        .finish()
        .unwrap();
    process.finish().unwrap();
}

fn enter(time: u64, function: u64, caller: u64, sp: u64) -> Event {
    Event {
        time: Nanos(time),
        way: Way::Instrumented,
        kind: EventKind::Enter {
            function: Addr(function),
            caller: Addr(caller),
            sp: Addr(sp),
        },
    }
}

fn exit(time: u64, function: u64, sp: u64) -> Event {
    Event {
        time: Nanos(time),
        way: Way::Instrumented,
        kind: EventKind::Exit {
            function: Addr(function),
            sp: Addr(sp),
        },
    }
}

#[test]
fn what_is_written_is_read() {
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    let trace = Trace::open(directory.path()).unwrap();
    let [process] = trace.processes() else {
        panic!("one process")
    };
    assert_eq!(
        (
            process.pid(),
            process.parent(),
            process.host(),
            process.ended()
        ),
        (42, 1, "loom", true)
    );
    assert_eq!(process.command(), ["/bin/app"]);
    assert_eq!(trace.epoch(), Nanos(EPOCH));
    let [main, worker] = process.threads() else {
        panic!("two threads")
    };
    assert_eq!(
        (worker.tid(), worker.name(), worker.dropped()),
        (43, "worker", 7)
    );
    assert_eq!(worker.stack(), Some(Addr(0x5000)..Addr(0x6000)));
    assert_eq!(main.count().unwrap(), (2, 1));
}

#[test]
fn threads_are_merged_by_time_and_times_of_a_thread_never_decrease() {
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    let trace = Trace::open(directory.path()).unwrap();
    let merged: Vec<_> = trace.merged().map(Result::unwrap).collect();
    let at = |thread| Place { process: 0, thread };
    assert_eq!(
        merged,
        [
            (at(0), enter(10, 0x1010, 0x1500, 0x7000)),
            (at(1), enter(20, 0x1020, 0x9, 0x5800)),
            (at(1), exit(20, 0x1020, 0x5800)),
            (at(0), exit(30, 0x1010, 0x7000)),
        ]
    );
}

#[test]
fn wrong_directories_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    assert!(matches!(
        Trace::open(&path.join("none")),
        Err(Error::Missing(_))
    ));
    assert!(matches!(Trace::open(path), Err(Error::NotOurs(_))));
    fs::write(path.join("heddle"), "heddle trace 7\n").unwrap();
    let newer = Trace::open(path).unwrap_err().to_string();
    assert!(
        newer.contains("version 7") && newer.contains("reads version 1"),
        "{newer}"
    );
    fs::write(path.join("heddle"), "heddle trace 1\n").unwrap();
    assert!(matches!(Trace::open(path), Err(Error::Empty(_))));
}

#[test]
fn a_newer_file_inside_is_refused_with_both_versions() {
    for name in ["process", "thread-1"] {
        let directory = tempfile::tempdir().unwrap();
        sample(directory.path());
        let file = directory.path().join("42").join(name);
        let mut bytes = fs::read(&file).unwrap();
        bytes[8] = 2;
        fs::write(&file, bytes).unwrap();
        let error = Trace::open(directory.path()).unwrap_err().to_string();
        assert!(
            error.contains(name) && error.contains("version 2") && error.contains("version 1"),
            "{error}"
        );
    }
}

#[test]
fn a_file_cut_anywhere_is_an_error_that_names_it() {
    for (name, cuts) in [
        ("process", vec![1, 8, 511, 4095]),
        ("thread-1", vec![1, 8, 4095]),
    ] {
        for cut in cuts {
            let directory = tempfile::tempdir().unwrap();
            sample(directory.path());
            let file = directory.path().join("42").join(name);
            fs::File::options()
                .write(true)
                .open(&file)
                .unwrap()
                .set_len(cut)
                .unwrap();
            let error = Trace::open(directory.path()).unwrap_err().to_string();
            assert!(
                error.contains(name) && error.contains(&format!("offset {cut}")),
                "cut at {cut}: {error}"
            );
        }
    }
}

#[test]
fn what_the_recorder_died_before_it_began_hides_nothing_else() {
    for content in [vec![], vec![0; 4096]] {
        let directory = tempfile::tempdir().unwrap();
        sample(directory.path());
        fs::create_dir(directory.path().join("43")).unwrap();
        fs::write(directory.path().join("43/process"), &content).unwrap();
        fs::write(directory.path().join("42/thread-2"), &content).unwrap();
        let trace = Trace::open(directory.path()).unwrap();
        assert_eq!(trace.processes().len(), 1);
        assert_eq!(trace.processes()[0].threads().len(), 1);
        assert_eq!(trace.processes()[0].missing_threads(), 0);
    }
}

#[test]
fn a_pipe_or_a_device_in_the_place_of_a_file_is_refused_at_once() {
    for name in ["heddle", "42/process", "42/modules", "42/thread-1"] {
        let directory = tempfile::tempdir().unwrap();
        sample(directory.path());
        let file = directory.path().join(name);
        for make in ["mkfifo", "ln -s /dev/zero", "mkdir"] {
            let _ = fs::remove_file(&file).or_else(|_| fs::remove_dir(&file));
            let [program, arguments @ ..] = &make.split(' ').collect::<Vec<_>>()[..] else {
                panic!("no program")
            };
            let made = std::process::Command::new(program)
                .args(arguments)
                .arg(&file)
                .status()
                .unwrap();
            assert!(made.success());
            let error = Trace::open(directory.path()).unwrap_err();
            match name {
                "heddle" => assert!(matches!(error, Error::NotOurs(_)), "{make}: {error}"),
                _ => assert!(error.to_string().contains(name), "{make}: {error}"),
            }
        }
    }
}

#[test]
fn an_endless_module_list_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    fs::File::options()
        .write(true)
        .open(directory.path().join("42/modules"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    let error = Trace::open(directory.path()).unwrap_err().to_string();
    assert!(
        error.contains("modules") && error.contains("at most"),
        "{error}"
    );
}

#[test]
fn an_impossible_number_of_records_is_an_error_at_its_offset() {
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    let file = directory.path().join("42/thread-2");
    let mut bytes = fs::read(&file).unwrap();
    bytes[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
    fs::write(&file, bytes).unwrap();
    let error = Trace::open(directory.path()).unwrap_err().to_string();
    assert!(
        error.contains("thread-2: at offset 24") && error.contains("cut short"),
        "{error}"
    );
}

#[test]
fn a_killed_process_gets_its_last_stamp_from_outside_and_an_ended_one_does_not() {
    let directory = tempfile::tempdir().unwrap();
    let trace = TraceWriter::create(directory.path(), 1).unwrap();
    trace.process(1, 0, "/ended").unwrap().finish().unwrap();
    trace
        .process(2, 0, "/killed")
        .unwrap()
        .killed()
        .finish()
        .unwrap();
    for round in 1..=3 {
        assert_eq!(stamp(directory.path()).unwrap(), 1);
        let trace = Trace::open(directory.path()).unwrap();
        let latest = |pid| {
            trace
                .processes()
                .iter()
                .find(|p| p.pid() == pid)
                .map(|p| (p.first_stamp(), p.latest_stamp()))
                .unwrap()
        };
        assert_eq!(latest(1).0, latest(1).1);
        assert!(latest(2).1.realtime > latest(2).0.realtime, "round {round}");
    }
}

fn read_everything(path: &Path) {
    if let Ok(trace) = Trace::open(path) {
        trace.merged().for_each(drop);
        for process in trace.processes() {
            process.modules().find(Addr(0x1010), Nanos(10));
        }
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(
        which in prop::sample::select(vec!["heddle", "42/process", "42/modules", "42/thread-1"]),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        at in 0usize..4300,
    ) {
        let directory = tempfile::tempdir().unwrap();
        sample(directory.path());
        let file = directory.path().join(which);
        let mut content = fs::read(&file).unwrap();
        let at = at.min(content.len());
        content.resize(content.len().max(at + bytes.len()), 0);
        content[at..at + bytes.len()].copy_from_slice(&bytes);
        fs::write(&file, content).unwrap();
        read_everything(directory.path());
    }

    #[test]
    fn arbitrary_words_behind_a_good_header_never_panic(words in prop::collection::vec(any::<[u64; 4]>(), 0..50)) {
        let directory = tempfile::tempdir().unwrap();
        let trace = TraceWriter::create(directory.path(), 1).unwrap();
        let mut process = trace.process(42, 1, "/bin/app").unwrap();
        let mut thread = process.thread(42, "app");
        for [word, function, caller, sp] in &words {
            thread.record(*word, *function, *caller, *sp);
        }
        thread.finish().unwrap();
        process.finish().unwrap();
        let trace = Trace::open(directory.path()).unwrap();
        let (events, holes) = trace.processes()[0].threads()[0].count().unwrap();
        prop_assert_eq!(events + holes, words.len() as u64);
        prop_assert_eq!(trace.merged().count() as u64, events);
    }
}
