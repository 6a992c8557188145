//! A packed trace has every event of the trace it was made of, and nothing in it can make its
//! reader panic.

use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use heddle_trace_file::{Error, Event, ModuleSymbols, Trace, Why, pack};
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What a thread may do: records of all types, and hits and misses of every prediction.
#[derive(Clone, Copy, Debug)]
enum Step {
    Call(u8),
    Return,
    /// An exit that nothing leads to expect.
    Stray(u64),
    Entry(u8),
    Leave(u64),
    Untimed,
    Preempted,
    Pause(u32),
    Wide,
    Mark(u8),
    NextRun,
    Gap,
    Capture(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0u8..6).prop_map(Step::Call),
        6 => Just(Step::Return),
        1 => (0u64..1 << 20).prop_map(Step::Stray),
        3 => (0u8..6).prop_map(Step::Entry),
        2 => (0u64..1 << 20).prop_map(Step::Leave),
        1 => Just(Step::Untimed),
        1 => Just(Step::Preempted),
        1 => any::<u32>().prop_map(Step::Pause),
        1 => Just(Step::Wide),
        1 => (0u8..40).prop_map(Step::Mark),
        1 => Just(Step::NextRun),
        1 => Just(Step::Gap),
        2 => (0u8..6).prop_map(Step::Capture),
    ]
}

fn perform(thread: &mut ThreadWriter, steps: &[Step]) {
    let (mut time, mut open, mut wide) = (10, vec![], false);
    for &step in steps {
        time += 3;
        let sp = 0x8000_0000 - open.len() as u64 * 48;
        match step {
            Step::Call(which) => {
                let function = 0x1000 + u64::from(which) * 0x30;
                open.push((function, sp));
                thread.enter(time, function, 0x1500 + u64::from(which % 2), sp);
            }
            Step::Return => {
                if let Some((function, sp)) = open.pop() {
                    thread.exit(time, function, 0x1500, sp);
                }
            }
            Step::Stray(offset) => {
                thread.exit(time, 0x1000 + offset % 0x800, 0, 0x8000_0000 - offset * 8);
            }
            Step::Entry(which) => {
                thread.entry(time, 0x1004 + u64::from(which) * 0x30, 0x1777, sp);
            }
            Step::Leave(offset) => {
                thread.leave(time, 0x8000_0000 - offset * 8);
            }
            Step::Untimed => {
                thread.untimed();
            }
            Step::Preempted => {
                thread.preempted();
            }
            Step::Pause(ticks) => time += u64::from(ticks),
            Step::Wide => {
                wide = !wide;
                thread.wide(wide);
            }
            Step::Mark(length) => {
                thread.mark(time, 7, &"x".repeat(length.into()));
            }
            Step::NextRun => {
                thread.next_run();
            }
            Step::Capture(which) => {
                let function = 0x1000 + u64::from(which) * 0x30;
                thread.capture(function, 0x5000_0000 + time, Some(which.into()));
                thread.enter(time, function, 0x1500, sp);
            }
            Step::Gap => {
                thread.gap(time, Why::Paused, Some(9));
            }
        }
    }
}

fn record(path: &Path, threads: &[Vec<Step>]) {
    let trace = TraceWriter::create(path).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    process.module(0x1000, 0x2000, 0x1000, Some("abcd"), "/bin/app");
    for (number, steps) in threads.iter().enumerate() {
        let mut thread = process.thread(42 + number as u32, "weaver");
        perform(&mut thread, steps);
        thread.finish().unwrap();
    }
    process.finish().unwrap();
}

/// All that can be read of a trace.
fn everything(trace: &Trace) -> Vec<String> {
    let mut all = vec![format!("{:?}", trace.filters())];
    for process in trace.processes() {
        let modules: Vec<_> = process.modules().iter().collect();
        all.push(format!(
            "{} {:?} {modules:?}",
            process.pid(),
            process.command()
        ));
        for thread in process.threads() {
            all.push(format!(
                "{} {} {:?}",
                thread.tid(),
                thread.name(),
                thread.stack()
            ));
            all.extend(thread.events().map(|event| format!("{event:?}")));
            all.push(format!("{:?}", thread.remarks()));
        }
    }
    all
}

