//! The options of the verbs that read a trace.

use super::range::{TimeRange, said};
use super::{CallOptions, Pattern};
use crate::names::printable;
use heddle_trace_file::Nanos;
use std::ffi::OsString;

/// Which calls of the trace are left out: docs/report.md.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Filters")]
pub struct FilterArgs {
    #[command(flatten)]
    pub(super) calls: CallOptions,
    /// Only calls that were open in this part of the trace, which may have one end: 1.5s..2s,
    /// ..300ms; times are those that `heddle replay` prints
    #[arg(long, value_name = "FROM..TO", value_parser = TimeRange::parse)]
    pub(super) time_range: Option<TimeRange>,
    /// Only calls that this thread made, by number or name; may be given several times
    #[arg(long, value_name = "TID|NAME")]
    pub(super) thread: Vec<String>,
    /// Leave functions of this name out, but keep what they call: boost::*; a name, a glob, a
    /// regular expression after re:; may be given several times
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse_glob)]
    pub(super) hide: Vec<Pattern>,
    /// Leave functions out whose source is not one's own, but keep what they call: one's own is
    /// what is not below /usr or /opt, or what is below PATH; may be given several times
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(super) mine: Vec<OsString>,
}

impl FilterArgs {
    /// Whether nothing is to be left out.
    pub fn is_empty(&self) -> bool {
        let calls = &self.calls;
        calls.patterns().next().is_none()
            && calls.depth().is_none()
            && calls.min_time().is_none()
            && self.time_range.is_none()
            && self.thread.is_empty()
            && self.hide.is_empty()
            && self.mine.is_empty()
    }

    /// When the time range ends.
    pub fn until(&self) -> Option<Nanos> {
        self.time_range.map(|range| range.to)
    }

    /// The options, as they are written.
    pub fn said(&self) -> String {
        let calls = &self.calls;
        let mut words: Vec<String> = Vec::new();
        for (_, option, pattern) in calls.patterns() {
            words.push(format!("{option} {}", pattern.text()));
        }
        words.extend(calls.depth().map(|depth| format!("--depth {depth}")));
        words.extend(
            calls
                .min_time()
                .map(|time| format!("--min-time {}", said(time))),
        );
        let range = self.time_range.map(|range| range.said());
        words.extend(range.map(|range| format!("--time-range {range}")));
        words.extend(
            self.thread
                .iter()
                .map(|thread| format!("--thread {thread}")),
        );
        let hidden = self
            .hide
            .iter()
            .map(|pattern| format!("--hide {}", pattern.text()));
        words.extend(hidden);
        words.extend(self.mine.iter().map(|path| match path.is_empty() {
            true => "--mine".to_owned(),
            false => format!("--mine={}", path.to_string_lossy()),
        }));
        printable(&words.join(" "))
    }
}
