//! `--beside`: experiments as they are in another place, before a change, to be measured in turns
//! with those of now.

use heddle_lab::Error;
use heddle_lab::experiment::Experiment;
use heddle_lab::select;
use std::path::Path;

/// Adds each experiment as it is in `place`.
///
/// # Errors
/// If it is not there, is of another metric, or runs a program of the lab, which is the same for
/// both.
pub fn join(mut experiments: Vec<Experiment>, place: &Path) -> heddle_lab::Result<Vec<Experiment>> {
    let there = select::read_path(place)?;
    let mut before = Vec::new();
    for experiment in &experiments {
        let wrong = |why: String| {
            let (id, place) = (&experiment.id, place.display());
            Error::Usage(format!("--beside {place}: {id} {why}"))
        };
        let Some(old) = there.iter().find(|old| old.id == experiment.id) else {
            let ids: Vec<&str> = there.iter().map(|old| old.id.as_str()).collect();
            return Err(wrong(format!("is not there, but {}", ids.join(", "))));
        };
        if old.path == experiment.path {
            return Err(wrong(
                "is the same file: name an earlier checkout of it".into(),
            ));
        }
        let metric = |it: &Experiment| format!("{} in {}", it.metric.name, it.metric.unit);
        if metric(old) != metric(experiment) {
            return Err(wrong(format!(
                "has the metric {} there, and {} here",
                metric(old),
                metric(experiment)
            )));
        }
        let words = |it: &Experiment| {
            let all = it.programs().flat_map(|program| program.command.clone());
            all.collect::<Vec<String>>()
        };
        if words(old).iter().any(|word| word.contains("{lab}")) {
            return Err(wrong(
                "runs a program of the lab ({lab}), of which there is one for both: compare saved runs, by --save and --against".into(),
            ));
        }
        before.push(old.clone().before());
    }
    experiments.extend(before);
    Ok(experiments)
}
