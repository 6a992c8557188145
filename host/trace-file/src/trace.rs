//! A trace: a directory, or a packed file.

use crate::alive::alive;
use crate::clock::{ClockKind, TimeLine};
use crate::error::renamed;
use crate::file::{MOST_VERSIONS, Mapped, open, text_of, unborn};
use crate::layout::ProcessHeader;
use crate::merge::in_order;
use crate::pack::{Carried, Held, ModuleSymbols, unpack};
use crate::process::{Head, Process, rate};
use crate::values::SHAPES;
use crate::{
    Damage, Error, Event, ImageId, Lack, Nanos, OLDEST, Place, Rate, Remarks, Shapes, Switches,
    VERSION, buffer, switches,
};
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the file `heddle` in a trace directory begins with; the version follows, then a newline.
const MARKER: &str = "heddle trace ";

/// The contents of the file `heddle`, which marks a directory as a trace of this version.
pub fn marker() -> String {
    format!("{MARKER}{}\n", crate::VERSION)
}

/// The file of a trace that has what [`Trace::filters`] gives.
pub(crate) const FILTERS: &str = "filters";

/// The file of a trace that has what [`Trace::unrecorded`] gives.
pub(crate) const UNRECORDED: &str = "unrecorded";
/// The first word of its lines of [`Trace::lost`].
pub(crate) const LOST: &str = "lost";

/// The first word of its lines of [`Trace::lost_counts`].
pub(crate) const UNCOUNTED: &str = "uncounted";
/// Likewise, of programs that could not open the trace.
pub(crate) const BARRED: &str = "barred";

/// What processes that could store nothing have not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostCounts {
    /// Operations on objects that threads may wait for.
    pub operations: u64,
    /// Calls of malloc and its like.
    pub allocations: u64,
    /// The first reason, an error number.
    pub why: Option<i32>,
    /// Programs that processes became which could not open the trace any more: what these recorded,
    /// if they would have, is not known.
    pub programs: u64,
    /// Why the first could not, an error number.
    pub why_barred: Option<i32>,
}

/// A recorded run: one or more processes on one time line.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    version: u32,
    symbols: Option<Vec<ModuleSymbols>>,
    filters: Option<String>,
    unrecorded: String,
    shapes: Arc<Shapes>,
    switches: Option<Mapped>,
    processes: Vec<Process>,
    /// What is not there, or not whole, of its own files and of those named `process`.
    lacks: Vec<Lack>,
    epoch: Nanos,
    rate: Rate,
}

/// The contents of a file of text, if it is there; if it cannot be read, that is a lack, and
/// `follows` says what is not known then.
pub(crate) fn text_or_lack(
    path: &Path,
    follows: &str,
    lacks: &mut Vec<Lack>,
) -> Result<Option<Vec<u8>>, Error> {
    text_of(path).or_else(|error| {
        lacks.push(error.lack(follows)?);
        Ok(None)
    })
}

/// The shapes of the trace at `path`. Those of a snapshot are beside it.
fn shapes_of(path: &Path, lacks: &mut Vec<Lack>) -> Result<Shapes, Error> {
    let mut path = path.to_owned();
    let unknown = "values are not shown";
    let mut text = text_or_lack(&path.join(SHAPES), unknown, lacks)?;
    let is_snapshot = path
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with("snapshot-"));
    if text.is_none() && is_snapshot && path.pop() {
        text = text_or_lack(&path.join(SHAPES), unknown, lacks)?;
    }
    let text = text.unwrap_or_default();
    let shapes = Shapes::parse(String::from_utf8_lossy(&text).into_owned());
    let what = match (shapes.wrong, shapes.text.ends_with('\n')) {
        (0, _) => return Ok(shapes),
        (1, false) => "ends inside a line: values of that shape are not shown".to_owned(),
        (wrong, _) => {
            format!("has lines that are no shapes ({wrong}): values of these are not shown")
        }
    };
    let path = path.join(SHAPES);
    lacks.push(Lack { path, what });
    Ok(shapes)
}

