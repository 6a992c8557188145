//! Whatever is pressed, at whatever size, of whatever has been read.

use crate::sample::model;
use crate::screens::shown;
use heddle_tui::{Key, Model, State, draw, update};
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        10 => prop::sample::select("jkgGnN12345vesoOChlHL+-0[]t?/ b".chars().collect::<Vec<_>>())
            .prop_map(Key::Char),
        6 => prop::sample::select(vec![
            Key::Enter, Key::Escape, Key::Tab, Key::BackTab, Key::Backspace, Key::Up, Key::Down,
            Key::Left, Key::Right, Key::PageUp, Key::PageDown, Key::Home, Key::End,
            Key::Ctrl('d'), Key::Ctrl('u'), Key::Ctrl('l'),
        ]),
        1 => (0u16..250, 0u16..70).prop_map(|(columns, rows)| Key::Size(columns, rows)),
        1 => prop::char::any().prop_map(Key::Char),
    ]
}

/// What must hold of every state.
fn assert_sound(model: &Model, state: &State) {
    let lists = [
        (state.report, state.order.len()),
        (state.graph.list, state.graph.visible.len()),
        (state.strands.list, state.strands.visible.len()),
    ];
    for (list, rows) in lists {
        assert!(list.selected < rows.max(1), "{list:?} of {rows}");
        assert!(list.top <= list.selected, "{list:?}");
    }
    if let (Some(timeline), Some(data)) = (&state.timeline, &model.timeline) {
        assert!(
            timeline.span > 0 && timeline.span <= data.end.max(20),
            "{timeline:?}"
        );
        assert!(
            timeline.from + timeline.span <= data.end.max(20),
            "{timeline:?}"
        );
        let cursor = timeline.cursor;
        assert!(cursor >= timeline.from && cursor < timeline.from + timeline.span);
    }
}

proptest! {
    #[test]
    fn every_key_leads_to_a_sound_state_that_can_be_drawn(
        keys in prop::collection::vec(key(), 0..60),
        read in prop::collection::vec(any::<bool>(), 4),
        color in any::<bool>(),
    ) {
        let whole = model();
        let model = Model {
            functions: whole.functions.filter(|_| read[0]),
            graph: whole.graph.filter(|_| read[1]),
            strands: whole.strands.filter(|_| read[2]),
            timeline: whole.timeline.filter(|_| read[3]),
            ..whole
        };
        let mut state = State::new((80, 24), color);
        state.meet(&model);
        for key in keys {
            (state, _) = update(state, &model, key);
            assert_sound(&model, &state);
            let (columns, rows) = state.size;
            let backend = TestBackend::new(columns.max(1), rows.max(1));
            let mut terminal = Terminal::new(backend).unwrap();
            terminal.draw(|frame| draw(frame, &model, &state)).unwrap();
        }
    }
}

#[test]
fn the_selected_row_is_always_on_the_screen() {
    let model = model();
    for view in ['1', '2', '3', '4'] {
        let mut state = State::new((60, 12), false);
        state.meet(&model);
        for key in [
            Key::Char(view),
            Key::Char('O'),
            Key::Char('v'),
            Key::Char('G'),
        ] {
            (state, _) = update(state, &model, key);
        }
        let text = shown(&model, &state);
        let lists = [state.report, state.graph.list, state.strands.list];
        for list in lists {
            assert!(
                list.selected < list.top + state.page(),
                "{view}: {list:?}\n{text}"
            );
        }
    }
}
