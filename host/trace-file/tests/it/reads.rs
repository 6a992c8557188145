//! What is written is what is read, and whatever else is in the files gives an error with file and
//! offset.

use heddle_trace_file::write::{EPOCH, ThreadWriter, TraceWriter};
use heddle_trace_file::{
    Addr, Callee, Damages, Error, Event, EventKind, Nanos, Place, Thread, Trace, Way, Why, recover,
};
use std::fs;
use std::path::Path;

/// In `buffer-2`, as the second thread writes it.
const BUFFERED: u64 = 4096;

fn sample(path: &Path) {
    let trace = TraceWriter::create(path).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    process.module(0x1000, 0x2000, 0x1000, Some("abcd"), "/bin/app");
    process
        .thread(42, "app")
        .enter(10, 0x1010, 0x1500, 0x7000)
        .exit(30, 0x1010, 0x1500, 0x7000)
        .finish()
        .unwrap();
    process
        .thread(43, "worker")
        .stack(0x5000, 0x6000)
        .dropped(7)
        .wide(true)
        .enter(20, 0x1020, 0x9, 0x5800)
        .exit(15, 0x1020, 0x9, 0x5800)
        .finish()
        .unwrap();
    process.finish().unwrap();
}

fn event(time: u64, kind: EventKind<'static>) -> Event<'static> {
    Event {
        time: Nanos(time),
        way: Way::Instrumented,
        kind,
    }
}

fn enter(time: u64, function: u64, caller: u64, sp: u64) -> Event<'static> {
    let kind = EventKind::Enter {
        function: Addr(function),
        caller: Addr(caller),
        sp: Addr(sp),
        frame: None,
    };
    event(time, kind)
}

fn exit(time: u64, function: Callee, sp: u64) -> Event<'static> {
    let sp = Addr(sp);
    event(time, EventKind::Exit { function, sp })
}

/// What is said of a trace that is damaged, and the bytes of its events that are passed over.
fn damage(path: &Path) -> (String, u64) {
    let trace = match Trace::open(path) {
        Ok(trace) => trace,
        Err(error) => return (error.to_string(), 0),
    };
    let mut all = Damages::default();
    for process in trace.processes() {
        all += process.damages();
        for thread in process.threads() {
            all += &thread.remarks().unwrap().damages;
        }
    }
    (all.first.unwrap().to_string(), all.bytes)
}

/// A process of one thread.
fn written(path: &Path, write: impl FnOnce(&mut ThreadWriter)) -> Trace {
    let trace = TraceWriter::create(path).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    process.module(
        0x5555_0000_1000,
        0x5555_0000_9000,
        0x5555_0000_0000,
        None,
        "/bin/app",
    );
    process.module(0x7fff_f000_0000, 0x7fff_f010_0000, 0, None, "/lib/libc.so");
    let mut thread = process.thread(42, "app");
    write(&mut thread);
    thread.finish().unwrap();
    process.finish().unwrap();
    Trace::open(path).unwrap()
}

/// A thread's enters and exits, and how many were dropped.
fn counts(thread: &Thread) -> (u64, u64) {
    let (calls, remarks) = thread.count().unwrap();
    (calls, remarks.dropped)
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
    assert_eq!([counts(main), counts(worker)], [(2, 0), (2, 7)]);
}

#[test]
fn threads_are_merged_by_time_and_times_of_a_thread_never_decrease() {
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    let trace = Trace::open(directory.path()).unwrap();
    let mut merged = Vec::new();
    trace
        .in_order(|place, event| {
            merged.push((place, *event));
            true
        })
        .unwrap();
    let at = |thread| Place { process: 0, thread };
    assert_eq!(
        merged,
        [
            (at(0), enter(10, 0x1010, 0x1500, 0x7000)),
            (at(1), enter(20, 0x1020, 0x9, 0x5800)),
            (at(1), exit(20, Callee::Known(Addr(0x1020)), 0x5800)),
            (at(0), exit(30, Callee::Bits(0x101), 0x7000)),
        ]
    );
}

