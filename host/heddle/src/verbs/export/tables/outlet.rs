//! Records that a part hands over while later ones of it are still being decoded.

use heddle_calls::Key;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Records of a part, the first that it has not handed over yet.
pub struct Group {
    /// The part's number. A part that the decoder throws away never becomes a [`super::Part`].
    pub part: u64,
    /// Index of the process.
    pub process: usize,
    /// Functions and call sites that are new: their indices follow those of the part's groups
    /// before.
    pub functions: Vec<Key>,
    pub sites: Vec<Key>,
    pub records: Vec<u8>,
}

/// Makes the outlets of parts.
pub struct Outlets {
    enough: usize,
    full: SyncSender<Group>,
    parts: AtomicU64,
}

/// Where a part hands over its records. Waits until who takes them has room.
pub struct Outlet {
    /// The part's number.
    pub part: u64,
    /// Bytes of records that make a group.
    pub enough: usize,
    full: SyncSender<Group>,
    /// Functions and call sites that were handed over.
    functions: usize,
    sites: usize,
}

impl Outlets {
    /// Groups of so many bytes of records, and where they come out: none when all outlets and what
    /// makes them are gone.
    pub fn new(enough: usize) -> (Self, Receiver<Group>) {
        let (full, groups) = sync_channel(0);
        let outlets = Outlets {
            enough,
            full,
            parts: AtomicU64::new(0),
        };
        (outlets, groups)
    }

    /// For the next part.
    pub fn next(&self) -> Outlet {
        Outlet {
            part: self.parts.fetch_add(1, Ordering::Relaxed),
            enough: self.enough,
            full: self.full.clone(),
            functions: 0,
            sites: 0,
        }
    }
}

impl Outlet {
    /// Hands over records; `functions` and `sites` are all that the part has met.
    pub fn hand_over(&mut self, process: usize, met: [&[Key]; 2], records: Vec<u8>) {
        let [functions, sites] = met;
        let group = Group {
            part: self.part,
            process,
            functions: functions[self.functions..].to_vec(),
            sites: sites[self.sites..].to_vec(),
            records,
        };
        self.functions = functions.len();
        self.sites = sites.len();
        // After an error the encoders take no more groups; the caller gets it as the decoder ends.
        let _ = self.full.send(group);
    }
}
