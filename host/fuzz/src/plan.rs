//! Plans: the lines of modules that a traced process writes, and the answer that it reads.

use crate::{scratch, write};
use heddle_trace_file::write::ModuleLines;
use heddle_trace_file::{
    Collector, FramePlace, Kinds, Module, ModulePlan, PlanRange, Planner, Recipe, Step, Ticks,
    ValueSite,
};
use std::time::Duration;

/// Answers a process that has written the input's lines, with their sums, as its `modules`: an
/// answer is a whole plan.
pub fn read(input: &[u8]) {
    let directory = scratch();
    let process = directory.path().join("42");
    std::fs::create_dir(&process).unwrap_or_else(|error| panic!("{error}"));
    let mut chain = ModuleLines::of(Ticks(0));
    let lines = input.split_inclusive(|&b| b == b'\n');
    let lines = lines.flat_map(|line| match line.strip_suffix(b"\n") {
        Some(text) => chain.line(text),
        None => line.to_vec(),
    });
    write(&process.join("modules"), &lines.collect::<Vec<_>>());
    let collector = Collector::begin(directory.path()).unwrap_or_else(|error| panic!("{error}"));
    let planner = Planner::begin(directory.path()).unwrap_or_else(|error| panic!("{error}"));
    let mut rounds = 0;
    let go_on = || {
        rounds += 1;
        rounds == 1
    };
    let mut modules = 0;
    let served = planner.serve(Duration::ZERO, go_on, |module| {
        modules += 1;
        Ok(ModulePlan {
            ranges: ranges(module),
            sites: sites(module),
            unread: Some(libc::ENOMEM),
        })
    });
    if let (Ok(()), Ok(plan)) = (served, std::fs::read(process.join("plan-1"))) {
        verify(&plan, modules);
    }
    let _ = collector.finish();
}

/// Functions at the ends of a module, as odd as a symbol table's may be.
fn ranges(module: &Module) -> Vec<PlanRange> {
    let at = |start: u64| PlanRange {
        start,
        size: u32::MAX,
        kinds: Kinds::FILTER,
        recipe: Recipe {
            place: FramePlace::from_rbp(module.bias as i64),
            resume_index: u32::try_from(module.start.0).ok(),
        },
    };
    let offset = |address: u64| address.wrapping_sub(module.bias);
    vec![at(offset(module.start.0)), at(offset(module.end.0))]
}

/// Calls of hooks there, with one recipe.
fn sites(module: &Module) -> Vec<ValueSite> {
    let at = |address: u64| ValueSite {
        address: address.wrapping_sub(module.bias),
        function: module.bias,
        shape: 1,
        steps: vec![Step::Register(5, -8), Step::Put(4)],
    };
    vec![at(module.start.0), at(module.end.0)]
}

/// That the bytes are a plan for so many modules (docs/trace-format.md, Plans).
fn verify(plan: &[u8], modules: usize) {
    let word = |at: usize| {
        let bytes = plan.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u64::from_le_bytes)
    };
    assert_eq!(plan.get(..8), Some(&b"HEDLPLAN"[..]));
    let recipe = if modules > 0 { 3 * 8 } else { 0 };
    assert_eq!(plan.len(), 32 + modules * (32 + 3 * 16 + 2 * 24) + recipe);
    let mut first = 0;
    for number in 0..modules {
        let at = 32 + number * 32;
        assert_eq!(word(at + 16), Some(first));
        first += word(at + 24).unwrap_or_default();
    }
}
