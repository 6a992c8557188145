//! What `heddle record --sync` writes is read, and what it does not write is passed over.

use heddle_trace_file::write::{ASKED_WAITS, TABLES_LEFT_OUT, TraceWriter};
use heddle_trace_file::{Addr, EventKind, Nanos, Object, ObjectKind, Objects, Trace, Wait, pack};
use std::fs;
use std::path::Path;

const RELEASED: u64 = 1 << 31;
const MUTEX: u32 = 1;
const CONDITION: u32 = 3;
const UNKNOWN: u32 = 77;

fn sample(path: &Path) {
    let trace = TraceWriter::create(path).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    process.module(0x1_0000_1000, 0x1_0000_2000, 0, None, "/bin/app");
    let site = 0x1234 << 32;
    process
        .objects(
            &[
                [
                    0x5000,
                    1 | 1 << 8 | site,
                    7,
                    2,
                    43 | site,
                    0x11 | 0x22 << 32,
                    0x33,
                    0x55,
                ],
                [0; 8],
                [0x6000, UNKNOWN.into(), 1, 1, 0, 0, 0, 0],
                [0x5001, 3, 4, 5, 43 | RELEASED, 6, 1, 0],
                [0x7000, 4, 3, 1, 0, 2, 1, 0],
            ],
            9,
        )
        .unwrap();
    process
        .thread(42, "app")
        .object_met(10, (MUTEX, 0x5000, 1), 0x1_0000_1100)
        .object_met(11, (UNKNOWN, 0x6000, 3), 0x1_0000_1100)
        .wait(20, (MUTEX | 1 << 8, 0x5000, 1), 0x1_0000_1500, (43, 0x1600))
        .wait_ended(30, 110, 43)
        .by(0x7fff_1230)
        .wait(40, (CONDITION, 0x7000, 0), 0x1_0000_1500, (0, 0))
        .wait_ended(50, 0, 0)
        .wake(60, MUTEX, 1, 0x1_0000_1700)
        .finish()
        .unwrap();
    process.finish().unwrap();
}

fn waits<'a>(events: &[EventKind<'a>]) -> Vec<Wait<'a>> {
    let waits = events.iter().filter_map(|event| match event {
        EventKind::Wait(wait) => Some(*wait),
        _ => None,
    });
    waits.collect()
}

#[test]
fn waits_and_wakes_are_events_with_all_that_they_say() {
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    let trace = Trace::open(directory.path()).unwrap();
    let events = trace.processes()[0].threads()[0].events();
    let events: Vec<_> = events.map(|event| event.unwrap().kind).collect();
    assert_eq!(events.len(), 6, "{events:?}");
    let met = EventKind::ObjectMet {
        address: Addr(0x5000),
        number: 1,
        kind: ObjectKind::Mutex,
        made: false,
        site: Addr(0x1_0000_1100),
    };
    assert_eq!(events[0], met);
    let ended = |error, from| EventKind::WaitEnded { error, from };
    assert_eq!(
        [events[2], events[4]],
        [ended(110, Some(43)), ended(0, None)]
    );
    let wake = EventKind::Wake {
        number: 1,
        all: false,
        site: Addr(0x1_0000_1700),
        by: Some(Addr(0x7fff_1230)),
    };
    assert_eq!(events[5], wake);
    let [mutex, condition] = waits(&events)[..] else {
        panic!("{events:?}");
    };
    assert_eq!(
        (mutex.kind, mutex.timed, mutex.writes),
        (ObjectKind::Mutex, true, false)
    );
    assert_eq!((mutex.address(), mutex.number()), (Addr(0x5000), Some(1)));
    assert_eq!(mutex.site(), Addr(0x1_0000_1500));
    let holder = mutex.holder().unwrap();
    assert_eq!(
        (holder.tid, holder.released, holder.sites),
        (43, false, [0x1600, 0, 0, 0, 0, 0])
    );
    assert_eq!((condition.number(), condition.holder()), (None, None));
    assert_eq!(
        (mutex.by(), condition.by()),
        (None, Some(Addr(0x7fff_1230)))
    );
    let modules = trace.processes()[0].modules();
    assert_eq!(
        modules.complete(0x1600, Nanos(20)),
        Some(Addr(0x1_0000_1600))
    );
    assert_eq!(modules.complete(0x2600, Nanos(20)), None);
}

#[test]
fn a_low_half_that_two_modules_have_is_the_first_ones() {
    let directory = tempfile::tempdir().unwrap();
    let trace = TraceWriter::create(directory.path()).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    for (start, path) in [
        (0x1_0000_1000, "/bin/app"),
        (0x7f_0000_0000, "/lib/library"),
    ] {
        process.module(start, start + 0x4000, start, None, path);
    }
    process.finish().unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    let complete = |low| trace.processes()[0].modules().complete(low, Nanos(20));
    assert_eq!(complete(0x1600), Some(Addr(0x1_0000_1600)));
    assert_eq!(complete(0x600), Some(Addr(0x7f_0000_0600)));
}

