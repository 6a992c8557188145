//! How many primes are there below n? Put your own work here: the problem, a function a model, and
//! an oracle that finds the answer in another way.

mod heddle_lab;

use heddle_lab::{Found, Lab};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

fn is_prime(candidate: u64) -> bool {
    let mut divisors = (2..).take_while(|divisor| divisor * divisor <= candidate);
    candidate >= 2 && divisors.all(|divisor| candidate % divisor != 0)
}

/// The model `serial`: one after another.
fn serial(n: u64) -> u64 {
    (0..n).filter(|candidate| is_prime(*candidate)).count() as u64
}

/// The model `thread`: each thread takes the next number until there is none left.
fn with_threads(n: u64, threads: u64) -> u64 {
    let (next, found) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| loop {
                let candidate = next.fetch_add(1, Ordering::Relaxed);
                if candidate >= n {
                    break;
                }
                found.fetch_add(u64::from(is_prime(candidate)), Ordering::Relaxed);
            });
        }
    });
    found.into_inner()
}

/// The oracle: the sieve of Eratosthenes, another way to the same answer.
fn sieve(n: u64) -> u64 {
    let mut composite = vec![false; n as usize];
    let mut found = 0;
    for i in 2..n as usize {
        if !composite[i] {
            found += 1;
            composite
                .iter_mut()
                .skip(2 * i)
                .step_by(i)
                .for_each(|each| *each = true);
        }
    }
    found
}

fn main() -> ExitCode {
    let mut lab = Lab::new("@NAME@");
    let n = lab.parameter("n", 20_000, 2, 100_000_000);
    let threads = lab.parameter("threads", 2, 1, 1024);
    let found = |primes: u64| Found {
        result: primes.to_string(),
        ..Found::default()
    };

    lab.model("serial", || Ok(found(serial(n))));
    lab.model("thread", || Ok(found(with_threads(n, threads))));

    lab.run(|found| {
        let (got, expected) = (&found.result, sieve(n).to_string());
        (
            *got == expected,
            format!("primes below {n}: {got}, by a sieve {expected}"),
        )
    })
}
