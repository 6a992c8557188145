//! `--merge`: finished runs are put together. Those of one machine become its report; several
//! machines stand side by side.

mod text;

use crate::args::Args;
use crate::baseline::Baseline;
use crate::hints::Hints;
use crate::print::{note, print};
use crate::{layout, settle, summary, tell};
use heddle_lab::Error;
use heddle_lab::merge::{Column, merge};
use heddle_lab::output::{Finished, MACHINES, Output};
use heddle_results::{Report, Sample};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Puts them together, and says what came of it.
pub fn run(args: &Args, hints: Hints) -> anyhow::Result<ExitCode> {
    let directory = args.directory();
    check_place(&directory, &args.merge)?;
    let runs = args.merge.iter().map(|dir| Finished::read(dir));
    let runs = runs.collect::<heddle_lab::Result<Vec<_>>>()?;
    let command: Vec<String> = std::env::args().collect();
    let columns = merge(runs, &command)?;
    let is_partial = columns.iter().any(|column| !column.missing.is_empty());
    let code = match &columns[..] {
        [one] => of_one(args, hints, &directory, one)?,
        all => of_many(args, &directory, all)?,
    };
    Ok(if is_partial && code == ExitCode::SUCCESS {
        ExitCode::from(1)
    } else {
        code
    })
}

/// The runs stay where they are: a report that is written moves the one in its place away.
fn check_place(directory: &Path, runs: &[PathBuf]) -> heddle_lab::Result<()> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    match real(directory) {
        Some(own) if runs.iter().any(|run| real(run).as_ref() == Some(&own)) => {
            Err(Error::Usage(format!(
                "{} is one of the runs to merge: name another place for the report, such as `-o merged`",
                directory.display()
            )))
        }
        _ => Ok(()),
    }
}

fn of_one(
    args: &Args,
    hints: Hints,
    directory: &Path,
    column: &Column,
) -> anyhow::Result<ExitCode> {
    let report = &column.report;
    let baseline = Baseline::open(args, &report.machine)?;
    let mut output = open(directory, column)?;
    output.rewrite(&column.samples.iter().collect::<Vec<_>>())?;
    let page = heddle_page::render(report, &output.raw()?)?;
    let page = finish(output, &page, &serde_json::to_string(report)?)?;
    tell(
        args,
        report,
        summary::Setting {
            width: layout::width().0,
            hints,
            page: Some(page),
            resumable: false,
            main_only: column.record.main_only,
            is_part: false,
        },
    )?;
    settle(args, &baseline, report)
}

fn of_many(args: &Args, directory: &Path, columns: &[Column]) -> anyhow::Result<ExitCode> {
    if let Some(option) =
        (args.save.as_ref().map(|_| "--save")).or(args.against.as_ref().map(|_| "--against"))
    {
        return Err(Error::Usage(format!(
            "{option} is for runs of one machine, and these are of {}: merge those of each by themselves",
            columns.len()
        ))
        .into());
    }
    let mut output = open(directory, &columns[0])?;
    let mut sides = Vec::new();
    for (number, column) in columns.iter().enumerate() {
        let page = heddle_page::render(&column.report, &lines(&column.samples)?)?;
        sides.push((column, output.write_page(number + 1, &page)?));
    }
    let sides: Vec<heddle_page::Side> = (sides.iter())
        .map(|(column, page)| heddle_page::Side {
            name: &column.name,
            report: &column.report,
            page,
        })
        .collect();
    let samples = columns.iter().flat_map(|column| &column.samples);
    output.rewrite(&samples.collect::<Vec<_>>())?;
    let page = heddle_page::render_machines(&sides)?;
    let of_side = |side: &heddle_page::Side| json!({ "name": side.name, "page": side.page, "report": side.report });
    let data = json!({ MACHINES: sides.iter().map(of_side).collect::<Vec<_>>() });
    let page = finish(output, &page, &data.to_string())?;
    if args.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&data)?))?;
        note(format_args!("report: {page}"));
    } else {
        let (width, _) = layout::width();
        print(&text::of(&sides, &page, width))?;
    }
    let codes = columns.iter().map(|column| code(&column.report));
    Ok(ExitCode::from(codes.max().unwrap_or(0)))
}

fn code(report: &Report) -> u8 {
    heddle_lab::exit_code(report)
}

fn open(directory: &Path, column: &Column) -> heddle_lab::Result<Output> {
    let (output, notes) = Output::open(directory, column.record.clone())?;
    for text in notes {
        note(format_args!("{text}"));
    }
    Ok(output)
}

fn finish(output: Output, page: &str, report: &str) -> heddle_lab::Result<String> {
    let (page, notes) = output.finish(page, report)?;
    for text in notes {
        note(format_args!("{text}"));
    }
    Ok(page.display().to_string())
}

/// The samples as `results.jsonl` has them.
fn lines(samples: &[Sample]) -> serde_json::Result<String> {
    let line = |sample| Ok(serde_json::to_string(sample)? + "\n");
    samples.iter().map(line).collect()
}
