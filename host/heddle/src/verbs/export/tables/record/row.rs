//! What a record says.

use heddle_calls::End;
use heddle_trace_file::Nanos;

/// A row, but for what its part has in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    Call(Call),
    Pause(Pause<'a>),
    Event(Event<'a>),
    Run(Run),
}

/// A call that has ended, or had not when the trace did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Number of its strand in the process.
    pub strand: u64,
    /// Index of the thread that ran it last.
    pub thread: u32,
    /// Indices among the part's functions and call sites.
    pub function: u32,
    pub site: u32,
    pub inlined: bool,
    pub enter: Nanos,
    pub exit: Nanos,
    pub own: Nanos,
    pub depth: u32,
    pub end: End,
    /// Names and texts, as far as they were recorded.
    pub values: Vec<(String, String)>,
}

/// A time during which a strand does not run, or its thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause<'a> {
    pub strand: u64,
    pub thread: u32,
    pub from: Nanos,
    /// `None`: it had not ended when the trace did.
    pub to: Option<Nanos>,
    /// Its thread waits in the kernel; else the strand is suspended.
    pub blocked: bool,
    /// What it waits for, if that is known.
    pub reason: &'a str,
    /// The number of the strand that ran before it went on.
    pub by: Option<u64>,
    /// The kernel's number of the thread that held what is waited for, if that was asked for and is
    /// known.
    pub holder: Option<u32>,
    /// Where the strand is meanwhile, likewise.
    pub place: Place,
    /// The part of a wait in which its thread made calls: a signal's handler's.
    pub called: Nanos,
    /// It ended as the coroutine was destroyed, as far as that was asked for.
    pub destroyed: bool,
}

/// Where a strand is that does not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// Index among the part's functions: of a coroutine its own, else that of the innermost call.
    pub function: Option<u32>,
    /// Index among the part's call sites: the call behind which the strand does not run.
    pub site: Option<u32>,
    /// The coroutine's resume index.
    pub index: Option<u16>,
}

/// A time during which a fiber or coroutine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Number of its strand in the process.
    pub strand: u64,
    /// Index of the thread that runs it.
    pub thread: u32,
    pub from: Nanos,
    pub to: Nanos,
    /// The number of the strand that ran before.
    pub by: Option<u64>,
}

/// What takes no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    pub strand: u64,
    pub thread: u32,
    pub time: Nanos,
    pub kind: &'static str,
    pub text: &'a str,
}
