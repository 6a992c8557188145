//! A list of strands that have ended, in few bytes each: there may be millions.

use crate::brief::{Brief, NOWHERE};
use crate::kind_and_doubts::KindAndDoubts;
use crate::short::Short;
use crate::strand::{Kind, NEVER, Strand, StrandId};
use heddle_trace_file::{Addr, Nanos};
use rustc_hash::FxHashMap;

/// Strands that have ended. Each takes 72 bytes, or as many as a [`Strand`] more where it has a
/// name or one of its numbers is very large. [`Strand::slot`] means nothing then, and is not kept.
#[derive(Clone, Debug, Default)]
pub struct StrandList {
    records: Vec<Record>,
    /// Strands that do not fit into a record.
    whole: Vec<Strand>,
    addresses: Addresses,
}

/// A strand in few bytes.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// Its number in its process.
    number: u32,
    /// The numbers of strands of its process; 0: none.
    parent: u32,
    resumer: u32,
    /// If it is [`WHOLE`], its index among those.
    calls: u32,
    activations: u32,
    /// `last` without `born` and the times that follow, as far as they were before; mostly 0.
    more: i32,
    born: Short,
    running: Short,
    children: Short,
    suspended: Short,
    /// How long it had not run when it ended, or the trace did; in the lowest bits whether it
    /// [`DIED`], and whether it is [`SUSPENDED`] meanwhile.
    rested: Short,
    /// Where its frame is; 0: it has none.
    frame: Short,
    /// Numbers of addresses.
    entry: u16,
    left_at: u16,
    thread: u16,
    resume_index: u16,
    process: u8,
    threads: u8,
    kind: KindAndDoubts,
}

// A million may be listed at once.
const _: () = assert!(size_of::<Record>() <= 72);

const DIED: u64 = 1;
/// That time is counted as such.
const SUSPENDED: u64 = 2;

/// Stands for the thread of a strand that does not fit into a record.
const WHOLE: u16 = u16::MAX;

/// Few different addresses, by number. The first is 0.
#[derive(Clone, Debug)]
struct Addresses {
    all: Vec<Addr>,
    numbers: FxHashMap<Addr, u16>,
    /// The latest address of each [`Use`]: neighbours often have the same.
    latest: [(Addr, u16); 2],
}

/// What an address is to a strand.
#[derive(Clone, Copy)]
enum Use {
    Entry,
    LeftAt,
}

impl Default for Addresses {
    fn default() -> Self {
        Addresses {
            all: vec![Addr(0)],
            numbers: FxHashMap::from_iter([(Addr(0), 0)]),
            latest: [(Addr(0), 0); 2],
        }
    }
}

impl Addresses {
    /// The number of an address; `None` if there are too many.
    #[inline]
    fn number(&mut self, is: Use, address: Addr) -> Option<u16> {
        let (latest, number) = self.latest[is as usize];
        if latest == address {
            return Some(number);
        }
        let number = match self.numbers.get(&address) {
            Some(&number) => number,
            None => {
                let number = u16::try_from(self.all.len()).ok()?;
                self.all.push(address);
                self.numbers.insert(address, number);
                number
            }
        };
        self.latest[is as usize] = (address, number);
        Some(number)
    }

    fn at(&self, number: u16) -> Addr {
        self.all[usize::from(number)]
    }
}

/// [`Record::rested`] of a strand that ran last at `last` and `rests` since, if it has room.
#[inline]
fn rested(last: u64, rests: u64, died: u64) -> Option<Short> {
    let (rested, is_dead) = match died {
        NEVER => (rests, 0),
        died => (died.checked_sub(last)?, DIED),
    };
    let is_suspended = match rests {
        0 => 0,
        _ if rests == rested => SUSPENDED,
        _ => return None,
    };
    Short::new(rested.checked_mul(4)? | is_dead | is_suspended)
}

impl StrandList {
    /// The number of strands.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Adds a strand behind the others.
    #[inline]
    pub fn push(&mut self, strand: &Strand) {
        let record = self.record(strand);
        self.records.push(record);
    }

    /// The same, of one in few bytes.
    #[inline]
    pub fn push_brief(&mut self, strand: &Brief<'_>) {
        match self.packed_brief(strand) {
            Some(record) => self.records.push(record),
            None => self.push(&strand.strand()),
        }
    }

    /// Adds the strands of another list behind these.
    pub fn append(&mut self, other: StrandList) {
        if self.is_empty() {
            *self = other;
            return;
        }
        self.records.reserve(other.len());
        other.iter().for_each(|strand| self.push(&strand));
    }

