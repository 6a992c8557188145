//! The strands that live, in slots that are used again.
//!
//! A million coroutines may be alive at once, so that a strand is kept in few bytes ([`Live`]), as
//! long as its numbers are not very large; else it is kept whole ([`Whole`]). What happens often is
//! done to those bytes; everything else is done to the whole strand, which is made of them and put
//! back ([`Slots::change`]).

mod entries;
mod often;
mod packing;
mod whole;

use crate::brief::{Brief, Live, NOWHERE};
use crate::kind_and_doubts::KindAndDoubts;
use crate::short::Short;
use crate::sink::Sink;
use crate::strand::{NEVER, NO_INDEX, Words};
use crate::{Doubts, Kind, Strand, StrandId, Unresolved};
use entries::Entries;
use heddle_trace_file::{Addr, Nanos, Thread};
use rustc_hash::FxHashMap;
use std::cell::LazyCell;
pub(crate) use whole::GoesOn;
use whole::Whole;

/// No slot.
const NONE: u32 = u32::MAX;

/// It has been destroyed, though calls of it may be open.
const DYING: u8 = 1;
/// It was made, but no call of it was entered yet.
const FRESH: u8 = 2;
/// It was destroyed when it ran last.
const DEAD: u8 = 4;
/// It is an instance whose frame was not seen to be allocated.
const ELSEWHERE: u8 = 32;
/// The trace ends while it runs.
const CUT: u8 = 64;
/// It has [`Words`], which are in [`Slots::words`].
const WORDY: u8 = 8;
/// Its facts are in [`Slots::whole`], and the fields of [`Live`] mean nothing, but for the state.
const WHOLE: u8 = 16;

/// The facts of a strand that has just begun.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Begun {
    /// The coroutine that it is an instance of.
    pub coroutine: u32,
    pub parent: Option<StrandId>,
    /// Where the frame of a coroutine is.
    pub frame: Option<Addr>,
    /// See [`Strand::entry`].
    pub entry: Addr,
    pub doubts: Doubts,
}

/// Live strands by slot. They lie in pieces of [`PIECE`] slots: when a million have been alive and
/// end one after another, the memory of each piece is given back while a sink takes more for them.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// A piece that was given back is empty.
    pieces: Vec<Vec<Option<Live>>>,
    /// The number of strands in each.
    taken: Vec<u32>,
    /// The slots of each piece whose strands have ended, by their places in it: none of one that
    /// was given back.
    free: Vec<Vec<u16>>,
    /// The pieces that have such slots; some may have been given back since.
    open: Vec<usize>,
    /// The pieces that were given back.
    gone: Vec<usize>,
    /// The piece that has slots which were never used, if one has.
    unused: Option<usize>,
    /// The memory of a piece that was given back: the next strand may need it, once one has.
    spare: Vec<Option<Live>>,
    /// A piece was needed again that had been given back.
    has_spare: bool,
    /// What few strands have, by slot.
    words: FxHashMap<u32, Box<Words>>,
    /// The strands that do not fit into few bytes, by slot.
    whole: FxHashMap<u32, Box<Whole>>,
    entries: Entries,
    /// The slot of the strand on which calls are entered, and how many were since it was that: they
    /// are not among its own yet.
    entering: (u32, u32),
    next: StrandId,
    /// Those that have ended and are not sure.
    unsure: Unresolved,
}

/// Slots in a piece: as many as a huge page has room for.
const PIECE: usize = (2 << 20) / size_of::<Option<Live>>();

/// The bits of a slot's number that say its place in its piece. A slot is looked up several times
/// an event, and a shift is quicker than a division: so places from [`PIECE`] up to the next power
/// of two are never used.
const PLACE_BITS: u32 = (PIECE - 1).ilog2() + 1;
const _: () = assert!(PLACE_BITS <= u16::BITS);

/// The slot at this place in a piece.
#[inline]
fn slot_at(piece: usize, place: usize) -> u32 {
    (piece << PLACE_BITS | place) as u32
}

/// The piece that a slot is in, and its place there.
#[inline]
fn place_of(slot: u32) -> (usize, usize) {
    let place = slot & ((1 << PLACE_BITS) - 1);
    ((slot >> PLACE_BITS) as usize, place as usize)
}

impl Slots {
    /// Makes slots whose strands are numbered from `first`.
    pub fn new(first: StrandId) -> Self {
        Slots {
            pieces: Vec::new(),
            taken: Vec::new(),
            free: Vec::new(),
            open: Vec::new(),
            gone: Vec::new(),
            unused: None,
            spare: Vec::new(),
            has_spare: false,
            words: FxHashMap::default(),
            whole: FxHashMap::default(),
            entries: Entries::default(),
            entering: (NONE, 0),
            next: first,
            unsure: Unresolved::default(),
        }
    }

