//! Completes the low 32 bits of an address by the modules of the moment.

use crate::modules::{Change, Modules};
use crate::{Addr, Ticks};
use std::ops::Range;

/// A stretch of the low 32 bits, and what to add to one of them for the whole address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Piece {
    low: u32,
    /// How many; 0 = it holds nothing.
    size: u32,
    base: u64,
}

impl Piece {
    #[inline]
    fn complete(self, low: u32) -> Option<u64> {
        (low.wrapping_sub(self.low) < self.size).then(|| self.base.wrapping_add(low.into()))
    }

    /// The part of it from `from` to before `to`.
    fn part(self, from: u64, to: u64) -> Option<Piece> {
        let (low, size) = (u32::try_from(from).ok()?, to.checked_sub(from)?);
        let size = u32::try_from(size).ok().filter(|&size| size > 0)?;
        Some(Piece { low, size, ..self })
    }

    fn begin(self) -> u64 {
        self.low.into()
    }

    fn end(self) -> u64 {
        u64::from(self.low) + u64::from(self.size)
    }
}

/// Pieces in order that do not overlap.
#[derive(Clone, Debug, Default)]
struct Layer(Vec<Piece>);

impl Layer {
    /// Lays a range of addresses over what is there.
    fn paint(&mut self, range: &Range<Addr>) {
        let low = range.start.0 as u32;
        // What is longer than 4 GiB says nothing about low bits beyond its first 4 GiB.
        let size = (range.end.0.saturating_sub(range.start.0)).min(u32::MAX.into()) as u32;
        let base = range.start.0 - u64::from(low);
        let all = Piece { low, size, base };
        let beyond = Piece {
            base: base.wrapping_add(1 << 32),
            ..all
        };
        let pieces = [
            all.part(all.begin(), all.end().min(1 << 32)),
            beyond.part(0, all.end().saturating_sub(1 << 32)),
        ];
        pieces
            .into_iter()
            .flatten()
            .for_each(|piece| self.put(piece));
    }

    fn put(&mut self, new: Piece) {
        let from = self.0.partition_point(|piece| piece.end() <= new.begin());
        let to = self.0.partition_point(|piece| piece.begin() < new.end());
        let covered = &self.0[from..to];
        let left = covered
            .first()
            .and_then(|piece| piece.part(piece.begin(), new.begin()));
        let right = covered
            .last()
            .and_then(|piece| piece.part(new.end(), piece.end()));
        let pieces = [left, Some(new), right];
        self.0.splice(from..to, pieces.into_iter().flatten());
    }

    fn find(&self, low: u32) -> Option<Piece> {
        let index = self.0.partition_point(|piece| piece.end() <= low.into());
        self.0.get(index).copied().filter(|piece| piece.low <= low)
    }
}

/// The addresses of one walk over a thread's events, whose times never decrease.
///
/// Nearly always the address is in the same text as the one before it: a subtraction, a comparison
/// and an addition.
#[derive(Clone, Debug)]
pub struct Addresses<'a> {
    changes: std::slice::Iter<'a, (Ticks, Change)>,
    modules: &'a Modules,
    /// Indices of the modules that are loaded, in order of their loads.
    loaded: Vec<usize>,
    texts: Layer,
    wholes: Layer,
    /// The texts that the latest function and the latest caller were in.
    function: Piece,
    caller: Piece,
    /// When modules change next.
    until: Ticks,
}

impl<'a> Addresses<'a> {
    pub fn new(modules: &'a Modules) -> Self {
        Addresses {
            changes: modules.changes().iter(),
            modules,
            loaded: Vec::new(),
            texts: Layer::default(),
            wholes: Layer::default(),
            function: Piece::default(),
            caller: Piece::default(),
            until: Ticks(0),
        }
    }

    /// Goes on to the modules of `now`.
    #[inline]
    pub fn advance(&mut self, now: Ticks) {
        if now >= self.until {
            self.change(now);
        }
    }

    /// The address of a function with these low bits; themselves where no module explains them.
    #[inline]
    pub fn function(&mut self, low: u32) -> Addr {
        match self.function.complete(low) {
            Some(address) => Addr(address),
            None => find(&self.texts, &self.wholes, &mut self.function, low),
        }
    }

    /// The same for a call site.
    #[inline]
    pub fn caller(&mut self, low: u32) -> Addr {
        match self.caller.complete(low) {
            Some(address) => Addr(address),
            None => find(&self.texts, &self.wholes, &mut self.caller, low),
        }
    }

    /// The address of a function that destroys coroutines. Of several modules that explain these
    /// low bits it is in the one that was loaded first: the program, rather than a library, has
    /// coroutines.
    pub fn destroyer(&mut self, low: u32) -> Addr {
        let explains = |index: &usize| {
            let text = &self.modules.get(*index)?.text;
            let size = text.end.0.saturating_sub(text.start.0);
            let behind = u64::from(low.wrapping_sub(text.start.0 as u32));
            (behind < size).then(|| Addr(text.start.0 + behind))
        };
        let first = self.loaded.iter().find_map(explains);
        first.unwrap_or_else(|| self.function(low))
    }

