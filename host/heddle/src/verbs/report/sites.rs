//! Calls by where they come from: by calling function, by the source line of the call; and by the
//! module that they are in.

use super::row::{By, Row};
use super::rows::Rows;
use crate::aside::{Activation, Aside};
use crate::filter::{Filter, FilterArgs, Filterable, decode};
use crate::names::{Length, Names};
use heddle_calls::{End, Functions, Key, Stats, Variants, Wanted};
use heddle_strands::{Call, Decoded, Kind, Sink, Strand, StrandSpan};
use heddle_symbols::short_name;
use heddle_trace_file::{Addr, Modules, Nanos, Trace};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Reads the trace call by call.
///
/// # Errors
/// What reading the trace gives, and options that do not fit it.
pub fn read(trace: &Trace, by: By, filter: &FilterArgs, length: Length) -> anyhow::Result<Rows> {
    let mut names = Names::new(trace);
    let filter = Filter::new(filter, trace, &mut names)?;
    let variants = names.variants();
    let sink = |process: usize| {
        let modules = trace.processes()[process].modules();
        Sites::new(modules, &variants[process], by)
    };
    let wanted = Wanted::OneStack;
    let (decoded, left_out) = decode(trace, names.images(), wanted, filter, sink)?;
    let Decoded {
        sinks,
        loose,
        remarks,
        unresolved,
        ..
    } = decoded;
    let mut merged: BTreeMap<Named, Stats> = BTreeMap::new();
    let mut fibers = 0;
    for (process, sink) in &sinks {
        fibers += sink.fibers;
        for (row, stats) in sink.rows.iter().zip(&sink.sums) {
            let named = sink.named(row, *process, by, &mut names);
            merged.entry(named).or_default().merge(stats);
        }
    }
    let rows = merged.into_iter().map(|(named, stats)| {
        let Named {
            module,
            function,
            from,
        } = named;
        // A line is one; a caller is a name.
        let from_short = match by {
            By::Caller => from.as_deref().map(short_name),
            _ => from.clone(),
        };
        Row {
            short: match by {
                By::Module => function.clone(),
                _ => short_name(&function),
            },
            function,
            module,
            group: None,
            values: None,
            from: match length {
                Length::Short => from_short,
                Length::Full => from,
            },
            stats,
            place: None,
        }
    });
    Ok(Rows {
        rows: rows.collect(),
        loose,
        remarks,
        unresolved,
        fibers,
        left_out,
        standing: Vec::new(),
    })
}

/// A row, by which all calls that are in it are found.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    module: String,
    function: String,
    from: Option<String>,
}

/// Calls that have these in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Site {
    function: u32,
    /// The function around, if a call of it is open.
    around: Option<Addr>,
    /// The return address; of an inlined call, its container.
    caller: Addr,
    inlined: bool,
}

/// The calls of a part of a process, added up.
struct Sites<'a> {
    modules: &'a Modules,
    by: By,
    functions: Functions<'a>,
    /// By [`Call::number`]: the function's index in `functions`, and its module's.
    numbers: Vec<Option<(u32, u32)>>,
    ids: FxHashMap<Site, u32>,
    rows: Vec<Site>,
    /// By row: calls of one class within one another are a recursion.
    classes: Vec<u32>,
    class_ids: FxHashMap<(u32, Addr), u32>,
    sums: Vec<Stats>,
    /// By slot.
    lives: Vec<Life>,
    aside: Aside<OpenCalls>,
    fibers: u64,
}

/// A strand that lives.
#[derive(Default)]
struct Life {
    /// The thread of the activation that `calls` is of, of a coroutine.
    thread: u32,
    calls: OpenCalls,
}

/// The open calls of an activation, by rows; and how many of each class.
#[derive(Default)]
struct OpenCalls {
    open: Vec<u32>,
    counts: FxHashMap<u32, u32>,
}

impl Activation for OpenCalls {
    fn runs(&self) -> bool {
        !self.open.is_empty()
    }
}

impl<'a> Sites<'a> {
    fn new(modules: &'a Modules, variants: &'a Variants, by: By) -> Self {
        Sites {
            modules,
            by,
            functions: Functions::merging(modules, variants),
            numbers: Vec::new(),
            ids: FxHashMap::default(),
            rows: Vec::new(),
            classes: Vec::new(),
            class_ids: FxHashMap::default(),
            sums: Vec::new(),
            lives: Vec::new(),
            aside: Aside::default(),
            fibers: 0,
        }
    }