impl Trace {
    /// Opens the trace at `path`. Costs nothing per event: records are read when they are asked
    /// for.
    ///
    /// # Errors
    /// Any [`Error`]: the directory is missing, not ours, newer, empty or damaged. Where a part of
    /// its events can be read, that they are damaged is none: see [`Process::damages`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_within(path, None)
    }

    /// Opens a trace as [`Trace::open`] does, but unpacks at most so many bytes, `most`; without it
    /// 64 MiB and 1024 times the file's size.
    ///
    /// # Errors
    /// Those of [`Trace::open`], and [`Error::TooLarge`].
    pub fn open_within(path: &Path, most: Option<u64>) -> Result<Self, Error> {
        if path.is_file() {
            let held = Held::begin();
            let Some(mut unpacked) = unpack(path, most, &held)? else {
                return Err(Error::NotOurs(path.to_owned()));
            };
            // The mappings stay valid when the directory is removed at the end of this block.
            let directory = unpacked.directory.path();
            let trace = Self::open_directory(directory, path);
            let mut trace = trace.map_err(|error| error.renamed(directory, path))?;
            let carried = Carried::read(directory, path)?;
            trace.carry(carried);
            trace.symbols = Some(std::mem::take(&mut unpacked.symbols));
            return Ok(trace);
        }
        Self::open_directory(path, path)
    }

    /// Has what was missing when it was packed said, in place of what is missing from it since.
    fn carry(&mut self, carried: Carried) {
        if !carried.lacks.is_empty() {
            self.lacks = carried.lacks;
            self.processes.iter_mut().for_each(Process::forget_lacks);
        }
        for (name, damages) in carried.damages {
            let mut processes = self.processes.iter_mut();
            if let Some(process) = processes.find(|it| it.id().to_string() == name) {
                process.add_damages(&damages);
            }
        }
    }

    /// The version of the format that it was written in.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The trace in the directory `path`, which the user knows as `called`.
    fn open_directory(path: &Path, called: &Path) -> Result<Self, Error> {
        let version = verify_marker(path)?;
        let mut lacks = headless(path)?;
        let mut text = |name, follows| text_or_lack(&path.join(name), follows, &mut lacks);
        let filters = text(FILTERS, "which calls were left out is not known")?;
        let filters = filters.map(|text| String::from_utf8_lossy(&text).trim_end().to_owned());
        let unrecorded = text(UNRECORDED, "what could not be recorded is not known")?;
        let unrecorded = unrecorded.unwrap_or_default();
        let unrecorded = String::from_utf8_lossy(&unrecorded).into_owned();
        let shapes = Arc::new(shapes_of(path, &mut lacks)?);
        let mut found = images(path, &mut lacks)?;
        found.sort_by_key(|(head, _)| (head.first.ticks, head.pid, head.image));
        if found.is_empty() {
            return Err(match lacks.into_iter().next() {
                Some(lack) => Error::Lacking(lack),
                None => Error::Empty(path.to_owned()),
            });
        }
        one_clock(&mut found, &mut lacks);
        let rate = rate_of(&mut found, &mut lacks)?;
        let heads: Vec<Head> = found.iter().map(|(head, _)| head.clone()).collect();
        let first = heads[0].clone();
        let switches = switches::open(path, heads.iter().any(|it| it.asked.switches), &mut lacks)?;
        let line = TimeLine {
            start: first.first.ticks,
            rate,
            epoch: first.first.realtime,
        };
        let epoch = line.epoch;
        let newest = newest_images(heads.iter());
        let processes = found
            .into_iter()
            .map(|(head, directory)| {
                let replaced = is_replaced(&head, &newest);
                let directory = (&*directory, &*renamed(&directory, path, called));
                Process::read(directory, head, replaced, line, &shapes)
            })
            .collect::<Result<Vec<Process>, _>>()?;
        if processes.iter().all(|process| process.threads().is_empty())
            && let Some(error) = processes
                .iter()
                .find_map(|process| process.damages().error())
        {
            return Err(error);
        }
        for lack in &mut lacks {
            lack.path = renamed(&lack.path, path, called);
        }
        Ok(Trace {
            path: called.to_owned(),
            version,
            symbols: None,
            filters,
            unrecorded,
            shapes,
            switches,
            processes,
            lacks,
            epoch,
            rate,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The options of `heddle record` that made it record less; `None` if there were none.
    pub fn filters(&self) -> Option<&str> {
        self.filters.as_deref()
    }

    /// The shapes of the values that were recorded; none where no values were asked for.
    pub fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// When threads were off their processors, read now; `None` if that was not asked for.
    ///
    /// # Errors
    /// The file has changed since it was opened.
    pub fn switches(&self) -> Result<Option<Switches>, Error> {
        let zero = self.processes[0].first_stamp().monotonic_raw;
        let switches = self.switches.as_ref();
        switches.map(|file| Switches::read(file, zero)).transpose()
    }

    /// The file of [`Trace::switches`].
    pub(crate) fn switch_bytes(&self) -> Option<&[u8]> {
        self.switches.as_ref().map(Mapped::bytes)
    }

    /// The programs that were started, and libraries that were opened, which could not be recorded:
    /// why, the path, and how often.
    pub fn unrecorded(&self) -> BTreeMap<(Unrecordable, &str), u64> {
        starts_of(&self.unrecorded)
    }

    /// The events of processes that could not store anything, as children without the rights to,
    /// and the first reason, an error number.
    pub fn lost(&self) -> (u64, Option<i32>) {
        let mut all = (0u64, None);
        for line in self.unrecorded.lines() {
            let mut words = line.split(' ');
            let Some(LOST) = words.next() else { continue };
            let events = words.next().and_then(|events| events.parse().ok());
            let why = words.next().and_then(|why| why.parse().ok());
            all = (all.0.saturating_add(events.unwrap_or(0)), all.1.or(why));
        }
        all
    }

    /// What such processes could not count of what was asked for beside calls.
    pub fn lost_counts(&self) -> LostCounts {
        let mut all = LostCounts::default();
        for line in self.unrecorded.lines() {
            let mut words = line.split(' ');
            let word = words.next();
            let mut next = || words.next().and_then(|number| number.parse::<u64>().ok());
            let error = |number: Option<u64>| number.and_then(|number| i32::try_from(number).ok());
            let error = |number| error(number).filter(|&error| error != 0);
            match word {
                Some(UNCOUNTED) => {
                    let (operations, allocations) = (next().unwrap_or(0), next().unwrap_or(0));
                    all.operations = all.operations.saturating_add(operations);
                    all.allocations = all.allocations.saturating_add(allocations);
                    all.why = all.why.or(error(next()));
                }
                Some(BARRED) => {
                    all.programs = all.programs.saturating_add(next().unwrap_or(0));
                    all.why_barred = all.why_barred.or(error(next()));
                }
                _ => {}
            }
        }
        all
    }

    /// Whether the file of switches should be there, and is not, or cannot be read.
    pub fn lacks_switches(&self) -> bool {
        let is_file = |lack: &Lack| lack.path.ends_with(switches::SWITCHES);
        self.switches.is_none() && self.lacks.iter().any(is_file)
    }

    /// The file of [`Trace::unrecorded`].
    pub(crate) fn unrecorded_text(&self) -> &str {
        &self.unrecorded
    }

    /// The symbols of the modules of a packed trace, which need not be on this machine.
    pub fn symbols(&self) -> Option<&[ModuleSymbols]> {
        self.symbols.as_deref()
    }

    /// Its processes, in order of their first event. At least one.
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// The files that are not there or not whole, and what that means for the answers.
    pub fn lacking(&self) -> impl Iterator<Item = &Lack> {
        self.lacks
            .iter()
            .chain(self.processes.iter().flat_map(Process::lacks))
    }

    /// The thread that forked the process with this index, and the number of the
    /// [`EventKind::Making`](crate::EventKind::Making) by which it did. `None`: the process was not
    /// forked, or it is not known by what, or that is not in the trace.
    pub fn forked_by(&self, process: usize) -> Option<(Place, u32)> {
        let fork = self.processes[process].head.fork?;
        let is_parent = |parent: &Process| {
            parent.pid() == fork.pid && parent.first_stamp().ticks.0 == fork.image
        };
        // A parent begins before its child: there is no circle.
        let parent = self.processes[..process].iter().position(is_parent)?;
        let mut threads = self.processes[parent].threads().iter();
        let thread = threads.position(|thread| thread.number() == fork.thread)?;
        let place = Place {
            process: parent,
            thread,
        };
        Some((place, fork.making))
    }

    /// Whether the process with this index was forked by a process that recorded.
    pub fn is_forked(&self, process: usize) -> bool {
        self.processes[process].head.fork.is_some()
    }

    /// The wall-clock time of the first stamp, ns since 1970: add an event's time to it.
    pub fn epoch(&self) -> Nanos {
        self.epoch
    }

    /// How fast the clock ran.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Gives `each` the events of all threads, in order of time and, at the same time, of process
    /// and thread, until it has enough. Returns what is to be said of the events given, and of one
    /// more a thread.
    ///
    /// # Errors
    /// What reading the events gives, after those before it were given.
    pub fn in_order<'a>(
        &'a self,
        each: impl FnMut(Place, &Event<'a>) -> bool,
    ) -> Result<Remarks, Error> {
        let threads = self
            .processes
            .iter()
            .enumerate()
            .flat_map(|(process, recorded)| {
                let threads = recorded.threads().iter().enumerate();
                threads.map(move |(thread, records)| (Place { process, thread }, records))
            });
        in_order(threads, each)
    }
}

/// Why a program, or a library, cannot be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unrecordable {
    /// It is linked statically, and has no loader.
    Static,
    /// The loader takes no library into it, because it has rights that its caller has not.
    Rights,
    /// It is a program of another machine than the recorder's.
    Machine,
    /// It is a library in a link namespace of its own (`dlmopen`).
    Namespace,
}

impl Unrecordable {
    fn from_word(word: &str) -> Option<Self> {
        match word {
            "static" => Some(Unrecordable::Static),
            "rights" => Some(Unrecordable::Rights),
            "machine" => Some(Unrecordable::Machine),
            "namespace" => Some(Unrecordable::Namespace),
            _ => None,
        }
    }
}

/// The programs that were started, and libraries that were opened, which could not be recorded:
/// why, and the path. Of the trace at
/// `path`, which may have no process, and then cannot be opened.
pub fn unrecorded_in(path: &Path) -> Vec<(Unrecordable, String)> {
    let text = text_of(&path.join(UNRECORDED)).ok().flatten();
    let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
    let starts = starts_of(&text).into_keys();
    starts.map(|(why, path)| (why, path.to_owned())).collect()
}

/// See [`Trace::unrecorded`].
fn starts_of(text: &str) -> BTreeMap<(Unrecordable, &str), u64> {
    let mut starts: BTreeMap<(Unrecordable, &str), u64> = BTreeMap::new();
    // The last line may not be whole.
    for line in text.split_inclusive('\n') {
        let mut words = line.trim_end_matches('\n').splitn(3, ' ');
        let (Some(what), Some(why), Some(path)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let Some(why) = Unrecordable::from_word(why).filter(|_| line.ends_with('\n')) else {
            continue;
        };
        let count = starts.entry((why, path)).or_default();
        match what {
            "started" | "opened" => *count += 1,
            "failed" => *count = count.saturating_sub(1),
            _ => {}
        }
    }
    starts.retain(|_, count| *count > 0);
    starts
}

/// Whether `path` is a directory that heddle made, of whatever version.
pub fn is_trace(path: &Path) -> bool {
    !matches!(
        verify_marker(path),
        Err(Error::Missing(_) | Error::NotOurs(_) | Error::Io { .. })
    )
}

/// What goes on in a trace that no `heddle record` has claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// No process has recorded anything, nor tried to.
    Unused,
    /// A process records: it has outlived its `heddle record`, or never had one.
    Running,
    /// All processes have ended.
    Ended,
}

/// What `heddle record` makes before the program begins.
const MADE_FIRST: [&str; 6] = [
    "control",
    "filters",
    "heddle",
    "spare",
    "spare-unused",
    "switches",
];

/// What goes on in the trace at `path`, as far as it can be read.
pub fn use_of(path: &Path) -> Use {
    let made_first = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.map(|entry| entry.file_name());
        name.is_ok_and(|name| name.to_str().is_some_and(|name| MADE_FIRST.contains(&name)))
    };
    if path.read_dir().is_ok_and(|mut names| names.all(made_first)) {
        return Use::Unused;
    }
    let images = images(path, &mut Vec::new()).unwrap_or_default();
    let newest = newest_images(images.iter().map(|(head, _)| head));
    let mut images = images.iter();
    match images.any(|(head, directory)| alive(directory, head, is_replaced(head, &newest))) {
        true => Use::Running,
        false => Use::Ended,
    }
}

