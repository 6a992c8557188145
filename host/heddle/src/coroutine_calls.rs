//! The calls of C++20 coroutines: how many activations had their frame captured, how many had not,
//! and of which coroutines none is in the trace.

use crate::names::{may_have_frame, printable};
use crate::notes::counted;
use heddle_calls::{Key, Profile};
use heddle_symbols::{Images, Resolver, SymbolTable, coroutine_part};
use heddle_trace_file::{Module, Process, Trace};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{self, Write};
use std::rc::Rc;

/// The modules of a process that have coroutines and were compiled by Clang. With
/// -finstrument-functions it puts the hooks into a coroutine before it makes a function of each
/// part, so that what resumes it has none.
pub struct ClangModules<'a>(Vec<(&'a Module, Rc<SymbolTable>)>);

impl<'a> ClangModules<'a> {
    /// Those of the process. None of a packed trace, which carries the names of recorded functions
    /// alone.
    pub fn of(trace: &Trace, process: &'a Process) -> Self {
        let mut images = Images::new();
        let modules = process.modules().iter();
        let with_hooks =
            modules.filter(|module| trace.symbols().is_none() && images.may_call_hooks(module));
        let with_hooks: Vec<&Module> = with_hooks.collect();
        let tables = with_hooks.into_iter().filter_map(|module| {
            let table = images.table(module)?;
            (!table.clang_coroutines().is_empty()).then_some((module, table))
        });
        Self(tables.collect())
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The coroutines' calls of one process.
#[derive(Default)]
pub struct Count {
    /// By function: its calls, and how many of them had a frame.
    functions: HashMap<Key, (u64, u64)>,
}

impl Count {
    /// Adds a thread's.
    pub fn add(&mut self, profile: &Profile) {
        for (key, stats) in &profile.functions {
            let (calls, frames) = self.functions.entry(*key).or_default();
            *calls += stats.calls;
            *frames += stats.frames;
        }
    }

    /// Names each of the modules whose coroutines the trace does not show: they were called, and no
    /// resumption of any is there.
    pub fn unseen(&self, clang: &ClangModules) -> Vec<String> {
        let mut warnings = BTreeMap::new();
        for (module, table) in &clang.0 {
            let ramps = table.clang_coroutines();
            let inside = |key: &&Key| (module.start..module.end).contains(&key.address);
            let called = self.functions.keys().filter(inside);
            let called: HashSet<&str> = called
                .filter_map(|key| table.find(key.address.0.wrapping_sub(module.bias)))
                .collect();
            let mut parts = called.iter().copied().filter_map(coroutine_part);
            let seen = parts.any(|(ramp, ..)| ramps.contains(ramp));
            let unseen = called.intersection(&ramps).count() as u64;
            if !seen && unseen > 0 {
                let name = printable(&module.path.to_string_lossy());
                let text = format!(
                    "{name}: what resumes its coroutines has no hook ({}, compiled by Clang): they are not told apart, and what they call counts for who resumed them; compile it with what `heddle flags --compiler clang++` prints",
                    counted(unseen, "coroutine function")
                );
                warnings.insert(&module.path, text);
            }
        }
        warnings.into_values().collect()
    }

    /// Prints a line about the frames, if there are any or if there should have been, and one for
    /// each coroutine that has calls without.
    pub fn print(&self, out: &mut dyn Write, trace: &Trace, process: &Process) -> io::Result<()> {
        // What has no name is no coroutine that we know of; other commands warn of such modules.
        let mut images = trace.symbols().map_or_else(Images::new, Images::packed);
        let mut names = Resolver::new(process.modules());
        let (mut frames, mut distinct) = (0, BTreeSet::new());
        let mut without: BTreeMap<String, u64> = BTreeMap::new();
        for (key, (calls, captured)) in &self.functions {
            let time = process.modules().time_of(key.address, key.generation);
            let location = names.function(&mut images, key.address, time);
            let part = coroutine_part(&location.symbol);
            if !may_have_frame(&location) || (part.is_none() && *captured == 0) {
                continue;
            }
            if *captured > 0 {
                let coroutine = part.map_or(&*location.symbol, |(coroutine, ..)| coroutine);
                distinct.insert((location.module.clone(), coroutine.to_owned()));
            }
            frames += captured;
            if calls > captured {
                *without.entry(location.name.clone()).or_default() += calls - captured;
            }
        }
        if frames == 0 && without.is_empty() {
            return Ok(());
        }
        let (captured, functions) = (
            counted(frames, "frame"),
            counted(distinct.len() as u64, "coroutine function"),
        );
        writeln!(out, "coroutines {captured} captured of {functions}")?;
        for (name, calls) in without {
            writeln!(out, "           {calls} without: {name}")?;
        }
        Ok(())
    }
}
