//! Whether a row of calls is what a row of lines expects. Order counts.

use crate::{Call, Item, LoopPattern};

/// Whether `calls`, all made by `parent`, are exactly what `items` expect, with everything below
/// them.
///
/// A line takes zero or more neighbouring calls, all of which must fit it, and whose number must be
/// within its count; a `...` takes any, and a loop what its rounds take. All ways of cutting the
/// row are tried at once: `reached[j]` says that the lines so far can take the first `j` calls.
pub fn fits(items: &[Item], calls: &[Call], parent: Option<&Call>) -> bool {
    let mut reached = vec![false; calls.len() + 1];
    reached[0] = true;
    after_all(items, reached, calls, parent)[calls.len()]
}

fn after_all(
    items: &[Item],
    mut reached: Vec<bool>,
    calls: &[Call],
    parent: Option<&Call>,
) -> Vec<bool> {
    for item in items {
        reached = match item {
            Item::Anything => after_anything(&reached),
            Item::Call(_) => after_call(item, &reached, calls, parent),
            Item::Loop(pattern) => after_loop(pattern, reached, calls, parent),
        };
        if !reached.contains(&true) {
            break;
        }
    }
    reached
}

/// After each number of rounds that there may be. A round that may be empty reaches what was
/// reached before it, and another one is further on: so further rounds reach nothing new soon.
fn after_loop(
    pattern: &LoopPattern,
    reached: Vec<bool>,
    calls: &[Call],
    parent: Option<&Call>,
) -> Vec<bool> {
    let mut after = vec![false; reached.len()];
    let mut now = reached;
    let mut rounds = 0;
    loop {
        if rounds >= pattern.count.low {
            for (after, &now) in after.iter_mut().zip(&now) {
                *after |= now;
            }
        }
        if rounds == pattern.count.high {
            return after;
        }
        let next = after_all(&pattern.body, now.clone(), calls, parent);
        if !next.contains(&true) {
            return after;
        }
        // All further rounds reach the same: go on with the first that counts, then end.
        rounds = match next == now {
            true if rounds >= pattern.count.low => return after,
            true => pattern.count.low,
            false => rounds + 1,
        };
        now = next;
    }
}

fn after_anything(reached: &[bool]) -> Vec<bool> {
    let first = reached
        .iter()
        .position(|&reached| reached)
        .unwrap_or(reached.len());
    (0..reached.len()).map(|index| index >= first).collect()
}

fn after_call(item: &Item, reached: &[bool], calls: &[Call], parent: Option<&Call>) -> Vec<bool> {
    let Item::Call(pattern) = item else {
        return reached.to_vec();
    };
    let mut known: Vec<Option<bool>> = vec![None; calls.len()];
    let mut after = vec![false; reached.len()];
    for start in (0..reached.len()).filter(|&start| reached[start]) {
        after[start] |= pattern.count.low == 0;
        let mut number = 0_u64;
        for (index, call) in calls.iter().enumerate().skip(start) {
            number = number.saturating_add(call.calls);
            if number > pattern.count.high
                || !*known[index].get_or_insert_with(|| call_fits(item, call, parent))
            {
                break;
            }
            after[index + 1] |= pattern.count.low <= number;
        }
    }
    after
}

/// Whether one call, whatever its number, fits a line, with everything below it.
pub fn call_fits(item: &Item, call: &Call, parent: Option<&Call>) -> bool {
    match item {
        Item::Anything | Item::Loop(_) => true,
        Item::Call(pattern) => {
            pattern.names(call, parent)
                && pattern.in_time(call)
                && fits(&pattern.children, &call.children, Some(call))
        }
    }
}
