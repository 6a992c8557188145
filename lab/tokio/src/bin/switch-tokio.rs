//! `switch`: tasks that yield to each other through tokio's queue.

use heddle_lab_tokio::{Arguments, Outcome, Parameter, Region, program};
use std::io::Result;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tokio::task::{spawn, yield_now};

/// The index of the latest turn's task, and the number of turns out of order. One task runs at a
/// time, on one thread: loads and stores are enough.
struct Ring {
    counts: Vec<AtomicU64>,
    last: AtomicU64,
    out_of_order: AtomicU64,
}

impl Ring {
    fn new(contexts: u64) -> Self {
        Self {
            counts: (0..contexts).map(|_| AtomicU64::new(0)).collect(),
            last: AtomicU64::new(contexts - 1),
            out_of_order: AtomicU64::new(0),
        }
    }
    fn take(&self, strand: u64) {
        let contexts = self.counts.len() as u64;
        if self.last.load(Relaxed) != (strand + contexts - 1) % contexts {
            add_one(&self.out_of_order);
        }
        self.last.store(strand, Relaxed);
        if let Some(count) = self.counts.get(strand as usize) {
            add_one(count);
        }
    }
}

fn add_one(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed) + 1, Relaxed);
}

async fn run(contexts: u64, counter: u64) -> Result<Outcome> {
    let ring = Arc::new(Ring::new(contexts));
    let strands: Vec<_> = (0..contexts)
        .map(|strand| {
            let ring = Arc::clone(&ring);
            spawn(async move {
                for _ in 0..counter {
                    ring.take(strand);
                    yield_now().await;
                }
            })
        })
        .collect();
    let region = Region::begin()?;
    for strand in strands {
        strand.await?;
    }
    let wrong = ring
        .counts
        .iter()
        .find(|count| count.load(Relaxed) != counter);
    let expected = format!("{contexts} strands ran {counter} turns each");
    let came = wrong.map_or_else(String::new, |count| {
        format!("one ran {}", count.load(Relaxed))
    });
    let yields = contexts * counter;
    Ok(Outcome::new(wrong.is_none(), &expected, &came)
        .timed(&region, yields, "switch_ns", "switch_cpu_ns")?
        .counter("strand_switches", yields as f64)
        .counter("turns_out_of_order", ring.out_of_order.load(Relaxed) as f64))
}

async fn sample(arguments: Arguments) -> Result<Outcome> {
    if arguments.integer("warmup") != 0 {
        run(2, 100).await?;
    }
    run(arguments.integer("contexts"), arguments.integer("counter")).await
}

fn main() -> ExitCode {
    let declared = [
        Parameter::Integer("contexts", 2, 2, 1_000_000),
        Parameter::Integer("counter", 100_000, 1, 1_000_000_000),
        // tokio has one way: through its scheduler.
        Parameter::Word("style", &["direct", "scheduler"]),
        Parameter::Integer("count-syscalls", 0, 0, 0), // which this harness does not count
        Parameter::Integer("warmup", 1, 0, 1),
    ];
    program("switch", &declared, sample)
}
