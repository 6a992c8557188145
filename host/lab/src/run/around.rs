//! What the machine is like while a sample is taken: what it costs to wake another processor, the
//! clock rate, and what the host and other programs take. A virtual machine's host has phases in
//! which a wake costs twice as much; this tells them from what a program does.

use super::Load;
use heddle_results::Around;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Times that two threads wake each other in turn, at most, and how long they may take: on a busy
/// machine each waits for its processor.
const TRIPS: usize = 12;
const FEWEST_TRIPS: usize = 3;
const PATIENCE: Duration = Duration::from_millis(1);
/// Steps of the loop that tells the clock rate: some 30 µs.
const STEPS: u64 = 100_000;

/// What was measured before a sample, and the load by then.
pub(super) struct Before {
    around: Around,
    load: Option<Load>,
}

impl Before {
    /// Takes a millisecond, before the sample begins.
    pub fn now() -> Self {
        Self {
            around: Around {
                wake_ns: wake_ns(),
                ghz: ghz(),
                ..Around::default()
            },
            load: Load::now(),
        }
    }

    /// After the sample.
    pub fn after(self) -> Around {
        let shares = self.load.zip(Load::now());
        let shares = shares.and_then(|(before, now)| now.shares_since(before));
        Around {
            steal: shares.map(|shares| shares.steal),
            others: shares.map(|shares| shares.others),
            ..self.around
        }
    }
}

/// What it takes until a thread that waits on another processor runs, ns: half of the median trip
/// there and back. `None` where there is one processor, or another program had it.
fn wake_ns() -> Option<f64> {
    let [here, there] = two_processors()?;
    let turn = Mutex::new(0_usize);
    let (ours, theirs) = (Condvar::new(), Condvar::new());
    let wait = |own: &Condvar, parity: usize| {
        let mut held = turn.lock().unwrap_or_else(PoisonError::into_inner);
        while *held % 2 != parity && *held < OVER {
            held = own.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        *held
    };
    let pass = |other: &Condvar, next: usize| {
        *turn.lock().unwrap_or_else(PoisonError::into_inner) = next;
        other.notify_one();
    };
    let mut trips = std::thread::scope(|scope| {
        scope.spawn(|| {
            pin(there);
            loop {
                let now = wait(&theirs, 1);
                if now >= OVER {
                    return;
                }
                pass(&ours, now + 1);
            }
        });
        let first = scope.spawn(|| {
            pin(here);
            let begin = Instant::now();
            let mut trips = Vec::with_capacity(TRIPS);
            while trips.len() < TRIPS && begin.elapsed() < PATIENCE {
                let sent = Instant::now();
                pass(&theirs, 2 * trips.len() + 1);
                wait(&ours, 0);
                trips.push(sent.elapsed().as_nanos() as f64);
            }
            pass(&theirs, OVER);
            trips
        });
        first.join().unwrap_or_default()
    });
    if trips.len() < FEWEST_TRIPS {
        return None;
    }
    trips.sort_unstable_by(f64::total_cmp);
    Some(trips[trips.len() / 2] / 2.0)
}

/// A turn after which there is none.
const OVER: usize = usize::MAX / 2;

/// Two processors that we may use.
fn two_processors() -> Option<[usize; 2]> {
    // SAFETY: a set is plain data, for which all-zero is valid, and lives through the call.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    if unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) } != 0 {
        return None;
    }
    let all = 8 * size_of_val(&set);
    // SAFETY: below the set's size.
    let mut own = (0..all).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) });
    Some([own.next()?, own.next()?])
}

/// Keeps this thread on a processor; where that cannot be, it measures wakes on any.
fn pin(cpu: usize) {
    // SAFETY: as above.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    unsafe {
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set);
    }
}

/// The clock rate, by a loop whose steps take a cycle each: the best of three, because the others
/// may have been interrupted.
fn ghz() -> Option<f64> {
    let once = || {
        let begin = Instant::now();
        steps(STEPS).then(|| STEPS as f64 / begin.elapsed().as_nanos().max(1) as f64)
    };
    let all = (0..3).map(|_| once());
    all.flatten().reduce(f64::max)
}

/// Counts down; whether it can on this architecture.
fn steps(count: u64) -> bool {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: only a register and flags are changed.
    unsafe {
        std::arch::asm!("2:", "dec {0}", "jnz 2b", inout(reg) count => _, options(nomem, nostack));
        true
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: only a register and flags are changed.
    unsafe {
        std::arch::asm!("2:", "subs {0}, {0}, #1", "b.ne 2b", inout(reg) count => _, options(nomem, nostack));
        true
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _ = count;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_beside_a_sample_is_plausible_and_soon_over() {
        let begin = Instant::now();
        let around = Before::now().after();
        // Far more than the 1 ms and 12 trips on a busy machine; a probe that never ended would
        // hold up every run.
        assert!(begin.elapsed() < Duration::from_secs(20));
        if let Some(wake) = around.wake_ns {
            assert!(wake > 100.0, "{wake} ns");
        }
        if let Some(ghz) = around.ghz {
            assert!((0.05..20.0).contains(&ghz), "{ghz} GHz");
        }
        for share in [around.steal, around.others].into_iter().flatten() {
            assert!((0.0..=1.0).contains(&share), "{share}");
        }
        // Our own thread may still run everywhere.
        let before = two_processors();
        wake_ns();
        assert_eq!(two_processors(), before);
    }
}
