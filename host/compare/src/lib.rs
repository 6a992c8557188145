//! The verb `heddle compare`: its arguments, what is printed while samples are taken, and the
//! summary at the end; and `heddle choose`, which answers from what it found.

mod args;
mod baseline;
mod choose;
pub mod costs;
mod details;
mod hints;
mod job;
mod layout;
mod list;
mod merge;
mod print;
mod progress;
mod show;
mod summary;

pub use args::Args;
pub use choose::{Args as ChooseArgs, run as choose};

use anyhow::Context;
use baseline::Baseline;
use heddle_lab::command::quote;
use heddle_lab::run::{Options, check_shard, interrupt, lab_files, machine, strays, unbuilt};
use heddle_lab::select;
use heddle_results::Report;
use hints::Hints;
use job::Job;
use print::{note, print};
use std::path::PathBuf;
use std::process::ExitCode;

/// Whether one of Heddle's own experiments has this id.
pub fn is_own_experiment(id: &str) -> bool {
    let file = format!("{id}.toml");
    select::lab_dir().join("experiments").join(file).is_file()
}

/// Runs `heddle compare`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    or_usage(compare(&args))
}

/// What the user got wrong is said, and ends with 2.
fn or_usage(result: anyhow::Result<ExitCode>) -> anyhow::Result<ExitCode> {
    result.or_else(|error| match error.downcast_ref::<heddle_lab::Error>() {
        Some(cause) if cause.is_usage() => {
            print_error(&error);
            Ok(ExitCode::from(2))
        }
        _ => Err(error),
    })
}

/// Prints an error that ends the command, as every verb prints it.
pub fn print_error(error: &anyhow::Error) {
    use std::io::Write;
    let (red, reset) = (anstyle::AnsiColor::Red.on_default().bold(), anstyle::Reset);
    // One that cannot be written is lost, and the exit code says the rest.
    let _ = writeln!(anstream::stderr(), "{red}error:{reset} {error:#}");
}

