//! How many calls were left out, and by what: a filtered answer must not be taken for the whole.

use crate::notes::{counted, note};
use std::fmt;
use std::ops::AddAssign;

/// The first option, in this order, that a call did not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum By {
    Thread,
    Exclude,
    Filter,
    Depth,
    Hide,
    Mine,
    TimeRange,
    MinTime,
}

const OPTIONS: [(By, &str); 8] = [
    (By::Thread, "--thread"),
    (By::Exclude, "--exclude"),
    (By::Filter, "--filter"),
    (By::Depth, "--depth"),
    (By::Hide, "--hide"),
    (By::Mine, "--mine"),
    (By::TimeRange, "--time-range"),
    (By::MinTime, "--min-time"),
];

/// Numbers of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub(super) calls: u64,
    by: [u64; OPTIONS.len()],
    /// Exits whose enter was not recorded.
    exits: u64,
}

impl LeftOut {
    pub(super) fn count(&mut self, by: By) {
        self.by[by as usize] += 1;
    }

    pub(super) fn count_exit(&mut self) {
        self.exits += 1;
    }

    /// Says it on stderr.
    pub fn tell(&self) {
        note(self);
    }
}

impl AddAssign for LeftOut {
    fn add_assign(&mut self, other: LeftOut) {
        self.calls += other.calls;
        self.exits += other.exits;
        for (mine, others) in self.by.iter_mut().zip(other.by) {
            *mine += others;
        }
    }
}

/// `left out 3 of 10 calls: 2 by --filter, 1 by --depth`
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum: u64 = self.by.iter().sum();
        let all = counted(self.calls, "call");
        match sum {
            0 => write!(f, "left out none of {all}")?,
            _ => write!(f, "left out {sum} of {all}: ")?,
        }
        let mut before = "";
        for (by, option) in OPTIONS {
            let number = self.by[by as usize];
            if number > 0 {
                write!(f, "{before}{number} by {option}")?;
                before = ", ";
            }
        }
        match self.exits {
            0 => Ok(()),
            exits => write!(f, "; and {} without an enter", counted(exits, "exit")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_listed_in_order() {
        let mut left_out = LeftOut {
            calls: 10,
            ..LeftOut::default()
        };
        assert_eq!(left_out.to_string(), "left out none of 10 calls");
        for by in [By::Depth, By::Filter, By::Filter] {
            left_out.count(by);
        }
        let text = "left out 3 of 10 calls: 2 by --filter, 1 by --depth";
        assert_eq!(left_out.to_string(), text);
        left_out.count_exit();
        let more = format!("{text}; and 1 exit without an enter");
        assert_eq!(left_out.to_string(), more);
        left_out += left_out;
        assert!(
            left_out
                .to_string()
                .starts_with("left out 6 of 20 calls: 4 by")
        );
    }
}
