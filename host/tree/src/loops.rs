//! Calls as they are printed: a row of them that is repeated is a loop.

use crate::{Call, Foreign, fold_rows};
use std::collections::HashMap;

/// Calls of a function, or a loop.
pub struct Shown<'a> {
    pub what: What<'a>,
    pub below: Vec<Shown<'a>>,
    /// Equal for what is equal but for times.
    class: u32,
}

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
        let row = calls.iter().map(|call| self.shown(call)).collect();
        let alike = |one: &Shown<'_>, other: &Shown<'_>| one.class == other.class;
        // Neighbours that are the same have been counted as one.
        fold_rows(row, 2, alike, |rounds, length| self.looped(rounds, length))
    }

    fn shown(&mut self, call: &'a Call) -> Shown<'a> {
        let below = self.fold(&call.children);
        let name = (&*call.name, &*call.values, call.foreign.as_deref());
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

    /// The loop that has these rounds, each of so many calls.
    fn looped(&mut self, calls: Vec<Shown<'a>>, length: usize) -> Shown<'a> {
        let rounds = (calls.len() / length) as u64;
        let mut calls = calls.into_iter();
        let mut body: Vec<Shown<'a>> = calls.by_ref().take(length).collect();
        for again in calls.as_slice().chunks(length) {
            overlay(&mut body, again);
        }
        Shown {
            what: What::Loop(rounds),
            class: self.class(None, rounds, &body),
            below: body,
        }
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