fn symbols() -> Vec<ModuleSymbols> {
    vec![ModuleSymbols {
        path: "/bin/app".into(),
        build_id: Some("abcd".into()),
        text: "symtab 1\n1000 30 global loom\n".into(),
    }]
}

fn packed(directory: &Path, threads: &[Vec<Step>]) -> (Trace, PathBuf) {
    let path = directory.join("trace");
    record(&path, threads);
    fs::write(path.join("filters"), "--depth 3\n").unwrap();
    let trace = Trace::open(&path).unwrap();
    let file = directory.join("trace.packed");
    pack(&trace, &symbols(), &file).unwrap();
    (trace, file)
}

proptest! {
    #[test]
    fn every_event_comes_back(
        threads in prop::collection::vec(prop::collection::vec(step(), 0..300), 1..4),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let (trace, file) = packed(directory.path(), &threads);
        let again = Trace::open(&file).unwrap();
        prop_assert_eq!(everything(&again), everything(&trace));
        let symbols = symbols();
        prop_assert_eq!(again.symbols(), Some(symbols.as_slice()));
        prop_assert_eq!(again.path(), file.as_path());
    }

    #[test]
    fn damage_is_an_error_or_does_no_harm(
        steps in prop::collection::vec(step(), 100..200),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        end in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let (_, file) = packed(directory.path(), &[steps]);
        let mut bytes = fs::read(&file).unwrap();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let end = if cut { end.index(bytes.len()) } else { bytes.len() };
        fs::write(&file, &bytes[..end]).unwrap();
        let opened = Trace::open(&file);
        if let Ok(trace) = &opened {
            let _ = trace.in_order(|_, _| true);
        }
        prop_assert!(!cut || opened.is_err());
    }
}

/// A trace with two blocks of events, whose second begins at the offset given.
fn two_blocks(path: &Path) -> usize {
    let calls: Vec<Step> = (0..4000).map(|n| Step::Call(n as u8 % 6)).collect();
    record(path, &[calls, vec![Step::Call(1), Step::Return]]);
    let file = path.join("42/events");
    let mut events = fs::read(&file).unwrap();
    let begins = |at: &usize| events[*at..].starts_with(b"HEDLBLCK");
    let blocks: Vec<usize> = (0..events.len()).step_by(4096).filter(begins).collect();
    // As the recorder does, each block's run says how long it is.
    for &block in &blocks {
        let used = u32::from_le_bytes(events[block + 12..block + 16].try_into().unwrap());
        events[block + 68..block + 72].copy_from_slice(&(used - 64).to_le_bytes());
    }
    fs::write(&file, events).unwrap();
    blocks[1]
}

/// The trace at `path`, and the one that was packed of it.
fn repacked(path: &Path) -> (Trace, Trace) {
    let file = path.with_extension("packed");
    let _ = fs::remove_file(&file);
    let trace = Trace::open(path).unwrap();
    pack(&trace, &[], &file).unwrap();
    (trace, Trace::open(&file).unwrap())
}

#[test]
fn of_a_cut_block_what_is_there_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    two_blocks(&path);
    let events = path.join("42/events");
    let bytes = fs::read(&events).unwrap();
    for cut in [bytes.len() - 8, 10_008, 10_011, 10_000, 296, 201] {
        fs::write(&events, &bytes[..cut]).unwrap();
        assert_comes_back(&path, &format!("cut to {cut} bytes"));
    }
}

/// Of the trace at `path` the events, and what is said to be missing, are those of what is packed
/// of it.
fn assert_comes_back(path: &Path, what: &str) {
    let (trace, again) = repacked(path);
    assert_eq!(read(&again), read(&trace), "{what}");
    assert_eq!(said(&again), said(&trace), "{what}");
}

/// What is said of a trace that is missing from it, but for where in the records it is.
fn said(trace: &Trace) -> Vec<String> {
    let below = |path: &Path| {
        let below = path.strip_prefix(trace.path()).unwrap();
        below.display().to_string()
    };
    let lacks = trace.lacking();
    let mut said: Vec<String> = lacks
        .map(|lack| format!("{} {}", below(&lack.path), lack.what))
        .collect();
    for process in trace.processes() {
        let damages = process.damages();
        let counts = (damages.places, damages.bytes, process.missing_blocks());
        let others = (process.missing_runs(), process.missing_threads());
        said.push(format!("{counts:?} {others:?} {}", process.dropped()));
        let first = damages.first.as_ref();
        said.extend(first.map(|it| format!("{} {} {}", below(&it.path), it.offset, it.what)));
    }
    let remarks = trace.in_order(|_, _| true).unwrap();
    said.push(format!("{} dropped", remarks.dropped));
    let damages = remarks.damages;
    let first = damages.first.map(|it| (below(&it.path), it.what));
    said.push(format!("{first:?} {} {}", damages.places, damages.bytes));
    said
}

