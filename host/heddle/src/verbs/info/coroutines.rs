//! How many activations of C++20 coroutines had their frame captured, and how many had not.

use crate::names::may_have_frame;
use crate::notes::counted;
use heddle_calls::{Key, Profile};
use heddle_symbols::{Images, Resolver, coroutine_part};
use heddle_trace_file::{Process, Trace};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};

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
