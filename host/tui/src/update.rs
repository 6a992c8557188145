//! What a key does.

use crate::key::Key;
use crate::list::List;
use crate::model::Model;
use crate::state::{Effect, State, View};
use crate::text::matches;
use crate::timeline::What;

/// The state after a key, and what else is to be done.
pub fn update(mut state: State, model: &Model, key: Key) -> (State, Effect) {
    let effect = pressed(&mut state, model, key);
    state.meet(model);
    (state, effect)
}

fn pressed(state: &mut State, model: &Model, key: Key) -> Effect {
    if let Key::Size(columns, rows) = key {
        state.size = (columns, rows);
        return Effect::None;
    }
    state.message = None;
    if state.typing.is_some() {
        type_pattern(state, model, key);
        return Effect::None;
    }
    if let Some(help) = &mut state.help {
        let page = usize::from(state.size.1.saturating_sub(4)).max(1);
        let rows = crate::draw::help_lines(model).len();
        // A line is at the top, and none selected.
        let last = rows.saturating_sub(page);
        let moved = List::moved(help, key, last + 1, 1);
        if !moved {
            state.help = None;
        }
        return Effect::None;
    }
    match key {
        Key::Char('q') | Key::Ctrl('c') => return Effect::Quit,
        Key::Escape if state.view == View::Life => state.view = View::Strands,
        Key::Escape => {}
        Key::Ctrl('z') => return Effect::Stop,
        Key::Ctrl('l') => return Effect::Redraw,
        Key::Char('?') => state.help = Some(List::default()),
        Key::Char('/') => state.typing = Some(String::new()),
        Key::Char('n') => find(state, model, true),
        Key::Char('N') => find(state, model, false),
        Key::Tab => turn(state, 1),
        Key::BackTab => turn(state, View::ALL.len() - 1),
        Key::Char(digit @ '1'..='5') => {
            state.view = View::ALL[digit as usize - '1' as usize].0;
        }
        Key::Char('v') => {
            let shown = state.layout().source.is_some();
            state.source = Some(!shown);
        }
        Key::Char('e') => match state.place(model) {
            Some(place) => return Effect::Edit(place.clone()),
            None => {
                let why = "no source is known of what is selected (build with -g)";
                state.message = Some(why.to_owned());
            }
        },
        key => return in_view(state, model, key),
    }
    Effect::None
}

fn turn(state: &mut State, by: usize) {
    let at = View::ALL.iter().position(|(view, _)| *view == state.view);
    state.view = View::ALL[(at.unwrap_or(0) + by) % View::ALL.len()].0;
}

fn in_view(state: &mut State, model: &Model, key: Key) -> Effect {
    let page = state.page();
    match state.view {
        View::Report => {
            if state.report.moved(key, state.order.len(), page) {
                return Effect::None;
            }
            match (key, &model.functions) {
                (Key::Char('s'), Some(functions)) => {
                    state.sort = state.sort.next();
                    state.arrange(functions);
                    state.report = List::default();
                }
                (Key::Enter, Some(functions)) => {
                    let index = state.order.get(state.report.selected);
                    if let Some(function) = index.and_then(|index| functions.get(*index as usize)) {
                        state.search.clone_from(&function.name);
                        state.view = View::Graph;
                        find_from(state, model, None, true);
                    }
                }
                _ => {}
            }
        }
        View::Graph => {
            state.graph.pressed(key, &depths(model, View::Graph), page);
        }
        View::Strands => return in_strands(state, model, key, page),
        View::Timeline => {
            let columns = state.time_columns();
            if let (Some(data), Some(timeline)) = (&model.timeline, &mut state.timeline) {
                timeline.pressed(key, data, columns, page);
            }
        }
        View::Life => {
            let life = model.life.as_ref().and_then(|life| life.rows.as_ref());
            let width = usize::from(state.layout().width);
            let half = (width / 2).max(1);
            match key {
                Key::Left | Key::Char('h') => {
                    state.life_from = state.life_from.saturating_sub(half);
                }
                Key::Right | Key::Char('l') => {
                    let rows = life.into_iter().flatten();
                    let widest = rows.map(|row| row.width(width)).max().unwrap_or(0);
                    if state.life_from + width < widest {
                        state.life_from += half;
                    }
                }
                _ => _ = state.life.moved(key, life.map_or(0, Vec::len), page),
            }
        }
    }
    Effect::None
}

fn in_strands(state: &mut State, model: &Model, key: Key, page: usize) -> Effect {
    let strands = model.strands.iter();
    let mut selected = strands.filter_map(|strands| strands.rows.get(state.strands.selected()?));
    match (key, selected.next()) {
        (Key::Enter, Some(row)) if row.count == 1 => {
            state.view = View::Life;
            let asked = model.life.as_ref().map(|life| life.key);
            if asked == Some(row.key) {
                return Effect::None;
            }
            state.life = List::default();
            state.life_from = 0;
            Effect::Life(row.key)
        }
        _ => {
            let depths = depths(model, View::Strands);
            state.strands.pressed(key, &depths, page);
            Effect::None
        }
    }
}

fn depths(model: &Model, view: View) -> Vec<u32> {
    match (view, &model.graph, &model.strands) {
        (View::Graph, Some(graph), _) => graph.rows.iter().map(|row| row.depth).collect(),
        (View::Strands, _, Some(all)) => all.rows.iter().map(|row| row.depth).collect(),
        _ => Vec::new(),
    }
}