fn compare(args: &Args) -> anyhow::Result<ExitCode> {
    // A part of a run has a place of its own, which no other command would find.
    let place = args.output.clone().or(args.shard.map(|_| args.directory()));
    let hints = Hints::new(args.suite.as_deref(), place.as_deref()).about(&args.what);
    if args.programs {
        print_programs(args)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !args.show.is_empty() {
        show::run(args, &hints)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.ledger {
        show::ledger(args, &hints)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.noise.is_some() && args.against.is_none() && args.beside.is_none() {
        return Err(heddle_lab::Error::Usage(
            "--noise says which changes are told: name a saved run to compare with, by --against, or an earlier checkout, by --beside".into(),
        )
        .into());
    }
    if !args.merge.is_empty() {
        return merge::run(args, hints);
    }
    if args.resume {
        let baseline = Baseline::open(args, &machine())?;
        return finish(args, hints, &baseline, Job::resume(args)?);
    }
    let lab = select::lab_dir();
    let all = select::select(&args.what, args.suite.as_deref(), &lab)?;
    if args.list {
        select::filters(&all, &args.model)?;
        let (width, terminal) = layout::width();
        print(&list::text(&all, args.mode(), terminal.then_some(width)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let experiments = args.choose(all);
    let models = select::filters(&experiments, &args.model)?;
    let experiments = match &args.beside {
        Some(place) => baseline::beside::join(experiments, place)?,
        None => experiments,
    };
    let options = Options {
        models,
        ..args.options(lab)
    };
    check_shard(&experiments, &options)?;
    let baseline = Baseline::open(args, &machine())?;
    finish(
        args,
        hints,
        &baseline,
        Job::begin(args, experiments, options)?,
    )
}

/// The files of the lab that a new run would use; what an interrupted run used is there.
fn print_programs(args: &Args) -> anyhow::Result<()> {
    let runs_nothing = args.list || args.ledger || !args.show.is_empty() || !args.merge.is_empty();
    if runs_nothing || args.resume {
        return Ok(());
    }
    let lab = select::lab_dir();
    let all = select::select(&args.what, args.suite.as_deref(), &lab)?;
    let experiments = args.choose(all);
    let models = select::filters(&experiments, &args.model)?;
    let options = Options {
        models,
        ..args.options(lab)
    };
    let files = lab_files(&experiments, &options);
    print(
        &files
            .iter()
            .map(|file| format!("{file}\n"))
            .collect::<String>(),
    )
}

/// Runs it, and says what came of it.
fn finish(args: &Args, hints: Hints, baseline: &Baseline, job: Job) -> anyhow::Result<ExitCode> {
    let (main_only, is_part) = (job.main_only, job.options.shard.is_some());
    let (report, page) = run_experiments(job, &hints)?;
    let interrupted = interrupt::exit_code();
    if let (Some(code), None) = (interrupted, &page) {
        note(format_args!(
            "interrupted before the first sample: nothing was written"
        ));
        return Ok(ExitCode::from(code));
    }
    tell(
        args,
        &report,
        summary::Setting {
            width: layout::width().0,
            hints,
            page: page.map(|page| page.display().to_string()),
            resumable: interrupted.is_some(),
            main_only,
            is_part,
        },
    )?;
    if let Some(code) = interrupted {
        if args.save.is_some() || args.against.is_some() {
            note(format_args!(
                "interrupted: nothing was saved or compared with saved runs"
            ));
        }
        return Ok(ExitCode::from(code));
    }
    settle(args, baseline, &report)
}

/// Prints a report as the user wants it.
fn tell(args: &Args, report: &Report, setting: summary::Setting) -> anyhow::Result<()> {
    if args.json {
        print(&format!("{}\n", serde_json::to_string_pretty(report)?))?;
        if let Some(page) = &setting.page {
            note(format_args!("report: {page}"));
        }
    } else {
        if args.verbose {
            print(&details::of(report, details::Wide::here()))?;
        }
        print(&summary::of(report, &setting))?;
    }
    if heddle_lab::nothing_ran(report) {
        note(format_args!(
            "no program could be run: what is missing stands beside SKIPPED, and on the page"
        ));
    }
    tell_unbuilt(args, report);
    Ok(())
}

/// Says which command builds what was skipped, unless a front door has just built what it can.
fn tell_unbuilt(args: &Args, report: &Report) {
    let unbuilt = unbuilt(report);
    if unbuilt.is_empty() || hints::is_through_door() {
        return;
    }
    let words = match args.what.is_empty() {
        true => unbuilt.join(" "),
        false => quote(&args.what),
    };
    note(format_args!(
        "programs of {} are not built: {} builds and runs them",
        unbuilt.join(", "),
        hints::building(&words)
    ));
}

/// Compares a finished report with saved runs and saves it; what it means to the shell.
fn settle(args: &Args, baseline: &Baseline, report: &Report) -> anyhow::Result<ExitCode> {
    let failed = heddle_lab::exit_code(report);
    if failed != 0 && args.save.is_some() {
        note(format_args!(
            "a program failed: the run is saved without the samples that did"
        ));
    }
    let worse = baseline.settle(report, args.json)?;
    Ok(ExitCode::from(if failed == 0 && worse {
        3
    } else {
        failed
    }))
}

/// The report, and where its page is: nowhere if the user interrupted before there was a sample.
fn run_experiments(job: Job, hints: &Hints) -> anyhow::Result<(Report, Option<PathBuf>)> {
    interrupt::catch();
    strays::adopt();
    progress::announce(&job);
    let Job {
        experiments,
        options,
        earlier,
        mut output,
        command,
        ..
    } = job;
    let before = earlier.samples.len() as u64;
    let mut progress = progress::Progress::new(&mut output);
    let report = heddle_lab::compare(&experiments, &options, command, &earlier, &mut progress);
    let taken = progress.finish().max(before);
    let kept = match taken {
        0 => "there is no sample yet".to_owned(),
        _ => format!(
            "the samples so far are in {}, and `{}` goes on from there",
            output.unfinished().display(),
            hints.with("--resume")
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
    if interrupt::seen() {
        return Ok((report, Some(output.leave(&page)?)));
    }
    let (page, notes) = output.finish(&page, &serde_json::to_string(&report)?)?;
    for text in notes {
        note(format_args!("{text}"));
    }
    Ok((report, Some(page)))
}
