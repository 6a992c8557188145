//! Plans: what `heddle record` tells a traced process of its functions, because only the host has
//! their names.

use crate::alive::written_by_someone;
use crate::collect::Requests;
use crate::file::text_of;
use crate::modules::whole_lines;
use crate::{Addr, Error, Module, Modules, Recipe, Step, trace};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Write;
use std::ops::{BitOr, BitOrAssign};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is said of a function: a filter's patterns, and what it has to do with coroutines' frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kinds(u32);

impl Kinds {
    /// Calls inside it are recorded (`--filter`).
    pub const FILTER: Kinds = Kinds(1);
    /// Calls of it, and inside it, are not (`--exclude`).
    pub const EXCLUDE: Kinds = Kinds(2);
    /// Recording goes on when it is entered (`--start-at`).
    pub const START_AT: Kinds = Kinds(4);
    /// Recording stops when it has returned (`--stop-at`).
    pub const STOP_AT: Kinds = Kinds(8);
    /// The frames of coroutines are allocated from there.
    pub const MAKES_FRAMES: Kinds = Kinds(16);
    /// It destroys coroutines, whose frames bear its address.
    pub const DESTROYS_FRAMES: Kinds = Kinds(32);

    /// The bits, for the plan and for the library's environment.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Whether it says nothing.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for Kinds {
    type Output = Kinds;
    fn bitor(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }
}

impl BitOrAssign for Kinds {
    fn bitor_assign(&mut self, other: Kinds) {
        self.0 |= other.0;
    }
}

/// Addresses in a file's own address space of which the library is told something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanRange {
    /// The first.
    pub start: u64,
    /// How many bytes.
    pub size: u32,
    /// What is said of them.
    pub kinds: Kinds,
    /// Where calls of the hooks that return there find a coroutine's frame.
    pub recipe: Recipe,
}

/// A call of a hook before which the library records values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSite {
    /// The address that the hook returns to, in the file's own address space.
    pub address: u64,
    /// The function as an enter records it: its address, or by `-mfentry` the one that the hook at
    /// its beginning returns to.
    pub function: u64,
    /// The number of the [`Shape`](crate::Shape) that the steps fill.
    pub shape: u32,
    /// How the library finds the values.
    pub steps: Vec<Step>,
}

/// What the library is told of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModulePlan {
    /// In order, without overlaps.
    pub ranges: Vec<PlanRange>,
    /// In order of their addresses.
    pub sites: Vec<ValueSite>,
    /// Why functions of it may be missing here, an error number: its file could not be read.
    pub unread: Option<i32>,
}

impl From<Vec<PlanRange>> for ModulePlan {
    fn from(ranges: Vec<PlanRange>) -> Self {
        ModulePlan {
            ranges,
            ..Self::default()
        }
    }
}

/// Answers the processes of a trace that ask for plans.
#[derive(Debug)]
pub struct Planner {
    trace: PathBuf,
    requests: Requests,
    /// Those that may ask again.
    processes: HashMap<PathBuf, Answered>,
    /// Those that have ended: a program may have forked ten thousand of them.
    ended: HashSet<PathBuf>,
    /// With so many that may ask, it is looked which of them have ended.
    sweep_at: usize,
}

/// Processes that are not worth a sweep.
const FEW: usize = 16;

#[derive(Debug, Default)]
struct Answered {
    /// Bytes of its `modules` that were answered.
    bytes: usize,
    /// Bytes that it had when it was read.
    read: u64,
    plans: u32,
}

impl Planner {
    /// For the trace at `path`, while a [`Collector`](crate::Collector) of it lives.
    ///
    /// # Errors
    /// The trace's `control` cannot be mapped.
    pub fn begin(path: &Path) -> Result<Self, Error> {
        Ok(Planner {
            trace: path.to_owned(),
            requests: Requests::open(path)?,
            processes: HashMap::new(),
            ended: HashSet::new(),
            sweep_at: FEW,
        })
    }

