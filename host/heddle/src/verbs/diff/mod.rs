//! `heddle diff`: docs/diff.md.

mod crowd;
mod print;
mod read;
mod row;
mod spread;

use crate::filter::FilterArgs;
use crate::names::NamesArg;
use crate::number_arg::{count, growth};
use crate::trace_arg::Unpacking;
use crate::{notes, output, screen};
use heddle_trace_file::Nanos;
use row::{Others, Row, SlowerBy, What};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `heddle diff`.
#[derive(clap::Args)]
pub struct Args {
    /// The trace of the run before
    before: PathBuf,
    /// The trace of the run after
    after: PathBuf,
    #[command(flatten)]
    unpacking: Unpacking,
    /// table and md are for people; in csv and json times are nanoseconds, and medians are given,
    /// which are off by a sixteenth at most
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Print only the first N rows
    #[arg(short = 'n', long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    limit: Option<usize>,
    /// End with exit code 3 if a function that has a hundredth of the time or more takes longer by
    /// more than this, and that is no noise
    #[arg(long, value_name = "PERCENT", value_parser = growth, allow_negative_numbers = true)]
    fail_if_slower: Option<f64>,
    #[command(flatten)]
    names: NamesArg,
    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Table,
    Json,
    Csv,
    Md,
}

/// By so much all of a run is slower or faster, if it is that.
const WHOLE_RUN: f64 = 0.05;

/// Runs `heddle diff`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let read = |path: &PathBuf| -> anyhow::Result<_> {
        let trace = args.unpacking.open(path)?;
        read::read(&trace, &args.filter)
    };
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let (rows, others) = row::rows(&before, &after);
    let shown = &rows[..rows.len().min(args.limit.unwrap_or(usize::MAX))];
    match args.format {
        Format::Table => {
            screen::show(|out, look| Ok(print::table(out, look, shown, &rows, args.names.names)?))?;
        }
        Format::Json => output::print(|out| print::json(out, shown))?,
        Format::Csv => output::print(|out| Ok(print::csv(out, shown)?))?,
        Format::Md => output::print(|out| Ok(print::markdown(out, shown, args.names.names)?))?,
    }
    let together = rows.iter().any(|row| row.what == What::AsOthers);
    if together {
        as_others(&others, &rows);
    }
    mixed(&rows);
    let Some(most) = args.fail_if_slower else {
        return Ok(ExitCode::SUCCESS);
    };
    let slower = too_slow(&rows, most);
    let Some(worst) = slower.first() else {
        let factor = others.most().map_or(1.0, |most| most.factor());
        let [before, after] = [0, 1].map(|run| all(&rows, run));
        if !together || after <= before || (factor - 1.0) * 100.0 <= most {
            return Ok(ExitCode::SUCCESS);
        }
        notes::error(format_args!(
            "the whole run is slower by more than {most} %: most functions took {factor:.2} times \
             as long; record both again, in turn, to see whether that was the machine"
        ));
        return Ok(ExitCode::from(3));
    };
    let how = match worst.slower_by() {
        Some(SlowerBy::Calls(_)) => format!(
            "was called {} times, and {} before",
            worst.calls[1], worst.calls[0]
        ),
        Some(SlowerBy::Each(_)) => format!(
            "took {} a call, and {} before",
            time(worst.each[1]),
            time(worst.each[0])
        ),
        _ => format!("took {}, and {} before", worst.own[1], worst.own[0]),
    };
    let often = |row: &&&Row| matches!(row.slower_by(), Some(SlowerBy::Calls(_)));
    let word = match slower.iter().filter(often).count() {
        0 => "slower",
        some if some == slower.len() => "called more often",
        _ => "slower or called more often,",
    };
    notes::error(format_args!(
        "{} {word} by more than {most} %: `{}` {how}",
        notes::are(slower.len() as u64, "function"),
        worst.function
    ));
    Ok(ExitCode::from(3))
}

/// Says why functions are said to have changed as others did.
fn as_others(others: &Others, rows: &[Row]) {
    let Some(most) = others.most() else { return };
    let factor = most.factor();
    match (factor - 1.0).abs() >= WHOLE_RUN {
        true => notes::note(format_args!(
            "most functions took {factor:.2} times as long as before, as if all of the run did; \
             `as others` is what did not change by more than that"
        )),
        false => notes::note(format_args!(
            "functions differ by up to {:.2} times from run to run, as on a busy machine; `as \
             others` is what did not change by more than that",
            most.range()
        )),
    }
    let mut others = rows.iter().filter(|row| row.what == What::AsOthers);
    let far = others.find(|row| {
        let moved = row.each_percent().map(|percent| 1.0 + percent / 100.0);
        moved.is_some_and(|times| !most.holds(times.ln()))
    });
    if let Some(far) = far {
        notes::note(format_args!(
            "an average may have changed by more, by a few calls that take very long: half of the \
             calls of `{}` took {} or longer, and {} before",
            far.function,
            time(far.median[1]),
            time(far.median[0]),
        ));
    }
}

/// Says of the function of which it matters most why its calls have become neither slower nor
/// faster.
fn mixed(rows: &[Row]) {
    let mut mixed = rows.iter().filter(|row| row.what == What::Mixed);
    let number = mixed.clone().count() as u64;
    let Some(first) = mixed.next() else { return };
    notes::note(format_args!(
        "{} `mixed`, as a few calls that take very long decide the average: half of the calls of \
         `{}` took {} or longer, and {} before; the average is {}, and was {}",
        notes::are(number, "function"),
        first.function,
        time(first.median[1]),
        time(first.median[0]),
        time(first.each[1]),
        time(first.each[0]),
    ));
}

fn time(time: Option<Nanos>) -> String {
    time.map_or_else(|| "not known".to_owned(), |time| time.to_string())
}

/// The time of all functions in one of the runs, in ns.
fn all(rows: &[Row], run: usize) -> u64 {
    let each = rows.iter().map(|row| row.own[run].0);
    each.fold(0, u64::saturating_add)
}

/// The functions that are slower by more than this, and count.
fn too_slow(rows: &[Row], percent: f64) -> Vec<&Row> {
    let all = all(rows, 1);
    let slower = rows.iter().filter(|row| {
        let counts = u128::from(row.own[1].0) * 100 >= u128::from(all);
        counts && row.slower_by().is_some_and(|by| by.percent() > percent)
    });
    slower.collect()
}
