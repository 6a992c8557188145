//! What a trace holds, as rows of tables: for formats that are read by programs that ask questions.
//!
//! As with tracks, the decoder takes a trace in parts, several at once, and names are known last:
//! so rows are put aside in numbers ([`Spill`]).

pub mod record;
mod sink;

use super::selection::Selection;
use super::spill::{Spill, Stream};
use super::tracks::Ended;
use super::written::Written;
use crate::filter::{Filter, unwrap};
use crate::names::Names;
use crate::strand_list::Makers;
use crate::waits::Labels;
use heddle_calls::Key;
use heddle_strands::{Analysis, Decoded, Kind, StrandId};
use heddle_symbols::Location;
use heddle_trace_file::Trace;
use sink::{Rows, Whole};
use std::rc::Rc;

/// The rows of a part of a process.
pub struct Part<'a> {
    /// Index of the process.
    pub process: usize,
    functions: Vec<Key>,
    sites: Vec<Key>,
    /// [`record::Record`]s, calls in the order in which they end.
    pub records: Stream<'a>,
}

/// Takes the rows.
pub trait Take {
    /// A strand of the process with this index, with its name.
    fn strand(&mut self, process: usize, strand: &Ended, name: &str) -> anyhow::Result<()>;
    /// A part, behind all strands.
    fn part(&mut self, names: &mut Names<'_>, part: Part<'_>) -> anyhow::Result<()>;
}

/// Gives `take` the rows of the strands that are selected, with the calls that the filter keeps.
pub fn read(
    trace: &Trace,
    names: &mut Names<'_>,
    (mut selection, mut filter): (Selection, Option<Filter<'_>>),
    spill: &Spill,
    take: &mut impl Take,
) -> anyhow::Result<(Written, Decoded<()>)> {
    let analysis = Analysis::new(trace, names.images());
    if let Some(filter) = &mut filter {
        let learned = analysis.decode(|process| filter.learning(process))?;
        let learned = learned.sinks.into_iter().collect();
        filter.learn(learned);
        selection = selection.with_calls(filter.strands());
    }
    let whole = Whole {
        spill,
        selection,
        labels: Labels::of_all(trace, names),
        shapes: trace.shapes(),
    };
    let processes = trace.processes();
    let rows = |index: usize| Rows::new(&whole, &processes[index], index);
    let (decoded, left_out) = match &filter {
        None => (analysis.decode(rows)?, None),
        Some(filter) => {
            let decoded = analysis.decode(|index| filter.over(index, rows(index)))?;
            let (decoded, left_out) = unwrap(decoded);
            (decoded, Some(left_out))
        }
    };
    let mut written = Written {
        left_out,
        ..Written::default()
    };
    let mut makers = Makers::default();
    let (mut ended, mut parts) = (Vec::new(), Vec::new());
    for (process, rows) in decoded.sinks {
        written.calls += rows.calls;
        written.strands += rows.strands;
        makers.append(rows.makers);
        ended.push((process, rows.ended));
        parts.push(Part {
            process,
            functions: rows.functions,
            sites: rows.sites,
            records: rows.records,
        });
    }
    for (process, ended) in ended {
        ended.read(|mut records| {
            while let Some(mut strand) = Ended::read(&mut records) {
                if strand.kind == Kind::Thread {
                    let maker = makers.of(trace, process, strand.thread);
                    strand.parent = maker.map(StrandId::number);
                }
                let name = names.strand_of(process, strand.name.as_deref(), strand.entry);
                take.strand(process, &strand, &name)?;
            }
            Ok(())
        })?;
    }
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

impl Part<'_> {
    /// The part's functions, by their indices.
    pub fn functions(&self, trace: &Trace, names: &mut Names<'_>) -> Vec<Rc<Location>> {
        let modules = trace.processes()[self.process].modules();
        let location = |key: &Key| {
            let time = modules.time_of(key.address, key.generation);
            names.function(self.process, key.address, time)
        };
        self.functions.iter().map(location).collect()
    }

    /// The functions that the part's calls were made in, and the lines, by their indices.
    pub fn sites(
        &self,
        trace: &Trace,
        names: &mut Names<'_>,
    ) -> Vec<(Rc<Location>, Option<String>)> {
        let modules = trace.processes()[self.process].modules();
        let location = |key: &Key| {
            let time = modules.time_of(key.address, key.generation);
            let caller = names.caller(self.process, key.address, time);
            (caller, names.line(self.process, key.address, time))
        };
        self.sites.iter().map(location).collect()
    }
}
