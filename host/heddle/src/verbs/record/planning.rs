//! Plans (docs/trace-format.md): the library in the traced program asks `heddle record` which
//! functions the user's patterns mean, and where coroutines have their frames.

use super::filtering::{Options, Search};
use super::valuing::{self, Valuing};
use crate::names::printable;
use crate::notes::{counted, warning};
use crate::preparing::failure::Failure;
use heddle_symbols::{Images, Warning};
use heddle_trace_file::{Error, Kinds, Module, ModulePlan, PlanRange, Planner, Recipe, ValueSite};
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

/// The thread that answers the library. Unlike the collector's, of normal priority: the program
/// waits for it.
pub struct Planning {
    stop: Arc<AtomicBool>,
    wake: Box<dyn Fn()>,
    thread: JoinHandle<Result<Warnings, Error>>,
}

/// What there is to say at the end.
#[derive(Default)]
struct Warnings {
    /// A warning for each pattern that matched nothing in all that was looked at.
    unmatched: Vec<String>,
    /// The files that could not be read, with the reasons.
    unread: Vec<String>,
}

/// A request wakes us; this is for one that was killed before it could.
const AT_MOST: Duration = Duration::from_secs(1);

/// The kernel's number of the thread; 0 before there is one.
static PLANNER: AtomicI32 = AtomicI32::new(0);
/// Tells all processes that no plan comes any more.
static REFUSE: OnceLock<Box<dyn Fn(i32) + Send + Sync>> = OnceLock::new();

/// If it is the planning thread that calls this, no process waits for it any more: each would for
/// half a minute. Async-signal-safe.
pub fn give_up() {
    // SAFETY: gettid takes nothing.
    let caller = unsafe { libc::gettid() };
    if let Some(refuse) = REFUSE.get().filter(|_| caller == PLANNER.load(SeqCst)) {
        refuse(crate::memory::lacked().map_or(0, |_| libc::ENOMEM));
    }
}

/// What the library is to be told.
pub struct Wanted {
    /// Which functions patterns mean.
    pub less: Options,
    /// Where the values of functions are.
    pub values: valuing::ValueOptions,
    /// Where coroutines have their frames.
    pub coroutines: bool,
}

/// Starts to answer, if anything is wanted. To be called while the trace at `trace` is being
/// collected, before the program begins. The user calls it `shown`.
pub fn start(trace: &Path, shown: &Path, wanted: Wanted) -> Result<Option<Planning>, Failure> {
    let has_patterns = wanted.less.patterns().next().is_some();
    if !has_patterns && !wanted.values.is_any() && !wanted.coroutines {
        return Ok(None);
    }
    let failed = |error: Error| super::directory::refused(&error.renamed(trace, shown));
    let planner = Planner::begin(trace).map_err(failed)?;
    let wake = planner.waker().map_err(failed)?;
    let _ = REFUSE.set(Box::new(planner.refuser().map_err(failed)?));
    let stop = Arc::new(AtomicBool::new(false));
    let (stopped, trace, shown) = (stop.clone(), trace.to_owned(), shown.to_owned());
    let (begun, has_begun) = std::sync::mpsc::sync_channel(1);
    let work = move || {
        // SAFETY: gettid takes nothing.
        PLANNER.store(unsafe { libc::gettid() }, SeqCst);
        let _ = begun.send(());
        let mut modules = Modules::new(&trace, &wanted);
        let go_on = || !stopped.load(SeqCst);
        let served = planner.serve(AT_MOST, go_on, |module| modules.plan(module));
        served.map_err(|error| error.renamed(&trace, &shown))?;
        Ok(modules.warnings())
    };
    let thread = std::thread::Builder::new()
        .name("planner".into())
        .spawn(work)
        .map_err(super::directory::no_thread)?;
    has_begun
        .recv()
        .map_err(|_| Failure::ours("the planning thread ended at once"))?;
    Ok(Some(Planning {
        stop,
        wake: Box::new(wake),
        thread,
    }))
}

impl Planning {
    /// Ends the thread, and says what could not be read. Returns warnings of patterns that matched
    /// nothing, which hold where every process has got its plans.
    pub fn finish(self) -> Vec<String> {
        self.stop.store(true, SeqCst);
        (self.wake)();
        let result = self
            .thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match result {
            Ok(warnings) => {
                warnings.unread.iter().for_each(warning);
                warnings.unmatched
            }
            Err(error) => {
                warning(format_args!(
                    "{error}: from there on no function matched, and no coroutine was known"
                ));
                Vec::new()
            }
        }
    }
}

/// The files of the modules that were asked for.
struct Modules<'a> {
    search: Search<'a>,
    valuing: Valuing<'a>,
    coroutines: bool,
    images: Images,
    known: HashMap<(PathBuf, Option<String>), ModulePlan>,
}

impl<'a> Modules<'a> {
    fn new(trace: &Path, wanted: &'a Wanted) -> Self {
        Modules {
            search: Search::new(&wanted.less),
            valuing: Valuing::new(trace, &wanted.values),
            coroutines: wanted.coroutines,
            images: Images::new(),
            known: HashMap::new(),
        }
    }

    fn plan(&mut self, module: &Module) -> Result<ModulePlan, Error> {
        let key = (module.path.clone(), module.build_id.clone());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let plan = if self.images.may_call_hooks(module) {
            ModulePlan {
                ranges: self.sought(module),
                sites: self.values(module)?,
                unread: self.images.refusal(module),
            }
        } else {
            ModulePlan::default()
        };
        self.known.insert(key, plan.clone());
        Ok(plan)
    }

