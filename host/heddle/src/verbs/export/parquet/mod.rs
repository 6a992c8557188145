//! Tables as a folder of Parquet files, for DuckDB, Spark and others: docs/export.md.
//!
//! Records are collected until they make a row group, which a thread for each processor encodes,
//! most of them while the trace is still being decoded. What is encoded is put aside: the order of
//! row groups, which is that of parts, is known when all parts are.

mod data_set;
mod encode;
mod encoder;
mod records;
mod rows;
mod table;

use super::selection::Selection;
use super::spill::Spill;
use super::tables::{self, Part, Take, TakeEarly, Wanted};
use super::tracks::Ended;
use super::written::Written;
use crate::filter::Filter;
use crate::names::{Names, printable};
use data_set::DataSet;
use encoder::{Done, Encoded, Encoder};
use heddle_calls::Key;
use heddle_strands::Decoded;
use heddle_trace_file::{Process, Thread, Trace};
use records::{Caller, Function, Known, Records, Total};
use rows::Rows;
use std::collections::{BTreeMap, HashMap};
use std::mem::take;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};
use table::{ARGUMENTS, EVENTS, FUNCTIONS, PROCESSES, SPANS, STRANDS, WAITS};

/// Bytes of records that make a row group of each table: 70 000 calls, or fewer with arguments.
/// DuckDB and Spark give each of their threads a row group at a time.
const GROUP: usize = 4 << 20;

/// Strands in a row group.
const STRANDS_IN_GROUP: usize = 64 << 10;

/// Writes a trace's tables into the data set at `folder`. They get their names by
/// [`DataSet::finish`].
pub fn write(
    trace: &Trace,
    names: &mut Names<'_>,
    (selection, filter): (Selection, Option<Filter<'_>>),
    folder: &Path,
) -> anyhow::Result<(Written, Decoded<()>, DataSet)> {
    let host = trace.processes().first().map_or("", Process::host);
    let tables = [
        &PROCESSES, &STRANDS, &SPANS, &FUNCTIONS, &WAITS, &ARGUMENTS, &EVENTS,
    ];
    let files = DataSet::new(folder, host, &run(trace), &tables)?;
    let spill = Spill::new(files.room())?;
    let tids = |process: &Process| process.threads().iter().map(Thread::tid).collect();
    thread::scope(|scope| {
        let mut parquet = Parquet {
            trace,
            tids: trace.processes().iter().map(tids).collect(),
            files,
            strands: Rows::new(&STRANDS),
            functions: BTreeMap::new(),
            early: HashMap::new(),
            order: Vec::new(),
            encoded: HashMap::new(),
            filling: Records::default(),
            encoder: Encoder::new(scope, &spill),
        };
        parquet.processes()?;
        let wanted = Wanted {
            selection,
            filter,
            lives: false,
        };
        let (written, decoded) = tables::read_early(trace, names, wanted, &spill, &mut parquet)?;
        Ok((written, decoded, parquet.rest()?))
    })
}

/// What tells a run from others on its host: when it began, and the pid of its first process.
fn run(trace: &Trace) -> String {
    let since = UNIX_EPOCH + Duration::from_nanos(trace.epoch().0);
    // Readers take folders' names that look like times for times, and move them to their own zone.
    let time = humantime::format_rfc3339_nanos(since).to_string();
    let pid = trace.processes().first().map_or(0, Process::pid);
    format!("{}-{pid}", time.replace(['-', ':'], ""))
}

struct Parquet<'a> {
    trace: &'a Trace,
    /// By index of the process, and of the thread.
    tids: Vec<Arc<[u32]>>,
    files: DataSet,
    strands: Rows,
    /// What each function took, by the index of its process.
    functions: BTreeMap<(usize, Arc<Function>), Total>,
    /// By number: the parts that have handed over records, until they are known to be no part that
    /// the decoder throws away.
    early: HashMap<u64, Early>,
    /// The numbers of the row groups in the order in which they are to be in the files.
    order: Vec<u64>,
    /// By number: row groups that are encoded.
    encoded: HashMap<u64, Encoded<'a>>,
    filling: Records,
    encoder: Encoder<'a>,
}

