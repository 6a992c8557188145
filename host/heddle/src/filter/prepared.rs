//! What the options mean for a trace: names are looked up once for each function.

use super::learned::{Learned, Tids};
use super::left_out::By;
use super::mine::{Mine, Sources};
use super::rules::Rules;
use super::sink::{Filtered, Nothing};
use super::verdict::{Limits, Meant};
use super::{FilterArgs, Pattern, Shown};
use crate::names::Names;
use crate::notes::quoted;
use crate::usage::Usage;
use heddle_calls::{Key, Profile, Source, Workers};
use heddle_strands::StrandId;
use heddle_symbols::without_parameters;
use heddle_trace_file::{Error, Kinds, Nanos, Place, Process, Trace};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

/// The calls of a trace that are kept.
pub struct Filter<'a> {
    rules: Rules<'a>,
}

impl<'a> Filter<'a> {
    /// `None` without options: then nothing is to be done.
    ///
    /// # Errors
    /// [`Usage`] if the trace has no such function or thread; what reading the trace gives.
    pub fn new(
        args: &FilterArgs,
        trace: &'a Trace,
        names: &mut Names<'_>,
    ) -> anyhow::Result<Option<Self>> {
        if args.is_empty() {
            return Ok(None);
        }
        let patterns: Vec<_> = args.calls.patterns().collect();
        let mut rules = Rules {
            trace,
            meant: vec![FxHashMap::default(); trace.processes().len()],
            limits: Limits {
                filters: patterns.iter().any(|(kind, ..)| *kind == Kinds::FILTER),
                depth: args.calls.depth(),
            },
            min_time: args.calls.min_time(),
            range: args.time_range,
            ends: args.time_range.map_or_else(Vec::new, |_| ends(trace)),
            threads: threads(trace, &args.thread)?,
            tids: tids(trace),
            learned: None,
        };
        if !patterns.is_empty() || !args.hide.is_empty() || !args.mine.is_empty() {
            let mut all: Vec<_> = patterns.into_iter().map(kept).collect();
            all.extend(args.hide.iter().map(|pattern| Asked {
                kinds: Kinds::default(),
                option: "--hide",
                pattern,
            }));
            rules.meant = meant(trace, names, &all, Mine::new(&args.mine).as_ref())?;
        }
        Ok(Some(Filter { rules }))
    }

    /// Whether a walk of its own must come first: `--min-time` asks when calls end.
    pub fn must_learn(&self) -> bool {
        self.rules.min_time.is_some()
    }

    /// A sink for that walk, for a part of the process with this index.
    pub fn learning(&self, process: usize) -> Filtered<'_, Nothing> {
        Filtered::new(&self.rules, process, Nothing).learning()
    }

    /// Takes over what the sinks of that walk have found.
    pub fn learn(&mut self, found: Found) {
        self.rules.learned = Some(found.0);
    }

    /// The strands of which that walk found a call that is kept.
    pub fn strands(&self) -> HashSet<StrandId> {
        let learned = self.rules.learned.as_ref();
        learned.map_or_else(HashSet::new, |learned| learned.strands.clone())
    }

    /// Whether the options ask for this place's thread and for this time.
    pub fn asks_for(&self, place: Place, time: Nanos) -> bool {
        let range = self.rules.range;
        range.is_none_or(|range| range.has(time))
            && self.rules.takes_thread(place.process, place.thread)
    }

    /// The threads that these strands ran on, and that had what these waited for; none where
    /// threads are asked for.
    pub fn beside(&self) -> HashSet<StrandId> {
        let learned = self.rules.learned.as_ref();
        let learned = learned.filter(|_| self.rules.threads.is_none());
        learned.map_or_else(HashSet::new, |learned| learned.beside.clone())
    }

    /// The time that the options ask for; without that all.
    pub fn range(&self) -> Range<Nanos> {
        let range = self.rules.range;
        range.map_or(Nanos(0)..Nanos(u64::MAX), |range| range.from..range.to)
    }

    /// The process's part that is shown.
    pub fn shown(&self, process: usize) -> Shown {
        let threads = self.rules.threads.as_ref();
        Shown {
            range: self.range(),
            threads: threads.and_then(|all| all.get(process).cloned()),
            until: self.rules.ends.get(process).copied().unwrap_or_default(),
        }
    }

    /// `sink` behind the filter, for a part of the process with this index.
    pub fn over<S>(&self, process: usize, sink: S) -> Filtered<'_, S> {
        Filtered::new(&self.rules, process, sink)
    }
}

/// What the sinks of the first walk have found together.
pub struct Found(Learned);

impl<'f> FromIterator<(usize, Filtered<'f, Nothing>)> for Found {
    fn from_iter<I: IntoIterator<Item = (usize, Filtered<'f, Nothing>)>>(sinks: I) -> Self {
        let mut all = Learned::default();
        for (_, sink) in sinks {
            let (part, found) = sink.learned();
            all.add(part, found);
        }
        Found(all)
    }
}

/// A pattern, with its option. One without kinds hides.
struct Asked<'p> {
    kinds: Kinds,
    option: &'static str,
    pattern: &'p Pattern,
}

fn kept<'p>((kinds, option, pattern): (Kinds, &'static str, &'p Pattern)) -> Asked<'p> {
    Asked {
        kinds,
        option,
        pattern,
    }
}

