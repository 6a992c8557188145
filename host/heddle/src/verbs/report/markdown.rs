//! A Markdown table.

use super::row::{By, Row, TIMES};
use crate::cells::escape;
use crate::names::Length;
use std::io::{self, Write};

/// Prints the rows; by thread or strand, with a column more.
pub fn print(out: &mut dyn Write, rows: &[Row], by: By, length: Length) -> io::Result<()> {
    let (head, rule) = match by {
        By::Thread => ("| thread ", "|---"),
        By::Strand => ("| strand ", "|---"),
        _ => ("", ""),
    };
    writeln!(
        out,
        "{head}| calls | total | self | min | avg | max | function |"
    )?;
    writeln!(out, "{rule}|--:|--:|--:|--:|--:|--:|---|")?;
    for row in rows {
        if let Some(group) = &row.group {
            let label = group.label.strip_prefix("thread ").unwrap_or(&group.label);
            write!(out, "| {} ", escape(label))?;
        }
        write!(out, "| {} ", row.stats.calls)?;
        for (_, column) in TIMES {
            write!(out, "| {} ", row.shown(column))?;
        }
        writeln!(out, "| {} |", escape(&row.title(length)))?;
    }
    Ok(())
}
