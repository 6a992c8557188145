//! A key takes no longer where there are very many strands.

use crate::screens::shown;
use heddle_tui::{Key, LIVED, Model, State, StrandKey, StrandRow, Strands, update};
use heddle_view::{Builder, Head, Limits, Process, Strand, StrandKind};
use std::time::Duration;

const STRANDS: u64 = 100_000;
const GROUPS: u64 = 40;

/// Coroutines of several names.
fn model() -> Model {
    let name = |number: u64| format!("work{}(int)", number % GROUPS);
    let strand = |number| Strand {
        process: 0,
        number,
        kind: StrandKind::Coroutine,
        tid: None,
        thread: 0,
        name: name(number),
        parent: None,
        resumer: None,
        born: number,
        died: Some(number + STRANDS / 2),
        running: 10,
        suspended: 20,
        activations: 3,
        calls: 3,
    };
    let row = |number| StrandRow {
        depth: 0,
        kind: StrandKind::Coroutine,
        name: (number % GROUPS) as u32,
        key: StrandKey { process: 0, number },
        count: 1,
        died: 1,
        parent: None,
        born: number,
        last: number + STRANDS / 2,
        running: 10,
        children: 0,
        suspended: 20,
        runs: 3,
        calls: 3,
        waits: LIVED,
    };
    let process = Process {
        id: "4711".to_owned(),
        name: "many".to_owned(),
    };
    let strands = (1..=STRANDS).map(strand).collect();
    let limits = Limits::default();
    Model {
        strands: Some(Strands {
            texts: (0..GROUPS).map(name).collect(),
            rows: (1..=STRANDS).map(row).collect(),
            unlisted: 0,
        }),
        timeline: Some(Builder::new(Head::default(), vec![process], strands, &limits).finish()),
        ..Model::default()
    }
}

/// The time that this thread had a processor, however many others want one.
fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: it writes what it is given.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(failed, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
fn keys_on_the_timeline_of_very_many_strands_are_drawn_at_once() {
    let model = model();
    let mut state = State::new((120, 50), false);
    state.meet(&model);
    (state, _) = update(state, &model, Key::Char('4'));
    let begun = processor_time();
    const KEYS: u32 = 60;
    for key in [Key::Char('j'), Key::Char('l')]
        .into_iter()
        .cycle()
        .take(KEYS as usize)
    {
        (state, _) = update(state, &model, key);
        assert!(shown(&model, &state).contains("work0(int)"));
    }
    let each = (processor_time() - begun) / KEYS;
    assert!(each < Duration::from_millis(35), "{each:?} a key");
}
