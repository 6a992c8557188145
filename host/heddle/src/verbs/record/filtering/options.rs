//! The options of `heddle record` that make it record less.

use crate::filter::{CallOptions, Pattern};
use heddle_trace_file::Kinds;
use std::process::Command;
use std::time::Duration;

/// Which calls are not recorded: docs/record.md.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Recording less")]
pub struct Options {
    #[command(flatten)]
    calls: CallOptions,
    /// Nothing before a function of this name is entered
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    start_at: Vec<Pattern>,
    /// Nothing after a function of this name has returned, until --start-at
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    stop_at: Vec<Pattern>,
}

impl Options {
    /// All patterns, with their options and what these mean.
    pub fn patterns(&self) -> impl Iterator<Item = (Kinds, &'static str, &Pattern)> {
        let switches = [
            (Kinds::START_AT, "--start-at", &self.start_at),
            (Kinds::STOP_AT, "--stop-at", &self.stop_at),
        ];
        let switches = switches.into_iter().flat_map(|(kind, option, patterns)| {
            patterns.iter().map(move |pattern| (kind, option, pattern))
        });
        self.calls.patterns().chain(switches)
    }

    /// The options as one could type them again; empty if there are none.
    pub fn typed(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        for (_, option, pattern) in self.patterns() {
            words.push(format!(
                "{option} {}",
                crate::notes::quoted(pattern.text().as_ref())
            ));
        }
        if let Some(depth) = self.calls.depth() {
            words.push(format!("--depth {depth}"));
        }
        if let Some(time) = self.calls.min_time() {
            let time = humantime::format_duration(Duration::from_nanos(time.0)).to_string();
            words.push(format!("--min-time {}", time.replace(' ', "")));
        }
        words.join(" ")
    }

    /// Tells the library of them, in the program's environment.
    pub fn tell(&self, command: &mut Command) {
        let kinds = self
            .patterns()
            .fold(Kinds::default(), |all, (kind, _, _)| all | kind);
        let time = self.calls.min_time().unwrap_or_default();
        for (variable, value) in [
            ("HEDDLE_PATTERNS", u64::from(kinds.bits())),
            ("HEDDLE_DEPTH", self.calls.depth().unwrap_or(0).into()),
            ("HEDDLE_MIN_TIME", time.0),
        ] {
            // What is in our own environment is another recording's.
            command.env_remove(variable);
            if value != 0 {
                command.env(variable, value.to_string());
            }
        }
    }
}
