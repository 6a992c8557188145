//! Values by address, in order: what is asked for is mostly near what was asked for before.
//!
//! The entries lie in pieces of at most [`PIECE`], each in order, and the pieces in order. A search
//! begins in the piece of the search before it, so that a walk over neighbours (fibers whose stacks
//! lie side by side, resumed in turn) costs a comparison of bounds and a search among a few
//! addresses in one place. Else it is one binary search more, among the pieces' lowest addresses.

use std::cell::Cell;

/// Entries of a piece at most: its addresses are 512 bytes.
const PIECE: usize = 64;

/// Values by address.
#[derive(Clone, Debug)]
pub(crate) struct AddressMap<V> {
    pieces: Vec<Piece<V>>,
    /// The lowest address of each piece.
    lowest: Vec<u64>,
    /// The piece that was searched last.
    recent: Cell<usize>,
}

/// Some entries, never none: addresses in order, and their values.
#[derive(Clone, Debug)]
struct Piece<V> {
    addresses: Vec<u64>,
    values: Vec<V>,
}

/// A place between two entries: the piece, and the index in it of the entry behind the place.
type Gap = (usize, usize);

impl<V> Default for AddressMap<V> {
    fn default() -> Self {
        AddressMap {
            pieces: Vec::new(),
            lowest: Vec::new(),
            recent: Cell::new(0),
        }
    }
}

impl<V> Piece<V> {
    fn of(address: u64, value: V) -> Self {
        let mut piece = Piece {
            addresses: Vec::with_capacity(PIECE),
            values: Vec::with_capacity(PIECE),
        };
        piece.insert(0, address, value);
        piece
    }

    fn insert(&mut self, index: usize, address: u64, value: V) {
        self.addresses.insert(index, address);
        self.values.insert(index, value);
    }

    /// Takes the upper half away.
    fn split(&mut self) -> Self {
        let half = self.addresses.len() / 2;
        let mut upper = Piece {
            addresses: Vec::with_capacity(PIECE),
            values: Vec::with_capacity(PIECE),
        };
        upper.addresses.extend(self.addresses.drain(half..));
        upper.values.extend(self.values.drain(half..));
        upper
    }

    fn append(&mut self, mut other: Self) {
        self.addresses.append(&mut other.addresses);
        self.values.append(&mut other.values);
    }
}

impl<V> AddressMap<V> {
    /// The piece that has `address`, if any has: the last that begins at or below it, or the first.
    #[inline]
    fn piece(&self, address: u64) -> usize {
        let recent = self.recent.get();
        if self.lowest.get(recent).is_some_and(|&low| low <= address)
            && self.lowest.get(recent + 1).is_none_or(|&low| address < low)
        {
            return recent;
        }
        let after = self.lowest.partition_point(|&low| low <= address);
        let found = after.saturating_sub(1);
        self.recent.set(found);
        found
    }

    /// The place right before the entry at `address`, or where that would be; and whether there is
    /// one. The entry behind the place is the next at or above `address`.
    #[inline]
    fn find(&self, address: u64) -> (Gap, bool) {
        let piece = self.piece(address);
        let Some(entries) = self.pieces.get(piece) else {
            return ((0, 0), false);
        };
        let index = entries.addresses.partition_point(|&at| at < address);
        let found = entries.addresses.get(index) == Some(&address);
        ((piece, index), found)
    }

    /// The value at this address.
    #[inline]
    pub fn get(&self, address: u64) -> Option<&V> {
        let ((piece, index), found) = self.find(address);
        found.then(|| &self.pieces[piece].values[index])
    }

    /// Has `value` be the one at this address; gives the one that was there.
    pub fn insert(&mut self, address: u64, value: V) -> Option<V> {
        let ((at, index), found) = self.find(address);
        let last = self.pieces.len().saturating_sub(1);
        let Some(piece) = self.pieces.get_mut(at) else {
            self.add(0, Piece::of(address, value));
            return None;
        };
        if found {
            return Some(std::mem::replace(&mut piece.values[index], value));
        }
        if piece.addresses.len() < PIECE {
            piece.insert(index, address, value);
            self.lowest[at] = piece.addresses[0];
            return None;
        }
        // Stacks are often made in order of their addresses, upwards or downwards.
        if index == PIECE && at == last {
            self.add(at + 1, Piece::of(address, value));
        } else if index == 0 && at == 0 {
            self.add(0, Piece::of(address, value));
        } else {
            let upper = piece.split();
            self.add(at + 1, upper);
            self.insert(address, value);
        }
        None
    }

    /// Adds a piece before the one with this index.
    fn add(&mut self, at: usize, piece: Piece<V>) {
        self.lowest.insert(at, piece.addresses[0]);
        self.pieces.insert(at, piece);
        self.recent.set(at);
    }