/// The directories of process images in the trace at `path`, with what these are. A link in place
/// of one, by which other files of ours would be read, and changed, is none.
pub(crate) fn image_directories(path: &Path) -> Result<Vec<(PathBuf, ImageId)>, Error> {
    Ok(named_as_images(path)?.directories)
}

/// What is named as a process image.
#[derive(Default)]
struct Named {
    directories: Vec<(PathBuf, ImageId)>,
    /// What is in place of one.
    others: Vec<Lack>,
}

/// What follows where a process's header cannot be read.
const NOTHING_READ: &str = "nothing of this process is read";

fn named_as_images(path: &Path) -> Result<Named, Error> {
    let mut named = Named::default();
    for entry in std::fs::read_dir(path).map_err(Error::io(path))? {
        let entry = entry.map_err(Error::io(path))?;
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let directory = path.join(&name);
        let kind = entry.file_type().map_err(Error::io(&directory))?;
        let what = match kind {
            kind if kind.is_dir() => {
                named.directories.push((directory, id));
                continue;
            }
            kind if kind.is_symlink() => "a link, which is not followed",
            _ => "no directory",
        };
        named.others.push(Lack {
            path: directory,
            what: format!("is {what}: {NOTHING_READ}"),
        });
    }
    // A file system gives names in any order.
    named.directories.sort_unstable_by_key(|&(_, id)| id);
    Ok(named)
}

