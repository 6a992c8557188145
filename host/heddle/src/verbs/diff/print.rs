//! Rows as a table, JSON, CSV and Markdown.

use super::row::{Row, What};
use crate::cells::{escape, quote};
use crate::names::Length;
use crate::screen::{BETTER, FAINT, HEADING, Look, WORSE};
use heddle_symbols::short_name;
use heddle_trace_file::Nanos;
use serde_json::{Value, json};
use std::io::{self, Write};

const COLUMNS: usize = 9;
const HEADINGS: [&str; COLUMNS] = [
    "calls", "then", "self", "then", "change", "each", "then", "per call", "",
];
const WIDTHS: [usize; COLUMNS] = [10, 10, 12, 12, 10, 12, 12, 10, 13];
/// On a narrow terminal these are left out, until so many characters are left for the function. The
/// last word speaks of a call, so that change stays.
const LESS: [usize; 5] = [5, 6, 0, 1, 4];
const NAME: usize = 24;

fn cells(row: &Row) -> [String; COLUMNS] {
    let time = |time: Option<Nanos>| time.map_or_else(|| "-".to_owned(), |time| time.to_string());
    let change = |percent: Option<f64>| match percent {
        Some(percent) if percent.abs() < 10_000.0 => format!("{percent:+.1} %"),
        Some(_) => "> 100×".to_owned(),
        None => "-".to_owned(),
    };
    [
        row.calls[0].to_string(),
        row.calls[1].to_string(),
        row.own[0].to_string(),
        row.own[1].to_string(),
        change(row.percent()),
        time(row.each[0]),
        time(row.each[1]),
        change(row.each_percent()),
        row.what.word().to_owned(),
    ]
}

fn name(row: &Row, length: Length) -> String {
    match length {
        Length::Short => short_name(&row.function),
        Length::Full => row.function.clone(),
    }
}

/// Aligned columns; the last line is of `all` rows.
pub fn table(
    out: &mut dyn Write,
    look: &Look,
    rows: &[Row],
    all: &[Row],
    length: Length,
) -> io::Result<()> {
    let columns = look.columns(WIDTHS, &LESS, NAME);
    let line = |cells: [String; COLUMNS]| columns.line(cells.each_ref().map(String::as_str));
    let heading = columns.line(HEADINGS) + "  function";
    writeln!(out, "{}", look.paint(HEADING, heading))?;
    for row in rows {
        let text = line(cells(row));
        match row.what {
            What::Slower | What::More | What::New => write!(out, "{}", look.paint(WORSE, text))?,
            What::Faster | What::Fewer | What::Gone => write!(out, "{}", look.paint(BETTER, text))?,
            What::Mixed => write!(out, "{text}")?,
            What::Noise | What::AsOthers | What::Unknown => {
                write!(out, "{}", look.paint(FAINT, text))?
            }
        }
        writeln!(out, "  {}", name(row, length))?;
    }
    let sum = |figure: &dyn Fn(&Row) -> u64| all.iter().map(figure).sum::<u64>();
    let mut whole = Row {
        function: "all".to_owned(),
        calls: [0, 1].map(|run| sum(&|row| row.calls[run])),
        own: [0, 1].map(|run| Nanos(sum(&|row| row.own[run].0))),
        each: [None; 2],
        median: [None; 2],
        what: What::Unknown,
    };
    whole.function = format!(
        "all {}",
        crate::notes::counted(all.len() as u64, "function")
    );
    let mut cells = cells(&whole);
    cells[COLUMNS - 1].clear();
    writeln!(out, "{}  {}", line(cells), whole.function)
}

/// A JSON array, an object a row.
pub fn json(out: &mut dyn Write, rows: &[Row]) -> anyhow::Result<()> {
    let object = |row: &Row| {
        let [each, median] = [row.each, row.median].map(|times| times.map(|time| Some(time?.0)));
        json!({
            "function": row.function,
            "calls_before": row.calls[0],
            "calls_after": row.calls[1],
            "self_before_ns": row.own[0].0,
            "self_after_ns": row.own[1].0,
            "avg_before_ns": each[0],
            "avg_after_ns": each[1],
            "median_before_ns": median[0],
            "median_after_ns": median[1],
            "change_percent": row.percent(),
            "avg_change_percent": row.each_percent(),
            "what": row.what.word(),
        })
    };
    let all: Vec<Value> = rows.iter().map(object).collect();
    serde_json::to_writer_pretty(&mut *out, &all)?;
    writeln!(out)?;
    Ok(())
}

/// Comma-separated values; empty where there is none.
pub fn csv(out: &mut dyn Write, rows: &[Row]) -> io::Result<()> {
    writeln!(
        out,
        "calls_before,calls_after,self_before_ns,self_after_ns,avg_before_ns,avg_after_ns,\
         median_before_ns,median_after_ns,change_percent,avg_change_percent,what,function"
    )?;
    let time = |time: Option<Nanos>| time.map_or(String::new(), |time| time.0.to_string());
    let change = |percent: Option<f64>| percent.map_or(String::new(), |it| format!("{it:.2}"));
    for row in rows {
        let figures = [
            row.calls[0].to_string(),
            row.calls[1].to_string(),
            row.own[0].0.to_string(),
            row.own[1].0.to_string(),
            time(row.each[0]),
            time(row.each[1]),
            time(row.median[0]),
            time(row.median[1]),
            change(row.percent()),
            change(row.each_percent()),
        ];
        writeln!(
            out,
            "{},{},{}",
            figures.join(","),
            row.what.word(),
            quote(&row.function)
        )?;
    }
    Ok(())
}

/// A Markdown table.
pub fn markdown(out: &mut dyn Write, rows: &[Row], length: Length) -> io::Result<()> {
    writeln!(out, "| {} | function |", HEADINGS.join(" | "))?;
    writeln!(out, "|{}---|", "--:|".repeat(HEADINGS.len()))?;
    for row in rows {
        writeln!(
            out,
            "| {} | {} |",
            cells(row).join(" | "),
            escape(&name(row, length))
        )?;
    }
    Ok(())
}
