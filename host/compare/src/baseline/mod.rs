//! `--save` and `--against`: what was measured is kept under a name, and later runs are compared
//! with it. `--beside`: the same experiments as they were before are measured, too, in turns.

pub mod beside;
mod github;
mod judge;
mod saved;
mod steps;
#[cfg(test)]
mod tests;
mod text;

use crate::args::Args;
use crate::layout;
use crate::print::{note, print};
use anyhow::bail;
use heddle_results::{Machine, Report};
use judge::{Comparison, DEFAULT_NOISE};
use saved::{Saved, Series};

/// What the user asked for, checked before the first sample is taken.
pub struct Baseline {
    save: Option<Series>,
    against: Option<Against>,
    /// The place of the experiments as they were before, which the run has measured, too.
    beside: Option<String>,
    noise: Option<f64>,
}

/// The runs to compare with.
struct Against {
    name: String,
    /// The saved runs of machines like this one, the earliest first; there is one at least.
    runs: Vec<Saved>,
}

impl Baseline {
    /// Reads what is to be compared with.
    ///
    /// # Errors
    /// If a name is no file's name, nothing was saved under it on a machine like this one, or the
    /// file cannot be read.
    pub fn open(args: &Args, machine: &Machine) -> heddle_lab::Result<Self> {
        let series = |name: &String| Series::new(&args.baselines, name);
        let against = args.against.as_ref().map(|name| {
            let runs = series(name)?.read_like(machine)?;
            Ok(Against {
                name: name.clone(),
                runs,
            })
        });
        let save = args.save.as_ref().map(|name| {
            let series = series(name)?;
            // A damaged file is told now, not after the samples.
            series.read()?;
            Ok(series)
        });
        Ok(Self {
            save: save.transpose()?,
            against: against.transpose()?,
            beside: (args.beside.as_ref()).map(|place| place.display().to_string()),
            noise: args.noise,
        })
    }

    /// Compares a finished report and saves it; whether something has become worse. Texts go to
    /// standard error where standard output holds JSON.
    ///
    /// # Errors
    /// If the report cannot be saved, nothing can be printed, or no cell is in both runs.
    pub fn settle(&self, report: &Report, json: bool) -> anyhow::Result<bool> {
        let say = |text: &str| match json {
            true => {
                note(format_args!("{}", text.trim_end()));
                Ok(())
            }
            false => print(text),
        };
        let tell = |name: &str, comparison: &Comparison| -> anyhow::Result<bool> {
            let (width, _) = layout::width();
            say(&text::of(name, comparison, width))?;
            if github::is_here() {
                say(&github::annotations(comparison))?;
            }
            if let Some(file) = github::summary_file() {
                github::append(&file, &github::summary(name, comparison))?;
            }
            Ok(comparison.worse().next().is_some())
        };
        let (mut worse, mut nothing) = (false, None);
        let (before, now) = saved::before_and_now(report);
        // A resumed run has forgotten the place, and measures what it began with.
        let place = self.beside.as_deref().unwrap_or("the earlier checkout");
        if !before.cells.is_empty() || self.beside.is_some() {
            let comparison = Comparison::beside(place, &before, &now, self.noise);
            worse = tell(place, &comparison)?;
            if comparison.compared == 0 {
                let told = text::same(&comparison);
                nothing = Some(format!("nothing was compared with {place}: {told}"));
            }
        }
        let now = Saved::of(report);
        if let Some(Against { name, runs }) = &self.against {
            let comparison = Comparison::new(runs, &now, self.noise);
            worse = tell(name, &comparison)?;
            if comparison.compared == 0 {
                nothing = Some(format!(
                    "nothing was compared with `{name}`, whose last run was {}: {}; `--save {name}` saves a run like this one",
                    runs.last().map_or("", |last| &last.mode),
                    text::same(&comparison)
                ));
            }
        }
        if let Some(series) = &self.save {
            let number = series.append(&now)?;
            let noise = match (number, judge::calibration(&now)) {
                (1, Some(noise)) => format!(
                    "; two halves of this run differ by up to {}, the noise to expect is at least {}",
                    text::percent(noise),
                    text::percent(noise.max(DEFAULT_NOISE))
                ),
                (1, None) => "; too few samples to tell this machine's noise".into(),
                _ => String::new(),
            };
            note(format_args!(
                "saved as run {number} of {}{noise}",
                series.path().display()
            ));
        }
        match nothing {
            // A check that has checked nothing does not pass.
            Some(text) => bail!(text),
            None => Ok(worse),
        }
    }
}