#[test]
fn every_kind_of_event_is_read_over_runs_and_bases_and_a_long_time() {
    let directory = tempfile::tempdir().unwrap();
    let (f, g, libc) = (0x5555_0000_1230, 0x5555_0000_2345, 0x7fff_f000_0abc);
    let hour = 3_600_000_000_000;
    let trace = written(directory.path(), |thread| {
        thread
            .enter(10, f, libc, 0x7fff_ffff_0000)
            .mark(11, 0, "a mark that is longer than a word")
            .entry(12, g, f + 5, 0x7fff_fffe_fff8)
            .next_run()
            .leave(hour, 0x7fff_fffe_fff8)
            .gap(hour + 1, Why::Dropped, Some(3))
            .gap(hour + 2, Why::Paused, None)
            .strand_switch(hour + 3, 9)
            .strand_name(hour + 4, 9, "nine")
            .strand_waits(hour + 5, 9, "rain")
            .strand_made(hour + 6, 10)
            .strand_end(hour + 6, 9)
            .strand_switch(hour + 6, 0)
            .frame_made(hour + 6, 0x6000_0000_0010, 0x7fff_fffe_ffe0)
            .frame_freed(hour + 7, 0x6000_0000_0010, g)
            .frame_left(hour + 7, 0x6000_0000_0040, 4, g)
            .stack_made(hour + 7, 0x5000_0000..0x5000_8000, 0x7fff_fffe_ffe0)
            .jump(hour + 7, 0x7fff_ffcf_0010, true)
            .landing(hour + 7, 0x7fff_ffce_f008, 0x7fff_ffcf_0010)
            .long(4000, 0, &[1, 2, 3])
            // Another stack, 2 MiB below.
            .enter(hour + 8, f, libc, 0x7fff_ffcf_0008)
            .next_run()
            .wide(true)
            .exit(hour + 9, f, 0, 0x7fff_ffcf_0000)
            .leave(hour + 10, 0x7fff_fffe_fff8);
    });
    let thread = &trace.processes()[0].threads()[0];
    let events: Vec<_> = thread.events().map(Result::unwrap).collect();
    let by_entry = |mut event: Event<'static>| {
        event.way = Way::Entry;
        event
    };
    let gap = |time, why, missing| event(time, EventKind::Gap { why, missing });
    let left = events.iter().find_map(|event| match event.kind {
        EventKind::FrameLeft { frame, .. } => Some(frame),
        _ => None,
    });
    let left = left.unwrap();
    assert_eq!(left.to_string(), "frame 0x600000000040, resume 4");
    let expected = [
        enter(10, f, libc, 0x7fff_ffff_0000),
        event(
            11,
            EventKind::Mark {
                strand: None,
                text: b"a mark that is longer than a word",
            },
        ),
        by_entry(enter(12, g, f + 5, 0x7fff_fffe_fff8)),
        by_entry(exit(hour, Callee::Unknown, 0x7fff_fffe_fff8)),
        gap(hour + 1, Why::Dropped, Some(3)),
        gap(hour + 2, Why::Paused, None),
        event(hour + 3, EventKind::StrandSwitch { to: Some(9) }),
        event(
            hour + 4,
            EventKind::StrandName {
                strand: 9,
                name: b"nine",
            },
        ),
        event(
            hour + 5,
            EventKind::StrandWaits {
                strand: 9,
                reason: b"rain",
            },
        ),
        event(hour + 6, EventKind::StrandMade { strand: 10 }),
        event(hour + 6, EventKind::StrandEnd { strand: 9 }),
        event(hour + 6, EventKind::StrandSwitch { to: None }),
        event(
            hour + 6,
            EventKind::FrameMade {
                frame: Addr(0x6000_0000_0010),
                sp: 0xfffe_ffe0,
            },
        ),
        event(
            hour + 7,
            EventKind::FrameFreed {
                frame: Addr(0x6000_0000_0010),
                destroyer: Addr(g),
            },
        ),
        event(
            hour + 7,
            EventKind::FrameLeft {
                frame: left,
                destroyer: Addr(g),
            },
        ),
        event(
            hour + 7,
            EventKind::StackMade {
                low: Addr(0x5000_0000),
                high: Addr(0x5000_8000),
                by: Addr(0x7fff_fffe_ffe0),
            },
        ),
        event(
            hour + 7,
            EventKind::Jump {
                to: Addr(0x7fff_ffcf_0010),
                lowest: Addr(0),
                downwards: true,
            },
        ),
        event(
            hour + 7,
            EventKind::Jump {
                to: Addr(0x7fff_ffcf_000f),
                lowest: Addr(0x7fff_ffce_f00f),
                downwards: false,
            },
        ),
        enter(hour + 8, f, libc, 0x7fff_ffcf_0008),
        exit(hour + 9, Callee::Known(Addr(f)), 0x7fff_ffcf_0000),
        by_entry(exit(hour + 10, Callee::Unknown, 0x7fff_fffe_fff8)),
    ];
    assert_eq!(events, expected);
    assert_eq!(counts(thread), (6, 3));
    let remarks = thread.remarks().unwrap();
    assert_eq!((remarks.dropped, remarks.pauses), (3, 1));
    let by_runs: Vec<_> = thread
        .runs()
        .flat_map(|run| run.events().map(Result::unwrap))
        .collect();
    assert_eq!(by_runs, expected);
}

