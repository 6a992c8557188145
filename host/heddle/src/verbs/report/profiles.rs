//! Calls and times of strands, added up while the calls end.

use crate::aside::{Activation, Aside};
use crate::filter::Filterable;
use heddle_calls::{Functions, Key, Stats, Variants};
use heddle_strands::{Call, Kind, Sink, Strand, StrandSpan, Summing};
use heddle_trace_file::{Addr, Modules, Nanos};
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// The calls of a part of a process. Of a strand that lives nothing is kept but the number of its
/// group, and its open calls.
pub struct Profiles<'a> {
    modules: &'a Modules,
    /// Strands of one name are a group; otherwise all are one.
    by_name: bool,
    functions: Functions<'a>,
    /// By [`Call::number`]: the function's index in `functions`.
    numbers: Vec<u32>,
    /// By slot.
    lives: Vec<Life>,
    aside: Aside<OpenCalls>,
    named: HashMap<(Kind, Named), u32>,
    pub groups: Vec<Group>,
    pub fibers: u64,
}

/// A strand that lives.
#[derive(Default)]
struct Life {
    group: u32,
    /// The thread of the activation that `calls` is of, of a coroutine.
    thread: u32,
    calls: OpenCalls,
}

/// The open calls of an activation.
#[derive(Default)]
struct OpenCalls {
    /// Functions with how many calls of each are open: a recursion's calls are one entry. In place,
    /// as long as they are few.
    open: [(u32, u32); 4],
    more: Vec<(u32, u32)>,
}

// Two strands take turns: what is known of each is in one line of the cache.
const _: () = assert!(size_of::<Life>() <= 64);

impl Activation for OpenCalls {
    fn runs(&self) -> bool {
        !self.more.is_empty() || self.open.iter().any(|(_, calls)| *calls > 0)
    }
}

impl OpenCalls {
    /// A call of this function begins.
    #[inline]
    fn enter(&mut self, function: u32) {
        if let Some((_, calls)) = self.known(function) {
            *calls += 1;
            return;
        }
        match self.open.iter_mut().find(|(_, calls)| *calls == 0) {
            Some(free) => *free = (function, 1),
            None => self.more.push((function, 1)),
        }
    }

    /// A call of this function ends. Whether no other is open.
    #[inline]
    fn leave(&mut self, function: u32) -> bool {
        let Some((_, calls)) = self.known(function) else {
            return true;
        };
        *calls -= 1;
        let outermost = *calls == 0;
        if outermost && !self.more.is_empty() {
            self.more.retain(|(_, calls)| *calls > 0);
        }
        outermost
    }

    /// The function's entry, if one of its calls is open.
    #[inline]
    fn known(&mut self, function: u32) -> Option<&mut (u32, u32)> {
        let open = |entry: &&mut (u32, u32)| entry.0 == function && entry.1 > 0;
        let few = self.open.iter_mut().find(open);
        few.or_else(|| self.more.iter_mut().rev().find(open))
    }

    /// Its calls have ended.
    fn end(&mut self) {
        self.open = Default::default();
        self.more.clear();
    }
}

/// What strands are named after.
#[derive(PartialEq, Eq, Hash)]
enum Named {
    Thread(usize),
    Given(Box<str>),
    Entry(Option<Key>),
    /// What it begins with may be another's.
    Unsure,
    Any,
}

/// Strands whose calls are added up together.
pub struct Group {
    /// One of them.
    pub example: Strand,
    /// How many have ended.
    pub strands: u64,
    functions: Sums,
}

/// By function. There may be as many groups as strands, of few functions each.
enum Sums {
    All(Vec<Stats>),
    Few(FxHashMap<u32, Stats>),
}

impl Sums {
    #[inline]
    fn of(&mut self, function: u32) -> &mut Stats {
        match self {
            Sums::All(all) => {
                let index = function as usize;
                if index >= all.len() {
                    all.resize(index + 1, Stats::default());
                }
                &mut all[index]
            }
            Sums::Few(few) => few.entry(function).or_default(),
        }
    }
}

const UNKNOWN: u32 = u32::MAX;

impl<'a> Profiles<'a> {
    /// No call yet of a process with these modules. `by_name`: strands of one name are a group.
    pub fn new(modules: &'a Modules, variants: &'a Variants, by_name: bool) -> Self {
        Profiles {
            modules,
            by_name,
            functions: Functions::merging(modules, variants),
            numbers: Vec::new(),
            lives: Vec::new(),
            aside: Aside::default(),
            named: HashMap::new(),
            groups: Vec::new(),
            fibers: 0,
        }
    }

