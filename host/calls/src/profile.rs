//! Calls and times per function.

use crate::joining::Joining;
use crate::{End, Frame, Key, Loose, SoFar, Span, Variants, Workers, divided};
use heddle_trace_file::{Addr, Error, Event, Modules, Nanos, Remarks, Thread};

/// The calls of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// How many.
    pub calls: u64,
    /// The time during which at least one call was open, callees included: a recursive call's time
    /// is its outermost call's, counted once. Over several threads, the sum of theirs.
    pub total: Nanos,
    /// The time not spent in instrumented callees.
    pub own: Nanos,
    /// How many of them returned. What was cut off, by `longjmp` or by the end of the program, has
    /// no duration of its own: it counts in `calls`, `total` and `own` alone.
    pub returned: u64,
    /// How many of them had their coroutine's frame captured.
    pub frames: u64,
    /// The shortest duration of the calls that returned; `u64::MAX` while there is none.
    shortest: Nanos,
    /// The longest duration of the calls that returned.
    longest: Nanos,
    /// The sum of the durations of the calls that returned, recursive ones included.
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

    /// The average duration of the calls that returned, callees included; of a recursive function,
    /// over inner calls too.
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

/// A thread that is to be read.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The thread.
    pub thread: &'a Thread,
    /// The modules of its process.
    pub modules: &'a Modules,
    /// The enters of the calls, outermost first, that were open before its first event: those in
    /// which its process was forked.
    pub before: &'a [Event<'static>],
    /// Which functions of its process are one.
    pub variants: &'a Variants,
}

impl<'a> Source<'a> {
    /// A thread that began with no open call, as far as is known.
    pub fn new(thread: &'a Thread, modules: &'a Modules) -> Self {
        Source {
            thread,
            modules,
            before: &[],
            variants: Variants::none(),
        }
    }
}

/// Which threads are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Each, as if it had one stack.
    All,
    /// Those that run no fibers ([`Profile::may_have_fibers`]) and never leave their own stack
    /// ([`Profile::elsewhere`]): a fiber's calls may nest in the thread's by time, and the thread's
    /// time while it is suspended would be the fiber's. A coroutine's calls are on the stack of the
    /// call that resumed it.
    OneStack,
    /// The same, but those alone that run no coroutine whose frame was captured.
    OneStrand,
}

/// Is shown, now and then and from several workers, the index of a thread that is being read, and
/// how far it is.
pub type Watch<'a> = &'a (dyn Fn(usize, &SoFar<'_, '_>) + Sync);

/// What one thread's events say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Every function called, in the order of first calls.
    pub functions: Vec<(Key, Stats)>,
    /// What did not pair up.
    pub loose: Loose,
    /// Enters and exits read.
    pub events: u64,
    /// What else is to be said about the thread's events.
    pub remarks: Remarks,
    /// Whether these may be the calls of several fibers: see
    /// [`Stack::may_have_fibers`](crate::Stack::may_have_fibers).
    pub may_have_fibers: bool,
    /// Whether a call was entered on another stack than the thread's own: see
    /// [`Stack::was_elsewhere`](crate::Stack::was_elsewhere).
    pub elsewhere: bool,
    /// When its latest event was.
    pub last: Nanos,
    /// The calls that were open at the end, outermost first.
    pub open: Vec<Frame>,
    /// The call site of the call that ended last, if that was the latest event: see
    /// [`Stack::latest_site`](crate::Stack::latest_site).
    pub latest_site: Option<Addr>,
}

impl Profile {
    /// Reads a whole thread. Memory is of the size of its deepest stack and the number of its
    /// functions.
    ///
    /// # Errors
    /// What the thread's iterator gives.
    pub fn of(thread: &Thread, modules: &Modules) -> Result<Self, Error> {
        let mut joining = Joining::new(Source::new(thread, modules));
        joining.walk_all(|_| true);
        joining.finish()
    }

    /// Reads these threads; one profile a thread, in their order, and the same as [`Profile::of`].
    /// A thread that has more than its share of the events is read by all workers at once. Memory
    /// is that of so many threads as there are workers.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), heddle_trace_file::Error> {
    /// use heddle_calls::{Profile, Source, Workers};
    ///
    /// let trace = heddle_trace_file::Trace::open("heddle.trace".as_ref())?;
    /// let process = &trace.processes()[0];
    /// let source = |thread| Source::new(thread, process.modules());
    /// let threads: Vec<_> = process.threads().iter().map(source).collect();
    /// let profiles = Profile::of_all(&threads, Workers::all())?;
    /// println!("{} events", profiles.iter().map(|profile| profile.events).sum::<u64>());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What a thread's iterator gives.
    pub fn of_all(threads: &[Source<'_>], workers: Workers) -> Result<Vec<Self>, Error> {
        let profiles = divided::profiles(threads, workers, Wanted::All, None)?;
        Ok(profiles.into_iter().flatten().collect())
    }

    /// The same of those threads alone that are wanted: `None`, early, of each other one.
    ///
    /// # Errors
    /// What a thread's iterator gives.
    pub fn of_wanted(
        threads: &[Source<'_>],
        workers: Workers,
        wanted: Wanted,
    ) -> Result<Vec<Option<Self>>, Error> {
        divided::profiles(threads, workers, wanted, None)
    }

    /// The same, while `watch` is shown how far each thread is.
    ///
    /// # Errors
    /// What a thread's iterator gives.
    pub fn of_watched(
        threads: &[Source<'_>],
        workers: Workers,
        wanted: Wanted,
        watch: Option<Watch<'_>>,
    ) -> Result<Vec<Option<Self>>, Error> {
        divided::profiles(threads, workers, wanted, watch)
    }
}
