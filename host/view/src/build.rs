//! From any number of calls to as many as a page can show.

use crate::cells::{Cells, Key, Sum};
use crate::kept::{Kept, Lasts};
use crate::model::{
    Call, Data, Event, Function, Group, Head, Held, Pause, Process, Run, Strand, StrandKind, Total,
    Why,
};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// How much a page may hold.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Calls that are kept one by one.
    pub calls: usize,
    /// Pauses, and runs, likewise.
    pub pauses: usize,
    /// Strands that are listed.
    pub strands: usize,
    /// Rows of sums: with more strands than this, all but threads are summed up by group.
    pub rows: usize,
    /// Sums of each kind.
    pub cells: usize,
    /// Marks and gaps.
    pub events: usize,
}

impl Default for Limits {
    /// For some five to eight megabytes.
    fn default() -> Self {
        Limits {
            calls: 250_000,
            pauses: 200_000,
            strands: 50_000,
            rows: 512,
            cells: 100_000,
            events: 20_000,
        }
    }
}

impl Lasts for Call {
    fn duration(&self) -> u64 {
        self.exit - self.enter
    }
}

impl Lasts for Pause {
    fn duration(&self) -> u64 {
        self.to - self.from
    }
}

impl Lasts for Run {
    fn duration(&self) -> u64 {
        self.to - self.from
    }
}

/// Takes a trace: first its strands ([`Builder::new`]), then the rest in any order. The result does
/// not depend on that order, and memory does not grow with the number of calls.
#[derive(Debug)]
pub struct Builder {
    head: Head,
    processes: Vec<Process>,
    strands: Vec<(Strand, u32)>,
    groups: Vec<Group>,
    /// By process and number: where a strand is.
    places: Vec<Vec<u32>>,
    /// Where further rows of strands are.
    further: FxHashMap<(usize, u64), u32>,
    /// Whether each strand has a row of sums of its own.
    rows_of_strands: bool,
    functions: Vec<(Function, Total)>,
    known_functions: FxHashMap<Function, u32>,
    texts: Vec<String>,
    known_texts: FxHashMap<String, u32>,
    calls: Sums<Call>,
    pauses: Sums<Pause>,
    /// Those that had not ended when the trace did: one a strand.
    open: Vec<(Pause, u64)>,
    cuts: Cuts,
    runs: Sums<Run>,
    events: Vec<Event>,
    more_events: u64,
    most_events: usize,
    end: u64,
}

/// Places of strands that are not listed are groups' from here on.
pub(crate) const GROUP: u32 = 1 << 31;
/// Nothing is known of a strand.
const NONE: u32 = u32::MAX;

/// What is kept of one kind, and what is summed up.
#[derive(Debug)]
struct Sums<T> {
    kept: Kept<T>,
    cells: Cells,
    summed: Total,
}

/// In which cell a thing is.
struct Place {
    key: Key,
    /// When it begins.
    time: u64,
    /// How long it took itself.
    own: u64,
    /// Whether it is a call that did not return.
    cut: bool,
    /// Where its end is counted, if it is: as what, and when.
    end: Option<(u32, u64)>,
}

/// Cells of pauses count in this order, by why: those that begin, those that end; then strands that
/// are not listed, and such that die. So their sums up to a time say how many there are then, and
/// columns may be narrower than what they count lasts.
const ENDS: u32 = 8;
const BIRTHS: u32 = 16;
const DEATHS: u32 = 17;

/// By listed strand whose calls had not ended when the trace did: up to when these are timed.
#[derive(Debug, Default)]
struct Cuts(FxHashMap<u32, u64>);

impl Cuts {
    #[inline]
    fn note(&mut self, call: &Call) {
        if call.open && call.strand < GROUP {
            let cut = self.0.entry(call.strand).or_default();
            *cut = call.exit.max(*cut);
        }
    }

    fn join(&mut self, other: Cuts) {
        for (strand, more) in other.0 {
            let cut = self.0.entry(strand).or_default();
            *cut = more.max(*cut);
        }
    }

    /// 0 of a strand that has no such call, or is not listed.
    fn of(&self, strand: u32) -> u64 {
        self.0.get(&strand).copied().unwrap_or(0)
    }
}

impl<T: Lasts> Sums<T> {
    fn new(most: usize, cells: usize) -> Self {
        Sums {
            kept: Kept::new(most),
            cells: Cells::new(cells, 10),
            summed: Total::default(),
        }
    }

