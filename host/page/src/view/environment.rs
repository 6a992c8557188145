//! Where and how it was measured: the facts that are needed to get the same numbers.

use super::head::{date, duration};
use heddle_results::{Report, Spread, Surroundings, text};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
pub(super) struct Environment {
    /// Names and values, in the order of the page.
    facts: Vec<(&'static str, String)>,
    command: String,
    version: String,
    builds: Vec<BTreeMap<String, String>>,
}

impl Environment {
    pub(super) fn new(report: &Report) -> Self {
        Self {
            facts: facts(report),
            command: report
                .command
                .iter()
                .map(|word| quoted(word))
                .collect::<Vec<_>>()
                .join(" "),
            version: report.version.clone(),
            builds: report.builds.clone(),
        }
    }
}

/// What tells a machine and its run, by name: only what is known.
pub(super) fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let machine = &report.machine;
    let known = |number: u64, text: String| if number == 0 { String::new() } else { text };
    let facts = [
        ("host", machine.host.clone()),
        ("processor", machine.cpu.clone()),
        (
            "processors used",
            known(machine.cpus.into(), machine.cpus.to_string()),
        ),
        (
            "memory",
            known(
                machine.memory_bytes,
                text::quantity(machine.memory_bytes as f64, "bytes"),
            ),
        ),
        ("kernel", machine.kernel.clone()),
        ("system", machine.system.clone()),
        ("Heddle", report.version.clone()),
        ("mode", report.mode.clone()),
        ("seed", report.seed.to_string()),
        (
            "waking a processor",
            spread(report, |it| it.wake_ns, |ns| text::quantity(ns, "ns")),
        ),
        (
            "clock rate",
            spread(
                report,
                |it| it.ghz,
                |ghz| format!("{} GHz", text::number(ghz)),
            ),
        ),
        ("host took", steal(report)),
        ("started", date(report.started_ns)),
        ("took", duration(report.took_ns)),
    ];
    facts
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

/// `4.20 µs; in nine of ten samples 3.10 µs to 8.00 µs`.
fn spread(
    report: &Report,
    of: impl Fn(&Surroundings) -> Option<Spread>,
    say: impl Fn(f64) -> String,
) -> String {
    let found = report.around.as_ref().and_then(of);
    found.map_or_else(String::new, |it| {
        let [median, low, high] = [it.median, it.low, it.high].map(say);
        format!("{median}; in nine of ten samples {low} to {high}")
    })
}

/// `0.4 % of the processors' time`, where the host took any.
fn steal(report: &Report) -> String {
    let share = report.around.and_then(|around| around.steal);
    let share = share.filter(|share| *share >= 0.0005);
    share.map_or_else(String::new, |share| {
        format!("{:.1} % of the processors' time", 100.0 * share)
    })
}

/// A word as a POSIX shell wants it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        assert_eq!(
            ["a-b=c", "", "x y", "it's", "$HOME"].map(quoted),
            ["a-b=c", "''", "'x y'", r"'it'\''s'", "'$HOME'"]
        );
    }
}
