use super::plan::Cell;
use super::scratch::Scratch;
use super::take::{Taken, take};
use super::{Options, Plan, interrupt};
use crate::error::Result;
use crate::experiment::Experiment;
use heddle_results::{Machine, Sample, Status};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How far a run is.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// Samples taken.
    pub done: u64,
    /// Samples planned, as far as it is known.
    pub total: u64,
    /// Time that the rest will take, from how long the same cells' samples took so far; unknown at first.
    pub left: Option<Duration>,
    /// What has just run.
    pub sample: &'a Sample,
}

/// Whom the run tells how it goes.
pub trait Watcher {
    /// A sample was taken. An error ends the run.
    ///
    /// # Errors
    /// If it cannot be written down.
    fn step(&mut self, step: &Step) -> Result<()>;
    /// Something that the user should know.
    fn note(&mut self, text: &str);
}

/// Takes the samples of a plan.
pub struct Runner<'a> {
    experiments: &'a [Experiment],
    options: &'a Options,
    machine: Arc<Machine>,
    /// The cells with what was taken.
    pub plan: Plan,
    began: Instant,
    random: fastrand::Rng,
    done: u64,
    scratch: Scratch,
}

impl<'a> Runner<'a> {
    /// Begins now: the time budget counts from here.
    ///
    /// # Errors
    /// If no place for the samples' files can be made.
    pub fn new(
        experiments: &'a [Experiment],
        options: &'a Options,
        plan: Plan,
        machine: Arc<Machine>,
    ) -> Result<Self> {
        let scratch = Scratch::new(&std::env::temp_dir())?;
        let (began, random) = (Instant::now(), fastrand::Rng::with_seed(options.seed));
        Ok(Self {
            experiments,
            options,
            machine,
            plan,
            began,
            random,
            done: 0,
            scratch,
        })
    }

    /// Runs each executable once without recording it, so that the first sample doesn't pay for reading it from disk.
    /// What goes wrong here will go wrong again where it is recorded.
    pub fn warm_up(&mut self) {
        let mut seen = BTreeSet::new();
        for cell in 0..self.plan.cells.len() {
            let Some(program) = self.first_word(cell) else {
                continue;
            };
            if seen.insert(program) && matches!(self.take(cell, 0), Taken::Interrupted) {
                return;
            }
        }
    }

    /// Takes samples in rounds until each cell has `targets[cell]` of them or is given up. In each round every cell that
    /// wants more gets one, in random order: what disturbs the machine for a while then disturbs all alike. With
    /// `within_budget`, stops before a sample that would not end within the time budget.
    ///
    /// # Errors
    /// Those of the watcher.
    pub fn rounds(
        &mut self,
        targets: &[u32],
        within_budget: bool,
        watcher: &mut dyn Watcher,
    ) -> Result<()> {
        while self.round(targets, within_budget, watcher)? {}
        Ok(())
    }

    /// The next round of these; whether there may be another one.
    ///
    /// # Errors
    /// Those of the watcher.
    pub fn round(
        &mut self,
        targets: &[u32],
        within_budget: bool,
        watcher: &mut dyn Watcher,
    ) -> Result<bool> {
        let mut order: Vec<usize> = (0..targets.len())
            .filter(|cell| self.wants(*cell, targets) > 0)
            .collect();
        if order.is_empty() || interrupt::seen() {
            return Ok(false);
        }
        self.random.shuffle(&mut order);
        for cell in order {
            if within_budget
                && self.began.elapsed() + self.each(cell).unwrap_or_default()
                    > self.options.budget()
            {
                return Ok(false);
            }
            let number = u32::try_from(self.done).unwrap_or(u32::MAX);
            let (sample, spent) = match self.take(cell, number) {
                Taken::Sample(sample, spent) => (sample, spent),
                Taken::CannotRun(reason) => {
                    self.plan.cells[cell].cannot_run = Some(reason);
                    continue;
                }
                Taken::Interrupted => return Ok(false),
            };
            self.done += 1;
            self.plan.cells[cell].spent += spent;
            self.plan.cells[cell].samples.push(*sample);
            let Some(sample) = self.plan.cells[cell].samples.last() else {
                return Ok(false);
            };
            let wanted: u64 = (0..targets.len())
                .map(|cell| u64::from(self.wants(cell, targets)))
                .sum();
            watcher.step(&Step {
                done: self.done,
                total: self.done + wanted,
                left: self.left(targets),
                sample,
            })?;
        }
        Ok(true)
    }

    /// How long another round would take, as far as the samples so far tell. What hung is left out: once more, and its cell
    /// is given up.
    pub fn round_takes(&self) -> Duration {
        let hung = |cell: &Cell| cell.failures().contains(&Status::Hung);
        (0..self.plan.cells.len())
            .filter(|cell| !self.plan.cells[*cell].given_up() && !hung(&self.plan.cells[*cell]))
            .filter_map(|cell| self.each(cell))
            .sum()
    }

    /// Time since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn take(&self, cell: usize, number: u32) -> Taken {
        let (plan, machine, place) = (&self.plan, &self.machine, self.scratch.path());
        let (experiments, options) = (self.experiments, self.options);
        let taken = take(plan, cell, number, experiments, options, machine, place);
        self.scratch.empty();
        taken
    }

    /// Samples that a cell still wants.
    fn wants(&self, cell: usize, targets: &[u32]) -> u32 {
        let (target, cell) = (targets[cell], &self.plan.cells[cell]);
        if cell.given_up() || cell.cannot_run.is_some() {
            0
        } else {
            target.saturating_sub(cell.samples.len() as u32)
        }
    }

    /// How long a sample of a cell takes: as long as its samples so far; before the first, as
    /// those of its experiment, or of all.
    fn each(&self, cell: usize) -> Option<Duration> {
        let cell = &self.plan.cells[cell];
        let mean = |include: &dyn Fn(&Cell) -> bool| {
            let (mut spent, mut count) = (Duration::ZERO, 0);
            for other in self
                .plan
                .cells
                .iter()
                .filter(|other| !other.samples.is_empty() && include(other))
            {
                spent += other.spent;
                count += other.samples.len() as u32;
            }
            (count > 0).then(|| spent / count)
        };
        match cell.samples.len() {
            0 => mean(&|other| other.experiment == cell.experiment).or_else(|| mean(&|_| true)),
            count => Some(cell.spent / count as u32),
        }
    }

    /// How long it would take until each cell has `targets[cell]` samples, as far as the samples so far tell.
    pub fn left(&self, targets: &[u32]) -> Option<Duration> {
        (0..targets.len())
            .map(|cell| Some(self.each(cell)? * self.wants(cell, targets)))
            .sum()
    }

    fn first_word(&self, cell: usize) -> Option<String> {
        let cell = &self.plan.cells[cell];
        let experiment = &self.experiments[cell.experiment];
        let program = experiment.programs().nth(cell.program)?;
        cell.command(experiment, program, self.options)
            .into_iter()
            .next()
    }
}
