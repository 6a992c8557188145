//! The longest of any number of things, in bounded memory.
//!
//! Durations are counted in buckets, 8 to a power of two. A thing is kept while those that are at
//! least as long as its bucket's beginning are few enough. As counts only grow, what is let go once
//! would not be kept at the end either: so the result depends on the things alone, not on their
//! order.

/// Things that last.
pub trait Lasts {
    /// How long: ns.
    fn duration(&self) -> u64;
}

/// Buckets, 8 to a power of two.
const BUCKETS: usize = 512;

/// The longest things so far.
#[derive(Debug)]
pub struct Kept<T> {
    items: Vec<T>,
    counts: Box<[u64; BUCKETS]>,
    /// The first bucket whose things are kept.
    level: usize,
    most: usize,
}

/// The bucket of a duration; longer ones have larger buckets.
fn bucket(duration: u64) -> usize {
    if duration < 8 {
        return duration as usize;
    }
    let exponent = 63 - duration.leading_zeros() as usize;
    let eighth = (duration >> (exponent - 3)) as usize & 7;
    (exponent - 2) * 8 + eighth
}

/// The shortest duration of a bucket.
fn edge(bucket: usize) -> u64 {
    if bucket < 8 {
        return bucket as u64;
    }
    let (exponent, eighth) = (bucket / 8 + 2, (bucket % 8) as u64);
    (8 + eighth) << (exponent - 3)
}

impl<T: Lasts> Kept<T> {
    /// Keeps at most `most`.
    pub fn new(most: usize) -> Self {
        Kept {
            items: Vec::new(),
            counts: Box::new([0; BUCKETS]),
            level: 0,
            most,
        }
    }

    /// Takes a thing. What is not among the longest goes to `short`: this one or others, now or
    /// later. Constant time, amortised.
    #[inline]
    pub fn add(&mut self, item: T, short: &mut impl FnMut(&T)) {
        let bucket = bucket(item.duration());
        self.counts[bucket] += 1;
        if bucket < self.level {
            return short(&item);
        }
        self.items.push(item);
        if self.items.len() > 2 * self.most {
            self.settle(short);
        }
    }

    /// Whether a thing that lasts so long is not among the longest so far.
    #[inline]
    pub fn is_short(&self, duration: u64) -> bool {
        bucket(duration) < self.level
    }

    /// Counts a thing that is not among the longest.
    #[inline]
    pub fn count(&mut self, duration: u64) {
        self.counts[bucket(duration)] += 1;
    }

    /// Changes those that are kept so far; not how long they last.
    pub fn each(&mut self, change: impl FnMut(&mut T)) {
        self.items.iter_mut().for_each(change);
    }

    /// Takes what another one has taken.
    pub fn join(&mut self, other: Kept<T>, short: &mut impl FnMut(&T)) {
        for (count, more) in self.counts.iter_mut().zip(*other.counts) {
            *count += more;
        }
        self.items.extend(other.items);
        // What either has let go is let go of both: there are more of the longer ones now.
        self.settle(short);
    }

    /// Lets go what is not among the longest so far.
    fn settle(&mut self, short: &mut impl FnMut(&T)) {
        let mut longer = 0;
        let fits = self.counts.iter().rposition(|&count| {
            longer += count;
            longer > self.most as u64
        });
        self.level = fits.map_or(0, |over| over + 1);
        let level = self.level;
        self.items.retain(|item| {
            let keeps = bucket(item.duration()) >= level;
            if !keeps {
                short(item);
            }
            keeps
        });
    }

    /// The longest ones, at most as many as asked for, and the duration below which none is kept.
    pub fn finish(mut self, short: &mut impl FnMut(&T)) -> (Vec<T>, u64) {
        self.settle(short);
        (
            self.items,
            if self.level == 0 { 0 } else { edge(self.level) },
        )
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Lasts for u64 {
        fn duration(&self) -> u64 {
            *self
        }
    }

    #[test]
    fn buckets_are_in_the_order_of_durations() {
        let mut before = 0;
        for duration in (0..4096).chain([1 << 20, (1 << 40) + 5, u64::MAX]) {
            let bucket = bucket(duration);
            assert!(bucket >= before && bucket < BUCKETS, "{duration}");
            assert!(edge(bucket) <= duration && duration - edge(bucket) <= duration / 8);
            before = bucket;
        }
    }

    proptest! {
        #[test]
        fn what_is_kept_and_what_is_let_go_is_everything(
            mut all in prop::collection::vec(0u64..5000, 0..400), most in 1usize..60
        ) {
            let mut gone = Vec::new();
            let mut kept = Kept::new(most);
            for &one in &all {
                kept.add(one, &mut |&one| gone.push(one));
            }
            let (mut items, threshold) = kept.finish(&mut |&one| gone.push(one));
            prop_assert!(items.len() <= most);
            prop_assert!(items.iter().all(|&one| one >= threshold));
            prop_assert!(gone.iter().all(|&one| one < threshold));
            items.extend(gone);
            items.sort_unstable();
            all.sort_unstable();
            prop_assert_eq!(items, all);
        }

        #[test]
        fn two_that_join_keep_what_one_keeps(
            all in prop::collection::vec((any::<bool>(), 0u64..5000), 0..400), most in 1usize..60
        ) {
            let mut parts = [Kept::new(most), Kept::new(most)];
            let mut one = Kept::new(most);
            let (mut gone, mut gone_of_one) = (Vec::new(), Vec::new());
            for &(first, item) in &all {
                parts[usize::from(first)].add(item, &mut |&item| gone.push(item));
                one.add(item, &mut |&item| gone_of_one.push(item));
            }
            let [mut joined, other] = parts;
            joined.join(other, &mut |&item| gone.push(item));
            let (mut items, threshold) = joined.finish(&mut |&item| gone.push(item));
            let (mut items_of_one, same) = one.finish(&mut |&item| gone_of_one.push(item));
            for list in [&mut items, &mut items_of_one, &mut gone, &mut gone_of_one] {
                list.sort_unstable();
            }
            prop_assert_eq!((items, gone, threshold), (items_of_one, gone_of_one, same));
        }
    }
}