    #[cold]
    fn change(&mut self, now: Ticks) {
        let mut unloaded = false;
        while let Some((when, change)) = self.changes.as_slice().first() {
            if *when > now {
                break;
            }
            match *change {
                Change::Load(index) => {
                    self.loaded.push(index);
                    if !unloaded {
                        self.paint(index);
                    }
                }
                Change::Unload(index) => {
                    self.loaded.retain(|&other| other != index);
                    unloaded = true;
                }
            }
            self.changes.next();
        }
        if unloaded {
            self.texts.0.clear();
            self.wholes.0.clear();
            for index in std::mem::take(&mut self.loaded) {
                self.paint(index);
                self.loaded.push(index);
            }
        }
        let next = self.changes.as_slice().first();
        self.until = next.map_or(Ticks(u64::MAX), |(when, _)| *when);
        (self.function, self.caller) = Default::default();
    }

    fn paint(&mut self, index: usize) {
        if let Some(module) = self.modules.get(index) {
            self.texts.paint(&module.text);
            self.wholes.paint(&(module.start..module.end));
        }
    }
}

#[cold]
fn find(texts: &Layer, wholes: &Layer, hint: &mut Piece, low: u32) -> Addr {
    if let Some(piece) = texts.find(low) {
        *hint = piece;
        return Addr(piece.base.wrapping_add(low.into()));
    }
    // A piece of this layer may have texts in it: no hint.
    let base = wholes.find(low).map_or(0, |piece| piece.base);
    Addr(base.wrapping_add(low.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::TimeLine;

    fn modules(text: &str) -> Modules {
        let line = TimeLine::TICKS;
        let (modules, _) = Modules::parse("modules".as_ref(), text.as_bytes(), line, 3, 0).unwrap();
        modules
    }

    #[test]
    fn what_destroys_coroutines_is_the_programs_where_a_library_has_the_same_low_bits() {
        let modules = modules(
            "load 10 560b69aca000 560b69ad0000 560b69acb000 560b69acd000 0 - /app\n\
             load 10 7f7369a00000 7f7369c1a000 7f7369a99000 7f7369b9a000 0 - /library\n",
        );
        let mut addresses = Addresses::new(&modules);
        addresses.advance(Ticks(10));
        assert_eq!(addresses.destroyer(0x69ac_b810), Addr(0x560b_69ac_b810));
        assert_eq!(addresses.destroyer(0x69ac_d000), Addr(0x7f73_69ac_d000));
        assert_eq!(addresses.function(0x69ac_b810), Addr(0x7f73_69ac_b810));
    }

    #[test]
    fn an_address_is_completed_by_the_module_of_the_moment() {
        let modules = modules(
            "load 10 555500001000 555500005000 555500002000 555500003000 0 - /app\n\
             load 10 7f00ffffe000 7f0100004000 7f00fffff000 7f0100002000 0 - /across\n\
             load 20 66660000 66670000 66660000 66670000 0 - /plugin\nunload 30 66660000\n\
             load 40 777766660000 777766670000 777766660000 777766670000 0 - /next\n",
        );
        let mut addresses = Addresses::new(&modules);
        addresses.advance(Ticks(5));
        assert_eq!(
            addresses.function(0x2010),
            Addr(0x2010),
            "nothing is loaded"
        );
        addresses.advance(Ticks(10));
        for round in 0..2 {
            let function = [0x2010, 0xffff_f010, 0x1010, 0x4fff].map(|low| addresses.function(low));
            let expected = [
                0x5555_0000_2010,
                0x7f00_ffff_f010,
                0x7f01_0000_1010,
                0x5555_0000_4fff,
            ];
            assert_eq!(function, expected.map(Addr), "round {round}");
        }
        for (time, expected) in [
            (19, 0x6666_0008),
            (20, 0x6666_0008),
            (30, 0x6666_0008),
            (40, 0x7777_6666_0008),
        ] {
            addresses.advance(Ticks(time));
            assert_eq!(addresses.caller(0x6666_0008), Addr(expected), "at {time}");
        }
        assert_eq!(addresses.function(0x2010), Addr(0x5555_0000_2010));
    }

    #[test]
    fn painting_keeps_what_is_not_covered() {
        let mut layer = Layer::default();
        layer.paint(&(Addr(0x1_0000_0010)..Addr(0x1_0000_0050)));
        layer.paint(&(Addr(0x2_0000_0020)..Addr(0x2_0000_0030)));
        layer.paint(&(Addr(5)..Addr(5)));
        let at = |low| layer.find(low).map(|piece| piece.base >> 32);
        let found = [0xf, 0x10, 0x1f, 0x20, 0x2f, 0x30, 0x4f, 0x50].map(at);
        let (one, two) = (Some(1), Some(2));
        assert_eq!(found, [None, one, one, two, two, one, one, None]);
    }
}
