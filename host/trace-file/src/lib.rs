//! Reads a trace directory (`docs/trace-format.md`): the only crate that knows how records are laid
//! out.
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
//! Files are memory-mapped and decoded as they are walked, so memory stays flat in the length of
//! the trace. Whatever the bytes are, reading them gives events or an [`Error`] that names file and
//! offset: never a panic, never an allocation beyond the size of the files. What contradicts the
//! format among a process's events is passed over and told of ([`Damages`]), so that the rest can
//! be read.

mod addresses;
mod alive;
mod allocation;
mod buffer;
mod captures;
mod clock;
mod collect;
mod damage;
mod error;
mod event;
mod events;
mod file;
mod foreign;
mod lack;
mod layout;
mod merge;
mod modules;
mod objects;
mod pack;
mod plan;
mod position;
mod process;
mod recipe;
mod remarks;
mod run;
mod so_far;
mod stamp;
mod store;
mod stored;
mod switches;
mod tables;
mod thread;
mod trace;
mod units;
mod untimed;
mod values;
mod waits;
mod workers;
pub mod write;

pub use allocation::{Allocation, AllocationEntry};
pub use clock::{ClockKind, Rate, Stamp};
pub use collect::{Apart, Claim, Collected, Collector, is_begun, recover};
pub use damage::{Damage, Damages};
pub use error::{Error, in_words};
pub use event::{Callee, CoroutineFrame, Event, EventKind, Made, Way, Why};
pub use events::Events;
pub use foreign::foreign;
pub use lack::Lack;
pub use merge::Place;
pub use modules::{Module, Modules};
pub use objects::{Object, Objects, Readers};
pub use pack::{ModuleSymbols, Packed, pack, pack_into};
pub use plan::{Kinds, ModulePlan, PlanRange, Planner, ValueSite};
pub use process::{ImageId, Process, Unplanned};
pub use recipe::{FramePlace, FrameRegister, Recipe};
pub use remarks::{Remarks, Uncertainty};
pub use so_far::bytes_read;
pub use stored::stored;
pub use switches::{Early, Life, OffCpu, Refusal, Switch, SwitchKind, SwitchWriter, Switches};
pub use thread::{Run, Thread};
pub use trace::{LostCounts, Trace, Unrecordable, Use, is_trace, marker, unrecorded_in, use_of};
pub use units::{Addr, Nanos, Ticks};
pub use values::{
    Field, Kept, MOST_PARTS, Member, Missing, Of, Part, Shape, Shapes, Source, Step, Type, Value,
    Values,
};
pub use waits::{Holder, KeptWait, ObjectKind, Wait};
pub use workers::Workers;

/// The format version that this crate writes, and the newest that it reads.
pub const VERSION: u32 = 5;
/// The oldest that it reads: its blocks lie at multiples of 64 KiB in files of events.
const OLDEST: u32 = 2;
