//! Reads a trace directory (`docs/trace-format.md`): the only crate that knows how records are laid out.
//!
//! ```no_run
//! # fn main() -> Result<(), heddle_trace_file::Error> {
//! let trace = heddle_trace_file::Trace::open("heddle.trace".as_ref())?;
//! for process in trace.processes() {
//!     for thread in process.threads() {
//!         for event in thread.events() {
//!             println!("{} {:?}", thread.name(), event?);
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Files are memory-mapped and decoded as they are walked, so memory stays flat in the length of the trace. Whatever the bytes are, reading
//! them gives events or an [`Error`] that names file and offset: never a panic, never an allocation beyond the size of the files.

mod clock;
mod error;
mod event;
mod file;
mod layout;
mod merge;
mod modules;
mod process;
mod stamp;
mod thread;
mod trace;
mod units;
#[cfg(feature = "test-support")]
pub mod write;

pub use clock::{ClockKind, Rate, Stamp};
pub use error::Error;
pub use event::{Event, EventKind, Way};
pub use merge::{Merged, Place};
pub use modules::{Module, Modules};
pub use process::Process;
pub use stamp::stamp;
pub use thread::{Events, Thread};
pub use trace::{MARKER, Trace, is_trace};
pub use units::{Addr, Nanos, Ticks};

/// The format version that this crate reads.
pub const VERSION: u32 = 1;
