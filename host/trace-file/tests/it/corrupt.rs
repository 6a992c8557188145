//! Whatever the bytes are, reading and collecting them ends, without a panic.

use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use heddle_trace_file::{Addr, Error, ImageId, Nanos, Thread, Trace, Why, pack, recover};
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

fn every_record(thread: &mut ThreadWriter) {
    thread
        .enter(10, 0x1010, 0x1500, 0x7000)
        .untimed()
        .entry(0, 0x1020, 0x1015, 0x6ff8)
        .mark(12, 3, "here")
        .gap(13, Why::Dropped, Some(5))
        .strand_switch(14, 9)
        .strand_name(14, 9, "nine")
        .capture(0x1010, 0x6000_0010, Some(2))
        .object_met(15, (1, 0x5000, 1), 0x1500)
        .wait(15, (1, 0x5000, 1), 0x1500, (43, 0x1500))
        .wait_ended(16, 0, 43)
        .wake(16, 1, 1, 0x1500)
        .next_run()
        .leave(1 << 40, 0x6ff8)
        .wide(true)
        .exit((1 << 40) + 1, 0x1010, 0x1500, 0x7000);
}

fn sample(path: &Path) {
    let trace = TraceWriter::create(path).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    process
        .module(0x1000, 0x2000, 0x1000, Some("abcd"), "/bin/app")
        .module_line("unload 1000020 1000");
    process
        .objects(&[[0x5000, 1, 1, 1, 43, 0, 0, 0]], 0)
        .unwrap()
        .allocation(&[[10, 20, 5, 1, 1, 32, 42 | 1 << 32, 0]], 0)
        .unwrap();
    let mut stored = process.thread(42, "app");
    every_record(&mut stored);
    stored.finish().unwrap();
    let mut buffered = process.thread(43, "worker");
    every_record(&mut buffered);
    buffered.dropped(7).in_buffer(&[2]).finish().unwrap();
    process.finish().unwrap();
}

/// A process with a thread whose events are in a buffer.
fn uncollected(trace: &TraceWriter, pid: u32) {
    let mut process = trace.process(pid, 1, "/bin/app").unwrap();
    let mut thread = process.thread(pid, "app");
    every_record(&mut thread);
    thread.in_buffer(&[2]).finish().unwrap();
    process.finish().unwrap();
}

fn read_everything(path: &Path) {
    if let Ok(trace) = Trace::open(path) {
        let _ = trace.in_order(|_, _| true);
        for process in trace.processes() {
            let entries = process.allocation().map_or(&[][..], |all| &all.entries);
            for entry in entries {
                assert!(entry.within(Nanos(0), Nanos(u64::MAX)) <= entry.took);
            }
            process.modules().find(Addr(0x1010), Nanos(10));
            for thread in process.threads() {
                let _ = thread.count();
                thread.runs().for_each(|run| run.events().for_each(drop));
            }
        }
    }
}

const FILES: [&str; 7] = [
    "heddle",
    "42/process",
    "42/modules",
    "42/events",
    "42/buffer-2",
    "42/objects-1",
    "42/allocation-1",
];

/// What one reads in a trace, and whether it is said that something is missing.
fn read(path: &Path) -> Option<(Vec<String>, bool)> {
    let trace = Trace::open(path).ok()?;
    let mut lines = Vec::new();
    let remarks = trace.in_order(|place, event| {
        lines.push(format!("{place:?} {event:?}"));
        true
    });
    let mut said = remarks.is_err() || trace.lacking().next().is_some();
    said |= remarks.is_ok_and(|remarks| remarks.damages.first.is_some());
    for process in trace.processes() {
        lines.extend(process.modules().iter().map(|module| format!("{module:?}")));
        said |= process.damages().first.is_some();
        for thread in process.threads() {
            // Who only counts, as record does, is told of the same damages.
            if let (Ok((_, counted)), Ok(read)) = (thread.count(), thread.remarks()) {
                assert_eq!(counted.damages.places, read.damages.places);
                assert_eq!(counted.damages.bytes, read.damages.bytes);
            }
        }
        said |= process.missing_threads() > 0 || process.missing_runs() > 0;
        said |= process.missing_blocks() > 0;
    }
    Some((lines, said))
}