    /// `key`: in which cell it is, when it begins, and how long it took itself.
    #[inline]
    fn add(&mut self, item: T, keeps: bool, key: impl Fn(&T) -> Place) {
        let (cells, summed) = (&mut self.cells, &mut self.summed);
        let mut short = |item: &T| sum_up(item, cells, summed, &key);
        match keeps {
            true => self.kept.add(item, &mut short),
            false => short(&item),
        }
    }

    fn finish(mut self, narrow: bool, key: impl Fn(&T) -> Place) -> Held<T> {
        let (cells, summed) = (&mut self.cells, &mut self.summed);
        let mut short = |item: &T| sum_up(item, cells, summed, &key);
        let (kept, threshold) = self.kept.finish(&mut short);
        let (cells, shift) = self.cells.finish(if narrow { 0 } else { threshold });
        Held {
            kept,
            threshold,
            summed: self.summed,
            cells,
            shift,
        }
    }
}

fn sum_up<T: Lasts>(item: &T, cells: &mut Cells, summed: &mut Total, key: &impl Fn(&T) -> Place) {
    let Place {
        key,
        time,
        own,
        cut,
        end,
    } = key(item);
    let duration = item.duration();
    summed.add(duration, own, !cut);
    cells.add(key, time, Sum::of(duration, own, cut));
    if let Some((what, time)) = end {
        cells.add(Key { what, ..key }, time, Sum::of(0, 0, false));
    }
}

impl Builder {
    /// For these strands. Beyond `limits.strands` the threads, and then those are listed that were
    /// suspended or ran longest; the others are in their groups.
    pub fn new(
        head: Head,
        processes: Vec<Process>,
        mut strands: Vec<Strand>,
        limits: &Limits,
    ) -> Self {
        strands.sort_by_key(|strand| (strand.process, strand.number));
        let listed = listed(&strands, limits.strands);
        let mut groups: Vec<Group> = Vec::new();
        let mut known: FxHashMap<(usize, StrandKind, String), u32> = FxHashMap::default();
        let mut places = vec![Vec::new(); processes.len()];
        let mut further = FxHashMap::default();
        let mut kept = Vec::new();
        let mut pauses = Sums::new(limits.pauses, limits.cells);
        let (all, rows) = (
            strands.len(),
            listed.iter().filter(|&&listed| listed).count(),
        );
        let mut group = 0;
        for (strand, listed) in strands.into_iter().zip(listed) {
            // Mostly it is that of the strand before.
            let same = |group: &Group| {
                (group.process, group.kind) == (strand.process, strand.kind)
                    && group.name == strand.name
            };
            if !groups.get(group as usize).is_some_and(same) {
                let key = (strand.process, strand.kind, strand.name.clone());
                group = *known.entry(key).or_insert_with(|| {
                    groups.push(Group {
                        process: strand.process,
                        kind: strand.kind,
                        name: strand.name.clone(),
                        further: strand.is_further(),
                        strands: 0,
                        listed: 0,
                        running: 0,
                        suspended: 0,
                        calls: 0,
                    });
                    groups.len() as u32 - 1
                });
            }
            let sum = &mut groups[group as usize];
            sum.strands += 1;
            sum.listed += u64::from(listed);
            sum.running += strand.running;
            sum.suspended += strand.suspended;
            sum.calls += strand.calls;
            let place = match listed {
                true => kept.len() as u32,
                false => GROUP + group,
            };
            if strand.is_further() {
                further.insert((strand.process, strand.number), place);
            } else if let Some(places) = places.get_mut(strand.process) {
                let number = strand.number as usize;
                if places.len() <= number {
                    places.resize(number + 1, NONE);
                }
                places[number] = place;
            }
            if listed {
                kept.push((strand, group));
                continue;
            }
            let mut count = |what, time| {
                let key = Key {
                    row: rows as u32 + group,
                    depth: 0,
                    column: 0,
                    what,
                };
                pauses.cells.add(key, time, Sum::of(0, 0, false));
            };
            count(BIRTHS, strand.born);
            if let Some(died) = strand.died {
                count(DEATHS, died);
            }
        }
        let mut builder = Builder {
            head,
            processes,
            rows_of_strands: all <= limits.rows,
            strands: kept,
            groups,
            places,
            further,
            functions: Vec::new(),
            known_functions: FxHashMap::default(),
            texts: Vec::new(),
            known_texts: FxHashMap::default(),
            calls: Sums::new(limits.calls, limits.cells),
            pauses,
            open: Vec::new(),
            cuts: Cuts::default(),
            runs: Sums::new(limits.pauses, limits.cells),
            events: Vec::new(),
            more_events: 0,
            most_events: limits.events,
            end: 0,
        };
        builder.text("");
        let ends = |(strand, _): &(Strand, u32)| strand.died.unwrap_or(strand.born);
        builder.end = builder.strands.iter().map(ends).max().unwrap_or(0);
        builder
    }

