//! Recording less: which functions the user's patterns mean. The library in the traced program follows the calls; it asks us for names (docs/trace-format.md, Plans).

mod options;
mod pattern;

pub use options::Options;
use pattern::Pattern;

use crate::notes::{quoted, warning};
use crate::recording::Failure;
use heddle_symbols::{Images, SymbolTable, demangle};
use heddle_trace_file::{Error, Kinds, Module, PlanRange, Planner, Recipe};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::JoinHandle;
use std::time::Duration;

/// The thread that answers the library. Unlike the collector's, of normal priority: the program waits for it.
pub struct Filtering {
    stop: Arc<AtomicBool>,
    wake: Box<dyn Fn()>,
    thread: JoinHandle<Result<Vec<String>, Error>>,
}

/// A request wakes us; this is for one that was killed before it could.
const AT_MOST: Duration = Duration::from_secs(1);

/// Starts to answer, if there are patterns. To be called while the trace at `trace` is being collected, before the program begins.
pub fn start(trace: &Path, options: &Options) -> Result<Option<Filtering>, Failure> {
    if options.patterns().next().is_none() {
        return Ok(None);
    }
    let failed = |error: Error| Failure::ours(format!("cannot begin to record: {error}"));
    let planner = Planner::begin(trace).map_err(failed)?;
    let wake = planner.waker().map_err(failed)?;
    let stop = Arc::new(AtomicBool::new(false));
    let (stopped, options) = (stop.clone(), options.clone());
    let work = move || {
        let mut search = Search::new(&options);
        let go_on = || !stopped.load(SeqCst);
        planner.serve(AT_MOST, go_on, |module| search.in_module(module))?;
        Ok(search.unmatched())
    };
    let thread = std::thread::Builder::new()
        .name("planner".into())
        .spawn(work)
        .map_err(|error| Failure::ours(format!("cannot start a thread: {error}")))?;
    Ok(Some(Filtering {
        stop,
        wake: Box::new(wake),
        thread,
    }))
}

impl Filtering {
    /// Ends the thread, and says which patterns matched nothing.
    pub fn finish(self) {
        self.stop.store(true, SeqCst);
        (self.wake)();
        let result = self
            .thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match result {
            Ok(unmatched) => unmatched.iter().for_each(warning),
            Err(error) => warning(format_args!("{error}: from there on no function matched")),
        }
    }
}

/// Looks for the patterns in symbol tables.
struct Search<'a> {
    patterns: Vec<(Kinds, &'static str, &'a Pattern, bool)>,
    images: Images,
    known: HashMap<(PathBuf, Option<String>), Vec<PlanRange>>,
}

impl<'a> Search<'a> {
    fn new(options: &'a Options) -> Self {
        Search {
            patterns: options
                .patterns()
                .map(|(kind, option, pattern)| (kind, option, pattern, false))
                .collect(),
            images: Images::new(),
            known: HashMap::new(),
        }
    }

    fn in_module(&mut self, module: &Module) -> Vec<PlanRange> {
        let key = (module.path.clone(), module.build_id.clone());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let matched = self
            .images
            .table(module)
            .filter(|table| table.calls_hooks())
            .map_or_else(Vec::new, |table| self.in_table(&table));
        self.known.insert(key, matched.clone());
        matched
    }

    fn in_table(&mut self, table: &SymbolTable) -> Vec<PlanRange> {
        let mut found: Vec<PlanRange> = Vec::new();
        // Neighbours are often parts of one function.
        let mut last = ("", Kinds::default());
        for (start, size, symbol) in table.stretches() {
            if symbol != last.0 {
                last = (symbol, self.kinds_of(&demangle(symbol)));
            }
            let kinds = last.1;
            if kinds.is_empty() {
                continue;
            }
            let size = u32::try_from(size).unwrap_or(u32::MAX);
            match found.last_mut() {
                Some(before)
                    if before.kinds == kinds
                        && before.start + u64::from(before.size) == start
                        && before.size.checked_add(size).is_some() =>
                {
                    before.size += size;
                }
                _ => found.push(PlanRange {
                    start,
                    size,
                    kinds,
                    recipe: Recipe::default(),
                }),
            }
        }
        found
    }

    fn kinds_of(&mut self, name: &str) -> Kinds {
        let mut kinds = Kinds::default();
        for (kind, _, pattern, matched) in &mut self.patterns {
            if pattern.matches(name) {
                kinds |= *kind;
                *matched = true;
            }
        }
        kinds
    }

    /// A warning for each pattern without a match, if any program has asked.
    fn unmatched(&self) -> Vec<String> {
        if self.known.is_empty() {
            return Vec::new();
        }
        let idle = self.patterns.iter().filter(|(.., matched)| !matched);
        idle.map(|(_, option, pattern, _)| {
            format!(
                "{option} {} matched no function that could be recorded: of the program and its libraries, those compiled with hooks have none of this name; `nm -C PROGRAM` prints their names",
                quoted(pattern.text().as_ref())
            )
        })
        .collect()
    }
}
