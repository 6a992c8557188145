//! Experiment files.

use heddle_lab::experiment::{Experiment, Mode};
use heddle_lab::judge;
use heddle_lab::run::{Options, Plan, lab_files, plan};
use std::path::Path;
use std::time::Duration;

/// Its id is `e`, as the name of an input's file is.
pub const PATH: &str = "/nonexistent/e.toml";

/// Reads an experiment, lays its samples out and judges it without any.
pub fn read(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    match Experiment::parse(text, Path::new(PATH)) {
        Ok(experiment) => {
            for mode in [Mode::Quick, Mode::Full] {
                let experiments = std::slice::from_ref(&experiment);
                let options = options(mode);
                lab_files(experiments, &options);
                let plan = plan(experiments, &options);
                assert_eq!(plan.skipped.len(), 1);
                let _ = heddle_lab::expected(experiments, &options);
                report(&experiment, &plan, mode);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// What is said of an experiment, on its page, too.
pub fn report(experiment: &Experiment, plan: &Plan, mode: Mode) -> heddle_results::Report {
    let experiments = vec![judge::report(0, experiment, plan, mode, 1)];
    heddle_results::Report {
        experiments,
        ..heddle_results::Report::default()
    }
}

fn options(mode: Mode) -> Options {
    Options {
        mode,
        models: Vec::new(),
        samples: None,
        timeout: None,
        budget: Duration::from_secs(60),
        seed: 1,
        shard: None,
        trace: None,
        lab: "/nonexistent/lab".into(),
    }
}
