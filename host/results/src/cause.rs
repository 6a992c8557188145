//! What held a program up, in words, as far as a recording supports it.
//!
//! The rules are in docs/compare.md, *The cause*; whoever changes one changes it there, too.

use crate::text::times;
use crate::{Better, Shares, Traced, percent};
use serde::{Deserialize, Serialize};

/// The least share of threads' time that is named as a cause.
const LEAST: f64 = 0.2;
/// How many times as large as the next possible cause it must be.
const APART: f64 = 1.5;
/// The share from which on it is clear, if the recording is whole and did not change the program
/// much.
const CLEAR: f64 = 0.5;
/// The least share of the time that must be left without what other programs took.
const ENOUGH: f64 = 0.01;
/// The part of the time from which on it is said that other programs took it: less changes no
/// percentage.
const SEEN: f64 = 0.005;
/// How many times as long a run may take with the recorder.
const DEAREST: f64 = 2.0;
/// Two models that are closer than this have no difference to explain.
const DIFFERENT: f64 = 1.2;

/// What holds threads up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// They wait for each other.
    Lock,
    /// They ask for memory.
    Allocation,
    /// More of them can run than there are processors.
    Oversubscription,
    /// They wait for input, output or a time.
    Io,
}

impl Cause {
    /// What it is called in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Lock => "locks",
            Cause::Allocation => "allocation",
            Cause::Oversubscription => "oversubscription",
            Cause::Io => "I/O",
        }
    }
}

/// What is said of the cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// None: the recording supports none.
    pub cause: Option<Cause>,
    /// Its share of threads' time.
    #[serde(default)]
    pub share: f64,
    /// It is at least half of the time, and nothing speaks against the recording.
    #[serde(default)]
    pub clear: bool,
    /// `locks (52 % of the time, clear)`; why there is none.
    pub says: String,
}

fn none(says: String) -> Told {
    Told {
        cause: None,
        share: 0.0,
        clear: false,
        says,
    }
}

/// The shares that may be causes, the largest first; not what other programs took away.
fn candidates(traced: &Traced, shares: &Shares) -> [(Cause, f64); 4] {
    let own = (shares.processor - traced.others()).max(0.0);
    let mut all = [
        (Cause::Lock, shares.locks),
        (Cause::Allocation, shares.allocation.unwrap_or(0.0)),
        (Cause::Oversubscription, own),
        (Cause::Io, shares.io),
    ];
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}

impl Traced {
    /// What held its threads up; none: nothing was recorded.
    pub fn told(&self) -> Option<Told> {
        let shares = self.shares()?;
        let part = |share| format!("{} %", percent(Some(share)));
        let others = self.others();
        let left = 1.0 - others;
        if left < ENOUGH {
            return Some(none(format!(
                "not known: other programs had the processors for {} of the time",
                part(others)
            )));
        }
        let own = candidates(self, &shares).map(|(cause, share)| (cause, share / left));
        let of_time = match others < SEEN {
            true => "of the time",
            false => "of the time that other programs left",
        };
        let [(cause, share), (next, less), ..] = own;
        let (work, not_known) = (shares.work / left, shares.not_known / left);
        if share < LEAST {
            return Some(none(match work >= CLEAR {
                true => format!(
                    "not known: {} {of_time} is work, and what makes work slow (false sharing, memory) is not recorded",
                    part(work)
                ),
                false => format!("not known: no part but work is {} {of_time}", part(LEAST)),
            }));
        }
        if not_known > share {
            return Some(none(format!(
                "not known: {} {of_time} was spent blocked on what is not known",
                part(not_known)
            )));
        }
        if share < APART * less {
            return Some(none(format!(
                "no single one: {} {}, {} {} {of_time}",
                cause.name(),
                part(share),
                next.name(),
                part(less)
            )));
        }
        let clear = share >= CLEAR && self.is_reliable();
        Some(Told {
            cause: Some(cause),
            share,
            clear,
            says: format!(
                "{} ({} {of_time}, {})",
                cause.name(),
                part(share),
                sure(clear)
            ),
        })
    }

