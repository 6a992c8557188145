//! `heddle report`: docs/report.md. One file for each format of the table.

mod by_args;
mod csv;
mod format;
mod json;
mod locks;
mod markdown;
mod profiles;
mod row;
mod rows;
mod table;

use crate::filter::{FilterArgs, LeftOut, Pattern};
use crate::trace_arg::TraceArg;
use crate::{notes, output};
use anyhow::bail;
use format::Format;
use row::{By, Column, Row, sort};
use std::process::ExitCode;

/// Arguments of `heddle report`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    trace: TraceArg,
    /// A row a function, or a row a function on each thread as if it had one stack, or on each kind
    /// of strand; or a row a lock; args: a row for all calls of a function with the same arguments
    /// and result
    #[arg(long, value_enum, default_value_t = Rows::Function)]
    by: Rows,
    /// With --by args: only functions of this name; a name, a regular expression or glob:GLOB
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    of: Vec<Pattern>,
    /// table and md are for people; in csv and json times are nanoseconds
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Column to sort by, largest first
    #[arg(short, long, value_enum, default_value_t = Column::Own)]
    sort: Column,
    /// Print only the first N rows (of each thread)
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Rows {
    Function,
    Thread,
    /// Strands of one kind and name together: a coroutine's instances, fibers of one outermost
    /// function
    Strand,
    /// Mutexes, conditions, semaphores and whatever else strands wait for (heddle record --sync)
    Lock,
    /// Arguments and results, where they were recorded (heddle record --args)
    Args,
}

/// Runs `heddle report`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let trace = args.trace.open()?;
    if !args.of.is_empty() && args.by != Rows::Args {
        notes::error("--of goes with --by args only");
        return Ok(ExitCode::from(2));
    }
    let by = match args.by {
        Rows::Function => By::Function,
        Rows::Thread => By::Thread,
        Rows::Strand => By::Strand,
        Rows::Args => By::Args,
        Rows::Lock if args.filter.is_empty() => {
            return locks::run(&trace, args.format, args.sort, args.limit);
        }
        Rows::Lock => bail!(
            "--by lock counts all operations, and cannot leave out some: leave out the filters"
        ),
    };
    let found = match by {
        By::Args => by_args::read(&trace, &args.filter, &args.of)?,
        by => rows::read(&trace, by, &args.filter)?,
    };
    if by == By::Function && found.fibers > 0 {
        notes::goes_by_strand();
    }
    let rows = arrange(found.rows, args.sort, args.limit);
    output::print(|out| {
        match args.format {
            Format::Table => table::print(out, &rows)?,
            Format::Json => json::print(out, &rows)?,
            Format::Csv => csv::print(out, &rows, by)?,
            Format::Md => markdown::print(out, &rows, by)?,
        }
        Ok(())
    })?;
    if matches!(by, By::Strand | By::Args) || found.fibers > 0 {
        notes::unresolved(&found.unresolved);
    }
    notes::incomplete(&trace, found.loose, &found.remarks);
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
