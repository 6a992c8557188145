use super::cells::Judged;
use heddle_results::text::{counter, words};

/// `voluntary switches: thread 9 812, stackless 0`, one clause a counter; none for one that no cell has or that is 0 in all.
pub fn why(names: &[String], cells: &[&Judged]) -> String {
    let clause = |name: &String| {
        let telling = |cell: &&Judged| cell.counters.get(name).is_some_and(|value| *value != 0.0);
        if !cells.iter().any(telling) {
            return None;
        }
        let parts = cells.iter().map(|cell| match cell.counters.get(name) {
            None => format!("{} not counted", cell.cell.model),
            Some(value) => format!("{} {}", cell.cell.model, counter(name, *value)),
        });
        let parts = parts.collect::<Vec<_>>().join(", ");
        Some(format!("{}: {parts}", words(name)))
    };
    names
        .iter()
        .filter_map(clause)
        .collect::<Vec<_>>()
        .join("; ")
}