    /// The share of the time in which a thread had no processor because another program had it.
    fn others(&self) -> f64 {
        let Some(time) = &self.time else {
            return 0.0;
        };
        let others = time.processor_ns.saturating_sub(time.processor_own_ns);
        match time.parts_ns() {
            0.0 => 0.0,
            total => others as f64 / total,
        }
    }

    fn is_reliable(&self) -> bool {
        let whole = self
            .time
            .as_ref()
            .is_some_and(|time| time.missing.is_empty());
        whole && self.cost.is_none_or(|cost| cost <= DEAREST)
    }
}

fn sure(clear: bool) -> &'static str {
    match clear {
        true => "clear",
        false => "likely",
    }
}

/// Why one model takes longer than another: the part of threads' time that most of the difference
/// is in.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// How many times as long it takes.
    pub ratio: f64,
    /// None: most of the difference is in no part that is a cause.
    pub cause: Option<Cause>,
    /// `3.1× as long as serial, 82 % of that in locks (clear)`.
    pub says: String,
}

/// Explains the difference by the metric of each times the shares of its threads' time. None:
/// nothing is recorded of one, or they hardly differ.
pub fn difference(
    (best_name, best, best_value): (&str, &Traced, f64),
    (other, other_value): (&Traced, f64),
    better: Better,
) -> Option<Difference> {
    let time = |value: f64| match better {
        Better::Lower => value,
        Better::Higher => 1.0 / value,
    };
    let (less, more) = (time(best_value), time(other_value));
    let ratio = more / less;
    if !ratio.is_finite() || ratio < DIFFERENT {
        return None;
    }
    let (of_best, of_other) = (best.shares()?, other.shares()?);
    let share = |traced, shares: &Shares, cause| {
        let mut all = candidates(traced, shares).into_iter();
        all.find(|one| one.0 == cause).map_or(0.0, |one| one.1)
    };
    let of = |of_other: f64, of_best: f64| (of_other * more - of_best * less) / (more - less);
    let explained = |cause| of(share(other, &of_other, cause), share(best, &of_best, cause));
    let causes = candidates(other, &of_other).map(|(cause, _)| (cause, explained(cause)));
    let most = causes.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let longer = format!("{} as long as {best_name}", times(ratio));
    if most.1 < CLEAR {
        let why = match of(other.others(), best.others()) >= CLEAR {
            true => "other programs had the processors",
            false => "most of that is in no part but work",
        };
        return Some(Difference {
            ratio,
            cause: None,
            says: format!("{longer}, why is not known: {why}"),
        });
    }
    let clear = other.is_reliable() && best.is_reliable();
    Some(Difference {
        ratio,
        cause: Some(most.0),
        says: format!(
            "{longer}, {} % of that in {} ({})",
            percent(Some(most.1.min(1.0))),
            most.0.name(),
            sure(clear)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ThreadTime;

    /// Work, locks, allocation, waiting for a processor, I/O, not known.
    fn traced(parts: [u64; 6]) -> Traced {
        let time = ThreadTime {
            running_ns: parts[0] + parts[2],
            locks_ns: parts[1],
            allocation_ns: Some(parts[2]),
            processor_ns: parts[3],
            processor_own_ns: parts[3],
            io_ns: parts[4],
            not_known_ns: parts[5],
            total_ns: parts.iter().sum(),
            ..ThreadTime::default()
        };
        Traced {
            time: Some(time),
            cost: Some(1.1),
            ..Traced::default()
        }
    }

    fn cause(parts: [u64; 6]) -> Option<Cause> {
        traced(parts).told().unwrap().cause
    }

    #[test]
    fn a_cause_is_the_largest_part_that_is_large_and_alone() {
        assert_eq!(cause([40, 55, 0, 5, 0, 0]), Some(Cause::Lock));
        assert_eq!(cause([40, 5, 50, 5, 0, 0]), Some(Cause::Allocation));
        assert_eq!(cause([20, 0, 0, 70, 5, 5]), Some(Cause::Oversubscription));
        assert_eq!(cause([5, 0, 0, 5, 90, 0]), Some(Cause::Io));
        // All work, as false sharing is; too little; two alike; more that is not known.
        assert_eq!(cause([97, 1, 1, 1, 0, 0]), None);
        assert_eq!(cause([60, 15, 10, 0, 0, 15]), None);
        assert_eq!(cause([20, 40, 0, 40, 0, 0]), None);
        assert_eq!(cause([20, 35, 0, 0, 0, 45]), None);
        assert_eq!(Traced::default().told(), None);
    }

    #[test]
    fn others_that_have_the_processors_are_no_cause_of_the_programs() {
        let mut busy = traced([20, 0, 0, 80, 0, 0]);
        if let Some(time) = &mut busy.time {
            time.processor_own_ns = 3;
        }
        let told = busy.told().unwrap();
        assert_eq!(told.cause, None);
        assert!(
            told.says
                .contains("87 % of the time that other programs left is work"),
            "{}",
            told.says
        );
        // What they leave is looked at, if it is enough.
        let mut locked = traced([1, 3, 0, 96, 0, 0]);
        locked.time.as_mut().unwrap().processor_own_ns = 0;
        assert_eq!(locked.told().unwrap().cause, Some(Cause::Lock));
        let mut nothing = traced([0, 5, 0, 995, 0, 0]);
        nothing.time.as_mut().unwrap().processor_own_ns = 0;
        let told = nothing.told().unwrap();
        assert_eq!(told.cause, None);
        assert!(told.says.contains("other programs"), "{}", told.says);
        let best = traced([100, 0, 0, 0, 0, 0]);
        let other = difference(("b", &best, 10.0), (&busy, 50.0), Better::Lower).unwrap();
        assert_eq!(other.cause, None);
        assert!(other.says.contains("other programs"), "{}", other.says);
    }

    #[test]
    fn it_is_clear_where_it_is_half_and_nothing_speaks_against_the_recording() {
        let told = |traced: &Traced| traced.told().unwrap();
        let mut locked = traced([45, 55, 0, 0, 0, 0]);
        assert!(told(&locked).clear);
        assert_eq!(told(&locked).says, "locks (55 % of the time, clear)");
        locked.cost = Some(3.0);
        assert!(!told(&locked).clear);
        locked.cost = None;
        locked.time.as_mut().unwrap().missing.push("lost".into());
        assert!(told(&locked).says.contains("likely"));
        assert!(!told(&traced([70, 30, 0, 0, 0, 0])).clear);
    }

    #[test]
    fn a_difference_is_where_most_of_it_is() {
        let best = traced([95, 5, 0, 0, 0, 0]);
        let locked = traced([30, 60, 10, 0, 0, 0]);
        let found = difference(("b", &best, 10.0), (&locked, 40.0), Better::Lower).unwrap();
        // 0.6 × 40 − 0.05 × 10 of 30.
        assert_eq!(found.cause, Some(Cause::Lock));
        assert_eq!(
            found.says,
            "4.00× as long as b, 78 % of that in locks (clear)"
        );
        // Of a rate, more is better.
        let rate = difference(("b", &best, 40.0), (&locked, 10.0), Better::Higher).unwrap();
        assert_eq!((rate.cause, rate.says), (found.cause, found.says));
        // Its own largest part is not the difference if the best has as much of it.
        let slow = traced([60, 40, 0, 0, 0, 0]);
        let also = traced([40, 60, 0, 0, 0, 0]);
        let found = difference(("b", &also, 10.0), (&slow, 20.0), Better::Lower).unwrap();
        assert_eq!(found.cause, None);
        assert!(found.says.contains("not known"), "{}", found.says);
        assert_eq!(
            difference(("b", &best, 10.0), (&locked, 11.0), Better::Lower),
            None
        );
        assert_eq!(
            difference(("b", &best, 0.0), (&locked, 11.0), Better::Lower),
            None
        );
        assert_eq!(
            difference(("b", &best, 1.0), (&Traced::default(), 11.0), Better::Lower),
            None
        );
    }
}
