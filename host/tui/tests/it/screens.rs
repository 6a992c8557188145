//! Golden screens, at 80 and 200 columns.

use crate::sample::model;
use heddle_tui::{
    Effect, Key, LIVED, Life, LifeRow, Model, Reading, State, StrandKey, draw, update,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

const SIZES: [(u16, u16); 2] = [(80, 24), (200, 50)];

/// What is on a terminal of this size after these keys.
pub fn screen(model: &Model, size: (u16, u16), keys: &[Key]) -> String {
    let mut state = State::new(size, false);
    state.meet(model);
    for &key in keys {
        (state, _) = update(state, model, key);
    }
    shown(model, &state)
}

pub fn shown(model: &Model, state: &State) -> String {
    let backend = TestBackend::new(state.size.0, state.size.1);
    let mut terminal = Terminal::new(backend).unwrap();
    terminal.draw(|frame| draw(frame, model, state)).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y: u16| {
        let cells = (0..state.size.0).map(|x| buffer[(x, y)].symbol());
        cells.collect::<String>().trim_end().to_owned()
    };
    let rows: Vec<String> = (0..state.size.1).map(row).collect();
    rows.join("\n").trim_end().to_owned()
}

fn golden(name: &str, keys: &[Key]) {
    for size in SIZES {
        let text = screen(&model(), size, keys);
        insta::assert_snapshot!(format!("{name}_{}", size.0), text);
    }
}

#[test]
fn the_report_lists_functions_by_self_time() {
    golden("report", &[]);
}

#[test]
fn the_graph_shows_calls_within_one_another() {
    golden("graph", &[Key::Char('2'), Key::Char('O'), Key::Char('G')]);
}

#[test]
fn the_strands_stand_below_their_makers_with_what_they_wait_for() {
    golden("strands", &[Key::Char('3'), Key::Char('j')]);
}

#[test]
fn the_timeline_shows_calls_waits_and_sums_of_short_calls() {
    golden(
        "timeline",
        &[Key::Char('4'), Key::Char('j'), Key::Char('j')],
    );
}

/// The labels of the ruler.
fn labels(screen: &str) -> Vec<String> {
    let ruler = screen.lines().nth(1).unwrap();
    let ruler = ruler.split('│').next().unwrap();
    let labels = ruler.split(['▏', '▕', '▼']).skip(1);
    let labels = labels.flat_map(|part| part.split("  ")).map(str::trim);
    labels
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn no_label_of_the_ruler_is_cut_by_the_cursor_or_the_end() {
    let model = model();
    for size in [(80, 24), (93, 24), (110, 24), (200, 50)] {
        let mut state = State::new(size, false);
        state.meet(&model);
        (state, _) = update(state, &model, Key::Char('4'));
        let whole = labels(&shown(&model, &state));
        assert!(
            whole.len() >= 3 && whole.last().unwrap() == "99.000 ms",
            "{whole:?}"
        );
        for _ in 0..state.time_columns() {
            (state, _) = update(state, &model, Key::Char('l'));
            let text = shown(&model, &state);
            let seen = labels(&text);
            assert!(
                seen.iter().all(|label| whole.contains(label)),
                "{seen:?}\n{text}"
            );
            assert!(seen.len() + 1 >= whole.len(), "{seen:?}\n{text}");
        }
    }
}

#[test]
fn labels_of_the_ruler_differ_however_far_it_is_zoomed() {
    let model = model();
    let mut state = State::new((200, 50), false);
    state.meet(&model);
    (state, _) = update(state, &model, Key::Char('4'));
    for _ in 0..150 {
        (state, _) = update(state, &model, Key::Char('l'));
    }
    for _ in 0..24 {
        (state, _) = update(state, &model, Key::Char('+'));
        let text = shown(&model, &state);
        let mut seen = labels(&text);
        let number = seen.len();
        seen.dedup();
        assert!(seen.len() == number && number >= 4, "{seen:?}\n{text}");
    }
}

#[test]
fn threads_of_one_name_are_told_apart_by_their_numbers() {
    let mut model = model();
    let data = model.timeline.as_mut().unwrap();
    for (strand, _) in &mut data.strands {
        if strand.tid.is_some() {
            strand.name = "a_long_name_of_a_thread".to_owned();
            strand.tid = Some(1_234_500 + strand.number as u32);
        }
    }
    for (size, label) in [
        ((80, 24), "▾#2 a_long… 1234502 "),
        ((200, 50), "▾#2 a_long_name_of_a_th… 1234502 "),
    ] {
        let text = screen(&model, size, &[Key::Char('4')]);
        assert!(text.contains(label), "{text}");
    }
}

/// The sample, in which the worker is killed while it runs: its last event is the end of a short
/// call at 85 ms, which only the list of strands tells.
fn killed() -> Model {
    let mut model = model();
    model.timeline.as_mut().unwrap().strands[1].0.died = None;
    let rows = &mut model.strands.as_mut().unwrap().rows;
    rows[1].last = 85_000_000;
    model
}

#[test]
fn what_was_not_seen_to_end_is_drawn_up_to_its_last_event() {
    let model = killed();
    // On the worker's row, after this part of the time.
    let at = |size, part: usize| {
        let mut state = State::new(size, false);
        state.meet(&model);
        let right = state.time_columns() * part / 100;
        let keys = [Key::Char('4')]
            .into_iter()
            .chain([Key::Char('j'); 4])
            .chain(std::iter::repeat_n(Key::Char('l'), right));
        for key in keys {
            (state, _) = update(state, &model, key);
        }
        state
    };
    for size in SIZES {
        let text = shown(&model, &at(size, 90));
        insta::assert_snapshot!(format!("killed_{}", size.0), text);
    }
    // It is so however near one looks.
    let mut state = at(SIZES[0], 95);
    for _ in 0..8 {
        (state, _) = update(state, &model, Key::Char('+'));
    }
    let text = shown(&model, &state);
    let row = text.lines().find(|line| line.contains("worker")).unwrap();
    assert!(row.ends_with(&"?".repeat(60)), "{text}");
}

#[test]
fn what_exec_ended_is_not_known_from_its_last_event_on_and_gone_behind_exec() {
    let mut model = killed();
    // The worker's last event is at 85 ms.
    model.timeline.as_mut().unwrap().strands[1].0.died = Some(93_000_000);
    let text = screen(&model, (80, 24), &[Key::Char('4')]);
    let row = text.lines().find(|line| line.contains("worker")).unwrap();
    let row = row.trim_end();
    let columns = |c: char| row.chars().filter(|&one| one == c).count();
    // A column of 60 is 1.67 ms.
    assert_eq!(columns('?'), 5, "{row}");
    assert_eq!(row.chars().count(), 20 + 57, "{row}");
}

#[test]
fn a_group_counts_no_thread_after_its_last_event() {
    let mut model = killed();
    let data = model.timeline.as_mut().unwrap();
    // Both threads are of one group.
    let group = data.strands[0].1;
    data.strands[1].1 = group;
    data.groups[group as usize].strands = 2;
    let row = |model: &Model| {
        let keys = [Key::Char('4'), Key::Char('t'), Key::Char('t')];
        let text = screen(model, (80, 24), &keys);
        let row = text.lines().find(|line| line.contains("thread ×2"));
        row.unwrap().trim_end().to_owned()
    };
    assert!(row(&model).ends_with("█▄▄▄▄▄▄▄▄"), "{}", row(&model));
    // A thread that waits for ever lives on.
    let pauses = &mut model.timeline.as_mut().unwrap().pauses.kept;
    pauses[0].open = true;
    assert!(row(&model).ends_with("██████████"), "{}", row(&model));
}

#[test]
fn all_threads_are_named_in_one_way() {
    let mut model = model();
    model.timeline.as_mut().unwrap().strands[1].0.name = "a_long_name_of_a_thread".to_owned();
    let text = screen(&model, (200, 50), &[Key::Char('4')]);
    assert!(text.contains("▾#1 server 4711 "), "{text}");
    assert!(text.contains("▾#2 a_long_name_of_a_thread 4712 "), "{text}");
}

#[test]
fn the_next_call_is_found_from_a_strand_s_own_row_too() {
    let model = model();
    // The time at the cursor, on the row of a thread or below it.
    let at = |down: usize, key: Key| {
        let mut keys = vec![Key::Char('4')];
        keys.extend(std::iter::repeat_n(Key::Char('j'), down));
        keys.push(key);
        let text = screen(&model, (80, 24), &keys);
        let details = text.lines().find(|line| line.starts_with("──"));
        details.unwrap().to_owned()
    };
    let (thread, calls) = (4, 5);
    let next = at(thread, Key::Char(']'));
    assert_eq!(next, at(calls, Key::Char(']')));
    assert_ne!(next, at(thread, Key::Char('[')));
}

#[test]
fn a_strand_has_one_number_wherever_it_is_named() {
    let mut model = model();
    // Another process: numbers are told with the process.
    model.processes.push("4800".to_owned());
    let text = screen(&model, (200, 50), &[Key::Char('4')]);
    let named = "thread #4711/1 server 4711";
    assert!(text.contains(&format!("▾{named} ")), "{text}");
    let elapsed = format!("\n {named}: elapsed 20.000 ms,");
    assert!(text.contains(&elapsed), "{text}");
}

#[test]
fn the_timeline_zooms_to_a_call() {
    let keys = [
        Key::Char('4'),
        Key::Char('j'),
        Key::Char('j'),
        Key::Char(']'),
        Key::Enter,
    ];
    golden("zoomed", &keys);
}

#[test]
fn the_keys_and_the_notes_are_told() {
    golden("help", &[Key::Char('?'), Key::Char('G')]);
}

#[test]
fn a_life_is_asked_for_and_shown() {
    let mut model = model();
    let mut state = State::new((80, 24), false);
    state.meet(&model);
    for key in [Key::Char('3'), Key::Char('j')] {
        (state, _) = update(state, &model, key);
    }
    let (state, effect) = update(state, &model, Key::Enter);
    let key = StrandKey {
        process: 0,
        number: 2,
    };
    assert_eq!(effect, Effect::Life(key));
    model.life = Some(Life {
        key,
        ..Life::default()
    });
    assert!(shown(&model, &state).contains("reading the whole trace"));
    let row = |indent, text: &str, waits| LifeRow {
        indent,
        text: text.to_owned(),
        waits,
    };
    let rows = vec![
        row(0, "thread server #2", false),
        row(4, "serve(connection&)  20.000 ms", false),
        row(6, "suspended at server.cpp:80  30.000 ms", true),
        row(
            6,
            "suspended at server.cpp:90, resumed by coroutine accept_all(listener&) on thread worker  7 ms",
            true,
        ),
    ];
    model.life = Some(Life {
        key,
        rows: Some(rows),
        percent: 0,
    });
    let text = shown(&model, &state);
    assert!(
        text.contains("\n      suspended at server.cpp:80  30.000 ms\n"),
        "{text}"
    );
    assert!(!text.contains("worker  7 ms"), "{text}");
    // What has no room is a key away.
    let (aside, _) = update(state.clone(), &model, Key::Right);
    let text = shown(&model, &aside);
    assert!(
        text.contains("(listener&) on thread worker  7 ms\n"),
        "{text}"
    );
    assert!(!text.contains("serve("), "{text}");
    let (same, _) = update(aside.clone(), &model, Key::Right);
    assert_eq!(shown(&model, &same), text);
    let (state, _) = update(aside, &model, Key::Left);
    assert!(shown(&model, &state).contains("serve("));
    // Escape leads back.
    let (state, _) = update(state, &model, Key::Escape);
    assert!(shown(&model, &state).contains("waits: mutex cache"));
}

#[test]
fn what_has_not_been_read_says_how_far_it_is() {
    let model = Model {
        functions: Some(crate::sample::functions()),
        reading: Some(Reading {
            what: "strands".to_owned(),
            percent: 37,
        }),
        ..Model::default()
    };
    let text = |key| screen(&model, (80, 24), &[Key::Char(key)]);
    assert!(text('1').contains("serve(connection&)"), "{}", text('1'));
    assert!(text('1').ends_with("? keys  q quit"), "{}", text('1'));
    assert!(
        text('3').contains("\n  reading strands: 37 %\n"),
        "{}",
        text('3')
    );
    assert!(
        text('2').contains("\n  calls within one another: after strands\n"),
        "{}",
        text('2')
    );
    assert!(
        text('4').contains("\n  the timeline: after strands\n"),
        "{}",
        text('4')
    );
    // Several are read at once.
    let model = Model {
        reading: Some(Reading {
            what: "strands, calls within one another and the timeline".to_owned(),
            percent: 37,
        }),
        ..model
    };
    for (key, what) in [('2', "calls within one another"), ('4', "the timeline")] {
        let text = screen(&model, (80, 24), &[Key::Char(key)]);
        let expected = format!("\n  reading {what}: 37 %\n");
        assert!(text.contains(&expected), "{text}");
    }
}

#[test]
fn a_search_unfolds_what_it_finds_and_goes_round() {
    let type_it = |text: &str| {
        let mut keys = vec![Key::Char('/')];
        keys.extend(text.chars().map(Key::Char));
        keys.push(Key::Enter);
        keys
    };
    let model = model();
    let mut keys = vec![Key::Char('3'), Key::Char('C')];
    keys.extend(type_it("mutex"));
    let text = screen(&model, (80, 24), &keys);
    assert!(text.contains("waits: mutex"), "{text}");
    keys.push(Key::Char('n'));
    let text = screen(&model, (80, 24), &keys);
    assert!(text.contains("went on at the other end"), "{text}");
    keys.extend(type_it("nobody"));
    let text = screen(&model, (80, 24), &keys);
    assert!(text.contains("not found: nobody"), "{text}");
    // Capitals count where there are some.
    keys.extend(type_it("Mutex"));
    let text = screen(&model, (80, 24), &keys);
    assert!(text.contains("not found: Mutex"), "{text}");
}

#[test]
fn the_editor_opens_where_the_selected_function_begins() {
    let model = model();
    let mut state = State::new((80, 24), false);
    state.meet(&model);
    let (state, effect) = update(state, &model, Key::Char('e'));
    let Effect::Edit(place) = effect else {
        panic!("{effect:?}");
    };
    assert_eq!((place.file.as_str(), place.line), ("/src/server.cpp", 12));
    // The last one has no source.
    let (state, _) = update(state, &model, Key::Char('G'));
    let (state, effect) = update(state, &model, Key::Char('e'));
    assert_eq!(effect, Effect::None);
    assert!(shown(&model, &state).contains("no source is known"));
}

#[test]
fn a_function_leads_to_its_calls_in_the_graph() {
    let text = screen(&model(), (80, 24), &[Key::Char('j'), Key::Enter]);
    let line = text.lines().find(|line| line.contains("parse(")).unwrap();
    assert!(line.contains("1234.5 M"), "{line}");
}

#[test]
fn a_terminal_that_became_too_small_says_so() {
    let text = screen(&model(), (30, 8), &[]);
    assert!(text.contains("at least 40x10"), "{text}");
}

#[test]
fn nothing_is_cut_off_without_a_mark() {
    // The longest name, at any width.
    for columns in 40..140 {
        let text = screen(&model(), (columns, 24), &[]);
        let line = text.lines().find(|line| line.contains("a_f")).unwrap();
        let whole = line.ends_with("goes_on(int)") || line.contains("goes_on(int) ");
        assert!(whole || line.contains('…'), "{columns}: {line}");
    }
    assert_eq!(LIVED, u32::MAX);
}