/// What may happen to a file of events, at an offset of it.
#[derive(Clone, Copy, Debug)]
enum Harm {
    Cut,
    Zeros(usize),
    Inserted(usize),
    Word(u64),
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        Just(Harm::Cut),
        (1usize..5000).prop_map(Harm::Zeros),
        prop_oneof![Just(8), Just(4096), 1usize..5000].prop_map(Harm::Inserted),
        any::<u64>().prop_map(Harm::Word),
        (0u64..1 << 36).prop_map(Harm::Word),
    ]
}

impl Harm {
    fn befalls(self, bytes: &mut Vec<u8>, at: usize) {
        match self {
            Harm::Cut => bytes.truncate(at),
            Harm::Zeros(length) => {
                let end = bytes.len().min(at + length);
                bytes[at..end].fill(0);
            }
            Harm::Inserted(length) => {
                bytes.splice(at..at, vec![b'x'; length]);
            }
            Harm::Word(word) => {
                let at = at / 8 * 8;
                let end = bytes.len().min(at + 8);
                bytes.splice(at..end, word.to_le_bytes());
            }
        }
    }
}

proptest! {
    #[test]
    fn what_can_be_read_of_a_damaged_trace_comes_back(
        harms in prop::collection::vec((harm(), 0usize..4, any::<prop::sample::Index>()), 1..3),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace");
        let second = two_blocks(&path);
        let events = path.join("42/events");
        let mut bytes = fs::read(&events).unwrap();
        for (harm, part, at) in &harms {
            // The headers and the few records of the second block are small marks.
            let (begin, length) = [(0, 400), (0, second), (second, 64), (second, 250)][*part];
            let at = begin + at.index(length);
            if at < bytes.len() {
                harm.befalls(&mut bytes, at);
            }
        }
        fs::write(&events, bytes).unwrap();
        // Of some nothing can be read.
        if Trace::open(&path).is_ok() {
            assert_comes_back(&path, &format!("{harms:?}"));
        }
    }
}

/// Every bit of what a record may say: those that no reader looks at come back, too.
#[test]
fn every_changed_bit_of_the_records_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    record(
        &path,
        &[vec![
            Step::Call(1),
            Step::Return,
            Step::Entry(2),
            Step::Leave(9),
        ]],
    );
    let events = path.join("42/events");
    let bytes = fs::read(&events).unwrap();
    for bit in (64 + 128) * 8..bytes.len() * 8 {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&events, bytes).unwrap();
        assert_comes_back(&path, &format!("bit {bit}"));
    }
}

/// One thread's block may be longer than any of a recorder's, and a damaged one than can be packed.
#[test]
fn long_blocks_come_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    let calls: Vec<Step> = (0..100_000).map(|n| Step::Call(n as u8 % 6)).collect();
    record(&path, &[calls]);
    let events = path.join("42/events");
    assert!(events.metadata().unwrap().len() > 1 << 20);
    assert_comes_back(&path, "long");

    two_blocks(&directory.path().join("short"));
    fs::copy(directory.path().join("short/42/events"), &events).unwrap();
    let file = fs::File::options().write(true).open(&events).unwrap();
    file.set_len(40 << 20).unwrap();
    let (room, used) = (40u32 << 20, 39u32 << 20);
    file.write_all_at(&room.to_le_bytes(), 8).unwrap();
    file.write_all_at(&used.to_le_bytes(), 12).unwrap();
    // The run ends with the block.
    file.write_all_at(&0u32.to_le_bytes(), 68).unwrap();
    let (trace, again) = repacked(&path);
    assert_eq!(read(&again), read(&trace));
    let damages = again.processes()[0].damages();
    let first = damages.first.as_ref().unwrap();
    assert!(first.what.contains("most in a pack"), "{first:?}");
}

