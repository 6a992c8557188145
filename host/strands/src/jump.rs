//! The calls that a `longjmp` or an exception leaves: they have no exit. Those of
//! `-finstrument-functions` that an exception leaves have one, before the jump.
//!
//! A `longjmp` goes to where a function called `setjmp`, an exception to a handler or to where
//! variables are destroyed, and that function is still open. Calls with lower stack pointers on
//! that stack are over. A signal's handler and the calls inside it may lie on a stack of their own,
//! anywhere in memory. So the open calls of one list are looked at in stretches, each of which
//! begins with a handler's call, or with the outermost one.

use heddle_trace_file::{Event, EventKind};

/// The facts of a jump.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jump {
    /// The stack pointer where it goes to; of an exception, one less.
    pub to: u64,
    /// Calls that lie lower are on another stack; 0 where that is not known.
    pub lowest: u64,
    /// That is below the stack pointer that the thread had, so on another stack.
    pub downwards: bool,
}

/// A call that may be left.
pub(crate) trait Left {
    /// Its stack pointer at its enter, and whether it was inlined.
    fn place(&self) -> (u64, bool);
}

impl Jump {
    /// The jump that an event tells of; `None` if the event is of another kind.
    pub fn of(event: &Event<'_>) -> Option<Jump> {
        let EventKind::Jump {
            to,
            lowest,
            downwards,
        } = event.kind
        else {
            return None;
        };
        Some(Jump {
            to: to.0,
            lowest: lowest.0,
            downwards,
        })
    }

    /// Whether it is an exception's.
    pub fn is_landing(&self) -> bool {
        self.to % 2 != 0
    }

    /// Whether a call is over that lies on the stack where the jump goes to. A function that calls
    /// `setjmp` is never inlined; one that handles exceptions may be.
    pub fn is_over(&self, call: &impl Left) -> bool {
        let (sp, inlined) = call.place();
        self.lowest <= sp && (sp < self.to || (sp == self.to && inlined))
    }

    /// How many of these calls, outermost first, go on; `None` if the jump goes to another stack
    /// than those that they are on.
    pub fn kept<C: Left>(&self, calls: &[C], is_handler: impl Fn(&C) -> bool) -> Option<usize> {
        let mut end = calls.len();
        let mut jumps_off = self.downwards;
        loop {
            let handler = calls[..end].iter().rposition(&is_handler);
            let begin = handler.unwrap_or(0);
            let stretch = &calls[begin..end];
            let Some(first) = stretch.first() else {
                // There was no call, or the handlers have been left.
                return (end < calls.len()).then_some(end);
            };
            if !jumps_off && !self.is_over(first) {
                let kept = stretch.iter().take_while(|call| !self.is_over(*call));
                return Some(begin + kept.count());
            }
            match handler {
                // The handler has been left.
                Some(handler) => (end, jumps_off) = (handler, false),
                None if jumps_off => return None,
                None => return Some(0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call at this stack pointer; whether it was inlined, and is a handler's.
    struct At(u64, bool, bool);

    impl Left for At {
        fn place(&self) -> (u64, bool) {
            (self.0, self.1)
        }
    }

    fn kept(calls: &[At], to: u64, downwards: bool) -> Option<usize> {
        let jump = Jump {
            to,
            lowest: 0,
            downwards,
        };
        jump.kept(calls, |call| call.2)
    }

    #[test]
    fn calls_below_and_inlined_ones_are_over() {
        let plain = |sp| At(sp, false, false);
        let calls = [plain(90), plain(50), At(50, true, false), plain(40)];
        assert_eq!(kept(&calls, 50, false), Some(2));
        assert_eq!(kept(&calls, 60, false), Some(1));
        // An exception to the same place.
        assert_eq!(kept(&calls, 49, false), Some(3));
        assert_eq!(kept(&calls, 40, false), Some(4));
        assert_eq!(kept(&calls, 95, false), Some(0));
        assert_eq!(kept(&calls, 10, true), None);
        assert_eq!(kept(&[], 10, false), None);
    }

    #[test]
    fn calls_on_another_stack_go_on() {
        // The second call's fiber has the first one's array for a stack, and lands there.
        let calls = [At(900, false, false), At(50, false, false)];
        let mut jump = Jump {
            to: 799,
            lowest: 700,
            downwards: false,
        };
        assert_eq!(jump.kept(&calls, |call| call.2), Some(2));
        jump.lowest = 40;
        assert_eq!(jump.kept(&calls, |call| call.2), Some(1));
    }

    #[test]
    fn a_handler_is_over_if_the_jump_leaves_its_stack() {
        let handled = |handler| {
            [
                At(90, false, false),
                At(80, false, false),
                At(handler, false, true),
                At(handler - 5, false, false),
            ]
        };
        // On a stack above the interrupted one, as an array of the outermost function is.
        assert_eq!(kept(&handled(300), 80, true), Some(2));
        assert_eq!(kept(&handled(300), 85, true), Some(1));
        assert_eq!(kept(&handled(300), 298, false), Some(3));
        // On one below.
        assert_eq!(kept(&handled(30), 80, false), Some(2));
        assert_eq!(kept(&handled(30), 28, false), Some(3));
        assert_eq!(kept(&handled(30), 95, false), Some(0));
        // No call was recorded that the handler has interrupted.
        assert_eq!(kept(&handled(300)[2..], 80, true), Some(0));
        assert_eq!(kept(&handled(30)[2..], 80, false), Some(0));
    }
}
