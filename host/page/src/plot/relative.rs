//! Ratios to the best of each place, where the metric goes through decades along the axis: there
//! the models' lines would lie upon each other.

use super::places;
use heddle_results::{Better, Cell, ExperimentReport, Group};

/// Decades that the metric must go through along the axis before ratios are drawn.
const DECADES: f64 = 1.0;
/// The differences at a place are hidden when they are less than this part of those decades.
const HIDDEN: f64 = 1.0 / 3.0;

/// Whether the plots of an experiment show ratios. Published figures are absolute: where there are
/// some, so are the plots.
pub(super) fn suits(experiment: &ExperimentReport) -> bool {
    let medians = |group: &Group, x: f64| -> Vec<f64> {
        let cells = group.series.iter().flat_map(|series| &series.cells);
        let here = cells.filter(|cell| cell.x == Some(x));
        here.filter_map(|cell| Some(cell.median?.value)).collect()
    };
    if experiment.axis.is_none() || !experiment.figures.is_empty() {
        return false;
    }
    let mut all: Vec<f64> = Vec::new();
    let mut spreads: Vec<f64> = Vec::new();
    for group in &experiment.groups {
        for x in places(std::slice::from_ref(group)) {
            let here = medians(group, x);
            if here.iter().any(|value| !value.is_normal() || *value < 0.0) {
                return false;
            }
            spreads.extend(decades(&here));
            all.extend(here);
        }
        if best(experiment, group).is_none() {
            return false;
        }
    }
    spreads.sort_by(f64::total_cmp);
    match (decades(&all), spreads.get(spreads.len() / 2)) {
        (Some(along), Some(usual)) => along >= DECADES && *usual <= along * HIDDEN,
        _ => false,
    }
}

/// The best median of each place of a group; none where a place has none.
pub(super) fn best(experiment: &ExperimentReport, group: &Group) -> Option<Vec<(f64, f64)>> {
    let better = experiment.metric.better;
    let best_at = |x: f64| {
        let able = group.series.iter().filter(|series| !series.reference);
        let cells = able.flat_map(|series| &series.cells);
        let here = cells.filter(|cell| cell.x == Some(x));
        let medians = here.filter_map(|cell| Some(cell.median?.value));
        medians.reduce(|a, b| match better {
            Better::Lower => a.min(b),
            Better::Higher => a.max(b),
        })
    };
    let places = places(std::slice::from_ref(group));
    places.into_iter().map(|x| Some((x, best_at(x)?))).collect()
}

/// A value of a cell as a multiple of the best at its place: how many times worse.
pub(super) fn times(best: &[(f64, f64)], better: Better, cell: &Cell, value: f64) -> f64 {
    let found = best.iter().find(|(x, _)| Some(*x) == cell.x);
    match (found, better) {
        (Some((_, best)), Better::Lower) => value / best,
        (Some((_, best)), Better::Higher) => best / value,
        (None, _) => f64::NAN,
    }
}

fn decades(values: &[f64]) -> Option<f64> {
    let (least, most) = values
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(least, most), value| {
            (least.min(*value), most.max(*value))
        });
    let decades = most.log10() - least.log10();
    decades.is_finite().then_some(decades)
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_results::{Estimate, Series, Values};

    fn experiment(models: &[&dyn Fn(f64) -> f64]) -> ExperimentReport {
        let cell = |x: f64, value: f64| Cell {
            x: Some(x),
            point: Values::new(),
            values: vec![value],
            median: Some(Estimate {
                value,
                low: value,
                high: value,
            }),
            counters: Default::default(),
            fixed: Default::default(),
            to_base: None,
            columns: vec![],
            failures: vec![],
            traced: None,
        };
        let series = |model: &&dyn Fn(f64) -> f64| Series {
            model: "m".into(),
            reference: false,
            cells: [10.0, 100.0].map(|x| cell(x, model(x))).into(),
        };
        ExperimentReport {
            axis: Some("n".into()),
            groups: vec![Group {
                label: String::new(),
                at: Values::new(),
                series: models.iter().map(series).collect(),
                winners: vec![],
            }],
            ..Default::default()
        }
    }

    #[test]
    fn ratios_are_drawn_where_the_axis_makes_more_of_a_difference_than_the_models() {
        let cubes = experiment(&[&|n| n * n * n, &|n| 1.4 * n * n * n]);
        assert!(suits(&cubes));
        let best = best(&cubes, &cubes.groups[0]).unwrap();
        assert_eq!(best, [(10.0, 1e3), (100.0, 1e6)]);
        let slower = &cubes.groups[0].series[1].cells[1];
        assert!((times(&best, Better::Lower, slower, 1.4e6) - 1.4).abs() < 1e-9);
        assert!(!suits(&experiment(&[&|_| 1.0, &|_| 1.4])), "flat");
        assert!(!suits(&experiment(&[&|n| n, &|n| 50.0 * n])), "far apart");
        assert!(!suits(&experiment(&[&|n| n * n, &|_| -1.0])), "below zero");
    }
}
