//! One event, as everything beyond this crate sees it.

use crate::{Addr, Nanos, ObjectKind, Values, Wait};
use std::fmt;
use std::num::NonZeroU64;

/// What happened on the thread whose iterator gave it. Text is borrowed from the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// Since the trace's first stamp. Where the clock was not read (`--clock sparse`), between
    /// those of its neighbours that read it.
    pub time: Nanos,
    /// The kind of hook that recorded it; without meaning for other events than enters and exits.
    pub way: Way,
    /// What it was, and where.
    pub kind: EventKind<'a>,
}

/// The two ways in, by what their events say of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Way {
    /// `-finstrument-functions`: an enter has its function's own address, an inlined function has
    /// hooks, and the stack pointer may differ between enter and exit.
    #[default]
    Instrumented,
    /// `-mfentry -minstrument-return=call`: an enter has an address within its function, the same
    /// one each time; only real calls have hooks, and the stack pointer is the same at enter and
    /// exit.
    Entry,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind<'a> {
    /// A function was entered.
    Enter {
        /// The function's address, or one within it: see [`Way`].
        function: Addr,
        /// The return address into the caller: one past the call. An inlined function has its
        /// container's.
        caller: Addr,
        /// The stack pointer in the function's frame; [`Way::Entry`]: before it makes one.
        sp: Addr,
        /// The coroutine that it goes on with or destroys, where that was captured.
        frame: Option<CoroutineFrame>,
    },
    /// A function was left.
    Exit {
        /// What is known of it.
        function: Callee,
        /// The stack pointer then. [`Way::Instrumented`]: lower than at the enter after `alloca`,
        /// higher when the hook was tail-called.
        sp: Addr,
    },
    /// Events are missing here.
    Gap {
        /// Why they are missing.
        why: Why,
        /// The number of missing events, where they were counted.
        missing: Option<u64>,
    },
    /// The program marked this moment.
    Mark {
        /// On which strand, if it said so.
        strand: Option<u64>,
        /// The program's text: usually UTF-8, but the program may give any bytes.
        text: &'a [u8],
    },
    /// The thread runs this strand from here on, as the program announced.
    StrandSwitch {
        /// The strand; `None` if the thread's own code runs.
        to: Option<u64>,
    },
    /// The strand ended, as the program announced; its number may be another's from here on.
    StrandEnd {
        /// The strand.
        strand: u64,
    },
    /// The strand that the thread runs makes this one, as the program announced; or the thread
    /// does, if it runs none.
    StrandMade {
        /// The strand that is made.
        strand: u64,
    },
    /// The program named a strand.
    StrandName {
        /// The strand.
        strand: u64,
        /// UTF-8 usually, but whatever bytes it gave.
        name: &'a [u8],
    },
    /// The strand is about to wait, as the program announced.
    StrandWaits {
        /// The strand.
        strand: u64,
        /// The reason for the wait: usually UTF-8, but the program may give any bytes.
        reason: &'a [u8],
    },
    /// The thread is about to make something.
    Making {
        /// What it makes.
        made: Made,
        /// The number by which that refers to this: [`Trace::forked_by`](crate::Trace::forked_by),
        /// [`Thread::made_by`](crate::Thread::made_by). The process has no other of this number;
        /// 0: which strand makes it is not known.
        number: u32,
        /// The stack pointer of the code that makes it; an older recorder has not told.
        by: Option<Addr>,
    },
    /// The thread makes a stack on which a fiber is to begin: `makecontext`, `make_fcontext`.
    StackMade {
        /// The stack's lowest address.
        low: Addr,
        /// The address behind its highest.
        high: Addr,
        /// The stack pointer of the code that makes it.
        by: Addr,
    },
    /// The thread calls `longjmp`, or an exception goes on in the function that handles it or
    /// destroys its variables: calls on the same stack whose stack pointers are lower than where it
    /// goes are over, with no exit to come.
    Jump {
        /// The stack pointer of the code that it goes to; of an exception, one less, which is odd.
        to: Addr,
        /// Calls that lie lower are on another stack; 0 where that is not known.
        lowest: Addr,
        /// The stack pointer was higher before: it goes to another stack.
        downwards: bool,
    },
    /// Code that allocates the frames of coroutines has got memory, which may be a frame.
    FrameMade {
        /// Where the memory is.
        frame: Addr,
        /// The low half of the stack pointer then.
        sp: u32,
    },
    /// A coroutine's frame is freed.
    FrameFreed {
        /// Where it is.
        frame: Addr,
        /// The function that destroys the coroutine, as the frame names it.
        destroyer: Addr,
    },
    /// What the call was given whose enter comes next on the thread, or gives back whose exit
    /// comes next; the calls of a signal's handler may lie between.
    Values(Values<'a>),
    /// A coroutine is suspended as the program exits.
    FrameLeft {
        /// Its frame.
        frame: CoroutineFrame,
        /// The function that destroys it.
        destroyer: Addr,
    },
    /// An object that may be waited for was met for the first time, by the thread.
    ObjectMet {
        /// Its address.
        address: Addr,
        /// Its number in [`Process::objects`](crate::Process::objects).
        number: u32,
        /// What it is.
        kind: ObjectKind,
        /// The thread initialises it.
        made: bool,
        /// Where the function was called that does, or that meets it.
        site: Addr,
    },
    /// The thread must wait.
    Wait(Wait<'a>),
    /// What it has waited for has come, or will not.
    WaitEnded {
        /// 0, or an error number: a time-out, for one.
        error: i32,
        /// The kernel's number of the thread that had the object before, if there was one.
        from: Option<u32>,
    },
    /// The thread is about to wake those, or one of those, that wait for the object with this
    /// number.
    Wake {
        /// Which object.
        number: u32,
        /// All that wait for a condition are woken; an older recorder did not note that.
        all: bool,
        /// Where the function was called.
        site: Addr,
        /// The stack pointer of the code that called it; an older recorder has not told.
        by: Option<Addr>,
    },
    /// A call of the C library's that asks the kernel for something has returned, and took long
    /// enough to have been blocked: [`SwitchKind::Blocks`](crate::SwitchKind::Blocks).
    LongCall {
        /// When it began.
        since: Nanos,
        /// The function, the file descriptor if there is one, and what that is: `read 3 pipe:[5]`.
        text: &'a [u8],
        /// The thread's stack pointer then; an older recorder has not told.
        by: Option<Addr>,
    },
}

/// What a thread makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Made {
    /// A process, by `fork`.
    Process,
    /// A thread, by `pthread_create`.
    Thread,
}

