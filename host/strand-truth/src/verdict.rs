//! Compares what was decoded with truth, mark by mark.

use crate::mark::{Kind, Truth};
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// A strand as it was decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decoded {
    /// Its number in its process.
    pub strand: u64,
    /// What it is taken for.
    pub kind: Kind,
    /// The decoder says that it is sure.
    pub sure: bool,
}

/// The most differences of one kind that are told in full.
const TOLD: usize = 5;

/// What became of the marks of a process.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Marks that tell of strands.
    pub marks: u64,
    /// Enters and exits that were decoded.
    pub events: u64,
    /// Events of these that the decoder says it could not place.
    pub unplaced: u64,
    /// Marks that are not right behind the enter of the function that they name: the program is
    /// wrong, not the decoder.
    misplaced: u64,
    /// Marks that lie on another strand than most marks of the same true strand do, or on one of
    /// another kind.
    wrong_strand: u64,
    /// Marks at which other calls are open than the program says.
    wrong_path: u64,
    /// Marks on strands that are said to be sure, and those of them that are wrong.
    pub sure: u64,
    pub wrong_sure: u64,
    /// The maker of each strand, as the program says.
    pub made: HashMap<u64, u64>,
    /// Fibers and coroutines that were decoded, by number: with their makers.
    strands: BTreeMap<u64, (Kind, Option<u64>)>,
    /// The number of these strands that have no mark, by kind.
    silent: [u64; 2],
    /// Strands that have another maker than the program says.
    wrong_parent: u64,
    /// Strands of whose maker the program tells and the trace does not.
    unknown_parent: u64,
    /// By pair of strands: the marks, those of them that are said to be sure, and the first one's
    /// words.
    pairs: HashMap<(u64, u64), (u64, u64, String)>,
    details: Vec<String>,
}

impl Verdict {
    /// A mark that is not right behind the enter of its innermost call.
    pub fn misplaced(&mut self, what: impl fmt::Display) {
        self.misplaced += 1;
        self.tell(self.misplaced, format!("misplaced: {what}"));
    }

    /// A mark; `at` tells a reader where it is, `path` whether the decoded calls are the true ones
    /// or what they are instead.
    pub fn mark(
        &mut self,
        at: impl fmt::Display,
        truth: &Truth,
        decoded: Decoded,
        path: Result<(), String>,
    ) {
        self.sure += u64::from(decoded.sure);
        let misled = decoded.sure && (decoded.kind != truth.kind || path.is_err());
        self.wrong_sure += u64::from(misled);
        let sure = if decoded.sure { "" } else { ", not sure" };
        if decoded.kind != truth.kind {
            self.wrong_strand += 1;
            self.tell(
                self.misleading(misled, self.wrong_strand),
                format!(
                    "wrong kind: {at}: {truth}; decoded as a {}{sure}",
                    decoded.kind
                ),
            );
        } else {
            let pair = (truth.strand, decoded.strand);
            let told = self.pairs.entry(pair).or_insert_with(|| {
                let first = format!("{at}: {truth}; decoded as strand {}", decoded.strand);
                (0, 0, first)
            });
            told.0 += 1;
            told.1 += u64::from(decoded.sure && path.is_ok());
        }
        if let Err(other) = path {
            self.wrong_path += 1;
            self.tell(
                self.misleading(misled, self.wrong_path),
                format!(
                    "wrong path: {at}: {truth}; decoded as {other} on strand {}{sure}",
                    decoded.strand
                ),
            );
        }
    }

    /// A fiber or coroutine that was decoded.
    pub fn decoded(&mut self, strand: u64, kind: Kind, maker: Option<u64>) {
        self.strands.insert(strand, (kind, maker));
    }

    /// Counts strands that no mark was put on: they are not the program's, unless it does not tell
    /// of all. And those that another made than the program says. To be called once, at the end.
    fn judge_strands(&mut self, of_truth: &HashMap<u64, u64>, of_decoded: &HashMap<u64, u64>) {
        let mut details = Vec::new();
        for (strand, (kind, maker)) in &self.strands {
            let Some(truth) = of_decoded.get(strand) else {
                self.silent[usize::from(*kind == Kind::Coroutine)] += 1;
                continue;
            };
            let Some(made_by) = self.made.get(truth) else {
                continue;
            };
            if maker.is_none() {
                self.unknown_parent += 1;
                continue;
            }
            // One that makes no calls itself is a thread.
            let right = match of_truth.get(made_by) {
                Some(theirs) => *maker == Some(*theirs),
                None => maker.is_some_and(|maker| !self.strands.contains_key(&maker)),
            };
            if !right {
                self.wrong_parent += 1;
                let maker = maker.map_or("nobody".to_owned(), |maker| maker.to_string());
                details.push(format!(
                    "wrong parent: {kind} {truth} was made by {made_by}; decoded as strand {strand}, made by {maker}"
                ));
            }
        }
        for (so_far, detail) in details.into_iter().enumerate() {
            self.tell(so_far as u64 + 1, detail);
        }
    }

    /// Fibers and coroutines, of those that have a mark and those that have none, that were decoded
    /// without one.
    pub fn silent(&self) -> (u64, u64) {
        (self.silent.iter().sum(), self.strands.len() as u64)
    }

    /// Strands that another made than the program says, of those that were decoded.
    pub fn wrong_parents(&self) -> u64 {
        self.wrong_parent
    }

