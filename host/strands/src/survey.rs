//! What one look at the whole trace says, and a decoder that goes through it must know from the beginning.

use crate::hash::{FastMap, FastSet};

/// Facts about a group's events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Survey {
    /// Functions that were entered: the others are not traced, or were not called.
    pub entered: FastSet<u32>,
    /// Call sites in code that is not traced, from which calls began outside the stacks of threads.
    pub sites: FastMap<u64, Votes>,
    /// From where fibers make the first of their outermost calls.
    pub firsts: Firsts,
    /// By call site, function, and function of the innermost call above: how far below that it began.
    pub distances: FastMap<(u64, u64, u32), Vec<u64>>,
    /// Coroutines' frames were captured.
    pub captures: bool,
    /// Offsets of stack pointers at exits to those at enters, by function: of tail-called hooks.
    pub offsets: FastMap<u64, Vec<i64>>,
}

/// Call sites in code that is not traced, from which calls were the outermost of their stacks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Firsts {
    /// How many calls from there began where no stack had been, and how many were further ones of a fiber.
    sites: FastMap<u64, (u32, u32)>,
}

impl Firsts {
    /// A call from `site` began where no stack had been.
    pub fn note(&mut self, site: u64) {
        self.sites.entry(site).or_default().0 += 1;
    }

    /// A call from `site` was a further one of a fiber.
    pub fn note_further(&mut self, site: u64) {
        self.sites.entry(site).or_default().1 += 1;
    }

    /// Whether calls from `site` are first ones. Some may be mistaken for that where threads run each other's fibers.
    pub fn holds(&self, site: u64) -> bool {
        let calls = self.sites.get(&site);
        calls.is_some_and(|(first, further)| first > further)
    }
}

impl Survey {
    /// Whether a call began as far below the call above it as another did: code that is not traced takes the same room each time, or one of few.
    pub fn is_usual(&mut self, site: u64, function: u64, above: u32, distance: u64) -> bool {
        const FEW: usize = 8;
        let known = self.distances.entry((site, function, above)).or_default();
        let usual = known.contains(&distance);
        if !usual && known.len() < FEW {
            known.push(distance);
        }
        usual
    }
}

/// How the calls from a site began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Votes {
    /// Just below the innermost call of the stack that ran, and as far below as another call from there was: as a callback does.
    pub near: u64,
    /// With no call open above that could have made it: as the outermost call of another stack does. Below the innermost call of a stack that rested says nothing: stacks lie
    /// beside each other, and threads leave them and come back to them unseen.
    pub far: u64,
    /// Taken for callbacks, and returned as callbacks do: before what was called from.
    pub kept: u64,
    /// Taken for callbacks, and left open when what they were thought to be called from went on: a fiber that was suspended. An exception or longjmp looks the same, but seldom.
    pub broken: u64,
}

impl Votes {
    /// A few may be mistaken: in the first look not all is known.
    const ENOUGH: u64 = 8;

    /// Whether a call from this site is the outermost of its stack.
    pub fn is_root(self) -> bool {
        self.far > self.near || self.is_broken()
    }

    fn is_broken(self) -> bool {
        self.broken >= Self::ENOUGH && self.broken * 4 > self.kept
    }

    /// Whether that is so by far, when not all calls have been seen.
    pub fn is_clearly_root(self) -> bool {
        self.far > 4 * self.near + 16 || self.is_broken()
    }
}
