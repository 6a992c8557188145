//! What the user says of calls to leave out, and the names that it is compared with.

use heddle::{Pattern, TimeRange};
use heddle_symbols::{abbreviate, coroutine_part, demangle, printable, without_return_type};
use heddle_trace_file::Nanos;

/// So many names of an input are looked at.
const MOST_NAMES: usize = 64;

/// A line of two ends of time, a line of a pattern, and lines of linker's names.
pub fn read(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut lines = text.lines();
    if let Ok(range) = TimeRange::parse(lines.next().unwrap_or_default()) {
        assert!(range.from < range.to);
        assert!(range.has(range.from) && range.nearest(Nanos(0)) == range.from);
    }
    let Ok(pattern) = Pattern::parse(lines.next().unwrap_or_default()) else {
        return;
    };
    let _ = pattern.words();
    for name in lines.take(MOST_NAMES) {
        let readable = demangle(name);
        pattern.matches(&readable);
        let _ = (abbreviate(&readable), without_return_type(&readable));
        let _ = (coroutine_part(name), printable(name));
    }
}