    /// A thread, which has its number already.
    pub fn add_thread(&mut self, id: StrandId, index: usize, thread: &Thread) -> u32 {
        let slot = self.free_slot();
        let whole = Whole {
            strand: Strand::of_thread(id, index, thread, slot),
            open: 0,
            coroutine: 0,
            on: Some(index as u32),
        };
        let live = self.packed(slot, whole, 0);
        self.put(slot, live);
        slot
    }

    /// A new strand of another kind.
    pub fn add(&mut self, kind: Kind, thread: usize, born: Nanos, begun: Begun) -> u32 {
        let id = self.next;
        self.next = id.next();
        let slot = self.free_slot();
        let live = match self.begun(id, (kind, thread, born), begun) {
            Some(live) => live,
            None => {
                let mut strand = Strand::new(id, kind, thread, born, slot);
                strand.parent = begun.parent;
                strand.frame = begun.frame;
                strand.begins_with(begun.entry);
                strand.doubt(begun.doubts);
                let (open, coroutine, on) = (0, begun.coroutine, None);
                let whole = Whole {
                    strand,
                    open,
                    coroutine,
                    on,
                };
                self.packed(slot, whole, 0)
            }
        };
        self.put(slot, live);
        slot
    }

    /// A new strand in few bytes, if it fits.
    #[inline]
    fn begun(
        &mut self,
        id: StrandId,
        (kind, thread, born): (Kind, usize, Nanos),
        begun: Begun,
    ) -> Option<Live> {
        let parent = match begun.parent {
            None => 0,
            Some(parent) if parent.process() == id.process() => {
                u32::try_from(parent.number()).ok()?
            }
            Some(_) => return None,
        };
        let born = Short::new(born.0)?;
        Some(Live {
            number: u32::try_from(id.number()).ok()?,
            parent,
            resumer: 0,
            calls: 0,
            activations: 0,
            born,
            last: born,
            running: Short::default(),
            children: Short::default(),
            suspended: Short::default(),
            left_at: Short::default(),
            frame: Short::new(begun.frame.map_or(0, |frame| frame.0))?,
            resume_index: NO_INDEX,
            entry: self.entries.number((begun.coroutine, begun.entry))?,
            thread: u16::try_from(thread).ok().filter(|&at| at != NOWHERE)?,
            on: NOWHERE,
            open: 0,
            kind: KindAndDoubts::new(kind, begun.doubts),
            state: 0,
        })
    }

    /// Puts a strand into a slot that is free.
    #[inline]
    fn put(&mut self, slot: u32, live: Live) {
        let (piece, place) = place_of(slot);
        self.taken[piece] += 1;
        self.pieces[piece][place] = Some(live);
    }

    fn free_slot(&mut self) -> u32 {
        while let Some(&piece) = self.open.last() {
            let places = &mut self.free[piece];
            let place = places.pop();
            if places.is_empty() {
                self.open.pop();
            }
            if let Some(place) = place {
                return slot_at(piece, place.into());
            }
        }
        self.one_more()
    }

    /// A slot that was never used since its piece is there.
    fn one_more(&mut self) -> u32 {
        let piece = match self.unused {
            Some(piece) => piece,
            None => self.one_more_piece(),
        };
        let cells = &mut self.pieces[piece];
        if cells.len() == cells.capacity() && cells.len() > PIECE / 8 {
            cells.reserve_exact(PIECE - cells.len());
        }
        cells.push(None);
        let place = cells.len() - 1;
        self.unused = Some(piece).filter(|_| place + 1 < PIECE);
        slot_at(piece, place)
    }

    /// A piece without strands.
    fn one_more_piece(&mut self) -> usize {
        // Most programs have few strands. Later pieces are whole from the beginning, so that the
        // allocator gives back each by itself.
        let mut cells = std::mem::take(&mut self.spare);
        if !self.pieces.is_empty() && cells.capacity() < PIECE {
            cells = Vec::with_capacity(PIECE);
        }
        match self.gone.pop() {
            Some(piece) => {
                self.has_spare = true;
                self.pieces[piece] = cells;
                piece
            }
            None => {
                self.pieces.push(cells);
                self.taken.push(0);
                self.free.push(Vec::new());
                self.pieces.len() - 1
            }
        }
    }

    /// The strand in this slot is gone.
    #[inline]
    fn release(&mut self, slot: u32) {
        let (piece, place) = place_of(slot);
        self.taken[piece] -= 1;
        if self.taken[piece] == 0 && self.pieces[piece].len() == PIECE {
            let mut cells = std::mem::take(&mut self.pieces[piece]);
            if self.has_spare {
                cells.clear();
                self.spare = cells;
            }
            self.free[piece] = Vec::new();
            self.gone.push(piece);
            return;
        }
        if self.free[piece].is_empty() {
            self.open.push(piece);
        }
        self.free[piece].push(place as u16);
    }