fn expected() -> [Object; 3] {
    let holder = |tid, released, sites| heddle_trace_file::Holder {
        tid,
        released,
        sites,
    };
    [
        Object {
            number: 1,
            address: Addr(0x5000),
            kind: ObjectKind::Mutex,
            made: true,
            site: 0x1234,
            taken: 7,
            blocked: 2,
            given: None,
            unmet: 0,
            returned: 0,
            holder: Some(holder(43, false, [0x1234, 0x11, 0x22, 0x33, 0, 0x55])),
            readers: None,
        },
        Object {
            number: 4,
            address: Addr(0x5000),
            kind: ObjectKind::Condition,
            made: false,
            site: 0,
            taken: 4,
            blocked: 5,
            given: Some(6),
            unmet: 1,
            returned: 0,
            holder: Some(holder(43, true, [0; 6])),
            readers: None,
        },
        Object {
            number: 5,
            address: Addr(0x7000),
            kind: ObjectKind::Semaphore,
            made: false,
            site: 0,
            taken: 3,
            blocked: 1,
            given: Some(2),
            unmet: 0,
            returned: 1,
            holder: None,
            readers: None,
        },
    ]
}

#[test]
fn objects_are_read_with_their_counts_also_from_a_packed_trace() {
    let directory = tempfile::tempdir().unwrap();
    let (path, packed) = (
        directory.path().join("trace"),
        directory.path().join("packed"),
    );
    sample(&path);
    let trace = Trace::open(&path).unwrap();
    pack(&trace, &[], &packed).unwrap();
    for trace in [trace, Trace::open(&packed).unwrap()] {
        let objects = trace.processes()[0].objects().unwrap();
        assert_eq!((&objects.all[..], objects.uncounted), (&expected()[..], 9));
    }
}

