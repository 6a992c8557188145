//! Which strands to export.

use heddle_strands::StrandId;
use heddle_trace_file::Trace;
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

/// A strand as `heddle strands` prints it: `12`, or `4711/12` where there are several processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrandName {
    pid: Option<u32>,
    number: u64,
}

impl FromStr for StrandName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = match text.split_once('/') {
            Some((pid, number)) => pid.parse().ok().map(Some).zip(number.parse().ok()),
            None => text.parse().ok().map(|number| (None, number)),
        };
        match parsed {
            Some((pid, number)) if number > 0 => Ok(StrandName { pid, number }),
            _ => Err("not a strand's number; `heddle strands` prints them: 12, or 4711/12".into()),
        }
    }
}

impl fmt::Display for StrandName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "{pid}/{}", self.number),
            None => write!(f, "{}", self.number),
        }
    }
}

/// All strands, or some.
pub struct Selection {
    /// By process: the numbers that were asked for.
    numbers: Option<Vec<HashSet<u64>>>,
    /// Those with calls that a filter keeps.
    with_calls: Option<HashSet<StrandId>>,
}

impl Selection {
    /// Those of these names, a number alone being meant for every process; all, if there are none.
    pub fn new(trace: &Trace, names: &[StrandName]) -> Self {
        if names.is_empty() {
            return Selection {
                numbers: None,
                with_calls: None,
            };
        }
        let chosen = |pid| {
            names
                .iter()
                .filter(move |name| name.pid.is_none_or(|wanted| wanted == pid))
        };
        let processes = trace.processes().iter();
        let numbers =
            processes.map(|process| chosen(process.pid()).map(|name| name.number).collect());
        Selection {
            numbers: Some(numbers.collect()),
            with_calls: None,
        }
    }

    /// Narrows the selection to strands with calls that a filter keeps.
    pub fn with_calls(self, strands: HashSet<StrandId>) -> Self {
        Selection {
            with_calls: Some(strands),
            ..self
        }
    }

    /// Whether it is all strands.
    pub fn has_all(&self) -> bool {
        self.numbers.is_none() && self.with_calls.is_none()
    }

    /// Whether this strand is one of them.
    #[inline]
    pub fn has(&self, strand: StrandId) -> bool {
        let asked = |by_process: &Vec<HashSet<u64>>| {
            by_process[strand.process()].contains(&strand.number())
        };
        self.numbers.as_ref().is_none_or(asked)
            && (self.with_calls.as_ref()).is_none_or(|strands| strands.contains(&strand))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strands_are_named_as_they_are_listed() {
        for text in ["12", "4711/12"] {
            assert_eq!(text.parse::<StrandName>().unwrap().to_string(), text);
        }
        for text in ["", "0", "a", "1/", "/1", "1/0", "-1", "4711/a"] {
            assert!(text.parse::<StrandName>().is_err(), "{text}");
        }
    }
}
