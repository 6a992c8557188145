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
///
/// Another thread may go on with a coroutine before the call has returned that gave it away: then
/// calls of two activations are open, and those of the later one come behind those of the other.
#[derive(Clone, Debug)]
pub struct Growing {
    latest: Activation,
    /// Those that began before it, and have not ended, in that order.
    before: Vec<Activation>,
    /// Whether calls belong to one of these, and to which.
    at: Option<usize>,
}

/// The calls of an activation.
#[derive(Clone, Debug)]
struct Activation {
    thread: usize,
    /// How many calls are open that run the coroutine, which are none of its own.
    bodies: usize,
    /// The finished children of every open call, below them those of no call at all.
    open: Vec<(u32, Vec<Node>)>,
}

impl Activation {
    fn on(thread: usize) -> Self {
        Activation {
            thread,
            bodies: 0,
            open: vec![(0, Vec::new())],
        }
    }

    fn has_ended(&self) -> bool {
        self.bodies == 0 && self.open.len() < 2
    }

    /// The calls that no call made, of those that have ended.
    fn roots(mut self) -> Vec<Node> {
        self.open.truncate(1);
        self.open.pop().map(|(_, roots)| roots).unwrap_or_default()
    }

    /// Puts calls in front of its own.
    fn follows(&mut self, mut calls: Vec<Node>) {
        if let Some((_, own)) = self.open.first_mut() {
            std::mem::swap(own, &mut calls);
            for call in calls {
                push(own, call);
            }
        }
    }
}

impl Default for Growing {
    /// No call yet.
    fn default() -> Self {
        Growing {
            latest: Activation::on(0),
            before: Vec::new(),
            at: None,
        }
    }
}

impl Growing {
    /// The calls that follow belong to the activation on this thread, which `begins` or is open.
    #[inline]
    pub fn turn_to(&mut self, thread: usize, begins: bool) {
        if self.now().thread != thread && (begins || !self.before.is_empty()) {
            self.turn(thread, begins);
        }
    }

    fn turn(&mut self, thread: usize, begins: bool) {
        let before = self.before.iter().position(|of| of.thread == thread);
        if before.is_some() {
            self.at = before;
        } else if begins {
            self.at = None;
            if !self.latest.has_ended() {
                let before = std::mem::replace(&mut self.latest, Activation::on(thread));
                self.before.push(before);
            }
            self.latest.thread = thread;
        } else if self.latest.thread == thread {
            self.at = None;
        }
    }

    fn now(&mut self) -> &mut Activation {
        match self.at.and_then(|at| self.before.get_mut(at)) {
            Some(before) => before,
            None => &mut self.latest,
        }
    }

    /// A call with this label begins.
    ///
    /// # Errors
    /// [`TreeError::TooDeep`].
    pub fn enter(&mut self, label: u32) -> Result<(), TreeError> {
        let open = &mut self.now().open;
        if open.len() > DEEPEST {
            return Err(TreeError::TooDeep);
        }
        open.push((label, Vec::new()));
        Ok(())
    }

    /// The label of the innermost call.
    pub fn label(&self) -> u32 {
        let now = self.at.and_then(|at| self.before.get(at));
        let now = now.unwrap_or(&self.latest);
        now.open.last().map_or(0, |(label, _)| *label)
    }

    /// Names the innermost call anew.
    pub fn relabel(&mut self, label: u32) {
        if let Some((of_call, _)) = self.now().open.last_mut() {
            *of_call = label;
        }
    }

    /// The innermost call ends.
    pub fn leave(&mut self, span: &Span) {
        close(&mut self.now().open, span);
        self.join();
    }

    /// A call begins that runs the coroutine, and is none of its own.
    pub fn enter_body(&mut self) {
        self.now().bodies += 1;
    }

    /// That call ends.
    pub fn leave_body(&mut self) {
        let now = self.now();
        now.bodies = now.bodies.saturating_sub(1);
        self.join();
    }

    /// Puts what an activation called in front of what a later one did, when that has ended.
    fn join(&mut self) {
        if let Some(at) = self.at
            && self.before[at].has_ended()
        {
            let ended = self.before.remove(at).roots();
            self.at = None;
            let behind = self.before.get_mut(at).unwrap_or(&mut self.latest);
            behind.follows(ended);
        }
    }

    /// The calls that no call of the strand made, of those that have ended.
    pub fn roots(self) -> Vec<Node> {
        let all = self.before.into_iter().chain([self.latest]);
        all.fold(Vec::new(), |mut roots, activation| {
            for call in activation.roots() {
                push(&mut roots, call);
            }
            roots
        })
    }
}

/// Puts a call behind these, or counts it with the last one.
fn push(calls: &mut Vec<Node>, call: Node) {
    match calls.last_mut() {
        Some(previous) if previous.same_shape(&call) => previous.merge(call),
        _ => calls.push(call),
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
    push(siblings, node);
}
