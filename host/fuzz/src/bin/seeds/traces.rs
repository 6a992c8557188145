//! Traces and packed traces with every record there is.

use super::{Corpus, values};
use heddle_fuzz::{Files, Part};
use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use heddle_trace_file::{ModuleSymbols, Nanos, Of, Shapes, Switch, SwitchKind, Trace, Why, pack};
use std::fs;
use std::path::Path;

/// Their numbers are those of the target `trace`.
const NAMES: [&str; 6] = [
    "heddle",
    "42/process",
    "42/modules",
    "42/events",
    "42/events-1",
    "42/buffer-2",
];

/// The number of the file of shapes.
const SHAPES: u8 = 9;
/// That of the file of switches.
const SWITCHES: u8 = 11;
/// The number of the file of objects that are waited for.
const OBJECTS: u8 = 10;
/// That of the file of calls of malloc and its like.
const ALLOCATION: u8 = 12;

/// Traces that were collected and not, killed in between, and the collected one as packed; and one
/// with waits.
pub fn write(scratch: &Path, traces: &Corpus, packs: &Corpus) {
    let states: [Option<&[u32]>; 5] = [None, Some(&[]), Some(&[2]), Some(&[2, 3]), Some(&[4, 0])];
    for (number, states) in states.iter().enumerate() {
        let path = scratch.join(number.to_string());
        record(&path, *states, number as u64);
        let mut files = Files::default();
        for (name, number) in NAMES.iter().zip(0..) {
            let bytes = fs::read(path.join(name)).ok();
            files.0.extend(bytes.map(|bytes| (number, bytes)));
        }
        traces.add(&format!("states-{number}"), &files.to_input());
        if number == 2 {
            // Written by the thread itself.
            let events = files.0.remove(&3).unwrap();
            files.0.insert(4, events);
            traces.add("own-events", &files.to_input());
        }
    }
    packed(&scratch.join("0"), &scratch.join("packed"), packs);
    let path = scratch.join("waits");
    wait(&path);
    let mut files = Files::default();
    for (name, number) in NAMES[..4].iter().zip(0..) {
        files.0.insert(number, fs::read(path.join(name)).unwrap());
    }
    let objects = fs::read(path.join("42/objects-1")).unwrap();
    files.0.insert(OBJECTS, objects);
    let allocation = fs::read(path.join("42/allocation-1")).unwrap();
    files.0.insert(ALLOCATION, allocation);
    for (name, number) in [("shapes", SHAPES), ("switches", SWITCHES)] {
        files.0.insert(number, fs::read(path.join(name)).unwrap());
    }
    traces.add("waits", &files.to_input());
}

/// A thread that waits for a mutex, which another one has, for a rwlock that has readers, and for a
/// condition that has no number; with values of each kind, and its switches.
fn wait(path: &Path) {
    const MUTEX: u32 = 1;
    const RW_LOCK: u32 = 2;
    const CONDITION: u32 = 3;
    let trace = TraceWriter::create(path).unwrap();
    Shapes::append(path, &values::shapes()).unwrap();
    trace.switches(&switches(), Some(100)).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    process.module(0x1000, 0x2000, 0, None, "/bin/app");
    let mutex = [
        0x5000,
        1 | 1 << 8 | 0x1234 << 32,
        7,
        2,
        43,
        0x11,
        0x33,
        0x55,
    ];
    let condition = [0x5001, 3, 4, 5, 43 | 1 << 31, 6, 1, 0];
    process.objects(&[mutex, [0; 8], condition], 9).unwrap();
    let (stretch, long) = (42 | 1 << 32, 42 | 2 << 32);
    process
        .allocation(
            &[
                [15, 55, 20, 3, 2, 96, stretch, 0],
                [20, 30, 10, 1, 0, 1 << 20, long, 0],
                [0; 8],
            ],
            2,
        )
        .unwrap()
        .asked(2 | 4 | 8, 1, 1)
        .uncounted(3, 5, 28);
    process
        .thread(42, "app")
        .object_met(10, (MUTEX, 0x5000, 1), 0x1510)
        .wait(20, (MUTEX | 1 << 8, 0x5000, 1), 0x1500, (43, 0x1600))
        .wait_ended(30, 110, 43)
        .wait(40, (CONDITION, 0x7000, 0), 0x1500, (0, 0))
        .wait_ended(50, 0, 0)
        .wake(60, MUTEX, 1, 0x1700)
        .wait_told(61, (RW_LOCK | 1 << 9, 0x6000, 3), 0x1500, (43, 2))
        .wait_ended(62, 0, 43)
        .wait_told(63, (CONDITION, 0x7000, 3), 0x1500, (1, 0))
        .wait_ended(64, 0, 0)
        .values(
            Of::Arguments,
            0x1100,
            (values::ARGUMENTS, 0),
            &values::arguments(),
        )
        .enter(70, 0x1100, 0x1500, 0x7000)
        .values(Of::Result, 0x1100, (values::RESULT, 0), values::result())
        .exit(80, 0x1100, 0x1500, 0x7000)
        .finish()
        .unwrap();
    process.finish().unwrap();
}

