//! Collecting changes where blocks are, and nothing of what is read, wherever it is interrupted.

use heddle_trace_file::write::{ProcessWriter, TraceWriter};
use heddle_trace_file::{Apart, Collector, Error, Event, Trace, Why, recover};
use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Blocks begin at multiples of this in `events`.
const UNIT: u64 = 4096;
/// What each of the four blocks that [`write`] leaves in a buffer takes up there.
const ROOM: u64 = 18 * UNIT;

const FULL: u32 = 2;
const BY_THREAD: u32 = 3;
const BY_US: u32 = 4;

/// What one reads in a trace: its events, and how many were dropped.
type Content = (Vec<String>, u64);

fn content(path: &Path) -> Content {
    let trace = Trace::open(path).unwrap();
    let mut events = Vec::new();
    let push = |place, event: &Event<'_>| {
        events.push(format!("{place:?} {event:?}"));
        true
    };
    let remarks = trace.in_order(push).unwrap();
    (events, remarks.dropped)
}

/// A process with a thread of four runs, whose blocks are in slots of these states.
fn write(path: &Path, states: &[u32], dropped: u64, change: impl Fn(&mut ProcessWriter)) {
    let trace = TraceWriter::create(path).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    change(&mut process);
    let mut other = process.thread(41, "stored");
    other.enter(5, 0x1010, 0x9, 0x5000).finish().unwrap();
    let mut thread = process.thread(42, "app");
    for run in 0..4 {
        let time = 100 * run;
        thread.enter(time, 0x1010 + run, 0x1500, 0x7000 - 16 * run);
        thread.mark(time + 1, 0, "a mark");
        // Records of unknown types are skipped, and make a block of several units.
        thread.long(4000, 0, &[0xdada_dada_dada_dada; 9000]);
        if run < 3 {
            thread.next_run();
        }
    }
    thread.dropped(dropped).in_buffer(states).finish().unwrap();
    process.finish().unwrap();
    unheld(path);
}

/// Waits until no process can write the header: a child that another test starts has all that is
/// open here until it executes its program, and is taken for the recorded process meanwhile.
fn unheld(path: &Path) {
    let header = File::open(path.join("42/process")).unwrap();
    for _ in 0..60_000 {
        // SAFETY: F_SETLEASE takes a number; the lease ends with the file.
        let leased = unsafe { libc::fcntl(header.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK) };
        let error = std::io::Error::last_os_error().raw_os_error();
        if leased == 0 || error != Some(libc::EAGAIN) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("{} is held open", path.display());
}

fn buffer(path: &Path) -> PathBuf {
    path.join("42/buffer-2")
}

fn change(path: &Path, at: u64, bytes: &[u8]) {
    let file = File::options().write(true).open(path).unwrap();
    file.write_all_at(bytes, at).unwrap();
}

/// Sets slot `index` of the buffer.
fn set_slot(path: &Path, index: u64, state: u32) {
    change(&buffer(path), 2048 + 16 * index, &state.to_le_bytes());
}

fn slot(path: &Path, index: usize) -> u32 {
    let bytes = fs::read(buffer(path)).unwrap();
    u32::from_le_bytes(bytes[2048 + 16 * index..][..4].try_into().unwrap())
}

#[test]
fn what_was_collected_is_what_was_in_the_buffers() {
    for dropped in [0, 9] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        write(path, &[FULL, BY_THREAD, BY_US], dropped, |_| ());
        let before = content(path);
        assert_eq!((before.0.len(), before.1), (9, dropped));
        let collected = recover(path).unwrap();
        assert_eq!((collected.blocks, collected.processes), (4, 1));
        assert!(!buffer(path).exists() && !path.join("control").exists());
        let after = content(path);
        // Whose number a header had told of is now told of by a gap.
        let gap = |event: &&String| event.contains("Dropped");
        assert_eq!(after.0.iter().filter(gap).count(), usize::from(dropped > 0));
        let events: Vec<_> = after.0.iter().filter(|event| !gap(event)).collect();
        assert_eq!(events, before.0.iter().collect::<Vec<_>>());
        assert_eq!(after.1, dropped);
        assert_eq!(recover(path).unwrap().processes, 0);
        assert_eq!(content(path), after);
    }
}

