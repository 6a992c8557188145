//! What a trace holds, as rows of tables: for formats that are read by programs that ask questions.
//!
//! As with tracks, the decoder takes a trace in parts, several at once, and names are known last:
//! so rows are put aside in numbers ([`Spill`]), or handed over in numbers in groups ([`Group`]).

mod called;
mod outlet;
pub mod record;
mod sink;

use super::selection::{self, Selection};
use super::spill::{Spill, Stream};
use super::tracks::Ended;
use super::written::Written;
use crate::filter::{Filter, LeftOut, Shown};
use crate::names::Names;
use crate::sched;
use crate::strand_list::Makers;
use crate::waits::{Labels, is_wrapper};
pub use called::Called;
use heddle_calls::Key;
use heddle_strands::{Analysis, Decoded, Kind, StrandId};
use heddle_symbols::{Location, coroutine_part};
use heddle_trace_file::{Addr, Nanos, Trace};
pub use outlet::Group;
use outlet::Outlets;
pub use sink::{Rows, Whole};
use std::rc::Rc;
use std::thread;

/// The rows of a part of a process.
pub struct Part<'a> {
    /// Index of the process.
    pub process: usize,
    /// By the indices that records have of them.
    pub functions: Vec<Key>,
    pub sites: Vec<Key>,
    /// [`record::Record`]s, calls in the order in which they end.
    pub records: Stream<'a>,
    /// Its number, if it may have handed over groups of records, which are before these.
    pub number: Option<u64>,
}

/// Takes the rows.
pub trait Take {
    /// A strand of the process with this index, with its name.
    fn strand(&mut self, process: usize, strand: &Ended, name: &str) -> anyhow::Result<()>;
    /// A part, behind all strands.
    fn part(&mut self, names: &mut Names<'_>, part: Part<'_>) -> anyhow::Result<()>;
}

/// Takes rows while others are still being decoded.
pub trait TakeEarly: Take {
    /// Bytes of records in a group.
    const GROUP: usize;

    /// Records of a part that has more, in front of all strands and parts. It may be a part that
    /// the decoder throws away.
    fn group(&mut self, names: &mut Names<'_>, group: Group) -> anyhow::Result<()>;
}

/// Which rows are wanted.
pub struct Wanted<'a> {
    pub selection: Selection,
    pub filter: Option<Filter<'a>>,
    /// Also when fibers and coroutines run, and where strands are that do not.
    pub lives: bool,
}

/// Gives `take` the rows of the strands that are selected, with the calls that the filter keeps.
pub fn read(
    trace: &Trace,
    names: &mut Names<'_>,
    wanted: Wanted<'_>,
    spill: &Spill,
    take: &mut impl Take,
) -> anyhow::Result<(Written, Decoded<()>)> {
    let (wanted, analysis) = Decoding::new(trace, names, wanted, spill)?;
    let decoded = wanted.decode(&analysis, None)?;
    told(trace, names, decoded, take)
}

/// The same, with records as soon as a part has enough of them for a group.
pub fn read_early<T: TakeEarly>(
    trace: &Trace,
    names: &mut Names<'_>,
    wanted: Wanted<'_>,
    spill: &Spill,
    take: &mut T,
) -> anyhow::Result<(Written, Decoded<()>)> {
    let (wanted, analysis) = Decoding::new(trace, names, wanted, spill)?;
    let (outlets, groups) = Outlets::new(T::GROUP);
    let decoded = thread::scope(|scope| {
        let decoding = scope.spawn(|| wanted.decode(&analysis, Some(outlets)));
        let taken = groups
            .into_iter()
            .try_for_each(|group| take.group(names, group));
        let decoded = decoding.join();
        let decoded = decoded.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        taken.and(decoded)
    })?;
    told(trace, names, decoded, take)
}

/// What is decoded, and how.
struct Decoding<'a> {
    trace: &'a Trace,
    whole: Whole<'a>,
    filter: Option<Filter<'a>>,
}

/// The decoder's result, and what the filter left out.
type Found<'a> = (Decoded<Rows<'a>>, Option<LeftOut>);

