//! How threads stand to the others of their process.

use super::decoded::alone;
use crate::{Strand, StrandId};
use heddle_calls::{Key, Piece, Profile};
use heddle_trace_file::Trace;

/// How a thread stands, after a first read that has added all calls up.
#[derive(Clone, Debug)]
pub enum Standing {
    /// It runs nothing but its own stack and no coroutine, and its exits are there: its calls can
    /// be read in pieces, without symbols. These functions were called.
    Apart(Box<Strand>, Vec<Key>),
    /// The same, but that symbols have to say which calls were left without an exit.
    OneStack,
    /// It is decoded together with others.
    Grouped,
}

/// A piece of a thread, with the index of its process and its own.
pub type PlacedPiece = ((usize, usize), Piece);

impl Standing {
    /// Of all threads, in order of these places; without a profile, a thread is one of several.
    pub(super) fn of_all(
        trace: &Trace,
        places: &[(usize, usize)],
        profiles: &[Option<Profile>],
    ) -> Vec<Self> {
        let of = |(&(process, index), profile): (&(usize, usize), &Option<Profile>)| {
            let thread = &trace.processes()[process].threads()[index];
            let Some(profile) = profile else {
                return Standing::Grouped;
            };
            let captured = profile.functions.iter().any(|(_, stats)| stats.frames > 0);
            if profile.may_have_fibers || profile.elsewhere || captured {
                return Standing::Grouped;
            }
            let born = Strand::of_thread(StrandId::new(process, index), index, thread, 0);
            let keys = profile.functions.iter().map(|(key, _)| *key);
            Standing::Apart(Box::new(alone(born, thread, profile)), keys.collect())
        };
        places.iter().zip(profiles).map(of).collect()
    }

    /// Exits are missing; `alone`: it runs one stack, for all that.
    pub(super) fn has_lost_exits(&mut self, alone: bool) {
        *self = match (&self, alone) {
            (Standing::Apart(..), true) => Standing::OneStack,
            _ => Standing::Grouped,
        };
    }
}
