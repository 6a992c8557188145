//! What is to be run: chosen by the user, or left by an interrupted run.

use super::args::Args;
use super::print::note;
use heddle_lab::experiment::Experiment;
use heddle_lab::output::{Output, Record, Resumed};
use heddle_lab::run::{Earlier, Options, machine};
use heddle_lab::{Error, select};
use std::time::Duration;

/// A run that can begin.
pub struct Job {
    pub experiments: Vec<Experiment>,
    pub options: Options,
    pub earlier: Earlier,
    pub output: Output,
    /// The command line that began it.
    pub command: Vec<String>,
    /// Only the main questions are asked.
    pub main_only: bool,
}

impl Job {
    /// A new run of what the user has chosen.
    ///
    /// # Errors
    /// If the directory for the report cannot be had.
    pub fn begin(
        args: &Args,
        experiments: Vec<Experiment>,
        options: Options,
    ) -> heddle_lab::Result<Self> {
        let command: Vec<String> = std::env::args().collect();
        let main_only = args.main_only() && experiments.iter().all(Experiment::is_main);
        let asked = (args.suite.clone(), main_only);
        let record = Record::new(&experiments, &options, asked, command.clone())?;
        let (output, notes) = Output::open(&args.directory(), record)?;
        for text in notes {
            note(format_args!("{text}"));
        }
        Ok(Self {
            experiments,
            options,
            earlier: Earlier::default(),
            output,
            command,
            main_only,
        })
    }

    /// The run that was interrupted.
    ///
    /// # Errors
    /// If there is none, it was of another suite, or its experiments have changed; if the user
    /// wants it otherwise than it was begun.
    pub fn resume(args: &Args) -> heddle_lab::Result<Self> {
        if let Some(given) = args.beside_resume() {
            return Err(Error::Usage(format!(
                "--resume goes on with the experiments, options and seed that the run was begun with: leave {given} out"
            )));
        }
        let Resumed {
            output,
            record,
            samples,
            mut notes,
        } = Output::resume(&args.directory())?;
        if args.suite.is_some() && args.suite != record.suite {
            let suite = record.suite.as_deref().unwrap_or("none");
            return Err(Error::Usage(format!(
                "the interrupted run is of another suite: {suite}"
            )));
        }
        let experiments = record.experiments()?;
        let mut options = record.options();
        options.models = select::filters(&experiments, &options.models)?;
        let mut said = vec![format!(
            "Interrupted after {} samples, and resumed.",
            samples.len()
        )];
        if let Some(other) = record.other_machine(&machine()) {
            notes.push(format!("warning: {other}"));
            said.insert(0, other);
        }
        for text in notes {
            note(format_args!("{text}"));
        }
        // The clock is noted down now and then, the samples always.
        let spent = samples.iter().map(|sample| sample.process.wall_ns);
        let spent = spent.fold(0, u64::saturating_add);
        Ok(Self {
            experiments,
            earlier: Earlier {
                samples,
                elapsed: Duration::from_nanos(record.elapsed_ns.max(spent)),
                started_ns: Some(record.started_ns),
                second_look: record.second_look,
                notes: said,
            },
            options,
            output,
            command: record.command,
            main_only: record.main_only,
        })
    }
}
