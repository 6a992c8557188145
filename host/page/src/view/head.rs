//! What was compared, where, when, and what came out.

use super::Link;
use heddle_results::Report;
use serde::Serialize;
use std::time::{Duration, UNIX_EPOCH};

#[derive(Serialize)]
pub(super) struct Head {
    experiments: usize,
    workloads: usize,
    models: usize,
    samples: usize,
    mode: String,
    started: String,
    took: String,
    /// `host, cpu, 2 processors, Linux 6.18`.
    machine: String,
    host: String,
    notes: Vec<String>,
    findings: Vec<Finding>,
}

#[derive(Serialize)]
struct Finding {
    link: Link,
    question: String,
    sentences: Vec<String>,
}

impl Head {
    pub(super) fn new(report: &Report, links: &[Link]) -> Self {
        let distinct = |words: &mut dyn Iterator<Item = &str>| {
            words.collect::<std::collections::BTreeSet<_>>().len()
        };
        let series = || {
            report
                .experiments
                .iter()
                .flat_map(|experiment| &experiment.groups)
                .flat_map(|group| &group.series)
        };
        let machine = &report.machine;
        let processors = match machine.cpus {
            0 => String::new(),
            1 => "1 processor".into(),
            number => format!("{number} processors"),
        };
        let parts = [
            machine.cpu.as_str(),
            processors.as_str(),
            machine.kernel.as_str(),
        ];
        Self {
            experiments: report.experiments.len(),
            workloads: distinct(
                &mut report
                    .experiments
                    .iter()
                    .map(|experiment| experiment.workload.as_str()),
            ),
            models: distinct(&mut series().map(|series| series.model.as_str())),
            samples: series()
                .flat_map(|series| &series.cells)
                .map(|cell| cell.values.len() + cell.failures.len())
                .sum(),
            mode: report.mode.clone(),
            started: date(report.started_ns),
            took: duration(report.took_ns),
            machine: parts
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(", "),
            host: machine.host.clone(),
            notes: report.notes.clone(),
            findings: report
                .experiments
                .iter()
                .zip(links)
                .map(|(experiment, link)| Finding {
                    link: link.clone(),
                    question: experiment.question.clone(),
                    sentences: super::sentences(experiment),
                })
                .collect(),
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
