//! What `heddle record --alloc` writes is read, packed too, and what it does not write is passed
//! over.

use heddle_trace_file::write::{ASKED_ALLOCATION, TraceWriter};
use heddle_trace_file::{Allocation, AllocationEntry, Nanos, Trace, pack};
use std::fs;
use std::path::Path;

const STRETCH: u64 = 1 << 32;
const LONG: u64 = 2 << 32;
const UNKNOWN: u64 = 3 << 32;

fn sample(path: &Path) {
    let trace = TraceWriter::create(path).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    let entries = [
        [500, 900, 100, 3, 2, 96, 43 | STRETCH, 0],
        [100, 300, 150, 4, 4, 128, 42 | STRETCH, 0],
        [150, 250, 100, 1, 0, 1 << 20, 42 | LONG, 0],
        [100, 300, 150, 4, 4, 128, 42 | UNKNOWN, 0],
        // More than there is time for, and one that ends before it begins.
        [400, 410, 1000, 1, 0, 8, 42 | STRETCH, 0],
        [500, 400, 10, 1, 0, 8, 42 | STRETCH, 0],
        [0; 8],
    ];
    process.allocation(&entries, 1 | 2 | 4).unwrap();
    process
        .thread(42, "app")
        .mark(0, 0, "here")
        .finish()
        .unwrap();
    process.finish().unwrap();
}

fn of(trace: &Trace) -> &Allocation {
    trace.processes()[0].allocation().unwrap()
}

#[test]
fn entries_are_those_of_each_thread_in_order() {
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    let trace = Trace::open(directory.path()).unwrap();
    let all = of(&trace);
    let seen = all.entries.iter();
    let seen: Vec<_> = seen
        .map(|it| (it.tid, it.first.0, it.last.0, it.took.0, it.long))
        .collect();
    let expected = [
        (42, 100, 300, 150, false),
        (42, 150, 250, 100, true),
        (42, 400, 410, 10, false),
        (43, 500, 900, 100, false),
    ];
    assert_eq!(seen, expected);
    assert_eq!((all.entries[3].allocated, all.entries[3].freed), (3, 2));
    assert_eq!(all.entries[3].bytes, 96);
    // A nanosecond each, where there is as much time beside the calls.
    let costs: Vec<u64> = all.entries.iter().map(|it| it.cost.0).collect();
    assert_eq!(costs, [8, 0, 0, 5]);
    assert!(all.other_malloc && all.other_new && all.full);

    let packed = directory.path().join("packed");
    pack(&trace, &[], &packed).unwrap();
    assert_eq!(of(&Trace::open(&packed).unwrap()), all);
}

#[test]
fn without_the_files_nothing_was_asked_for_and_a_damaged_one_is_told_of() {
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    let path = directory.path().join("42/allocation-1");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 64]).unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    assert!(of(&trace).entries.is_empty() && !of(&trace).known());
    let lack = trace.lacking().last().unwrap().to_string();
    assert!(lack.contains("too few for 7 entries"), "{lack}");

    fs::remove_file(&path).unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    assert_eq!(trace.processes()[0].allocation(), None);
    // It was asked for, and a file was made.
    let process = directory.path().join("42/process");
    let mut header = fs::read(&process).unwrap();
    header[208] = (1 | ASKED_ALLOCATION) as u8;
    header[216] = 1;
    fs::write(&process, header).unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    let lack = trace.lacking().last().unwrap().to_string();
    assert!(
        lack.contains("allocation-1 is missing") && !of(&trace).known(),
        "{lack}"
    );
}

#[test]
fn a_part_of_a_stretch_has_its_part_of_the_time() {
    let entry = AllocationEntry {
        tid: 42,
        first: Nanos(100),
        last: Nanos(300),
        took: Nanos(50),
        cost: Nanos(10),
        allocated: 1,
        freed: 0,
        bytes: 8,
        long: false,
    };
    let within = |from, to| entry.within(Nanos(from), Nanos(to)).0;
    assert_eq!(
        [within(0, 1000), within(0, 200), within(150, 250)],
        [50, 25, 25]
    );
    assert_eq!(
        [within(0, 100), within(300, 400), within(250, 150)],
        [0, 0, 0]
    );
    assert_eq!(entry.cost_within(Nanos(0), Nanos(200)), Nanos(5));
    let point = AllocationEntry {
        last: entry.first,
        took: Nanos(0),
        ..entry
    };
    assert_eq!(point.within(Nanos(0), Nanos(1000)), Nanos(0));
}