/// A part that has handed over records.
#[derive(Default)]
struct Early {
    functions: Vec<Arc<Function>>,
    sites: Vec<Arc<Caller>>,
    /// The numbers of the row groups of these records.
    groups: Vec<u64>,
    /// What their calls add up to, by function.
    totals: Vec<Total>,
}

impl<'a> Parquet<'a> {
    fn processes(&mut self) -> anyhow::Result<()> {
        let mut rows = Rows::new(&PROCESSES);
        for process in self.trace.processes() {
            let command = process.command().iter().map(|word| printable(word));
            rows.row()
                .number(process.pid())
                .number(process.id().image)
                .number(process.parent())
                .number(self.trace.epoch().0)
                .text(process.executable())
                .text(&command.collect::<Vec<_>>().join(" "));
        }
        self.files.add(&mut rows)
    }

    /// Has records encoded. Gives the number of their row group.
    fn encode(&mut self, records: Records) -> anyhow::Result<u64> {
        let number = self.encoder.encode(records);
        while let Some(done) = self.encoder.done() {
            self.keep(done?);
        }
        Ok(number)
    }

    /// The records that are collected make a row group.
    fn fill(&mut self) -> anyhow::Result<()> {
        let records = take(&mut self.filling);
        if records.length > 0 {
            let number = self.encode(records)?;
            self.order.push(number);
        }
        Ok(())
    }

    /// Keeps a row group and what its calls add up to.
    fn keep(&mut self, done: Done<'a>) {
        self.encoded.insert(done.number, done.encoded);
        for (part, totals) in done.parts.into_iter().zip(done.totals) {
            let early = part.early.and_then(|number| self.early.get_mut(&number));
            match early {
                Some(early) => {
                    let known = early.totals.len().max(totals.len());
                    early.totals.resize(known, Total::default());
                    let sums = early.totals.iter_mut().zip(totals);
                    sums.for_each(|(sum, total)| sum.add(total));
                }
                None => self.sum_up(part.process, &part.functions, totals),
            }
        }
    }

    /// Adds to what functions of a process took.
    fn sum_up(&mut self, process: usize, functions: &[Arc<Function>], totals: Vec<Total>) {
        let called = functions.iter().zip(totals);
        for (function, total) in called.filter(|(_, total)| total.calls > 0) {
            let key = (process, Arc::clone(function));
            self.functions.entry(key).or_default().add(total);
        }
    }

    /// Writes what is left.
    fn rest(mut self) -> anyhow::Result<DataSet> {
        self.fill()?;
        self.encoder.close();
        while let Some(done) = self.encoder.wait() {
            self.keep(done?);
        }
        for number in take(&mut self.order) {
            if let Some(encoded) = self.encoded.remove(&number) {
                encoded.append(&mut self.files)?;
            }
        }
        self.files.add(&mut self.strands)?;
        let mut rows = Rows::new(&FUNCTIONS);
        for ((process, function), total) in self.functions {
            let id = self.trace.processes()[process].id();
            rows.row()
                .number(id.pid)
                .number(id.image)
                .text(&function.name)
                .text(&function.symbol)
                .text(&function.module)
                .number(total.calls)
                .number(total.own);
        }
        self.files.add(&mut rows)?;
        Ok(self.files)
    }

    /// The names of these functions.
    fn functions(&self, names: &mut Names<'_>, process: usize, keys: &[Key]) -> Vec<Arc<Function>> {
        let functions = tables::functions(self.trace, names, process, keys).into_iter();
        let functions = functions.map(|location| {
            Arc::new(Function {
                name: names.shown(&location).to_owned(),
                symbol: location.symbol.clone(),
                module: location.module.clone(),
            })
        });
        functions.collect()
    }

