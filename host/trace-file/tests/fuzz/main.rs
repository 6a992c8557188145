//! A fuzzer of the reader and of the collector: traces that were sound, changed byte by byte, word
//! by word, block by block.
//!
//! What to change next is guided by what a change reached: the edges that the reader took, where it
//! was compiled to count them (`./dev soak` does, see `instrument` beside this file; nothing but a
//! stable compiler is needed), and what it answered. An input that reached something new is kept
//! and changed further.
//!
//! `HEDDLE_FUZZ_SECONDS` is how long (without it, a smoke test of [`SMOKE`] traces), `HEDDLE_SEED`
//! where its chance begins; both are printed with what it covered.

#![allow(clippy::unwrap_used)]

mod coverage;
mod input;
mod memory;
mod mutate;
mod read;

use coverage::Coverage;
use input::Input;
use mutate::Chance;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// How many traces are read at least.
const SMOKE: u64 = 3000;

fn from_environment(name: &str, otherwise: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(otherwise, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is no number"))
    })
}

#[test]
fn no_change_of_a_trace_breaks_its_reader() {
    let time = Duration::from_secs(from_environment("HEDDLE_FUZZ_SECONDS", 0));
    let seed = from_environment("HEDDLE_SEED", 1);
    let mut chance = Chance::new(seed);
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("trace");
    let mut coverage = Coverage::default();
    let mut answers: BTreeMap<String, u64> = BTreeMap::new();
    let mut kept = Vec::new();
    let begun = Instant::now();
    let (mut runs, mut slowest, mut most) = (0_u64, Duration::ZERO, 0);
    let mut seeds = Input::seeds(&directory.path().join("seed"));
    while begun.elapsed() < time || runs < SMOKE {
        let input = match seeds.pop() {
            Some(seed) => seed,
            None => mutate::changed(&kept, &mut chance),
        };
        input.store(&place);
        coverage::forget();
        let (before, at) = (memory::begin(), Instant::now());
        let collect = runs % 4 == 0;
        let result = catch_unwind(AssertUnwindSafe(|| read::everything(&place, collect)));
        slowest = slowest.max(at.elapsed());
        let used = memory::most_since(before);
        most = most.max(used);
        let allowed = (64 << 20) + 64 * input.size();
        if result.is_err() || used > allowed {
            let kept = directory.keep().join("failed");
            input.store(&kept);
            panic!(
                "seed {seed}, run {runs}: the trace {} takes {used} bytes of memory (allowed: {allowed}) or ends the reader (see above)",
                kept.display()
            );
        }
        let answer = result.unwrap_or_default();
        let new = coverage.add(&answer);
        *answers.entry(answer).or_default() += 1;
        if new || runs < 16 {
            kept.push(input);
        }
        runs += 1;
    }
    println!(
        "{runs} traces in {:.0?} from seed {seed}, {} kept",
        begun.elapsed(),
        kept.len()
    );
    println!("{}", coverage.summary());
    println!("slowest {slowest:.0?}, most memory {most} bytes");
    println!("{} answers:", answers.len());
    for (answer, times) in &answers {
        println!("{times:>9}  {answer}");
    }
    // A fuzzer whose traces are all refused at the door, or never, tests nothing.
    let reached = |text: &str| answers.keys().any(|answer| answer.contains(text));
    for text in ["read", "magic number", "expected a record", "in state"] {
        assert!(reached(text), "nothing answered `{text}`");
    }
}
