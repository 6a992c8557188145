//! The winner map: a strip an experiment, a square a place of its sweep in the colour of the model
//! that is best there.

use crate::palette::Palette;
use crate::svg::{escaped, px};
use heddle_results::text::times;
use heddle_results::{ExperimentReport, Winner, family};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A square's side, and from one to the next.
const SIDE: f64 = 9.0;
const STEP: f64 = 10.5;
/// So many colours of models that cannot be told apart fit into a square.
const SLICES: usize = 3;

/// The strip, empty where there is nothing to show, and what it says in words.
pub(super) fn strip(experiment: &ExperimentReport, palette: &Palette) -> (String, String) {
    let words = words(experiment);
    let groups = &experiment.groups;
    let along = groups.iter().any(|group| group.winners.len() > 1);
    let mut paths: BTreeMap<(usize, bool), String> = BTreeMap::new();
    let mut nothing = String::new();
    let (mut right, mut bottom) = (0.0_f64, 0.0_f64);
    for (row, group) in groups.iter().enumerate() {
        for (column, winner) in group.winners.iter().enumerate() {
            // Without an axis groups stand beside each other.
            let (column, row) = if along { (column, row) } else { (row, 0) };
            let (x, y) = (column as f64 * STEP, row as f64 * STEP);
            (right, bottom) = (right.max(x + SIDE), bottom.max(y + SIDE));
            let mut colours: Vec<usize> = Vec::new();
            for model in &winner.models {
                let colour = palette.look(model).colour;
                if !colours.contains(&colour) {
                    colours.push(colour);
                }
            }
            colours.truncate(SLICES);
            if colours.is_empty() {
                let inner = SIDE - 1.0;
                let _ = write!(
                    nothing,
                    "M{} {}h{inner}v{inner}h-{inner}z",
                    px(x + 0.5),
                    px(y + 0.5)
                );
            }
            let width = SIDE / colours.len().max(1) as f64;
            let tie = colours.len() > 1;
            for (slice, colour) in colours.into_iter().enumerate() {
                let path = paths.entry((colour, tie)).or_default();
                let (x, width) = (px(x + slice as f64 * width), px(width));
                let _ = write!(path, "M{x} {}h{width}v{SIDE}h-{width}z", px(y));
            }
        }
    }
    if right == 0.0 {
        return (String::new(), words);
    }
    let mut svg = format!(
        r#"<svg class="strip" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img" aria-label="{2}">"#,
        px(right),
        px(bottom),
        escaped(&format!("best at each place: {words}"))
    );
    for ((colour, tie), path) in paths {
        let class = if tie { " tie" } else { "" };
        let _ = write!(svg, r#"<path class="c{colour}{class}" d="{path}"/>"#);
    }
    if !nothing.is_empty() {
        let _ = write!(svg, r#"<path class="nothing" d="{nothing}"/>"#);
    }
    (svg + "</svg>", words)
}

/// `thread 2.00× ahead of stackless` of one place; of several how often a family is best.
fn words(experiment: &ExperimentReport) -> String {
    let winners: Vec<&Winner> = experiment
        .groups
        .iter()
        .flat_map(|group| &group.winners)
        .collect();
    if let [winner] = winners[..] {
        return one(winner);
    }
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for winner in &winners {
        let mut families: Vec<&str> = winner.models.iter().map(|model| family(model)).collect();
        families.dedup();
        let name = match families[..] {
            [] => "not compared",
            [one] => one,
            _ => "no difference",
        };
        match counts.iter_mut().find(|(other, _)| *other == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| usize::MAX - count);
    match counts[..] {
        [] => "nothing ran".into(),
        [(name, all)] => format!("{name} at all {all} places"),
        _ => {
            let each = counts.iter().map(|(name, count)| format!("{name} {count}"));
            each.collect::<Vec<_>>().join(" · ")
        }
    }
}

fn one(winner: &Winner) -> String {
    match (&winner.models[..], &winner.lead) {
        ([], _) => "not compared".into(),
        ([best], Some(lead)) => {
            format!("{best}, {} ahead of {}", times(lead.times.value), lead.over)
        }
        ([best], None) => format!("{best}, nothing to compare with"),
        ([best, other], _) => format!("no difference: {best}, {other}"),
        ([best, others @ ..], _) => format!("no difference: {best} and {} more", others.len()),
    }
}
