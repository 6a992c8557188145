//! Processes and strands: which of the expected ones is which.
//!
//! Their order does not count, as it is the scheduler's. Each, in the order in which it began, is
//! given to the first pattern that it fits wholly and that is not full; what fits none is compared
//! with the first pattern of its name, so that the difference shows.

use crate::diff::{Diff, Line, Mark};
use crate::expected::Pattern;
use crate::print::{call_line, strand_line, suffix};
use crate::siblings::fits;
use crate::{Expected, Process, ProcessPattern, Strand, StrandPattern, Times};

/// Compares a program's calls with what was expected. No difference:
/// [`has_differences`](crate::has_differences) of the result is false.
///
/// Recursive, as deep as the calls are.
pub fn compare(expected: &Expected, got: &[Process]) -> Vec<Line> {
    let mut diff = Diff::default();
    let assigned = assign(&expected.processes, got, process_fits);
    // Where processes are not spoken of and there is only one, its line is not worth printing.
    let spoken = got.len() != 1
        || expected
            .processes
            .iter()
            .any(|pattern| !pattern.text.is_empty());
    let depth = usize::from(spoken);
    for (pattern, members) in expected.processes.iter().zip(&assigned.members) {
        if spoken {
            header(
                &mut diff,
                0,
                "process",
                &pattern.name,
                pattern,
                members.len(),
            );
        }
        for &(index, _) in members {
            strands(&mut diff, &pattern.strands, &got[index].strands, depth);
        }
    }
    for index in assigned.extra {
        diff.push(Mark::Got, 0, format!("process {}", got[index].name));
        got[index]
            .strands
            .iter()
            .for_each(|strand| extra_strand(&mut diff, strand, 1));
    }
    diff.lines
}

fn strands(diff: &mut Diff, patterns: &[StrandPattern], got: &[Strand], depth: usize) {
    let assigned = assign(patterns, got, strand_fits);
    for (pattern, members) in patterns.iter().zip(&assigned.members) {
        let what = pattern.kind.word();
        header(diff, depth, what, &pattern.name, pattern, members.len());
        let wrong: Vec<_> = members.iter().filter(|(_, fits)| !fits).collect();
        // Threads that fit are all alike; the first stands for them where there is nothing else to
        // show.
        let shown = if wrong.is_empty() {
            members.iter().take(1).collect()
        } else {
            wrong
        };
        for &&(index, _) in &shown {
            diff.row(&pattern.calls, &got[index].calls, None, depth + 1);
        }
    }
    for index in assigned.extra {
        extra_strand(diff, &got[index], depth);
    }
}

fn extra_strand(diff: &mut Diff, strand: &Strand, depth: usize) {
    diff.push(Mark::Got, depth, strand_line(strand, 1));
    strand
        .calls
        .iter()
        .for_each(|call| diff.push(Mark::Got, depth + 1, call_line(call, false, true)));
}

/// The line of a process or thread, or two if there are too few or too many.
fn header<P: Pattern>(
    diff: &mut Diff,
    depth: usize,
    what: &str,
    name: &str,
    pattern: &P,
    number: usize,
) {
    let expected = format!("{what} {name}{}", suffix(pattern.count(), Times::ANY, None));
    if pattern.count().holds(number as u64) {
        diff.push(Mark::Same, depth, expected);
    } else {
        diff.push(Mark::Expected, depth, expected);
        if number > 0 {
            diff.push(Mark::Got, depth, format!("{what} {name} x{number}"));
        }
    }
}

fn strand_fits(pattern: &StrandPattern, strand: &Strand) -> bool {
    fits(&pattern.calls, &strand.calls, None)
}

fn process_fits(pattern: &ProcessPattern, process: &Process) -> bool {
    let assigned = assign(&pattern.strands, &process.strands, strand_fits);
    let complete = pattern
        .strands
        .iter()
        .zip(&assigned.members)
        .all(|(pattern, members)| pattern.count.holds(members.len() as u64));
    complete
        && assigned.extra.is_empty()
        && assigned.members.iter().flatten().all(|&(_, fits)| fits)
}

struct Assigned {
    /// By pattern: which, and whether it fits wholly.
    members: Vec<Vec<(usize, bool)>>,
    /// Fits no pattern's name, or all such patterns are full.
    extra: Vec<usize>,
}

fn assign<P: Pattern>(
    patterns: &[P],
    got: &[P::Actual],
    fits: impl Fn(&P, &P::Actual) -> bool,
) -> Assigned {
    let mut members: Vec<Vec<(usize, bool)>> = patterns.iter().map(|_| Vec::new()).collect();
    let mut extra = Vec::new();
    let mut place = |index: usize, wholly: bool| {
        let fitting = |(pattern, members): &(&P, &mut Vec<(usize, bool)>)| {
            let room = (members.len() as u64) < pattern.count().high;
            room && pattern.names(&got[index]) && (!wholly || fits(pattern, &got[index]))
        };
        let found = patterns.iter().zip(&mut members).find(fitting);
        found
            .map(|(_, members)| members.push((index, wholly)))
            .is_some()
    };
    let others: Vec<usize> = (0..got.len())
        .filter(|&index| !place(index, true))
        .collect();
    for index in others {
        if !place(index, false) {
            extra.push(index);
        }
    }
    Assigned { members, extra }
}
