//! Where the runs of each thread are: stretches of a block that can be decoded on their own.

use crate::Error;
use crate::layout::{BLOCK_HEADER, RUN_SIZE, RunRecord, head, kind};
use crate::store::{Source, Store};
use zerocopy::FromBytes;

/// A run of a thread.
#[derive(Clone, Copy, Debug)]
pub struct RunPlace {
    pub thread: u32,
    pub number: u32,
    /// Of the bytes of its source: where its records are, the one that it begins with not included.
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

/// The runs of all threads, in order of threads and of their runs' numbers; and for each block the thread of its last run.
pub fn find(store: &Store) -> Result<(Vec<RunPlace>, Vec<Option<u32>>), Error> {
    let mut runs = Vec::new();
    let mut last = Vec::with_capacity(store.blocks.len());
    for block in &store.blocks {
        let source = &store.sources[block.source as usize];
        let end = block.begin + block.used;
        let mut at = block.begin + BLOCK_HEADER;
        let mut thread = None;
        while at < end {
            let run = run_at(source, at, end, block.source)?;
            thread = Some(run.thread);
            at = run.end;
            runs.push(run);
        }
        source.release(&source.bytes()[block.begin..end]);
        last.push(thread);
    }
    runs.sort_by_key(|run| (run.thread, run.number));
    for pair in runs.windows(2) {
        if (pair[0].thread, pair[0].number) == (pair[1].thread, pair[1].number) {
            let source = &store.sources[pair[1].source as usize];
            let what = format!(
                "run {} of thread {} a second time",
                pair[1].number, pair[1].thread
            );
            return Err(source.damaged(pair[1].begin - RUN_SIZE, what));
        }
    }
    Ok((runs, last))
}

fn run_at(source: &Source, at: usize, end: usize, index: u32) -> Result<RunPlace, Error> {
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
    let run_end = if bytes == 0 || (source.is_copy() && bytes > end - at) {
        // Or the run was ended after we had looked where it was.
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
        source: index,
    })
}
