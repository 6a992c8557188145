//! Values by address, in order: what is asked for is mostly near what was asked for before.
//!
//! The entries lie in pieces of at most [`PIECE`], each in order, and the pieces in order. A search
//! begins where the search before it has ended, so that a walk over neighbours (fibers whose stacks
//! lie side by side, resumed in turn) costs a few comparisons. Else it is a binary search in the
//! same piece, or one more, among the pieces' lowest addresses.

use std::cell::Cell;

/// Entries of a piece at most: its addresses are 512 bytes.
const PIECE: usize = 64;

/// Values by address.
#[derive(Clone, Debug)]
pub(crate) struct AddressMap<V> {
    /// All pieces, in one table: an allocation for each would cost as much as what is done to them.
    pieces: Vec<Piece<V>>,
    /// The indices of those that have entries, in order of their addresses.
    order: Vec<u32>,
    /// The lowest address of each, in the same order.
    lowest: Vec<u64>,
    /// The indices of the others.
    free: Vec<u32>,
    /// The piece that was searched last, by its place in the order.
    recent: Cell<usize>,
    /// The index that was found in it.
    found: Cell<usize>,
}

/// Some entries: addresses in order, and their values.
#[derive(Clone, Debug)]
struct Piece<V> {
    len: usize,
    /// Behind the last entry's, the highest there is: so a search need not know how many there are.
    addresses: [u64; PIECE],
    values: [V; PIECE],
}

/// A place between two entries: the piece, by its place in the order, and the index in it of the
/// entry behind the place.
type Gap = (usize, usize);

impl<V> Default for AddressMap<V> {
    fn default() -> Self {
        AddressMap {
            pieces: Vec::new(),
            order: Vec::new(),
            lowest: Vec::new(),
            free: Vec::new(),
            recent: Cell::new(0),
            found: Cell::new(0),
        }
    }
}

impl<V: Copy> Piece<V> {
    fn of(address: u64, value: V) -> Self {
        let mut addresses = [u64::MAX; PIECE];
        addresses[0] = address;
        Piece {
            len: 1,
            addresses,
            values: [value; PIECE],
        }
    }

    fn addresses(&self) -> &[u64] {
        self.addresses.get(..self.len).unwrap_or_default()
    }

    /// The index of the next entry at or above `address`; `near`: that of the search before.
    #[inline]
    fn search(&self, address: u64, near: usize) -> usize {
        let (all, near) = (&self.addresses, near % PIECE);
        // One after another asks for the same, or for the next one.
        if address <= all[near] {
            if near == 0 || all[near - 1] < address {
                return near;
            }
        } else if all.get(near + 1).is_some_and(|&at| address <= at) {
            return near + 1;
        }
        all.partition_point(|&at| at < address)
    }

    /// There must be room.
    #[inline]
    fn insert(&mut self, index: usize, address: u64, value: V) {
        if index < self.len {
            self.addresses.copy_within(index..self.len, index + 1);
            self.values.copy_within(index..self.len, index + 1);
        }
        (self.addresses[index], self.values[index]) = (address, value);
        self.len += 1;
    }

    fn remove(&mut self, index: usize) -> V {
        let value = self.values[index];
        self.addresses.copy_within(index + 1..self.len, index);
        self.values.copy_within(index + 1..self.len, index);
        self.len -= 1;
        self.addresses[self.len] = u64::MAX;
        value
    }

    /// Takes the upper half away.
    fn split(&mut self) -> Self {
        let mut upper = self.clone();
        let half = self.len / 2;
        upper.addresses.copy_within(half.., 0);
        upper.values.copy_within(half.., 0);
        upper.len = self.len - half;
        self.len = half;
        self.addresses[half..].fill(u64::MAX);
        upper.addresses[upper.len..].fill(u64::MAX);
        upper
    }

    /// Adds the entries of the next piece, for which there must be room.
    fn append(&mut self, next: &Self) {
        let all = self.len..self.len + next.len;
        self.addresses[all.clone()].copy_from_slice(&next.addresses[..next.len]);
        self.values[all.clone()].copy_from_slice(&next.values[..next.len]);
        self.len = all.end;
    }
}

impl<V: Copy> AddressMap<V> {
    /// The place in the order of the piece that has `address`, if any has: of the last that begins
    /// at or below it, or of the first.
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

    /// The piece at this place in the order.
    #[inline]
    fn at(&self, place: usize) -> Option<&Piece<V>> {
        let &index = self.order.get(place)?;
        self.pieces.get(index as usize)
    }

    #[inline]
    fn at_mut(&mut self, place: usize) -> Option<&mut Piece<V>> {
        let &index = self.order.get(place)?;
        self.pieces.get_mut(index as usize)
    }

    /// The place right before the entry at `address`, or where that would be; and whether there is
    /// one. The entry behind the place is the next at or above `address`.
    #[inline]
    fn find(&self, address: u64) -> (Gap, bool) {
        let place = self.piece(address);
        let Some(piece) = self.at(place) else {
            return ((0, 0), false);
        };
        let index = piece.search(address, self.found.get());
        self.found.set(index);
        let found = index < piece.len && piece.addresses.get(index) == Some(&address);
        ((place, index), found)
    }

