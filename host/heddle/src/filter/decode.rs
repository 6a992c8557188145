//! Decodes a trace through a filter.

use super::{Filter, Filterable, LeftOut, unwrap};
use heddle_calls::Wanted;
use heddle_strands::{Analysis, Decoded};
use heddle_symbols::Images;
use heddle_trace_file::{Error, Trace};

/// What sinks make of the calls that the filter keeps, or of all of them.
///
/// # Errors
/// What reading the trace gives.
pub fn decode<S: Filterable + Send>(
    trace: &Trace,
    images: &mut Images,
    wanted: Wanted,
    filter: Option<Filter<'_>>,
    sink: impl Fn(usize) -> S + Sync,
) -> Result<(Decoded<S>, Option<LeftOut>), Error> {
    let Some(filter) = filter else {
        let decoded = Analysis::each_call(trace, images, wanted, sink)?;
        return Ok((decoded, None));
    };
    let (decoded, left_out) = decode_kept(trace, images, wanted, filter, sink)?;
    Ok((decoded, Some(left_out)))
}

/// What sinks make of the calls that the filter keeps.
///
/// # Errors
/// What reading the trace gives.
pub fn decode_kept<S: Filterable + Send>(
    trace: &Trace,
    images: &mut Images,
    wanted: Wanted,
    mut filter: Filter<'_>,
    sink: impl Fn(usize) -> S + Sync,
) -> Result<(Decoded<S>, LeftOut), Error> {
    if filter.must_learn() {
        let learning = |process| filter.learning(process);
        let learned = Analysis::each_call(trace, images, wanted, learning)?;
        let learned = learned.sinks.into_iter().collect();
        filter.learn(learned);
    }
    let over = |process| filter.over(process, sink(process));
    Ok(unwrap(Analysis::each_call(trace, images, wanted, over)?))
}
