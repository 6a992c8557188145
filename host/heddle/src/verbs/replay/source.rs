//! The log of the source document: `1715025463.427789 - Enter: _Z1Av called: main`, and its form
//! with addresses.

use super::line::{Line, Style, What};
use heddle_trace_file::Nanos;
use std::io::{self, Write};

/// What that log prints where it has no name.
const UNKNOWN: &str = "<unknown>";

/// Prints one event; `epoch` is the wall-clock time of the trace's zero.
///
/// The caller of an inlined function is its container; with addresses it is the function that the
/// printed address lies in, which is the container's caller.
pub fn line(out: &mut dyn Write, line: &Line, epoch: Nanos, style: Style) -> io::Result<()> {
    let micros = epoch.0.saturating_add(line.time.0) / 1_000;
    let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
    let what = match line.what {
        What::Enter => "Enter",
        What::Exit => "Exit",
    };
    let function = line.function.as_ref();
    let name = function.map_or(UNKNOWN, |(_, location)| style.name(location));
    write!(out, "{seconds}.{micros:06} - {what}")?;
    if !style.addresses {
        let caller = line.caller.as_ref();
        let caller = caller.map_or(UNKNOWN, |caller| style.name(caller.function()));
        return writeln!(out, ": {name} called: {caller}");
    }
    write!(out, " function: {name}")?;
    if let Some((address, _)) = function {
        write!(out, " ({address})")?;
    }
    match &line.caller {
        Some(caller) => {
            let (site, name) = (caller.site.0, style.name(&caller.site.1));
            writeln!(out, " called by: {name} ({site})")
        }
        None => writeln!(out, " called by: {UNKNOWN}"),
    }
}