    /// The strand with this index.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Strand {
        let record = &self.records[index];
        match record.thread {
            WHOLE => self.whole[record.calls as usize].clone(),
            // Inlined: of a million, a caller mostly wants a few facts each.
            _ => self.strand(record),
        }
    }

    /// All of them, one after another.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Strand> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }

    /// The numbers of all of them.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = StrandId> + '_ {
        self.records.iter().map(|record| self.id(record))
    }

    /// Has `change` change each of these kinds, in their order; it says whether it has.
    pub fn change_each(
        &mut self,
        kinds: impl Fn(Kind) -> bool,
        mut change: impl FnMut(&mut Strand) -> bool,
    ) {
        for index in 0..self.len() {
            if !kinds(self.records[index].kind.kind()) {
                continue;
            }
            let mut strand = self.get(index);
            if change(&mut strand) {
                self.put(index, strand);
            }
        }
    }

    fn put(&mut self, index: usize, strand: Strand) {
        let before = self.records[index];
        // One that was too large for a record stays so, or its place among those would be empty.
        match before.thread {
            WHOLE => self.whole[before.calls as usize] = strand,
            _ => self.records[index] = self.record(&strand),
        }
    }

    /// Puts them in order of their numbers.
    pub fn sort(&mut self) {
        let mut records = std::mem::take(&mut self.records);
        if !records.is_sorted_by_key(|record| self.id(record)) {
            records.sort_unstable_by_key(|record| self.id(record));
        }
        self.records = records;
    }

    /// The index of the strand with this number, if they are in order.
    pub fn find(&self, id: StrandId) -> Option<usize> {
        let found = self
            .records
            .binary_search_by_key(&id, |record| self.id(record));
        found.ok()
    }

    #[inline]
    fn id(&self, record: &Record) -> StrandId {
        match record.thread {
            WHOLE => self.whole[record.calls as usize].id,
            _ => StrandId::numbered(record.process.into(), record.number.into()),
        }
    }

    /// The record of a strand, which is put among the whole ones if that has no room for it.
    #[inline]
    fn record(&mut self, strand: &Strand) -> Record {
        match self.packed(strand) {
            Some(record) => record,
            None => self.kept_whole(strand),
        }
    }

    #[cold]
    #[inline(never)]
    fn kept_whole(&mut self, strand: &Strand) -> Record {
        self.whole.push(strand.clone());
        Record {
            number: 0,
            parent: 0,
            resumer: 0,
            calls: self.whole.len() as u32 - 1,
            activations: 0,
            more: 0,
            born: Short::default(),
            running: Short::default(),
            children: Short::default(),
            suspended: Short::default(),
            rested: Short::default(),
            frame: Short::default(),
            entry: 0,
            left_at: 0,
            thread: WHOLE,
            resume_index: 0,
            process: 0,
            threads: 0,
            kind: KindAndDoubts::new(strand.kind, strand.doubts),
        }
    }

    #[inline]
    fn packed(&mut self, strand: &Strand) -> Option<Record> {
        let &Strand {
            id,
            parent,
            resumer,
            frame,
            born,
            last,
            activations,
            running,
            children,
            suspended,
            rests,
            calls,
            died,
            entry,
            left_at,
            ref words,
            thread,
            threads,
            slot: _,
            resume_index,
            kind,
            doubts,
        } = strand;
        if words.is_some() {
            return None;
        }
        let other = |other: Option<StrandId>| match other {
            None => Some(0),
            Some(other) if other.process() == id.process() => u32::try_from(other.number()).ok(),
            Some(_) => None,
        };
        let spent = [running, children, suspended].into_iter();
        let known = spent.fold(born.0, |sum, time| sum.wrapping_add(time.0));
        let known = known.wrapping_sub(rests.0);
        Some(Record {
            number: u32::try_from(id.number()).ok()?,
            parent: other(parent)?,
            resumer: other(resumer)?,
            calls: u32::try_from(calls).ok()?,
            activations: u32::try_from(activations).ok()?,
            more: i32::try_from(last.0.wrapping_sub(known) as i64).ok()?,
            born: Short::new(born.0)?,
            running: Short::new(running.0)?,
            children: Short::new(children.0)?,
            suspended: Short::new(suspended.0)?,
            rested: rested(last.0, rests.0, died)?,
            frame: Short::new(frame.map_or(0, |frame| frame.0))?,
            entry: self.addresses.number(Use::Entry, entry)?,
            left_at: self.addresses.number(Use::LeftAt, left_at)?,
            thread: u16::try_from(thread)
                .ok()
                .filter(|&thread| thread != WHOLE)?,
            resume_index,
            process: u8::try_from(id.process()).ok()?,
            threads: u8::try_from(threads).ok()?,
            kind: KindAndDoubts::new(kind, doubts),
        })
    }

    /// The record of a strand in few bytes, if it has room for that.
    #[inline]
    fn packed_brief(&mut self, strand: &Brief<'_>) -> Option<Record> {
        let live = strand.live;
        let spent = [live.running, live.children, live.suspended].into_iter();
        let known = spent.fold(live.born.get(), |sum, time| sum.wrapping_add(time.get()));
        let rests = strand.rests;
        let suspended = live.suspended.get().checked_add(rests)?;
        let is_coroutine = live.kind.kind() == Kind::Coroutine;
        Some(Record {
            number: live.number,
            parent: live.parent,
            resumer: live.resumer,
            calls: live.calls,
            activations: live.activations,
            more: i32::try_from(live.last.get().wrapping_sub(known) as i64).ok()?,
            born: live.born,
            running: live.running,
            children: live.children,
            suspended: Short::new(suspended)?,
            rested: rested(live.last.get(), rests, strand.died)?,
            frame: if is_coroutine {
                live.frame
            } else {
                Short::default()
            },
            entry: self.addresses.number(Use::Entry, strand.entry)?,
            left_at: self
                .addresses
                .number(Use::LeftAt, Addr(live.left_at.get()))?,
            thread: Some(live.thread).filter(|&thread| thread != WHOLE)?,
            resume_index: live.resume_index,
            process: u8::try_from(strand.process).ok()?,
            threads: u8::from(live.on != NOWHERE),
            kind: live.kind,
        })
    }

    #[inline(always)]
    fn strand(&self, record: &Record) -> Strand {
        let process = usize::from(record.process);
        let other = |number: u32| (number != 0).then(|| StrandId::numbered(process, number.into()));
        let [born, running, children, suspended] = [
            record.born,
            record.running,
            record.children,
            record.suspended,
        ]
        .map(Short::get);
        let rested = record.rested.get();
        let (state, rested) = (rested & 3, rested / 4);
        let rests = if state & SUSPENDED != 0 { rested } else { 0 };
        let known = (born + running + children + suspended).wrapping_sub(rests);
        let last = known.wrapping_add_signed(record.more.into());
        let frame = Some(Addr(record.frame.get())).filter(|&frame| frame != Addr(0));
        Strand {
            id: StrandId::numbered(process, record.number.into()),
            parent: other(record.parent),
            resumer: other(record.resumer),
            frame,
            born: Nanos(born),
            last: Nanos(last),
            activations: record.activations.into(),
            running: Nanos(running),
            children: Nanos(children),
            suspended: Nanos(suspended),
            rests: Nanos(rests),
            calls: record.calls.into(),
            died: if state & DIED != 0 {
                last + rested
            } else {
                NEVER
            },
            entry: self.addresses.at(record.entry),
            left_at: self.addresses.at(record.left_at),
            words: None,
            thread: record.thread.into(),
            threads: record.threads.into(),
            slot: 0,
            resume_index: record.resume_index,
            kind: record.kind.kind(),
            doubts: record.kind.doubts(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A coroutine with this number, with all that one has.
    fn strand(number: usize) -> Strand {
        let (id, maker) = (StrandId::new(3, number), StrandId::new(3, 1));
        let mut strand = Strand::new(id, Kind::Coroutine, 4, Nanos(1_000_000 + number as u64), 9);
        strand.parent = Some(maker);
        strand.resumer = Some(StrandId::new(3, 2));
        strand.frame = Some(Addr(0x7fff_1234_5670 + number as u64));
        strand.activations = 7;
        strand.running = Nanos(500);
        strand.children = Nanos(60);
        strand.suspended = Nanos(9_000_000_000);
        strand.last = Nanos(9_001_000_567 + number as u64);
        strand.calls = 123;
        strand.threads = 2;
        strand.begins_with(Addr(0x5555_0000 + number as u64 % 3));
        strand.leaves_at(Addr(0x5555_1000 + number as u64 % 5));
        strand.is_left_behind(Some(4));
        strand.doubt(crate::Doubts::GAP);
        strand
    }

    /// Changes of that one; what is too large for a record is with those that are `false`.
    type Change = (bool, fn(&mut Strand));
    const CHANGES: [Change; 24] = [
        (true, |_| ()),
        (true, |strand| strand.parent = None),
        (true, |strand| strand.resumer = None),
        (true, |strand| strand.frame = None),
        (true, |strand| strand.dies(strand.last)),
        (true, |strand| strand.dies(Nanos(strand.last.0 + (1 << 40)))),
        (true, |strand| {
            strand.rests_until(Nanos(strand.last.0 + (1 << 40)))
        }),
        (true, |strand| strand.rests_until(strand.last)),
        (true, |strand| {
            let died = Nanos(strand.last.0 + 77);
            strand.rests_until(died);
            strand.dies(died);
        }),
        (false, |strand| {
            strand.rests_until(Nanos(strand.last.0 + 1));
            strand.dies(Nanos(strand.last.0 + 77));
        }),
        (true, |strand| strand.last.0 += 5),
        (true, |strand| strand.last.0 -= 5),
        (true, |strand| strand.set_suspended_at(None)),
        (false, |strand| strand.parent = Some(StrandId::new(2, 1))),
        (false, |strand| {
            strand.resumer = Some(StrandId::new(3, 1 << 33))
        }),
        (false, |strand| {
            strand.id = StrandId::new(300, strand.id.number() as usize);
        }),
        (false, |strand| strand.dies(Nanos(5))),
        (false, |strand| strand.last = Nanos(1 << 45)),
        (false, |strand| strand.calls = 1 << 32),
        (false, |strand| strand.activations = 1 << 32),
        (false, |strand| strand.running = Nanos(1 << 48)),
        (false, |strand| strand.threads = 256),
        (false, |strand| strand.thread = u32::from(WHOLE)),
        (false, |strand| strand.set_name("a name".into())),
    ];

    fn same(one: &Strand, other: &Strand) {
        let text = |strand: &Strand| {
            let strand = Strand {
                slot: 0,
                ..strand.clone()
            };
            format!("{strand:?}")
        };
        assert_eq!(text(one), text(other));
    }

    #[test]
    fn a_strand_comes_back_as_it_was() {
        for (is_small, change) in CHANGES {
            let (mut list, mut changed) = (StrandList::default(), strand(5));
            change(&mut changed);
            list.push(&changed);
            same(&list.get(0), &changed);
            assert_eq!(list.ids().next(), Some(changed.id));
            assert_eq!(list.whole.is_empty(), is_small, "{changed:?}");
            list.change_each(
                |_| true,
                |strand| {
                    strand.calls += 1;
                    true
                },
            );
            changed.calls += 1;
            same(&list.get(0), &changed);
            list.change_each(
                |_| true,
                |strand| {
                    strand.calls = 0;
                    false
                },
            );
            same(&list.get(0), &changed);
            list.change_each(
                |_| true,
                |strand| {
                    strand.calls = u64::MAX;
                    true
                },
            );
            changed.calls = u64::MAX;
            same(&list.get(0), &changed);
        }
    }

    #[test]
    fn lists_are_joined_and_sorted() {
        let (mut list, mut other) = (StrandList::default(), StrandList::default());
        for number in 0..100 {
            let mut one = strand((number * 37) % 100);
            CHANGES[number % CHANGES.len()].1(&mut one);
            match number % 3 {
                0 => list.push(&one),
                _ => other.push(&one),
            }
        }
        let mut all: Vec<Strand> = list.iter().chain(other.iter()).collect();
        list.append(other);
        assert_eq!(list.len(), 100);
        list.sort();
        all.sort_by_key(|strand| strand.id);
        list.iter()
            .zip(&all)
            .for_each(|(one, other)| same(&one, other));
        for index in [0, 42, 99] {
            let found = list.find(all[index].id).map(|index| list.get(index).id);
            assert_eq!(found, Some(all[index].id));
        }
        assert_eq!(list.find(StrandId::new(9, 9)), None);
    }

    #[test]
    fn many_addresses_are_kept_too() {
        let mut list = StrandList::default();
        for number in 0..70_000_u64 {
            let mut one = strand(number as usize);
            one.set_suspended_at(Some(Addr(number)));
            list.push(&one);
        }
        let mut all = list.iter().zip(0..);
        assert!(all.all(|(strand, number)| strand.left_at == Addr(number)));
        assert!(
            (4_000..5_000).contains(&list.whole.len()),
            "{}",
            list.whole.len()
        );
    }
}
