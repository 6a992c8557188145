//! Where the runs of each thread are: stretches of a block that can be decoded on their own.

use crate::layout::{BLOCK_HEADER, RUN_SIZE, RunRecord, head, kind};
use crate::store::{Block, Source, Store};
use crate::{Damages, Error};
use zerocopy::FromBytes;

/// A run of a thread.
#[derive(Clone, Copy, Debug)]
pub struct RunPlace {
    pub thread: u32,
    pub number: u32,
    /// Its records begin here in the bytes of its source, behind the run's own record.
    pub begin: usize,
    pub end: usize,
    pub source: u32,
}

impl RunPlace {
    /// Its records.
    pub fn records<'a>(&self, store: &'a Store) -> (&'a Source, &'a [u8]) {
        let source = &store.sources[self.source as usize];
        (source, &source.bytes()[self.begin..self.end])
    }

    /// The record that it begins with.
    pub fn record<'a>(&self, store: &'a Store) -> Result<&'a RunRecord, Error> {
        let source = &store.sources[self.source as usize];
        let begin = self.begin - RUN_SIZE;
        RunRecord::ref_from_bytes(&source.bytes()[begin..self.begin])
            .map_err(|_| source.damaged(begin, "no room for a run's record"))
    }
}

/// The runs of all threads.
#[derive(Debug, Default)]
pub struct Runs {
    /// In order of threads and of their runs' numbers.
    pub places: Vec<RunPlace>,
    /// For each block the thread of its last run.
    pub last: Vec<Option<u32>>,
    /// The parts of the blocks that are no runs.
    pub damages: Damages,
}

/// Finds the runs. What is none where one should be is passed over, up to the end of its block.
pub fn find(store: &Store) -> Result<Runs, Error> {
    let mut found = Runs::default();
    let runs = &mut found.places;
    for block in &store.blocks {
        let source = &store.sources[block.source as usize];
        let (in_block, damage) = in_block(source, block);
        let thread = in_block.last().map(|run| run.thread);
        runs.extend(in_block);
        if let Some((error, bytes)) = damage {
            found.damages.add(error, bytes)?;
        }
        source.release(&source.bytes()[block.begin..block.begin + block.used]);
        found.last.push(thread);
    }
    runs.sort_by_key(|run| (run.thread, run.number));
    let mut repeated = Vec::new();
    runs.dedup_by(|second, first| {
        let same = (second.thread, second.number) == (first.thread, first.number);
        repeated.extend(same.then_some(*second));
        same
    });
    for run in repeated {
        let source = &store.sources[run.source as usize];
        let (number, thread) = (run.number, run.thread);
        let what = format!("run {number} of thread {thread} a second time");
        let begin = run.begin - RUN_SIZE;
        let error = source.damaged(begin, what);
        found.damages.add(error, (run.end - begin) as u64)?;
    }
    Ok(found)
}

/// The runs of a block, and, where something else follows them, what is wrong there and how many
/// bytes it has.
pub fn in_block(source: &Source, block: &Block) -> (Vec<RunPlace>, Option<(Error, u64)>) {
    let end = block.begin + block.used;
    let mut at = block.begin + BLOCK_HEADER;
    let mut runs = Vec::new();
    while at < end {
        match run_at(source, at, end, block) {
            Ok(run) => {
                at = run.end;
                runs.push(run);
            }
            Err(error) => return (runs, Some((error, (end - at) as u64))),
        }
    }
    (runs, None)
}

fn run_at(source: &Source, at: usize, end: usize, block: &Block) -> Result<RunPlace, Error> {
    let Ok((run, _)) = RunRecord::ref_from_prefix(&source.bytes()[at..end]) else {
        let what = format!("{} bytes are left where a run begins", end - at);
        return Err(source.damaged(at, what));
    };
    let expected = head(kind::RUN, RUN_SIZE as u64 / 8);
    if u64::from(run.head.get()) != expected {
        let found = run.head.get();
        let what = format!("expected a run's record ({expected:#x}), found {found:#x}");
        return Err(source.damaged(at, what));
    }
    let bytes = run.bytes.get() as usize;
    let may_be_longer = source.is_copy() || block.cut;
    let run_end = if bytes == 0 || (may_be_longer && bytes > end - at) {
        // Or the run was ended after we had looked where it was, or the file was cut.
        end
    } else {
        at.saturating_add(bytes)
    };
    if run_end > end || bytes % 8 != 0 || (1..RUN_SIZE).contains(&bytes) {
        let what = format!(
            "a run of {bytes} bytes; the block ends {} further on",
            end - at
        );
        return Err(source.damaged(at + 4, what));
    }
    let (low, high) = (run.stack_low.get(), run.stack_high.get());
    if low > high {
        let what = format!("a stack from {low:#x} down to {high:#x}");
        return Err(source.damaged(at + 40, what));
    }
    if run.thread.get() == 0 {
        return Err(source.damaged(at + 8, "thread 0; the first is 1"));
    }
    Ok(RunPlace {
        thread: run.thread.get(),
        number: run.run.get(),
        begin: at + RUN_SIZE,
        end: run_end,
        source: block.source,
    })
}