/// The kernel tells that the thread blocked, ran again, and lost its processor to another.
fn switches() -> [Switch; 3] {
    let at = |time, kind| Switch {
        time: Nanos(time),
        pid: 42,
        tid: 42,
        cpu: 1,
        kind,
    };
    [
        at(20, SwitchKind::Blocks),
        at(30, SwitchKind::Runs),
        at(90, SwitchKind::Preempted),
    ]
}

fn packed(trace: &Path, to: &Path, packs: &Corpus) {
    let symbols = ModuleSymbols {
        path: "/bin/app".into(),
        build_id: Some("abcd".into()),
        text: "symtab 1\n1000 30 global loom\n1150 0 jump 1180\n11f0 0 handler-return -\n\
               1010 0 enter-call -\n1010 0 entry-call -\n1010 4 suspension loom\n1010 2a line /src/loom.cpp\n"
            .into(),
    };
    pack(&Trace::open(trace).unwrap(), &[symbols], to).unwrap();
    let bytes = fs::read(to).unwrap();
    packs.add("as-it-is", &bytes);
    let mut older = bytes.clone();
    older[8] = 2;
    packs.add("parts", &taken_apart(&bytes));
    // Version 2 has no checksum of headers: all that must be there is a header that says so.
    let end = bytes
        .windows(4)
        .rposition(|window| window == [4, 0, 0, 0])
        .unwrap();
    older[end + 24..end + 32].fill(0);
    packs.add("older", &older);
}

/// The input of the parts that are in a packed file.
fn taken_apart(file: &[u8]) -> Vec<u8> {
    let mut input = Vec::new();
    let mut at = 12;
    loop {
        let number = |from: usize, bytes: usize| {
            let bytes = file[at + from..at + from + bytes].iter().rev();
            bytes.fold(0, |number, &byte| number << 8 | u64::from(byte))
        };
        let (kind, name, packed) = (number(0, 2), number(2, 2) as usize, number(4, 4) as usize);
        if kind == 4 {
            return input;
        }
        let begin = at + 32 + name;
        let content = zstd::bulk::decompress(&file[begin..begin + packed], number(8, 4) as usize);
        let part = Part {
            kind: kind as u8,
            words: number(12, 4) as u32,
            offset: number(16, 8),
            number: number(24, 8),
            name: file[at + 32..begin].to_vec(),
            content: content.unwrap(),
        };
        part.add_to(&mut input);
        at = begin + packed;
    }
}

fn every_record(thread: &mut ThreadWriter) {
    thread
        .enter(10, 0x5555_0000_1010, 0x7fff_8000_1500, 0x7000)
        .untimed()
        .entry(0, 0x5555_0000_1020, 0x5555_0000_1015, 0x6ff8)
        .untimed()
        .leave(0, 0x6ff8)
        .preempted()
        .exit(30, 0x5555_0000_1010, 0x1500, 0x7000)
        .mark(31, 3, "here")
        .next_run()
        .gap(32, Why::Dropped, Some(5))
        .gap(33, Why::Paused, None)
        .strand_switch(34, 9)
        .strand_name(34, 9, "nine")
        .strand_waits(35, 9, "rain")
        .strand_end(36, 9)
        .capture(0x5555_0000_1010, 0x6000_0000_0010, Some(2))
        .capture(0x5555_0000_1020, 0x6000_0000_0020, None)
        .entry(37, 0x5555_0000_1020, 0x5555_0000_1015, 0x6ff0)
        .enter(1 << 40, 0x5555_0000_1010, 0x7fff_8000_1500, 0x7000)
        .wide(true)
        .exit((1 << 40) + 1, 0x1010, 0x1500, 0x7000)
        .leave((1 << 40) + 2, 0x6ff8)
        .capture(0x1010, 0x6000_0000_0030, Some(0))
        .next_run()
        .enter((1 << 40) + 3, 0x1010, 0x1500, 0x7000);
}

fn record(path: &Path, states: Option<&[u32]>, number: u64) {
    let trace = TraceWriter::create(path).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    process
        .module(
            0x5555_0000_1000,
            0x5555_0000_9000,
            0x5555_0000_0000,
            Some("abcd"),
            "/bin/app",
        )
        .module(0x7fff_8000_0000, 0x7fff_8010_0000, 0, None, "/lib/libc.so")
        .module_line("unload 1000035 7fff80000000")
        .module_line(
            "load 1000035 7eff80000000 7eff80100000 7eff80000000 7eff80010000 0 - /lib/other.so",
        );
    process.mode(if number == 3 { 1 << 20 } else { 0 }, 64);
    let mut stored = process.thread(42, "app");
    every_record(&mut stored);
    stored.finish().unwrap();
    let mut buffered = process.thread(43, "worker");
    every_record(&mut buffered);
    if let Some(states) = states {
        buffered.dropped(number).in_buffer(states);
    }
    buffered.finish().unwrap();
    process.finish().unwrap();
}