#[test]
fn a_captured_frame_is_that_of_the_next_enter_of_its_function() {
    let directory = tempfile::tempdir().unwrap();
    let (f, g) = (0x1010, 0x1020);
    let trace = written(directory.path(), |thread| {
        thread
            .capture(f, 0x6000_0000_0010, Some(2))
            // A handler comes between, and its own coroutine.
            .enter(10, 0x1030, 0x1500, 0x6000)
            .capture(g, 0x6000_0000_0020, None)
            .entry(11, g, 0x1035, 0x5ff8)
            .leave(12, 0x5ff8)
            .exit(13, 0x1030, 0x1500, 0x6000)
            .enter(14, f, 0x1500, 0x7000)
            .enter(15, f, 0x1500, 0x6f00)
            // An enter that was left out, and one in the next run.
            .capture(g, 0x6000_0000_0030, Some(4))
            .capture(f, 0x7fff_ffff_fff0, Some(0))
            .next_run()
            .wide(true)
            .enter(16, f, 0x1500, 0x6e00)
            .enter(17, g, 0x1500, 0x6d00)
            .wide(false)
            .capture(f, 0, Some(0))
            .untimed()
            .enter(0, f, 0x1500, 0x6c00)
            .capture(f, 0x6000_0000_0040, Some(7))
            .gap(18, Why::Paused, None);
    });
    let thread = &trace.processes()[0].threads()[0];
    let frames = |events: &mut dyn Iterator<Item = Result<Event<'_>, Error>>| -> Vec<_> {
        let mut frames = Vec::new();
        for event in events {
            if let EventKind::Enter { frame, .. } = event.unwrap().kind {
                let parts = frame.map(|frame| (frame.address().0, frame.resume_index()));
                frames.push(parts);
            }
        }
        frames
    };
    let expected = [
        None,
        Some((0x6000_0000_0020, None)),
        Some((0x6000_0000_0010, Some(2))),
        None,
        Some((0x7fff_ffff_fff0, Some(0))),
        None,
        None,
    ];
    assert_eq!(frames(&mut thread.events()), expected);
    let mut by_runs = thread.runs().flat_map(|run| run.events());
    assert_eq!(frames(&mut by_runs), expected);
    assert_eq!(thread.count().unwrap().0, 9);
}