/// What the options mean of each function that was called, by process.
fn meant(
    trace: &Trace,
    names: &mut Names<'_>,
    patterns: &[Asked<'_>],
    mine: Option<&Mine>,
) -> anyhow::Result<Vec<FxHashMap<Key, Meant>>> {
    let called = called(trace)?;
    let mut matched = vec![false; patterns.len()];
    let mut known = BTreeSet::new();
    let mut sources = Sources::default();
    let mut all = Vec::new();
    for (index, (process, keys)) in trace.processes().iter().zip(&called).enumerate() {
        let mut functions = FxHashMap::default();
        for key in keys {
            let time = process.modules().time_of(key.address, key.generation);
            let location = names.function(index, key.address, time);
            let mut sum = Meant::default();
            for (asked, matched) in patterns.iter().zip(&mut matched) {
                if location.known && asked.pattern.matches(&location.name) {
                    *matched = true;
                    sum.kinds |= asked.kinds;
                    if asked.kinds.is_empty() {
                        sum.hidden = Some(By::Hide);
                    }
                }
            }
            if let Some(mine) = mine {
                let source = names.source(index, key.address, time);
                if !sources.is_mine(mine, source) && sum.hidden.is_none() {
                    sum.hidden = Some(By::Mine);
                }
            }
            if sum != Meant::default() {
                functions.insert(*key, sum);
            }
            if location.known {
                known.insert(location.name.clone());
            }
        }
        all.push(functions);
    }
    let idle = patterns.iter().zip(matched).find(|(_, matched)| !matched);
    if let Some((asked, _)) = idle {
        return Err(unknown(asked.option, asked.pattern, &known).into());
    }
    match mine.and_then(|mine| sources.trouble(mine)) {
        Some(trouble) => Err(Usage::new(trouble).into()),
        None => Ok(all),
    }
}

/// The functions that were called, by process; with those of the processes that it may have been
/// forked from, whose calls may be open in it.
fn called(trace: &Trace) -> Result<Vec<BTreeSet<Key>>, Error> {
    let processes = trace.processes();
    let threads = processes.iter().enumerate().flat_map(|(index, process)| {
        let threads = process.threads().iter();
        threads.map(move |thread| (index, Source::new(thread, process.modules())))
    });
    let (indices, threads): (Vec<usize>, Vec<_>) = threads.unzip();
    let mut own = vec![BTreeSet::new(); processes.len()];
    let profiles = Profile::of_all(&threads, Workers::all())?;
    for (index, profile) in indices.into_iter().zip(profiles) {
        own[index].extend(profile.functions.into_iter().map(|(key, _)| key));
    }
    let mut images: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (index, process) in processes.iter().enumerate() {
        images.entry(process.pid()).or_default().push(index);
    }
    let all = processes.iter().enumerate().map(|(index, process)| {
        let mut keys = own[index].clone();
        let generation = process.modules().generation(begin(process));
        let (mut parent, mut seen) = (process.parent(), BTreeSet::from([process.pid()]));
        while seen.insert(parent)
            && let Some(parents) = images.get(&parent)
        {
            for key in parents.iter().flat_map(|&parent| &own[parent]) {
                keys.insert(Key { generation, ..*key });
            }
            parent = processes[parents[0]].parent();
        }
        keys
    });
    Ok(all.collect())
}

fn tids(trace: &Trace) -> Vec<Tids> {
    let of = |process: &Process| {
        let mut tids = Tids::default();
        for (index, thread) in process.threads().iter().enumerate() {
            tids.entry(thread.tid()).or_default().push(index);
        }
        tids
    };
    trace.processes().iter().map(of).collect()
}

fn ends(trace: &Trace) -> Vec<Nanos> {
    let processes = trace.processes().iter();
    let ends = processes.map(|process| process.last().unwrap_or_default());
    ends.collect()
}

fn begin(process: &Process) -> Nanos {
    let threads = process.threads().iter();
    threads
        .map(|thread| thread.first())
        .min()
        .unwrap_or_default()
}

fn unknown(option: &str, pattern: &Pattern, known: &BTreeSet<String>) -> Usage {
    let shorts = known.iter().map(|name| without_parameters(name));
    let shorts: Vec<String> = shorts.collect();
    let both = known.iter().zip(&shorts);
    let both = both.map(|(name, short)| (name.as_str(), short.as_str()));
    let meant = heddle_tree::nearest(pattern.words(), &both.collect());
    let meant = meant.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
    Usage::new(format!(
        "{option} {} matches no function of the trace{meant}",
        quoted(pattern.text().as_ref())
    ))
}

/// The threads with these numbers and names, by process; `None` if none is asked for.
fn threads(trace: &Trace, wanted: &[String]) -> Result<Option<Vec<Vec<bool>>>, Usage> {
    if wanted.is_empty() {
        return Ok(None);
    }
    let mut found = vec![false; wanted.len()];
    let mut there = BTreeSet::new();
    let processes = trace.processes().iter();
    let all = processes.map(|process| {
        let threads = process.threads().iter().map(|thread| {
            let (tid, name) = (thread.tid().to_string(), thread.name());
            there.insert(format!("{tid} {}", crate::names::printable(name)));
            let mut takes = false;
            for (wanted, found) in wanted.iter().zip(&mut found) {
                if *wanted == tid || wanted == name {
                    (takes, *found) = (true, true);
                }
            }
            takes
        });
        threads.collect()
    });
    let all: Vec<Vec<bool>> = all.collect();
    match wanted.iter().zip(found).find(|(_, found)| !found) {
        Some((wanted, _)) => Err(no_thread(wanted, &there)),
        None => Ok(Some(all)),
    }
}

fn no_thread(wanted: &str, there: &BTreeSet<String>) -> Usage {
    const SHOWN: usize = 5;
    let shown: Vec<&str> = there.iter().take(SHOWN).map(String::as_str).collect();
    let more = if there.len() > SHOWN { ", …" } else { "" };
    Usage::new(format!(
        "--thread {}: the trace has no thread with this number or name; there are: {}{more}",
        quoted(wanted.as_ref()),
        shown.join(", ")
    ))
}
