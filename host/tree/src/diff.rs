//! Where expected and actual calls differ, as lines.

use crate::print::call_line;
use crate::siblings::{call_fits, fits};
use crate::{Call, CallPattern, Item, LoopPattern};
use std::borrow::Cow;

/// One line of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it says.
    pub mark: Mark,
    /// How far it is indented.
    pub depth: usize,
    /// The line itself.
    pub text: String,
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The call is as expected. Calls below one that is wholly as expected are left out.
    Same,
    /// Expected, but not so in the program.
    Expected,
    /// So in the program, but not expected.
    Got,
    /// Lines as expected that [`context`] left out.
    Gap,
}

/// Whether there is any difference among the lines.
pub fn has_differences(lines: &[Line]) -> bool {
    lines
        .iter()
        .any(|line| matches!(line.mark, Mark::Expected | Mark::Got))
}

/// Only the differences, with `around` lines before and after, and the calls that they are in.
pub fn context(lines: &[Line], around: usize) -> Vec<Line> {
    let mut keep = vec![false; lines.len()];
    for (index, _) in lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.mark != Mark::Same)
    {
        keep[index.saturating_sub(around)..(index + around + 1).min(lines.len())].fill(true);
    }
    // From the end, so that a kept line keeps the nearest line of every smaller depth above it.
    let mut wanted = usize::MAX;
    for (index, line) in lines.iter().enumerate().rev() {
        keep[index] |= line.depth < wanted && wanted != usize::MAX;
        if keep[index] {
            wanted = if wanted == usize::MAX {
                line.depth
            } else {
                wanted.min(line.depth)
            };
        }
        // A line at the top has nothing above it to be kept.
        if line.depth == 0 {
            wanted = usize::MAX;
        }
    }
    let mut result: Vec<Line> = Vec::new();
    for (line, keep) in lines.iter().zip(keep) {
        if keep {
            result.push(line.clone());
        } else if result.last().is_none_or(|last| last.mark != Mark::Gap) {
            result.push(Line {
                mark: Mark::Gap,
                depth: line.depth,
                text: "⋮".into(),
            });
        }
    }
    result
}

/// Collects lines.
#[derive(Default)]
pub struct Diff {
    pub lines: Vec<Line>,
}

/// Above this many pairs of (line, call) only the first calls are aligned: 16 MB of costs.
const PAIRS: usize = 2_000_000;

/// What a line or a call costs that has no partner; a pair that differs below its name costs 1.
const ALONE: u32 = 2;

impl Diff {
    /// Adds one line.
    pub fn push(&mut self, mark: Mark, depth: usize, text: impl Into<String>) {
        self.lines.push(Line {
            mark,
            depth,
            text: text.into(),
        });
    }

    /// Compares a row of calls with a row of lines, and everything below.
    pub fn row(&mut self, items: &[Item], calls: &[Call], parent: Option<&Call>, depth: usize) {
        let root = parent.is_none();
        if fits(items, calls, parent) {
            for call in calls {
                self.push(Mark::Same, depth, call_line(call, false, root));
            }
            return;
        }
        let items = &unrolled(items, calls, parent);
        let before = self.lines.len();
        let aligned = calls.len().min((PAIRS / (items.len() + 1)).max(1));
        self.align(items, &calls[..aligned], parent, depth);
        if aligned < calls.len() {
            self.push(
                Mark::Got,
                depth,
                format!("… and {} more", calls.len() - aligned),
            );
        }
        // The alignment looks at names first and may pair what only differs as a row.
        if !has_differences(&self.lines[before..]) {
            self.lines.truncate(before);
            items
                .iter()
                .for_each(|item| self.push(Mark::Expected, depth, item.text()));
            calls
                .iter()
                .for_each(|call| self.push(Mark::Got, depth, call_line(call, false, root)));
        }
    }

    fn align(&mut self, items: &[Item], calls: &[Call], parent: Option<&Call>, depth: usize) {
        let costs = Costs::new(items, calls, parent);
        let (mut i, mut j) = (0, 0);
        while i < items.len() || j < calls.len() {
            match costs.step(i, j) {
                Move::Missing => {
                    if let Some(Item::Call(pattern)) = items.get(i) {
                        if pattern.count.low > 0 {
                            self.push(Mark::Expected, depth, &pattern.text);
                        }
                    }
                    i += 1;
                }
                Move::Extra => {
                    let any = matches!(items.get(i), Some(Item::Anything));
                    let mark = if any { Mark::Same } else { Mark::Got };
                    self.push(mark, depth, call_line(&calls[j], false, parent.is_none()));
                    j += 1;
                }
                Move::Run(end) => {
                    if let Some(Item::Call(pattern)) = items.get(i) {
                        self.run(&items[i], pattern, &calls[j..end], parent, depth);
                    }
                    (i, j) = (i + 1, end);
                }
            }
        }
    }

    /// One line with the calls of that name: what about them is different?
    fn run(
        &mut self,
        item: &Item,
        pattern: &CallPattern,
        calls: &[Call],
        parent: Option<&Call>,
        depth: usize,
    ) {
        let root = parent.is_none();
        let number = calls
            .iter()
            .fold(0_u64, |sum, call| sum.saturating_add(call.calls));
        if !pattern.count.holds(number) {
            self.push(Mark::Expected, depth, &pattern.text);
            calls
                .iter()
                .for_each(|call| self.push(Mark::Got, depth, call_line(call, false, root)));
            return;
        }
        for call in calls {
            if call_fits(item, call, parent) {
                self.push(Mark::Same, depth, call_line(call, false, root));
            } else if !pattern.in_time(call) {
                self.push(Mark::Expected, depth, &pattern.text);
                self.push(Mark::Got, depth, call_line(call, true, root));
            } else {
                self.push(Mark::Same, depth, call_line(call, false, root));
                self.row(&pattern.children, &call.children, Some(call), depth + 1);
            }
        }
    }
}

