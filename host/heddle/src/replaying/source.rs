//! The log of the source document: `1715025463.427789 - Enter: _Z1Av called: main`, and its form with addresses.

use super::{Line, Style, What};
use heddle_trace_file::Nanos;
use std::io::{self, Write};

/// What that log prints where it has no name.
const UNKNOWN: &str = "<unknown>";

/// Prints one event; `epoch` is the wall-clock time of the trace's zero.
///
/// The caller of an inlined function is its container; with addresses it is the function that the printed address lies in, which is the container's caller.
pub fn line(out: &mut dyn Write, line: &Line, epoch: Nanos, style: Style) -> io::Result<()> {
    let micros = epoch.0.saturating_add(line.time.0) / 1_000;
    let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
    let what = match line.what {
        What::Enter => "Enter",
        What::Exit => "Exit",
    };
    let (address, function) = (line.function.0, style.name(&line.function.1));
    match (&line.caller, style.addresses) {
        (Some(caller), false) => {
            writeln!(
                out,
                "{seconds}.{micros:06} - {what}: {function} called: {}",
                style.name(caller.function())
            )
        }
        (None, false) => writeln!(
            out,
            "{seconds}.{micros:06} - {what}: {function} called: {UNKNOWN}"
        ),
        (Some(caller), true) => {
            let (site, name) = (caller.site.0, style.name(&caller.site.1));
            writeln!(
                out,
                "{seconds}.{micros:06} - {what} function: {function} ({address}) called by: {name} ({site})"
            )
        }
        (None, true) => writeln!(
            out,
            "{seconds}.{micros:06} - {what} function: {function} ({address}) called by: {UNKNOWN}"
        ),
    }
}
