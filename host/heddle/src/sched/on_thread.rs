//! Which strand a thread runs, from what a sink is told of it. A coroutine runs on the stack of the
//! strand that resumed it, so nothing tells when that one goes on but the end of the call by which
//! the coroutine ran.

use heddle_strands::{Call, StrandId, StrandSpan};

/// A thread.
#[derive(Clone, Debug)]
pub struct OnThread {
    strand: StrandId,
    /// The strand that it ran before, until a call of this one follows.
    before: Option<StrandId>,
    /// The coroutines that it runs, innermost last, each with the strand that goes on where that is
    /// suspended.
    within: Vec<(StrandId, StrandId)>,
}

impl OnThread {
    /// A thread that runs this strand.
    pub fn new(strand: StrandId) -> Self {
        OnThread {
            strand,
            before: None,
            within: Vec::new(),
        }
    }

    /// The strand that it runs.
    pub fn strand(&self) -> StrandId {
        self.strand
    }

    /// Something happens on it, on this strand.
    pub fn runs(&mut self, strand: StrandId) {
        self.strand = strand;
    }

    /// A strand goes on.
    pub fn resumed(&mut self, strand: StrandId) {
        self.before = Some(self.strand);
        self.strand = strand;
    }

    /// A call began.
    pub fn enter(&mut self, call: &Call) {
        // A function that destroys a coroutine calls the coroutine's body. That begins no further
        // activation: the strand runs already.
        let ran = std::mem::replace(&mut self.strand, call.strand);
        let before = self.before.take().unwrap_or(ran);
        if call.body {
            self.within.push((call.strand, before));
        }
    }

    /// A call ended.
    pub fn leave(&mut self, span: &StrandSpan) {
        self.strand = span.strand;
        if span.body {
            self.left_body(span.strand);
        }
    }

    /// The call ended by which this coroutine ran. The next event may come much later, after a long
    /// call into the kernel.
    fn left_body(&mut self, coroutine: StrandId) {
        if let Some(&(strand, before)) = self.within.last()
            && strand == coroutine
        {
            self.within.pop();
            self.strand = before;
        }
    }
}