    /// The function's index, and its module's.
    fn function(&mut self, number: u32, address: Addr, time: Nanos) -> (u32, u32) {
        let index = number as usize;
        if let Some(Some(known)) = self.numbers.get(index) {
            return *known;
        }
        let generation = self.modules.generation(time);
        let id = self.functions.id(Key {
            address,
            generation,
        });
        let module = self.modules.find(address, time);
        let found = (id.0, module.map_or(u32::MAX, |module| module as u32));
        if index >= self.numbers.len() {
            self.numbers.resize(index + 1, None);
        }
        self.numbers[index] = Some(found);
        found
    }

    fn row(&mut self, call: &Call) -> u32 {
        let (function, module) = self.function(call.number, call.function, call.enter);
        let (site, class) = match self.by {
            // The first function that was called of a module stands for it.
            By::Module => {
                let class = (module, Addr(0));
                // A module has one row, and that the number of its class.
                if let Some(&known) = self.class_ids.get(&class) {
                    return known;
                }
                let site = Site {
                    function,
                    around: None,
                    caller: Addr(0),
                    inlined: false,
                };
                (site, class)
            }
            _ => {
                let site = Site {
                    function,
                    around: call.around,
                    caller: call.caller,
                    inlined: call.inlined,
                };
                (site, (function, call.around.unwrap_or(call.caller)))
            }
        };
        let next = self.rows.len() as u32;
        let id = *self.ids.entry(site).or_insert(next);
        if id == next {
            let next = self.class_ids.len() as u32;
            let class = *self.class_ids.entry(class).or_insert(next);
            self.rows.push(site);
            self.classes.push(class);
            self.sums.push(Stats::default());
        }
        id
    }

    /// The open calls of the strand in this slot, of its activation on `thread`, which `begins` or
    /// is open.
    fn calls(&mut self, slot: u32, thread: usize, begins: bool) -> &mut OpenCalls {
        let index = slot as usize;
        if index >= self.lives.len() {
            self.lives.resize_with(index + 1, Life::default);
        }
        let Life { thread: on, calls } = &mut self.lives[index];
        self.aside.turn_to(slot, (on, &mut *calls), thread, begins);
        calls
    }

    fn ends(&mut self, slot: u32) {
        if let Some(life) = self.lives.get_mut(slot as usize) {
            *life = Life::default();
        }
        self.aside.forget(slot);
    }

    fn named(&self, site: &Site, process: usize, by: By, names: &mut Names<'_>) -> Named {
        let key = self.functions.keys()[site.function as usize];
        let time = self.modules.time_of(key.address, key.generation);
        let location = names.function(process, key.address, time);
        let module = location.module.clone();
        if by == By::Module {
            return Named {
                function: match module.is_empty() {
                    true => "outside every module".to_owned(),
                    false => module.clone(),
                },
                module,
                from: None,
            };
        }
        let container = site
            .around
            .filter(|_| site.inlined || site.caller == Addr(0));
        let caller = match container {
            Some(function) => names.function(process, function, time),
            None => names.caller(process, site.caller, time),
        };
        let line = match container {
            None if by == By::Line => names.line(process, site.caller, time),
            _ => None,
        };
        Named {
            module,
            function: location.name.clone(),
            from: Some(line.unwrap_or_else(|| match container {
                Some(_) if by == By::Line => format!("in {}", names.shown(&caller)),
                _ => caller.name.clone(),
            })),
        }
    }
}

impl Sink for Sites<'_> {
    fn enter(&mut self, call: &Call) {
        let row = self.row(call);
        let class = self.classes[row as usize];
        let calls = self.calls(call.slot, call.thread, call.depth == 0);
        calls.open.push(row);
        *calls.counts.entry(class).or_default() += 1;
    }

    fn leave(&mut self, span: &StrandSpan) {
        let Some(row) = self.calls(span.slot, span.thread, false).open.pop() else {
            return;
        };
        let class = self.classes[row as usize];
        let calls = self.calls(span.slot, span.thread, false);
        let count = calls.counts.entry(class).or_default();
        *count = count.saturating_sub(1);
        let outermost = *count == 0;
        self.sums[row as usize].add(&span.span, outermost);
    }

    fn ended(&mut self, strand: &Strand) {
        self.fibers += u64::from(strand.kind == Kind::Fiber);
        self.ends(strand.slot);
    }
}

impl Filterable for Sites<'_> {
    fn left_late(&mut self, span: &StrandSpan) {
        let mut span = *span;
        span.span.end = End::Unwound;
        self.leave(&span);
    }
}
