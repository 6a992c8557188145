//! Few different facts by number.

use heddle_trace_file::Addr;
use rustc_hash::FxHashMap;

/// The coroutines and entries of strands, by number: few different ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    pub all: Vec<(u32, Addr)>,
    numbers: FxHashMap<(u32, Addr), u16>,
    /// Neighbours often have the same.
    latest: Option<((u32, Addr), u16)>,
}

impl Entries {
    /// The number of a coroutine and entry; `None` if there are too many.
    pub fn number(&mut self, entry: (u32, Addr)) -> Option<u16> {
        if let Some((_, number)) = self.latest.filter(|(latest, _)| *latest == entry) {
            return Some(number);
        }
        let number = match self.numbers.get(&entry) {
            Some(&number) => number,
            None => {
                let number = u16::try_from(self.all.len()).ok()?;
                self.all.push(entry);
                self.numbers.insert(entry, number);
                number
            }
        };
        self.latest = Some((entry, number));
        Some(number)
    }
}
