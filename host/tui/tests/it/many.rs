//! What is found of very many strands is found once, not at each key.

use crate::screens::shown;
use heddle_tui::{Key, LIVED, Model, State, StrandKey, StrandRow, Strands, update};
use heddle_view::{Builder, Head, Limits, Process, Strand, StrandKind};

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

#[test]
fn keys_on_the_timeline_find_the_lines_of_very_many_strands_once() {
    let model = model();
    let mut state = State::new((120, 50), false);
    state.meet(&model);
    (state, _) = update(state, &model, Key::Char('4'));
    let lines = |state: &State| state.timeline.as_ref().unwrap().lines.as_ptr();
    let found = lines(&state);
    for key in [Key::Char('j'), Key::Char('l')].into_iter().cycle().take(8) {
        (state, _) = update(state, &model, key);
        assert!(shown(&model, &state).contains("work0(int)"));
        assert_eq!(lines(&state), found, "they were found anew");
    }
}
