//! Writes traces for tests: one tick is one nanosecond, times are given from the first stamp.

use crate::layout::{
    ENDED, EXIT_BIT, HEADER_SIZE, PROCESS_MAGIC, ProcessHeader, RECORD_SIZE, Record, StampBytes,
    THREAD_MAGIC, ThreadHeader,
};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use zerocopy::{FromZeros, IntoBytes};

/// Ticks of the first stamp.
pub const START: u64 = 1_000_000;
/// Wall-clock time of the first stamp: that of the source document's log.
pub const EPOCH: u64 = 1_715_025_463_427_757_000;

/// Added to a record's function: an event of [`Way::Entry`](crate::Way::Entry).
pub use crate::layout::WITHIN_BIT as WITHIN;

/// A trace being written.
pub struct TraceWriter {
    path: PathBuf,
}

/// A process being written; [`ProcessWriter::finish`] writes it.
pub struct ProcessWriter {
    directory: PathBuf,
    header: ProcessHeader,
    modules: String,
}

/// A thread being written; [`ThreadWriter::finish`] writes it.
pub struct ThreadWriter {
    path: PathBuf,
    header: ThreadHeader,
    records: Vec<u8>,
}

fn put(field: &mut [u8], text: &str) {
    let length = text.len().min(field.len() - 1);
    field[..length].copy_from_slice(&text.as_bytes()[..length]);
}

impl TraceWriter {
    /// Makes the directory, marked with `version`.
    pub fn create(path: &Path, version: u32) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        std::fs::write(path.join("heddle"), format!("{}{version}\n", crate::MARKER))?;
        Ok(TraceWriter {
            path: path.to_owned(),
        })
    }

    /// Begins a process that ran `executable` and ended as it should.
    pub fn process(&self, pid: u32, parent: u32, executable: &str) -> io::Result<ProcessWriter> {
        let mut header = ProcessHeader::new_zeroed();
        header.magic = PROCESS_MAGIC;
        header.version = crate::VERSION.into();
        header.flags = ENDED.into();
        header.pid = pid.into();
        header.parent = parent.into();
        header.clock = 2.into();
        header.first = StampBytes {
            ticks: START.into(),
            realtime: EPOCH.into(),
            monotonic_raw: START.into(),
        };
        put(&mut header.host, "loom");
        put(&mut header.executable, executable);
        put(&mut header.command, executable);
        let directory = self.path.join(pid.to_string());
        std::fs::create_dir_all(&directory)?;
        Ok(ProcessWriter {
            directory,
            header,
            modules: String::new(),
        })
    }
}

impl ProcessWriter {
    /// Adds a module loaded at the first stamp.
    pub fn module(
        &mut self,
        start: u64,
        end: u64,
        bias: u64,
        build_id: Option<&str>,
        path: &str,
    ) -> &mut Self {
        let id = build_id.unwrap_or("-");
        // Writing to a String cannot fail.
        let _ = writeln!(
            self.modules,
            "load {START} {start:x} {end:x} {bias:x} {id} {path}"
        );
        self
    }

    /// Begins a thread.
    pub fn thread(&mut self, tid: u32, name: &str) -> ThreadWriter {
        let number = self.header.threads.get() + 1;
        self.header.threads = number.into();
        let mut header = ThreadHeader::new_zeroed();
        header.magic = THREAD_MAGIC;
        header.version = crate::VERSION.into();
        header.record_size = (RECORD_SIZE as u32).into();
        header.tid = tid.into();
        header.flags = ENDED.into();
        header.first_ticks = START.into();
        put(&mut header.name, name);
        ThreadWriter {
            path: self.directory.join(format!("thread-{number}")),
            header,
            records: Vec::new(),
        }
    }

    /// Marks the process as killed.
    pub fn killed(&mut self) -> &mut Self {
        self.header.flags = 0.into();
        self
    }

    /// Writes `process` and `modules`.
    pub fn finish(&self) -> io::Result<()> {
        std::fs::write(self.directory.join("process"), self.header.as_bytes())?;
        std::fs::write(self.directory.join("modules"), &self.modules)
    }
}

impl ThreadWriter {
    /// Adds an enter at `time` ns.
    pub fn enter(&mut self, time: u64, function: u64, caller: u64, sp: u64) -> &mut Self {
        self.record(START + time, function, caller, sp)
    }

    /// Adds an exit at `time` ns.
    pub fn exit(&mut self, time: u64, function: u64, caller: u64, sp: u64) -> &mut Self {
        self.record((START + time) | EXIT_BIT, function, caller, sp)
    }

    /// Adds a record with these words; a first word of 0 is a hole.
    pub fn record(&mut self, word: u64, function: u64, caller: u64, sp: u64) -> &mut Self {
        let record = Record {
            word: word.into(),
            function: function.into(),
            caller: caller.into(),
            sp: sp.into(),
        };
        self.records.extend_from_slice(record.as_bytes());
        self
    }

    /// States the stack's bounds.
    pub fn stack(&mut self, low: u64, high: u64) -> &mut Self {
        (self.header.stack_low, self.header.stack_high) = (low.into(), high.into());
        self
    }

    /// States that events were dropped.
    pub fn dropped(&mut self, events: u64) -> &mut Self {
        self.header.dropped = events.into();
        self
    }

    /// Writes the file.
    pub fn finish(&mut self) -> io::Result<()> {
        let count = (self.records.len() / RECORD_SIZE) as u64;
        self.header.reserved_records = count.into();
        self.header.room = count.into();
        let mut bytes = Vec::with_capacity(HEADER_SIZE + self.records.len());
        bytes.extend_from_slice(self.header.as_bytes());
        bytes.extend_from_slice(&self.records);
        std::fs::write(&self.path, bytes)
    }
}
