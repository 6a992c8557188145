//! What one of several workers takes of a trace's calls and runs.

use super::{Builder, Cuts, GROUP, Place, Rows, Sums, sum_up};
use crate::Limits;
use crate::kept::Lasts;
use crate::model::{Call, Run, Total};

/// Calls and runs that one worker takes, of the strands and functions of a [`Builder`].
#[derive(Debug)]
pub struct Share {
    calls: Sums<Call>,
    runs: Sums<Run>,
    /// By index of the function.
    totals: Vec<Total>,
    cuts: Cuts,
    end: u64,
}

impl Share {
    /// Of nothing yet. It keeps as many as the builder that it is a share of.
    pub fn new(limits: &Limits) -> Self {
        Share {
            calls: Sums::new(limits.calls, limits.cells),
            runs: Sums::new(limits.pauses, limits.cells),
            totals: Vec::new(),
            cuts: Cuts::default(),
            end: 0,
        }
    }

    /// Takes a call, whose site is asked for only if it may be kept.
    #[inline]
    pub fn call(&mut self, builder: &Builder, mut call: Call, site: impl FnOnce() -> u32) {
        self.end = self.end.max(call.exit);
        let duration = call.duration();
        let function = call.function as usize;
        if function >= self.totals.len() {
            self.totals.resize(function + 1, Total::default());
        }
        self.totals[function].add(duration, call.own, call.returned);
        self.cuts.note(&call);
        let rows = Rows::of(&builder.strands, builder.rows_of_strands);
        let Sums {
            kept,
            cells,
            summed,
        } = &mut self.calls;
        let key = |call: &Call| rows.of_call(call);
        if call.strand < GROUP && kept.is_short(duration) {
            kept.count(duration);
            return sum_up(&call, cells, summed, &key);
        }
        call.site = site();
        self.calls.add(call, call.strand < GROUP, key);
    }

    /// Takes a run.
    #[inline]
    pub fn run(&mut self, builder: &Builder, run: Run) {
        self.end = self.end.max(run.to);
        let rows = Rows::of(&builder.strands, builder.rows_of_strands);
        let key = |run: &Run| rows.of_run(run);
        self.runs.add(run, run.strand < GROUP, key);
    }
}

impl<T: Lasts> Sums<T> {
    /// Takes what another one has taken.
    fn join(&mut self, other: Sums<T>, key: impl Fn(&T) -> Place) {
        self.summed.join(&other.summed);
        self.cells.join(other.cells);
        let (cells, summed) = (&mut self.cells, &mut self.summed);
        let mut short = |item: &T| sum_up(item, cells, summed, &key);
        self.kept.join(other.kept, &mut short);
    }
}

impl Builder {
    /// Takes what a worker took; `site` says which text the number stands for by which the worker
    /// told a call's site. The result is the same as if this had taken all itself.
    pub fn join(&mut self, share: Share, mut site: impl FnMut(&mut Self, u32) -> u32) {
        self.end = self.end.max(share.end);
        for ((_, total), more) in self.functions.iter_mut().zip(&share.totals) {
            total.join(more);
        }
        self.cuts.join(share.cuts);
        let mut calls = share.calls;
        let kept = &mut calls.kept;
        kept.each(|call| call.site = site(self, call.site));
        let rows = Rows::of(&self.strands, self.rows_of_strands);
        self.calls.join(calls, |call| rows.of_call(call));
        self.runs.join(share.runs, |run| rows.of_run(run));
    }
}