/// What a trace lacks is said of the pack, too, where the files are not that it was found in.
#[test]
fn what_was_missing_is_still_said() {
    for (harm, told) in [
        ("rm 43/process", "43/process is missing: nothing"),
        (": > 43/process", "43/process is empty: nothing"),
        (
            "truncate -s 100 43/process",
            "43/process is damaged at offset",
        ),
        ("rm 43/process; mkfifo 43/process", "43/process is damaged"),
        ("rm -r 43; touch 43", "43 is no directory"),
        ("rm 42/modules", "42/modules is missing"),
        ("rm 42/modules; mkfifo 42/modules", "42/modules is damaged"),
        ("truncate -s 20 42/modules", "42/modules ends"),
        ("mkfifo filters", "filters is damaged"),
        ("mkfifo unrecorded", "unrecorded is damaged"),
        ("mkfifo 42/objects-1", "42/objects-1 is damaged"),
        ("echo x > 42/allocation-1", "42/allocation-1 is damaged"),
        ("mkfifo switches", "switches is"),
        ("echo '{' > shapes", "shapes has lines that are no shapes"),
        (
            "mkfifo 42/buffer-7",
            "42/buffer-7 0 expected a regular file",
        ),
        ("echo HEDLBUFF > 42/buffer-7", "42/buffer-7 9 the file ends"),
        ("truncate -s 4150 42/events", "42/events 4096 the file ends"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace");
        let trace = TraceWriter::create(&path).unwrap();
        for pid in [42, 43] {
            let mut process = trace.process(pid, 1, "/bin/app").unwrap();
            process.module(0x1000, 0x2000, 0x1000, Some("abcd"), "/bin/app");
            for thread in [0, 1] {
                let mut thread = process.thread(pid + 10 * thread, "weaver");
                perform(&mut thread, &[Step::Call(1), Step::Return]);
                thread.finish().unwrap();
            }
            process.finish().unwrap();
        }
        let whole = said(&Trace::open(&path).unwrap()).concat();
        assert!(!whole.contains("is"), "{whole}");
        let made = std::process::Command::new("sh")
            .args(["-c", harm])
            .current_dir(&path)
            .status();
        assert!(made.unwrap().success());
        let said = said(&Trace::open(&path).unwrap());
        assert!(said.concat().contains(told), "{harm}: {said:?}");
        assert_comes_back(&path, harm);
    }
}

/// The events of a trace.
fn read(trace: &Trace) -> Vec<String> {
    let mut events = Vec::new();
    let each = |place, event: &Event<'_>| {
        events.push(format!("{place:?} {event:?}"));
        true
    };
    trace.in_order(each).unwrap();
    events
}

/// Every bit: the file is refused, or the bit means nothing.
#[test]
fn no_changed_bit_changes_what_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let (trace, file) = packed(directory.path(), &[vec![Step::Call(1)]]);
    let expected = (everything(&trace), Some(symbols()));
    let bytes = fs::read(&file).unwrap();
    let mut kept = Vec::new();
    for bit in 0..bytes.len() * 8 {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&file, bytes).unwrap();
        match Trace::open(&file) {
            Ok(trace) => {
                let found = (everything(&trace), trace.symbols().map(<[_]>::to_vec));
                assert_eq!(found, expected, "bit {bit}");
                kept.push(bit);
            }
            Err(error) => {
                assert!(names(&error, "trace.packed"), "bit {bit}: {error}");
            }
        }
    }
    // A few bits of a compressed frame mean nothing, in its header for one.
    assert!(kept.len() * 100 <= bytes.len() * 8, "{kept:?}");
}

/// Whether an error tells of which file it is.
fn names(error: &Error, file: &str) -> bool {
    error.to_string().contains(file)
}

#[test]
fn a_file_that_is_cut_short_anywhere_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (_, file) = packed(directory.path(), &[vec![Step::Call(1)]]);
    let bytes = fs::read(&file).unwrap();
    for end in 0..bytes.len() {
        fs::write(&file, &bytes[..end]).unwrap();
        let error = Trace::open(&file).unwrap_err();
        let told = error.to_string();
        let cut = end >= 8;
        assert!(names(&error, "trace.packed"), "{end}: {told}");
        assert_eq!(
            told.contains(&format!("at offset {end}: the file ends")),
            cut,
            "{end}: {told}"
        );
    }
    let end = bytes.len();
    fs::write(&file, [&bytes[..], b"xyz"].concat()).unwrap();
    let told = Trace::open(&file).unwrap_err().to_string();
    let expected = format!("at offset {end}: 3 bytes follow the trace's end");
    assert!(told.ends_with(&expected), "{told}");
}