/// A file that was copied in part: an error, or what is there and that something is missing.
#[test]
fn what_a_cut_has_taken_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    sample(path);
    // The recorder saw the process's end.
    let header = path.join("42/process");
    let mut bytes = fs::read(&header).unwrap();
    bytes[12] = 1;
    fs::write(&header, bytes).unwrap();
    let (whole, said) = read(path).unwrap();
    assert!(!said);
    for name in FILES {
        let file = path.join(name);
        let bytes = fs::read(&file).unwrap();
        // Most of what is long is a header or a hole.
        for cut in (0..bytes.len()).step_by(1 + bytes.len() / 300) {
            fs::write(&file, &bytes[..cut]).unwrap();
            if let Some((lines, said)) = read(path) {
                assert!(said || lines == whole, "{name} cut to {cut} bytes");
            }
        }
        fs::write(&file, bytes).unwrap();
    }
}

/// A bad block of the disk, or a copy over a bad wire, of what tells which function an address is.
#[test]
fn what_a_flipped_bit_of_a_list_of_modules_has_changed_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let trace = TraceWriter::create(path).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    process
        .module(0x1000, 0x2000, 0x1000, Some("abcd"), "/bin/app")
        .module(0x3000, 0x4000, 0x3000, None, "/lib/a b")
        .module_line("unload 1000020 1000");
    let mut thread = process.thread(42, "app");
    every_record(&mut thread);
    thread.finish().unwrap();
    process.finish().unwrap();
    let (header, modules) = (path.join("42/process"), path.join("42/modules"));
    let (mut of_process, text) = (fs::read(&header).unwrap(), fs::read(&modules).unwrap());
    for ended in [1, 0] {
        of_process[12] = ended;
        fs::write(&header, &of_process).unwrap();
        fs::write(&modules, &text).unwrap();
        assert!(!read(path).unwrap().1);
        for bit in 0..text.len() * 8 {
            let mut flipped = text.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            fs::write(&modules, flipped).unwrap();
            let (_, said) = read(path).unwrap();
            assert!(said, "ended: {ended}, bit {} of byte {}", bit % 8, bit / 8);
        }
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_anywhere(
        which in prop::sample::select(FILES.to_vec()),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        at in 0usize..5000,
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
        let _ = recover(directory.path());
        read_everything(directory.path());
    }

    #[test]
    fn arbitrary_words_in_a_good_run(
        words in prop::collection::vec(
            prop_oneof![
                any::<u64>(),
                0u64..64,
                (1u64..12).prop_map(|kind| kind << 4 | 3 << 16),
            ],
            0..50,
        ),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let trace = TraceWriter::create(directory.path()).unwrap();
        let mut process = trace.process(42, 1, "/bin/app").unwrap();
        let mut thread = process.thread(42, "app");
        for word in words {
            thread.word(word);
        }
        thread.finish().unwrap();
        process.finish().unwrap();
        let trace = Trace::open(directory.path()).unwrap();
        let events: Vec<_> = trace.processes()[0].threads()[0].events().collect();
        // Times never decrease, and what is damaged is passed over.
        let times: Vec<_> = events.iter().flatten().map(|event| event.time).collect();
        prop_assert!(times.is_sorted());
        prop_assert!(events.iter().all(Result::is_ok));
    }
}

