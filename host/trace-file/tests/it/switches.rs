//! What `heddle record --sched` writes is read: stretches of threads off their processors.

use heddle_trace_file::write::{ASKED_SWITCHES, START, TraceWriter};
use heddle_trace_file::{
    Addr, Claim, Early, EventKind, Nanos, OffCpu, Refusal, Switch, SwitchKind, SwitchWriter,
    Switches, Trace, pack,
};
use std::fs;
use std::ops::Range;
use std::path::Path;

fn sample(path: &Path) -> TraceWriter {
    let trace = TraceWriter::create(path).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    process
        .thread(42, "app")
        .long_call(30, 20, "read 3 pipe:[5]")
        .by(0x7fff_1230)
        .long_call(50, 40, "usleep")
        .finish()
        .unwrap();
    process.finish().unwrap();
    trace
}

fn switch(time: u64, tid: u32, kind: SwitchKind) -> Switch {
    Switch {
        time: Nanos(time),
        pid: 42,
        tid,
        cpu: 0,
        kind,
    }
}

fn off(times: Range<u64>, preempted: bool) -> OffCpu {
    OffCpu {
        from: Nanos(times.start),
        to: Nanos(times.end),
        preempted,
        open: false,
    }
}

const ALL: Range<Nanos> = Nanos(0)..Nanos(u64::MAX);

fn read(path: &Path) -> Switches {
    Trace::open(path).unwrap().switches().unwrap().unwrap()
}

#[test]
fn stretches_pair_by_thread_whatever_the_order_of_the_processors() {
    use SwitchKind::{Blocks, Ended, Lost, Preempted, Runs};
    let directory = tempfile::tempdir().unwrap();
    let trace = sample(directory.path());
    let all = [
        // One processor's, then another's.
        switch(10, 42, Blocks),
        switch(50, 42, Runs),
        switch(60, 42, Preempted),
        switch(7, 43, Runs),
        switch(40, 43, Blocks),
        switch(70, 42, Runs),
        // The next thread of that number has not been off when it begins.
        switch(45, 43, Ended),
        switch(80, 43, Runs),
        switch(90, 43, Blocks),
        // An end without a beginning, and a beginning without an end.
        switch(10, 44, Runs),
        switch(20, 44, Runs),
        switch(30, 44, Blocks),
        switch(40, 44, Blocks),
        switch(55, 44, Runs),
        switch(0, 7, Lost),
    ];
    trace.switches(&all, Some(100)).unwrap();
    let switches = read(directory.path());
    assert_eq!(
        switches.of(42, ALL),
        [off(10..50, false), off(60..70, true)]
    );
    let at_the_end = OffCpu {
        open: true,
        ..off(90..100, false)
    };
    assert_eq!(switches.of(43, ALL), [at_the_end]);
    assert_eq!(switches.of(44, ALL), [off(40..55, false)]);
    assert_eq!(switches.of(45, ALL), []);
    assert_eq!(switches.of(42, Nanos(50)..Nanos(70)), [off(60..70, true)]);
    assert_eq!(switches.of(42, Nanos(20)..Nanos(60)), [off(10..50, false)]);
    assert_eq!((switches.lost, switches.unpaired), (7, 2));
    assert_eq!(switches.until, Some(Nanos(100)));
    let mut threads: Vec<u32> = switches.threads().collect();
    threads.sort_unstable();
    assert_eq!(threads, [42, 43, 44]);
}

#[test]
fn a_thread_that_calls_exec_goes_on_as_its_processs_first() {
    use SwitchKind::{Blocks, Ended, Runs};
    let directory = tempfile::tempdir().unwrap();
    let trace = sample(directory.path());
    let on = |cpu, switch| Switch { cpu, ..switch };
    let all = [
        switch(10, 42, Runs),
        switch(20, 42, Blocks),
        // The second thread calls exec, which ends the first.
        switch(55, 42, Runs),
        switch(60, 42, Ended),
        on(1, switch(15, 43, Runs)),
        on(1, switch(50, 43, Blocks)),
        on(1, switch(65, 43, Runs)),
        on(1, switch(70, 42, Blocks)),
        on(1, switch(90, 42, Runs)),
        on(1, switch(95, 42, Ended)),
    ];
    trace.switches(&all, Some(100)).unwrap();
    let switches = read(directory.path());
    let lives = switches.lives.iter();
    let lives: Vec<_> = lives.map(|it| (it.tid, it.from.0, it.to.0)).collect();
    assert_eq!(lives, [(42, 10, 60), (43, 15, 65), (42, 65, 95)]);
    assert_eq!(switches.of(43, ALL), [off(50..65, false)]);
    let of_first = [off(20..55, false), off(70..90, false)];
    assert_eq!(switches.of(42, ALL), of_first);
    assert_eq!((switches.unpaired, switches.lost), (0, 0));
}

#[test]
fn of_a_killed_recorder_the_last_switch_is_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let trace = sample(directory.path());
    let all = [
        switch(10, 42, SwitchKind::Blocks),
        switch(20, 42, SwitchKind::Runs),
    ];
    trace.switches(&all, None).unwrap();
    // A record that was being written.
    let path = directory.path().join("switches");
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend([1; 23]);
    fs::write(&path, bytes).unwrap();
    let switches = read(directory.path());
    assert_eq!(switches.of(42, ALL), [off(10..20, false)]);
    assert_eq!(switches.until, None);
}