impl<'a> Decoding<'a> {
    fn new(
        trace: &'a Trace,
        names: &mut Names<'_>,
        wanted: Wanted<'a>,
        spill: &'a Spill,
    ) -> anyhow::Result<(Self, Analysis<'a>)> {
        let Wanted {
            mut selection,
            mut filter,
            lives,
        } = wanted;
        let analysis = Analysis::new(trace, names.images());
        selection = selection.with_calls(&analysis, filter.as_mut())?;
        if lives {
            selection = selection.with_threads(filter.as_ref());
        }
        let mut whole = whole(trace, names, selection, lives, spill)?;
        if let Some(filter) = &filter {
            let processes = 0..trace.processes().len();
            whole.shown = processes.map(|index| filter.shown(index)).collect();
        }
        let decoding = Decoding {
            trace,
            whole,
            filter,
        };
        Ok((decoding, analysis))
    }

    /// Decodes the trace, by parts that hand over records, if there are outlets for them.
    fn decode(
        &self,
        analysis: &Analysis<'_>,
        outlets: Option<Outlets>,
    ) -> anyhow::Result<Found<'_>> {
        let processes = self.trace.processes();
        let rows = |index: usize| {
            let rows = Rows::new(&self.whole, &processes[index], index);
            match &outlets {
                Some(outlets) => rows.with_outlet(outlets.next()),
                None => rows,
            }
        };
        let (mut decoded, left_out) = selection::decode(analysis, self.filter.as_ref(), rows)?;
        // Who takes groups learns by this that there are no more.
        for (_, rows) in &mut decoded.sinks {
            rows.close_outlet();
        }
        Ok((decoded, left_out))
    }
}

/// Gives `take` the strands and parts that were decoded.
fn told(
    trace: &Trace,
    names: &mut Names<'_>,
    (decoded, left_out): Found<'_>,
    take: &mut impl Take,
) -> anyhow::Result<(Written, Decoded<()>)> {
    let (mut written, parts) = strands(trace, names, decoded.sinks, take)?;
    written.left_out = left_out;
    for part in parts {
        take.part(names, part)?;
    }
    let decoded = Decoded {
        sinks: Vec::new(),
        unresolved: decoded.unresolved,
        loose: decoded.loose,
        remarks: decoded.remarks,
    };
    Ok((written, decoded))
}

/// What all parts have in common.
///
/// # Errors
/// The file of switches cannot be read.
pub fn whole<'a>(
    trace: &'a Trace,
    names: &mut Names<'_>,
    selection: Selection,
    lives: bool,
    spill: &'a Spill,
) -> anyhow::Result<Whole<'a>> {
    Ok(Whole {
        spill,
        selection,
        labels: Labels::of_all(trace, names)?,
        shapes: trace.shapes(),
        lives,
        off: match lives {
            true => sched::stretches(trace)?,
            false => None,
        },
        shown: vec![Shown::ALL; trace.processes().len()],
    })
}

/// Gives `take` the strands of these parts of processes. Returns the parts.
///
/// # Errors
/// Those of `take`, and what was put aside cannot be read.
pub fn strands<'a>(
    trace: &Trace,
    names: &mut Names<'_>,
    all: Vec<(usize, Rows<'a>)>,
    take: &mut impl Take,
) -> anyhow::Result<(Written, Vec<Part<'a>>)> {
    let mut written = Written::default();
    let mut makers = Makers::default();
    let (mut ended, mut parts) = (Vec::new(), Vec::new());
    for (process, rows) in all {
        written.calls += rows.calls;
        written.strands += rows.strands;
        makers.append(rows.makers);
        ended.push((process, rows.ended));
        parts.push(Part {
            process,
            functions: rows.functions,
            sites: rows.sites,
            records: rows.records,
            number: rows.number,
        });
    }
    for (process, ended) in ended {
        ended.read(|mut records| {
            while let Some(mut strand) = Ended::read(&mut records) {
                if strand.kind == Kind::Thread {
                    let maker = makers.of(trace, process, strand.thread);
                    strand.parent = maker.map(StrandId::number);
                }
                let name = strand.shown(names, process);
                take.strand(process, &strand, &name)?;
            }
            Ok(())
        })?;
    }
    Ok((written, parts))
}