#[test]
fn times_that_were_not_read_lie_between_those_that_were() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread| {
        let sp = 0x7000;
        thread.enter(1000, 0x10, 0, sp);
        for _ in 0..3 {
            thread.untimed().enter(0, 0x10, 0, sp);
        }
        // 40 a record so far; then one record, a sleep, and one before the end.
        thread
            .exit(1160, 0x10, 0, sp)
            .untimed()
            .exit(0, 0x10, 0, sp);
        thread.preempted().exit(9000, 0x10, 0, sp).next_run();
        thread.untimed().exit(0, 0x10, 0, sp);
    });
    let thread = &trace.processes()[0].threads()[0];
    let times: Vec<u64> = thread.events().map(|event| event.unwrap().time.0).collect();
    assert_eq!(times, [1000, 1040, 1080, 1120, 1160, 1200, 9000, 9000]);
    let uncertainty = thread.remarks().unwrap().uncertainty;
    // The true times: 120 at most from 1040, and 7800 from 1200; nothing bounds the last.
    assert_eq!(
        (uncertainty.events(), uncertainty.largest()),
        (4, Nanos(7800))
    );
    let half = uncertainty.quantile(0.5).0;
    assert!((120..=135).contains(&half), "{half}");
    let exact = written(directory.path(), |thread| {
        thread.enter(1, 0x10, 0, 0x7000);
    });
    let remarks = exact.processes()[0].threads()[0].remarks().unwrap();
    assert_eq!(remarks.uncertainty.largest(), Nanos(0));
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
    for (version, what) in [(7, "a newer heddle"), (1, "record the program again")] {
        fs::write(path.join("heddle"), format!("heddle trace {version}\n")).unwrap();
        let error = Trace::open(path).unwrap_err().to_string();
        let both = [
            format!("version {version}"),
            "reads versions 2 to 5".to_owned(),
        ];
        assert!(
            both.iter().all(|text| error.contains(text)) && error.contains(what),
            "{error}"
        );
    }
    for version in [2, 3, 4, 5] {
        fs::write(path.join("heddle"), format!("heddle trace {version}\n")).unwrap();
        assert!(matches!(Trace::open(path), Err(Error::Empty(_))));
    }
}

#[test]
fn a_newer_file_inside_is_passed_over_with_both_versions() {
    for name in ["process", "buffer-2"] {
        let directory = tempfile::tempdir().unwrap();
        sample(directory.path());
        let file = directory.path().join("42").join(name);
        let mut bytes = fs::read(&file).unwrap();
        bytes[8] = 6;
        fs::write(&file, bytes).unwrap();
        let error = match Trace::open(directory.path()) {
            Ok(trace) => said_of(&trace).concat(),
            Err(error) => error.to_string(),
        };
        assert!(
            error.contains(name)
                && error.contains("version 6")
                && error.contains("versions 2 to 5"),
            "{error}"
        );
    }
}

#[test]
fn modules_of_earlier_versions_have_no_sums_or_sums_of_their_own_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    sample(path);
    recover(path).unwrap();
    let modules = Trace::open(path).unwrap().processes()[0].modules().clone();
    assert_eq!(modules.iter().count(), 1);
    let sums = "01234567 89abcdef ".len();
    let text = fs::read(path.join("42/modules")).unwrap();
    let text = &text[sums..];
    let header = path.join("42/process");
    let bytes = fs::read(&header).unwrap();
    for version in [2, 3, 4] {
        let sum = match version {
            4 => format!("{:08x} ", crc32fast::hash(text.trim_ascii_end())),
            _ => String::new(),
        };
        let line = [sum.as_bytes(), text].concat();
        let mut bytes = bytes.clone();
        bytes[204] = line.len() as u8;
        bytes[8] = version;
        fs::write(path.join("42/modules"), line).unwrap();
        fs::write(path.join("heddle"), format!("heddle trace {version}\n")).unwrap();
        fs::write(&header, &bytes).unwrap();
        let trace = Trace::open(path).unwrap();
        let packed = path.join("packed");
        heddle_trace_file::pack(&trace, &[], &packed).unwrap();
        for trace in [trace, Trace::open(&packed).unwrap()] {
            assert_eq!(trace.processes()[0].modules(), &modules);
            assert_eq!(trace.lacking().count(), 0);
        }
        fs::remove_file(&packed).unwrap();
    }
}

#[test]
fn a_version_that_cannot_be_is_damage() {
    for name in ["42/process", "42/buffer-2", "heddle"] {
        let directory = tempfile::tempdir().unwrap();
        sample(directory.path());
        let file = directory.path().join(name);
        if name == "heddle" {
            fs::write(&file, "heddle trace 2332033027\n").unwrap();
        } else {
            let mut bytes = fs::read(&file).unwrap();
            bytes[8..12].copy_from_slice(&2_332_033_027u32.to_le_bytes());
            fs::write(&file, bytes).unwrap();
        }
        let error = match Trace::open(directory.path()) {
            Ok(trace) => said_of(&trace).concat(),
            Err(error) => {
                assert!(matches!(error, Error::Damaged { .. }), "{error}");
                error.to_string()
            }
        };
        assert!(error.contains("version 2332033027 cannot be"), "{error}");
    }
}

