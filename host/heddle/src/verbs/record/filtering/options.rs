//! The options of `heddle record` that make it record less.

use super::pattern::Pattern;
use heddle_trace_file::Kinds;
use std::process::Command;
use std::time::Duration;

/// Which calls are not recorded: docs/record.md.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Recording less")]
pub struct Options {
    /// Only inside functions of this name: what they call, and they themselves; a name, a regular
    /// expression or glob:GLOB
    #[arg(short = 'F', long, value_name = "PATTERN", value_parser = Pattern::parse)]
    filter: Vec<Pattern>,
    /// Nothing inside functions of this name, and not they themselves
    #[arg(short = 'N', long, value_name = "PATTERN", value_parser = Pattern::parse)]
    exclude: Vec<Pattern>,
    /// No calls deeper than this, counted from the outermost recorded one (1 to 4096)
    #[arg(short = 'D', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    depth: Option<u32>,
    /// No calls that take less time, unless they call one that is recorded: 10us, 1ms
    #[arg(short = 't', long, value_name = "TIME", value_parser = min_time)]
    min_time: Option<Duration>,
    /// Nothing before a function of this name is entered
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    start_at: Vec<Pattern>,
    /// Nothing after a function of this name has returned, until --start-at
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    stop_at: Vec<Pattern>,
}

fn min_time(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text)
        .map_err(|error| format!("{error}; write it as 500ns, 10us, 1ms or 2s"))?;
    let fits = !time.is_zero() && time <= Duration::from_secs(86_400);
    fits.then_some(time)
        .ok_or_else(|| "expected more than 0 and at most a day".to_owned())
}

impl Options {
    /// All patterns, with their options and what these mean.
    pub fn patterns(&self) -> impl Iterator<Item = (Kinds, &'static str, &Pattern)> {
        [
            (Kinds::FILTER, "--filter", &self.filter),
            (Kinds::EXCLUDE, "--exclude", &self.exclude),
            (Kinds::START_AT, "--start-at", &self.start_at),
            (Kinds::STOP_AT, "--stop-at", &self.stop_at),
        ]
        .into_iter()
        .flat_map(|(kind, option, patterns)| {
            patterns.iter().map(move |pattern| (kind, option, pattern))
        })
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
        if let Some(depth) = self.depth {
            words.push(format!("--depth {depth}"));
        }
        if let Some(time) = self.min_time {
            let time = humantime::format_duration(time).to_string();
            words.push(format!("--min-time {}", time.replace(' ', "")));
        }
        words.join(" ")
    }

    /// Tells the library of them, in the program's environment.
    pub fn tell(&self, command: &mut Command) {
        let kinds = self
            .patterns()
            .fold(Kinds::default(), |all, (kind, _, _)| all | kind);
        let time = self.min_time.unwrap_or_default();
        for (variable, value) in [
            ("HEDDLE_PATTERNS", u128::from(kinds.bits())),
            ("HEDDLE_DEPTH", self.depth.unwrap_or(0).into()),
            ("HEDDLE_MIN_TIME", time.as_nanos()),
        ] {
            // What is in our own environment is another recording's.
            command.env_remove(variable);
            if value != 0 {
                command.env(variable, value.to_string());
            }
        }
    }
}
