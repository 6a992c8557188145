//! Calls as they are printed: a row of them that is repeated is a loop.

use crate::{Call, Foreign};
use std::collections::HashMap;

/// A loop's body has at most so many lines.
const LONGEST_BODY: usize = 32;

/// Calls of a function, or a loop.
#[derive(Clone)]
pub struct Shown<'a> {
    pub what: What<'a>,
    pub below: Vec<Shown<'a>>,
    /// Equal for what is equal but for times.
    class: u32,
}

#[derive(Clone)]
pub enum What<'a> {
    /// Calls, with the times of all that they stand for.
    Calls(&'a Call, Seen),
    /// So many rounds of what is below.
    Loop(u64),
}

/// How long calls took: [`Call::min`], [`Call::max`] and [`Call::open`].
#[derive(Clone, Copy)]
pub struct Seen {
    pub min: u64,
    pub max: u64,
    pub open: u64,
}

/// Finds loops. What is equal has one class.
#[derive(Default)]
pub struct Folder<'a> {
    classes: HashMap<Looks<'a>, u32>,
}

/// What is printed of calls or a loop, but for times.
#[derive(PartialEq, Eq, Hash)]
struct Looks<'a> {
    /// Name, values and caller; of a loop nothing.
    call: Option<(&'a str, &'a str, Option<&'a Foreign>)>,
    times: u64,
    below: Vec<u32>,
}

impl Seen {
    /// The times that these calls took.
    pub fn of(call: &Call) -> Self {
        Seen {
            min: call.min,
            max: call.max,
            open: call.open,
        }
    }
}

impl<'a> Folder<'a> {
    /// A row of calls, with what is below them.
    pub fn fold(&mut self, calls: &'a [Call]) -> Vec<Shown<'a>> {
        let mut row: Vec<Shown<'_>> = calls.iter().map(|call| self.shown(call)).collect();
        loop {
            let before = row.len();
            // The shortest first, so that a loop in a loop is found before the one around it.
            for length in 2..=LONGEST_BODY.min(row.len() / 2) {
                row = self.loops(row, length);
            }
            if row.len() == before {
                return row;
            }
        }
    }

    fn shown(&mut self, call: &'a Call) -> Shown<'a> {
        let below = self.fold(&call.children);
        let name = (
            call.name.as_str(),
            call.values.as_str(),
            call.foreign.as_ref(),
        );
        Shown {
            what: What::Calls(call, Seen::of(call)),
            class: self.class(Some(name), call.calls, &below),
            below,
        }
    }

    fn class(
        &mut self,
        call: Option<(&'a str, &'a str, Option<&'a Foreign>)>,
        times: u64,
        below: &[Shown<'_>],
    ) -> u32 {
        let next = self.classes.len() as u32;
        let below = below.iter().map(|one| one.class).collect();
        let looks = Looks { call, times, below };
        *self.classes.entry(looks).or_insert(next)
    }

    /// Makes a loop of each row of this length that follows itself.
    fn loops(&mut self, row: Vec<Shown<'a>>, length: usize) -> Vec<Shown<'a>> {
        let rounds = |at: usize| {
            let differs = |&index: &usize| row[index].class != row[index - length].class;
            let end = (at + length..row.len()).find(differs);
            (end.unwrap_or(row.len()) - at) / length
        };
        let mut folded = Vec::new();
        let mut at = 0;
        while at < row.len() {
            let rounds = rounds(at);
            if rounds < 2 {
                folded.push(row[at].clone());
                at += 1;
                continue;
            }
            let end = at + rounds * length;
            let mut body = row[at..at + length].to_vec();
            for again in row[at + length..end].chunks(length) {
                overlay(&mut body, again);
            }
            folded.push(Shown {
                what: What::Loop(rounds as u64),
                class: self.class(None, rounds as u64, &body),
                below: body,
            });
            at = end;
        }
        folded
    }
}

/// Adds the times of another round.
fn overlay(all: &mut [Shown<'_>], round: &[Shown<'_>]) {
    for (one, other) in all.iter_mut().zip(round) {
        if let (What::Calls(_, seen), What::Calls(_, other)) = (&mut one.what, &other.what) {
            seen.min = seen.min.min(other.min);
            seen.max = seen.max.max(other.max);
            seen.open = seen.open.max(other.open);
        }
        overlay(&mut one.below, &other.below);
    }
}
