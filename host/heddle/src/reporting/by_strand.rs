//! Rows by strand: of strands of one kind and name together, because there may be a hundred thousand of them.

use super::rows::Rows;
use super::{Group, Row, Who};
use crate::names::{Names, printable, thread_label};
use crate::notes;
use heddle_calls::{Functions, Key, Stats};
use heddle_strands::{Call, Kind, Plan, Sink, Strand, StrandId, StrandSpan};
use heddle_trace_file::{Error, Modules, Trace};
use std::collections::{BTreeMap, HashMap};

/// Reads the whole trace. A function of one name in one module is one row in each group.
///
/// # Errors
/// What reading the trace gives.
pub fn read(trace: &Trace) -> Result<Rows, Error> {
    let mut names = Names::new(trace);
    let plan = Plan::new(trace, names.images());
    let decoded = plan.decode(|process| Profiles {
        modules: trace.processes()[process].modules(),
        functions: Functions::default(),
        live: HashMap::new(),
        groups: HashMap::new(),
    })?;
    // Process, kind, name; then module and function.
    let mut groups: BTreeMap<(usize, Kind, String), Merged> = BTreeMap::new();
    for (process, profiles) in decoded.sinks {
        let modules = trace.processes()[process].modules();
        for (_, group) in profiles.groups {
            let name = match group.example.kind {
                Kind::Thread => {
                    let of = &trace.processes()[process];
                    thread_label(trace, of, &of.threads()[group.example.thread])
                }
                _ => names.strand(&group.example),
            };
            let merged = groups
                .entry((process, group.example.kind, name))
                .or_default();
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
    notes::unresolved(&decoded.unresolved);
    let mut rows = Vec::new();
    for ((process, kind, name), merged) in groups {
        let label = match merged.strands {
            1 => format!("{} {name}", kind.name()),
            count => format!("{} {name} \u{d7}{count}", kind.name()),
        };
        let group = Group {
            pid: trace.processes()[process].pid(),
            name: printable(&name),
            label: printable(&label),
            who: Who::Strands(kind, merged.strands),
        };
        rows.extend(
            merged
                .functions
                .into_iter()
                .map(|((module, function), stats)| Row {
                    function,
                    module,
                    group: Some(group.clone()),
                    stats,
                }),
        );
    }
    Ok(Rows {
        rows,
        loose: decoded.loose,
        remarks: decoded.remarks,
    })
}

/// What strands of one name called, by module and function.
#[derive(Default)]
struct Merged {
    strands: u64,
    functions: BTreeMap<(String, String), Stats>,
}

/// The calls of a part of a process.
struct Profiles<'a> {
    modules: &'a Modules,
    functions: Functions,
    live: HashMap<StrandId, HashMap<u32, Open>>,
    groups: HashMap<(Kind, Named), OfGroup>,
}

/// What strands are named after.
#[derive(PartialEq, Eq, Hash)]
enum Named {
    Thread(usize),
    Given(Box<str>),
    Entry(Option<Key>),
}

/// A function's calls on one strand, and how many are open.
#[derive(Default)]
struct Open {
    stats: Stats,
    open: u32,
}

struct OfGroup {
    example: Strand,
    strands: u64,
    functions: HashMap<u32, Stats>,
}

impl Profiles<'_> {
    fn key(&self, address: heddle_trace_file::Addr, time: heddle_trace_file::Nanos) -> Key {
        Key {
            address,
            generation: self.modules.generation(time),
        }
    }
}

impl Sink for Profiles<'_> {
    fn enter(&mut self, call: &Call) {
        let id = self.functions.id(self.key(call.function, call.enter)).0;
        let of_strand = self.live.entry(call.strand).or_default();
        of_strand.entry(id).or_default().open += 1;
    }

    fn leave(&mut self, span: &StrandSpan) {
        let key = self.key(span.span.function, span.span.enter);
        let id = self.functions.id(key).0;
        let of_strand = self.live.entry(span.strand).or_default();
        let function = of_strand.entry(id).or_default();
        function.open = function.open.saturating_sub(1);
        function.stats.add(&span.span, function.open == 0);
    }

    fn ended(&mut self, strand: &Strand) {
        let named = match (&strand.name, strand.kind) {
            (_, Kind::Thread) => Named::Thread(strand.thread),
            (Some(name), _) => Named::Given(name.clone()),
            (None, _) => Named::Entry(strand.entry.map(|(address, time)| self.key(address, time))),
        };
        let group = self.groups.entry((strand.kind, named));
        let group = group.or_insert_with(|| OfGroup {
            example: strand.clone(),
            strands: 0,
            functions: HashMap::new(),
        });
        group.strands += 1;
        for (id, function) in self.live.remove(&strand.id).into_iter().flatten() {
            group
                .functions
                .entry(id)
                .or_default()
                .merge(&function.stats);
        }
    }
}