    /// The callers and lines of these call sites.
    fn sites(&self, names: &mut Names<'_>, process: usize, keys: &[Key]) -> Vec<Arc<Caller>> {
        let sites = tables::sites(self.trace, names, process, keys).into_iter();
        let sites = sites.map(|(caller, line)| Arc::new((names.shown(&caller).to_owned(), line)));
        sites.collect()
    }

    /// A part of this process, without records.
    fn known(&self, process: usize, functions: &[Arc<Function>], sites: &[Arc<Caller>]) -> Known {
        Known {
            process,
            id: self.trace.processes()[process].id(),
            tids: Arc::clone(&self.tids[process]),
            functions: functions.to_vec(),
            sites: sites.to_vec(),
            records: Vec::new(),
            early: None,
        }
    }
}

impl Take for Parquet<'_> {
    fn strand(&mut self, process: usize, strand: &Ended, name: &str) -> anyhow::Result<()> {
        let process = &self.trace.processes()[process];
        let tid = process.threads().get(strand.thread);
        self.strands
            .row()
            .number(process.pid())
            .number(process.id().image)
            .number(strand.number)
            .text(strand.kind.name())
            .text(name)
            .flag(strand.is_sure)
            .optional(strand.parent)
            .optional(strand.resumer)
            .optional(tid.map(|thread| thread.tid().into()))
            .number(strand.threads)
            .number(strand.born.0)
            .optional(strand.died.map(|died| died.0))
            .number(strand.activations)
            .number(strand.running.0)
            .number(strand.children.0)
            .number(strand.suspended.0)
            .number(strand.calls);
        match self.strands.len() < STRANDS_IN_GROUP {
            true => Ok(()),
            false => self.files.add(&mut self.strands),
        }
    }

    fn part(&mut self, names: &mut Names<'_>, part: Part<'_>) -> anyhow::Result<()> {
        let early = part.number.and_then(|number| self.early.remove(&number));
        let mut early = early.unwrap_or_default();
        self.sum_up(part.process, &early.functions, early.totals);
        self.order.append(&mut early.groups);
        let [functions, sites] = [
            &part.functions[early.functions.len()..],
            &part.sites[early.sites.len()..],
        ];
        early
            .functions
            .append(&mut self.functions(names, part.process, functions));
        early
            .sites
            .append(&mut self.sites(names, part.process, sites));
        let known = |parquet: &Self| parquet.known(part.process, &early.functions, &early.sites);
        let mut current = known(self);
        part.records.read(|records| {
            if self.filling.length + records.len() > GROUP {
                let next = known(self);
                let full = std::mem::replace(&mut current, next);
                self.filling.parts.push(full);
                self.fill()?;
            }
            current.records.extend_from_slice(records);
            self.filling.length += records.len();
            Ok(())
        })?;
        self.filling.parts.push(current);
        Ok(())
    }
}

impl TakeEarly for Parquet<'_> {
    const GROUP: usize = GROUP;

    fn group(&mut self, names: &mut Names<'_>, group: tables::Group) -> anyhow::Result<()> {
        let mut functions = self.functions(names, group.process, &group.functions);
        let mut sites = self.sites(names, group.process, &group.sites);
        let mut early = self.early.remove(&group.part).unwrap_or_default();
        early.functions.append(&mut functions);
        early.sites.append(&mut sites);
        let known = Known {
            early: Some(group.part),
            ..self.known(group.process, &early.functions, &early.sites)
        };
        self.early.insert(group.part, early);
        let number = self.encode(Records {
            length: group.records.len(),
            parts: vec![Known {
                records: group.records,
                ..known
            }],
        })?;
        if let Some(early) = self.early.get_mut(&group.part) {
            early.groups.push(number);
        }
        Ok(())
    }
}