    /// Takes the strand out of this slot.
    #[inline(always)]
    fn take(&mut self, slot: u32) -> Option<Live> {
        self.settle(slot);
        let (piece, place) = place_of(slot);
        let live = self.pieces[piece].get_mut(place)?.take()?;
        self.release(slot);
        Some(live)
    }

    /// The strand in this slot has ended.
    pub fn end(&mut self, slot: u32, died: u64, sink: &mut impl Sink) {
        if let Some(live) = self.take(slot) {
            self.tell(slot, &live, (None, Some(died)), sink);
        }
    }

    /// The same, of a coroutine that has not run since it was seen last, unless it ended then.
    pub fn end_at_rest(&mut self, slot: u32, died: u64, sink: &mut impl Sink) {
        if let Some(live) = self.take(slot) {
            let rests = (live.state & DEAD == 0).then_some(died);
            self.tell(slot, &live, (rests, Some(died)), sink);
        }
    }

    /// Tells the sink of the strand that was in this slot. `rests`: the time up to which it was
    /// suspended since it ran last; `died`: when it ended, unless another time is known.
    #[inline(always)]
    fn tell(
        &mut self,
        slot: u32,
        live: &Live,
        (rests, died): (Option<u64>, Option<u64>),
        sink: &mut impl Sink,
    ) {
        if live.state & (WHOLE | WORDY) != 0 {
            return self.tell_whole(slot, live, (rests, died), sink);
        }
        let (kind, last) = (live.kind.kind(), live.last.get());
        let died = match live.frame.get() {
            died if kind != Kind::Coroutine && died != 0 => died,
            _ if live.state & DEAD != 0 => last,
            _ => died.unwrap_or(NEVER),
        };
        self.note_doubts(kind, live.kind.doubts(), live.calls.into());
        sink.ended_brief(&Brief {
            live,
            slot,
            process: self.next.process(),
            entry: self.entries.all[usize::from(live.entry)].1,
            rests: rests.map_or(0, |until| until.saturating_sub(last)),
            died,
        });
    }

    /// The same, of one that few bytes do not hold.
    #[inline(never)]
    fn tell_whole(
        &mut self,
        slot: u32,
        live: &Live,
        (rests, died): (Option<u64>, Option<u64>),
        sink: &mut impl Sink,
    ) {
        let mut strand = match live.state & WHOLE {
            0 => self.unpacked(slot, live).strand,
            _ => match self.whole.remove(&slot) {
                Some(whole) => whole.strand,
                None => return,
            },
        };
        if live.state & DEAD != 0 {
            strand.is_gone(strand.last);
        }
        if let Some(until) = rests {
            strand.rests_until(Nanos(until));
        }
        if let Some(died) = died {
            strand.is_gone(Nanos(died));
        }
        self.note_doubts(strand.kind, strand.doubts(), strand.calls);
        sink.ended(&strand);
    }

    /// The strands that there are have not ended, but nothing more will be heard of them: in order
    /// of their numbers. Those that are suspended are so up to `end`.
    pub fn finish(&mut self, end: impl FnOnce() -> Nanos, sink: &mut impl Sink) {
        let end = LazyCell::new(end);
        (self.has_spare, self.spare) = (false, Vec::new());
        self.settle(self.entering.0);
        let slots = self.taken_slots();
        if slots.is_sorted_by_key(|slot| self.id(slot)) {
            for piece in 0..self.pieces.len() {
                // The sink takes memory for what it is told, so the piece's is given back here.
                for (place, live) in std::mem::take(&mut self.pieces[piece]).iter().enumerate() {
                    if let Some(live) = live {
                        self.finish_live(slot_at(piece, place), live, || *end, sink);
                    }
                }
            }
            return;
        }
        let mut slots: Vec<u32> = self.taken_slots().collect();
        slots.sort_unstable_by_key(|&slot| self.id(slot));
        slots
            .into_iter()
            .for_each(|slot| self.finish_slot(slot, || *end, sink));
    }

    /// Tells of the strand in this slot, if there is one.
    fn finish_slot(&mut self, slot: u32, end: impl FnOnce() -> Nanos, sink: &mut impl Sink) {
        let (piece, place) = place_of(slot);
        if let Some(live) = self.pieces[piece].get_mut(place).and_then(Option::take) {
            self.release(slot);
            self.finish_live(slot, &live, end, sink);
        }
    }