/// Their headers, of those that recorded anything. A damaged one costs its process, and is a lack,
/// but where all are damaged.
pub(crate) fn images(path: &Path, lacks: &mut Vec<Lack>) -> Result<Vec<(Head, PathBuf)>, Error> {
    let (found, mut damaged) = headers(path, lacks)?;
    if found.is_empty() && !damaged.is_empty() {
        return Err(damaged.swap_remove(0));
    }
    for error in damaged {
        lacks.push(error.lack(NOTHING_READ)?);
    }
    lacks.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// The headers that can be read, if any: who opens the trace is told of the others.
pub(crate) fn readable_images(path: &Path) -> Result<Vec<(Head, PathBuf)>, Error> {
    let (found, damaged) = headers(path, &mut Vec::new())?;
    for error in damaged {
        error.lack(NOTHING_READ)?;
    }
    Ok(found)
}

/// Headers with their directories, and what is wrong with others.
type Headers = (Vec<(Head, PathBuf)>, Vec<Error>);

fn headers(path: &Path, lacks: &mut Vec<Lack>) -> Result<Headers, Error> {
    let (mut found, mut damaged) = (Vec::new(), Vec::new());
    let Named {
        directories,
        others,
    } = named_as_images(path)?;
    lacks.extend(others);
    for (directory, id) in directories {
        // The recorder makes the directory, then the file, then fills it: a process that died in
        // between has recorded nothing.
        let file = directory.join("process");
        if !file.exists() {
            continue;
        }
        let head = match unborn(&file) {
            Ok(true) => continue,
            Ok(false) => Head::read(&directory, id.image).and_then(|head| match head.pid {
                pid if pid == id.pid => Ok(head),
                other => Err(Error::damaged(
                    &file,
                    offset_of!(ProcessHeader, pid) as u64,
                    format!("it is of process {other}"),
                )),
            }),
            Err(error) => Err(error),
        };
        match head {
            Ok(head) => found.push((head, directory)),
            Err(error) => damaged.push(error),
        }
    }
    Ok((found, damaged))
}

/// Leaves the processes whose times can be compared: those with the clock that most of them have.
fn one_clock(found: &mut Vec<(Head, PathBuf)>, lacks: &mut Vec<Lack>) {
    let with = |clock| found.iter().filter(|(head, _)| head.clock == clock).count();
    let clocks = [ClockKind::Tsc, ClockKind::MonotonicRaw].map(|clock| (with(clock), clock));
    let of_first = found[0].0.clock;
    let most = clocks
        .iter()
        .max_by_key(|&&(count, clock)| (count, clock == of_first));
    let right = most.map_or(of_first, |(_, clock)| *clock);
    let tie = clocks[0].0 == clocks[1].0;
    found.retain(|(head, directory)| {
        let others = match tie {
            false => format!("{right:?}, as most processes of the trace have"),
            true => format!("{right:?}, which the first process has; which is right is not known"),
        };
        let damage = Damage {
            path: directory.join("process"),
            offset: offset_of!(ProcessHeader, clock) as u64,
            what: format!("clock {:?}; expected {others}", head.clock),
        };
        if head.clock != right {
            lacks.push(Lack::of(damage, NOTHING_READ));
        }
        head.clock == right
    });
}

/// How fast the clock ran. Where that is not known, processes whose stamps contradict each other
/// are left out, and then the first ones, until it is.
fn rate_of(found: &mut Vec<(Head, PathBuf)>, lacks: &mut Vec<Lack>) -> Result<Rate, Error> {
    let of_all = |found: &[(Head, PathBuf)]| {
        let heads: Vec<Head> = found.iter().map(|(head, _)| head.clone()).collect();
        heads.first().and_then(|first| rate(&heads, first))
    };
    if let Some(rate) = of_all(found) {
        return Ok(rate);
    }
    let damage = |directory: &Path, what: &str| Damage {
        path: directory.join("process"),
        offset: offset_of!(ProcessHeader, first) as u64,
        what: what.to_owned(),
    };
    let is_sound = |head: &Head| !head.first.contradicts(head.latest);
    let mut damaged = Vec::new();
    if found.iter().any(|(head, _)| is_sound(head)) {
        let what = "no clock runs as its first and its latest stamp say";
        let all = std::mem::take(found).into_iter();
        let (sound, wrong): (Vec<_>, Vec<_>) = all.partition(|(head, _)| is_sound(head));
        *found = sound;
        damaged.extend(wrong.iter().map(|(_, directory)| damage(directory, what)));
    }
    loop {
        if let Some(rate) = of_all(found) {
            let lack = |damage| Lack::of(damage, NOTHING_READ);
            lacks.extend(damaged.into_iter().map(lack));
            return Ok(rate);
        }
        let first = found.remove(0);
        let what = match of_all(std::slice::from_ref(&first)) {
            Some(_) => {
                "its stamps contradict those of other processes; which are right is not known"
            }
            None => "neither its stamps nor ticks_per_second say how fast the clock runs",
        };
        damaged.push(damage(&first.1, what));
        if found.is_empty() {
            return Err(damaged.swap_remove(0).into());
        }
    }
}

/// The `process` files that are missing or hold nothing where a thread has recorded, in order of
/// their names.
fn headless(path: &Path) -> Result<Vec<Lack>, Error> {
    let mut found = Vec::new();
    for (directory, _) in image_directories(path)? {
        let path = directory.join("process");
        // A thread's first block comes after the header: a process that is born meanwhile is not
        // taken for one that has lost it.
        match recorded(&directory) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(error) => {
                found.push(error.lack(NOTHING_READ)?);
                continue;
            }
        }
        let what = if !path.exists() {
            "is missing"
        } else if let Ok(true) = unborn(&path) {
            "is empty"
        } else {
            // Read, or told of where it is read.
            continue;
        };
        let what = format!("{what}: {NOTHING_READ}");
        found.push(Lack { path, what });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Whether a thread has recorded in this process's directory. A file of events is made for its
/// first block; a buffer may have been made ready for a process that died before its first event.
fn recorded(directory: &Path) -> Result<bool, Error> {
    let own = buffer::numbered(directory, "events-")?;
    if directory.join("events").exists() || !own.is_empty() {
        return Ok(true);
    }
    // One that cannot be read holds something, or has been collected since its name was read.
    let is_ready = |path: &PathBuf| matches!(unborn(path), Ok(true));
    Ok(!buffer::paths(directory)?.iter().all(is_ready))
}

/// Whether `head` is not the last image of its process id.
pub(crate) fn is_replaced(head: &Head, newest: &HashMap<u32, u32>) -> bool {
    newest
        .get(&head.pid)
        .is_some_and(|&image| image > head.image)
}

/// The last image of each process id.
pub(crate) fn newest_images<'a>(heads: impl Iterator<Item = &'a Head>) -> HashMap<u32, u32> {
    let mut newest: HashMap<u32, u32> = HashMap::new();
    for head in heads {
        let image = newest.entry(head.pid).or_default();
        *image = head.image.max(*image);
    }
    newest
}

/// The version of the trace at `path`, if we read it.
pub(crate) fn verify_marker(path: &Path) -> Result<u32, Error> {
    let marker = path.join("heddle");
    match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::Missing(path.to_owned()));
        }
        Err(error) => return Err(Error::io(path)(error)),
        Ok(metadata) if !metadata.is_dir() => return Err(Error::NotOurs(path.to_owned())),
        Ok(_) => {}
    }
    // 64 bytes hold the marker and any version; more is not ours.
    let mut bytes = Vec::new();
    match open(&marker) {
        Err(Error::Io { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::NotOurs(path.to_owned()));
        }
        Err(Error::Damaged { .. }) => return Err(Error::NotOurs(path.to_owned())),
        Err(error) => return Err(error),
        Ok(file) => file
            .take(64)
            .read_to_end(&mut bytes)
            .map_err(Error::io(&marker))?,
    };
    let version = std::str::from_utf8(&bytes).ok().and_then(|text| {
        text.strip_prefix(MARKER)?
            .strip_suffix('\n')?
            .parse::<u64>()
            .ok()
    });
    match version {
        Some(version) if (OLDEST.into()..=VERSION.into()).contains(&version) => Ok(version as u32),
        Some(found) if found > MOST_VERSIONS => Err(Error::damaged(
            &marker,
            MARKER.len() as u64,
            format!("version {found} cannot be: the first was 1"),
        )),
        Some(found) if found > u64::from(VERSION) => Err(Error::Newer {
            path: marker,
            found,
        }),
        Some(found @ 1..) => Err(Error::Older {
            path: marker,
            found,
        }),
        _ => Err(Error::NotOurs(path.to_owned())),
    }
}
