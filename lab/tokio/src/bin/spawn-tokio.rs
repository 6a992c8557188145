//! `spawn`: the life of a task.

use heddle_lab_tokio::{Arguments, Outcome, Parameter, Region, program};
use std::io::Result;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tokio::task::spawn;

/// The sum to which the tasks add. One runs at a time, on one thread: loads and stores are enough.
#[derive(Default)]
struct Tally {
    ran: AtomicU64,
    sum: AtomicU64,
}

impl Tally {
    fn ran(&self, strand: u64) {
        self.ran.store(self.ran.load(Relaxed) + 1, Relaxed);
        self.sum.store(self.sum.load(Relaxed) + strand, Relaxed);
    }
}

async fn run(strands: u64, outstanding: u64) -> Result<Outcome> {
    let tally = Arc::new(Tally::default());
    let mut alive = Vec::with_capacity(outstanding as usize);
    let region = Region::begin()?;
    let mut next = 0;
    while next < strands {
        let end = strands.min(next + outstanding);
        for strand in next..end {
            let tally = Arc::clone(&tally);
            alive.push(spawn(async move { tally.ran(strand) }));
        }
        next = end;
        for strand in alive.drain(..) {
            strand.await?;
        }
    }
    let (ran, sum) = (tally.ran.load(Relaxed), tally.sum.load(Relaxed));
    let right = strands * (strands - 1) / 2;
    let expected = format!("{strands} strands ran, each once");
    let came = format!("{ran} did, and their numbers add up to {sum}, not {right}");
    Outcome::new(ran == strands && sum == right, &expected, &came)
        .result(sum)
        .timed(&region, strands, "strand_ns", "strand_cpu_ns")
}

async fn sample(arguments: Arguments) -> Result<Outcome> {
    if arguments.integer("warmup") != 0 {
        run(100, 10).await?;
    }
    let strands = arguments.integer("strands");
    let outstanding = match arguments.integer("outstanding") {
        0 => strands,
        some => some.min(strands),
    };
    run(strands, outstanding).await
}

fn main() -> ExitCode {
    let declared = [
        Parameter::Integer("strands", 10_000, 1, 100_000_000),
        Parameter::Integer("outstanding", 1, 0, 100_000_000),
        Parameter::Integer("warmup", 1, 0, 1),
    ];
    program("spawn", &declared, sample)
}
