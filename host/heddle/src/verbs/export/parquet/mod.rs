//! Tables as a folder of Parquet files, for DuckDB, Spark and others: docs/export.md.
//!
//! Records are collected until they make a row group; as many row groups as there are processors
//! are encoded at once, and appended in order.

mod data_set;
mod encode;
mod rows;
mod table;

use super::selection::Selection;
use super::spill::Spill;
use super::tables::record::{CALL, Call, Event, Pause, Record};
use super::tables::{self, Part, Take, Wanted};
use super::tracks::Ended;
use super::written::Written;
use crate::filter::Filter;
use crate::names::{Names, printable};
use data_set::DataSet;
use heddle_calls::{End, Workers};
use heddle_strands::Decoded;
use heddle_trace_file::{Process, Thread, Trace};
use rows::{Chunk, Column, Rows, Texts};
use std::collections::BTreeMap;
use std::mem::take;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};
use table::{ARGUMENTS, EVENTS, FUNCTIONS, PROCESSES, SPANS, STRANDS, Table, WAITS};

/// Bytes of records that make a row group of each table: 70 000 calls, or fewer with arguments.
/// DuckDB and Spark give each of their threads a row group at a time.
const GROUP: usize = 4 << 20;

/// Strands in a row group.
const STRANDS_IN_GROUP: usize = 64 << 10;

/// Index of a text that has none yet.
const NEW: u32 = u32::MAX;

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
    let spill = Spill::new(files.folder())?;
    let tids = |process: &Process| process.threads().iter().map(Thread::tid).collect();
    let mut parquet = Parquet {
        trace,
        tids: trace.processes().iter().map(tids).collect(),
        files,
        strands: Rows::new(&STRANDS),
        functions: BTreeMap::new(),
        full: Vec::new(),
        filling: Records::default(),
        rows: Mutex::default(),
        buffers: Vec::new(),
    };
    parquet.processes()?;
    let wanted = Wanted {
        selection,
        filter,
        lives: false,
    };
    let (written, decoded) = tables::read(trace, names, wanted, &spill, &mut parquet)?;
    Ok((written, decoded, parquet.rest()?))
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
    functions: BTreeMap<(usize, Function), Total>,
    /// Row groups that are full: they wait until there are enough of them to be encoded at once.
    full: Vec<Records>,
    filling: Records,
    /// Memory of row groups that were written, which later ones use again.
    rows: Mutex<Vec<Tables>>,
    buffers: Vec<Vec<u8>>,
}

/// A function's names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Function {
    name: String,
    symbol: String,
    module: String,
}

/// What a function's calls add up to.
#[derive(Clone, Copy, Default)]
struct Total {
    calls: u64,
    own: u64,
}

/// Records that become a row group of each table.
#[derive(Default)]
struct Records {
    parts: Vec<Known>,
    length: usize,
}

/// A part's records, and what is known of it.
struct Known {
    process: usize,
    pid: u32,
    /// By index: the threads of its process.
    tids: Arc<[u32]>,
    functions: Vec<Function>,
    /// Callers and lines.
    sites: Vec<(String, Option<String>)>,
    /// [`Record`]s.
    records: Vec<u8>,
}

/// A row group of each table that has rows, and what calls add up to: by part, by its functions.
struct Group {
    tables: Vec<(&'static Table, Vec<Chunk>)>,
    totals: Vec<Vec<Total>>,
}

impl Parquet<'_> {
    fn processes(&mut self) -> anyhow::Result<()> {
        let mut rows = Rows::new(&PROCESSES);
        for process in self.trace.processes() {
            let command = process.command().iter().map(|word| printable(word));
            rows.row()
                .number(process.pid())
                .number(process.parent())
                .number(self.trace.epoch().0)
                .text(process.executable())
                .text(&command.collect::<Vec<_>>().join(" "));
        }
        self.files.add(&mut rows)
    }

    /// The records that are collected make a row group.
    fn fill(&mut self) -> anyhow::Result<()> {
        self.full.push(take(&mut self.filling));
        match self.full.len() < Workers::all().count() {
            true => Ok(()),
            false => self.encode(),
        }
    }

    fn encode(&mut self) -> anyhow::Result<()> {
        let full = take(&mut self.full);
        let groups = Workers::all().each(&full, |records| records.group(&self.rows));
        for (records, group) in full.into_iter().zip(groups) {
            let group = group?;
            for (table, chunks) in group.tables {
                self.files.append(table, chunks)?;
            }
            for (mut part, totals) in records.parts.into_iter().zip(group.totals) {
                part.records.clear();
                if part.records.capacity() > GROUP / 2 {
                    self.buffers.push(part.records);
                }
                let called = part.functions.into_iter().zip(totals);
                for (function, total) in called.filter(|(_, total)| total.calls > 0) {
                    let sum = self.functions.entry((part.process, function)).or_default();
                    sum.calls += total.calls;
                    sum.own += total.own;
                }
            }
        }
        Ok(())
    }

