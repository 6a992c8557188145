//! The lines that `heddle replay` prints, before a format writes them.

use crate::names::{Length, Names, may_have_frame};
use crate::values::{Recorded, argument_list, result_text};
use heddle_strands::{Call, StrandSpan};
use heddle_symbols::Location;
use heddle_trace_file::{Addr, Callee, CoroutineFrame, Nanos, Of, Place, Shapes};
use std::rc::Rc;

/// How names are printed.
#[derive(Clone, Copy)]
pub struct Style {
    /// The linker's names.
    pub mangled: bool,
    /// Addresses behind them.
    pub addresses: bool,
    pub length: Length,
}

impl Style {
    /// The name in this style, without the address.
    pub fn name(self, location: &Location) -> &str {
        match self.length {
            _ if self.mangled => &location.symbol,
            Length::Short => location.short(),
            Length::Full => &location.name,
        }
    }
}

/// What an event was.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum What {
    Enter,
    Exit,
}

/// An event with its names.
pub struct Line {
    pub what: What,
    pub time: Nanos,
    /// `None` for an exit whose enter was not recorded, and which does not say of what it is.
    pub function: Option<(Addr, Rc<Location>)>,
    /// Who called; `None` for an exit whose enter was not recorded.
    pub caller: Option<Caller>,
    pub depth: usize,
    /// The coroutine's frame that was captured at an enter.
    pub frame: Option<CoroutineFrame>,
    /// Of the exit that ended a call, how long that took.
    pub took: Option<Nanos>,
    /// Of an enter, the call's arguments, of an exit its result, where they were recorded.
    pub values: Option<String>,
}

/// The two answers to who called, which differ for an inlined function only.
pub struct Caller {
    /// Where the call returns to; an inlined function has its container's.
    pub site: (Addr, Rc<Location>),
    /// The container that the function was inlined into.
    pub container: Option<Rc<Location>>,
}

impl Caller {
    /// The function that called, whether there was a call instruction or not.
    pub fn function(&self) -> &Location {
        self.container.as_ref().unwrap_or(&self.site.1)
    }
}

impl Line {
    /// The enter of a call.
    pub fn enter(names: &mut Names, place: Place, call: &Call) -> Self {
        let called = Called {
            function: call.function,
            caller: call.caller,
            around: call.around,
            inlined: call.inlined,
            depth: call.depth,
        };
        called.line(names, place, What::Enter, call.enter, call.frame)
    }

    /// The exit that ended a call.
    pub fn exit(names: &mut Names, place: Place, ended: &StrandSpan) -> Self {
        let span = &ended.span;
        let called = Called {
            function: span.function,
            caller: span.caller,
            around: ended.around,
            inlined: span.inlined,
            depth: span.depth,
        };
        Line {
            took: Some(span.duration()),
            ..called.line(names, place, What::Exit, span.exit, None)
        }
    }

    /// An exit that belongs to no open call.
    pub fn unmatched(
        names: &mut Names,
        place: Place,
        time: Nanos,
        callee: Callee,
        depth: usize,
    ) -> Self {
        let function = match callee {
            Callee::Known(address) => Some(function(names, place, time, address)),
            Callee::Bits(_) | Callee::Unknown => None,
        };
        Line {
            what: What::Exit,
            time,
            function,
            caller: None,
            depth,
            frame: None,
            took: None,
            values: None,
        }
    }

    /// The same with the values that were recorded.
    pub fn with(
        mut self,
        names: &mut Names,
        place: Place,
        recorded: Option<Recorded>,
        shapes: &Shapes,
    ) -> Self {
        let Some(recorded) = recorded else {
            return self;
        };
        let time = self.time;
        let mut named = |address| names.function_at(place.process, Addr(address), time);
        self.values = match recorded.values().of {
            Of::Arguments => Some(argument_list(&recorded, shapes, &mut named)),
            Of::Result => result_text(&recorded, shapes, &mut named),
        };
        self
    }
}

/// A call that is open, as a backtrace shows it.
pub struct OpenCall {
    pub function: Addr,
    pub caller: Addr,
    pub inlined: bool,
    pub enter: Nanos,
}

impl From<&Call> for OpenCall {
    fn from(call: &Call) -> Self {
        OpenCall {
            function: call.function,
            caller: call.caller,
            inlined: call.inlined,
            enter: call.enter,
        }
    }
}

/// A call, as a line shows it.
struct Called {
    function: Addr,
    caller: Addr,
    around: Option<Addr>,
    inlined: bool,
    depth: usize,
}

impl Called {
    fn line(
        &self,
        names: &mut Names,
        place: Place,
        what: What,
        time: Nanos,
        frame: Option<CoroutineFrame>,
    ) -> Line {
        let caller = Some(self.caller(names, place, time));
        let function = function(names, place, time, self.function);
        Line {
            what,
            time,
            caller,
            depth: self.depth,
            frame: frame.filter(|_| may_have_frame(&function.1)),
            function: Some(function),
            took: None,
            values: None,
        }
    }

    fn caller(&self, names: &mut Names, place: Place, time: Nanos) -> Caller {
        let container = self.around.filter(|_| self.inlined);
        let site = match self.around {
            // The call site is not known, but the call around is.
            Some(around) if self.caller == Addr(0) => function(names, place, time, around),
            _ => (self.caller, names.caller(place.process, self.caller, time)),
        };
        Caller {
            site,
            container: container.map(|address| names.function(place.process, address, time)),
        }
    }
}

fn function(names: &mut Names, place: Place, time: Nanos, address: Addr) -> (Addr, Rc<Location>) {
    (address, names.function(place.process, address, time))
}
