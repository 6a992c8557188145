//! Compares a trace with the truth that its program told in marks (`tests/strands/truth.hpp`).
//!
//! A mark lies right behind the enter of the innermost call that it names. So it says of which
//! strand that enter is, and which calls were open there. Functions that truth never names (the
//! standard library's, a promise's, what a fiber library has in its headers) count as not there.
//!
//! Prints a line for each process that told something, and some differences of each kind. Exit code
//! 1: there are more than allowed, or nothing was told.

mod decoded;
mod mark;
mod names;
mod placed;
mod verdict;

use anyhow::Result;
use clap::Parser;
use decoded::{Marks, Rules};
use heddle_strands::Analysis;
use heddle_symbols::Images;
use heddle_trace_file::Trace;
use names::Names;
use std::path::PathBuf;
use std::process::ExitCode;
use verdict::Verdict;

/// Compares a trace with what its program said in marks.
#[derive(Parser)]
struct Options {
    /// The share of marks that may be wrong
    #[arg(long, default_value_t = 0.0)]
    allow: f64,
    /// The share of events that may be unplaced; where calls began before the recording, any
    #[arg(long, default_value_t = 0.001)]
    unplaced: f64,
    /// The share of fibers and coroutines that may have no mark, or another maker than the program
    /// says; without it, and where calls began before the recording, any
    #[arg(long, overrides_with = "strands")]
    strands: Option<f64>,
    /// The share of strands whose maker may not be known, of those that have one by the program;
    /// without it, and where calls began before the recording, any
    #[arg(long, overrides_with = "unknown")]
    unknown: Option<f64>,
    /// The share of marks on strands that are said to be sure that may be wrong
    #[arg(long, default_value_t = 0.001)]
    misled: f64,
    /// The share of marks that must be on strands that are said to be sure
    #[arg(long, default_value_t = 0.0)]
    sure: f64,
    /// Calls may have begun before the recording: the outermost ones may be missing
    #[arg(long)]
    open_at_start: bool,
    /// Calls may be left out anywhere, as filters do
    #[arg(long)]
    filtered: bool,
    /// The trace
    trace: PathBuf,
}

fn main() -> Result<ExitCode> {
    let options = Options::parse();
    let trace = Trace::open(&options.trace)?;
    let name = options
        .trace
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let mut marks = 0;
    let mut right = true;
    let decoded = Analysis::new(&trace, &mut Images::new()).decode(|_| Marks::default())?;
    for (index, process) in trace.processes().iter().enumerate() {
        let mut names = Names::new(process);
        let mut verdict = Verdict::default();
        let told = placed::told(process, &mut names, &mut verdict)?;
        if !options.filtered {
            placed::check(
                process,
                &told,
                &mut names,
                options.open_at_start,
                &mut verdict,
            )?;
        }
        let rules = Rules {
            told,
            open_at_start: options.open_at_start,
            filtered: options.filtered,
        };
        for (_, decoded) in decoded
            .sinks
            .iter()
            .filter(|(process, _)| *process == index)
        {
            decoded.judge(&rules, &mut names, &mut verdict);
        }
        verdict.pair_strands();
        let unresolved = &decoded.unresolved[index];
        (verdict.events, verdict.unplaced) = (unresolved.events, unresolved.unplaced());
        marks += verdict.marks;
        right &= verdict.wrong() as f64 <= options.allow * verdict.marks as f64;
        right &= verdict.wrong_sure as f64 <= options.misled * verdict.sure as f64;
        right &= verdict.sure as f64 >= options.sure * verdict.marks as f64;
        // Where calls began before the recording, their exits cannot be placed.
        right &= options.open_at_start
            || options.filtered
            || verdict.unplaced as f64 <= options.unplaced * verdict.events as f64;
        let (silent, strands) = verdict.silent();
        let wrong = silent + verdict.wrong_parents();
        let allowed = options
            .strands
            .filter(|_| !options.open_at_start && !options.filtered);
        right &= allowed.is_none_or(|share| wrong as f64 <= share * strands as f64);
        let unknown = verdict.unknown_parents() as f64;
        let allowed = options.unknown.filter(|_| !options.open_at_start);
        right &= allowed.is_none_or(|share| unknown <= share * verdict.made.len() as f64);
        println!("{name}: {verdict}");
    }
    if marks == 0 {
        println!("{name}: no mark tells of strands");
    }
    Ok(if right && marks > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
