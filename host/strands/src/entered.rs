//! The fields of an enter.

use heddle_trace_file::{Addr, CoroutineFrame, Event, EventKind, Way};

/// A new call.
#[derive(Clone, Copy)]
pub(crate) struct Entered {
    pub function: u64,
    /// The call site; 0 if it is not known.
    pub caller: u64,
    pub sp: u64,
    pub time: u64,
    pub way: Way,
    pub frame: Option<CoroutineFrame>,
}

impl Entered {
    /// The fields of an event, if that is an enter.
    #[inline]
    pub fn of(event: &Event<'_>) -> Option<Self> {
        let EventKind::Enter {
            function,
            caller,
            sp,
            frame,
        } = event.kind
        else {
            return None;
        };
        Some(Entered {
            function: function.0,
            caller: caller.0,
            sp: sp.0,
            time: event.time.0,
            way: event.way,
            frame,
        })
    }

    /// The same as an event has it.
    pub fn kind(&self) -> EventKind<'static> {
        EventKind::Enter {
            function: Addr(self.function),
            caller: Addr(self.caller),
            sp: Addr(self.sp),
            frame: self.frame,
        }
    }
}