impl Item {
    /// The line as written.
    pub(crate) fn text(&self) -> &str {
        match self {
            Item::Anything => "...",
            Item::Call(pattern) => &pattern.text,
            Item::Loop(pattern) => &pattern.text,
        }
    }
}

/// Lines without loops, for an alignment with calls: so many rounds of each as the calls seem to
/// have.
fn unrolled<'a>(items: &'a [Item], calls: &[Call], parent: Option<&Call>) -> Cow<'a, [Item]> {
    if !items.iter().any(|item| matches!(item, Item::Loop(_))) {
        return items.into();
    }
    let mut all = Vec::new();
    for item in items {
        match item {
            Item::Loop(pattern) => {
                let round = unrolled(&pattern.body, calls, parent);
                for _ in 0..rounds(pattern, &round, calls, parent) {
                    all.extend_from_slice(&round);
                }
            }
            other => all.push(other.clone()),
        }
    }
    all.into()
}

/// How often the calls have what a round begins with, but no more or fewer rounds than there may
/// be; and one more than there is room for shows as well as all that are missing.
fn rounds(pattern: &LoopPattern, round: &[Item], calls: &[Call], parent: Option<&Call>) -> usize {
    let first = round.iter().find_map(|item| match item {
        Item::Call(first) if first.count.low > 0 => Some(first),
        _ => None,
    });
    let found = first.map_or(1, |first| {
        calls
            .iter()
            .filter(|call| first.names(call, parent))
            .count()
    });
    let most = calls.len() / round.len().max(1) + 1;
    let wanted = (found as u64).clamp(pattern.count.low, pattern.count.high);
    wanted.min(most as u64) as usize
}

/// What to do with line `i` and call `j`.
enum Move {
    /// The line has no call.
    Missing,
    /// The call has no line, or a `...` takes it.
    Extra,
    /// The line has the calls up to this one.
    Run(usize),
}

/// The least cost of the rest from (line, call), by dynamic programming from the end.
struct Costs {
    width: usize,
    /// Outside and inside a run of the line's calls.
    costs: Vec<[u32; 2]>,
    /// Cost of a pair; `None` where the names differ.
    pairs: Vec<Option<u32>>,
    lines: usize,
    calls: usize,
    optional: Vec<bool>,
    anything: Vec<bool>,
}

impl Costs {
    fn new(items: &[Item], calls: &[Call], parent: Option<&Call>) -> Self {
        let width = calls.len() + 1;
        let pair = |item: &Item, call: &Call| match item {
            Item::Call(pattern) if pattern.names(call, parent) => {
                Some(u32::from(!call_fits(item, call, parent)))
            }
            _ => None,
        };
        let row = |item: &Item| {
            calls
                .iter()
                .map(|call| pair(item, call))
                .chain([None])
                .collect::<Vec<_>>()
        };
        let mut costs = Costs {
            width,
            costs: vec![[0; 2]; width * (items.len() + 1)],
            pairs: items.iter().flat_map(row).collect(),
            lines: items.len(),
            calls: calls.len(),
            optional: items
                .iter()
                .map(|item| matches!(item, Item::Call(pattern) if pattern.count.low == 0))
                .collect(),
            anything: items
                .iter()
                .map(|item| matches!(item, Item::Anything))
                .collect(),
        };
        for i in (0..=items.len()).rev() {
            for j in (0..=calls.len()).rev() {
                costs.costs[i * width + j] = costs.at(i, j);
            }
        }
        costs
    }

    fn at(&self, i: usize, j: usize) -> [u32; 2] {
        let outside = [self.missing(i, j), self.extra(i, j), self.begin(i, j)]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(0);
        let stay = self.begin(i, j);
        let leave = if i < self.lines {
            self.costs[(i + 1) * self.width + j][0]
        } else {
            0
        };
        [outside, stay.map_or(leave, |stay| stay.min(leave))]
    }

    fn missing(&self, i: usize, j: usize) -> Option<u32> {
        let free = *self.optional.get(i)? || self.anything[i];
        Some(self.costs[(i + 1) * self.width + j][0].saturating_add(if free { 0 } else { ALONE }))
    }

    fn extra(&self, i: usize, j: usize) -> Option<u32> {
        let free = self.anything.get(i).copied().unwrap_or(false);
        (j < self.calls).then(|| {
            self.costs[i * self.width + j + 1][0].saturating_add(if free { 0 } else { ALONE })
        })
    }

    /// Pairs line and call, as the first or a further one of a run.
    fn begin(&self, i: usize, j: usize) -> Option<u32> {
        let pair = (*self.pairs.get(i * self.width + j)?)?;
        Some(self.costs[i * self.width + j + 1][1].saturating_add(pair))
    }

    fn step(&self, i: usize, j: usize) -> Move {
        let [best, _] = self.costs[i * self.width + j];
        if self.begin(i, j) == Some(best) {
            let mut end = j + 1;
            while self
                .begin(i, end)
                .is_some_and(|stay| stay == self.costs[i * self.width + end][1])
            {
                end += 1;
            }
            Move::Run(end)
        } else if self.missing(i, j) == Some(best) {
            Move::Missing
        } else {
            Move::Extra
        }
    }
}
