//! Strands as the command line names them.

use crate::usage::Usage;
use heddle_strands::{StrandId, StrandList};
use heddle_trace_file::{ImageId, Trace};
use std::fmt;
use std::str::FromStr;

/// A strand as `heddle strands` prints it: `12`, or `4711/12` where there are several processes,
/// and `4711.1/12` of the program that the first one became by exec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrandName {
    process: Option<ImageId>,
    /// Its number in its process.
    pub number: u64,
}

impl FromStr for StrandName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = match text.split_once('/') {
            Some((process, number)) => process.parse().ok().map(Some).zip(number.parse().ok()),
            None => text.parse().ok().map(|number| (None, number)),
        };
        match parsed {
            Some((process, number)) if number > 0 => Ok(StrandName { process, number }),
            _ => Err("not a strand's number; `heddle strands` prints them: 12, or 4711/12".into()),
        }
    }
}

impl fmt::Display for StrandName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            Some(process) => write!(f, "{process}/{}", self.number),
            None => write!(f, "{}", self.number),
        }
    }
}

impl StrandName {
    /// Whether a strand of this process may be meant.
    pub fn may_be_of(&self, process: ImageId) -> bool {
        self.process.is_none_or(|wanted| wanted == process)
    }

    /// The index in the list of the one strand that it means.
    ///
    /// # Errors
    /// There is none; or strands of several processes have this number, and no process is given.
    pub fn index_in(&self, trace: &Trace, all: &StrandList) -> Result<usize, Usage> {
        let mut meant = all
            .ids()
            .enumerate()
            .filter(|&(_, id)| self.means(trace, id));
        let (index, id) = meant.next().ok_or_else(|| self.is_not_in(trace))?;
        if self.process.is_none() && meant.next().is_some() {
            let process = trace.processes()[id.process()].id();
            return Err(Usage::new(format!(
                "{}: several processes have a strand {self}; say which with the pid in front: \
                 {process}/{self}",
                trace.path().display()
            )));
        }
        Ok(index)
    }

    /// The error that the trace has no such strand.
    pub fn is_not_in(&self, trace: &Trace) -> Usage {
        Usage::new(format!(
            "{}: no strand {self}; `heddle strands` lists those that there are",
            trace.path().display()
        ))
    }

    /// Whether it means this strand.
    pub fn means(&self, trace: &Trace, id: StrandId) -> bool {
        let process = trace.processes()[id.process()].id();
        self.number == id.number() && self.may_be_of(process)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strands_are_named_as_they_are_listed() {
        for text in ["12", "4711/12", "4711.2/12"] {
            assert_eq!(text.parse::<StrandName>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "0",
            "a",
            "1/",
            "/1",
            "1/0",
            "-1",
            "4711/a",
            "4711.a/1",
            "4711.1.1/1",
        ] {
            assert!(text.parse::<StrandName>().is_err(), "{text}");
        }
    }
}