/// Root, too, looks at traces of others.
#[test]
fn no_link_in_a_trace_is_followed() {
    let directory = tempfile::tempdir().unwrap();
    let secret = directory.path().join("secret");
    fs::write(&secret, "1000 2000 0 root:hash\n").unwrap();
    let names = FILES.into_iter().chain(["switches"]);
    for (name, leads_to_itself) in names.flat_map(|name| [(name, false), (name, true)]) {
        let path = directory.path().join("trace");
        sample(&path);
        let file = path.join(name);
        let _ = fs::remove_file(&file);
        let target = match leads_to_itself {
            true => &file,
            false => &secret,
        };
        std::os::unix::fs::symlink(target, &file).unwrap();
        let said = match Trace::open(&path) {
            Err(error) => error.to_string(),
            Ok(trace) => {
                let mut said: Vec<String> = Vec::new();
                match trace.in_order(|_, _| true) {
                    Err(error) => said.push(error.to_string()),
                    Ok(remarks) => said.extend(remarks.damages.first.map(|it| it.to_string())),
                }
                let damages = trace.processes()[0].damages();
                said.extend(damages.first.as_ref().map(ToString::to_string));
                said.extend(trace.lacking().map(ToString::to_string));
                said.concat()
            }
        };
        assert!(!said.contains("root:hash"), "{name}: {said}");
        let is_marker = name == "heddle";
        let is_said = match leads_to_itself || name == "switches" {
            true => !said.is_empty(),
            false => said.contains("found a link"),
        };
        assert!(is_marker || is_said, "{name}: {said}");
        fs::remove_dir_all(&path).unwrap();
    }
    // The trace itself may be named by one.
    let (path, link) = (
        directory.path().join("trace"),
        directory.path().join("link"),
    );
    sample(&path);
    recover(&path).unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let trace = Trace::open(&link).unwrap();
    let packed = directory.path().join("packed");
    pack(&trace, &[], &packed).unwrap();
    let named = directory.path().join("named");
    std::os::unix::fs::symlink(&packed, &named).unwrap();
    Trace::open(&named).unwrap();
    // A link that took a file's place after the trace was opened is not packed either.
    for name in [
        "42/process",
        "42/modules",
        "42/objects-1",
        "42/allocation-1",
    ] {
        let aside = directory.path().join("aside");
        fs::rename(path.join(name), &aside).unwrap();
        std::os::unix::fs::symlink(&secret, path.join(name)).unwrap();
        let other = directory.path().join("other");
        let error = pack(&trace, &[], &other).unwrap_err().to_string();
        let _ = fs::remove_file(&other);
        assert!(error.contains("found a link"), "{name}: {error}");
        fs::rename(&aside, path.join(name)).unwrap();
    }
}

/// Two processes, 42 and 43, with two calls each.
fn two_processes(path: &Path) {
    let trace = TraceWriter::create(path).unwrap();
    for pid in [42, 43] {
        let mut process = trace.process(pid, 1, "/bin/app").unwrap();
        process.module(0x1000, 0x2000, 0, None, "/bin/app");
        process
            .thread(pid, "app")
            .enter(10, 0x1000, 0x1500, 0x7000)
            .exit(20, 0x1000, 0x1500, 0x7000)
            .finish()
            .unwrap();
        process.finish().unwrap();
    }
}

