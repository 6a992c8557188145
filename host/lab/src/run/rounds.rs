use super::agreement;
use super::pairs;
use super::plan::Cell;
use super::scratch::Scratch;
use super::take::{Taken, take};
use super::{Checkpoint, Earlier, Options, Plan, SecondLook, interrupt};
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
    /// Time that the rest will take, from how long the same cells' samples took so far; unknown at
    /// first.
    pub left: Option<Duration>,
    /// What has just run.
    pub sample: &'a Sample,
}

/// Receives progress callbacks.
pub trait Watcher {
    /// A sample was taken. An error ends the run.
    ///
    /// # Errors
    /// If it cannot be written down.
    fn step(&mut self, step: &Step) -> Result<()>;
    /// Samples that were taken before have turned out to be wrong; `samples` are all that there
    /// are, in the order taken. An error ends the run.
    ///
    /// # Errors
    /// If they cannot be written down.
    fn revised(&mut self, _samples: &[&Sample]) -> Result<()> {
        Ok(())
    }
    /// Something that the user should know.
    fn note(&mut self, text: &str);
    /// How far the run is: after each round, and within long ones. An error ends the run.
    ///
    /// # Errors
    /// If it cannot be written down.
    fn checkpoint(&mut self, _point: &Checkpoint) -> Result<()> {
        Ok(())
    }
}

/// How often it is noted down how far the run is, within a round.
const NOTE_EVERY: Duration = Duration::from_secs(5);

/// The generator of a round's order: each round, from 1, has one of its own.
pub(super) fn random(seed: u64, round: u32) -> fastrand::Rng {
    let step = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(u64::from(round));
    fastrand::Rng::with_seed(seed.wrapping_add(step))
}

/// Takes the samples of a plan.
pub struct Runner<'a> {
    pub(super) experiments: &'a [Experiment],
    pub(super) options: &'a Options,
    machine: Arc<Machine>,
    /// The cells with what was taken.
    pub plan: Plan,
    began: Instant,
    /// Time that was spent before, where an interrupted run is resumed.
    before: Duration,
    /// Which cells get more samples, once that is known.
    pub second_look: Option<SecondLook>,
    noted: Instant,
    done: u64,
    pub(super) scratch: Scratch,
}

impl<'a> Runner<'a> {
    /// Begins now, with what an interrupted run has left: the time budget counts from here, and
    /// what that run took is spent.
    ///
    /// # Errors
    /// If no place for the samples' files can be made.
    pub fn new(
        experiments: &'a [Experiment],
        options: &'a Options,
        mut plan: Plan,
        machine: Arc<Machine>,
        earlier: &Earlier,
    ) -> Result<Self> {
        let scratch = Scratch::new(&std::env::temp_dir())?;
        let began = Instant::now();
        let done = earlier.fill(experiments, &mut plan);
        Ok(Self {
            experiments,
            options,
            machine,
            plan,
            began,
            before: earlier.elapsed,
            second_look: earlier.second_look.clone(),
            noted: began,
            done,
            scratch,
        })
    }

    /// Runs each executable once without recording it, so that the first sample doesn't pay for
    /// reading it from disk. Failures are ignored here: they will happen again where samples are
    /// recorded.
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

    /// Takes samples in rounds until each cell has `targets[cell]` of them or is given up. In each
    /// round every cell that wants more gets one, in random order: what disturbs the machine for a
    /// while then disturbs all alike. With `within_budget`, stops before a sample that would not
    /// end within the time budget.
    ///
    /// # Errors
    /// Those of the watcher.
    pub fn rounds(
        &mut self,
        targets: &[u32],
        within_budget: bool,
        watcher: &mut dyn Watcher,
    ) -> Result<()> {
        let next = |runner: &Self| {
            let open = (0..targets.len()).filter(|cell| runner.wants(*cell, targets) > 0);
            let taken = open.map(|cell| runner.plan.cells[cell].samples.len() as u32);
            taken.min().map(|taken| taken + 1)
        };
        while let Some(number) = next(self) {
            if !self.round(number, targets, within_budget, watcher)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// One of these rounds, from 1: each cell that has fewer samples than its number gets one. The
    /// order is that of the seed and the number, whatever happened before, so that a resumed run
    /// takes what is left of a round in the order in which it would have been taken. Returns
    /// whether there may be another round.
    ///
    /// # Errors
    /// Those of the watcher.
    pub fn round(
        &mut self,
        number: u32,
        targets: &[u32],
        within_budget: bool,
        watcher: &mut dyn Watcher,
    ) -> Result<bool> {
        if interrupt::seen() {
            return Ok(false);
        }
        let mut order: Vec<usize> = (0..targets.len()).collect();
        random(self.options.seed, number).shuffle(&mut order);
        order.retain(|cell| {
            self.wants(*cell, targets) > 0 && self.plan.cells[*cell].samples.len() < number as usize
        });
        for cell in pairs::join(order, &self.plan.cells, self.experiments) {
            let each = self.each(cell).unwrap_or_default();
            if within_budget && self.elapsed() + each > self.options.budget {
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
            if self.noted.elapsed() > NOTE_EVERY {
                self.note_down(watcher)?;
            }
        }
        self.compare_results(watcher)?;
        self.note_down(watcher)?;
        Ok(true)
    }

    /// Compares the results of models that ran with the same parameters, as far as there are any.
    ///
    /// # Errors
    /// Those of the watcher.
    pub fn compare_results(&mut self, watcher: &mut dyn Watcher) -> Result<()> {
        if !agreement::compare(&mut self.plan.cells) {
            return Ok(());
        }
        self.revise(watcher)
    }

    /// Has all samples written down anew.
    pub(super) fn revise(&self, watcher: &mut dyn Watcher) -> Result<()> {
        let cells = self.plan.cells.iter();
        let mut samples: Vec<&Sample> = cells.flat_map(|cell| &cell.samples).collect();
        samples.sort_by_key(|sample| sample.order);
        watcher.revised(&samples)
    }

    /// Has it noted down how far the run is.
    ///
    /// # Errors
    /// Those of the watcher.
    pub fn note_down(&mut self, watcher: &mut dyn Watcher) -> Result<()> {
        self.noted = Instant::now();
        watcher.checkpoint(&Checkpoint {
            elapsed: self.elapsed(),
            second_look: self.second_look.as_ref(),
        })
    }

    /// Samples of the cell that has the fewest; cells that were given up are not asked.
    pub fn fewest_taken(&self) -> u32 {
        let cells = self.plan.cells.iter().filter(|cell| !cell.given_up());
        let taken = cells.map(|cell| cell.samples.len() as u32);
        taken.min().unwrap_or(0)
    }

    /// How long another round would take, as far as the samples so far tell. What hung is left out:
    /// once more, and its cell is given up.
    pub fn round_takes(&self) -> Duration {
        let hung = |cell: &Cell| cell.failures().contains(&Status::Hung);
        (0..self.plan.cells.len())
            .filter(|cell| !self.plan.cells[*cell].given_up() && !hung(&self.plan.cells[*cell]))
            .filter_map(|cell| self.each(cell))
            .sum()
    }

    /// Time since the beginning, without pauses.
    pub fn elapsed(&self) -> Duration {
        self.before + self.began.elapsed()
    }

    fn take(&self, cell: usize, number: u32) -> Taken {
        let (plan, machine, place) = (&self.plan, &self.machine, self.scratch.path());
        let (experiments, options) = (self.experiments, self.options);
        let taken = take(plan, cell, number, experiments, options, machine, &place);
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

    /// How long it would take until each cell has `targets[cell]` samples, as far as the samples so
    /// far tell.
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