/// A C++20 coroutine's frame, as it was when the function that resumes or destroys it was entered.
/// Its address is another coroutine's once it was destroyed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CoroutineFrame(NonZeroU64);

impl CoroutineFrame {
    // Programs have no addresses above.
    const ADDRESS: u64 = (1 << 47) - 1;
    const UNTIMED: u64 = 1 << 47;
    const UNKNOWN: u16 = u16::MAX;

    /// From a capture's second word; `None` if it holds no address.
    pub(crate) fn from_word(word: u64) -> Option<Self> {
        NonZeroU64::new(word & !Self::UNTIMED)
            .map(CoroutineFrame)
            .filter(|frame| frame.address() != Addr(0))
    }

    /// The frame at this address, of which nothing else is known; `None` if no frame can be there.
    pub fn at(address: Addr) -> Option<Self> {
        let inside = address.0 != 0 && address.0 <= Self::ADDRESS;
        let word = address.0 | u64::from(Self::UNKNOWN) << 48;
        inside.then(|| Self::from_word(word)).flatten()
    }

    /// The same frame, with this resume index.
    #[must_use]
    pub fn with_resume_index(self, index: Option<u16>) -> Self {
        let index = u64::from(index.unwrap_or(Self::UNKNOWN)) << 48;
        Self::from_word(self.address().0 | index).unwrap_or(self)
    }

    /// The same frame, of an enter for which the clock was not read.
    pub(crate) fn untimed(self) -> Self {
        CoroutineFrame(self.0 | Self::UNTIMED)
    }

    /// Whether its enter did not read the clock, as with `--clock sparse` of an older recorder:
    /// then what other threads did with the same address may have come before, or behind.
    pub fn is_untimed(self) -> bool {
        self.0.get() & Self::UNTIMED != 0
    }

    /// Where it is: what `std::coroutine_handle::address` gives.
    pub fn address(self) -> Addr {
        Addr(self.0.get() & Self::ADDRESS)
    }

    /// GCC's `_Coro_resume_index`, where it was known: 0 at the first activation, else twice the
    /// number of the suspension point that it goes on behind, one more when it is destroyed there.
    pub fn resume_index(self) -> Option<u16> {
        let index = (self.0.get() >> 48) as u16;
        Some(index).filter(|&index| index != Self::UNKNOWN)
    }
}

impl fmt::Debug for CoroutineFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// `frame 0x5581c0de, resume 2`.
impl fmt::Display for CoroutineFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frame {}", self.address())?;
        match self.resume_index() {
            Some(index) => write!(f, ", resume {index}"),
            None => Ok(()),
        }
    }
}

/// The part of the function's address that an exit records: less than the enter does, which comes
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// Its address.
    Known(Addr),
    /// Bits 4–14 of its address.
    Bits(u16),
    /// Nothing: the stack pointer tells.
    Unknown,
}

impl Callee {
    /// Whether this may have been the exit of the function at `function`.
    ///
    /// ```
    /// # use heddle_trace_file::{Addr, Callee};
    /// assert!(Callee::Bits(0x123).may_be(Addr(0x5555_0001_1230)));
    /// assert!(!Callee::Bits(0x123).may_be(Addr(0x5555_0001_2230)));
    /// ```
    #[inline]
    pub fn may_be(self, function: Addr) -> bool {
        match self {
            Callee::Bits(bits) => function.0 >> 4 & 0x7ff == u64::from(bits),
            Callee::Known(known) => known == function,
            Callee::Unknown => true,
        }
    }
}

/// Why events are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// Recording was paused.
    Paused,
    /// There was no space or no memory.
    Dropped,
}
