mod progress;
mod summary;

use anyhow::Context;
use heddle_lab::experiment::{Experiment, Mode};
use heddle_lab::output::Output;
use heddle_lab::run::{Options, interrupt, strays};
use heddle_lab::select;
use heddle_results::Report;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Arguments of `heddle compare`.
#[derive(clap::Args)]
pub struct Args {
    /// Experiments to run, by id or workload; a directory of experiments or a .toml file adds those
    #[arg(value_name = "NAME|PATH")]
    what: Vec<String>,

    /// Experiments of this suite: `speed` measures Heddle itself beside its peers
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,

    /// Only this model or family of models (repeatable): `thread`, `fiber`, `fiber/asm`
    #[arg(short, long, value_name = "MODEL", value_delimiter = ',')]
    model: Vec<String>,

    /// Fewer points, samples of at most 100 ms: minutes (this is the default)
    #[arg(long, conflicts_with = "full")]
    quick: bool,

    /// The whole sweeps, up to the sizes that the sources speak of: an hour or more
    #[arg(long)]
    full: bool,

    /// Exactly so many samples a cell [default: 20, with --full 10, then what inconclusive claims need]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    samples: Option<u32>,

    /// Seconds after which a sample is `hung` [default: what the experiment says]
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    timeout: Option<Duration>,

    /// Seconds that the run may take: fewer samples a cell where they do not fit [default: 300, with --full 2700]
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    budget: Option<Duration>,

    /// Seed of the order and of the resampling [default: drawn, and printed]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Print the report as JSON instead of sentences
    #[arg(long)]
    json: bool,

    /// Where index.html and results.jsonl go
    #[arg(short, long, value_name = "DIR", default_value = "report")]
    output: PathBuf,

    /// List the experiments and run nothing
    #[arg(long)]
    list: bool,
}

/// Runs `heddle compare`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    compare(args).or_else(|error| match error.downcast_ref::<heddle_lab::Error>() {
        Some(cause) if cause.is_usage() => {
            let (red, reset) = (anstyle::AnsiColor::Red.on_default().bold(), anstyle::Reset);
            anstream::eprintln!("{red}error:{reset} {error:#}");
            Ok(ExitCode::from(2))
        }
        _ => Err(error),
    })
}

fn compare(args: Args) -> anyhow::Result<ExitCode> {
    let lab = select::lab_dir();
    let experiments = select::select(&args.what, args.suite.as_deref(), &lab)?;
    select::check_models(&experiments, &args.model)?;
    let options = Options {
        mode: if args.full { Mode::Full } else { Mode::Quick },
        models: args.model,
        samples: args.samples,
        timeout: args.timeout,
        budget: args.budget,
        // Short, because people type it again.
        seed: args.seed.unwrap_or_else(|| u64::from(fastrand::u32(..))),
        lab,
    };
    if args.list {
        summary::print(&summary::list(&experiments, options.mode))?;
        return Ok(ExitCode::SUCCESS);
    }
    let output = Output::open(&args.output)?;
    let (report, page) = run_experiments(&experiments, &options, output)?;
    let interrupted = interrupt::exit_code();
    if let (Some(code), None) = (interrupted, &page) {
        note(format_args!(
            "interrupted before the first sample: nothing was written"
        ));
        return Ok(ExitCode::from(code));
    }
    if args.json {
        summary::print(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    } else {
        summary::print(&summary::of(&report))?;
    }
    if let Some(page) = page {
        let raw = page.with_file_name("results.jsonl");
        let lines = format!("Report: {}\nRaw data: {}\n", page.display(), raw.display());
        if args.json {
            note(format_args!("{}", lines.trim_end()))
        } else {
            summary::print(&lines)?
        }
    }
    if heddle_lab::nothing_ran(&report) {
        note(format_args!(
            "no program could be run: what is missing stands under Skipped"
        ));
    }
    let code = interrupted.unwrap_or_else(|| heddle_lab::exit_code(&report));
    Ok(ExitCode::from(code))
}

/// The report, and where its page is: nowhere if the user interrupted before there was a sample.
fn run_experiments(
    experiments: &[Experiment],
    options: &Options,
    mut output: Output,
) -> anyhow::Result<(Report, Option<PathBuf>)> {
    interrupt::catch();
    strays::adopt();
    let command = std::env::args().collect();
    let mut progress = progress::Progress::new(&mut output, options);
    let report = heddle_lab::compare(experiments, options, command, &mut progress);
    let taken = progress.finish();
    let kept = match taken {
        0 => "there is no sample yet".to_owned(),
        _ => format!(
            "the samples so far are in {}",
            output.unfinished().display()
        ),
    };
    interrupt::over(|| note(format_args!("interrupted twice: no report is made; {kept}")));
    if taken == 0 && (report.is_err() || interrupt::seen()) {
        output.discard();
        return Ok((report?, None));
    }
    let report = report.with_context(|| format!("the comparison cannot go on; {kept}"))?;
    let page = heddle_page::render(&report, &output.raw()?)
        .context("the report page could not be made")?;
    Ok((report, Some(output.finish(&page)?)))
}

/// Tells the user something. A comparison goes on when nobody listens any more, so a closed stream is no error.
fn note(text: std::fmt::Arguments) {
    use std::io::Write;
    let _ = writeln!(anstream::stderr(), "{text}");
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
