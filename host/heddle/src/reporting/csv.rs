//! Comma-separated values (RFC 4180, but lines end in a newline alone); times in nanoseconds, empty where there is none.

use super::{Row, TIMES};
use std::borrow::Cow;
use std::io::{self, Write};

/// Prints a header and the rows; by thread, with three columns more.
pub fn print(out: &mut dyn Write, rows: &[Row], by_thread: bool) -> io::Result<()> {
    write!(
        out,
        "{}calls",
        if by_thread { "pid,tid,thread," } else { "" }
    )?;
    for (name, _) in TIMES {
        write!(out, ",{name}_ns")?;
    }
    writeln!(out, ",function,module")?;
    for row in rows {
        if let Some(thread) = &row.thread {
            write!(
                out,
                "{},{},{},",
                thread.pid,
                thread.tid,
                quote(&thread.name)
            )?;
        }
        write!(out, "{}", row.stats.calls)?;
        for (_, column) in TIMES {
            match row.time(column) {
                Some(time) => write!(out, ",{}", time.0)?,
                None => write!(out, ",")?,
            }
        }
        writeln!(out, ",{},{}", quote(&row.function), quote(&row.module))?;
    }
    Ok(())
}

fn quote(text: &str) -> Cow<'_, str> {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}
