//! Calls and times per function, as calls begin and end.

use crate::{FunctionId, Functions, Key, Span, Stats, Variants};
use heddle_trace_file::{Addr, Modules, Nanos};

/// The functions called so far, and the calls that are open.
#[derive(Clone, Debug)]
pub(crate) struct Tally<'a> {
    modules: &'a Modules,
    functions: Functions<'a>,
    stats: Vec<Stats>,
    /// By function: open calls. The one that takes it to 0 is the outermost.
    open: Vec<u32>,
    /// The functions of the open calls, outermost first.
    calls: Vec<FunctionId>,
    /// Functions of which something is known.
    touched: Vec<FunctionId>,
    /// A coroutine's frame was captured.
    captured: bool,
}

/// What is known of functions, by number, since the last time.
pub(crate) type Sums = Vec<(FunctionId, Stats)>;

impl<'a> Tally<'a> {
    /// No call yet.
    pub fn new(modules: &'a Modules, variants: &'a Variants) -> Self {
        Tally {
            modules,
            functions: Functions::merging(modules, variants),
            stats: Vec::new(),
            open: Vec::new(),
            calls: Vec::new(),
            touched: Vec::new(),
            captured: false,
        }
    }

    fn id(&mut self, key: Key) -> FunctionId {
        let id = self.functions.id(key);
        if id.0 as usize == self.stats.len() {
            self.stats.push(Stats::default());
            self.open.push(0);
        }
        id
    }

    /// A call begins inside the one that began last, of those that are open.
    #[inline]
    pub fn enter(&mut self, function: Addr, time: Nanos, captured: bool) {
        let id = self.id(Key {
            address: function,
            generation: self.modules.generation(time),
        });
        self.calls.push(id);
        self.open[id.0 as usize] += 1;
        if captured {
            self.captured = true;
            self.touch(id).frames += 1;
        }
    }

    /// The innermost call ends.
    #[inline]
    pub fn leave(&mut self, span: &Span) {
        let Some(id) = self.calls.pop() else { return };
        let open = &mut self.open[id.0 as usize];
        *open -= 1;
        let outermost = *open == 0;
        self.touch(id).add(span, outermost);
    }

    #[inline]
    fn touch(&mut self, id: FunctionId) -> &mut Stats {
        let stats = &mut self.stats[id.0 as usize];
        if stats.calls == 0 && stats.frames == 0 {
            self.touched.push(id);
        }
        stats
    }

    /// Functions with calls that have ended.
    pub fn so_far(&self) -> Vec<(Key, Stats)> {
        let all = self
            .functions
            .keys()
            .iter()
            .copied()
            .zip(self.stats.iter().copied());
        all.filter(|(_, stats)| stats.calls > 0).collect()
    }

    /// Begins anew, with nothing open, but with the same numbers of functions: puts what is known
    /// of functions behind `sums`, and the functions of the open calls behind `open`.
    pub fn take(&mut self, sums: &mut Sums, open: &mut Vec<FunctionId>) {
        for id in self.touched.drain(..) {
            sums.push((id, std::mem::take(&mut self.stats[id.0 as usize])));
        }
        for id in &self.calls {
            self.open[id.0 as usize] = 0;
        }
        open.append(&mut self.calls);
    }

    /// The numbers that the functions of another have here; new ones come behind, in their order.
    pub fn numbers(&mut self, keys: &[Key]) -> Vec<FunctionId> {
        keys.iter().map(|&key| self.id(key)).collect()
    }

    /// Adds what another took ([`Tally::take`]) of calls inside those that are open here.
    /// `numbers`: its functions' here.
    pub fn put(
        &mut self,
        numbers: &[FunctionId],
        sums: &[(FunctionId, Stats)],
        open: &[FunctionId],
    ) {
        for (id, stats) in sums {
            let id = numbers[id.0 as usize];
            let mut stats = *stats;
            self.captured |= stats.frames > 0;
            if self.open[id.0 as usize] > 0 {
                // The time is an outer call's.
                stats.total = Nanos(0);
            }
            self.touch(id).merge(&stats);
        }
        for id in open {
            let id = numbers[id.0 as usize];
            self.open[id.0 as usize] += 1;
            self.calls.push(id);
        }
    }

    /// Whether a coroutine's frame was captured.
    pub fn captured(&self) -> bool {
        self.captured
    }

    /// The functions met, in the order of first calls.
    pub fn keys(&self) -> &[Key] {
        self.functions.keys()
    }

    /// Each with what is known of it.
    pub fn finish(self) -> Vec<(Key, Stats)> {
        let keys = self.functions.keys().iter().copied();
        keys.zip(self.stats).collect()
    }
}