#[test]
fn libc_tells_of_takers_that_were_not_seen() {
    const RWLOCK: u32 = 2;
    const SHARED: u32 = 1 << 10;
    let directory = tempfile::tempdir().unwrap();
    let trace = TraceWriter::create(directory.path()).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    let mut thread = process.thread(42, "app");
    let counted = 43 | 0x1600 << 32;
    // The kind, the holder that was counted, what libc says; an older recorder notes no such thing.
    let all = [
        (MUTEX | SHARED, 0, Some(99)),
        (MUTEX, counted, Some(43)),
        (MUTEX, counted | RELEASED, Some(99)),
        (RWLOCK, counted, Some(2 << 32)),
        (RWLOCK, counted | RELEASED, Some(1 << 32 | 99)),
        (RWLOCK, counted | RELEASED, Some(2 << 32)),
        (CONDITION, 0, Some(99)),
        (MUTEX, counted | RELEASED, None),
        // glibc's words for a robust mutex whose holder has died.
        (MUTEX, i32::MAX as u64, Some(44)),
        (MUTEX, (i32::MAX as u64 - 1) | RELEASED, None),
    ];
    for (kind, holder, beside) in all {
        let words = [1_000_020, 0x5000, 0x1500, holder, 0, 0, 1];
        let words: Vec<u64> = words.into_iter().chain(beside).collect();
        thread.long(25, kind, &words).wait_ended(30, 0, 0);
    }
    thread.finish().unwrap();
    process.finish().unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    let events = trace.processes()[0].threads()[0].events();
    let events: Vec<_> = events.map(|event| event.unwrap().kind).collect();
    let waits = waits(&events);
    let found = waits.iter().map(|wait| {
        let holder = wait.holder().map(|holder| (holder.tid, holder.released));
        (holder, wait.owner(), wait.readers())
    });
    let expected = [
        (Some((99, false)), Some(99), 0),
        (Some((43, false)), Some(43), 0),
        (Some((99, false)), Some(99), 0),
        (Some((43, false)), None, 2),
        (Some((99, false)), Some(99), 1),
        (Some((43, true)), None, 2),
        (None, None, 0),
        (Some((43, true)), None, 0),
        (Some((44, false)), Some(44), 0),
        (None, None, 0),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert_eq!(waits[1].holder().unwrap().sites[0], 0x1600);
    assert_eq!(waits[2].holder().unwrap().sites, [0; 6]);
    let shared = [0, 1, 7].map(|index: usize| waits[index].shared);
    assert_eq!(shared, [true, false, true]);
}

#[test]
fn readers_of_a_rwlock_are_told_by_their_number_and_sum() {
    let directory = tempfile::tempdir().unwrap();
    let trace = TraceWriter::create(directory.path()).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    let object = |readers: u64, sum: u64| [0x5000, 2, readers << 48 | 7, sum << 40 | 3, 0, 0, 0, 0];
    let all = [
        object(0, 0),
        object(1, 4711),
        object(2, 9423),
        object(0, 4711),
    ];
    process.objects(&all, 0).unwrap();
    process.thread(42, "app").finish().unwrap();
    process.finish().unwrap();
    let path = directory.path().join("42/objects-1");
    let objects = || {
        Trace::open(directory.path()).unwrap().processes()[0]
            .objects()
            .cloned()
    };
    // An older recorder did not count them.
    assert!(
        objects()
            .unwrap()
            .all
            .iter()
            .all(|object| object.readers.is_none())
    );
    let mut bytes = fs::read(&path).unwrap();
    bytes[20] = 1;
    fs::write(&path, bytes).unwrap();
    let objects = objects().unwrap().all;
    assert!(
        objects
            .iter()
            .all(|object| (object.taken, object.blocked) == (7, 3))
    );
    let readers = objects.iter().map(|object| object.readers.unwrap());
    let found = readers.map(|readers| (readers.number, readers.only(), readers.are_none()));
    let expected = [
        (0, None, true),
        (1, Some(4711), false),
        (2, None, false),
        (0, None, false),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn without_files_of_objects_waits_were_not_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    fs::remove_file(directory.path().join("42/objects-1")).unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    assert_eq!(trace.processes()[0].objects(), None);
    // One that a process has just made is none.
    fs::write(directory.path().join("42/objects-1"), [0; 8192]).unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    assert_eq!(trace.processes()[0].objects().unwrap().all, []);
    assert_eq!(trace.lacking().count(), 0);
}

#[test]
fn a_damaged_file_of_objects_is_told_of_with_its_offset_and_passed_over() {
    for (at, byte, offset) in [(0, b'X', 0), (15, 0x70, 12), (12, 6, 4096 + 5 * 64)] {
        let directory = tempfile::tempdir().unwrap();
        sample(directory.path());
        let path = directory.path().join("42/objects-1");
        let mut bytes = fs::read(&path).unwrap();
        bytes[at] = byte;
        fs::write(&path, bytes).unwrap();
        let trace = Trace::open(directory.path()).unwrap();
        let lack = trace.lacking().next().unwrap();
        assert_eq!(lack.path, path, "byte {at}");
        let what = format!("is damaged at offset {offset} (");
        assert!(lack.what.starts_with(&what), "byte {at}: {lack}");
        let objects = trace.processes()[0].objects().unwrap();
        assert!(objects.all.is_empty() && objects.missing);
    }
}

/// The sample's process, which says what was asked for.
fn asked(path: &Path, asked: u32, files: u32) {
    let file = path.join("42/process");
    let mut header = fs::read(&file).unwrap();
    header[208..216].copy_from_slice(&[(1 | asked).to_le_bytes(), files.to_le_bytes()].concat());
    fs::write(file, header).unwrap();
}

#[test]
fn files_of_objects_that_are_gone_are_told_of() {
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    let file = |number: u32| directory.path().join(format!("42/objects-{number}"));
    let read = || {
        let trace = Trace::open(directory.path()).unwrap();
        let lacks: Vec<String> = trace.lacking().map(|lack| lack.to_string()).collect();
        (trace.processes()[0].objects().cloned(), lacks)
    };
    // An older recorder: a file behind it tells.
    fs::copy(file(1), file(2)).unwrap();
    fs::remove_file(file(1)).unwrap();
    let (objects, lacks) = read();
    assert!(
        objects.unwrap().missing && lacks[0].contains("objects-1 is missing"),
        "{lacks:?}"
    );
    fs::rename(file(2), file(1)).unwrap();

    asked(directory.path(), ASKED_WAITS, 1);
    assert!(read().1.is_empty() && !read().0.unwrap().missing);
    fs::write(file(1), "").unwrap();
    assert!(read().0.unwrap().missing && read().1[0].contains("objects-1 is empty"));
    fs::remove_file(file(1)).unwrap();
    assert!(read().0.unwrap().missing && read().1[0].contains("objects-1 is missing"));
    // Nothing was used: no file was made.
    asked(directory.path(), ASKED_WAITS, 0);
    assert_eq!(read(), (Some(Objects::default()), vec![]));
    // A snapshot never has one.
    asked(directory.path(), ASKED_WAITS | TABLES_LEFT_OUT, 1);
    let (objects, lacks) = read();
    assert!(objects.unwrap().missing && lacks.is_empty());
}

#[test]
fn a_wait_that_is_cut_short_is_damage_and_not_another_ones_end() {
    let directory = tempfile::tempdir().unwrap();
    let trace = TraceWriter::create(directory.path()).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    let mut thread = process.thread(42, "app");
    thread
        .long(25, MUTEX, &[1_000_020, 0x5000])
        .wait_ended(30, 0, 0);
    thread.finish().unwrap();
    process.finish().unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    let mut events = trace.processes()[0].threads()[0].events();
    assert_eq!(events.by_ref().count(), 0);
    assert_eq!(events.remarks().damages.places, 1);
}
