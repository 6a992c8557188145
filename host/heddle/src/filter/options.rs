//! The options that `heddle record` and the verbs that read a trace have in common.

use super::Pattern;
use heddle_trace_file::{Kinds, Nanos};
use std::time::Duration;

/// Which calls are left out: docs/record.md.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct CallOptions {
    /// Only inside functions of this name: what they call, and they themselves; a name, a regular
    /// expression or glob:GLOB
    #[arg(short = 'F', long, value_name = "PATTERN", value_parser = Pattern::parse)]
    filter: Vec<Pattern>,
    /// Nothing inside functions of this name, and not they themselves
    #[arg(short = 'N', long, value_name = "PATTERN", value_parser = Pattern::parse)]
    exclude: Vec<Pattern>,
    /// No calls deeper than this, counted from the outermost one that is not left out (1 to 4096)
    #[arg(short = 'D', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    depth: Option<u32>,
    /// No calls that take less time, unless they call one that is not left out: 10us, 1ms
    #[arg(short = 't', long, value_name = "TIME", value_parser = min_time)]
    min_time: Option<Duration>,
}

fn min_time(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text)
        .map_err(|error| format!("{error}; write it as 500ns, 10us, 1ms or 2s"))?;
    let fits = !time.is_zero() && time <= Duration::from_secs(86_400);
    fits.then_some(time)
        .ok_or_else(|| "expected more than 0 and at most a day".to_owned())
}

impl CallOptions {
    /// The patterns, with their options and what these mean.
    pub fn patterns(&self) -> impl Iterator<Item = (Kinds, &'static str, &Pattern)> {
        [
            (Kinds::FILTER, "--filter", &self.filter),
            (Kinds::EXCLUDE, "--exclude", &self.exclude),
        ]
        .into_iter()
        .flat_map(|(kind, option, patterns)| {
            patterns.iter().map(move |pattern| (kind, option, pattern))
        })
    }

    /// The most levels of calls.
    pub fn depth(&self) -> Option<u32> {
        self.depth
    }

    /// The least time that a call takes.
    pub fn min_time(&self) -> Option<Nanos> {
        let time = self.min_time?;
        Some(Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)))
    }
}
