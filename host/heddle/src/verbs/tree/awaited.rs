//! Who awaits a coroutine whose library runs it from a loop, and not by a jump from the one that
//! awaits it: Boost.Asio's `awaitable`.

use heddle_strands::{Call, StrandId, StrandSpan};
use heddle_trace_file::{Addr, Nanos};
use rustc_hash::FxHashMap;

/// A call of Asio's function that resumes the top of a stack of coroutines, for as long as that can
/// go on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Pump {
    strand: StrandId,
    enter: Nanos,
}

/// What a thread does.
#[derive(Default)]
struct OnThread {
    pumps: Vec<Pump>,
    /// The strand that was suspended last, and the pump's call that ran it, until another is
    /// resumed.
    left: Option<(StrandId, Pump)>,
}

/// Tells who awaits one coroutine.
///
/// A coroutine of Asio that awaits another puts it on top of its stack and is suspended, and the
/// pump's call that ran it resumes the top at once. So what that call resumes next is what was
/// awaited, if it was recorded. The coroutine's maker is asked for, too, because one that was not
/// recorded may have run in between.
#[derive(Default)]
pub struct Awaited {
    threads: FxHashMap<usize, OnThread>,
    /// Whether this function is such a pump.
    known: FxHashMap<Addr, bool>,
    by: Option<StrandId>,
}

impl Awaited {
    /// Who awaits it, as far as is known.
    pub fn by(&self) -> Option<StrandId> {
        self.by
    }

    /// A call begins; `name` gives its function's.
    pub fn enter(&mut self, call: &Call, name: impl FnOnce() -> bool) {
        let is_pump = *self.known.entry(call.function).or_insert_with(name);
        if is_pump {
            let on = self.threads.entry(call.thread).or_default();
            on.pumps.push(Pump {
                strand: call.strand,
                enter: call.enter,
            });
        }
    }

    /// A call ends.
    pub fn leave(&mut self, span: &StrandSpan) {
        let Some(on) = self.threads.get_mut(&span.thread) else {
            return;
        };
        let ended = Pump {
            strand: span.strand,
            enter: span.span.enter,
        };
        if let Some(at) = on.pumps.iter().rposition(|&pump| pump == ended) {
            on.pumps.truncate(at);
        }
    }

    /// A strand does not run any more.
    pub fn suspended(&mut self, strand: StrandId, thread: usize) {
        if let Some(on) = self.threads.get_mut(&thread) {
            on.left = on.pumps.last().map(|&pump| (strand, pump));
        }
    }

    /// A strand runs. `maker`: of the coroutine that is asked for, if it is that.
    pub fn resumed(&mut self, thread: usize, maker: Option<StrandId>) {
        let Some(on) = self.threads.get_mut(&thread) else {
            return;
        };
        let left = on.left.take();
        let by = left.filter(|(_, pump)| on.pumps.last() == Some(pump));
        let by = by.map(|(strand, _)| strand);
        if self.by.is_none() && maker.is_some() && by == maker {
            self.by = by;
        }
    }

    /// Calls of this thread do not fit together.
    pub fn doubt(&mut self, thread: usize) {
        self.threads.remove(&thread);
    }
}

/// Whether a function of this name is Asio's pump of coroutines.
pub fn is_pump(name: &str) -> bool {
    name.contains("asio::detail::awaitable_thread<") && name.ends_with("::pump()")
}
