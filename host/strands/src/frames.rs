//! Coroutines' frames by their addresses, in few bytes each: a million may be there at once.

use crate::StrandId;
use heddle_trace_file::Addr;

/// Memory that may be a coroutine's frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    /// The strand that ran then; `None` if the trace does not tell.
    pub maker: Option<StrandId>,
    pub time: u64,
    /// When that ramp returned; 0: it has not, or was not seen.
    left: u64,
    /// The ramp's address.
    function: Addr,
    /// Index of the thread, in its process.
    thread: u32,
    /// The number of the ramp whose first allocation it was, or [`NO_RAMP`].
    ramp: u32,
}

const NO_RAMP: u32 = u32::MAX;

impl Made {
    /// By this thread, which ran `maker`; `ramp`: the one whose first allocation it was, by its
    /// number and address.
    pub fn new(
        maker: Option<StrandId>,
        (thread, time): (usize, u64),
        ramp: Option<(u32, Addr)>,
    ) -> Self {
        let (ramp, function) = ramp.unwrap_or((NO_RAMP, Addr(0)));
        Made {
            maker,
            time,
            left: 0,
            function,
            thread: thread as u32,
            ramp,
        }
    }

    /// The same, by a ramp that returned at `time`.
    pub fn left(self, time: u64) -> Self {
        Made { left: time, ..self }
    }

    /// The ramp whose first allocation it was: its number and address.
    pub fn ramp(&self) -> Option<(u32, Addr)> {
        (self.ramp != NO_RAMP).then_some((self.ramp, self.function))
    }

    /// Index of the thread, in its process.
    pub fn thread(&self) -> usize {
        self.thread as usize
    }

    /// When what its ramp did of it was over, if another thing is done with it at `time`: it was
    /// suspended since then. Of a ramp that was not seen, that is not known.
    pub fn rests_since(&self, time: u64) -> u64 {
        match (self.left, self.ramp()) {
            (0, None) => self.time,
            (0, Some(_)) => time,
            (left, _) => left,
        }
    }
}

/// Numbers of things that have frames, by the frames' addresses. Only the numbers are kept: each
/// method is told where a thing with some number has its frame, which must not change meanwhile.
///
/// A hash table with linear probing, of which at most three quarters are taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameTable {
    /// [`FrameTable::NONE`] where there is none; as many as a power of two, or one and a half times
    /// that: a million are there in 6 MB.
    cells: Vec<u32>,
    len: usize,
}

impl FrameTable {
    const NONE: u32 = u32::MAX;
    const LEAST: usize = 16;
    /// From so many cells on it grows in smaller steps.
    const MANY: usize = 1 << 20;

    /// Where the search for a frame begins. What `malloc` gives is at a multiple of 16, and frames
    /// of one coroutine are often at equal distances: of a product with the golden ratio, the
    /// highest bits lie evenly then (Knuth, The Art of Computer Programming 3, 6.4), and others do
    /// not.
    fn home(&self, frame: Addr) -> usize {
        let mixed = (frame.0 >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The highest 32 bits, of the range that the cells have.
        (((mixed >> 32) * self.cells.len() as u64) >> 32) as usize
    }

    /// The cell behind this one.
    #[inline]
    fn next(&self, cell: usize) -> usize {
        match cell + 1 {
            end if end == self.cells.len() => 0,
            next => next,
        }
    }

    /// How many cells a search that begins at `from` goes on to `to`.
    fn distance(&self, from: usize, to: usize) -> usize {
        match to.checked_sub(from) {
            Some(distance) => distance,
            None => to + self.cells.len() - from,
        }
    }

    /// The cell of the number with this frame, or else the free one where it would be; there must
    /// be a free one.
    fn cell(&self, frame: Addr, frame_of: &impl Fn(u32) -> Addr) -> usize {
        let mut cell = self.home(frame);
        loop {
            match self.cells[cell] {
                Self::NONE => return cell,
                number if frame_of(number) == frame => return cell,
                _ => cell = self.next(cell),
            }
        }
    }

    /// The number with this frame.
    pub fn get(&self, frame: Addr, frame_of: impl Fn(u32) -> Addr) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        let number = self.cells[self.cell(frame, &frame_of)];
        (number != Self::NONE).then_some(number)
    }

    /// Has this number be the one with this frame, instead of another.
    pub fn insert(&mut self, frame: Addr, number: u32, frame_of: impl Fn(u32) -> Addr) {
        if (self.len + 1) * 4 > self.cells.len() * 3 {
            let cells = match self.cells.len() {
                few if few < Self::MANY => (few * 2).max(Self::LEAST),
                power if power.is_power_of_two() => power + power / 2,
                between => between / 3 * 4,
            };
            let before = std::mem::replace(&mut self.cells, vec![Self::NONE; cells]);
            for number in before.into_iter().filter(|&number| number != Self::NONE) {
                // No two have one frame, so that only free cells have to be told from others.
                let mut cell = self.home(frame_of(number));
                while self.cells[cell] != Self::NONE {
                    cell = self.next(cell);
                }
                self.cells[cell] = number;
            }
        }
        let cell = self.cell(frame, &frame_of);
        self.len += usize::from(self.cells[cell] == Self::NONE);
        self.cells[cell] = number;
    }

