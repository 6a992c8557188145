//! From an address in a traced process to a function's name.
//!
//! Three layers: [`SymbolTable`] takes the bytes of an ELF file and does no I/O; [`Images`] finds
//! the files (and their separate debug files) and checks build ids; [`Resolver`] answers for one
//! process of a trace. Names are the linker's; [`demangle`] makes them readable.
//!
//! No invented names: an address that no symbol covers is a file name and an offset.

mod call_frames;
mod call_order;
mod carried;
mod coroutine_names;
mod coroutines;
mod cxa;
mod demangle;
mod enter_calls;
mod excerpt;
mod files;
mod images;
mod lines;
mod resolver;
mod short;
mod signal_return;
mod table;
mod tail_jumps;
mod unpack;
mod unwinder;
mod values;
mod variables;
mod variants;

pub use call_frames::{CallFrames, Distance};
pub use call_order::{CallOrders, Order};
pub use coroutine_names::{CoroutinePart, coroutine_part};
pub use demangle::{abbreviate, demangle, without_parameters, without_return_type};
pub use enter_calls::EnterCalls;
pub use images::{Images, Warning};
pub use lines::SourceLine;
pub use resolver::{Location, Resolver, printable, steers};
pub use short::{short_name, short_path};
pub use signal_return::SignalReturns;
pub use table::{Hooks, ParseError, SymbolTable};
pub use tail_jumps::TailJump;
pub use values::{FoundValues, ValuesWanted};
pub use variables::Variable;
