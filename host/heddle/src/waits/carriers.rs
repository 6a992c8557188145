//! Which strands have the locks that are waited for when the records end: what is recorded of a
//! lock names the thread that took it, which may have run several strands.

use super::blocked::{By, HoldingStrand, HoldingThread};
use super::key::Key;
use super::names::Describe;
use super::stacks::Carrier;
use heddle_strands::StrandId;
use heddle_trace_file::Place;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The strands that have locks.
#[derive(Default)]
pub struct Carriers {
    /// By lock, with the kernel's number of the thread that took it.
    pub all: FxHashMap<Key, (u32, Carrier)>,
    pub labels: FxHashMap<StrandId, Rc<str>>,
    /// Threads that have run strands other than their own.
    pub weave: FxHashSet<Place>,
}

impl Carriers {
    /// Adds those of another process.
    pub fn add(&mut self, other: Carriers) {
        self.all.extend(other.all);
        self.labels.extend(other.labels);
        self.weave.extend(other.weave);
    }

    /// Which strand has a lock that a thread took, by the kernel's number of that.
    pub fn by(&self, describe: &Describe<'_>, key: Key, tid: u32, thread: &HoldingThread) -> By {
        let Some(place) = thread.place.filter(|place| self.weave.contains(place)) else {
            return By::Own;
        };
        let found = self.all.get(&key).filter(|&&(taker, _)| taker == tid);
        let Some(&(_, carrier)) = found else {
            return By::NotKnown;
        };
        let now = Place {
            thread: carrier.thread,
            ..place
        };
        let label = self.labels.get(&carrier.strand).cloned();
        By::Strand(HoldingStrand {
            id: carrier.strand,
            label: label.unwrap_or_else(|| "?".into()),
            place: now,
            thread: describe.name(now),
            suspended: carrier.suspended,
        })
    }
}
