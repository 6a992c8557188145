//! The fields of an enter.

use heddle_trace_file::{CoroutineFrame, Way};

/// A new call.
#[derive(Clone, Copy)]
pub(crate) struct Entered {
    pub function: u64,
    pub caller: u64,
    pub sp: u64,
    pub time: u64,
    pub way: Way,
    pub frame: Option<CoroutineFrame>,
}
