//! Which strands to export.

use crate::strand_name::StrandName;
use heddle_strands::StrandId;
use heddle_trace_file::Trace;
use std::collections::HashSet;

/// All strands, or some.
pub struct Selection {
    /// By process: the numbers that were asked for.
    numbers: Option<Vec<HashSet<u64>>>,
    /// Those with calls that a filter keeps.
    with_calls: Option<HashSet<StrandId>>,
}

impl Selection {
    /// Those of these names, a number alone being meant for every process; all, if there are none.
    pub fn new(trace: &Trace, names: &[StrandName]) -> Self {
        if names.is_empty() {
            return Selection {
                numbers: None,
                with_calls: None,
            };
        }
        let chosen = |pid| names.iter().filter(move |name| name.may_be_of(pid));
        let processes = trace.processes().iter();
        let numbers =
            processes.map(|process| chosen(process.pid()).map(|name| name.number).collect());
        Selection {
            numbers: Some(numbers.collect()),
            with_calls: None,
        }
    }

    /// Narrows the selection to strands with calls that a filter keeps.
    pub fn with_calls(self, strands: HashSet<StrandId>) -> Self {
        Selection {
            with_calls: Some(strands),
            ..self
        }
    }

    /// Whether it is all strands.
    pub fn has_all(&self) -> bool {
        self.numbers.is_none() && self.with_calls.is_none()
    }

    /// Whether this strand is one of them.
    #[inline]
    pub fn has(&self, strand: StrandId) -> bool {
        let asked = |by_process: &Vec<HashSet<u64>>| {
            by_process[strand.process()].contains(&strand.number())
        };
        self.numbers.as_ref().is_none_or(asked)
            && (self.with_calls.as_ref()).is_none_or(|strands| strands.contains(&strand))
    }
}
