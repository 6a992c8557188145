//! What was reached.

use std::collections::HashSet;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

static COUNTERS: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// Called before `main` by code that was compiled to count its edges: where the counters are.
// SAFETY: the name is that of the compiler's interface, and no other code defines it.
#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_8bit_counters_init(first: *mut u8, end: *mut u8) {
    COUNTERS.store(first, Relaxed);
    NUMBER.store(end as usize - first as usize, Relaxed);
}

fn counters() -> &'static mut [u8] {
    let number = NUMBER.load(Relaxed);
    if number == 0 {
        return &mut [];
    }
    // SAFETY: the range given above, which is there until the end; one thread at a time looks at
    // it, and bytes that others count meanwhile do no harm.
    unsafe { std::slice::from_raw_parts_mut(COUNTERS.load(Relaxed), number) }
}

/// Begins to count.
pub fn forget() {
    counters().fill(0);
}

/// Edges and answers that were met.
#[derive(Default)]
pub struct Coverage {
    /// By edge and the power of two of how often it was taken.
    edges: HashSet<(usize, u32)>,
    answers: HashSet<String>,
}

impl Coverage {
    /// Adds what was counted since [`forget`], and the answer; says whether any of it is new.
    pub fn add(&mut self, answer: &str) -> bool {
        let mut new = !self.answers.contains(answer);
        if new {
            self.answers.insert(answer.to_owned());
        }
        for (edge, &times) in counters().iter().enumerate() {
            if let Some(power) = times.checked_ilog2() {
                new |= self.edges.insert((edge, power));
            }
        }
        new
    }

    /// For people.
    pub fn summary(&self) -> String {
        let all = NUMBER.load(Relaxed);
        if all == 0 {
            return "edges were not counted: the reader was not compiled for it (./dev soak does that)".to_owned();
        }
        let edges: HashSet<usize> = self.edges.iter().map(|&(edge, _)| edge).collect();
        let share = 100 * edges.len() / all;
        format!(
            "{} of the reader's {all} edges taken, {share} %",
            edges.len()
        )
    }
}