    /// The strand of this number in its process, for the things that happen on it; `None`: it is
    /// not known.
    #[inline]
    pub fn find(&self, process: usize, number: u64) -> Option<u32> {
        if number > u32::MAX.into() {
            return self.further.get(&(process, number)).copied();
        }
        let place = *self.places.get(process)?.get(number as usize)?;
        Some(place).filter(|&place| place != NONE)
    }

    /// A function's index. A clone, or an address in another load of its module, is the same.
    pub fn function(&mut self, function: Function) -> u32 {
        if let Some(&known) = self.known_functions.get(&function) {
            return known;
        }
        let index = self.functions.len() as u32;
        self.functions.push((function.clone(), Total::default()));
        self.known_functions.insert(function, index);
        index
    }

    /// A text's index; 0 of the empty one.
    pub fn text(&mut self, text: &str) -> u32 {
        if text.is_empty() && !self.texts.is_empty() {
            return 0;
        }
        if let Some(&known) = self.known_texts.get(text) {
            return known;
        }
        let index = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.known_texts.insert(text.to_owned(), index);
        index
    }

    /// Takes a call.
    #[inline]
    pub fn call(&mut self, call: Call) {
        self.end = self.end.max(call.exit);
        if let Some((_, total)) = self.functions.get_mut(call.function as usize) {
            total.add(call.duration(), call.own, call.returned);
        }
        self.cuts.note(&call);
        let row = Rows::of(&self.strands, self.rows_of_strands);
        self.calls
            .add(call, call.strand < GROUP, |call| row.of_call(call));
    }

    /// Takes a pause; one that is open lasts until `to`, or, if that is `u64::MAX`, until the trace
    /// ends.
    /// For so much of it, `called`, its thread ran calls of a signal's handler: they are callees of
    /// the function that waits.
    pub fn pause(&mut self, pause: Pause, called: u64) {
        if pause.open {
            let known = Some(pause.to).filter(|&to| to < u64::MAX);
            self.end = self.end.max(known.unwrap_or(pause.from));
            self.open.push((pause, called));
            return;
        }
        self.end = self.end.max(pause.to);
        // A call that had not ended is timed up to its thread's last event, and a wait within it
        // may go on behind that.
        let to = match self.cuts.of(pause.strand) {
            0 => pause.to,
            cut => cut.min(pause.to),
        };
        self.waited(&pause, to, called);
        let row = Rows::of(&self.strands, self.rows_of_strands);
        self.pauses
            .add(pause, pause.strand < GROUP, |pause| row.of_pause(pause));
    }

    /// Adds to what its function's calls waited themselves: up to then.
    fn waited(&mut self, pause: &Pause, to: u64, called: u64) {
        let function = pause.function.filter(|_| pause.why != Why::Suspended);
        let function = function.and_then(|function| self.functions.get_mut(function as usize));
        if let Some((_, total)) = function {
            let waited = to.saturating_sub(pause.from);
            total.waited += waited.saturating_sub(called);
        }
    }

    /// Takes a run.
    pub fn run(&mut self, run: Run) {
        self.end = self.end.max(run.to);
        let row = Rows::of(&self.strands, self.rows_of_strands);
        self.runs
            .add(run, run.strand < GROUP, |run| row.of_run(run));
    }

    /// Takes a mark or gap.
    pub fn event(&mut self, event: Event) {
        self.end = self.end.max(event.time);
        if self.events.len() < self.most_events && event.strand < GROUP {
            self.events.push(event);
        } else {
            self.more_events += 1;
        }
    }

