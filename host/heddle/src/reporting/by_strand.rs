//! Rows of calls that are told apart by strand. Rows by strand are of strands of one kind and name together, because there may be a hundred thousand of them.

use super::rows::Rows;
use super::{Group, Row, Who};
use crate::names::{Names, printable, thread_label};
use heddle_calls::{Functions, Key, Stats};
use heddle_strands::{Call, FastMap, Kind, Plan, Sink, Strand, StrandSpan};
use heddle_trace_file::{Addr, Error, Modules, Nanos, Trace};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// Reads the whole trace. A function of one name in one module is one row: in each group, or, without `groups`, of all strands.
///
/// # Errors
/// What reading the trace gives.
pub fn read(trace: &Trace, groups: bool) -> Result<Rows, Error> {
    let mut names = Names::new(trace);
    let plan = Plan::new(trace, names.images());
    let decoded = plan.decode(|process| Profiles {
        modules: trace.processes()[process].modules(),
        functions: Functions::default(),
        open: FastMap::default(),
        of_slot: Vec::new(),
        numbers: HashMap::new(),
        groups: Vec::new(),
    })?;
    let mut fibers = 0;
    let mut merged: BTreeMap<Option<(usize, Kind, String)>, Merged> = BTreeMap::new();
    for (process, profiles) in decoded.sinks {
        let modules = trace.processes()[process].modules();
        for group in profiles.groups {
            let kind = group.example.kind;
            if kind == Kind::Fiber {
                fibers += group.strands;
            }
            let key = groups.then(|| {
                let name = match kind {
                    Kind::Thread => {
                        let of = &trace.processes()[process];
                        thread_label(trace, of, &of.threads()[group.example.thread()])
                    }
                    _ => names.strand(&group.example),
                };
                (process, kind, name)
            });
            let merged = merged.entry(key).or_default();
            merged.strands += group.strands;
            for (id, stats) in group.functions {
                let key = profiles.functions.keys()[id as usize];
                let time = modules.time_of(key.address, key.generation);
                let location = names.function(process, key.address, time);
                merged
                    .functions
                    .entry((location.module.clone(), location.name.clone()))
                    .or_default()
                    .merge(&stats);
            }
        }
    }
    let mut rows = Vec::new();
    for (key, merged) in merged {
        let group = key.map(|(process, kind, name)| {
            let label = match merged.strands {
                1 => format!("{} {name}", kind.name()),
                count => format!("{} {name} \u{d7}{count}", kind.name()),
            };
            Group {
                pid: trace.processes()[process].pid(),
                name: printable(&name),
                label: printable(&label),
                who: Who::Strands(kind, merged.strands),
            }
        });
        let of_group = merged.functions.into_iter();
        rows.extend(of_group.map(|((module, function), stats)| Row {
            function,
            module,
            group: group.clone(),
            stats,
        }));
    }
    Ok(Rows {
        rows,
        loose: decoded.loose,
        remarks: decoded.remarks,
        unresolved: decoded.unresolved,
        fibers,
    })
}

/// What strands of one name called, by module and function.
#[derive(Default)]
struct Merged {
    strands: u64,
    functions: BTreeMap<(String, String), Stats>,
}

/// The calls of a part of a process. Of a strand that lives nothing is kept but the number of its group, and its open calls.
struct Profiles<'a> {
    modules: &'a Modules,
    functions: Functions,
    /// By slot and function: how many calls are open, if any.
    open: FastMap<u64, u32>,
    /// By slot: the index of its strand's group.
    of_slot: Vec<u32>,
    numbers: HashMap<(Kind, Named), u32>,
    groups: Vec<OfGroup>,
}

/// What strands are named after.
#[derive(PartialEq, Eq, Hash)]
enum Named {
    Thread(usize),
    Given(Box<str>),
    Entry(Option<Key>),
}

struct OfGroup {
    example: Strand,
    strands: u64,
    functions: FastMap<u32, Stats>,
}

impl Profiles<'_> {
    fn key(&self, address: Addr, time: Nanos) -> Key {
        Key {
            address,
            generation: self.modules.generation(time),
        }
    }

    /// The calls of this strand that end from now on are its group's: with others of its name.
    fn join(&mut self, strand: &Strand) {
        let named = match (strand.name(), strand.kind) {
            (_, Kind::Thread) => Named::Thread(strand.thread()),
            (Some(name), _) => Named::Given(name.into()),
            (None, _) => {
                let entry = strand.entry();
                Named::Entry(entry.map(|(address, time)| self.key(address, time)))
            }
        };
        let next = self.groups.len() as u32;
        let group = *self.numbers.entry((strand.kind, named)).or_insert(next);
        if group == next {
            self.groups.push(OfGroup {
                example: strand.clone(),
                strands: 0,
                functions: FastMap::default(),
            });
        }
        let slot = strand.slot as usize;
        if slot >= self.of_slot.len() {
            self.of_slot.resize(slot + 1, 0);
        }
        self.of_slot[slot] = group;
    }
}

/// A strand's slot and a function in one number, which is hashed at once.
fn of_strand(slot: u32, function: u32) -> u64 {
    u64::from(slot) << 32 | u64::from(function)
}

impl Sink for Profiles<'_> {
    fn born(&mut self, strand: &Strand) {
        self.join(strand);
    }

    fn named(&mut self, strand: &Strand) {
        self.join(strand);
    }

    fn enter(&mut self, call: &Call) {
        let id = self.functions.id(self.key(call.function, call.enter)).0;
        *self.open.entry(of_strand(call.slot, id)).or_default() += 1;
    }

    fn leave(&mut self, span: &StrandSpan) {
        let key = self.key(span.span.function, span.span.enter);
        let id = self.functions.id(key).0;
        let outermost = match self.open.entry(of_strand(span.slot, id)) {
            Entry::Occupied(mut open) if *open.get() > 1 => {
                *open.get_mut() -= 1;
                false
            }
            Entry::Occupied(open) => {
                open.remove();
                true
            }
            Entry::Vacant(_) => true,
        };
        let group = &mut self.groups[self.of_slot[span.slot as usize] as usize];
        let stats = group.functions.entry(id).or_default();
        stats.add(&span.span, outermost);
    }

    fn ended(&mut self, strand: &Strand) {
        self.groups[self.of_slot[strand.slot as usize] as usize].strands += 1;
    }
}
