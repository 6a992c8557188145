//! Reads the trace in the background, one view's part after the other.

use super::kept::Kept;
use super::{look, report};
use crate::filter::{FilterArgs, LeftOut};
use crate::incomplete;
use crate::names::{Length, Names};
use crate::notes;
use crate::verbs::tree::life_of;
use crate::verbs::view::pieces::Places;
use crate::verbs::view::take::head;
use heddle_trace_file::{Process, Thread, Trace, bytes_read};
use heddle_tui::{Life, LifeRow, Model, Part, Reading, StrandKey};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};

/// Reads a trace, and says what it finds.
pub struct Reader {
    told: Mutex<Sender<Part>>,
    length: Length,
    filter: FilterArgs,
    /// Bytes that had been read before this stage, and that the trace has.
    begun: AtomicU64,
    bytes: AtomicU64,
    /// The views' parts are being read.
    busy: AtomicBool,
}

/// Stages, by what views call them; the first is known as reading begins.
const FUNCTIONS: &str = "functions";

impl Reader {
    /// Names are of this length. Reads the calls that the filter keeps.
    pub fn new(told: Sender<Part>, length: Length, filter: FilterArgs) -> Self {
        Reader {
            told: Mutex::new(told),
            length,
            filter,
            begun: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            busy: AtomicBool::new(false),
        }
    }

    /// How far the stage is.
    pub fn percent(&self) -> u8 {
        let read = bytes_read().saturating_sub(self.begun.load(Relaxed));
        match self.bytes.load(Relaxed) {
            0 => 0,
            // Some stages read the trace more than once.
            bytes => ((read.saturating_sub(1) % bytes) * 100 / bytes) as u8,
        }
    }

    /// What is known before anything is read.
    pub fn begin(&self, trace: &Trace, model: &mut Model) {
        self.count(trace);
        self.busy.store(true, Relaxed);
        model.head = head(trace);
        let processes = trace.processes().iter();
        model.processes = processes.map(|process| process.id().to_string()).collect();
        model.reading = Some(Reading {
            what: FUNCTIONS.to_owned(),
            percent: 0,
        });
    }

    /// Counts from here on what is read of this trace.
    fn count(&self, trace: &Trace) {
        let threads = trace.processes().iter().flat_map(Process::threads);
        self.bytes.store(threads.map(Thread::bytes).sum(), Relaxed);
        self.begun.store(bytes_read(), Relaxed);
    }

    fn tell(&self, part: Part) {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        // The user may have left: then nobody receives it.
        let _ = told.send(part);
    }

    fn stage(&self, what: &'static str) {
        self.begun.store(bytes_read(), Relaxed);
        self.tell(Part::Reading(what));
    }

    /// Reads everything, and keeps it.
    pub fn read(&self, trace: &Trace, kept: Option<&Kept>) {
        let mut model = Model::default();
        self.begin(trace, &mut model);
        let read = self.parts(trace, &mut model);
        self.busy.store(false, Relaxed);
        if let Err(error) = read {
            return self.tell(Part::Failed(format!("{error:#}")));
        }
        let running = trace.processes().iter().any(Process::running);
        // No index is kept of a trace that still grows.
        if let Some(said) = kept
            .filter(|_| !running)
            .and_then(|kept| kept.write(&model))
        {
            self.tell(Part::Note(said));
        }
        self.tell(Part::Done);
    }

    fn parts(&self, trace: &Trace, model: &mut Model) -> anyhow::Result<()> {
        let told = |functions| self.tell(Part::Functions(functions));
        let places = Places::default();
        let (rows, mut functions) = report::read(trace, self.length, &self.filter, &places, told)?;
        self.tell(Part::Functions(functions.clone()));
        incomplete::tell(trace, rows.loose, &rows.remarks);
        notes::unresolved(&rows.unresolved);
        rows.left_out.iter().for_each(LeftOut::tell);
        self.stage("source lines");
        let mut names = Names::new(trace).of_length(self.length);
        report::places(&rows.rows, &mut functions, &mut names);
        self.tell(Part::Functions(functions.clone()));
        model.functions = Some(functions);

        self.stage("strands, calls within one another and the timeline");
        if !self.filter.is_empty() {
            return look::read_filtered(trace, &mut names, &self.filter, model, |part| {
                self.tell(part)
            });
        }
        let standing = &rows.standing;
        look::read(trace, &mut names, standing, places, model, |part| {
            self.tell(part)
        })
    }

    /// The life of a strand.
    ///
    /// # Errors
    /// What reading the trace gives.
    pub fn life(&self, trace: &Trace, key: StrandKey) -> anyhow::Result<Life> {
        if !self.busy.load(Relaxed) {
            self.count(trace);
        }
        let text = life_of(trace, self.length, key.process as usize, key.number)?;
        let row = |line: &str| {
            let text = line.trim_start();
            let first = text.split(' ').find(|word| !word.starts_with('×'));
            LifeRow {
                indent: (line.len() - text.len()) as u16,
                waits: matches!(first, Some("suspended" | "ready")),
                text: text.to_owned(),
            }
        };
        let rows = text.lines().map(row).collect();
        Ok(Life {
            key,
            rows: Some(rows),
            percent: 100,
        })
    }
}
