//! The command line of `heddle compare`.

use crate::costs::Costs;
use heddle_lab::experiment::{Experiment, Mode};
use heddle_lab::run::{Options, Shard, Tracing};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Arguments of `heddle compare`.
#[derive(clap::Args)]
pub struct Args {
    /// Experiments to run, by id or workload; a directory of experiments or a .toml file adds those
    /// [default: the main ones, one for each question]
    #[arg(value_name = "NAME|PATH")]
    pub what: Vec<String>,

    /// Experiments of this suite: `speed` measures Heddle itself beside its peers
    #[arg(long, value_name = "NAME")]
    pub suite: Option<String>,

    /// All experiments instead of the main ones
    #[arg(long, conflicts_with_all = ["what", "suite"])]
    pub all: bool,

    /// Only this model (repeatable): `thread`, `fiber/asm`; a family where no model has that very
    /// name, `fiber`, or always, `thread/*`
    #[arg(short, long, value_name = "MODEL", value_delimiter = ',')]
    pub model: Vec<String>,

    /// Fewer points, samples of at most 100 ms: minutes (this is the default)
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,

    /// The whole sweeps, up to the sizes that the sources speak of, of all experiments: an hour or
    /// more
    #[arg(long)]
    pub full: bool,

    /// Exactly so many samples a cell [default: 20, with --full 10, then what inconclusive claims
    /// need]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub samples: Option<u32>,

    /// Seconds after which a sample is `hung` [default: what the experiment says]
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<Duration>,

    /// Seconds that the run may take: fewer samples a cell where they do not fit [default: 240,
    /// with --all or --suite 600, with --full 2700]
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub budget: Option<Duration>,

    /// Seed of the order and of the resampling [default: drawn, and printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Take only the I-th of N parts of the cells; the seed, which all parts must share, says which
    #[arg(long, value_name = "I/N", requires = "seed", conflicts_with_all = ["save", "against"])]
    pub shard: Option<Shard>,

    /// Record a sample of each cell after all others, in at most half as much time again, and show
    /// where the time of its threads went
    #[arg(long, conflicts_with_all = ["show", "ledger", "list", "merge"])]
    pub trace: bool,

    /// Go on with an interrupted run, as it was begun
    #[arg(long)]
    pub resume: bool,

    /// Put finished runs together: parts of one run are what the whole would have been, machines
    /// stand side by side
    #[arg(long, value_name = "DIR", num_args = 1.., conflicts_with_all = [
        "what", "suite", "all", "model", "quick", "full", "samples", "timeout", "budget", "seed",
        "shard", "resume", "list",
    ])]
    pub merge: Vec<PathBuf>,

    /// Print tables, claims and counters of this experiment from the last finished report, and run
    /// nothing (repeatable)
    #[arg(long, value_name = "EXPERIMENT", value_delimiter = ',', conflicts_with_all = ["what", "resume", "json", "list", "merge"])]
    pub show: Vec<String>,

    /// Print the statements of the sources and our questions, with their verdicts, from the last
    /// finished report as Markdown, and run nothing
    #[arg(long, conflicts_with_all = ["what", "resume", "json", "list", "show", "merge"])]
    pub ledger: bool,

    /// Print tables, every claim and every sentence before the summary
    #[arg(short, long, conflicts_with = "json")]
    pub verbose: bool,

    /// Print the report as JSON instead of a summary
    #[arg(long)]
    pub json: bool,

    /// Where index.html, report.json and results.jsonl go [default: report, with --suite NAME
    /// report-NAME, with --shard I/N report-I-of-N]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Keep what this run measures under this name, after the runs that it has already
    #[arg(long, value_name = "NAME", conflicts_with_all = ["show", "ledger", "list"])]
    pub save: Option<String>,

    /// Compare with the last run that was saved under this name on a machine like this one; 3 if
    /// something has become worse
    #[arg(long, value_name = "NAME", conflicts_with_all = ["show", "ledger", "list"])]
    pub against: Option<String>,

    /// Measure the experiments as they are in this folder or file, an earlier checkout, too: in
    /// turns, and compared in pairs; 3 if something has become worse
    #[arg(long, value_name = "PATH", conflicts_with_all = [
        "show", "ledger", "list", "save", "against", "shard", "merge", "suite", "all",
    ])]
    pub beside: Option<PathBuf>,

    /// Percent up to which changes are not told [default: 5, or as much as two halves of a run
    /// differ]
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    pub noise: Option<f64>,

    /// Where saved runs are
    #[arg(long, value_name = "DIR", default_value = "baselines")]
    pub baselines: PathBuf,

    /// List the experiments and run nothing
    #[arg(long)]
    pub list: bool,

    /// Print the files of the lab that a run would use, and run nothing: what `./dev compare` is to
    /// build
    #[arg(long, hide = true)]
    pub programs: bool,
}

