//! How many strands of each kind there are, and what could not be told.

use crate::notes::{self, counted};
use heddle_calls::Loose;
use heddle_strands::{Analysis, Inherited, Kind, Sink, Strand, Unresolved};
use heddle_symbols::Images;
use heddle_trace_file::{Error, Trace};
use std::io::{self, Write};

/// The strands of all processes, and what could not be told of them.
pub struct Counts {
    by_process: Vec<Count>,
    inherited: Vec<Inherited>,
    unresolved: Vec<Unresolved>,
    loose: Loose,
}

/// Strands by kind, and how many of them were alive at the end.
#[derive(Clone, Copy, Default)]
struct Count {
    threads: u64,
    fibers: u64,
    coroutines: u64,
}

impl Sink for Count {
    const LIVES: bool = false;

    fn ended(&mut self, strand: &Strand) {
        match strand.kind {
            Kind::Thread => self.threads += 1,
            Kind::Fiber => self.fibers += 1,
            Kind::Coroutine => self.coroutines += 1,
        }
    }
}

impl Counts {
    /// Reads the whole trace.
    ///
    /// # Errors
    /// What reading it gives.
    pub fn of(trace: &Trace, images: &mut Images) -> Result<Self, Error> {
        let analysis = Analysis::new(trace, images);
        let inherited = analysis.inherited()?;
        let decoded = analysis.decode(|_| Count::default())?;
        let mut by_process = vec![Count::default(); trace.processes().len()];
        for (process, part) in decoded.sinks {
            let sum = &mut by_process[process];
            sum.threads += part.threads;
            sum.fibers += part.fibers;
            sum.coroutines += part.coroutines;
        }
        Ok(Counts {
            by_process,
            inherited,
            unresolved: decoded.unresolved,
            loose: decoded.loose,
        })
    }

    /// Whether the process with this index has fibers: then its calls do not pair up by thread.
    pub fn has_fibers(&self, process: usize) -> bool {
        self.by_process[process].fibers > 0
    }

    /// The calls that the process with this index began inside.
    pub fn inherited(&self, process: usize) -> &Inherited {
        &self.inherited[process]
    }

    /// What did not pair up: by strand if there are fibers.
    pub fn loose(&self, by_thread: Loose) -> Loose {
        let fibers = self.by_process.iter().any(|count| count.fibers > 0);
        if fibers { self.loose } else { by_thread }
    }

    /// Prints the lines of the process with this index.
    pub fn print(&self, out: &mut dyn Write, process: usize) -> io::Result<()> {
        let count = self.by_process[process];
        let unresolved = &self.unresolved[process];
        writeln!(
            out,
            "strands    {}, {}, {}; {} of {} could not be placed for certain",
            counted(count.threads, "thread"),
            counted(count.fibers, "fiber"),
            counted(count.coroutines, "coroutine"),
            unresolved.unplaced(),
            counted(unresolved.events, "event"),
        )?;
        for text in notes::unresolved_kinds(unresolved) {
            writeln!(out, "           {text}")?;
        }
        if let Some(text) = notes::unsure_strands(unresolved) {
            writeln!(out, "           {text}")?;
        }
        Ok(())
    }
}
