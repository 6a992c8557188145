//! Why a claim came out as it did: one sentence drawn from counters, and from metrics that are not
//! the claim's.

use super::cells::{Judged, label};
use super::sentences::list;
use heddle_results::text::phrase;
use heddle_results::{Value, Values};
use heddle_stats::median;

/// `At n=64, thread had 9 812 voluntary kernel switches and 3 kernel threads; stackless had no
/// voluntary kernel switches and 1 kernel thread; both had 200 strand switches.` Numbers are those
/// of a sample. Empty if nothing was counted.
pub fn why(names: &[String], cells: &[&Judged]) -> String {
    let value = |name: &str, cell: &Judged| {
        let counter = cell.counters.get(name).copied();
        counter.or_else(|| median(&cell.cell.values(name)))
    };
    let counted = |name: &&String| cells.iter().any(|cell| value(name, cell).is_some());
    let names: Vec<&String> = names.iter().filter(counted).collect();
    let same = |name: &str| {
        cells
            .iter()
            .all(|cell| value(name, cell) == value(name, cells[0]))
    };
    let (shared, own): (Vec<&String>, Vec<&String>) = names
        .into_iter()
        .partition(|name| cells.len() > 1 && same(name));

    let mut clauses: Vec<String> = Vec::new();
    if !own.is_empty() {
        clauses.extend(cells.iter().map(|cell| {
            let had = own.iter().map(|name| phrase(name, value(name, cell)));
            format!(
                "{} had {}",
                who(cell, cells),
                list(&had.collect::<Vec<_>>())
            )
        }));
    }
    if let (false, Some(first)) = (shared.is_empty(), cells.first()) {
        let all = if cells.len() == 2 { "both" } else { "all" };
        let had = shared.iter().map(|name| phrase(name, value(name, first)));
        clauses.push(format!("{all} had {}", list(&had.collect::<Vec<_>>())));
    }
    if clauses.is_empty() {
        return String::new();
    }
    let sentence = format!("{}{}.", place(cells), clauses.join("; "));
    let mut letters = sentence.chars();
    match letters.next() {
        // A model's name keeps its case.
        Some(first) if sentence.starts_with("both") || sentence.starts_with("all") => {
            first.to_uppercase().chain(letters).collect()
        }
        _ => sentence,
    }
}

/// `At n=64, `: the parameters that all cells share.
fn place(cells: &[&Judged]) -> String {
    let Some(first) = cells.first() else {
        return String::new();
    };
    let shared = |(name, value): &(&String, &Value)| {
        cells
            .iter()
            .all(|cell| cell.cell.point.get(*name) == Some(*value))
    };
    let shared = copied(first.cell.point.iter().filter(shared));
    if shared.is_empty() {
        String::new()
    } else {
        format!("At {}, ", label(&shared))
    }
}

/// The model, and where it stands beside itself, the setting.
fn who(cell: &Judged, cells: &[&Judged]) -> String {
    let model = &cell.cell.model;
    let differs = |(name, value): &(&String, &Value)| {
        cells
            .iter()
            .any(|other| other.cell.point.get(*name) != Some(*value))
    };
    let other = copied(cell.cell.point.iter().filter(differs));
    if other.is_empty() {
        model.clone()
    } else {
        format!("{model} with {}", label(&other))
    }
}

fn copied<'a>(values: impl Iterator<Item = (&'a String, &'a Value)>) -> Values {
    values
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