#[test]
fn a_file_that_was_cut_tells_up_to_the_last_whole_round_and_is_told_of() {
    let directory = tempfile::tempdir().unwrap();
    let trace = sample(directory.path());
    let on = |cpu, switch| Switch { cpu, ..switch };
    let all = [
        on(0, switch(10, 42, SwitchKind::Blocks)),
        on(1, switch(20, 43, SwitchKind::Blocks)),
        // Another round, of which only the first processor's will be there.
        on(0, switch(30, 42, SwitchKind::Runs)),
        on(1, switch(25, 43, SwitchKind::Runs)),
    ];
    trace.switches(&all, Some(50)).unwrap();
    assert_eq!(read(directory.path()).early, None);
    let path = directory.path().join("switches");
    let bytes = fs::read(&path).unwrap();
    let said = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let trace = Trace::open(directory.path()).unwrap();
        let lacks = trace.lacking().filter(|lack| lack.path == path);
        lacks.map(ToString::to_string).collect::<Vec<_>>()
    };
    assert!(said(&bytes[..bytes.len() - 24])[0].contains("switches ends early"));
    let switches = read(directory.path());
    assert_eq!((switches.early, switches.until), (Some(Early::Cut), None));
    assert_eq!(switches.told, Nanos(20));
    assert_eq!(switches.of(42, ALL)[0].to, Nanos(20));
    // An older heddle record has not said how many there are.
    let mut older = bytes.clone();
    older[40..48].fill(0);
    assert!(said(&older).is_empty());
    assert!(said(&older[..older.len() - 1])[0].contains("switches ends early"));
    // It was asked for, as a process says.
    let process = directory.path().join("42/process");
    let mut header = fs::read(&process).unwrap();
    header[208] = (1 | ASKED_SWITCHES) as u8;
    fs::write(process, header).unwrap();
    assert!(said(&[])[0].contains("switches is empty"));
    fs::remove_file(&path).unwrap();
    let lacks: Vec<_> = Trace::open(directory.path())
        .unwrap()
        .lacking()
        .cloned()
        .collect();
    assert!(lacks[0].what.starts_with("is missing"), "{lacks:?}");
}

#[test]
fn a_writer_that_gives_up_says_why() {
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    let claim = Claim::of(directory.path()).unwrap();
    let mut writer = SwitchWriter::begin(&claim, None).unwrap();
    writer
        .add(&[switch(START + 5, 42, SwitchKind::Runs)])
        .unwrap();
    writer.give_up(&std::io::Error::from_raw_os_error(libc::ENOSPC));
    let switches = read(directory.path());
    assert_eq!(switches.early, Some(Early::Unwritten(libc::ENOSPC)));
    assert_eq!((switches.until, switches.told), (None, Nanos(5)));
}

#[test]
fn what_the_writer_says_is_read_again_also_why_there_is_nothing() {
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    let claim = Claim::of(directory.path()).unwrap();
    for refused in [
        Refusal {
            error: libc::EACCES,
            paranoid: Some(-1),
        },
        Refusal {
            error: libc::EPERM,
            paranoid: None,
        },
    ] {
        SwitchWriter::begin(&claim, Some(refused)).unwrap();
        assert_eq!(read(directory.path()).refused, Some(refused));
    }
    let mut writer = SwitchWriter::begin(&claim, None).unwrap();
    let later = |time| switch(START + time, 42, SwitchKind::Runs);
    let left = Switch {
        kind: SwitchKind::Preempted,
        ..later(5)
    };
    writer.add(&[left, later(9)]).unwrap();
    writer.finish().unwrap();
    let switches = read(directory.path());
    assert_eq!(switches.of(42, ALL), [off(5..9, true)]);
    assert!(switches.until.is_some() && switches.refused.is_none());
}

#[test]
fn a_packed_trace_has_them_and_a_damaged_file_is_told_of() {
    let directory = tempfile::tempdir().unwrap();
    let trace = sample(directory.path());
    assert!(
        Trace::open(directory.path())
            .unwrap()
            .switches()
            .unwrap()
            .is_none()
    );
    let all = [
        switch(10, 42, SwitchKind::Blocks),
        switch(20, 42, SwitchKind::Runs),
    ];
    trace.switches(&all, Some(30)).unwrap();
    let packed = directory.path().join("packed");
    let opened = Trace::open(directory.path()).unwrap();
    pack(&opened, &[], &packed).unwrap();
    assert_eq!(read(&packed).of(42, ALL), [off(10..20, false)]);
    fs::write(directory.path().join("switches"), "HEDLSWCH").unwrap();
    let opened = Trace::open(directory.path()).unwrap();
    assert!(opened.switches().unwrap().is_none());
    let lacks: Vec<String> = opened.lacking().map(ToString::to_string).collect();
    assert!(lacks[0].contains("switches is damaged"), "{lacks:?}");
}

#[test]
fn a_long_call_says_since_when() {
    let directory = tempfile::tempdir().unwrap();
    sample(directory.path());
    let trace = Trace::open(directory.path()).unwrap();
    let events = trace.processes()[0].threads()[0].events();
    let events: Vec<_> = events.map(|event| event.unwrap().kind).collect();
    let call = EventKind::LongCall {
        since: Nanos(20),
        text: b"read 3 pipe:[5]",
        by: None,
    };
    let told = EventKind::LongCall {
        since: Nanos(40),
        text: b"usleep",
        by: Some(Addr(0x7fff_1230)),
    };
    assert_eq!(events, [call, told]);
}
