//! Comma-separated values (RFC 4180, but lines end in a newline alone); times in nanoseconds, empty
//! where there is none.

use super::row::{By, Row, TIMES, Who};
use crate::cells::quote;
use std::io::{self, Write};

/// Prints a header and the rows; by thread or strand, with columns more.
pub fn print(out: &mut dyn Write, rows: &[Row], by: By) -> io::Result<()> {
    let columns = match by {
        By::Thread => "pid,image,tid,thread,",
        By::Strand => "pid,image,kind,strands,strand,",
        _ => "",
    };
    write!(out, "{columns}calls")?;
    for (name, _) in TIMES {
        write!(out, ",{name}_ns")?;
    }
    let more = match by {
        By::Args => ",arguments,result",
        By::Caller => ",caller",
        By::Line => ",line",
        _ => "",
    };
    writeln!(out, ",function,module{more}")?;
    for row in rows {
        if let Some(group) = &row.group {
            write!(out, "{},{},", group.process.pid, group.process.image)?;
            match group.who {
                Who::Thread(tid) => write!(out, "{tid}")?,
                Who::Strands(kind, count) => write!(out, "{},{count}", kind.name())?,
            }
            write!(out, ",{},", quote(&group.name))?;
        }
        write!(out, "{}", row.stats.calls)?;
        for (_, column) in TIMES {
            match row.time(column) {
                Some(time) => write!(out, ",{}", time.0)?,
                None => write!(out, ",")?,
            }
        }
        write!(out, ",{},{}", quote(&row.function), quote(&row.module))?;
        if let Some(values) = &row.values {
            for value in [&values.arguments, &values.result] {
                write!(out, ",{}", quote(value.as_deref().unwrap_or_default()))?;
            }
        }
        if let Some(from) = &row.from {
            write!(out, ",{}", quote(from))?;
        }
        writeln!(out)?;
    }
    Ok(())
}