    /// Writes what is left.
    fn rest(mut self) -> anyhow::Result<DataSet> {
        self.fill()?;
        self.encode()?;
        self.files.add(&mut self.strands)?;
        let mut rows = Rows::new(&FUNCTIONS);
        for ((process, function), total) in take(&mut self.functions) {
            rows.row()
                .number(self.trace.processes()[process].pid())
                .text(&function.name)
                .text(&function.symbol)
                .text(&function.module)
                .number(total.calls)
                .number(total.own);
        }
        self.files.add(&mut rows)?;
        Ok(self.files)
    }
}

impl Take for Parquet<'_> {
    fn strand(&mut self, process: usize, strand: &Ended, name: &str) -> anyhow::Result<()> {
        let process = &self.trace.processes()[process];
        let tid = process.threads().get(strand.thread);
        self.strands
            .row()
            .number(process.pid())
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
        let process = &self.trace.processes()[part.process];
        let functions = part.functions(self.trace, names);
        let functions = functions.iter().map(|location| Function {
            name: names.shown(location).to_owned(),
            symbol: location.symbol.clone(),
            module: location.module.clone(),
        });
        let functions: Vec<Function> = functions.collect();
        let sites = part.sites(self.trace, names);
        let sites = sites.into_iter().map(|(caller, line)| {
            let caller = names.shown(&caller).to_owned();
            (caller, line)
        });
        let sites: Vec<_> = sites.collect();
        let tids = Arc::clone(&self.tids[part.process]);
        let known = |records| Known {
            process: part.process,
            pid: process.pid(),
            tids: Arc::clone(&tids),
            functions: functions.clone(),
            sites: sites.clone(),
            records,
        };
        let mut current = known(self.buffers.pop().unwrap_or_default());
        part.records.read(|records| {
            current.records.extend_from_slice(records);
            self.filling.length += records.len();
            if self.filling.length >= GROUP {
                let next = known(self.buffers.pop().unwrap_or_default());
                self.filling
                    .parts
                    .push(std::mem::replace(&mut current, next));
                self.fill()?;
            }
            Ok(())
        })?;
        self.filling.parts.push(current);
        Ok(())
    }
}

impl Records {
    /// Encodes a row group of each table that has rows.
    fn group(&self, rows: &Mutex<Vec<Tables>>) -> anyhow::Result<Group> {
        let used = || rows.lock().unwrap_or_else(PoisonError::into_inner);
        let free = used().pop();
        let mut tables = free.unwrap_or_else(|| Tables::new(self.length / CALL));
        let totals = self.parts.iter().map(|part| tables.part(part));
        let totals = totals.collect();
        let all = [
            &mut tables.spans,
            &mut tables.waits,
            &mut tables.arguments,
            &mut tables.events,
        ];
        let encoded = all.into_iter().filter(|rows| rows.len() > 0);
        let encoded = encoded.map(|rows| Ok((rows.table, rows.chunks()?)));
        let group = Group {
            tables: encoded.collect::<anyhow::Result<_>>()?,
            totals,
        };
        used().push(tables);
        Ok(group)
    }
}

/// Rows of records.
struct Tables {
    spans: Rows,
    waits: Rows,
    arguments: Rows,
    events: Rows,
}

/// The columns of [`SPANS`].
struct Spans<'r> {
    pid: &'r mut Vec<i64>,
    strand: &'r mut Vec<i64>,
    tid: &'r mut Vec<i64>,
    function: &'r mut Texts,
    module: &'r mut Texts,
    caller: &'r mut Texts,
    line: &'r mut Texts,
    enter: &'r mut Vec<i64>,
    exit: &'r mut Vec<i64>,
    own: &'r mut Vec<i64>,
    depth: &'r mut Vec<i64>,
    end: &'r mut Texts,
    inlined: &'r mut Vec<bool>,
    /// Indices of how calls end.
    ends: [u32; 3],
}

/// A function among the texts of [`Spans`], and its calls.
#[derive(Clone)]
struct Called {
    name: u32,
    module: u32,
    total: Total,
}

/// A call site among them.
#[derive(Clone)]
struct Site {
    caller: u32,
    line: Option<u32>,
}

impl Tables {
    /// With room for so many calls.
    fn new(calls: usize) -> Self {
        Tables {
            spans: Rows::with_room(&SPANS, calls),
            waits: Rows::new(&WAITS),
            arguments: Rows::new(&ARGUMENTS),
            events: Rows::new(&EVENTS),
        }
    }

