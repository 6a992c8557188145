//! Who won, by how much and how sure that is, in a sentence.

use super::winners::{Front, Place};
use crate::experiment::Experiment;
use heddle_results::text::{number, range, times};
use heddle_results::{Estimate, Lead, Metric};
use heddle_stats::FEWEST;

/// `31.2× (95 % 29.8–33.0)`.
pub fn ratio(estimate: Estimate) -> String {
    format!(
        "{} (95 % {})",
        times(estimate.value),
        range(&end(estimate.low), &end(estimate.high))
    )
}

/// An end of a ratio's interval: one that is not 1 does not read as 1.
fn end(value: f64) -> String {
    let text = number(value);
    if text == "1.00" && value != 1.0 {
        return format!("{value:.5}");
    }
    text
}

/// One sentence on a group.
pub fn verdict(experiment: &Experiment, label: &str, places: &[Place]) -> String {
    let name = if label.is_empty() {
        experiment.id.clone()
    } else {
        format!("{}, {label}", experiment.id)
    };
    let text = match &experiment.axis {
        Some(axis) => along(axis, &experiment.metric, places),
        None => places.first().map_or_else(
            || "nothing ran".into(),
            |place| one(&experiment.metric, &place.front, "", None),
        ),
    };
    let mut failed: Vec<String> = places
        .iter()
        .flat_map(|place| place.failed.iter().cloned())
        .collect();
    failed.sort();
    failed.dedup();
    if failed.is_empty() {
        return format!("{name}: {text}.");
    }
    let everywhere = places.iter().all(|place| place.failed == places[0].failed);
    let partly = if everywhere { "" } else { " everywhere" };
    format!(
        "{name}: {text}; not compared{partly}, because samples failed: {}.",
        list(&failed)
    )
}

/// Neighbouring places with the same models ahead make one clause.
fn along(axis: &str, metric: &Metric, places: &[Place]) -> String {
    let mut clauses: Vec<&[Place]> = Vec::new();
    let mut rest = places;
    while let Some(first) = rest.first() {
        let length = rest
            .iter()
            .take_while(|place| place.front.same(&first.front))
            .count();
        let (clause, after) = rest.split_at(length);
        clauses.push(clause);
        rest = after;
    }
    let count = clauses.len();
    let clause = |(index, places): (usize, &&[Place])| {
        let (first, last) = (places.first()?, places.last()?);
        let x = |place: &Place| place.x.map_or_else(|| "?".into(), plain_number);
        let place = match (places.len(), index) {
            (1, _) => format!(" at {axis}={}", x(first)),
            (_, _) if count == 1 => format!(" from {axis}={} to {}", x(first), x(last)),
            (_, 0) => format!(" up to {axis}={}", x(last)),
            (_, index) if index + 1 == count => format!(" from {axis}={} on", x(first)),
            _ => format!(" from {axis}={} to {}", x(first), x(last)),
        };
        let end = (places.len() > 1).then(|| format!(" at {axis}={}", x(last)));
        Some(one(metric, &last.front, &place, end.as_deref()))
    };
    clauses
        .iter()
        .enumerate()
        .filter_map(clause)
        .collect::<Vec<_>>()
        .join("; ")
}

/// One clause: `place` says where it holds, `end` where its numbers were read, if that is not the
/// same.
fn one(metric: &Metric, front: &Front, place: &str, end: Option<&str>) -> String {
    let end = end.unwrap_or("");
    match front {
        Front::Nothing => format!("no model gave a sound result{place}"),
        Front::TooFew(count) => {
            format!(
                "too few samples to tell the models apart{place}: {count} in a cell, at least {FEWEST} are needed"
            )
        }
        Front::Only { model, median } => format!(
            "there is nothing to compare {model} with{place}, {}{end}",
            metric.reading(*median)
        ),
        Front::Found {
            models,
            median,
            behind,
            ..
        } => match (models.as_slice(), behind.first()) {
            ([winner], Some(lead)) if place.is_empty() => {
                format!("{winner} wins{}, {}", with(metric, *median), ahead(lead))
            }
            ([winner], Some(lead)) => format!("{winner} wins{place}, {}{end}", ahead(lead)),
            (models, Some(lead)) => {
                let best = models.first().map_or("", String::as_str);
                format!(
                    "no significant difference between {}{place}; {best} is {}{end}",
                    list(models),
                    ahead(lead)
                )
            }
            (models, None) => format!("no significant difference between {}{place}", list(models)),
        },
    }
}

fn ahead(lead: &Lead) -> String {
    format!("{} ahead of {}", ratio(lead.times), lead.over)
}

/// ` at 1.30 ns a switch`, ` with 1.30 MB (memory)`.
fn with(metric: &Metric, value: f64) -> String {
    let word = if metric.label.starts_with("time per ") {
        "at"
    } else {
        "with"
    };
    format!(" {word} {}", metric.reading(value))
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// A parameter's value: no digits invented, none lost.
pub fn plain_number(value: f64) -> String {
    format!("{value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_is_not_one_does_not_read_as_one() {
        let (value, high) = (1.97, 2.53);
        for (low, text) in [(1.0004, "1.00040"), (1.0, "1.00"), (1.02, "1.02")] {
            let estimate = Estimate { value, low, high };
            assert_eq!(ratio(estimate), format!("1.97× (95 % {text}–2.53)"));
        }
    }
}