#[test]
fn a_link_in_place_of_a_process_is_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let (path, outside) = (
        directory.path().join("it"),
        directory.path().join("outside"),
    );
    write(&path, &[FULL; 3], 9, |_| ());
    fs::rename(path.join("42"), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, path.join("42")).unwrap();
    let names = || {
        let mut names: Vec<_> = fs::read_dir(&outside).unwrap().flatten().collect();
        names.sort_by_key(fs::DirEntry::file_name);
        let about = names
            .iter()
            .map(|it| (it.file_name(), it.metadata().unwrap().len()));
        about.collect::<Vec<_>>()
    };
    let before = names();
    assert_eq!(recover(&path).unwrap().processes, 0);
    let mut collector = Collector::begin(&path).unwrap();
    assert_eq!(collector.round(), 0);
    assert_eq!(collector.finish().unwrap().processes, 0);
    assert_eq!(names(), before);
    let error = Trace::open(&path).unwrap_err().to_string();
    assert!(
        error.contains("42") && error.contains("is a link"),
        "{error}"
    );
    // Other processes are read.
    let trace = TraceWriter::create(&directory.path().join("two")).unwrap();
    trace.process(43, 1, "/bin/app").unwrap().finish().unwrap();
    let two = directory.path().join("two");
    std::os::unix::fs::symlink(&outside, two.join("42")).unwrap();
    let trace = Trace::open(&two).unwrap();
    assert_eq!(trace.processes().len(), 1);
    let lacking: Vec<String> = trace.lacking().map(ToString::to_string).collect();
    assert!(
        lacking.iter().any(|lack| lack.contains("is a link")),
        "{lacking:?}"
    );
}

/// Every state that a killed `heddle record` or a killed `heddle recover` may leave.
#[test]
fn killed_between_any_two_steps_it_loses_nothing_and_doubles_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (whole, path) = (directory.path().join("whole"), directory.path().join("it"));
    write(&whole, &[FULL; 3], 9, |_| ());
    write(&path, &[FULL; 3], 9, |_| ());
    let before = content(&path);
    recover(&whole).unwrap();
    let after = content(&whole);
    let events = fs::read(whole.join("42/events")).unwrap();
    let check = |step: &str| {
        let (events, dropped) = content(&path);
        assert!(
            events == before.0 || events == after.0,
            "{step}: {events:?}"
        );
        assert_eq!(dropped, 9, "{step}");
        let copy = directory.path().join("copy");
        let _ = fs::remove_dir_all(&copy);
        let copied = std::process::Command::new("cp")
            .arg("-r")
            .args([&path, &copy])
            .status();
        assert!(copied.unwrap().success());
        recover(&copy).unwrap();
        assert_eq!(content(&copy), after, "{step}, then recovered");
        assert_eq!(fs::read_dir(copy.join("42")).unwrap().count(), 3, "{step}");
    };
    check("nothing done");
    // Behind the other thread's block.
    for block in 0..4_u64 {
        let begin = UNIT + ROOM * block;
        let end = (begin + ROOM) as usize;
        if block < 3 {
            set_slot(&path, block, BY_US);
        }
        check("taken");
        let bytes = &events[begin as usize..end.min(events.len())];
        let target = path.join("42/events");
        change(&target, begin, &bytes[..64]);
        check("header written");
        for part in [200, 4096, 70_000] {
            change(&target, begin + 64, &bytes[64..part]);
            check("records written in part");
        }
        change(&target, begin + 64, &bytes[64..]);
        check("records written");
        if block < 3 {
            set_slot(&path, block, 0);
            check("freed");
        }
    }
    let last = events.len() as u64 / UNIT * UNIT;
    change(&path.join("42/events"), last, &events[last as usize..]);
    check("what was dropped is told of");
    fs::remove_file(buffer(&path)).unwrap();
    check("removed");
    assert_eq!(content(&path), after);
}

#[test]
fn a_copy_that_the_end_of_the_disk_cut_short_does_not_count() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    write(path, &[FULL; 3], 0, |_| ());
    let before = content(path);
    let buffered = fs::read(buffer(path)).unwrap();
    // The slot's block with its size in its header, as the thread itself begins to write it.
    let mut block = buffered[4096..4096 + 70_000].to_vec();
    block[12..16].copy_from_slice(&buffered[2048 + 4..][..4]);
    change(&path.join("42/events"), UNIT, &block);
    assert_eq!(content(path), before);
    recover(path).unwrap();
    assert_eq!(content(path), before);
}