#[test]
fn what_lies_in_place_of_a_process_costs_that_process_alone() {
    for (make, told) in [
        ("mkfifo $0/process", "expected a regular file"),
        ("mkdir $0/process", "expected a regular file"),
        ("ln -s /dev/zero $0/process", "found a link"),
        ("rm -r $0; mkfifo $0", "42 is no directory"),
        ("rm -r $0; touch $0", "42 is no directory"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        two_processes(path);
        fs::remove_file(path.join("42/process")).unwrap();
        let made = Command::new("sh")
            .args(["-c", make])
            .arg(path.join("42"))
            .status();
        assert!(made.unwrap().success());
        assert_only_43(path, told);
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    two_processes(path);
    fs::remove_file(path.join("42/process")).unwrap();
    let _socket = UnixListener::bind(path.join("42/process")).unwrap();
    assert_only_43(path, "expected a regular file");
}

fn assert_only_43(path: &Path, told: &str) {
    let trace = Trace::open(path).unwrap();
    let pids: Vec<u32> = trace.processes().iter().map(|it| it.pid()).collect();
    assert_eq!(pids, [43]);
    let lacks: Vec<String> = trace.lacking().map(ToString::to_string).collect();
    assert_eq!(lacks.len(), 1, "{lacks:?}");
    assert!(lacks[0].contains(told), "{lacks:?}");
    assert!(
        lacks[0].ends_with(": nothing of this process is read"),
        "{lacks:?}"
    );
    recover(path).unwrap();
}

#[test]
fn a_process_of_another_version_or_clock_costs_that_process_alone() {
    for (at, byte, told) in [
        (
            8,
            99,
            "offset 8 (version 99 of the format; this heddle reads",
        ),
        (8, 1, "offset 8 (version 1 of the format; this heddle reads"),
        (
            24,
            1,
            "offset 24 (clock Tsc; expected MonotonicRaw, which the first process has; which is right is not known",
        ),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        two_processes(path);
        // The first of two that began at once has the smaller number.
        let [other, kept] = if at == 24 { [43, 42] } else { [42, 43] };
        let file = path.join(format!("{other}/process"));
        let mut bytes = fs::read(&file).unwrap();
        assert_ne!(bytes[at], byte);
        bytes[at] = byte;
        fs::write(&file, bytes).unwrap();
        let trace = Trace::open(path).unwrap();
        let pids: Vec<u32> = trace.processes().iter().map(|it| it.pid()).collect();
        assert_eq!(pids, [kept]);
        let lacks: Vec<String> = trace.lacking().map(ToString::to_string).collect();
        assert!(lacks[0].contains(told), "{lacks:?}");
        recover(path).unwrap();
    }
}

/// One of two processes, whose stamps are a second apart in both, and what is said of it.
#[test]
fn a_process_whose_stamps_no_clock_gives_costs_that_process_alone() {
    let stamp = |bytes: &mut [u8], at: usize, ticks: u64, nanos: u64| {
        bytes[at..at + 8].copy_from_slice(&ticks.to_le_bytes());
        bytes[at + 16..at + 24].copy_from_slice(&nanos.to_le_bytes());
    };
    let contradicts = "no clock runs as its first and its latest stamp say";
    let disagree = "its stamps contradict those of other processes; which are right is not known";
    // A header has two stamps, the first at 40 and the latest at 64. Each is three times: ticks,
    // the wall clock and CLOCK_MONOTONIC_RAW.
    for (pid, flipped, told) in [
        (42, &[71][..], contradicts),
        (43, &[71], contradicts),
        (43, &[87], contradicts),
        (42, &[63], contradicts),
        (42, &[62, 86], disagree),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        two_processes(path);
        for each in [42, 43] {
            let file = path.join(format!("{each}/process"));
            let mut bytes = fs::read(&file).unwrap();
            let first = u64::from_le_bytes(bytes[40..48].try_into().unwrap());
            (bytes[24], bytes[28]) = (1, 1);
            stamp(&mut bytes, 64, first + 2_100_000_000, first + 1_000_000_000);
            for &byte in flipped.iter().filter(|_| each == pid) {
                bytes[byte] ^= 0x40;
            }
            fs::write(&file, bytes).unwrap();
        }
        let trace = Trace::open(path).unwrap();
        let pids: Vec<u32> = trace.processes().iter().map(|it| it.pid()).collect();
        assert_eq!(pids, [85 - pid], "{flipped:?}");
        assert!((trace.rate().frequency() - 2.1e9).abs() < 1.0);
        let lacks: Vec<String> = trace.lacking().map(ToString::to_string).collect();
        let of = path.join(format!("{pid}/process"));
        let said = format!(
            "{} is damaged at offset 40 ({told}): nothing of",
            of.display()
        );
        assert!(lacks.len() == 1 && lacks[0].starts_with(&said), "{lacks:?}");
    }
}

/// Runs `act` as one who may not read, nor write, what belongs to root.
fn unprivileged(act: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: it takes no pointer, and changes which files this thread may open, alone.
            unsafe { libc::setfsuid(65534) };
            act();
        });
    });
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_file_that_may_not_be_read_costs_that_file_alone() {
    for name in FILES.iter().filter(|name| name.contains('/')) {
        let directory = tempfile::tempdir().unwrap();
        allow(directory.path(), 0o777);
        let path = &directory.path().join("trace");
        sample(path);
        let trace = TraceWriter::create(&directory.path().join("other")).unwrap();
        trace.process(43, 1, "/bin/app").unwrap().finish().unwrap();
        fs::rename(directory.path().join("other/43"), path.join("43")).unwrap();
        for inner in ["", "42", "43"] {
            allow(&path.join(inner), 0o777);
        }
        for file in FILES.iter().chain(&["43/process"]) {
            allow(&path.join(file), if file == name { 0 } else { 0o666 });
        }
        unprivileged(|| {
            let (_, said) = read(path).unwrap();
            assert!(said, "{name}");
            let trouble = recover(path).unwrap().trouble;
            let why = match *name {
                // Nothing can be copied there, and what is in buffers is read in these.
                "42/events" => Some(": Permission denied"),
                "42/buffer-2" => Some(": at offset 0: it cannot be read: Permission denied"),
                _ => None,
            };
            assert_eq!(
                trouble.map(|it| it.to_string()),
                why.map(|why| format!("{}{why}", path.join(name).display()))
            );
            let packed = directory.path().join("packed");
            let result = pack(&Trace::open(path).unwrap(), &[], &packed);
            if *name == "42/events" {
                assert!(matches!(result, Err(Error::Uncollected(_))));
                return;
            }
            result.unwrap();
            let (_, said) = read(&packed).unwrap();
            assert!(said, "{name}, packed");
        });
    }
}

