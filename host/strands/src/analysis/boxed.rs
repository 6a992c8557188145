//! Sinks behind pointers: the decoder is compiled once for all of them. Else it would be compiled
//! for each type of sink, which takes seconds, and a program would hold its code as often.

use super::decoded::Decoded;
use crate::brief::Brief;
use crate::sink::{Call, Sink, StrandSpan};
use crate::{Strand, StrandId};
use heddle_trace_file::{Callee, Error, Event, Nanos, Place};
use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

/// A sink behind a pointer: the decoder does not know its type.
pub(crate) struct Boxed<T: ?Sized, const LIVES: bool>(Box<T>);

/// The sink of a process, or of a part of one, where several workers take the events.
pub(crate) type Shared<'a, const LIVES: bool> = Boxed<dyn Keep + Send + 'a, LIVES>;

/// The sink of a process where a caller looks at it after each event.
pub(crate) type Shown<'a, const LIVES: bool> = Boxed<dyn Each + 'a, LIVES>;

/// A sink, and where it is put in the end.
struct Behind<S, P> {
    sink: S,
    place: P,
}

/// A sink that, in the end, its caller gets back as the type that it is.
pub(crate) trait Keep: Told {
    fn keep(self: Box<Self>);
}

/// The same where its caller looks at it after each event.
pub(crate) trait Each: Keep {
    /// Whether to go on.
    fn each(&mut self, place: Place, event: &Event<'_>) -> bool;
}

macro_rules! told {
    ($($name:ident($($what:ident: $type:ty),*);)*) => {
        /// [`Sink`] without what cannot be asked of a pointer.
        pub(crate) trait Told {
            $(fn $name(&mut self, $($what: $type),*);)*
        }

        impl<S: Sink, P> Told for Behind<S, P> {
            $(fn $name(&mut self, $($what: $type),*) {
                self.sink.$name($($what),*);
            })*
        }

        impl<T: ?Sized + Told, const LIVES: bool> Sink for Boxed<T, LIVES> {
            const LIVES: bool = LIVES;
            $(#[inline]
            fn $name(&mut self, $($what: $type),*) {
                self.0.$name($($what),*);
            })*
        }
    };
}

told! {
    born(strand: &Strand);
    rests(strand: StrandId, since: Nanos);
    named(strand: &Strand);
    resumed(strand: StrandId, by: Option<StrandId>, thread: usize, time: Nanos);
    suspended(strand: StrandId, thread: usize, time: Nanos);
    idled(strand: StrandId, from: Nanos, to: Nanos);
    enter(call: &Call);
    leave(span: &StrandSpan);
    unmatched(strand: StrandId, thread: usize, function: Callee, time: Nanos);
    other(strand: StrandId, thread: usize, event: &Event<'_>);
    ended(strand: &Strand);
    ended_brief(strand: &Brief<'_>);
}

impl<S: Sink> Keep for Behind<S, &Mutex<Option<S>>> {
    fn keep(self: Box<Self>) {
        let Behind { sink, place } = *self;
        *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(sink);
    }
}

impl<S: Sink, F> Keep for Behind<S, (&RefCell<Option<S>>, &RefCell<F>)> {
    fn keep(self: Box<Self>) {
        let Behind { sink, place } = *self;
        place.0.replace(Some(sink));
    }
}

impl<S: Sink, F> Each for Behind<S, (&RefCell<Option<S>>, &RefCell<F>)>
where
    F: FnMut(Place, &Event<'_>, &mut S) -> bool,
{
    fn each(&mut self, place: Place, event: &Event<'_>) -> bool {
        let mut each = self.place.1.borrow_mut();
        each(place, event, &mut self.sink)
    }
}

impl<T: ?Sized + Each, const LIVES: bool> Boxed<T, LIVES> {
    /// See [`Each::each`].
    pub fn each(&mut self, place: Place, event: &Event<'_>) -> bool {
        self.0.each(place, event)
    }
}

/// What `decode` gives with sinks behind pointers to those that `make` makes.
pub(crate) fn decoded<S: Sink + Send, const LIVES: bool>(
    make: impl Fn(usize) -> S + Sync,
    decode: impl for<'b> FnOnce(
        &'b (dyn Fn(usize) -> Shared<'b, LIVES> + Sync),
    ) -> Result<Decoded<Shared<'b, LIVES>>, Error>,
) -> Result<Decoded<S>, Error> {
    let place = Mutex::new(None);
    let boxed = |process| -> Shared<'_, LIVES> {
        let sink = make(process);
        let place = &place;
        Boxed(Box::new(Behind { sink, place }))
    };
    let decoded = decode(&boxed)?;
    Ok(decoded.with(|sink| {
        sink.0.keep();
        let mut kept = place.lock().unwrap_or_else(PoisonError::into_inner);
        kept.take()
    }))
}

/// The same where events are taken in order of time, and shown with the sink of their process.
pub(crate) fn streamed<S: Sink>(
    make: impl Fn(usize) -> S,
    each: impl FnMut(Place, &Event<'_>, &mut S) -> bool,
    decode: impl for<'b> FnOnce(
        &'b dyn Fn(usize) -> Shown<'b, true>,
    ) -> Result<Decoded<Shown<'b, true>>, Error>,
) -> Result<Decoded<S>, Error> {
    let (place, each) = (RefCell::new(None), RefCell::new(each));
    let boxed = |process| -> Shown<'_, true> {
        let sink = make(process);
        let place = (&place, &each);
        Boxed(Box::new(Behind { sink, place }))
    };
    let decoded = decode(&boxed)?;
    Ok(decoded.with(|sink| {
        sink.0.keep();
        place.take()
    }))
}