/// Every state that a program may leave which is killed while its thread writes blocks itself.
#[test]
fn what_a_thread_wrote_itself_counts_once() {
    let directory = tempfile::tempdir().unwrap();
    let (path, copy) = (directory.path().join("it"), directory.path().join("copy"));
    write(&path, &[FULL; 3], 0, |_| ());
    let before = content(&path);
    let buffered = fs::read(buffer(&path)).unwrap();
    let own = path.join("42/events-2");
    File::create(&own).unwrap();
    let check = |step: &str| {
        assert_eq!(content(&path), before, "{step}");
        let _ = fs::remove_dir_all(&copy);
        let copied = std::process::Command::new("cp")
            .arg("-r")
            .args([&path, &copy])
            .status();
        assert!(copied.unwrap().success());
        recover(&copy).unwrap();
        assert_eq!(content(&copy), before, "{step}, then recovered");
    };
    check("nothing written");
    for index in 0..3 {
        let begin = 4096 + (index << 20);
        let used = &buffered[2048 + 16 * index + 4..][..4];
        let bytes = u32::from_le_bytes(used.try_into().unwrap()) as usize;
        let mut block = buffered[begin..begin + bytes].to_vec();
        block[12..16].copy_from_slice(used);
        set_slot(&path, index as u64, BY_THREAD);
        for part in [64, 4096, 70_000, bytes] {
            change(&own, index as u64 * ROOM, &block[..part]);
            check("written in part");
        }
        set_slot(&path, index as u64, 0);
        check("freed");
    }
}

/// A process whose threads have written some blocks themselves, each to a file of its own; one was
/// killed as it did so. Returns what one reads in it.
fn write_own(path: &Path) -> Content {
    write(path, &[FULL, FULL, BY_THREAD], 0, |_| ());
    let before = content(path);
    let buffered = fs::read(buffer(path)).unwrap();
    let block = |index: usize| {
        let slot = &buffered[2048 + 16 * index + 4..][..4];
        let used = u32::from_le_bytes(slot.try_into().unwrap()) as usize;
        let mut block = buffered[4096 + (index << 20)..][..used].to_vec();
        block[12..16].copy_from_slice(slot);
        block
    };
    let own = [path.join("42/events-2"), path.join("42/events-10")];
    fs::write(&own[0], block(0)).unwrap();
    change(&own[0], ROOM, &block(2)[..70_000]);
    fs::write(&own[1], block(1)).unwrap();
    set_slot(path, 0, 0);
    set_slot(path, 1, 0);
    assert_eq!(content(path), before);
    before
}

fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path.join("42")).unwrap();
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<_> = entries
        .map(|entry| name(entry).into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn what_threads_wrote_themselves_is_joined_to_one_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let before = write_own(path);
    recover(path).unwrap();
    assert_eq!(names(path), ["events", "modules", "process"]);
    assert_eq!(content(path), before);
    let length = fs::metadata(path.join("42/events")).unwrap().len();
    assert_eq!(length.div_ceil(UNIT) * UNIT, UNIT + 4 * ROOM);
}

#[test]
fn what_is_no_file_of_events_is_left_where_it_is() {
    for (make, what) in [
        ("mkfifo $0", "expected a regular file"),
        ("mkdir $0", "expected a regular file"),
        ("ln -s modules $0", "expected a file, found a link"),
    ] {
        for recorded in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path();
            if recorded {
                write_own(path);
                recover(path).unwrap();
            } else {
                let trace = TraceWriter::create(path).unwrap();
                trace.process(42, 1, "/bin/app").unwrap().finish().unwrap();
            }
            let other = path.join("42/events-1");
            let made = std::process::Command::new("sh")
                .args(["-c", make])
                .arg(&other)
                .status();
            assert!(made.unwrap().success());
            let made = fs::symlink_metadata(&other).unwrap().ino();
            let names_before = names(path);
            let apart = recover(path).unwrap().apart.unwrap();
            assert!(
                matches!(&apart.1, Apart::Error(error) if error.to_string().contains(what)),
                "{apart:?}"
            );
            assert_eq!(names(path), names_before, "{make}, recorded: {recorded}");
            assert_eq!(fs::symlink_metadata(&other).unwrap().ino(), made);
        }
    }
}