#[test]
fn a_header_that_may_not_be_written_keeps_no_other_process_from_being_collected() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let trace = TraceWriter::create(path).unwrap();
    for pid in [42, 43] {
        uncollected(&trace, pid);
        allow(&path.join(pid.to_string()), 0o777);
    }
    allow(path, 0o777);
    allow(&path.join("42/process"), 0o444);
    for file in ["43/process", "43/buffer-1", "heddle"] {
        allow(&path.join(file), 0o666);
    }
    unprivileged(|| {
        let collected = recover(path).unwrap();
        assert_eq!(collected.processes, 1);
        let trouble = collected.trouble.unwrap().to_string();
        assert!(
            trouble.ends_with("42/process: Permission denied"),
            "{trouble}"
        );
    });
    assert!(path.join("42/buffer-1").exists() && !path.join("43/buffer-1").exists());
}

/// A bad clock, or a bad frequency, in the header of the first process is that process's damage.
#[test]
fn a_first_process_that_contradicts_the_others_costs_that_process_alone() {
    let header = |path: &Path, pid: u32, change: &dyn Fn(&mut [u8])| {
        let file = path.join(format!("{pid}/process"));
        let mut bytes = fs::read(&file).unwrap();
        change(&mut bytes);
        fs::write(&file, bytes).unwrap();
    };
    let clock = |bytes: &mut [u8]| bytes[24] = 1;
    let frequency = |bytes: &mut [u8], ticks: u64| {
        bytes[32..40].copy_from_slice(&ticks.to_le_bytes());
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rate");
    two_processes(&path);
    header(&path, 42, &clock);
    header(&path, 43, &clock);
    header(&path, 43, &|bytes| frequency(bytes, 1_000_000_000));
    header(&path, 42, &|bytes| frequency(bytes, 0));
    let third = directory.path().join("third");
    two_processes(&third);
    let copied = Command::new("cp")
        .arg("-r")
        .args([third.join("43"), third.join("44")])
        .status();
    assert!(copied.unwrap().success());
    header(&third, 44, &|bytes| {
        bytes[16..20].copy_from_slice(&44u32.to_le_bytes())
    });
    header(&third, 42, &clock);
    for (path, kept, told) in [
        (path, &[43][..], "how fast the clock runs"),
        (
            third,
            &[43, 44],
            "clock Tsc; expected MonotonicRaw, as most",
        ),
    ] {
        let trace = Trace::open(&path).unwrap();
        let processes = trace.processes();
        let pids: Vec<u32> = processes.iter().map(|it| it.pid()).collect();
        assert_eq!(pids, kept);
        assert!(
            processes
                .iter()
                .all(|it| it.threads()[0].events().count() == 2)
        );
        let lacks: Vec<String> = trace.lacking().map(ToString::to_string).collect();
        assert!(
            lacks[0].contains("42/process") && lacks[0].contains(told),
            "{lacks:?}"
        );
        assert_eq!(lacks.len(), 1, "{lacks:?}");
    }
}

#[test]
fn buffers_stay_where_nothing_tells_whose_they_are() {
    for damage in ["version", "emptied", "removed"] {
        let directory = tempfile::tempdir().unwrap();
        let trace = TraceWriter::create(directory.path()).unwrap();
        for pid in [42, 43] {
            uncollected(&trace, pid);
        }
        let file = directory.path().join("42/process");
        match damage {
            "version" => {
                let mut bytes = fs::read(&file).unwrap();
                bytes[8] = 99;
                fs::write(&file, bytes).unwrap();
            }
            "emptied" => fs::write(&file, []).unwrap(),
            _ => fs::remove_file(&file).unwrap(),
        }
        for collects in [1, 0] {
            let collected = recover(directory.path()).unwrap();
            assert_eq!(collected.processes, collects, "{damage}");
            assert_eq!(collected.left, [ImageId { pid: 42, image: 0 }], "{damage}");
            assert!(directory.path().join("42/buffer-1").exists());
        }
    }
}

/// Processes are named in their order; one that has left no events in a buffer is not.
#[test]
fn all_whose_buffers_must_stay_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let trace = TraceWriter::create(directory.path()).unwrap();
    for pid in [103, 9, 42, 44] {
        uncollected(&trace, pid);
        let directory = directory.path().join(pid.to_string());
        fs::write(directory.join("process"), "no header").unwrap();
    }
    let buffer = directory.path().join("44/buffer-1");
    fs::remove_file(&buffer).unwrap();
    let made = Command::new("mkfifo").arg(&buffer).status();
    assert!(made.unwrap().success());
    let left = recover(directory.path()).unwrap().left;
    assert_eq!(
        left.iter().map(|it| it.pid).collect::<Vec<_>>(),
        [9, 42, 103]
    );
}