    /// Tells of the strand that was in this slot.
    #[inline]
    fn finish_live(
        &mut self,
        slot: u32,
        live: &Live,
        end: impl FnOnce() -> Nanos,
        sink: &mut impl Sink,
    ) {
        let died = match live.state & WHOLE {
            0 => live.kind.kind() != Kind::Coroutine && live.frame != Short::default(),
            _ => self.whole_at(slot).strand.died().is_some(),
        };
        let is_thread = live.kind.kind() == Kind::Thread;
        let rests = live.state & (DEAD | DYING | CUT) == 0 && !is_thread && !died;
        self.tell(slot, live, (rests.then(|| end().0), None), sink);
    }

    /// The slots that have strands.
    fn taken_slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.pieces.iter().enumerate().flat_map(|(piece, cells)| {
            let taken = cells.iter().enumerate().filter(|(_, live)| live.is_some());
            taken.map(move |(place, _)| slot_at(piece, place))
        })
    }

    #[inline]
    fn get(&self, slot: u32) -> Option<&Live> {
        let (piece, place) = place_of(slot);
        self.pieces[piece].get(place)?.as_ref()
    }

    #[inline]
    fn at(&self, slot: u32) -> &Live {
        let (piece, place) = place_of(slot);
        match &self.pieces[piece][place] {
            Some(live) => live,
            None => unreachable!("a slot is held as long as a call or a stack has its number"),
        }
    }

    #[inline]
    fn at_mut(&mut self, slot: u32) -> &mut Live {
        let (piece, place) = place_of(slot);
        match &mut self.pieces[piece][place] {
            Some(live) => live,
            None => unreachable!("a slot is held as long as a call or a stack has its number"),
        }
    }

    #[inline]
    fn note_doubts(&mut self, kind: Kind, doubts: Doubts, calls: u64) {
        if !doubts.is_none() {
            self.unsure.unsure += 1;
            let unsure = &mut self.unsure;
            unsure.unsure_coroutines += u64::from(kind == Kind::Coroutine);
            unsure.unsure_threads += u64::from(kind == Kind::Thread);
            // A thread that is not sure has its own calls all the same. They are counted only where
            // their callers are doubted, each of which may stand below the wrong one, and where
            // some may be a coroutine's.
            let of_calls = Doubts::CALLER | Doubts::BEGUN_BEFORE | Doubts::FILTERED;
            if kind != Kind::Thread || doubts.holds(of_calls) {
                unsure.unsure_calls += calls;
            }
        }
    }

    /// The counts of the strands that have ended and are not sure.
    pub fn unsure(&self) -> Unresolved {
        self.unsure
    }

    /// Whether this strand is in this slot.
    pub fn holds(&self, slot: u32, id: StrandId) -> bool {
        self.get(slot).is_some() && self.id(slot) == id
    }

    /// The number of the strand in this slot.
    #[inline]
    pub fn id(&self, slot: u32) -> StrandId {
        let live = self.at(slot);
        match live.state & WHOLE {
            0 => self.numbered(live.number),
            _ => self.whole_at(slot).strand.id,
        }
    }

    /// The strand that made the one in this slot.
    #[inline]
    pub fn parent(&self, slot: u32) -> Option<StrandId> {
        let live = self.at(slot);
        match live.state & WHOLE {
            0 => Some(live.parent)
                .filter(|&number| number != 0)
                .map(|number| self.numbered(number)),
            _ => self.whole_at(slot).strand.parent,
        }
    }

    /// The strand of this number, of the same process.
    #[inline]
    fn numbered(&self, number: u32) -> StrandId {
        StrandId::numbered(self.next.process(), number.into())
    }

    #[cold]
    #[inline(never)]
    fn whole_at(&self, slot: u32) -> &Whole {
        match self.whole.get(&slot) {
            Some(whole) => whole,
            None => unreachable!("what is marked so is kept there"),
        }
    }

    /// The facts of the strand in this slot, but for the number of its calls.
    pub fn strand(&self, slot: u32) -> Strand {
        let live = self.at(slot);
        match live.state & (WHOLE | WORDY) {
            0 => self.strand_of(slot, live),
            WORDY => {
                let mut strand = self.strand_of(slot, live);
                strand.words = self.words.get(&slot).cloned();
                strand.threads = strand.threads_visited();
                strand
            }
            _ => self.whole_at(slot).strand.clone(),
        }
    }

    /// Has `change` change the strand in this slot.
    pub fn change<T>(&mut self, slot: u32, change: impl FnOnce(&mut Whole) -> T) -> T {
        self.settle(slot);
        let live = *self.at(slot);
        if live.state & WHOLE != 0
            && let Some(whole) = self.whole.get_mut(&slot)
        {
            return change(whole);
        }
        let mut whole = self.unpacked(slot, &live);
        let result = change(&mut whole);
        *self.at_mut(slot) = self.packed(slot, whole, live.state);
        result
    }
}

#[cfg(test)]
mod tests;
