//! Calls in a form that is short to read: what a loop does is there once.
//!
//! Two calls look alike if they have one label and, in order, calls below them that look alike,
//! however often. Neighbours that look alike are one; a row of calls that is repeated is a loop.

use heddle_calls::Node;
use heddle_trace_file::Nanos;
use std::hash::{Hash, Hasher};

/// A loop's body has at most so many lines.
const LONGEST_BODY: usize = 32;

/// Calls of one label, or a loop.
#[derive(Clone, Debug)]
pub struct Item {
    /// Index of the label; `None`: a loop over what is below.
    pub label: Option<u32>,
    /// The least and the greatest number of times in one run of what is around.
    pub times: (u64, u64),
    /// Of those that returned; `u64::MAX` and 0 if none did.
    pub min: Nanos,
    pub max: Nanos,
    pub below: Vec<Item>,
    /// Equal for what looks alike.
    looks: u64,
}

/// Folds calls, and what is below them.
pub fn fold(calls: Vec<Node>) -> Vec<Item> {
    let items = calls.into_iter().map(Item::new).collect();
    loops(items)
}

impl Item {
    fn new(node: Node) -> Self {
        let below = fold(node.children);
        Item {
            label: Some(node.label),
            times: (node.calls, node.calls),
            min: node.min,
            max: node.max,
            looks: looks(Some(node.label), &below),
            below,
        }
    }

    /// A loop that ran once.
    fn of_body(body: Vec<Item>) -> Self {
        Item {
            label: None,
            times: (1, 1),
            min: Nanos(u64::MAX),
            max: Nanos(0),
            looks: looks(None, &body),
            below: body,
        }
    }

    /// Another run of the same: the times of each are a range.
    fn overlay(&mut self, other: &Item) {
        self.times.0 = self.times.0.min(other.times.0);
        self.times.1 = self.times.1.max(other.times.1);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        for (mine, others) in self.below.iter_mut().zip(&other.below) {
            mine.overlay(others);
        }
    }

    /// What follows at once: it adds to the times.
    fn append(&mut self, other: &Item) {
        let times = (self.times.0 + other.times.0, self.times.1 + other.times.1);
        self.overlay(other);
        self.times = times;
    }
}

fn looks(label: Option<u32>, below: &[Item]) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    label.hash(&mut hasher);
    for item in below {
        item.looks.hash(&mut hasher);
    }
    hasher.finish()
}

/// Makes loops of repeated rows, the shortest first, until there are none.
fn loops(mut items: Vec<Item>) -> Vec<Item> {
    items = neighbours(items);
    loop {
        let before = items.len();
        for length in 2..=LONGEST_BODY {
            items = neighbours(repeated(items, length));
        }
        if items.len() == before {
            return items;
        }
    }
}

/// Neighbours that look alike, as one.
fn neighbours(items: Vec<Item>) -> Vec<Item> {
    let mut merged: Vec<Item> = Vec::new();
    for item in items {
        match merged.last_mut() {
            Some(last) if last.looks == item.looks => last.append(&item),
            _ => merged.push(item),
        }
    }
    merged
}

/// Rows of this length that follow each other at least twice, as loops.
fn repeated(items: Vec<Item>, length: usize) -> Vec<Item> {
    let alike = |a: usize, b: usize| items[a].looks == items[b].looks;
    let runs = |at: usize| {
        let end = (at + length..items.len()).find(|&index| !alike(index, index - length));
        (end.unwrap_or(items.len()) - at) / length
    };
    let mut folded = Vec::new();
    let mut at = 0;
    while at < items.len() {
        let times = runs(at);
        if times < 2 {
            folded.push(items[at].clone());
            at += 1;
            continue;
        }
        let mut rows = items[at..at + times * length].chunks(length);
        let mut body = Item::of_body(rows.next().unwrap_or_default().to_vec());
        for row in rows {
            body.append(&Item::of_body(row.to_vec()));
        }
        folded.push(body);
        at += times * length;
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(label: u32, calls: u64, children: Vec<Node>) -> Node {
        Node {
            label,
            calls,
            min: Nanos(u64::from(label)),
            max: Nanos(u64::from(label) + calls),
            open: Nanos(0),
            children,
        }
    }

    /// `3×(1 2..3×2)`: labels by their numbers.
    fn text(items: &[Item]) -> String {
        let one = |item: &Item| {
            let (low, high) = item.times;
            let times = match (low, high) {
                (1, 1) => String::new(),
                _ if low == high => format!("{low}×"),
                _ => format!("{low}..{high}×"),
            };
            let label = item.label.map_or(String::new(), |label| label.to_string());
            match item.below.is_empty() {
                true => times + &label,
                false => format!("{times}{label}({})", text(&item.below)),
            }
        };
        items.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn row(labels: &[u32]) -> Vec<Node> {
        labels
            .iter()
            .map(|&label| call(label, 1, Vec::new()))
            .collect()
    }

    #[test]
    fn rows_that_are_repeated_are_loops() {
        for (labels, folded) in [
            (&[][..], ""),
            (&[1, 2, 3], "1 2 3"),
            (&[1, 1, 1], "3×1"),
            (&[1, 2, 1, 2, 3], "2×(1 2) 3"),
            (&[9, 1, 2, 1, 2, 1], "9 2×(1 2) 1"),
            // Nested, and with an inner loop that does not always run as often.
            (&[1, 2, 1, 2, 3, 1, 2, 1, 2, 3], "2×(2×(1 2) 3)"),
            (&[1, 2, 1, 2, 3, 1, 2, 1, 2, 1, 2, 3], "2×(2..3×(1 2) 3)"),
            (&[1, 2, 2, 1, 2, 2, 2], "2×(1 2..3×2)"),
        ] {
            assert_eq!(text(&fold(row(labels))), folded, "{labels:?}");
        }
    }

    #[test]
    fn calls_that_make_the_same_calls_in_other_numbers_are_one() {
        let calls = vec![
            call(1, 1, vec![call(2, 3, Vec::new())]),
            call(1, 2, vec![call(2, 5, Vec::new())]),
            call(1, 1, row(&[2, 4])),
        ];
        let folded = fold(calls);
        assert_eq!(text(&folded), "3×1(3..5×2) 1(2 4)");
        assert_eq!((folded[0].min, folded[0].max), (Nanos(1), Nanos(3)));
    }
}