#[test]
fn files_without_a_checksum_of_their_headers_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let (trace, file) = packed(directory.path(), &[vec![Step::Call(1)]]);
    let mut bytes = fs::read(&file).unwrap();
    bytes[8] = 2;
    fs::write(&file, &bytes).unwrap();
    assert!(Trace::open(&file).is_err());
    // The last piece has no name, and its content of nothing is a few bytes long.
    let last = bytes.len()
        - 32
        - (0..32)
            .find(|&packed| {
                let at = bytes.len() - 32 - packed;
                bytes[at] == 4 && usize::from(bytes[at + 4]) == packed
            })
            .unwrap();
    bytes[last + 24..last + 32].fill(0);
    fs::write(&file, &bytes).unwrap();
    assert_eq!(everything(&Trace::open(&file).unwrap()), everything(&trace));
}

#[test]
fn what_cannot_be_packed_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    let writer = TraceWriter::create(&path).unwrap();
    let mut process = writer.process(42, 1, "/bin/app").unwrap();
    let mut thread = process.thread(42, "app");
    thread.enter(10, 0x1000, 0x1500, 0x7000);
    thread.in_buffer(&[2]).finish().unwrap();
    process.finish().unwrap();
    let trace = Trace::open(&path).unwrap();
    let file = directory.path().join("file");
    assert!(matches!(
        pack(&trace, &[], &file),
        Err(Error::Uncollected(_))
    ));
    assert!(!file.exists());

    fs::write(&file, "kept").unwrap();
    let other = directory.path().join("other");
    record(&other, &[vec![Step::Call(1)]]);
    let trace = Trace::open(&other).unwrap();
    assert!(matches!(pack(&trace, &[], &file), Err(Error::Io { .. })));
    assert_eq!(fs::read(&file).unwrap(), b"kept");
    assert!(matches!(Trace::open(&file), Err(Error::NotOurs(_))));
}

/// A file of zeros, at a usual size and beyond it.
#[test]
fn a_small_file_does_not_fill_a_disk() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    record(&path, &[vec![Step::Call(1)]]);
    let packed = |megabytes: usize| {
        fs::write(path.join("filters"), vec![b' '; megabytes << 20]).unwrap();
        let file = directory.path().join(format!("{megabytes}.packed"));
        pack(&Trace::open(&path).unwrap(), &[], &file).unwrap();
        file
    };
    assert!(Trace::open(&packed(40)).is_ok());
    // The text of a module's symbols goes into memory, and counts as well.
    let text = "x".repeat(40 << 20);
    let module = |number: usize| ModuleSymbols {
        path: format!("/bin/{number}"),
        build_id: None,
        text: text.clone(),
    };
    let modules: Vec<ModuleSymbols> = (0..3).map(module).collect();
    let file = directory.path().join("large.packed");
    fs::remove_file(path.join("filters")).unwrap();
    pack(&Trace::open(&path).unwrap(), &modules, &file).unwrap();
    let told = Trace::open(&file).unwrap_err().to_string();
    let bytes = (120 << 20) + 4..(120 << 20) + 200_000;
    let stated = told.rsplit(' ').next().unwrap().parse::<usize>().unwrap();
    assert!(
        told.contains("--max-size ") && bytes.contains(&stated),
        "{told}"
    );
    assert!(Trace::open_within(&file, Some(stated as u64 - 1)).is_err());
    assert!(Trace::open_within(&file, Some(stated as u64)).is_ok());
}

#[test]
fn a_packed_trace_is_for_its_user_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let writer = TraceWriter::create(&path.join("trace")).unwrap();
    let mut process = writer.process(42, 1, "/bin/app").unwrap();
    process
        .thread(42, "app")
        .gap(13, Why::Dropped, None)
        .finish()
        .unwrap();
    process.finish().unwrap();
    let packed = path.join("packed");
    pack(&Trace::open(&path.join("trace")).unwrap(), &[], &packed).unwrap();
    let mode = packed.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
