//! Why a claim came out as it did: one sentence drawn from counters, and from metrics that are not the claim's.

use super::cells::{Judged, label};
use super::sentences::list;
use crate::stats::median;
use heddle_results::text::{count, number, quantity, unit_of, words};
use heddle_results::{Value, Values};

/// `At n=64, thread had 9 812 voluntary kernel switches and 3 kernel threads; stackless had no voluntary kernel switches and
/// 1 kernel thread; both had 200 strand switches.` Numbers are those of a sample. Empty if nothing was counted.
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

/// `no allocations`, `1 kernel thread`, `40.1 ms in the kernel`, `1.01 system calls a switch`.
fn phrase(name: &str, value: Option<f64>) -> String {
    let known = match name {
        "user_ns" => Some("outside of the kernel"),
        "sys_ns" => Some("in the kernel"),
        "peak_rss_bytes" => Some("of memory at its peak"),
        "event_ns" => Some("an event"),
        "strand_reserved_bytes" => Some("of address space"),
        "worst_error_ns" => Some("of error at worst"),
        _ => None,
    };
    let (thing, per) = match name.split_once("_per_") {
        Some((thing, unit)) if unit_of(name).is_empty() => {
            let article = if unit.starts_with(['a', 'e', 'i', 'o', 'u']) {
                "an"
            } else {
                "a"
            };
            (thing, format!(" {article} {}", words(unit)))
        }
        _ => (name, String::new()),
    };
    let noun = match thing {
        "voluntary_switches" => "voluntary kernel switches".into(),
        "involuntary_switches" => "involuntary kernel switches".into(),
        "syscalls" => "system calls".into(),
        other => words(other),
    };
    let Some(value) = value else {
        return format!("{noun}{per} not counted");
    };
    match (known, unit_of(name)) {
        (Some(what), unit) => format!("{} {what}", quantity(value, unit)),
        (None, "") if value == 0.0 => format!("no {noun}{per}"),
        (None, "") if value == 1.0 => format!("1 {}{per}", singular(&noun)),
        (None, "") if value.fract() == 0.0 => format!("{} {noun}{per}", count(value)),
        (None, "") => format!("{} {noun}{per}", number(value)),
        (None, unit) => format!("{} of {noun}", quantity(value, unit)),
    }
}

/// `switch` of `switches`, `call` of `calls`, `thread left` of `threads left`.
fn singular(noun: &str) -> String {
    let one = |word: &str| {
        let stem = word.strip_suffix("es").filter(|stem| stem.ends_with("ch"));
        let stem = stem.or_else(|| word.strip_suffix('s'));
        stem.map(str::to_owned)
    };
    one(noun)
        .or_else(|| {
            let (first, rest) = noun.split_once(' ')?;
            Some(format!("{} {rest}", one(first)?))
        })
        .unwrap_or_else(|| noun.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_read_as_phrases() {
        for (name, value, text) in [
            (
                "voluntary_switches",
                Some(0.0),
                "no voluntary kernel switches",
            ),
            ("kernel_threads", Some(1.0), "1 kernel thread"),
            ("kernel_threads", Some(3.0), "3 kernel threads"),
            ("strand_switches", Some(1.0), "1 strand switch"),
            ("sys_ns", Some(4.01e7), "40.1 ms in the kernel"),
            (
                "peak_rss_bytes",
                Some(3.4e6),
                "3.40 MB of memory at its peak",
            ),
            (
                "syscalls_per_switch",
                Some(1.01),
                "1.01 system calls a switch",
            ),
            ("syscalls_per_switch", Some(0.0), "no system calls a switch"),
            ("allocations_per_chain", Some(1.0), "1 allocation a chain"),
            ("allocations_per_chain", Some(4.0), "4 allocations a chain"),
            ("p_operations_per_item", Some(2.0), "2 P operations an item"),
            ("queue_ns", Some(2e3), "2.00 µs of queue"),
            ("blocked_p_operations", Some(7.0), "7 blocked P operations"),
            ("threads_left", Some(1.0), "1 thread left"),
            ("unwound", Some(1.0), "1 unwound"),
            ("event_ns", Some(46.0), "46.0 ns an event"),
            ("allocations", None, "allocations not counted"),
        ] {
            assert_eq!(phrase(name, value), text);
        }
    }
}