/// Every block that is there is read, before it is collected and after.
#[test]
fn a_cut_buffer_costs_what_is_cut() {
    let directory = tempfile::tempdir().unwrap();
    for cut in [
        0,
        1,
        100,
        4095,
        4096,
        4160,
        4200,
        4096 + 64 + 256,
        1 << 20,
        (1 << 20) + 4096 + 80,
    ] {
        let path = directory.path().join(cut.to_string());
        let trace = TraceWriter::create(&path).unwrap();
        let mut process = trace.process(42, 1, "/bin/app").unwrap();
        for tid in [42, 43] {
            let mut thread = process.thread(tid, "app");
            every_record(&mut thread);
            thread.in_buffer(&[2]).finish().unwrap();
        }
        process.finish().unwrap();
        let whole = Trace::open(&path).unwrap();
        let threads = whole.processes()[0].threads();
        let all = |thread: &Thread| -> Vec<String> {
            thread.events().map(|it| format!("{it:?}")).collect()
        };
        let [cut_one, other] = [&threads[0], &threads[1]].map(all);
        let buffers = ["42/buffer-1", "42/buffer-2"].map(|name| path.join(name));
        let bytes = fs::read(&buffers[0]).unwrap();
        assert!(cut == 1 << 20 || cut < bytes.len() || bytes.len() < 1 << 20);
        let cut = cut.min(bytes.len() - 8);
        fs::write(&buffers[0], &bytes[..cut]).unwrap();
        for collected in [false, true] {
            let trace = Trace::open(&path).unwrap();
            let process = &trace.processes()[0];
            let thread = process.threads().last().unwrap();
            assert_eq!(all(thread), other, "cut to {cut}, collected: {collected}");
            // A cut within a block's records leaves those before it.
            let left = match process.threads() {
                [first, _] => all(first)
                    .iter()
                    .zip(&cut_one)
                    .filter(|(a, b)| a == b)
                    .count(),
                _ => 0,
            };
            assert_eq!(left > 0, cut > 4200, "cut to {cut}: {left} events are left");
            // An empty file is one that nobody has written.
            let said = process.damages().first.is_some() || process.missing_blocks() > 0;
            assert!(said || cut == 0, "cut to {cut}, collected: {collected}");
            let trouble = recover(&path).unwrap().trouble;
            assert_eq!(trouble.is_some(), cut > 0, "cut to {cut}");
            assert!(!buffers[1].exists());
        }
    }
}

#[test]
fn a_damaged_process_costs_that_process_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    two_processes(path);
    let file = path.join("42/process");
    let whole = fs::read(&file).unwrap();
    let mut wrong = whole.clone();
    wrong[3] ^= 0x20;
    let others = fs::read(path.join("43/process")).unwrap();
    for bytes in [
        &whole[..1],
        &whole[..100],
        &whole[..whole.len() - 1],
        &wrong,
        &others,
    ] {
        fs::write(&file, bytes).unwrap();
        assert_only_43(path, "42/process is damaged at offset ");
    }
}
