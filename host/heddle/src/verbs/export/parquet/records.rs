//! From records to rows.

use super::rows::{Column, Rows, Texts};
use super::table::{ARGUMENTS, EVENTS, SPANS, WAITS};
use crate::verbs::export::tables::record::{Call, Event, Pause, Record};
use heddle_calls::End;
use heddle_trace_file::ImageId;
use std::sync::Arc;

/// Index of a text that has none yet.
const NEW: u32 = u32::MAX;

/// A function's names.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    pub name: String,
    pub symbol: String,
    pub module: String,
}

/// A call site's caller and line.
pub type Caller = (String, Option<String>);

/// What a function's calls add up to.
#[derive(Clone, Copy, Default)]
pub struct Total {
    pub calls: u64,
    pub own: u64,
}

/// Records that become a row group of each table.
#[derive(Default)]
pub struct Records {
    pub parts: Vec<Known>,
    pub length: usize,
}

/// Records of a part, and what is known of it.
pub struct Known {
    pub process: usize,
    pub id: ImageId,
    /// By index: the threads of its process.
    pub tids: Arc<[u32]>,
    pub functions: Vec<Arc<Function>>,
    pub sites: Vec<Arc<Caller>>,
    /// [`Record`]s.
    pub records: Vec<u8>,
    /// The part's number, if these are records that it has handed over.
    pub early: Option<u64>,
}

/// Rows of records.
pub struct Tables {
    pub spans: Rows,
    pub waits: Rows,
    pub arguments: Rows,
    pub events: Rows,
}

/// The columns of [`SPANS`].
struct Spans<'r> {
    pid: &'r mut Vec<i64>,
    image: &'r mut Vec<i64>,
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
    pub fn new(calls: usize) -> Self {
        Tables {
            spans: Rows::with_room(&SPANS, calls),
            waits: Rows::new(&WAITS),
            arguments: Rows::new(&ARGUMENTS),
            events: Rows::new(&EVENTS),
        }
    }

    /// Adds the rows of a part. Gives what calls add up to, by function.
    pub fn part(&mut self, part: &Known) -> Vec<Total> {
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
            Numbers(image),
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
            image,
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
            let (caller, line) = &*part.sites[call.site as usize];
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
        self.pid.push(part.id.pid.into());
        self.image.push(part.id.image.into());
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
            .number(part.id.pid)
            .number(part.id.image)
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
        .number(part.id.pid)
        .number(part.id.image)
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
        .number(part.id.pid)
        .number(part.id.image)
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

impl Total {
    pub fn add(&mut self, other: Total) {
        self.calls += other.calls;
        self.own += other.own;
    }
}