#[test]
fn a_file_cut_anywhere_is_named() {
    // A block's header, a run's record, a base is not needed for these: an enter and an exit.
    let events = 64 + 128 + 16 + 8;
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    for (name, end) in [
        ("process", 4096),
        ("buffer-2", BUFFERED + 201),
        ("events", events),
    ] {
        let file = directory.path().join("42").join(name);
        let whole = fs::read(&file).unwrap();
        for cut in 1..end {
            fs::write(&file, &whole[..cut as usize]).unwrap();
            let (error, _) = damage(directory.path());
            let offset = [
                format!("offset {cut}"),
                "offset 0".to_owned(),
                format!("offset {BUFFERED}"),
            ];
            assert!(
                error.contains(name) && offset.iter().any(|offset| error.contains(offset)),
                "cut at {cut}: {error}"
            );
        }
        fs::write(&file, whole).unwrap();
    }
}

#[test]
fn what_the_recorder_died_before_it_began_hides_nothing_else() {
    for content in [vec![], vec![0; 4096]] {
        let directory = tempfile::tempdir().unwrap();
        sample(directory.path());
        fs::create_dir(directory.path().join("43")).unwrap();
        fs::write(directory.path().join("43/process"), &content).unwrap();
        fs::write(directory.path().join("42/buffer-3"), &content).unwrap();
        let trace = Trace::open(directory.path()).unwrap();
        assert_eq!(trace.processes().len(), 1);
        assert_eq!(trace.processes()[0].threads().len(), 2);
        assert_eq!(trace.processes()[0].missing_threads(), 0);
        recover(directory.path()).unwrap();
        assert!(!directory.path().join("42/buffer-3").exists());
    }
}

#[test]
fn what_is_gone_is_missed() {
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    fs::remove_file(directory.path().join("42/buffer-2")).unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    assert_eq!(trace.processes()[0].missing_threads(), 1);
    let trace = written(&directory.path().join("runs"), |thread| {
        thread.enter(1, 0x10, 0, 0x7000).next_run();
        thread.enter(2, 0x10, 0, 0x7000).next_run();
        thread.enter(3, 0x10, 0, 0x7000);
    });
    assert_eq!(trace.processes()[0].missing_runs(), 0);
    let events = directory.path().join("runs/42/events");
    let mut bytes = fs::read(&events).unwrap();
    bytes[4096..8192].fill(0);
    fs::write(&events, bytes).unwrap();
    let trace = Trace::open(&directory.path().join("runs")).unwrap();
    assert_eq!(trace.processes()[0].missing_runs(), 1);
    assert_eq!(counts(&trace.processes()[0].threads()[0]), (2, 0));
}

#[test]
fn a_file_that_is_missing_or_cut_is_told_of() {
    let said = |change: &dyn Fn(&Path), what: &str| {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        sample(path);
        let process = path.join("42/process");
        let mut header = fs::read(&process).unwrap();
        // The recorder saw its end.
        header[12] = 1;
        fs::write(&process, &header).unwrap();
        // A second process, since a trace of none is an error.
        let status = std::process::Command::new("cp")
            .args(["-r", "42", "43"])
            .current_dir(path)
            .status();
        assert!(status.unwrap().success());
        header[16..20].copy_from_slice(&43_u32.to_le_bytes());
        fs::write(path.join("43/process"), header).unwrap();
        assert_eq!(Trace::open(path).unwrap().lacking().count(), 0);
        change(&path.join("43"));
        let trace = Trace::open(path).unwrap();
        let lacks: Vec<_> = trace.lacking().map(ToString::to_string).collect();
        let [lack] = &lacks[..] else {
            panic!("{lacks:?}")
        };
        assert!(lack.contains(what), "{lack}");
    };
    let remove = |name: &'static str| move |path: &Path| fs::remove_file(path.join(name)).unwrap();
    said(&remove("process"), "43/process is missing");
    let empty = |path: &Path| fs::write(path.join("process"), "").unwrap();
    said(&empty, "43/process is empty");
    said(&remove("modules"), "43/modules is missing");
    let cut = |path: &Path| {
        let text = fs::read(path.join("modules")).unwrap();
        fs::write(path.join("modules"), &text[..text.len() - 3]).unwrap();
    };
    said(&cut, "43/modules ends inside a line");

    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    let process = directory.path().join("42/process");
    for change in ["is empty", "is missing"] {
        match change {
            "is empty" => fs::write(&process, "").unwrap(),
            _ => fs::remove_file(&process).unwrap(),
        }
        let error = Trace::open(directory.path()).unwrap_err().to_string();
        assert!(
            error.contains("42/process") && error.contains(change),
            "{error}"
        );
    }
}