    /// The functions of a group, with what their calls come to.
    pub fn functions<'s>(&'s self, group: &'s Group) -> impl Iterator<Item = (Key, Stats)> + 's {
        let keys = self.functions.keys();
        let (all, few) = match &group.functions {
            Sums::All(all) => (all.as_slice(), None),
            Sums::Few(few) => (&[][..], Some(few)),
        };
        let all = all.iter().enumerate().filter(|(_, stats)| stats.calls > 0);
        let all = all.map(|(id, stats)| (id as u32, stats));
        let few = few.into_iter().flatten().map(|(&id, stats)| (id, stats));
        all.chain(few)
            .map(|(id, &stats)| (keys[id as usize], stats))
    }

    fn key(&self, address: Addr, time: Nanos) -> Key {
        Key {
            address,
            generation: self.modules.generation(time),
        }
    }

    #[inline]
    fn id(&mut self, number: u32, address: Addr, time: Nanos) -> u32 {
        match self.numbers.get(number as usize) {
            Some(&id) if id != UNKNOWN => id,
            _ => self.new_id(number, address, time),
        }
    }

    #[cold]
    fn new_id(&mut self, number: u32, address: Addr, time: Nanos) -> u32 {
        let id = self.functions.id(self.key(address, time)).0;
        let index = number as usize;
        if index >= self.numbers.len() {
            self.numbers.resize(index + 1, UNKNOWN);
        }
        self.numbers[index] = id;
        id
    }

    /// The calls of this strand that end from now on are its group's: with others of its name.
    fn join(&mut self, strand: &Strand) {
        let named = match (strand.name(), strand.kind) {
            _ if !self.by_name => Named::Any,
            (_, Kind::Thread) => Named::Thread(strand.thread()),
            (Some(name), _) => Named::Given(name.into()),
            _ if !strand.is_sure() => Named::Unsure,
            (None, _) => {
                let entry = strand.entry();
                Named::Entry(entry.map(|(address, time)| self.key(address, time)))
            }
        };
        let kind = if self.by_name {
            strand.kind
        } else {
            Kind::Thread
        };
        let next = self.groups.len() as u32;
        let group = *self.named.entry((kind, named)).or_insert(next);
        if group == next {
            self.groups.push(Group {
                example: strand.clone(),
                strands: 0,
                functions: match self.by_name {
                    true => Sums::Few(FxHashMap::default()),
                    false => Sums::All(Vec::new()),
                },
            });
        }
        let slot = strand.slot as usize;
        if slot >= self.lives.len() {
            self.lives.resize_with(slot + 1, Life::default);
        }
        self.lives[slot].group = group;
    }
}

impl Sink for Profiles<'_> {
    fn born(&mut self, strand: &Strand) {
        self.join(strand);
    }

    fn named(&mut self, strand: &Strand) {
        self.join(strand);
    }

    #[inline]
    fn enter(&mut self, call: &Call) {
        let id = self.id(call.number, call.function, call.enter);
        let life = &mut self.lives[call.slot as usize];
        let now = (&mut life.thread, &mut life.calls);
        self.aside
            .turn_to(call.slot, now, call.thread, call.depth == 0);
        life.calls.enter(id);
    }

    #[inline]
    fn leave(&mut self, span: &StrandSpan) {
        let id = self.id(span.number, span.span.function, span.span.enter);
        let life = &mut self.lives[span.slot as usize];
        let now = (&mut life.thread, &mut life.calls);
        self.aside.turn_to(span.slot, now, span.thread, false);
        let outermost = life.calls.leave(id);
        let stats = self.groups[life.group as usize].functions.of(id);
        stats.add(&span.span, outermost);
    }

    fn ended(&mut self, strand: &Strand) {
        let group = self.lives[strand.slot as usize].group;
        self.groups[group as usize].strands += 1;
        self.had_no_calls(strand);
    }
}

impl Filterable for Profiles<'_> {
    fn had_no_calls(&mut self, strand: &Strand) {
        self.fibers += u64::from(strand.kind == Kind::Fiber);
        self.lives[strand.slot as usize].calls.end();
        self.aside.forget(strand.slot);
    }
}

impl Summing for Profiles<'_> {
    fn called(&mut self, thread: &Strand, functions: &[(Key, Stats)]) {
        for (key, stats) in functions {
            let id = self.functions.id(*key).0;
            let life = &self.lives[thread.slot as usize];
            self.groups[life.group as usize]
                .functions
                .of(id)
                .merge(stats);
        }
    }
}
