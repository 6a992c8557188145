//! The `heddle` command as a library: what its program runs, and what its manual pages are made
//! from.

mod aside;
mod by_slot;
mod calls_of;
mod cells;
mod cli;
mod coroutine_calls;
mod cut_short;
mod embedded;
mod examples;
mod file_limit;
mod filter;
mod incomplete;
mod inherited;
mod left_open;
mod memory;
mod names;
mod notes;
mod number_arg;
mod open_calls;
mod output;
mod paths;
mod patience;
mod preparing;
mod progress;
mod sched;
mod screen;
mod strand_list;
mod strand_look;
mod strand_name;
mod trace_arg;
mod unnamed;
mod usage;
mod values;
mod verbs;
mod waits;

pub use cli::{command, run};
pub use examples::examples;
pub use filter::{Pattern, TimeRange};
pub use memory::Memory;
