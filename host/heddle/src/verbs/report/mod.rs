//! `heddle report`: docs/report.md. One file for each format of the table.

mod by_args;
mod csv;
mod format;
mod json;
mod locks;
mod markdown;
mod profiles;
pub mod row;
pub mod rows;
mod sched;
mod sites;
mod table;
mod time;

use crate::filter::{FilterArgs, LeftOut, Pattern};
use crate::incomplete;
use crate::names::{Length, NamesArg};
use crate::number_arg::count;
use crate::trace_arg::TraceArg;
use crate::usage::Usage;
use crate::{notes, output, screen};
use format::Format;
use row::{By, Column, Row, sort, tell_apart};
use std::process::ExitCode;

/// Arguments of `heddle report`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    trace: TraceArg,
    /// What a row is about
    #[arg(long, value_enum, default_value_t = Rows::Function)]
    by: Rows,
    /// With --by args: only functions of this name; a name, a regular expression or glob:GLOB
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    of: Vec<Pattern>,
    /// table and md are for people; in csv and json times are nanoseconds
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Column to sort by, largest first; self, if none is named
    #[arg(short, long, value_enum)]
    sort: Option<Column>,
    /// Print only the first N rows (of each thread)
    #[arg(short = 'n', long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    limit: Option<usize>,
    #[command(flatten)]
    names: NamesArg,
    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Rows {
    /// A function
    Function,
    /// A function, and who called it
    Caller,
    /// A function, and the source line that called it (debug information)
    Line,
    /// All functions of a module: the program, or a library
    Module,
    /// A function on each thread, as if that had one stack
    Thread,
    /// A function on strands of one kind and name together: a coroutine's instances, fibers of one
    /// outermost function
    Strand,
    /// Mutexes, conditions, semaphores and whatever else strands wait for (heddle record --sync)
    Lock,
    /// How long strands ran, were ready, and were blocked, and on what (heddle record --sched)
    Sched,
    /// Where the time of all threads together went: work, locks, waiting for a processor, I/O
    /// (heddle record --sched)
    Time,
    /// Arguments and results, where they were recorded (heddle record --args)
    Args,
}

/// Runs `heddle report`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if !args.of.is_empty() && args.by != Rows::Args {
        return Err(Usage::new("--of goes with --by args only").into());
    }
    if args.by == Rows::Time && (args.sort.is_some() || args.limit.is_some()) {
        let why = "--by time has a row for each kind of time, always in the same order";
        return Err(Usage::new(format!("{why}: leave out --sort and --limit")).into());
    }
    let sort = args.sort.unwrap_or(Column::Own);
    let trace = args.trace.open()?;
    let length = match args.format {
        Format::Table | Format::Md => args.names.names,
        // What programs read has whole names.
        Format::Json | Format::Csv => Length::Full,
    };
    let by = match args.by {
        Rows::Function => By::Function,
        Rows::Thread => By::Thread,
        Rows::Strand => By::Strand,
        Rows::Args => By::Args,
        Rows::Caller => By::Caller,
        Rows::Line => By::Line,
        Rows::Module => By::Module,
        Rows::Lock if args.filter.is_empty() => {
            return locks::run(&trace, args.format, sort, args.limit, length);
        }
        Rows::Sched if args.filter.is_empty() => {
            return sched::run(&trace, args.format, sort, args.limit, length);
        }
        Rows::Time if args.filter.is_empty() => return time::run(&trace, args.format),
        Rows::Time => return Err(Usage::new("--by time adds up all that threads did, and cannot leave out some: leave out the filters").into()),
        Rows::Sched => return Err(Usage::new("--by sched adds up all that strands did, and cannot leave out some: leave out the filters").into()),
        Rows::Lock => return Err(Usage::new("--by lock counts all operations, and cannot leave out some: leave out the filters").into()),
    };
    let found = match by {
        By::Args => by_args::read(&trace, &args.filter, &args.of)?,
        By::Caller | By::Line | By::Module => sites::read(&trace, by, &args.filter, length)?,
        by => rows::read(&trace, by, &args.filter, length)?,
    };
    if !matches!(by, By::Thread | By::Strand | By::Args) && found.fibers > 0 {
        notes::goes_by_strand();
    }
    let mut rows = arrange(found.rows, sort, args.limit);
    if length == Length::Short {
        tell_apart(&mut rows);
    }
    match args.format {
        Format::Table => screen::show(|out, look| Ok(table::print(out, look, &rows, length)?))?,
        Format::Json => output::print(|out| json::print(out, &rows, by))?,
        Format::Csv => output::print(|out| Ok(csv::print(out, &rows, by)?))?,
        Format::Md => output::print(|out| Ok(markdown::print(out, &rows, by, length)?))?,
    }
    if matches!(by, By::Strand | By::Args) || found.fibers > 0 {
        notes::unresolved(&found.unresolved);
    }
    incomplete::tell(&trace, found.loose, &found.remarks);
    notes::unsure(&found.unresolved);
    if by == By::Thread {
        notes::by_thread(found.loose);
    }
    found.left_out.iter().for_each(LeftOut::tell);
    Ok(ExitCode::SUCCESS)
}

/// Sorts and cuts each group's rows; without groups, all rows are one group. Groups stay in their
/// order.
fn arrange(rows: Vec<Row>, column: Column, limit: Option<usize>) -> Vec<Row> {
    let mut arranged = Vec::with_capacity(rows.len());
    for group in rows.chunk_by(|a, b| a.group == b.group) {
        let mut group = group.to_vec();
        sort(&mut group, column);
        group.truncate(limit.unwrap_or(usize::MAX));
        arranged.append(&mut group);
    }
    arranged
}
