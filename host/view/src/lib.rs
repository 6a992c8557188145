//! The page of a trace: one HTML file that opens from disk, without a network.
//!
//! ```text
//! calls, pauses, runs, strands ──▶ Builder ──▶ Data ──▶ pack ──▶ page
//!        (any number)              bounded      rows     columns   HTML
//! ```
//!
//! A trace may hold a hundred million calls, and a page some megabytes. So the longest calls are
//! kept one by one, and the shorter ones are summed up by row, depth, column of time and function
//! ([`Builder`]): nothing is left out silently, the page says below which duration it sums up, and
//! the totals by function are those of all calls. Memory is bounded likewise while the trace is
//! read.
//!
//! Text of the trace is a user's input. It goes into the page compressed, in base64, and from there
//! into text nodes alone; a content security policy forbids every request as a second wall.

mod build;
mod cells;
mod columns;
mod kept;
mod model;
mod page;

pub use build::{Builder, Limits, Share};
pub use cells::{Cell, Key};
pub use model::{
    Call, Data, Event, Function, Head, Held, Pause, Process, Run, Strand, StrandKind, Total, Why,
};
pub use page::page;
