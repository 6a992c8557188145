//! Aligned columns for people.

use super::row::{Row, TIMES};
use crate::names::Length;
use crate::screen::{HEADING, Look, SUBJECT};
use std::io::{self, Write};

const WIDTH: usize = 12;
const COLUMNS: usize = 1 + TIMES.len();
/// On a narrow terminal the shortest, the longest and the average are left out, until so many
/// characters are left for the function.
const LESS: [usize; 3] = [3, 5, 4];
const NAME: usize = 30;

/// Prints the rows; where they are by thread, a heading begins each thread's.
pub fn print(out: &mut dyn Write, look: &Look, rows: &[Row], length: Length) -> io::Result<()> {
    let shown = look.columns([WIDTH; COLUMNS], &LESS, NAME).shown;
    let mut heading = format!("{:>WIDTH$}", "calls");
    for (index, (name, _)) in TIMES.iter().enumerate() {
        if shown[index + 1] {
            heading += &format!("{name:>WIDTH$}");
        }
    }
    writeln!(out, "{}", look.paint(HEADING, heading + "  function"))?;
    let mut group = None;
    for row in rows {
        if row.group.is_some() && row.group != group {
            group.clone_from(&row.group);
            let label = group.as_ref().map_or("", |group| &group.label);
            writeln!(out, "\n{}", look.paint(SUBJECT, label))?;
        }
        write!(out, "{:>WIDTH$}", row.stats.calls)?;
        for (index, (_, column)) in TIMES.iter().enumerate() {
            if shown[index + 1] {
                write!(out, "{:>WIDTH$}", row.shown(*column))?;
            }
        }
        let taken = WIDTH * shown.iter().filter(|shown| **shown).count() + 2;
        writeln!(out, "  {}", look.fit(&row.title(length), taken))?;
    }
    Ok(())
}