#[test]
fn nothing_is_missed_of_a_process_that_died_before_its_first_event() {
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    let died = directory.path().join("43");
    fs::create_dir(&died).unwrap();
    fs::write(died.join("process"), [0; 4096]).unwrap();
    fs::write(died.join("modules"), "").unwrap();
    fs::write(died.join("buffer-1"), [0; 4096]).unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    assert_eq!(trace.lacking().count(), 0);
    assert_eq!(trace.processes().len(), 1);
}

/// What is said to be missing of a trace.
fn said_of(trace: &Trace) -> Vec<String> {
    let lacks = trace.lacking().map(ToString::to_string);
    let processes = trace.processes().iter();
    let damages = processes.filter_map(|it| it.damages().first.as_ref());
    lacks.chain(damages.map(ToString::to_string)).collect()
}

#[test]
fn a_pipe_or_a_device_in_the_place_of_a_file_costs_that_file_alone() {
    for name in [
        "heddle",
        "filters",
        "42/process",
        "42/modules",
        "42/events",
        "42/buffer-2",
    ] {
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
            let said = match Trace::open(directory.path()) {
                Err(error) if name == "heddle" => {
                    assert!(matches!(error, Error::NotOurs(_)), "{make}: {error}");
                    continue;
                }
                Err(error) if name == "42/process" => error.to_string(),
                opened => said_of(&opened.unwrap()).concat(),
            };
            assert!(said.contains(name), "{make}: {said}");
        }
    }
}

