//! Whether a model from a file holds together: what others may have written.

use crate::model::{LIVED, Model};

/// No trace is longer: 146 years, in ns.
const LATEST: u64 = 1 << 62;

/// Why a model cannot be shown.
pub(crate) fn check(model: &Model) -> Result<(), &'static str> {
    if let Some(graph) = &model.graph {
        let names = graph.names.len();
        let fits = |row: &crate::model::GraphRow| (row.name as usize) < names;
        if !graph.rows.iter().all(fits) || !is_walk(graph.rows.iter().map(|row| row.depth)) {
            return Err("its call graph does not hold together");
        }
    }
    if let Some(strands) = &model.strands {
        let texts = strands.texts.len();
        let fits = |row: &crate::model::StrandRow| {
            (row.name as usize) < texts && (row.waits == LIVED || (row.waits as usize) < texts)
        };
        if !strands.rows.iter().all(fits) || !is_walk(strands.rows.iter().map(|row| row.depth)) {
            return Err("its strands do not hold together");
        }
    }
    if let Some(data) = &model.timeline {
        let fits = data
            .strands
            .iter()
            .all(|(_, group)| (*group as usize) < data.groups.len());
        let ordered = data.calls.kept.iter().all(|call| call.enter <= call.exit)
            && data.pauses.kept.iter().all(|pause| pause.from <= pause.to)
            && data.runs.kept.iter().all(|run| run.from <= run.to);
        let within = data.begin <= data.end
            && data.end <= LATEST
            && data.calls.kept.iter().all(|call| call.exit <= LATEST)
            && data.pauses.kept.iter().all(|pause| pause.to <= LATEST);
        let shifts = [data.calls.shift, data.pauses.shift, data.runs.shift];
        if !fits || !ordered || !within || shifts.iter().any(|&shift| shift > 63) {
            return Err("its timeline does not hold together");
        }
    }
    Ok(())
}

/// Whether each row is at most one deeper than the one before.
fn is_walk(depths: impl Iterator<Item = u32>) -> bool {
    let mut most = 0;
    for depth in depths {
        if depth > most {
            return false;
        }
        most = depth + 1;
    }
    true
}

/// Puts the timeline in the order that it is looked up in.
pub(crate) fn put_in_order(model: &mut Model) {
    let Some(data) = &mut model.timeline else {
        return;
    };
    let calls = &mut data.calls;
    calls.kept.sort_by_key(|call| {
        (
            call.strand,
            call.depth,
            call.enter,
            call.exit,
            call.function,
        )
    });
    calls.cells.sort_by_key(|cell| cell.key);
    data.pauses
        .kept
        .sort_by_key(|pause| (pause.strand, pause.from, pause.to));
    data.pauses.cells.sort_by_key(|cell| cell.key);
}
