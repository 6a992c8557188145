//! Who reads single calls when a first read has added all of them up: the threads that stand apart
//! in pieces, the others together.

use super::boxed::{self, Shared};
use super::{Analysis, Decoded, PlacedPiece, Standing};
use crate::sink::Sink;
use heddle_calls::{Piece, Source};
use heddle_symbols::Images;
use heddle_trace_file::{Error, Trace};

impl<'a> Analysis<'a> {
    /// Gives single calls of the threads that are not [`Standing::Apart`]; `standing` is that of
    /// all threads.
    ///
    /// # Errors
    /// What reading the trace gives.
    pub fn others<S: Sink + Send>(
        trace: &'a Trace,
        images: &mut Images,
        standing: &[Standing],
        make: impl Fn(usize) -> S + Sync,
    ) -> Result<Decoded<S>, Error> {
        boxed::decoded(make, |make| Self::others_of(trace, images, standing, make))
    }

    // What has no type parameter is compiled with this crate, once.
    fn others_of<'b>(
        trace: &'a Trace,
        images: &mut Images,
        standing: &[Standing],
        make: &(dyn Fn(usize) -> Shared<'b, true> + Sync),
    ) -> Result<Decoded<Shared<'b, true>>, Error> {
        let threads = trace.processes().iter().enumerate();
        let places = threads.flat_map(|(process, recorded)| {
            (0..recorded.threads().len()).map(move |thread| (process, thread))
        });
        let others: Vec<(usize, usize, bool)> = places
            .zip(standing)
            .filter_map(|((process, thread), standing)| match standing {
                Standing::Apart(..) => None,
                Standing::OneStack => Some((process, thread, true)),
                Standing::Grouped => Some((process, thread, false)),
            })
            .collect();
        let inherited = match others.is_empty() {
            true => Vec::new(),
            false => Self::inherited_in(trace, images)?,
        };
        let read = |index| others.iter().any(|&(process, ..)| process == index);
        let analysis = Self::for_some(trace, images, read);
        let bytes = |&(process, thread, _): &(usize, usize, bool)| {
            trace.processes()[process].threads()[thread].bytes()
        };
        let parts = analysis.parallel(&others, bytes, |&(process, thread, one_stack)| {
            let read = || {
                let before = &inherited[process];
                analysis.on_one_stack(process, thread, before, make(process))
            };
            one_stack.then(read).transpose()
        })?;
        let parts = others.iter().zip(parts);
        let parts = parts.map(|(&(process, thread, _), part)| (process, thread, part));
        analysis.with_groups(parts.collect(), &inherited, make)
    }

    /// All calls of each thread that is [`Standing::Apart`], with its process and index: one piece
    /// a thread, to be divided where more is known.
    ///
    /// # Errors
    /// What reading the trace gives.
    pub fn apart(
        trace: &'a Trace,
        images: &mut Images,
        standing: &[Standing],
    ) -> Result<Vec<PlacedPiece>, Error> {
        let inherited = Self::inherited_in(trace, images)?;
        let threads = trace.processes().iter().enumerate();
        let places = threads.flat_map(|(process, recorded)| {
            (0..recorded.threads().len()).map(move |thread| (process, thread))
        });
        let pieces = places.zip(standing).filter_map(|(place, standing)| {
            let (process, thread) = place;
            let recorded = &trace.processes()[process];
            let source = Source {
                before: inherited[process].of(thread),
                ..Source::new(&recorded.threads()[thread], recorded.modules())
            };
            matches!(standing, Standing::Apart(..)).then(|| (place, Piece::whole(source)))
        });
        Ok(pieces.collect())
    }
}
