//! Calls and times per function.

use crate::{End, Functions, Key, Loose, Span, Stack, Step};
use heddle_trace_file::{Error, EventKind, Modules, Nanos, Remarks, Thread};

/// The calls of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// How many.
    pub calls: u64,
    /// The time during which at least one call was open, callees included: a recursive call's time is its outermost call's, counted once.
    /// Over several threads, the sum of theirs.
    pub total: Nanos,
    /// The time not spent in traced callees.
    pub own: Nanos,
    /// How many of them returned. What was cut off, by `longjmp` or by the end of the program, has no duration of its own:
    /// it counts in `calls`, `total` and `own` alone.
    pub returned: u64,
    /// How many of them had their coroutine's frame captured.
    pub frames: u64,
    /// Of those that returned; `u64::MAX` while there is none.
    shortest: Nanos,
    /// Of those that returned.
    longest: Nanos,
    /// Durations of those that returned, recursive ones too.
    sum: u128,
}

impl Default for Stats {
    /// No call.
    fn default() -> Self {
        Stats {
            calls: 0,
            total: Nanos(0),
            own: Nanos(0),
            returned: 0,
            frames: 0,
            shortest: Nanos(u64::MAX),
            longest: Nanos(0),
            sum: 0,
        }
    }
}

impl Stats {
    /// The shortest call that returned, callees included.
    pub fn min(&self) -> Option<Nanos> {
        (self.returned > 0).then_some(self.shortest)
    }

    /// The longest call that returned, callees included.
    pub fn max(&self) -> Option<Nanos> {
        (self.returned > 0).then_some(self.longest)
    }

    /// The average duration of the calls that returned, callees included; of a recursive function, over inner calls too.
    pub fn avg(&self) -> Option<Nanos> {
        let avg = self.sum.checked_div(self.returned.into())?;
        u64::try_from(avg).ok().map(Nanos)
    }

    /// Adds the calls of another thread, or of another address of the same function.
    pub fn merge(&mut self, other: &Stats) {
        self.calls += other.calls;
        self.total.0 = self.total.0.saturating_add(other.total.0);
        self.own.0 = self.own.0.saturating_add(other.own.0);
        self.returned += other.returned;
        self.frames += other.frames;
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
        self.sum += other.sum;
    }

    /// Adds a call; `outermost`: no other call of the function is open around it.
    #[inline]
    pub fn add(&mut self, span: &Span, outermost: bool) {
        let duration = span.duration();
        self.calls += 1;
        self.own.0 = self.own.0.saturating_add(span.own().0);
        if span.end == End::Returned {
            self.returned += 1;
            self.shortest = self.shortest.min(duration);
            self.longest = self.longest.max(duration);
            self.sum += u128::from(duration.0);
        }
        if outermost {
            self.total.0 = self.total.0.saturating_add(duration.0);
        }
    }
}

/// What one thread's events say.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Every function called, in the order of first calls.
    pub functions: Vec<(Key, Stats)>,
    /// What did not pair up.
    pub loose: Loose,
    /// Enters and exits read.
    pub events: u64,
    /// What else is to be said about the thread's events.
    pub remarks: Remarks,
    /// Whether these may be the calls of several fibers: see [`Stack::may_have_fibers`].
    pub may_have_fibers: bool,
}

impl Profile {
    /// Reads a whole thread. Memory is of the size of its deepest stack and the number of its functions.
    ///
    /// # Errors
    /// What the thread's iterator gives.
    pub fn of(thread: &Thread, modules: &Modules) -> Result<Self, Error> {
        let mut functions = Functions::default();
        let mut stats: Vec<Stats> = Vec::new();
        // Open calls by function: the call that takes it to 0 is the outermost.
        let mut open: Vec<u32> = Vec::new();
        let mut stack = Stack::new(thread.stack());
        let mut events = thread.events();
        let mut count = 0;
        let close =
            |span: Span, functions: &mut Functions, stats: &mut [Stats], open: &mut [u32]| {
                // The generation in which it was entered: that is the key it was opened with.
                let key = Key {
                    address: span.function,
                    generation: modules.generation(span.enter),
                };
                let id = functions.id(key).0 as usize;
                open[id] -= 1;
                stats[id].add(&span, open[id] == 0);
            };
        for event in events.by_ref() {
            let event = event?;
            if let EventKind::Enter {
                function, frame, ..
            } = event.kind
            {
                let id = functions
                    .id(Key {
                        address: function,
                        generation: modules.generation(event.time),
                    })
                    .0 as usize;
                if id == stats.len() {
                    stats.push(Stats::default());
                    open.push(0);
                }
                open[id] += 1;
                stats[id].frames += u64::from(frame.is_some());
            }
            let step = stack.feed(event, |span| {
                close(span, &mut functions, &mut stats, &mut open)
            });
            count += u64::from(step != Step::Other);
        }
        stack.finish(|span| close(span, &mut functions, &mut stats, &mut open));
        let functions = functions.keys().iter().copied().zip(stats).collect();
        Ok(Profile {
            functions,
            loose: stack.loose(),
            events: count,
            remarks: events.remarks(),
            may_have_fibers: stack.may_have_fibers(),
        })
    }
}
