//! Writes traces for [ui.perfetto.dev](https://ui.perfetto.dev) and its trace processor: the few
//! messages of `perfetto.protos.Trace` that tracks, slices and flows need.
//!
//! A file is a row of packets. Every function here appends one packet to a buffer, so that parts of
//! a file can be made by several threads and put together in any order, as long as the packets of
//! one [`Sequence`] stay in theirs.
//!
//! ```
//! use heddle_perfetto::{Begin, Clock, Interned, Sequence, Track};
//!
//! let mut file = Vec::new();
//! let clock = Clock { realtime: 1_715_025_463_427_757_000, monotonic_raw: 1_000_000 };
//! clock.snapshot(&mut file);
//! let thread = Track { uuid: 1, parent: None, name: "", description: "" };
//! thread.of_thread(&mut file, (4711, 4712), "worker", false);
//! let mut calls = Sequence::new(2, clock, thread.uuid);
//! calls.open(&mut file);
//! calls.intern(&mut file, [Interned::Name(1, "work()")]);
//! calls.begin(&mut file, 30, thread.uuid, &Begin::call(1, None));
//! calls.end(&mut file, 90, thread.uuid);
//! ```
//!
//! Field numbers are those of `protos/perfetto/trace/` in Perfetto 59; numbers in a published
//! schema do not change. Strings of more than 2 GiB are no packet's.

mod clock;
mod event;
mod read;
mod sequence;
mod track;
mod wire;

pub use clock::Clock;
pub use event::{Annotation, Begin, Name, Value};
pub use read::{Kind, Read};
pub use sequence::{Interned, Sequence};
pub use track::{Track, group};
