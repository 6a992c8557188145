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
    /// Coroutines' frames were captured.
    pub captures: bool,
    /// Offsets of stack pointers at exits to those at enters, by function: of tail-called hooks.
    pub offsets: FastMap<u64, Vec<i64>>,
}

/// Call sites in code that is not traced, from which calls began where no stack had been.
#[derive(Clone, Debug, Default)]
pub(crate) struct Firsts {
    sites: FastMap<u64, u32>,
    /// The most that a site of a function has.
    most: FastMap<u32, u32>,
}

impl Firsts {
    /// A call from `site`, in the function `holder`, began so.
    pub fn note(&mut self, site: u64, holder: Option<u32>) {
        let calls = self.sites.entry(site).or_default();
        *calls += 1;
        if let Some(holder) = holder {
            let most = self.most.entry(holder).or_default();
            *most = (*most).max(*calls);
        }
    }

    /// Whether calls from `site` are first ones. A few may be mistaken for that where threads run each other's fibers: of one function's sites, those with the most count.
    pub fn holds(&self, site: u64, holder: Option<u32>) -> bool {
        let most = holder.and_then(|holder| self.most.get(&holder));
        self.sites
            .get(&site)
            .is_some_and(|calls| most.is_none_or(|most| calls * 4 >= *most))
    }
}

/// How the calls from a site began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Votes {
    /// Just below the innermost call of the stack that ran: as a callback does.
    pub near: u64,
    /// With no call open above that could have made it: as the outermost call of another stack does. Below the innermost call of a stack that rested says nothing: stacks lie
    /// beside each other, and threads leave them and come back to them unseen.
    pub far: u64,
    /// Proven to be the outermost one: calls around it ended or went on before it did.
    pub proven: u64,
}

impl Votes {
    /// Whether a call from this site is the outermost of its stack. A few proofs may be mistaken: in the first look not all is known.
    pub fn is_root(self) -> bool {
        self.proven * 8 > self.near || self.far > self.near
    }

    /// Whether that is so by far, when not all calls have been seen.
    pub fn is_clearly_root(self) -> bool {
        self.proven * 8 > self.near || self.far > 4 * self.near + 16
    }
}
