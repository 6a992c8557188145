//! What was compared, where, when, and what came out.

use super::answers::percent;
use heddle_results::Report;
use heddle_results::text::count;
use serde::Serialize;
use std::time::{Duration, UNIX_EPOCH};

#[derive(Serialize)]
pub(super) struct Head {
    samples: String,
    mode: String,
    started: String,
    took: String,
    /// `2 processors`.
    processors: String,
    host: String,
    /// The share of the processors that others used: `53 %`. Empty: too little to tell.
    busy: String,
    notes: Vec<String>,
}

impl Head {
    pub(super) fn new(report: &Report) -> Self {
        let groups = report.experiments.iter().flat_map(|it| &it.groups);
        let cells = groups
            .flat_map(|group| &group.series)
            .flat_map(|series| &series.cells);
        let taken = cells.map(|cell| cell.values.len() + cell.failures.len());
        let processors = match report.machine.cpus {
            0 => String::new(),
            1 => "1 processor".into(),
            number => format!("{number} processors"),
        };
        Self {
            samples: count(taken.sum::<usize>() as f64),
            mode: report.mode.clone(),
            started: date(report.started_ns),
            took: duration(report.took_ns),
            processors,
            host: report.machine.host.clone(),
            busy: report.busy.map(percent).unwrap_or_default(),
            notes: report.notes.clone(),
        }
    }
}

/// `2026-11-21 21:02:10 UTC`.
pub(super) fn date(ns: u64) -> String {
    let seconds =
        humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_nanos(ns)).to_string();
    seconds.replace('T', " ").replace('Z', " UTC")
}

/// `3m 42s`; below ten seconds with milliseconds.
pub(super) fn duration(ns: u64) -> String {
    let exact = Duration::from_nanos(ns);
    let shown = if exact.as_secs() >= 10 {
        Duration::from_secs(exact.as_secs())
    } else {
        Duration::from_millis(exact.as_millis() as u64)
    };
    humantime::format_duration(shown).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_readable() {
        assert_eq!(date(1_795_294_930_123_456_789), "2026-11-21 21:02:10 UTC");
        assert_eq!(duration(222_900_000_000), "3m 42s");
        assert_eq!(duration(1_234_567_890), "1s 234ms");
        // The far end of the type is a date, not a panic.
        assert_eq!(date(u64::MAX), "2554-07-21 23:34:33 UTC");
    }
}
