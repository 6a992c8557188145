//! How a comparison goes, on standard error: a bar on a terminal, elsewhere a line at each quarter.

use super::job::Job;
use super::print::note;
use heddle_lab::output::Output;
use heddle_lab::run::{Checkpoint, Step, Watcher};
use heddle_results::Sample;
use heddle_results::text::wait;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// Shares of the samples at which a log gets a line, %.
const LINES: [u64; 3] = [25, 50, 75];

/// Writes samples down and shows how far we are.
pub struct Progress<'a> {
    output: &'a mut Output,
    bar: Option<ProgressBar>,
    taken: u64,
    /// The next of [`LINES`].
    line: usize,
}

/// Says what begins: `comparing 12 experiments, 20 samples a cell, about 3 min 40 s (seed 123)`.
pub fn announce(job: &Job) {
    let (options, there) = (&job.options, job.earlier.samples.len());
    let count = match job.experiments.as_slice() {
        [one] => one.id.clone(),
        all => format!("{} experiments", all.len()),
    };
    let count = match options.shard {
        Some(shard) => format!("{count}, shard {shard}"),
        None => count,
    };
    let what = match there {
        0 => format!("comparing {count}"),
        there => format!("going on with {count}, {there} samples are there"),
    };
    let takes = heddle_lab::expected(&job.experiments, options).map(|expected| {
        let limited = options.samples.is_none();
        let takes = if limited {
            expected.min(options.budget)
        } else {
            expected
        };
        let left = takes.saturating_sub(job.earlier.elapsed);
        format!(", about {}", wait(left))
    });
    note(format_args!(
        "{what}, {} samples a cell{} (seed {})",
        options.first_samples(),
        takes.unwrap_or_default(),
        options.seed
    ));
}

impl<'a> Progress<'a> {
    /// Shows the progress of a run that writes to `output`.
    pub fn new(output: &'a mut Output) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:24} {percent:>3} %  {wide_msg}");
            if let Ok(style) = style {
                bar.set_style(style.progress_chars("━╸ "));
            }
            bar
        });
        Self {
            output,
            bar,
            taken: 0,
            line: 0,
        }
    }

    /// Takes the bar away; how many samples there are.
    pub fn finish(self) -> u64 {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        self.taken
    }
}

impl Watcher for Progress<'_> {
    fn step(&mut self, step: &Step) -> heddle_lab::Result<()> {
        self.output.append(step.sample)?;
        let first = self.taken == 0;
        self.taken = step.done;
        let left = step
            .left
            .map_or_else(String::new, |left| format!("{} left", wait(left)));
        if let Some(bar) = &self.bar {
            bar.set_length(step.total);
            bar.set_position(step.done);
            bar.set_message(format!(
                "{left}  {} {}",
                step.sample.experiment, step.sample.model
            ));
            return Ok(());
        }
        let percent = 100 * step.done / step.total.max(1);
        let passed = LINES.iter().filter(|line| **line <= percent).count();
        // A resumed run begins where it stopped.
        if passed > self.line && !first {
            note(format_args!(
                "{percent} %: {} of {} samples, {left}",
                step.done, step.total
            ));
        }
        self.line = self.line.max(passed);
        Ok(())
    }

    fn revised(&mut self, samples: &[&Sample]) -> heddle_lab::Result<()> {
        self.output.rewrite(samples)
    }

    fn note(&mut self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| note(format_args!("{text}"))),
            None => note(format_args!("{text}")),
        }
    }

    fn checkpoint(&mut self, point: &Checkpoint) -> heddle_lab::Result<()> {
        self.output.checkpoint(point)
    }
}
