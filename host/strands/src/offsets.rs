//! How far stack pointers are at exits from those at enters, where hooks are tail-called or frames
//! have grown.

use rustc_hash::FxHashMap;

/// The offsets that were seen so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offsets {
    by_function: FxHashMap<u64, Vec<i64>>,
    /// The offsets of all functions, the smallest first.
    all: Vec<i64>,
    /// The one that was noted last, and its function: mostly this is asked for.
    latest: Option<(u64, i64)>,
}

impl Offsets {
    /// Offsets that are kept of one function. A frame that grew (`alloca`) has no stable offset, so
    /// further samples add nothing.
    const OF_ONE: usize = 8;
    /// Offsets that are kept of all functions together: to look for more of them costs more than to
    /// look at the stacks nearby.
    const OF_ALL: usize = 8;

    /// A call of `function` was left `by` bytes above where it was entered.
    pub fn note(&mut self, function: u64, by: i64) {
        let known = self.by_function.entry(function).or_default();
        if known.len() >= Self::OF_ONE || known.contains(&by) {
            return;
        }
        known.push(by);
        self.latest = Some((function, by));
        if self.all.len() < Self::OF_ALL && !self.all.contains(&by) {
            let smaller = |other: &i64| other.unsigned_abs() < by.unsigned_abs();
            self.all.insert(self.all.partition_point(smaller), by);
        }
    }

    /// Whether a call of `function` was left so before.
    pub fn holds(&self, function: u64, by: i64) -> bool {
        let known = || self.by_function.get(&function);
        self.latest == Some((function, by)) || known().is_some_and(|known| known.contains(&by))
    }

    /// The offsets of all functions, the smallest first.
    pub fn all(&self) -> &[i64] {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_noted_once_and_the_nearest_is_first() {
        let mut offsets = Offsets::default();
        for (function, by) in [(1, -48), (2, 16), (1, -48), (3, 16), (1, 8)] {
            offsets.note(function, by);
        }
        assert_eq!(offsets.all(), [8, 16, -48]);
        assert!(offsets.holds(1, -48) && offsets.holds(3, 16));
        assert!(!offsets.holds(3, 8) && !offsets.holds(4, 8));
    }

    #[test]
    fn what_differs_by_call_is_not_kept_without_bound() {
        let mut offsets = Offsets::default();
        (1..1000).for_each(|by| offsets.note(1, by * 16));
        assert!(offsets.holds(1, 128) && !offsets.holds(1, 144));
        assert!(!offsets.holds(1, 999 * 16), "though it came last");
        assert_eq!(offsets.all().len(), Offsets::OF_ALL);
    }
}
