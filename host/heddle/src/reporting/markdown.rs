//! A Markdown table.

use super::{Row, TIMES};
use std::io::{self, Write};

/// Prints the rows; by thread, with a column more.
pub fn print(out: &mut dyn Write, rows: &[Row], by_thread: bool) -> io::Result<()> {
    let (head, rule) = if by_thread {
        ("| thread ", "|---")
    } else {
        ("", "")
    };
    writeln!(
        out,
        "{head}| calls | total | self | min | avg | max | function |"
    )?;
    writeln!(out, "{rule}|--:|--:|--:|--:|--:|--:|---|")?;
    for row in rows {
        if let Some(thread) = &row.thread {
            write!(out, "| {} ", escape(&thread.label))?;
        }
        write!(out, "| {} ", row.stats.calls)?;
        for (_, column) in TIMES {
            write!(out, "| {} ", row.shown(column))?;
        }
        writeln!(out, "| {} |", escape(&row.function))?;
    }
    Ok(())
}

/// What Markdown or HTML would take for its own.
fn escape(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\`*_{}[]<>|&#".contains(character) {
            result.push('\\');
        }
        result.push(character);
    }
    result
}