    /// Whether there are no entries.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The value at this address.
    #[inline]
    pub fn get(&self, address: u64) -> Option<&V> {
        let ((place, index), found) = self.find(address);
        self.at(place)
            .filter(|_| found)
            .map(|piece| &piece.values[index])
    }

    /// Has `value` be the one at this address; gives the one that was there.
    pub fn insert(&mut self, address: u64, value: V) -> Option<V> {
        let ((at, index), found) = self.find(address);
        let last = self.order.len().saturating_sub(1);
        let Some(piece) = self.at_mut(at) else {
            self.add(0, Piece::of(address, value));
            return None;
        };
        if found {
            return Some(std::mem::replace(&mut piece.values[index], value));
        }
        if piece.len < PIECE {
            piece.insert(index, address, value);
            let low = piece.addresses[0];
            self.lowest[at] = low;
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

    /// Adds a piece at this place in the order.
    fn add(&mut self, at: usize, piece: Piece<V>) {
        self.lowest.insert(at, piece.addresses[0]);
        let index = match self.free.pop() {
            Some(index) => {
                self.pieces[index as usize] = piece;
                index
            }
            None => {
                self.pieces.push(piece);
                self.pieces.len() as u32 - 1
            }
        };
        self.order.insert(at, index);
        self.recent.set(at);
    }

    /// Takes the piece at this place away from the others; gives its index.
    fn drop_piece(&mut self, at: usize) -> usize {
        self.lowest.remove(at);
        let index = self.order.remove(at);
        self.free.push(index);
        index as usize
    }

    /// Removes the value at this address.
    pub fn remove(&mut self, address: u64) -> Option<V> {
        let ((at, index), true) = self.find(address) else {
            return None;
        };
        let piece = self.at_mut(at)?;
        let value = piece.remove(index);
        let (left, low) = (piece.len, piece.addresses[0]);
        match left {
            0 => {
                self.drop_piece(at);
            }
            _ => self.lowest[at] = low,
        }
        // Pieces that have become small would make many.
        let next = self.at(at + 1).map(|next| next.len);
        if left > 0 && next.is_some_and(|next| left + next <= PIECE / 2) {
            let next = self.drop_piece(at + 1);
            let next = self.pieces[next].clone();
            self.at_mut(at)?.append(&next);
        }
        Some(value)
    }

    /// The place right before the next entry at or above `address`, which may be in the next piece.
    #[inline]
    fn next_gap(&self, address: u64) -> Option<Gap> {
        let ((place, index), _) = self.find(address);
        match index == self.at(place)?.len {
            true => Some((place + 1, 0)),
            false => Some((place, index)),
        }
    }

    /// The value of the next entry at or above `address`.
    #[inline]
    pub fn next(&self, address: u64) -> Option<&V> {
        let (place, index) = self.next_gap(address)?;
        self.at(place).map(|piece| &piece.values[index])
    }

    /// The value of the next entry at or above `address`, to be changed.
    pub fn next_mut(&mut self, address: u64) -> Option<&mut V> {
        let (place, index) = self.next_gap(address)?;
        self.at_mut(place).map(|piece| &mut piece.values[index])
    }

    /// The entries at and above `address`, the nearest first.
    pub fn from(&self, address: u64) -> impl Iterator<Item = (u64, &V)> {
        let ((mut place, mut index), _) = self.find(address);
        std::iter::from_fn(move || {
            let mut piece = self.at(place)?;
            if index == piece.len {
                (place, index) = (place + 1, 0);
                piece = self.at(place)?;
            }
            index += 1;
            Some((piece.addresses[index - 1], &piece.values[index - 1]))
        })
    }

    /// The entries below `address`, the nearest first.
    pub fn below(&self, address: u64) -> impl Iterator<Item = (u64, &V)> {
        let ((mut place, mut index), _) = self.find(address);
        std::iter::from_fn(move || {
            if index == 0 {
                place = place.checked_sub(1)?;
                index = self.at(place)?.len;
            }
            let piece = self.at(place)?;
            index -= 1;
            Some((piece.addresses[index], &piece.values[index]))
        })
    }

    /// The nearest entry below `address`, and the nearest at or above it.
    #[inline]
    pub fn around(&self, address: u64) -> [Option<(u64, &V)>; 2] {
        let ((place, index), _) = self.find(address);
        let entry = |place: usize, index: usize| {
            let piece = self.at(place)?;
            Some((*piece.addresses().get(index)?, &piece.values[index]))
        };
        let below = match index {
            0 => place.checked_sub(1).and_then(|place| {
                let last = self.at(place)?.len.checked_sub(1)?;
                entry(place, last)
            }),
            _ => entry(place, index - 1),
        };
        let above = entry(place, index);
        [below, above.or_else(|| entry(place + 1, 0))]
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
            let near = |entry: Option<(&u64, &u32)>| entry.map(|(&at, &value)| (at, value));
            let below = near(self.theirs.range(..at).next_back());
            let above = near(self.theirs.range(at..).next());
            let around = self.ours.around(at);
            let around = around.map(|entry| entry.map(|(at, &value)| (at, value)));
            assert_eq!(around, [below, above]);
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
            assert_eq!(both.ours.order.len(), 10);
        }
    }
}