#[test]
fn a_large_hole_costs_nothing_and_an_endless_module_list_is_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    let grow = |name: &str| {
        let file = directory.path().join("42").join(name);
        let file = fs::File::options().write(true).open(file).unwrap();
        file.set_len(1 << 40).unwrap();
    };
    grow("events");
    let trace = Trace::open(directory.path()).unwrap();
    assert_eq!(counts(&trace.processes()[0].threads()[0]), (2, 0));
    grow("modules");
    let said = said_of(&Trace::open(directory.path()).unwrap()).concat();
    assert!(
        said.contains("modules") && said.contains("at most"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_is_told_of_at_its_offset() {
    // The offset in the file, the bytes that are put there, and the message.
    let run = 64;
    let events: [(usize, &[u8], &str); 11] = [
        (0, b"HEDLBLOC", "offset 0: expected a block's magic number"),
        (8, &[0, 1, 0, 0], "offset 8: a block of 256 bytes"),
        (12, &[211], "offset 12: 211 bytes used"),
        (12, &[0; 4], "offset 12: 0 bytes used"),
        (run, &[9], "offset 64: expected a run's record"),
        (run + 4, &[64], "offset 68: a run of 64 bytes"),
        (run + 4, &[0, 0, 1, 0], "offset 68: a run of 65536 bytes"),
        (run + 8, &[0; 4], "offset 72: thread 0"),
        (run + 40, &[1], "offset 104: a stack from 0x1 down to 0x0"),
        (run + 128, &[0; 8], "offset 192: expected a record"),
        (
            run + 128,
            &[0x10, 0, 1, 0],
            "offset 192: a run inside a run",
        ),
    ];
    let buffer: [(usize, &[u8], &str); 5] = [
        (0, b"HEDLTHRD", "offset 0: expected the magic number"),
        (12, &[0; 4], "offset 12: 0 slots"),
        (12, &[129], "offset 12: 129 slots"),
        (2048, &[5], "offset 2048: slot 0 in state 5"),
        (
            2048,
            &[2, 0, 0, 0, 255, 255, 255, 255],
            "offset 4108: 4294967295 bytes used",
        ),
    ];
    let all = events.map(|change| ("events", change));
    for (name, (at, bytes, said)) in all
        .into_iter()
        .chain(buffer.map(|change| ("buffer-2", change)))
    {
        let directory = tempfile::tempdir().unwrap();
        sample(directory.path());
        let file = directory.path().join("42").join(name);
        let mut content = fs::read(&file).unwrap();
        content[at..at + bytes.len()].copy_from_slice(bytes);
        fs::write(&file, content).unwrap();
        let (error, _) = damage(directory.path());
        assert!(error.contains(name) && error.contains(said), "{error}");
    }
}

/// Three blocks of a thread, of 100 calls each, and one of another thread.
fn of_blocks(path: &Path) -> std::path::PathBuf {
    let trace = TraceWriter::create(path).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    process.module(0x1000, 0x2000, 0x1000, None, "/bin/app");
    let mut other = process.thread(43, "worker");
    other.enter(5, 0x1020, 0x1500, 0x9000).finish().unwrap();
    let mut thread = process.thread(42, "app");
    let mut time = 10;
    for block in 0..3 {
        if block > 0 {
            thread.next_run();
        }
        for _ in 0..100 {
            thread
                .enter(time, 0x1010, 0x1500, 0x7000)
                .exit(time + 5, 0x1010, 0x1500, 0x7000);
            time += 10;
        }
    }
    thread.finish().unwrap();
    process.finish().unwrap();
    path.join("42/events")
}

#[test]
fn what_is_whole_is_read_around_what_is_damaged() {
    const BLOCK: usize = 4 << 10;
    // A block has a header, its run's record, and the records.
    let size = 64 + 128 + 100 * 24;
    let zeroes: &[u8] = &[0; 8];
    // Where in the file, what is put there; which calls are left of the 300, and how many bytes are
    // not read.
    let cases: [(usize, &[u8], u64, u64); 6] = [
        (2 * BLOCK, b"HEDLXXXX", 200, BLOCK as u64),
        (2 * BLOCK + 12, &[1], 200, BLOCK as u64),
        (2 * BLOCK + 64, zeroes, 200, size - 64),
        (
            2 * BLOCK + 64 + 128 + 50 * 24,
            zeroes,
            250,
            size - 64 - 128 - 50 * 24,
        ),
        // The number of the block before.
        (2 * BLOCK + 16, &[1], 200, size),
        (BLOCK + 64 + 128, zeroes, 200, size - 64 - 128),
    ];
    for (at, bytes, calls, passed) in cases {
        let directory = tempfile::tempdir().unwrap();
        let events = of_blocks(directory.path());
        let mut content = fs::read(&events).unwrap();
        content[at..at + bytes.len()].copy_from_slice(bytes);
        fs::write(&events, content).unwrap();
        let (said, missing) = damage(directory.path());
        assert!(said.contains("42/events: at offset"), "{said}");
        assert_eq!(missing, passed, "{said}");
        let trace = Trace::open(directory.path()).unwrap();
        let threads = trace.processes()[0].threads();
        assert_eq!(threads[0].count().unwrap().0, 1, "{said}");
        assert_eq!(threads[1].count().unwrap().0, 2 * calls, "{said}");
        assert_eq!(threads[1].events().count() as u64, 2 * calls, "{said}");
    }
}

#[test]
fn what_a_cut_has_left_is_read() {
    let cut = 2 * 4096 + 64 + 128 + 30 * 24 + 4;
    let directory = tempfile::tempdir().unwrap();
    let events = of_blocks(directory.path());
    let file = fs::File::options().write(true).open(&events).unwrap();
    file.set_len(cut).unwrap();
    let (said, missing) = damage(directory.path());
    assert!(said.contains(&format!("offset {cut}")), "{said}");
    // 70 calls of the second block; the third is not known of.
    assert_eq!(missing, 70 * 24);
    let trace = Trace::open(directory.path()).unwrap();
    let threads = trace.processes()[0].threads();
    assert_eq!(threads[1].count().unwrap().0, 2 * 130);
}