/// A full disk may have stopped the copy of a block, and its thread have written it since.
#[test]
fn a_copy_that_was_not_finished_replaces_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let before = write_own(path);
    let whole = fs::read(buffer(path)).unwrap();
    let (own, other) = (path.join("42/events-2"), path.join("42/events-10"));
    // Now it has three blocks, and all that is behind the copy is shorter.
    change(&own, ROOM, &fs::read(&other).unwrap());
    let used = &whole[2048 + 32 + 4..][..4];
    let bytes = u32::from_le_bytes(used.try_into().unwrap()) as usize;
    let mut third = whole[4096 + (2 << 20)..][..bytes].to_vec();
    third[12..16].copy_from_slice(used);
    change(&own, 2 * ROOM, &third);
    fs::remove_file(other).unwrap();
    set_slot(path, 2, 0);
    let begun = fs::read(&own).unwrap()[..200].to_vec();
    change(&path.join("42/events"), UNIT, &begun);
    assert_eq!(content(path), before);
    recover(path).unwrap();
    assert_eq!(names(path), ["events", "modules", "process"]);
    assert_eq!(content(path), before);
}

/// Every state that a killed `heddle recover` may leave which was joining files, and what comes of
/// it when it is run again.
#[test]
fn killed_while_it_joins_files_it_loses_nothing_and_doubles_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (path, copy) = (directory.path().join("it"), directory.path().join("copy"));
    let before = write_own(&path);
    let check = |step: &str| {
        assert_eq!(content(&path), before, "{step}");
        let trace = Trace::open(&path).unwrap();
        assert_eq!(trace.processes()[0].damages().places, 0, "{step}");
        let _ = fs::remove_dir_all(&copy);
        let copied = std::process::Command::new("cp")
            .arg("-r")
            .args([&path, &copy])
            .status();
        assert!(copied.unwrap().success());
        recover(&copy).unwrap();
        assert_eq!(content(&copy), before, "{step}, then recovered");
        assert_eq!(names(&copy), ["events", "modules", "process"], "{step}");
    };
    // The last two blocks come from the buffer.
    let whole = fs::read(buffer(&path)).unwrap();
    let (own, events) = (path.join("42/events-2"), path.join("42/events"));
    let first = fs::read(&events).unwrap();
    let block = |index: usize, used: usize| {
        let mut block = whole[4096 + (index << 20)..][..used].to_vec();
        block[12..16].copy_from_slice(&(used as u32).to_le_bytes());
        block
    };
    let position = u64::from_le_bytes(whole[64..72].try_into().unwrap()) as usize;
    let address = u64::from_le_bytes(whole[16..24].try_into().unwrap()) as usize;
    let last = block(3, position - address - 4096 - (3 << 20));
    let used = u32::from_le_bytes(whole[2048 + 32 + 4..][..4].try_into().unwrap());
    let third = block(2, used as usize);
    change(&events, UNIT, &third);
    change(&events, UNIT + ROOM, &last);
    fs::remove_file(buffer(&path)).unwrap();
    check("collected");
    // All of `events` goes behind the largest file, where one block is in part.
    for part in [70_001, third.len()] {
        change(&own, ROOM, &third[..part]);
        check("written to its place");
    }
    for part in [64, 192, first.len()] {
        change(&own, 2 * ROOM, &first[..part]);
        check("the other thread's written");
    }
    for part in [64, 4096, last.len()] {
        change(&own, 2 * ROOM + UNIT, &last[..part]);
        check("the last block written");
    }
    fs::rename(&own, &events).unwrap();
    check("renamed");
    let own = path.join("42/events-10");
    let second = fs::read(&own).unwrap();
    for part in [64, 4096, 70_000, second.len()] {
        change(&events, 3 * ROOM + UNIT, &second[..part]);
        check("another file's block written");
    }
    fs::remove_file(own).unwrap();
    check("removed");
}

#[test]
fn a_flight_recorders_blocks_are_put_together_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    write(path, &[FULL; 3], 0, |process| {
        process.mode(1 << 20, 0);
    });
    // Places that mean nothing, and rooms that are not used up.
    for index in 0..4 {
        let room = (1_u32 << 20).to_le_bytes();
        change(&buffer(path), 4096 + (index << 20) + 8, &room);
        change(
            &buffer(path),
            2048 + 16 * index + 8,
            &(1_u64 << 60).to_le_bytes(),
        );
    }
    let before = content(path);
    let kept = fs::read(buffer(path)).unwrap();
    recover(path).unwrap();
    assert_eq!(content(path), before);
    let size = fs::metadata(path.join("42/events")).unwrap().len();
    assert!(size <= UNIT + 4 * ROOM, "{size}");
    // Killed before the buffer was removed.
    fs::write(buffer(path), kept).unwrap();
    assert_eq!(content(path), before);
    recover(path).unwrap();
    assert_eq!(content(path), before);
    assert_eq!(fs::metadata(path.join("42/events")).unwrap().len(), size);
}

