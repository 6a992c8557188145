//! An experiment and the same as it was before a change: their samples are taken in pairs, one
//! right after the other, so that a machine that is slow for a while is slow for both.

use super::plan::Cell;
use crate::experiment::{BEFORE, Experiment};
use std::collections::BTreeMap;

/// Moves the second of each pair of cells behind the first: which that is, the order says.
pub(super) fn join(order: Vec<usize>, cells: &[Cell], experiments: &[Experiment]) -> Vec<usize> {
    let id = |cell: &Cell| experiments[cell.experiment].id.as_str();
    if !experiments.iter().any(|it| it.id.ends_with(BEFORE)) {
        return order;
    }
    let mut pairs: BTreeMap<(&str, &str, String), Vec<usize>> = BTreeMap::new();
    let key = |cell: &'_ usize| {
        let cell = &cells[*cell];
        let point = serde_json::to_string(&cell.point).unwrap_or_default();
        let id = id(cell);
        (
            id.strip_suffix(BEFORE).unwrap_or(id),
            cell.model.as_str(),
            point,
        )
    };
    for cell in &order {
        pairs.entry(key(cell)).or_default().push(*cell);
    }
    let mut joined = Vec::with_capacity(order.len());
    for cell in &order {
        joined.extend(pairs.remove(&key(cell)).unwrap_or_default());
    }
    joined
}