    fn values(&mut self, module: &Module) -> Result<Vec<ValueSite>, Error> {
        if !self.valuing.is_any() {
            return Ok(Vec::new());
        }
        let valuing = &mut self.valuing;
        let found = self
            .images
            .values(module, &mut |symbol| valuing.wanted(symbol));
        self.valuing.numbered(found)
    }

    fn sought(&mut self, module: &Module) -> Vec<PlanRange> {
        let table = self.images.table(module);
        let table = table.filter(|table| table.calls_hooks());
        let matched = table.map_or_else(Vec::new, |table| self.search.in_table(&table));
        let recipes = if self.coroutines {
            self.images.recipes(module)
        } else {
            Vec::new()
        };
        let frame_code = if self.coroutines {
            self.images.frame_code(module)
        } else {
            Vec::new()
        };
        overlaid(&matched, &recipes, &frame_code)
    }

    fn warnings(mut self) -> Warnings {
        // Without a program that asked, nothing was sought.
        if self.known.is_empty() {
            return Warnings::default();
        }
        let mut unmatched = self.search.unmatched();
        unmatched.extend(self.valuing.unmatched());
        let all = self.images.take_warnings();
        let others = all.iter().filter(|it| it.lacked_memory().is_none());
        let unread = others.map(ToString::to_string).chain(starved(&all));
        Warnings {
            unmatched,
            unread: unread.map(|text| printable(&text)).collect(),
        }
    }
}

/// Says in one line which files could not be read for lack of memory, if there are any.
pub fn starved(warnings: &[Warning]) -> Option<String> {
    let mut files: Vec<&Path> = warnings.iter().filter_map(Warning::lacked_memory).collect();
    files.dedup();
    let (first, more) = files.split_first()?;
    let others = match more.len() as u64 {
        0 => String::new(),
        more => format!(", and {}", counted(more, "more file")),
    };
    Some(format!(
        "out of memory: the functions of {}{others} could not be looked up; raise the limit: ulimit -v unlimited",
        first.display()
    ))
}

/// All in one: in order, without overlaps, as each of them is.
fn overlaid(
    matched: &[PlanRange],
    recipes: &[(Range<u64>, Recipe)],
    frame_code: &[(Range<u64>, Kinds)],
) -> Vec<PlanRange> {
    if recipes.is_empty() && frame_code.is_empty() {
        return matched.to_vec();
    }
    let end = |range: &PlanRange| range.start + u64::from(range.size);
    let mut bounds: Vec<u64> = matched.iter().flat_map(|r| [r.start, end(r)]).collect();
    let others = recipes.iter().map(|(range, _)| range);
    let others = others.chain(frame_code.iter().map(|(range, _)| range));
    bounds.extend(others.flat_map(|range| [range.start, range.end]));
    bounds.sort_unstable();
    bounds.dedup();
    let (mut matched, mut recipes) = (matched.iter().peekable(), recipes.iter().peekable());
    let mut frame_code = frame_code.iter().peekable();
    let mut all = Vec::new();
    for pair in bounds.windows(2) {
        let (start, size) = (pair[0], pair[1] - pair[0]);
        while matched.next_if(|range| end(range) <= start).is_some() {}
        while recipes.next_if(|(range, _)| range.end <= start).is_some() {}
        while frame_code
            .next_if(|(range, _)| range.end <= start)
            .is_some()
        {}
        let here = matched.peek().filter(|range| range.start <= start);
        let mut kinds = here.map_or(Kinds::default(), |range| range.kinds);
        let here = frame_code.peek().filter(|(range, _)| range.start <= start);
        kinds |= here.map_or(Kinds::default(), |&&(_, kinds)| kinds);
        let here = recipes.peek().filter(|(range, _)| range.start <= start);
        let recipe = here.map_or(Recipe::default(), |&&(_, recipe)| recipe);
        if !kinds.is_empty() || recipe != Recipe::default() {
            all.push(PlanRange {
                start,
                size: u32::try_from(size).unwrap_or(u32::MAX),
                kinds,
                recipe,
            });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_and_recipes_share_their_ranges() {
        let recipe = |offset| Recipe {
            place: None,
            resume_index: Some(offset),
        };
        let range = |start, size, kinds, recipe| PlanRange {
            start,
            size,
            kinds,
            recipe,
        };
        let (none, filter) = (Recipe::default(), Kinds::FILTER);
        let matched = [
            range(0x10, 0x20, filter, none),
            range(0x40, 0x10, Kinds::EXCLUDE, none),
        ];
        let recipes = [
            (0x8..0x10, recipe(2)),
            (0x20..0x28, recipe(4)),
            (0x2c..0x44, recipe(6)),
        ];
        let expected = [
            range(0x8, 0x8, Kinds::default(), recipe(2)),
            range(0x10, 0x10, filter, none),
            range(0x20, 0x8, filter, recipe(4)),
            range(0x28, 0x4, filter, none),
            range(0x2c, 0x4, filter, recipe(6)),
            range(0x30, 0x10, Kinds::default(), recipe(6)),
            range(0x40, 0x4, Kinds::EXCLUDE, recipe(6)),
            range(0x44, 0xc, Kinds::EXCLUDE, none),
        ];
        assert_eq!(overlaid(&matched, &recipes, &[]), expected);
        assert_eq!(overlaid(&matched, &[], &[]), matched);
        assert_eq!(overlaid(&[], &recipes, &[]).len(), recipes.len());
        let frame_code = [(0x2c..0x30, Kinds::MAKES_FRAMES)];
        let made = overlaid(&matched, &[], &frame_code);
        let both = range(0x2c, 0x4, filter | Kinds::MAKES_FRAMES, none);
        assert_eq!(made, [range(0x10, 0x1c, filter, none), both, matched[1]]);
    }
}
