//! Which strands to export, and which of their calls.

use crate::filter::{Filter, Filterable, LeftOut, unwrap};
use crate::strand_name::StrandName;
use heddle_strands::{Analysis, Decoded, StrandId};
use heddle_trace_file::{Error, Trace};
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
        let chosen = |id| names.iter().filter(move |name| name.may_be_of(id));
        let processes = trace.processes().iter();
        let numbers =
            processes.map(|process| chosen(process.id()).map(|name| name.number).collect());
        Selection {
            numbers: Some(numbers.collect()),
            with_calls: None,
        }
    }

    /// Narrows the selection to strands with calls that the filter keeps, if there is one. It
    /// learns of them here, since a strand's first such call may come late.
    ///
    /// # Errors
    /// What reading the trace gives.
    pub fn with_calls(
        self,
        analysis: &Analysis<'_>,
        filter: Option<&mut Filter<'_>>,
    ) -> Result<Self, Error> {
        let Some(filter) = filter else {
            return Ok(self);
        };
        let learned = analysis.decode(|process| filter.learning(process))?;
        filter.learn(learned.sinks.into_iter().collect());
        Ok(Selection {
            with_calls: Some(filter.strands()),
            ..self
        })
    }

    /// With the threads that the filter's strands run on, and that have what these wait for.
    pub fn with_threads(mut self, filter: Option<&Filter<'_>>) -> Self {
        if let Some((strands, filter)) = self.with_calls.as_mut().zip(filter) {
            strands.extend(filter.beside());
        }
        self
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

/// What sinks make of the calls that the filter keeps, or of all of them.
///
/// # Errors
/// What reading the trace gives.
pub fn decode<S: Filterable + Send>(
    analysis: &Analysis<'_>,
    filter: Option<&Filter<'_>>,
    sink: impl Fn(usize) -> S + Sync,
) -> Result<(Decoded<S>, Option<LeftOut>), Error> {
    let Some(filter) = filter else {
        return Ok((analysis.decode(sink)?, None));
    };
    let decoded = analysis.decode(|process| filter.over(process, sink(process)))?;
    let (decoded, left_out) = unwrap(decoded);
    Ok((decoded, Some(left_out)))
}
