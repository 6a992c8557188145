//! How a comparison goes, on standard error: a bar on a terminal, elsewhere a line now and then.

use heddle_lab::output::Output;
use heddle_lab::run::{Options, Step, Watcher};
use heddle_results::text::wait;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often a log gets a line.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Writes samples down and shows how far we are.
pub struct Progress<'a> {
    output: &'a mut Output,
    bar: Option<ProgressBar>,
    taken: u64,
    last_line: Instant,
}

impl<'a> Progress<'a> {
    /// Says what begins.
    pub fn new(output: &'a mut Output, options: &Options) -> Self {
        let samples = match options.samples {
            Some(count) => format!("{count}"),
            None => format!("at least {}", options.first_samples()),
        };
        super::note(format_args!(
            "comparing ({}), {samples} samples a cell, seed {}",
            options.mode.name(),
            options.seed
        ));
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}");
            if let Ok(style) = style {
                bar.set_style(style.progress_chars("━╸ "));
            }
            bar
        });
        Self {
            output,
            bar,
            taken: 0,
            last_line: Instant::now(),
        }
    }

    /// Takes the bar away; how many samples were taken.
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
        self.taken = step.done;
        let left = step
            .left
            .map_or_else(String::new, |left| format!("{} left", wait(left)));
        match &self.bar {
            Some(bar) => {
                bar.set_length(step.total);
                bar.set_position(step.done);
                bar.set_message(format!(
                    "{left}  {} {}",
                    step.sample.experiment, step.sample.model
                ));
            }
            None if self.last_line.elapsed() >= LINE_EVERY || step.done == step.total => {
                self.last_line = Instant::now();
                super::note(format_args!(
                    "{} of {} samples, {left}",
                    step.done, step.total
                ));
            }
            None => {}
        }
        Ok(())
    }

    fn note(&mut self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| super::note(format_args!("{text}"))),
            None => super::note(format_args!("{text}")),
        }
    }
}
