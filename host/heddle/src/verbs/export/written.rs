//! What an export has written.

use crate::filter::LeftOut;

/// What was written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    pub strands: u64,
    pub calls: u64,
    /// Calls that were left out because they are within too many others.
    pub deep: u64,
    /// Calls that a filter left out, if there is one.
    pub left_out: Option<LeftOut>,
}