/// While it is there, the process is taken for one that runs: it has its header open for writing.
fn running(path: &Path) -> File {
    let header = path.join("42/process");
    File::options().write(true).open(header).unwrap()
}

#[test]
fn full_blocks_are_taken_while_the_program_runs_and_the_rest_afterwards() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    write(path, &[FULL, BY_THREAD, FULL], 0, |process| {
        process.killed().here();
    });
    let before = content(path);
    let runs = running(path);
    let mut collector = Collector::begin(path).unwrap();
    assert!(matches!(recover(path), Err(Error::Recording(_))));
    assert!(matches!(Collector::begin(path), Err(Error::Recording(_))));
    assert_eq!((collector.round(), collector.round()), (2, 0));
    assert!(collector.trouble().is_none());
    assert_eq!([0, 1, 2, 3].map(|index| slot(path, index)), [0, 3, 0, 1]);
    let trace = Trace::open(path).unwrap();
    assert!(trace.processes()[0].running() && trace.processes()[0].uncollected() == 1);
    assert_eq!(content(path), before);
    let collected = collector.finish().unwrap();
    assert_eq!((collected.running, collected.processes), (vec![42], 0));
    assert!(buffer(path).exists() && !path.join("control").exists());
    assert_eq!(content(path), before);
    drop(runs);
    unheld(path);
    let collected = recover(path).unwrap();
    assert_eq!((collected.running.len(), collected.processes), (0, 1));
    let trace = Trace::open(path).unwrap();
    let process = &trace.processes()[0];
    assert!(!process.running());
    // It was killed: the last stamp is ours.
    assert!(process.latest_stamp().realtime > process.first_stamp().realtime);
    assert_eq!(content(path).0.len(), before.0.len());
}

/// Otherwise the first blocks of a program wait until its directory is read again, and its thread
/// takes as many slots as there may be.
#[test]
fn a_bell_is_also_heard_of_a_process_that_has_just_begun() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let mut collector = Collector::begin(path).unwrap();
    let ring = collector.waker().unwrap();
    assert_eq!(collector.round(), 0);
    write(path, &[FULL, FULL], 0, |process| {
        process.here();
    });
    std::thread::sleep(std::time::Duration::from_millis(2));
    ring();
    assert_eq!(collector.round(), 2);
}

#[test]
fn what_was_made_ready_for_a_process_goes_where_none_took_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let spare = path.join("spare");
    write(path, &[FULL], 0, |process| {
        process.killed().here();
    });
    let before = content(path);
    for taken in [false, true] {
        let mut collector = Collector::begin(path).unwrap();
        collector.make_spare();
        assert!(spare.join("buffer-1").exists());
        assert_eq!(content(path), before);
        if taken {
            // A process that dies before it has recorded anything leaves it so.
            fs::rename(&spare, path.join("77")).unwrap();
            collector.round();
            assert_eq!(content(path), before);
        }
        // The process of `write` is taken for one that runs.
        let runs = running(path);
        collector.finish().unwrap();
        drop(runs);
        unheld(path);
        assert!(!spare.exists() && !path.join("spare-unused").exists());
        assert_eq!(content(path), before);
    }
    // As a killed `heddle record` leaves it.
    fs::create_dir(&spare).unwrap();
    File::create(spare.join("process")).unwrap();
    assert_eq!(content(path).0.len(), before.0.len());
    recover(path).unwrap();
    assert!(!spare.exists());
}

#[test]
fn a_buffer_of_one_slot_or_of_a_flight_recorder_is_its_threads_until_the_end() {
    for (slots, flight) in [(1_u32, 0), (4, 1 << 20)] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        write(path, &[FULL; 4], 0, |process| {
            process.here().mode(flight, 0);
        });
        change(&buffer(path), 12, &slots.to_le_bytes());
        let runs = running(path);
        let mut collector = Collector::begin(path).unwrap();
        assert_eq!(collector.round(), 0);
        assert_eq!(slot(path, 0), FULL);
        drop((runs, collector));
    }
}

/// A block that is being copied while the trace is read: what is there of it in `events` is
/// anything from nothing to all.
#[test]
fn a_copy_in_the_making_does_not_confuse_a_reader() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    write(path, &[FULL, BY_US, FULL], 0, |process| {
        process.here();
    });
    let runs = running(path);
    let before = content(path);
    // Its second half is seen and its first is not yet.
    let target = path.join("42/events");
    change(&target, UNIT + ROOM + 65536, &[0xda; 1000]);
    assert_eq!(content(path), before);
    drop(runs);
}

