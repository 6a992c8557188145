//! Call trees with equal neighbours merged: what `heddle check` compares.

use crate::{End, Span};
use heddle_trace_file::{Error, Nanos};

/// Calls that look alike: the same label, and below them the same calls in the same order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What the caller of [`Growing::enter`] names the call.
    pub label: u32,
    /// How many such calls followed each other.
    pub calls: u64,
    /// The shortest of those that returned; `u64::MAX` if none did.
    pub min: Nanos,
    /// The longest of those that returned; 0 if none did.
    pub max: Nanos,
    /// How long the longest of those had lasted that were still open at the end; 0 if none was.
    pub open: Nanos,
    /// The calls they made.
    pub children: Vec<Node>,
}

impl Node {
    fn same_shape(&self, other: &Node) -> bool {
        self.label == other.label
            && self.children.len() == other.children.len()
            && self
                .children
                .iter()
                .zip(&other.children)
                .all(|(a, b)| a.calls == b.calls && a.same_shape(b))
    }

    fn merge(&mut self, other: Node) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.open = self.open.max(other.open);
        for (mine, others) in self.children.iter_mut().zip(other.children) {
            let (calls, others_calls) = (mine.calls, others.calls);
            debug_assert_eq!(
                calls, others_calls,
                "only trees of the same shape are merged"
            );
            mine.merge(others);
            mine.calls = calls;
        }
        self.calls += other.calls;
    }
}

/// Calls nested deeper than this are refused: their trees are walked recursively.
pub const DEEPEST: usize = 100_000;

/// Why there is no tree.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] Error),
    /// The program called too deeply.
    #[error(
        "calls are nested deeper than {DEEPEST}, which is more than a tree may hold; `heddle replay` and `heddle report` show them"
    )]
    TooDeep,
}

/// The calls of one strand, as they begin and end.
#[derive(Clone, Debug)]
pub struct Growing {
    /// The finished children of every open call, below them those of no call at all.
    open: Vec<(u32, Vec<Node>)>,
}

impl Default for Growing {
    /// No call yet.
    fn default() -> Self {
        Growing {
            open: vec![(0, Vec::new())],
        }
    }
}

impl Growing {
    /// A call with this label begins.
    ///
    /// # Errors
    /// [`TreeError::TooDeep`].
    pub fn enter(&mut self, label: u32) -> Result<(), TreeError> {
        if self.open.len() > DEEPEST {
            return Err(TreeError::TooDeep);
        }
        self.open.push((label, Vec::new()));
        Ok(())
    }

    /// The label of the innermost call.
    pub fn label(&self) -> u32 {
        self.open.last().map_or(0, |(label, _)| *label)
    }

    /// Names the innermost call anew.
    pub fn relabel(&mut self, label: u32) {
        if let Some((of_call, _)) = self.open.last_mut() {
            *of_call = label;
        }
    }

    /// The innermost call ends.
    pub fn leave(&mut self, span: &Span) {
        close(&mut self.open, span);
    }

    /// The calls that no call of the strand made, of those that have ended.
    pub fn roots(mut self) -> Vec<Node> {
        self.open.truncate(1);
        self.open.pop().map(|(_, roots)| roots).unwrap_or_default()
    }
}

fn close(open: &mut Vec<(u32, Vec<Node>)>, span: &Span) {
    if open.len() < 2 {
        return;
    }
    let Some((label, children)) = open.pop() else {
        return;
    };
    let Some((_, siblings)) = open.last_mut() else {
        return;
    };
    let duration = span.duration();
    let (min, max, open) = match span.end {
        End::Returned => (duration, duration, Nanos(0)),
        End::Unwound => (Nanos(u64::MAX), Nanos(0), Nanos(0)),
        End::Open => (Nanos(u64::MAX), Nanos(0), duration),
    };
    let node = Node {
        label,
        calls: 1,
        min,
        max,
        open,
        children,
    };
    match siblings.last_mut() {
        Some(previous) if previous.same_shape(&node) => previous.merge(node),
        _ => siblings.push(node),
    }
}