    /// Removes the number with this frame.
    pub fn remove(&mut self, frame: Addr, frame_of: impl Fn(u32) -> Addr) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        let cell = self.cell(frame, &frame_of);
        let number = self.cells[cell];
        if number == Self::NONE {
            return None;
        }
        self.empty(cell, frame_of);
        Some(number)
    }

    /// Removes this number, if it is the one with this frame.
    pub fn forget(&mut self, frame: Addr, number: u32, frame_of: impl Fn(u32) -> Addr) {
        if self.len > 0 {
            let cell = self.cell(frame, &frame_of);
            if self.cells[cell] == number {
                self.empty(cell, frame_of);
            }
        }
    }

    /// Removes the number in this cell.
    fn empty(&mut self, cell: usize, frame_of: impl Fn(u32) -> Addr) {
        let (mut hole, mut next) = (cell, cell);
        // What is behind the hole moves into it, unless its search begins behind that.
        loop {
            next = self.next(next);
            let other = self.cells[next];
            if other == Self::NONE {
                break;
            }
            let home = self.home(frame_of(other));
            if self.distance(home, next) >= self.distance(hole, next) {
                self.cells[hole] = other;
                hole = next;
            }
        }
        self.cells[hole] = Self::NONE;
        self.len -= 1;
    }

    /// Removes all.
    pub fn clear(&mut self) {
        *self = FrameTable::default();
    }
}

/// Memory that may be frames, by address.
#[derive(Clone, Debug, Default)]
pub(crate) struct MadeFrames {
    table: FrameTable,
    all: Vec<(Addr, Made)>,
}

impl MadeFrames {
    /// The number of frames.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The frame at this address.
    pub fn get(&self, frame: Addr) -> Option<&Made> {
        let index = self.table.get(frame, |index| self.all[index as usize].0)?;
        Some(&self.all[index as usize].1)
    }

    /// The ramp that allocated the frame at this address has returned; whether there is one.
    pub fn ramp_left(&mut self, frame: Addr, time: u64) -> bool {
        let index = self.table.get(frame, |index| self.all[index as usize].0);
        let made = index.map(|index| &mut self.all[index as usize].1);
        made.map(|made| made.left = time).is_some()
    }

    /// Adds a frame, instead of what was at this address.
    pub fn insert(&mut self, frame: Addr, made: Made) {
        let _: Option<Made> = self.remove(frame);
        let all = &mut self.all;
        all.push((frame, made));
        let index = all.len() as u32 - 1;
        self.table
            .insert(frame, index, |index| all[index as usize].0);
    }

    /// Removes the frame at this address.
    pub fn remove(&mut self, frame: Addr) -> Option<Made> {
        /// Memory for so few is kept.
        const FEW: usize = 1 << 12;
        let all = &mut self.all;
        let index = self.table.remove(frame, |index| all[index as usize].0)?;
        if let Some(&(last, _)) = all.last()
            && last != frame
        {
            // The last one comes into its place.
            self.table.remove(last, |index| all[index as usize].0);
            let from = all.len() - 1;
            all.swap(index as usize, from);
            self.table
                .insert(last, index, |index| all[index as usize].0);
        }
        let (_, made) = all.pop()?;
        if all.capacity() > FEW && all.len() < all.capacity() / 2 {
            all.shrink_to(all.len() + all.len() / 2);
            self.table = FrameTable::default();
            for index in 0..all.len() {
                let frame_of = |index: u32| all[index as usize].0;
                self.table.insert(all[index].0, index as u32, frame_of);
            }
        }
        Some(made)
    }

    /// Removes all, and gives them.
    pub fn take(&mut self) -> Vec<(Addr, Made)> {
        std::mem::take(self).all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn made(time: u64) -> Made {
        Made::new(None, (0, time), None)
    }

    /// The cells that are looked at to find each of `count` frames at equal distances, on average;
    /// and to find that as many others are not there.
    fn probes(count: u32, distance: u64) -> (f64, f64) {
        let frame_of = |number: u32| Addr(0x7f12_3456_7010 + u64::from(number) * distance);
        let mut table = FrameTable::default();
        for number in 0..count {
            table.insert(frame_of(number), number, frame_of);
        }
        let looked_at = |numbers: std::ops::Range<u32>| {
            let cells = numbers.map(|number| {
                let frame = frame_of(number);
                table.distance(table.home(frame), table.cell(frame, &frame_of)) + 1
            });
            cells.sum::<usize>() as f64 / f64::from(count)
        };
        (looked_at(0..count), looked_at(count..2 * count))
    }

    #[test]
    fn searches_for_frames_at_equal_distances_are_short() {
        // What `malloc` gives for frames of 40 bytes to 4 KB, and frames in pages of their own.
        let distances = [48, 64, 96, 112, 144, 272, 4096, 4112];
        let few = distances.map(|distance| [(1_000, distance), (98_000, distance)]);
        // So many have one and a half times a power of two.
        let all = few.into_iter().flatten().chain([(800_000, 112)]);
        for (count, distance) in all {
            let (found, missing) = probes(count, distance);
            // At random places, where three of four cells are taken, 2.5 and 8.5.
            assert!(
                found < 4.5 && missing < 10.0,
                "{count} frames every {distance} bytes: {found} cells, {missing} if not there"
            );
        }
    }

    #[test]
    fn frames_are_found_as_in_a_map() {
        let (mut frames, mut map) = (MadeFrames::default(), HashMap::new());
        let mut random = 1_u64;
        for time in 0..200_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let frame = Addr((random >> 33) % 4096 * 16);
            match time / 20_000 % 2 == 0 || random >> 60 < 5 {
                true => {
                    frames.insert(frame, made(time));
                    map.insert(frame, time);
                }
                false => {
                    let removed = frames.remove(frame).map(|made| made.time);
                    assert_eq!(removed, map.remove(&frame));
                }
            }
            let near = Addr(frame.0 ^ 16);
            let found = frames.get(near).map(|made| made.time);
            assert_eq!((frames.len(), found), (map.len(), map.get(&near).copied()));
        }
        let all: HashMap<Addr, u64> = frames
            .take()
            .into_iter()
            .map(|(at, made)| (at, made.time))
            .collect();
        assert_eq!(all, map);
    }
}