impl Part<'_> {
    /// The part's functions, by their indices.
    pub fn functions(&self, trace: &Trace, names: &mut Names<'_>) -> Vec<Rc<Location>> {
        functions(trace, names, self.process, &self.functions)
    }

    /// Where a strand is that does not run: of a coroutine the line of its `co_await`, else that of
    /// the call behind which it is, else the function; and the type of what a coroutine awaits.
    pub fn place(
        &self,
        trace: &Trace,
        names: &mut Names<'_>,
        place: record::Place,
    ) -> (Option<String>, Option<Rc<str>>) {
        let modules = trace.processes()[self.process].modules();
        let timed = |key: &Key| (key.address, modules.time_of(key.address, key.generation));
        let key = |keys: &[Key], index: Option<u32>| {
            index.and_then(|index| keys.get(index as usize).map(timed))
        };
        let function = key(&self.functions, place.function);
        let indexed = function.zip(place.index.map(|index| index & !1));
        let process = self.process;
        let awaited =
            indexed.and_then(|((at, time), index)| names.awaiter(process, at, index, time));
        let exact = indexed.and_then(|((at, time), index)| {
            Some((names.suspension(process, at, index, time)?, time))
        });
        let at = match exact {
            Some((exact, time)) => exact.map(|at| (at, time)),
            None => self.site(names, place, key(&self.sites, place.site)),
        };
        // Where the program's own code waits says more than where the C++ library's does.
        let at = at.filter(|&(at, time)| !is_wrapper(&names.caller(process, at, time).symbol));
        let line = at.and_then(|(at, time)| names.own_line(process, at, time));
        let within = || {
            let (at, time) = function?;
            let location = names.function(process, at, time);
            Some(format!("in {}", names.source_name(&location)))
        };
        (line.or_else(within), awaited)
    }

    /// The call behind which a strand is that does not run, or, of a coroutine that is suspended
    /// and does not go on, the place that this tells for certain.
    fn site(
        &self,
        names: &mut Names<'_>,
        place: record::Place,
        site: Option<(Addr, Nanos)>,
    ) -> Option<(Addr, Nanos)> {
        let (at, time) = site?;
        // No call is open.
        let is_suspended = place.function.is_none()
            && coroutine_part(&names.caller(self.process, at, time).symbol).is_some();
        match is_suspended.then(|| names.suspension_behind(self.process, at, time)) {
            Some(Some(exact)) => exact.map(|at| (at, time)),
            _ => Some((at, time)),
        }
    }

    /// The functions that the part's calls were made in, and the lines, by their indices.
    pub fn sites(
        &self,
        trace: &Trace,
        names: &mut Names<'_>,
    ) -> Vec<(Rc<Location>, Option<String>)> {
        sites(trace, names, self.process, &self.sites)
    }
}

/// Functions of a process.
pub fn functions(
    trace: &Trace,
    names: &mut Names<'_>,
    process: usize,
    keys: &[Key],
) -> Vec<Rc<Location>> {
    let modules = trace.processes()[process].modules();
    let location = |key: &Key| {
        let time = modules.time_of(key.address, key.generation);
        names.function(process, key.address, time)
    };
    keys.iter().map(location).collect()
}

/// The functions that have these call sites, and the lines.
pub fn sites(
    trace: &Trace,
    names: &mut Names<'_>,
    process: usize,
    keys: &[Key],
) -> Vec<(Rc<Location>, Option<String>)> {
    let modules = trace.processes()[process].modules();
    let location = |key: &Key| {
        if key.address.0 & record::CONTAINER != 0 {
            let container = Addr(key.address.0 & !record::CONTAINER);
            let time = modules.time_of(container, key.generation);
            return (names.function(process, container, time), None);
        }
        let time = modules.time_of(key.address, key.generation);
        let caller = names.caller(process, key.address, time);
        (caller, names.line(process, key.address, time))
    };
    keys.iter().map(location).collect()
}
