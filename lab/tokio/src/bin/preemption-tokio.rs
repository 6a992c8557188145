//! `preemption`: tasks that compute and never wait, beside one that sleeps.

use heddle_lab_tokio::{Arguments, Outcome, Parameter, Region, program};
use std::hint::black_box;
use std::io::Result;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::task::{spawn, yield_now};
use tokio::time::{Instant, sleep_until};

/// A tenth of a microsecond, about, each operation waiting for the one before: as in the C++
/// models. (LLVM would make one operation of all 64 if it knew the factor.)
fn step(mut value: u64) -> u64 {
    let factor = black_box(6_364_136_223_846_793_005);
    for _ in 0..64 {
        value = value
            .wrapping_mul(factor)
            .wrapping_add(1_442_695_040_888_963_407);
    }
    value
}

async fn hog(number: u64, steps: u64, yield_steps: u64) -> u64 {
    let mut value = number;
    for i in 1..=steps {
        value = step(value);
        if yield_steps > 0 && i % yield_steps == 0 {
            yield_now().await;
        }
    }
    value
}

#[derive(Default)]
struct Wakes {
    count: u64,
    late_ns: u64,
    latest_ns: u64,
}

async fn sleeper(every: Duration, computing: Arc<AtomicU64>) -> Wakes {
    let mut wakes = Wakes::default();
    loop {
        let due = Instant::now() + every;
        sleep_until(due).await;
        let late = due.elapsed().as_nanos() as u64;
        wakes.count += 1;
        wakes.late_ns += late;
        wakes.latest_ns = wakes.latest_ns.max(late);
        if computing.load(Relaxed) == 0 {
            return wakes;
        }
    }
}

async fn sample(arguments: Arguments) -> Result<Outcome> {
    let (hogs, steps) = (arguments.integer("hogs"), arguments.integer("steps"));
    let yield_steps = arguments.integer("yield-steps");
    let every = Duration::from_micros(arguments.integer("sleep-us"));
    let computing = Arc::new(AtomicU64::new(hogs));
    let region = Region::begin()?;
    let sleeping = spawn(sleeper(every, Arc::clone(&computing)));
    let strands: Vec<_> = (0..hogs)
        .map(|number| {
            let computing = Arc::clone(&computing);
            spawn(async move {
                let value = hog(number, steps, yield_steps).await;
                computing.fetch_sub(1, Relaxed);
                value
            })
        })
        .collect();
    let mut sum = 0_u64;
    for strand in strands {
        sum = sum.wrapping_add(strand.await?);
    }
    let wakes = sleeping.await?;
    let (wall, cpu) = region.elapsed()?;

    let alone = |number| (0..steps).fold(number, |value, _| step(value));
    let right = (0..hogs).map(alone).fold(0, u64::wrapping_add);
    let expected = format!("{hogs} hogs whose results add up to {right}, and that the sleeper ran");
    let came = format!("they add up to {sum}, and it ran {} times", wakes.count);
    let mean = wakes.late_ns as f64 / wakes.count.max(1) as f64;
    Ok(
        Outcome::new(sum == right && wakes.count > 0, &expected, &came)
            .metric("wall_ns", wall as f64)
            .metric("cpu_ns", cpu as f64)
            .metric("total_ns", wall as f64)
            .metric("lateness_ns", mean)
            .metric("latest_ns", wakes.latest_ns as f64)
            .metric("wakes", wakes.count as f64),
    )
}

fn main() -> ExitCode {
    let declared = [
        Parameter::Integer("hogs", 2, 1, 1000),
        Parameter::Integer("steps", 200_000, 1, 1_000_000_000),
        Parameter::Integer("sleep-us", 1000, 1, 1_000_000),
        Parameter::Integer("yield-steps", 0, 0, 1_000_000_000),
    ];
    program("preemption", &declared, sample)
}
