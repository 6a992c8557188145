//! Results compared between models: with the same parameters, all must give the same one.

use super::plan::Cell;
use heddle_results::{Sample, Status};
use std::collections::BTreeMap;

/// Marks the samples whose result is not that of most models as wrong, or all where no result is
/// that of most. Returns whether there was such a sample.
///
/// Samples are compared that have the same number in their cells: a program may be told the number
/// (`{sample}`), and its result may then differ from one sample to the next.
pub(super) fn compare(cells: &mut [Cell]) -> bool {
    let mut places: BTreeMap<(usize, String), Vec<usize>> = BTreeMap::new();
    for (index, cell) in cells.iter().enumerate() {
        let params = serde_json::to_string(&cell.params).unwrap_or_default();
        let place = places.entry((cell.experiment, params)).or_default();
        place.push(index);
    }
    let mut wrong = false;
    for place in places.values() {
        let numbers = place.iter().map(|cell| cells[*cell].samples.len()).max();
        for number in 0..numbers.unwrap_or(0) {
            for (cell, detail) in differing(cells, place, number) {
                let sample = &mut cells[cell].samples[number];
                sample.status = Status::Wrong;
                sample.detail = Some(detail);
                wrong = true;
            }
        }
    }
    wrong
}

/// The cells whose sample of that number is wrong, and why.
fn differing(cells: &[Cell], place: &[usize], number: usize) -> Vec<(usize, String)> {
    let mut givers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for cell in place {
        if let Some(result) = cells[*cell].samples.get(number).and_then(good_result) {
            givers.entry(result).or_default().push(*cell);
        }
    }
    let all: usize = givers.values().map(Vec::len).sum();
    let majority = givers.iter().find(|(_, cells)| 2 * cells.len() > all);
    let mut wrong = Vec::new();
    for (result, own) in &givers {
        // The result that this one is set against, where it is not that of most.
        let other = match majority {
            Some((most, _)) if most == result => None,
            Some(most) => Some(most),
            None => givers.iter().find(|(other, _)| *other != result),
        };
        let Some((other, theirs)) = other else {
            continue;
        };
        let models: Vec<&str> = theirs.iter().map(|cell| &*cells[*cell].model).collect();
        let models = models.join(", ");
        let detail = format!("its result is \"{result}\", that of {models} is \"{other}\"");
        wrong.extend(own.iter().map(|cell| (*cell, detail.clone())));
    }
    wrong
}

/// The result of a sample in which nothing else is wrong.
fn good_result(sample: &Sample) -> Option<&str> {
    let good = sample.status == Status::Ok;
    sample.result.as_deref().filter(|_| good)
}