    /// Strands of whose maker the program tells and the trace does not.
    pub fn unknown_parents(&self) -> u64 {
        self.unknown_parent
    }

    /// Pairs strands one to one; the marks of other pairs are wrong. Of those that are sure, only
    /// the ones among them are that are wrong without the strands that are not sure: part of a true
    /// strand may be on such a one. To be called once, at the end.
    pub fn pair_strands(&mut self) {
        let mut pairs: Vec<_> = self
            .pairs
            .iter()
            .map(|(&pair, (marks, sure, first))| (*marks, pair, *sure, first.clone()))
            .collect();
        let sure = pairs.iter().filter(|(_, _, sure, _)| *sure > 0);
        let (.., left) = paired(sure.map(|&(_, pair, sure, _)| (sure, pair)).collect());
        let misled: HashMap<(u64, u64), u64> =
            left.into_iter().map(|(sure, pair)| (pair, sure)).collect();
        self.wrong_sure += misled.values().sum::<u64>();
        let all = pairs.iter().map(|&(marks, pair, ..)| (marks, pair));
        let (of_truth, of_decoded, left) = paired(all.collect());
        let left: std::collections::HashSet<(u64, u64)> =
            left.into_iter().map(|(_, pair)| pair).collect();
        pairs.retain(|(_, pair, ..)| left.contains(pair));
        pairs.sort_by_key(|&(marks, pair, ..)| (std::cmp::Reverse(marks), pair));
        for (marks, pair, sure, first) in pairs {
            let (truth, decoded) = pair;
            self.wrong_strand += marks;
            let ours = of_truth.get(&truth).map_or(String::new(), |ours| {
                format!("; the others of {truth} are on {ours}")
            });
            let theirs = of_decoded.get(&decoded);
            let theirs = theirs.map_or(String::new(), |theirs| format!("; which is {theirs}'s"));
            self.tell(
                self.misleading(misled.contains_key(&pair), self.wrong_strand),
                format!("wrong strand: {first}{theirs}{ours} ({marks} marks, {sure} of them sure)"),
            );
        }
        self.judge_strands(&of_truth, &of_decoded);
    }

    /// True strands and decoded ones that have marks on both sides.
    pub fn strands(&self) -> (usize, usize) {
        let distinct = |side: fn(&(u64, u64)) -> u64| {
            self.pairs
                .keys()
                .map(side)
                .collect::<std::collections::HashSet<_>>()
                .len()
        };
        (distinct(|pair| pair.0), distinct(|pair| pair.1))
    }

    /// Marks that are wrong in some way.
    pub fn wrong(&self) -> u64 {
        self.wrong_strand + self.wrong_path + self.misplaced
    }

    /// Of differences of a kind so far: those count first that the decoder was sure of.
    fn misleading(&self, sure: bool, all: u64) -> u64 {
        if sure { self.wrong_sure.min(all) } else { all }
    }

    fn tell(&mut self, so_far: u64, detail: String) {
        if so_far <= TOLD as u64 || self.details.len() < TOLD {
            self.details.push(detail);
        }
    }
}

/// Pairs true strands with decoded ones, those first that have most marks in common: gives each
/// one's, and the pairs that are left.
#[allow(
    clippy::type_complexity,
    reason = "what the two callers need is not the same"
)]
fn paired(
    mut pairs: Vec<(u64, (u64, u64))>,
) -> (HashMap<u64, u64>, HashMap<u64, u64>, Vec<(u64, (u64, u64))>) {
    pairs.sort_by_key(|&(marks, pair)| (std::cmp::Reverse(marks), pair));
    let (mut of_truth, mut of_decoded) = (HashMap::new(), HashMap::new());
    pairs.retain(|&(_, (truth, decoded))| {
        let is_left = of_truth.contains_key(&truth) || of_decoded.contains_key(&decoded);
        if !is_left {
            of_truth.insert(truth, decoded);
            of_decoded.insert(decoded, truth);
        }
        is_left
    });
    (of_truth, of_decoded, pairs)
}

/// One line, then a line for each difference told.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (truth, decoded) = self.strands();
        write!(
            f,
            "{} marks: {} misplaced, {} on a wrong strand, {} with a wrong path; {truth} strands, decoded as {decoded} and {} fibers, {} coroutines without marks; {} of {} with a wrong parent, {} with none known; {} of {} events unplaced; {} of {} marks on sure strands wrong",
            self.marks,
            self.misplaced,
            self.wrong_strand,
            self.wrong_path,
            self.silent[0],
            self.silent[1],
            self.wrong_parent,
            self.made.len(),
            self.unknown_parent,
            self.unplaced,
            self.events,
            self.wrong_sure,
            self.sure
        )?;
        self.details
            .iter()
            .try_for_each(|detail| write!(f, "\n  {detail}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strands_are_paired_one_to_one_by_the_marks_that_they_have_in_common() {
        let (of_truth, of_decoded, left) =
            paired(vec![(1, (1, 10)), (5, (1, 11)), (3, (2, 11)), (2, (2, 12))]);
        assert_eq!(of_truth, HashMap::from([(1, 11), (2, 12)]));
        assert_eq!(of_decoded, HashMap::from([(11, 1), (12, 2)]));
        assert_eq!(left, [(3, (2, 11)), (1, (1, 10))]);
    }
}