/// Takes a key of the pattern behind `/`.
fn type_pattern(state: &mut State, model: &Model, key: Key) {
    let Some(typed) = &mut state.typing else {
        return;
    };
    match key {
        Key::Char(c) => typed.push(c),
        // As in less: there is nothing to take back but the search.
        Key::Backspace if typed.pop().is_none() => state.typing = None,
        Key::Ctrl('u') => typed.clear(),
        Key::Escape | Key::Ctrl('c') => state.typing = None,
        Key::Enter => {
            let typed = state.typing.take().unwrap_or_default();
            if !typed.is_empty() {
                state.search = typed;
            }
            find(state, model, true);
        }
        _ => {}
    }
}

/// Goes to what matches next.
fn find(state: &mut State, model: &Model, forward: bool) {
    let at = match state.view {
        View::Report => Some(state.report.selected),
        View::Graph => state.graph.selected(),
        View::Strands => state.strands.selected(),
        View::Life => Some(state.life.selected),
        View::Timeline => None,
    };
    find_from(state, model, at, forward);
}

/// The same, beginning behind a row, or at the first.
fn find_from(state: &mut State, model: &Model, at: Option<usize>, forward: bool) {
    if state.search.is_empty() {
        state.message = Some("nothing to search for: / begins a search".to_owned());
        return;
    }
    let (page, pattern) = (state.page(), state.search.clone());
    let is = |text: &str| matches(text, &pattern);
    let named =
        |names: &[String], index: u32| names.get(index as usize).is_some_and(|name| is(name));
    let found = match state.view {
        View::Report => {
            let functions = model.functions.as_deref().unwrap_or_default();
            let of = |row: usize| {
                let function = functions.get(state.order[row] as usize);
                function.is_some_and(|function| is(&function.name))
            };
            let found = next(state.order.len(), at, forward, of);
            found.map(|(row, around)| {
                state.report.select(row, state.order.len(), page);
                around
            })
        }
        View::Graph => model.graph.as_ref().and_then(|graph| {
            let of = |row: usize| named(&graph.names, graph.rows[row].name);
            let (row, around) = next(graph.rows.len(), at, forward, of)?;
            state.graph.show(row, &depths(model, View::Graph), page);
            Some(around)
        }),
        View::Strands => model.strands.as_ref().and_then(|strands| {
            // Many strands have one name.
            let texts: Vec<bool> = strands.texts.iter().map(|text| is(text)).collect();
            let is = |index: u32| texts.get(index as usize).is_some_and(|&is| is);
            let of = |row: usize| {
                let row = &strands.rows[row];
                is(row.name) || is(row.waits)
            };
            let (row, around) = next(strands.rows.len(), at, forward, of)?;
            state.strands.show(row, &depths(model, View::Strands), page);
            Some(around)
        }),
        View::Life => {
            let rows = model.life.as_ref().and_then(|life| life.rows.as_ref());
            rows.and_then(|rows| {
                let (row, around) = next(rows.len(), at, forward, |row| is(&rows[row].text))?;
                state.life.select(row, rows.len(), page);
                Some(around)
            })
        }
        View::Timeline => find_call(state, model, forward),
    };
    state.message = match found {
        None => Some(format!("not found: {pattern}")),
        Some(true) if at.is_some() || state.view == View::Timeline => {
            Some("search went on at the other end".to_owned())
        }
        Some(_) => None,
    };
}

/// The first of so many rows that matches behind `at`, and whether the search went over the end.
fn next(
    rows: usize,
    at: Option<usize>,
    forward: bool,
    of: impl Fn(usize) -> bool,
) -> Option<(usize, bool)> {
    let start = at.unwrap_or(rows.saturating_sub(1));
    (1..=rows).find_map(|step| {
        let row = match forward {
            true => (start + step) % rows,
            false => (start + rows - step % rows) % rows,
        };
        let around = if forward { row <= start } else { row >= start };
        of(row).then_some((row, around))
    })
}

/// Goes to the next kept call, in order of time, whose function or strand matches.
fn find_call(state: &mut State, model: &Model, forward: bool) -> Option<bool> {
    let pattern = state.search.clone();
    let page = state.page();
    let (data, timeline) = (model.timeline.as_ref()?, state.timeline.as_mut()?);
    let functions: Vec<bool> = (data.functions.iter())
        .map(|(function, _)| matches(&function.name, &pattern))
        .collect();
    let strands: Vec<bool> = (data.strands.iter())
        .map(|(strand, _)| matches(&strand.name, &pattern))
        .collect();
    let here = timeline.selected();
    let place = match here {
        Some(What::Calls(strand, depth)) => (timeline.cursor, strand, depth),
        // In front of all that begins at this time, or behind.
        _ if forward => (timeline.cursor, 0, 0),
        _ => (timeline.cursor, u32::MAX, u32::MAX),
    };
    let inside = matches!(here, Some(What::Calls(..)));
    let is = |all: &[bool], index: u32| all.get(index as usize).copied().unwrap_or(false);
    let all = data.calls.kept.iter().filter(|call| {
        (call.strand as usize) < data.strands.len()
            && (is(&functions, call.function) || call.depth == 0 && is(&strands, call.strand))
    });
    let key = |call: &heddle_view::Call| (call.enter, call.strand, call.depth);
    let behind = |call: &heddle_view::Call| match forward {
        true => key(call) > place || !inside && key(call) == place,
        false => key(call) < place,
    };
    let best = |calls: &mut dyn Iterator<Item = heddle_view::Call>| match forward {
        true => calls.min_by_key(key),
        false => calls.max_by_key(key),
    };
    let near = best(&mut all.clone().copied().filter(|call| behind(call)));
    let found = near.or_else(|| best(&mut all.copied()))?;
    timeline.show((found.strand, found.depth), found.enter, data, page);
    Some(near.is_none())
}
