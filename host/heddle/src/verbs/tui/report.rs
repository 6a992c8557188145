//! Functions, and where they are in the source.

use crate::filter::FilterArgs;
use crate::names::{Length, Names, printable};
use crate::verbs::report::row::{By, Column, Row, sort, tell_apart};
use crate::verbs::report::rows::{self, Rows};
use crate::verbs::view::pieces::Places;
use heddle_calls::{Key, Stats};
use heddle_trace_file::Trace;
use heddle_tui::{Function, Place};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Reads the trace once, or as often as the filter asks for. `told` is given what the calls come to
/// that have been read so far, and `places` notes where threads can be read from.
///
/// # Errors
/// What that gives.
pub fn read(
    trace: &Trace,
    length: Length,
    filter: &FilterArgs,
    places: &Places,
    told: impl Fn(Vec<Function>) + Sync,
) -> anyhow::Result<(Rows, Vec<Function>)> {
    let so_far = SoFar::default();
    let mut found = thread::scope(|scope| {
        scope.spawn(|| so_far.tell(trace, length, &told));
        let watch = |at, place: &heddle_calls::SoFar<'_, '_>| {
            so_far.see(at, place);
            places.note(at, place);
        };
        let found = rows::read_watched(trace, By::Function, filter, length, Some(&watch));
        so_far.end();
        found
    })?;
    let functions = functions(&mut found.rows, length);
    Ok((found, functions))
}

/// The functions of these rows, which are put in their order.
fn functions(rows: &mut [Row], length: Length) -> Vec<Function> {
    sort(rows, Column::Own);
    tell_apart(rows);
    let nanos = |time: Option<heddle_trace_file::Nanos>| time.map(|time| time.0);
    let function = |row: &Row| Function {
        name: row.title(length),
        module: row.module.clone(),
        calls: row.stats.calls,
        total: row.stats.total.0,
        own: row.stats.own.0,
        min: nanos(row.stats.min()),
        avg: nanos(row.stats.avg()),
        max: nanos(row.stats.max()),
        place: None,
    };
    rows.iter().map(function).collect()
}

/// The calls of which the sums are known so far.
#[derive(Default)]
struct SoFar {
    threads: Mutex<Threads>,
    changed: Condvar,
}

#[derive(Default)]
struct Threads {
    /// By process and thread.
    sums: BTreeMap<(usize, usize), Vec<(Key, Stats)>>,
    /// When each was asked last: to ask takes time where there are many functions.
    asked: BTreeMap<(usize, usize), Instant>,
    changed: bool,
    ended: bool,
}

/// The picture changes so often.
const EACH: Duration = Duration::from_millis(250);

impl SoFar {
    fn threads(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the sums of a thread's calls, if it has not done so lately.
    fn see(&self, at: (usize, usize), place: &heddle_calls::SoFar<'_, '_>) {
        let now = Instant::now();
        let mut threads = self.threads();
        let asked = threads.asked.entry(at).or_insert(now);
        if now.duration_since(*asked) < EACH {
            return;
        }
        *asked = now;
        threads.sums.insert(at, place.functions());
        threads.changed = true;
        self.changed.notify_all();
    }

    fn end(&self) {
        self.threads().ended = true;
        self.changed.notify_all();
    }

    /// Gives names to what was seen, and tells it, until all has been read.
    fn tell(&self, trace: &Trace, length: Length, told: &impl Fn(Vec<Function>)) {
        let mut names = Names::new(trace).of_length(length);
        loop {
            let wait = |threads: &mut Threads| !threads.changed && !threads.ended;
            let guard = self.changed.wait_while(self.threads(), wait);
            let mut threads = guard.unwrap_or_else(PoisonError::into_inner);
            if threads.ended {
                return;
            }
            threads.changed = false;
            let sums = threads.sums.clone();
            drop(threads);
            let parts = sums
                .iter()
                .map(|(&(process, _), sums)| (process, &sums[..]));
            let mut rows = rows::named(trace, &mut names, parts);
            told(functions(&mut rows, length));
            let ended = |threads: &mut Threads| !threads.ended;
            drop(self.changed.wait_timeout_while(self.threads(), EACH, ended));
        }
    }
}

/// Functions whose source is looked for: those of the largest self time.
const MOST: usize = 20_000;

/// Finds where functions begin; they are in the order of the rows.
pub fn places(rows: &[Row], functions: &mut [Function], names: &mut Names<'_>) {
    for (row, function) in rows.iter().zip(functions).take(MOST) {
        let Some((process, address, time)) = row.place else {
            continue;
        };
        let line = names.place(process, address, time);
        function.place = line.map(|line| Place {
            file: printable(&line.file),
            line: line.line,
        });
    }
}