impl Args {
    /// Where the report goes.
    pub fn directory(&self) -> PathBuf {
        let mut name = "report".to_owned();
        if let Some(suite) = &self.suite {
            name += &format!("-{suite}");
        }
        if let Some(Shard { number, of }) = self.shard {
            name += &format!("-{number}-of-{of}");
        }
        self.output.clone().unwrap_or_else(|| name.into())
    }

    /// Quick or full.
    pub fn mode(&self) -> Mode {
        if self.full { Mode::Full } else { Mode::Quick }
    }

    /// Whether only the main experiments are meant.
    pub fn main_only(&self) -> bool {
        self.what.is_empty() && self.suite.is_none() && !self.all && !self.full
    }

    /// Leaves the main experiments, if those are meant and there are any.
    pub fn choose(&self, mut experiments: Vec<Experiment>) -> Vec<Experiment> {
        if self.main_only() && experiments.iter().any(Experiment::is_main) {
            experiments.retain(Experiment::is_main);
        }
        experiments
    }

    /// What the run is asked to do.
    pub fn options(&self, lab: PathBuf) -> Options {
        let whole = self.all || (self.suite.is_some() && self.what.is_empty());
        let budget = match (self.mode(), whole) {
            (Mode::Full, _) => 2700,
            (Mode::Quick, true) => 600,
            (Mode::Quick, false) => 240,
        };
        Options {
            mode: self.mode(),
            models: self.model.clone(),
            samples: self.samples,
            timeout: self.timeout,
            budget: self.budget.unwrap_or(Duration::from_secs(budget)),
            // Short, because people type it again.
            seed: self.seed.unwrap_or_else(|| u64::from(fastrand::u32(..))),
            shard: self.shard,
            trace: self.trace.then(|| tracing(&self.directory())),
            lab,
        }
    }

    /// The first option that says how to run, which a resumed run knows already.
    pub fn beside_resume(&self) -> Option<&'static str> {
        let given = [
            (!self.what.is_empty(), "names of experiments"),
            (!self.model.is_empty(), "--model"),
            (self.all, "--all"),
            (self.quick, "--quick"),
            (self.full, "--full"),
            (self.samples.is_some(), "--samples"),
            (self.timeout.is_some(), "--timeout"),
            (self.budget.is_some(), "--budget"),
            (self.shard.is_some(), "--shard"),
            (self.beside.is_some(), "--beside"),
            (self.seed.is_some(), "--seed"),
            (self.list, "--list"),
            (self.trace, "--trace"),
        ];
        given.into_iter().find(|(is, _)| *is).map(|(_, name)| name)
    }
}

/// How samples are recorded: by this command itself, and by what switches cost in the report that
/// is there.
fn tracing(report: &Path) -> Tracing {
    /// The operation that is a switch and nothing else.
    const SWITCH: &str = "yield";
    let costs = Costs::read(report).ok().flatten().unwrap_or_default();
    let models = ["thread", "goroutine"].into_iter();
    let models = models.chain(["concurrent", "cooperative/asm", "cooperative/stackless"]);
    let cost = |model: &str| Some((model.to_owned(), costs.of(model, SWITCH)?.value));
    Tracing {
        heddle: heddle(),
        switch_ns: models.filter_map(cost).collect(),
    }
}

/// The command with the verbs that record and report: this one, or its neighbour.
fn heddle() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_else(|_| "heddle".into());
    match own.file_name().is_some_and(|name| name == "heddle") {
        true => own,
        false => own.with_file_name("heddle"),
    }
}

/// A time in seconds, `0.5` or `30`.
fn seconds(text: &str) -> Result<Duration, String> {
    let value: f64 = text
        .trim_end_matches('s')
        .parse()
        .map_err(|_| "expected seconds, such as 0.5 or 30".to_owned())?;
    match Duration::try_from_secs_f64(value) {
        Ok(time) if !time.is_zero() && value <= 1e9 => Ok(time),
        _ => Err("expected a time above 0 s and at most 1e9 s".into()),
    }
}

/// A share in percent, `5` or `2.5%`.
fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim_end().parse() {
        Ok(value) if (0.0..=1000.0).contains(&value) => Ok(value / 100.0),
        _ => Err("expected a percentage from 0 to 1000, such as 5 or 2.5".into()),
    }
}