    /// What ends a wait from another thread.
    ///
    /// # Errors
    /// The trace's `control` cannot be mapped.
    pub fn waker(&self) -> Result<impl Fn() + Send + 'static + use<>, Error> {
        let requests = Requests::open(&self.trace)?;
        Ok(move || requests.wake())
    }

    /// What tells all processes that no plan comes any more, and why, an error number or 0, from
    /// another thread or where this one cannot go on: async-signal-safe.
    ///
    /// # Errors
    /// The trace's `control` cannot be mapped.
    pub fn refuser(&self) -> Result<impl Fn(i32) + Send + Sync + 'static + use<>, Error> {
        let requests = Requests::open(&self.trace)?;
        Ok(move |why| requests.refuse(why))
    }

    /// Answers until `go_on` says no; asks it at least every `at_most`. `plan` tells what is to
    /// be said of a module.
    ///
    /// # Errors
    /// What `plan` gives; a plan cannot be written, or what a process has written is damaged. No
    /// process waits for one any more then.
    pub fn serve(
        mut self,
        at_most: Duration,
        mut go_on: impl FnMut() -> bool,
        mut plan: impl FnMut(&Module) -> Result<ModulePlan, Error>,
    ) -> Result<(), Error> {
        while go_on() {
            let seen = self.requests.count();
            match self.answer_all(&mut plan) {
                Ok(0) => self.requests.wait(seen, at_most),
                Ok(_) => {}
                Err(error) => {
                    self.requests.refuse(error.number());
                    return Err(error);
                }
            }
        }
        self.sweep();
        Ok(())
    }

    fn answer_all(
        &mut self,
        plan: &mut impl FnMut(&Module) -> Result<ModulePlan, Error>,
    ) -> Result<usize, Error> {
        let mut answers = 0;
        for (directory, _) in trace::image_directories(&self.trace)? {
            if self.ended.contains(&directory) {
                continue;
            }
            let process = self.processes.entry(directory.clone()).or_default();
            if process.answer(&directory, plan)? {
                self.requests.answer();
                answers += 1;
            }
        }
        if self.processes.len() > self.sweep_at {
            self.sweep();
        }
        Ok(answers)
    }

    /// Forgets the processes that have ended. One that was answered had its header mapped then. The
    /// plans are removed that it has not read: a forked child knows what its parent did.
    fn sweep(&mut self) {
        let ended = &mut self.ended;
        self.processes.retain(|directory, process| {
            let header = directory.join("process");
            let gone = process.plans > 0 && written_by_someone(&header) == Some(false);
            if gone {
                for plan in 1..=process.plans {
                    // What was read is not there any more.
                    let _ = std::fs::remove_file(directory.join(format!("plan-{plan}")));
                }
                ended.insert(directory.clone());
            }
            !gone
        });
        self.sweep_at = FEW + 2 * self.processes.len();
    }
}

impl Answered {
    fn answer(
        &mut self,
        directory: &Path,
        plan: &mut impl FnMut(&Module) -> Result<ModulePlan, Error>,
    ) -> Result<bool, Error> {
        let path = directory.join("modules");
        let found = match std::fs::symlink_metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            found => found.map_err(Error::io(&path))?,
        };
        // It only grows.
        if found.is_file() && found.len() == self.read {
            return Ok(false);
        }
        // The program may have put a FIFO in its place, which would keep us waiting.
        let Some(bytes) = text_of(&path)? else {
            return Ok(false);
        };
        self.read = bytes.len() as u64;
        let complete = whole_lines(&bytes);
        let Some(news) = complete.get(self.bytes..).filter(|news| !news.is_empty()) else {
            return Ok(false);
        };
        let loads = Modules::loads(&path, self.bytes, news)?;
        let parts = loads.into_iter().map(|module| {
            let plan = plan(&module)?;
            Ok((module, plan))
        });
        let parts = parts.collect::<Result<Vec<(Module, ModulePlan)>, Error>>()?;
        self.bytes = complete.len();
        self.plans += 1;
        // Under its own name it is complete.
        let unfinished = directory.join("plan.new");
        let finished = directory.join(format!("plan-{}", self.plans));
        // Not what a link in its place leads to: the program may be another user's by now.
        let _ = std::fs::remove_file(&unfinished);
        File::create_new(&unfinished)
            .and_then(|mut file| file.write_all(&encode(complete.len(), &parts)))
            .map_err(Error::io(&unfinished))?;
        std::fs::rename(&unfinished, &finished).map_err(Error::io(&finished))?;
        Ok(true)
    }
}

/// The file's bytes (docs/trace-format.md, Plans).
fn encode(covered: usize, parts: &[(Module, ModulePlan)]) -> Vec<u8> {
    let (sites, recipes) = encode_sites(parts);
    let mut bytes = b"HEDLPLAN".to_vec();
    bytes.extend(crate::VERSION.to_le_bytes());
    bytes.extend((parts.len() as u32).to_le_bytes());
    bytes.extend((covered as u64).to_le_bytes());
    bytes.extend((sites.len() as u32).to_le_bytes());
    bytes.extend((recipes.len() as u32).to_le_bytes());
    let mut first = 0;
    for (module, plan) in parts {
        let count = plan.ranges.len() as u64 + u64::from(plan.unread.is_some());
        for field in [module.start.0, module.end.0, first, count] {
            bytes.extend(field.to_le_bytes());
        }
        first += count;
    }
    for (module, plan) in parts {
        // One of no bytes, in front of the others.
        if let Some(why) = plan.unread {
            bytes.extend(module.start.0.to_le_bytes());
            bytes.extend(0u32.to_le_bytes());
            bytes.extend(why.to_le_bytes());
        }
        for range in &plan.ranges {
            let Addr(start) = Addr(range.start.wrapping_add(module.bias));
            bytes.extend(start.to_le_bytes());
            bytes.extend(range.size.to_le_bytes());
            bytes.extend((range.kinds.bits() | range.recipe.bits()).to_le_bytes());
        }
    }
    for word in sites.iter().flatten().chain(&recipes) {
        bytes.extend(word.to_le_bytes());
    }
    bytes
}

