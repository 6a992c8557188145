//! Calls in a form that is short to read: what a loop does is there once.
//!
//! Two calls look alike if they have one label and, in order, calls below them that look alike,
//! however often. Neighbours that look alike are one; a row of calls that is repeated is a loop.

use heddle_calls::Node;
use heddle_trace_file::Nanos;
use heddle_tree::fold_rows;
use std::hash::{Hash, Hasher};

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
    let alike = |one: &Item, other: &Item| one.looks == other.looks;
    fold_rows(items, 1, alike, folded)
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

/// Neighbours that look alike, as one; rows of several, as a loop.
fn folded(items: Vec<Item>, length: usize) -> Item {
    let rounds = match length {
        1 => items,
        _ => {
            let rows = items.chunks(length);
            rows.map(|row| Item::of_body(row.to_vec())).collect()
        }
    };
    let all = rounds.into_iter().reduce(|mut all, again| {
        all.append(&again);
        all
    });
    all.unwrap_or_else(|| Item::of_body(Vec::new()))
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
