//! What an interrupted comparison left, and what is made of samples.

use crate::{experiments, scratch, write};
use heddle_lab::experiment::Experiment;
use heddle_lab::merge::merge;
use heddle_lab::output::{Finished, Output};
use heddle_lab::run::plan;
use std::path::Path;
use std::sync::LazyLock;

/// The experiment that the samples of an input are of; its program is there, and is not run.
const EXPERIMENT: &str = include_str!("e.toml");

static PARSED: LazyLock<Experiment> = LazyLock::new(|| {
    Experiment::parse(EXPERIMENT, Path::new(experiments::PATH))
        .unwrap_or_else(|error| panic!("{error}"))
});

/// Goes on with a run: `run.json`, an empty line, `results.jsonl`. Judges the samples, and writes a
/// page of them; then reads it as a finished one, and puts it together with itself.
pub fn read(input: &[u8]) {
    let at = input.windows(2).position(|two| two == b"\n\n");
    let (record, lines) = at.map_or((&b""[..], input), |at| (&input[..at], &input[at + 2..]));
    let directory = scratch();
    let partial = directory.path().join("report.partial");
    std::fs::create_dir(&partial).unwrap_or_else(|error| panic!("{error}"));
    write(&partial.join("run.json"), record);
    write(&partial.join("results.jsonl"), lines);
    let Ok(resumed) = Output::resume(&directory.path().join("report")) else {
        return;
    };
    let options = resumed.record.options();
    let _ = resumed.record.other_machine(&Default::default());
    let mut plan = plan(std::slice::from_ref(&*PARSED), &options);
    for sample in resumed.samples {
        let cells = plan.cells.iter_mut();
        let own = |cell: &&mut heddle_lab::run::Cell| {
            cell.model == sample.model && cell.point == sample.point
        };
        if let Some(cell) = cells.filter(|_| sample.experiment == "e").find(own) {
            cell.samples.push(sample);
        }
    }
    let report = experiments::report(&PARSED, &plan, options.mode);
    let raw = resumed.output.raw().unwrap_or_default();
    heddle_page::render(&report, &raw).unwrap_or_else(|error| panic!("{error}"));
    let written = serde_json::to_string(&report).unwrap_or_else(|error| panic!("{error}"));
    let _ = serde_json::from_str::<heddle_results::Report>(&written);
    write(&partial.join("report.json"), written.as_bytes());
    let runs: Result<Vec<Finished>, _> = (0..2).map(|_| Finished::read(&partial)).collect();
    let Ok(mut runs) = runs else { return };
    let _ = merge(vec![runs.swap_remove(0)], &[]);
    runs.extend(Finished::read(&partial));
    let _ = merge(runs, &[]);
}
