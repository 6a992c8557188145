use super::cells::Judged;
use heddle_results::text::{counter, words};

/// `thread: 9 812 voluntary switches, stackless: 0`, one clause a counter that at least one of the cells has.
pub fn why(names: &[String], cells: &[&Judged]) -> String {
    let clause = |name: &String| {
        let known = cells
            .iter()
            .filter(|cell| cell.counters.contains_key(name))
            .count();
        if known == 0 {
            return None;
        }
        let mut named = false;
        let parts = cells.iter().map(|cell| match cell.counters.get(name) {
            None => format!("{}: not counted", cell.cell.model),
            Some(value) => {
                let text = counter(name, *value);
                let noun = if named {
                    String::new()
                } else {
                    format!(" {}", words(name))
                };
                named = true;
                format!("{}: {text}{noun}", cell.cell.model)
            }
        });
        Some(parts.collect::<Vec<_>>().join(", "))
    };
    names
        .iter()
        .filter_map(clause)
        .collect::<Vec<_>>()
        .join("; ")
}