/// The sites in order of their addresses, and the words of their recipes, the same ones once.
fn encode_sites(parts: &[(Module, ModulePlan)]) -> (Vec<[u64; 3]>, Vec<u64>) {
    let (mut sites, mut recipes) = (Vec::new(), Vec::new());
    let mut known: HashMap<Vec<u64>, u64> = HashMap::new();
    for (module, plan) in parts {
        for site in &plan.sites {
            let count = site.steps.len() as u64;
            let mut recipe = vec![u64::from(site.shape) | count << 32];
            recipe.extend(site.steps.iter().map(|step| step.word()));
            let first = *known.entry(recipe).or_insert_with_key(|recipe| {
                let first = recipes.len() as u64;
                recipes.extend(recipe);
                first
            });
            let here = |address: u64| address.wrapping_add(module.bias);
            sites.push([here(site.address), here(site.function), first]);
        }
    }
    sites.sort_unstable();
    (sites, recipes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Collector, FramePlace, Ticks};
    use std::cell::Cell;

    /// The planner does not look what a line follows.
    fn summed(line: &str) -> String {
        let mut lines = crate::write::ModuleLines::of(Ticks(0));
        String::from_utf8(lines.line(line.as_bytes())).unwrap()
    }

    #[test]
    fn every_new_line_of_modules_is_answered_once() {
        let trace = tempfile::tempdir().unwrap();
        let process = trace.path().join("4711");
        std::fs::create_dir(&process).unwrap();
        let collector = Collector::begin(trace.path()).unwrap();
        let planner = Planner::begin(trace.path()).unwrap();
        let modules = process.join("modules");
        let first = summed("load 1 1000 3000 1000 2000 100 - /a")
            + &summed("load 1 5000 6000 5000 6000 5000 - /b");
        std::fs::write(&modules, format!("{first}load 2 70")).unwrap();
        let rounds = Cell::new(0);
        let second = format!("{first}{}", summed("unload 2 1000"))
            + &summed("load 2 7000 8000 7000 8000 7000 - /c");
        let go_on = || {
            rounds.set(rounds.get() + 1);
            if rounds.get() == 2 {
                std::fs::write(&modules, &second).unwrap();
            }
            rounds.get() < 4
        };
        planner
            .serve(Duration::from_millis(1), go_on, |module| {
                let range = PlanRange {
                    start: 0x20,
                    size: 4,
                    kinds: Kinds::EXCLUDE | Kinds::STOP_AT,
                    recipe: Recipe {
                        place: FramePlace::from_rbp(-24),
                        resume_index: Some(44),
                    },
                };
                if module.path == Path::new("/b") {
                    return Ok(ModulePlan::default());
                }
                let site = |address| ValueSite {
                    address,
                    function: 0x20,
                    shape: 9,
                    steps: vec![Step::Register(5, -8), Step::Put(4)],
                };
                Ok(ModulePlan {
                    ranges: vec![range],
                    sites: vec![site(0x25), site(0x30)],
                    unread: None,
                })
            })
            .unwrap();
        let word =
            |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let plan = std::fs::read(process.join("plan-1")).unwrap();
        assert_eq!(plan.len(), 32 + 2 * 32 + 16 + 2 * 24 + 3 * 8);
        assert_eq!(&plan[..16], b"HEDLPLAN\x05\0\0\0\x02\0\0\0");
        let words: Vec<u64> = (16..plan.len())
            .step_by(8)
            .map(|at| word(&plan, at))
            .collect();
        assert_eq!(
            words,
            [
                first.len() as u64,
                3 << 32 | 2,
                0x1000,
                0x3000,
                0,
                1,
                0x5000,
                0x6000,
                1,
                0,
                0x120,
                (22 << 16 | 66 << 8 | 10) << 32 | 4,
                0x125,
                0x120,
                0,
                0x130,
                0x120,
                0,
                2 << 32 | 9,
                0xffff_fff8_0000_0501,
                0x0004_0003,
            ]
        );
        let plan = std::fs::read(process.join("plan-2")).unwrap();
        assert_eq!(word(&plan, 16), second.len() as u64);
        assert_eq!(word(&plan, 32 + 32), 0x7020);
        assert!(!process.join("plan-3").exists());
        collector.finish().unwrap();
    }

    #[test]
    fn what_could_not_be_read_is_said_in_the_plan_and_why_none_comes_in_control() {
        let trace = tempfile::tempdir().unwrap();
        let process = trace.path().join("4711");
        std::fs::create_dir(&process).unwrap();
        let collector = Collector::begin(trace.path()).unwrap();
        let planner = Planner::begin(trace.path()).unwrap();
        let modules = summed("load 1 1000 3000 1000 2000 100 - /a");
        std::fs::write(process.join("modules"), &modules).unwrap();
        let mut rounds = 0;
        let go_on = || {
            rounds += 1;
            if rounds == 2 {
                let damaged = format!("{modules}{}", modules.replace("load", "lead"));
                std::fs::write(process.join("modules"), damaged).unwrap();
            }
            true
        };
        let refused = planner.serve(Duration::ZERO, go_on, |_| {
            Ok(ModulePlan {
                unread: Some(libc::ENOMEM),
                ..ModulePlan::default()
            })
        });
        assert!(matches!(refused, Err(Error::Damaged { .. })));
        let plan = std::fs::read(process.join("plan-1")).unwrap();
        let range: [&[u8]; 3] = [&0x1000u64.to_le_bytes(), &[0; 4], &[12, 0, 0, 0]];
        assert_eq!(
            plan[32 + 24..],
            [&1u64.to_le_bytes()[..], &range.concat()].concat()
        );
        let control = std::fs::read(trace.path().join("control")).unwrap();
        assert_eq!(control[20..24], [0xff; 4]);
        assert_eq!(control[76..80], libc::ENODATA.to_le_bytes());
        collector.finish().unwrap();
    }

    /// A FIFO would keep the planner, and `heddle record` with it, waiting for ever.
    #[test]
    fn what_lies_in_place_of_modules_keeps_nobody_waiting() {
        for (make, told) in [
            ("mkfifo", "expected a regular file"),
            ("ln -s /dev/zero", "expected a file, found a link"),
        ] {
            let trace = tempfile::tempdir().unwrap();
            let process = trace.path().join("4711");
            std::fs::create_dir(&process).unwrap();
            let collector = Collector::begin(trace.path()).unwrap();
            let mut planner = Planner::begin(trace.path()).unwrap();
            let modules = process.join("modules");
            std::fs::write(&modules, summed("load 1 1000 3000 1000 2000 100 - /a")).unwrap();
            let plan = |_: &Module| Ok(ModulePlan::default());
            assert_eq!(planner.answer_all(&mut plan.clone()).unwrap(), 1);
            std::fs::remove_file(&modules).unwrap();
            let made = std::process::Command::new("sh")
                .args(["-c", &format!("{make} \"$0\"")])
                .arg(&modules)
                .status();
            assert!(made.unwrap().success());
            let (sender, answer) = std::sync::mpsc::channel();
            std::thread::spawn(move || sender.send(planner.answer_all(&mut plan.clone())));
            let answer = answer.recv_timeout(Duration::from_secs(20));
            let error = answer.expect("no answer").unwrap_err().to_string();
            assert!(error.contains(told), "{make}: {error}");
            collector.finish().unwrap();
        }
    }

    /// A pass over all that ever were costs as many system calls for each that begins.
    #[test]
    fn processes_that_have_ended_are_not_looked_at_again() {
        let trace = tempfile::tempdir().unwrap();
        let collector = Collector::begin(trace.path()).unwrap();
        let mut planner = Planner::begin(trace.path()).unwrap();
        let line = &summed("load 1 1000 3000 1000 2000 100 - /a")[..];
        let many = 3 * FEW;
        for pid in 1..=many {
            let process = trace.path().join(pid.to_string());
            std::fs::create_dir(&process).unwrap();
            std::fs::write(process.join("process"), [0; 4096]).unwrap();
            std::fs::write(process.join("modules"), line).unwrap();
        }
        let first = trace.path().join("1");
        let mut header = File::options();
        let running = header
            .read(true)
            .write(true)
            .open(first.join("process"))
            .unwrap();
        let mut answer = || {
            planner
                .answer_all(&mut |_| Ok(ModulePlan::default()))
                .unwrap()
        };
        assert_eq!(answer(), many);
        assert_eq!(answer(), 0);
        if written_by_someone(&first.join("process")).is_some() {
            std::fs::write(first.join("modules"), [line, line].concat()).unwrap();
            std::fs::write(trace.path().join("2/modules"), [line, line].concat()).unwrap();
            assert_eq!(answer(), 1, "one that runs has opened a library");
            assert!(first.join("plan-2").exists());
            assert_eq!(planner.processes.len(), 1);
            assert!(!trace.path().join("2/plan-1").exists());
        }
        drop(running);
        collector.finish().unwrap();
    }
}