    /// Adds the rows of a part. Gives what calls add up to, by function.
    fn part(&mut self, part: &Known) -> Vec<Total> {
        let called = Called {
            name: NEW,
            module: NEW,
            total: Total::default(),
        };
        let site = Site {
            caller: NEW,
            line: None,
        };
        let mut functions = vec![called; part.functions.len()];
        let mut sites = vec![site; part.sites.len()];
        let Some(mut spans) = Spans::of(&mut self.spans) else {
            return Vec::new();
        };
        let mut records = part.records.as_slice();
        while let Some(record) = Record::read(&mut records) {
            match record {
                Record::Call(call) => {
                    spans.call(part, &call, &mut functions, &mut sites);
                    arguments(&mut self.arguments, part, &call);
                }
                Record::Pause(one) => pause(&mut self.waits, part, &one),
                Record::Event(one) => event(&mut self.events, part, &one),
                Record::Run(_) => {}
            }
        }
        functions.into_iter().map(|called| called.total).collect()
    }
}

impl<'r> Spans<'r> {
    /// The columns of these rows.
    fn of(rows: &'r mut Rows) -> Option<Self> {
        use Column::{Flags, Numbers, Texts};
        let [
            Numbers(pid),
            Numbers(strand),
            Numbers(tid),
            Texts(function),
            Texts(module),
            Texts(caller),
            Texts(line),
            Numbers(enter),
            Numbers(exit),
            Numbers(own),
            Numbers(depth),
            Texts(end),
            Flags(inlined),
        ] = rows.columns.as_mut_slice()
        else {
            return None;
        };
        let ends = ["returned", "unwound", "open"].map(|text| end.know(text));
        Some(Spans {
            pid,
            strand,
            tid,
            function,
            module,
            caller,
            line,
            enter,
            exit,
            own,
            depth,
            end,
            inlined,
            ends,
        })
    }

    #[inline]
    fn call(&mut self, part: &Known, call: &Call, functions: &mut [Called], sites: &mut [Site]) {
        // Records have no other indices than their part's.
        let (Some(function), Some(site)) = (
            functions.get_mut(call.function as usize),
            sites.get_mut(call.site as usize),
        ) else {
            return;
        };
        if function.name == NEW {
            let names = &part.functions[call.function as usize];
            function.name = self.function.know(&names.name);
            function.module = self.module.know(&names.module);
        }
        if site.caller == NEW {
            let (caller, line) = &part.sites[call.site as usize];
            site.caller = self.caller.know(caller);
            site.line = line.as_ref().map(|line| self.line.know(line));
        }
        function.total.calls += 1;
        function.total.own += call.own.0;
        let [returned, unwound, open] = self.ends;
        let end = match call.end {
            End::Returned => returned,
            End::Unwound => unwound,
            End::Open => open,
        };
        self.pid.push(part.pid.into());
        self.strand.push(call.strand as i64);
        self.tid.push(part.tid(call.thread).into());
        self.function.push(Some(function.name));
        self.module.push(Some(function.module));
        self.caller.push(Some(site.caller));
        self.line.push(site.line);
        self.enter.push(call.enter.0 as i64);
        self.exit.push(call.exit.0 as i64);
        self.own.push(call.own.0 as i64);
        self.depth.push(call.depth.into());
        self.end.push(Some(end));
        self.inlined.push(call.inlined);
    }
}

#[inline]
fn arguments(rows: &mut Rows, part: &Known, call: &Call) {
    for (name, value) in &call.values {
        rows.row()
            .number(part.pid)
            .number(call.strand)
            .text(&part.functions[call.function as usize].name)
            .number(call.enter.0)
            .number(call.depth)
            .text(name)
            .text(value);
    }
}

fn pause(rows: &mut Rows, part: &Known, pause: &Pause<'_>) {
    let why = match pause.blocked {
        true => "waits",
        false => "suspended",
    };
    rows.row()
        .number(part.pid)
        .number(pause.strand)
        .number(part.tid(pause.thread))
        .text(why)
        .some(Some(pause.reason).filter(|reason| !reason.is_empty()))
        .number(pause.from.0)
        .optional(pause.to.map(|to| to.0))
        .optional(pause.by);
}

fn event(rows: &mut Rows, part: &Known, event: &Event<'_>) {
    rows.row()
        .number(part.pid)
        .number(event.strand)
        .number(part.tid(event.thread))
        .number(event.time.0)
        .text(event.kind)
        .text(event.text);
}

impl Known {
    fn tid(&self, thread: u32) -> u32 {
        self.tids.get(thread as usize).map_or(0, |&tid| tid)
    }
}