#[test]
fn a_waiting_collector_is_woken() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    write(path, &[FULL], 0, |_| ());
    let mut collector = Collector::begin(path).unwrap();
    let wake = collector.waker().unwrap();
    collector.round();
    let begun = std::time::Instant::now();
    let waker = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(20));
        wake();
    });
    collector.wait(std::time::Duration::from_secs(60));
    assert!(begun.elapsed().as_secs() < 50);
    waker.join().unwrap();
    // What rang before the wait is not waited for.
    collector.wait(std::time::Duration::from_secs(60));
    assert!(begun.elapsed().as_secs() < 50);
}

#[test]
fn a_block_is_not_written_over_the_next_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    write(path, &[FULL; 3], 0, |_| ());
    let before = content(path);
    // A shorter block of the second one's number is in `events`, behind the other thread's.
    let mut header = fs::read(path.join("42/events")).unwrap()[..64].to_vec();
    header[16..24].copy_from_slice(&1_u64.to_le_bytes());
    change(&path.join("42/events"), UNIT, &header);
    let error = recover(path).unwrap().trouble.unwrap().to_string();
    let said = "block 1 has 73728 bytes, and fewer in the file of events";
    assert!(error.contains(said), "{error}");
    assert_eq!(content(path), before);
}

/// What is copied with the trace, also by tools that know nothing of holes, is what was recorded.
#[test]
fn a_block_that_its_thread_wrote_leaves_no_hole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    write(path, &[FULL; 3], 0, |_| ());
    let before = content(path);
    let slots = fs::read(buffer(path)).unwrap();
    let block = &slots[4096..][..ROOM as usize];
    fs::write(path.join("42/events-2"), block).unwrap();
    set_slot(path, 0, 0);
    assert_eq!(content(path), before);
    recover(path).unwrap();
    assert_eq!(content(path), before);
    // The other thread's block, and its own four.
    let length = fs::metadata(path.join("42/events")).unwrap().len();
    assert_eq!(length.div_ceil(UNIT) * UNIT, UNIT + 4 * ROOM);
}

#[test]
fn drops_that_gaps_tell_of_already_are_not_told_of_twice() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let trace = TraceWriter::create(path).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    let mut thread = process.thread(42, "app");
    thread.enter(1, 0x1010, 0, 0x7000);
    thread
        .gap(2, Why::Dropped, Some(5))
        .enter(3, 0x1010, 0, 0x7000);
    thread.dropped(8).finish().unwrap();
    process.dropped(100).finish().unwrap();
    assert_eq!(content(path).1, 8);
    recover(path).unwrap();
    let (events, dropped) = content(path);
    assert_eq!(dropped, 8);
    assert!(events[3].contains("missing: Some(3)"), "{events:?}");
    assert_eq!(Trace::open(path).unwrap().processes()[0].dropped(), 100);
}

#[test]
fn drops_of_a_buffer_without_a_block_stay_with_its_thread() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let trace = TraceWriter::create(path).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    let mut thread = process.thread(42, "app");
    thread.enter(1, 0x1010, 0, 0x7000).finish().unwrap();
    process.finish().unwrap();
    // The collector has copied all blocks, and the thread found no room for another.
    let mut header = [0; 4096];
    header[..8].copy_from_slice(b"HEDLBUFR");
    header[8] = 2;
    header[12] = 2;
    header[24] = 9;
    header[32] = 1;
    let buffer = path.join("42/buffer-1");
    fs::write(&buffer, header).unwrap();
    assert_eq!(content(path).1, 9);
    recover(path).unwrap();
    assert!(!buffer.exists());
    assert_eq!(content(path).1, 9);

    // Where the header does not say whose they are, it is all that tells of them.
    header[32] = 0;
    fs::write(&buffer, header).unwrap();
    recover(path).unwrap();
    assert!(buffer.exists());
    assert_eq!(Trace::open(path).unwrap().processes()[0].dropped(), 9);
}

/// Whose directory it is could put a link in the place of a file. Only root can give one away.
#[test]
fn nothing_is_written_into_the_directory_of_another_user() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    write(&path, &[FULL], 0, |_| {});
    let away = |path: &Path| std::os::unix::fs::chown(path, Some(65534), None).is_ok();
    if !away(&path) {
        return;
    }
    let names = || fs::read_dir(&path).unwrap().count();
    let before = names();
    assert!(matches!(
        recover(&path),
        Err(Error::Others { owner: 65534, .. })
    ));
    assert_eq!(names(), before);
}
