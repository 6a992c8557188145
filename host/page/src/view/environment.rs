//! Where and how it was measured: the facts that are needed to get the same numbers.

use super::head::{date, duration};
use heddle_results::{Report, text};
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
        ("started", date(report.started_ns)),
        ("took", duration(report.took_ns)),
    ];
    facts
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .collect()
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
