//! From events to strands: which thread, fiber or coroutine every call was made on, without the
//! program saying so.
//!
//! ```text
//! Trace → Analysis (symbols) → Decoder (stacks, instances) → Sink: strands born, resumed,
//!                                                   suspended, ended; calls entered and left
//!       → Analysis::by_thread → a stack for each thread    → Sink
//!       → Analysis::sum → a Profile of each thread that stays on its stack; Decoder → Summing
//! ```
//!
//! ```no_run
//! # fn main() -> Result<(), heddle_trace_file::Error> {
//! use heddle_strands::{Analysis, Sink, Strand};
//!
//! #[derive(Default)]
//! struct Count(u64);
//! impl Sink for Count {
//!     fn ended(&mut self, _: &Strand) {
//!         self.0 += 1;
//!     }
//! }
//!
//! let trace = heddle_trace_file::Trace::open("heddle.trace".as_ref())?;
//! let analysis = Analysis::new(&trace, &mut heddle_symbols::Images::new());
//! let decoded = analysis.decode(|_process| Count::default())?;
//! println!("{} strands", decoded.sinks.iter().map(|(_, count)| count.0).sum::<u64>());
//! # Ok(())
//! # }
//! ```
//!
//! Memory is of the size of what is open or alive at once, not of the trace. What cannot be told is
//! counted ([`Unresolved`]), and every event lies on exactly one strand.

mod address_map;
mod analysis;
mod announced;
mod answers;
mod brief;
mod code;
mod decoder;
mod doubts;
mod entered;
mod evidence;
mod frame_list;
mod frames;
mod inherited;
mod instances;
mod jump;
mod kind_and_doubts;
mod list;
mod live;
mod lost;
mod made_stacks;
mod offsets;
mod one_stack;
mod open_calls;
mod pipe;
mod running;
mod shared_frames;
mod short;
mod sink;
mod sites;
mod stack_map;
mod stacks;
mod strand;
mod strands;
mod survey;
mod threads;
mod unresolved;

pub use analysis::{Analysis, Decoded, PlacedPiece, Standing, Watch};
pub use brief::Brief;
pub use code::{Code, Role};
pub use doubts::Doubts;
pub use inherited::Inherited;
pub use list::StrandList;
pub use sink::{Call, Ignore, Sink, StrandSpan, Summing};
pub use strand::{Kind, Strand, StrandId};
pub use unresolved::Unresolved;