    /// What a page shows of it.
    pub fn finish(mut self) -> Data {
        for (mut pause, called) in std::mem::take(&mut self.open) {
            pause.to = pause.to.min(self.end).max(pause.from);
            // The call is timed up to its thread's last event, and so is its wait.
            let to = self.cuts.of(pause.strand).min(pause.to);
            self.waited(&pause, to, called);
            let row = Rows::of(&self.strands, self.rows_of_strands);
            self.pauses
                .add(pause, pause.strand < GROUP, |pause| row.of_pause(pause));
        }
        let row = Rows::of(&self.strands, self.rows_of_strands);
        let mut calls = self.calls.finish(false, |call| row.of_call(call));
        let mut pauses = self.pauses.finish(true, |pause| row.of_pause(pause));
        let mut runs = self.runs.finish(false, |run| row.of_run(run));
        let key = |call: &Call| {
            (
                call.strand,
                call.depth,
                call.enter,
                call.exit,
                call.function,
                // Such that last no time may be alike so far; they come in any order.
                (call.site, call.thread, call.own, call.open, call.returned),
            )
        };
        calls.kept.sort_unstable_by_key(key);
        pauses
            .kept
            .sort_unstable_by_key(|pause| (pause.strand, pause.from, pause.to));
        runs.kept
            .sort_unstable_by_key(|run| (run.thread, run.from, run.to, run.strand, run.by));
        Data {
            head: self.head,
            processes: self.processes,
            strands: self.strands,
            groups: self.groups,
            functions: self.functions,
            texts: self.texts,
            calls,
            pauses,
            runs,
            events: self.events,
            more_events: self.more_events,
            begin: 0,
            end: self.end,
        }
    }
}

/// Which rows sums are in: below the number of listed strands a strand's, else a group's.
#[derive(Clone, Copy)]
struct Rows<'a> {
    strands: &'a [(Strand, u32)],
    of_strands: bool,
}

impl<'a> Rows<'a> {
    fn of(strands: &'a [(Strand, u32)], of_strands: bool) -> Self {
        Rows {
            strands,
            of_strands,
        }
    }

    #[inline]
    fn row(&self, place: u32) -> u32 {
        let listed = self.strands.len() as u32;
        if place >= GROUP {
            return listed + (place - GROUP);
        }
        match self.strands.get(place as usize) {
            Some((strand, group)) if !self.of_strands && strand.kind != StrandKind::Thread => {
                listed + group
            }
            _ => place,
        }
    }

    fn group(&self, place: u32) -> u32 {
        match place >= GROUP {
            true => place - GROUP,
            false => self
                .strands
                .get(place as usize)
                .map_or(0, |(_, group)| *group),
        }
    }

    #[inline]
    fn of_call(&self, call: &Call) -> Place {
        let key = Key {
            row: self.row(call.strand),
            depth: call.depth,
            column: 0,
            what: call.function,
        };
        Place {
            key,
            time: call.enter,
            own: call.own,
            cut: !call.returned,
            end: None,
        }
    }

    fn of_pause(&self, pause: &Pause) -> Place {
        let key = Key {
            row: self.row(pause.strand),
            depth: 0,
            column: 0,
            what: pause.why as u32,
        };
        Place {
            key,
            time: pause.from,
            own: 0,
            cut: false,
            end: Some((key.what + ENDS, pause.to)),
        }
    }

    /// Runs are summed up by the thread that runs them.
    fn of_run(&self, run: &Run) -> Place {
        let key = Key {
            row: self.row(run.thread),
            depth: 0,
            column: 0,
            what: self.group(run.strand),
        };
        Place {
            key,
            time: run.from,
            own: 0,
            cut: false,
            end: None,
        }
    }
}

/// Which are listed: all, or the threads and then the ones that were suspended longest, and half as
/// many of those that ran longest.
fn listed(strands: &[Strand], most: usize) -> Vec<bool> {
    if strands.len() <= most {
        return vec![true; strands.len()];
    }
    let mut listed = vec![false; strands.len()];
    let mut left = most;
    for (listed, strand) in listed.iter_mut().zip(strands) {
        if strand.kind == StrandKind::Thread && left > 0 {
            *listed = true;
            left -= 1;
        }
    }
    let mut take = |share: usize, time: fn(&Strand) -> u64| {
        let others = (0..strands.len()).filter(|&index| !listed[index]);
        let key = |index| (Reverse(time(&strands[index])), index);
        let mut order: Vec<(Reverse<u64>, usize)> = others.map(key).collect();
        let share = share.min(left);
        if share < order.len() {
            order.select_nth_unstable(share);
            order.truncate(share);
        }
        left -= order.len();
        for (_, index) in order {
            listed[index] = true;
        }
    };
    take(most / 3, |strand| strand.running);
    take(most, |strand| strand.suspended);
    listed
}

mod share;
pub use share::Share;

#[cfg(test)]
mod tests;
