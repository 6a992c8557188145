//! Aligned columns for people.

use super::row::{Row, TIMES};
use std::io::{self, Write};

/// Prints the rows; where they are by thread, a heading begins each thread's.
pub fn print(out: &mut dyn Write, rows: &[Row]) -> io::Result<()> {
    write!(out, "{:>12}", "calls")?;
    for (name, _) in TIMES {
        write!(out, "{name:>12}")?;
    }
    writeln!(out, "  function")?;
    let mut group = None;
    for row in rows {
        if row.group.is_some() && row.group != group {
            group.clone_from(&row.group);
            let label = group.as_ref().map_or("", |group| &group.label);
            writeln!(out, "\n{label}")?;
        }
        write!(out, "{:>12}", row.stats.calls)?;
        for (_, column) in TIMES {
            write!(out, "{:>12}", row.shown(column))?;
        }
        writeln!(out, "  {}", row.title())?;
    }
    Ok(())
}
