//! The facts of strands that have ended are kept in a file until names are looked up, since there
//! may be millions of strands.

use super::numbers;
use crate::names::Names;
use crate::notes::counted;
use heddle_strands::{Kind, Strand, StrandId};
use heddle_trace_file::{Addr, Nanos};
use std::rc::Rc;

/// A strand, in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its track, or one of them: see [`numbers::lane`].
    pub uuid: u64,
    pub number: u64,
    pub kind: Kind,
    pub is_sure: bool,
    /// Index of the thread that it ran on first: of a thread, itself.
    pub thread: usize,
    pub name: Option<String>,
    pub entry: Option<(Addr, Nanos)>,
    /// Numbers of who made it, and of who ran it first, as far as that is known.
    pub parent: Option<u64>,
    pub resumer: Option<u64>,
    pub threads: u64,
    pub activations: u64,
    pub calls: u64,
    pub running: Nanos,
    pub suspended: Nanos,
    /// Time that coroutines took which it resumed.
    pub children: Nanos,
    pub born: Nanos,
    /// `None`: it lived at the end of the trace.
    pub died: Option<Nanos>,
}

const KINDS: [Kind; 3] = [Kind::Thread, Kind::Fiber, Kind::Coroutine];
const WORDS: usize = 18;
const NONE: u64 = u64::MAX;

impl Ended {
    pub fn new(strand: &Strand) -> Self {
        Ended {
            uuid: strand.id.unique(),
            number: strand.id.number(),
            kind: strand.kind,
            is_sure: strand.is_sure(),
            thread: strand.thread(),
            name: strand.name().map(str::to_owned),
            entry: strand.entry(),
            parent: strand.parent.map(StrandId::number),
            resumer: strand.first_resumer().map(StrandId::number),
            threads: strand.threads.into(),
            activations: strand.activations,
            calls: strand.calls,
            running: strand.running,
            suspended: strand.suspended,
            children: strand.children,
            born: strand.born,
            died: strand.died(),
        }
    }

    /// Appends it to `bytes`.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let (entry, time) = self
            .entry
            .map_or((NONE, NONE), |(address, time)| (address.0, time.0));
        let name = self.name.as_deref();
        let words: [u64; WORDS] = [
            self.uuid,
            self.number,
            self.kind as u64,
            self.thread as u64,
            entry,
            time,
            self.parent.unwrap_or(NONE),
            self.resumer.unwrap_or(NONE),
            self.threads,
            self.activations,
            self.calls,
            self.running.0,
            self.suspended.0,
            self.children.0,
            self.born.0,
            self.died.map_or(NONE, |died| died.0),
            self.is_sure.into(),
            name.map_or(NONE, |name| name.len() as u64),
        ];
        words
            .iter()
            .for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        bytes.extend_from_slice(name.unwrap_or_default().as_bytes());
    }

    /// Takes one from the front of `bytes`, which [`Ended::write`] wrote; `None` at their end.
    pub fn read(bytes: &mut &[u8]) -> Option<Self> {
        let (words, rest) = bytes.split_at_checked(8 * WORDS)?;
        let word = |index: usize| {
            let bytes = words[8 * index..].first_chunk();
            bytes.copied().map_or(NONE, u64::from_le_bytes)
        };
        let some = |index| Some(word(index)).filter(|&word| word != NONE);
        let length = some(WORDS - 1);
        let (name, rest) = rest.split_at_checked(length.unwrap_or(0) as usize)?;
        *bytes = rest;
        Some(Ended {
            uuid: word(0),
            number: word(1),
            kind: KINDS.into_iter().find(|&kind| kind as u64 == word(2))?,
            is_sure: word(16) != 0,
            thread: word(3) as usize,
            name: length.map(|_| String::from_utf8_lossy(name).into_owned()),
            entry: some(4)
                .zip(some(5))
                .map(|(at, time)| (Addr(at), Nanos(time))),
            parent: some(6),
            resumer: some(7),
            threads: word(8),
            activations: word(9),
            calls: word(10),
            running: Nanos(word(11)),
            suspended: Nanos(word(12)),
            children: Nanos(word(13)),
            born: Nanos(word(14)),
            died: some(15).map(Nanos),
        })
    }

    /// The name of its track, by its own as [`Names::strand`] has it; `process`: the index of its
    /// process.
    pub fn shown(&self, names: &mut Names<'_>, process: usize) -> Rc<str> {
        let is_one = self.kind == Kind::Thread || self.is_sure;
        let name = names.strand_of(process, (self.name.as_deref(), is_one), self.entry);
        match numbers::lane_of(self.uuid) {
            0 => name,
            1 => format!("{name} (meanwhile)").into(),
            lane => format!("{name} (meanwhile {lane})").into(),
        }
    }

    /// In a sentence, for who looks at its track.
    pub fn description(&self) -> String {
        let mut text = format!("{} {}", self.kind.name(), self.number);
        if numbers::lane_of(self.uuid) > 0 {
            return text + ": where it went on while a call of its track had not returned";
        }
        let mut add = |what: &str, number: Option<u64>| {
            if let Some(number) = number {
                text += &format!(", {what} {number}");
            }
        };
        add("made by strand", self.parent);
        add(
            "first run by strand",
            self.resumer.filter(|_| self.kind != Kind::Thread),
        );
        text += &format!(
            ": ran {} in {} on {}, suspended {}, {}",
            self.running,
            counted(self.activations, "activation"),
            counted(self.threads, "thread"),
            self.suspended,
            counted(self.calls, "call")
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let bare = Ended {
            uuid: 1,
            number: 1,
            kind: Kind::Thread,
            is_sure: true,
            thread: 0,
            name: None,
            entry: None,
            parent: None,
            resumer: None,
            threads: 1,
            activations: 1,
            calls: 0,
            running: Nanos(5),
            suspended: Nanos(0),
            children: Nanos(3),
            born: Nanos(2),
            died: None,
        };
        let full = Ended {
            uuid: (3 << 40) + 12,
            number: 12,
            kind: Kind::Coroutine,
            is_sure: false,
            name: Some("wéber".to_owned()),
            entry: Some((Addr(0x5555_0010), Nanos(7))),
            parent: Some(1),
            resumer: Some(2),
            died: Some(Nanos(9)),
            ..bare.clone()
        };
        let unnamed = Ended {
            name: Some(String::new()),
            ..bare.clone()
        };
        let all = [bare, full, unnamed];
        let mut bytes = Vec::new();
        all.iter().for_each(|one| one.write(&mut bytes));
        let mut rest = bytes.as_slice();
        for one in all {
            assert_eq!(Ended::read(&mut rest), Some(one));
        }
        assert_eq!(Ended::read(&mut rest), None);
    }
}