    /// Removes the value at this address.
    pub fn remove(&mut self, address: u64) -> Option<V> {
        let ((at, index), true) = self.find(address) else {
            return None;
        };
        let piece = &mut self.pieces[at];
        piece.addresses.remove(index);
        let value = piece.values.remove(index);
        let left = piece.addresses.len();
        match piece.addresses.first() {
            Some(&low) => self.lowest[at] = low,
            None => {
                self.pieces.remove(at);
                self.lowest.remove(at);
            }
        }
        // Pieces that have become small would make many.
        let next = self.pieces.get(at + 1).map(|next| next.addresses.len());
        if left > 0 && next.is_some_and(|next| left + next <= PIECE / 2) {
            let next = self.pieces.remove(at + 1);
            self.lowest.remove(at + 1);
            self.pieces[at].append(next);
        }
        Some(value)
    }

    /// The value of the next entry at or above `address`.
    #[inline]
    pub fn next(&self, address: u64) -> Option<&V> {
        let ((mut piece, mut index), _) = self.find(address);
        if index == self.pieces.get(piece)?.addresses.len() {
            (piece, index) = (piece + 1, 0);
        }
        self.pieces.get(piece)?.values.get(index)
    }

    /// The entries at and above `address`, the nearest first.
    pub fn from(&self, address: u64) -> impl Iterator<Item = (u64, &V)> {
        let ((mut piece, mut index), _) = self.find(address);
        std::iter::from_fn(move || {
            let mut entries = self.pieces.get(piece)?;
            if index == entries.addresses.len() {
                (piece, index) = (piece + 1, 0);
                entries = self.pieces.get(piece)?;
            }
            index += 1;
            Some((entries.addresses[index - 1], &entries.values[index - 1]))
        })
    }

    /// The entries below `address`, the nearest first.
    pub fn below(&self, address: u64) -> impl Iterator<Item = (u64, &V)> {
        let ((mut piece, mut index), _) = self.find(address);
        std::iter::from_fn(move || {
            if index == 0 {
                piece = piece.checked_sub(1)?;
                index = self.pieces[piece].addresses.len();
            }
            let entries = self.pieces.get(piece)?;
            index -= 1;
            Some((entries.addresses[index], &entries.values[index]))
        })
    }

    /// The value of the next entry at or above `address`, to be changed.
    pub fn next_mut(&mut self, address: u64) -> Option<&mut V> {
        let ((mut piece, mut index), _) = self.find(address);
        if index == self.pieces.get(piece)?.addresses.len() {
            (piece, index) = (piece + 1, 0);
        }
        self.pieces.get_mut(piece)?.values.get_mut(index)
    }

    /// Removes all.
    pub fn clear(&mut self) {
        *self = AddressMap::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// The same entries in the map and in the standard library's.
    #[derive(Default)]
    struct Both {
        ours: AddressMap<u32>,
        theirs: BTreeMap<u64, u32>,
    }

    impl Both {
        fn insert(&mut self, at: u64, value: u32) {
            let before = self.theirs.insert(at, value);
            assert_eq!(self.ours.insert(at, value), before);
        }

        fn remove(&mut self, at: u64) {
            assert_eq!(self.ours.remove(at), self.theirs.remove(&at));
        }

        fn are_alike_near(&mut self, at: u64) {
            assert_eq!(self.ours.get(at), self.theirs.get(&at));
            let above = self.theirs.range(at..).map(|(&at, value)| (at, value));
            let below = self.theirs.range(..at).map(|(&at, value)| (at, value));
            assert!(self.ours.from(at).take(80).eq(above.take(80)));
            assert!(self.ours.below(at).take(80).eq(below.rev().take(80)));
            let next = self.theirs.range(at..).next().map(|(_, value)| value);
            assert_eq!(self.ours.next(at), next);
            let next = self.theirs.range_mut(at..).next().map(|(_, value)| value);
            assert_eq!(self.ours.next_mut(at), next);
        }
    }

    #[test]
    fn entries_are_found_as_in_a_map() {
        let (mut both, mut random) = (Both::default(), 1_u64);
        for step in 0..40_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let at = (random >> 33) % 4096 * 16;
            match step / 10_000 % 2 == 0 || random >> 60 < 5 {
                true => both.insert(at, step),
                false => both.remove(at),
            }
            both.are_alike_near(at ^ 16);
        }
        for at in (0..4096).map(|number| number * 16) {
            both.remove(at);
            both.are_alike_near(at);
        }
        assert!(both.theirs.is_empty());
    }

    #[test]
    fn addresses_in_order_fill_whole_pieces() {
        for downwards in [false, true] {
            let (mut both, count) = (Both::default(), 10 * PIECE as u64);
            for number in 0..count {
                let place = if downwards { count - number } else { number };
                both.insert(place << 13, number as u32);
                both.are_alike_near(place << 13);
            }
            assert_eq!(both.ours.pieces.len(), 10);
        }
    }
}
