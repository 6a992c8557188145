//! Whole strands to few bytes, and back.

use super::{Slots, WHOLE, WORDY, Whole};
use crate::brief::{Live, NOWHERE};
use crate::kind_and_doubts::KindAndDoubts;
use crate::short::Short;
use crate::strand::{NEVER, NO_INDEX};
use crate::{Doubts, Kind, Strand, StrandId};

impl Slots {
    /// A strand in few bytes, or kept elsewhere.
    #[inline]
    pub(super) fn packed(&mut self, slot: u32, mut whole: Whole, state: u8) -> Live {
        let state = state & !(WORDY | WHOLE);
        let words = whole.strand.words.take();
        match self.live(&whole, state | if words.is_some() { WORDY } else { 0 }) {
            Some(live) => {
                if let Some(words) = words {
                    self.words.insert(slot, words);
                }
                live
            }
            None => {
                whole.strand.words = words;
                self.kept_whole(slot, whole, state)
            }
        }
    }

    /// The strand that was put into few bytes.
    pub(super) fn unpacked(&mut self, slot: u32, live: &Live) -> Whole {
        let mut whole = self.of_live(slot, live);
        if live.state & WORDY != 0 {
            whole.strand.words = self.words.remove(&slot);
            whole.strand.threads = whole.strand.threads_visited();
        }
        whole
    }

    /// A strand in few bytes, but for its words, if it fits.
    #[inline]
    fn live(&mut self, whole: &Whole, state: u8) -> Option<Live> {
        let &Whole {
            ref strand,
            open,
            coroutine,
            on,
        } = whole;
        let process = self.next.process();
        let other = |other: Option<StrandId>| match other {
            None => Some(0),
            Some(other) if other.process() == process => u32::try_from(other.number()).ok(),
            Some(_) => None,
        };
        let thread = |thread: u32| u16::try_from(thread).ok().filter(|&at| at != NOWHERE);
        let frame = match (strand.kind, strand.died, strand.frame) {
            (Kind::Coroutine, NEVER, frame) => frame.map_or(0, |frame| frame.0),
            (Kind::Fiber | Kind::Thread, NEVER, None) => 0,
            (Kind::Fiber | Kind::Thread, died, None) if died != 0 => died,
            _ => return None,
        };
        Some(Live {
            number: other(Some(strand.id))?,
            parent: other(strand.parent)?,
            resumer: other(strand.resumer)?,
            calls: u32::try_from(strand.calls).ok()?,
            activations: u32::try_from(strand.activations).ok()?,
            born: Short::new(strand.born.0)?,
            last: Short::new(strand.last.0)?,
            running: Short::new(strand.running.0)?,
            children: Short::new(strand.children.0)?,
            suspended: Short::new(strand.suspended.0)?,
            left_at: Short::new(strand.left_at.0)?,
            frame: Short::new(frame)?,
            resume_index: strand.resume_index,
            entry: self.entries.number((coroutine, strand.entry))?,
            thread: thread(strand.thread)?,
            on: on.map_or(Some(NOWHERE), thread)?,
            open: u8::try_from(open).ok()?,
            kind: KindAndDoubts::new(strand.kind, strand.doubts),
            state,
        })
    }

    /// Keeps a strand that does not fit into few bytes.
    #[cold]
    #[inline(never)]
    fn kept_whole(&mut self, slot: u32, whole: Whole, state: u8) -> Live {
        let kind = KindAndDoubts::new(whole.strand.kind, Doubts::NONE);
        self.whole.insert(slot, Box::new(whole));
        Live {
            number: 0,
            parent: 0,
            resumer: 0,
            calls: 0,
            activations: 0,
            born: Short::default(),
            last: Short::default(),
            running: Short::default(),
            children: Short::default(),
            suspended: Short::default(),
            left_at: Short::default(),
            frame: Short::default(),
            resume_index: NO_INDEX,
            entry: 0,
            thread: 0,
            on: NOWHERE,
            open: 0,
            kind,
            state: state | WHOLE,
        }
    }

    /// The same with what is known beside it.
    fn of_live(&self, slot: u32, live: &Live) -> Whole {
        Whole {
            strand: self.strand_of(slot, live),
            open: live.open.into(),
            coroutine: self.entries.all[usize::from(live.entry)].0,
            on: (live.on != NOWHERE).then(|| live.on.into()),
        }
    }

    /// The strand in these bytes, but for its words.
    #[inline(always)]
    pub(super) fn strand_of(&self, slot: u32, live: &Live) -> Strand {
        let entry = self.entries.all[usize::from(live.entry)].1;
        live.strand(slot, (self.next.process(), entry))
    }
}
