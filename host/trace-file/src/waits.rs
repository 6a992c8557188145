//! What `heddle record --sync` says of waits.

use crate::Addr;
use zerocopy::little_endian::U64;

/// An object's initialisation was seen.
pub const MADE: u32 = 1 << 8;
/// The place of an object's number in the upper half of a first word.
pub const NUMBER_SHIFT: u32 = 9;
/// A wake-up is for all that wait for a condition.
pub const ALL: u32 = 1 << 8;
const TIMED: u32 = 1 << 8;
const WRITES: u32 = 1 << 9;
const SHARED: u32 = 1 << 10;
/// The holder has let go of the object since.
const RELEASED: u32 = 1 << 31;
/// The least words of a record of a wait.
pub const WAIT_WORDS: usize = 8;
/// The place of what a later recorder adds.
const BESIDE: usize = 8;
const STACK_POINTER: usize = 9;

/// What an object is that may be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectKind {
    /// `pthread_mutex_t`, `mtx_t`, `std::mutex` and its like.
    Mutex,
    /// `pthread_rwlock_t`, `std::shared_mutex`.
    RwLock,
    /// `pthread_cond_t`, `cnd_t`, `std::condition_variable`.
    Condition,
    /// `sem_t`.
    Semaphore,
    /// `pthread_barrier_t`.
    Barrier,
    /// `pthread_spinlock_t`.
    SpinLock,
    /// `pthread_once_t`, `once_flag`, `std::once_flag`.
    Once,
    /// A thread, whose end is waited for.
    Thread,
    /// A word that is waited for by `syscall(SYS_futex, …)`: `std::atomic::wait` and what is built
    /// on it.
    Futex,
}

impl ObjectKind {
    const ALL: [ObjectKind; 9] = [
        ObjectKind::Mutex,
        ObjectKind::RwLock,
        ObjectKind::Condition,
        ObjectKind::Semaphore,
        ObjectKind::Barrier,
        ObjectKind::SpinLock,
        ObjectKind::Once,
        ObjectKind::Thread,
        ObjectKind::Futex,
    ];

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        let index = usize::from(number).checked_sub(1)?;
        Self::ALL.get(index).copied()
    }

    /// One thread has it, or several readers, until they let go.
    pub fn is_held(self) -> bool {
        matches!(
            self,
            ObjectKind::Mutex | ObjectKind::RwLock | ObjectKind::SpinLock
        )
    }

    /// Bytes of such an object, as the C libraries of x86-64 Linux have it; a thread is none.
    pub fn bytes(self) -> u64 {
        match self {
            ObjectKind::Mutex => 40,
            ObjectKind::RwLock => 56,
            ObjectKind::Condition => 48,
            ObjectKind::Semaphore | ObjectKind::Barrier => 32,
            ObjectKind::SpinLock | ObjectKind::Once | ObjectKind::Futex => 4,
            ObjectKind::Thread => 0,
        }
    }

    /// For people: `mutex`.
    pub fn name(self) -> &'static str {
        match self {
            ObjectKind::Mutex => "mutex",
            ObjectKind::RwLock => "rwlock",
            ObjectKind::Condition => "condition",
            ObjectKind::Semaphore => "semaphore",
            ObjectKind::Barrier => "barrier",
            ObjectKind::SpinLock => "spin lock",
            ObjectKind::Once => "once",
            ObjectKind::Thread => "thread",
            ObjectKind::Futex => "futex",
        }
    }
}

/// What glibc puts in the place of a robust mutex's owner that has died: the state is inconsistent,
/// or nobody can have it any more. An older recorder took these for threads.
const NO_THREADS: [u32; 2] = [i32::MAX as u32, i32::MAX as u32 - 1];

/// The number of a thread, 0 of none, without what else is in the word.
pub fn thread(word: u64) -> Option<u32> {
    let thread = word as u32 & !RELEASED;
    Some(thread).filter(|thread| *thread != 0 && !NO_THREADS.contains(thread))
}

/// The low and the high half of a word.
pub fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// An operation that must wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait<'a> {
    /// What it waits for.
    pub kind: ObjectKind,
    /// It ends at a time, if not before.
    pub timed: bool,
    /// It is to write what a rwlock guards.
    pub writes: bool,
    /// Threads of other processes may have the object: also if it is a spin lock, of which libc
    /// does not tell, and if an older recorder did not note it.
    pub shared: bool,
    words: &'a [U64],
}

impl<'a> Wait<'a> {
    /// From the upper half of its first word, and its words.
    pub(crate) fn of(high: u32, words: &'a [U64]) -> Option<Self> {
        let kind = ObjectKind::from_number(high as u8)?;
        let untold = kind == ObjectKind::SpinLock || words.len() <= BESIDE;
        Some(Wait {
            kind,
            timed: high & TIMED != 0,
            writes: high & WRITES != 0,
            shared: untold || high & SHARED != 0,
            words: Some(words).filter(|words| words.len() >= WAIT_WORDS)?,
        })
    }

    /// The object's address.
    pub fn address(self) -> Addr {
        Addr(self.words[2].get())
    }

    /// Where the function was called that waits.
    pub fn site(self) -> Addr {
        Addr(self.words[3].get())
    }

    /// The stack pointer of the code that waits; an older recorder has not told.
    pub fn by(self) -> Option<Addr> {
        self.words.get(STACK_POINTER).map(|by| Addr(by.get()))
    }

    /// The object's number in [`Process::objects`](crate::Process::objects); `None` if there was no
    /// room for it.
    pub fn number(self) -> Option<u32> {
        Some(self.words[7].get() as u32).filter(|&number| number != 0)
    }

    fn beside(self) -> (u32, u32) {
        halves(self.words.get(BESIDE).map_or(0, |word| word.get()))
    }

    /// The kernel's number of the thread that had the object when the wait began, as libc has it,
    /// or the kernel, of a futex that is a lock. `None`: nobody, several readers, libc does not
    /// tell, or an older recorder did not note it.
    pub fn owner(self) -> Option<u32> {
        let is_told = self.kind.is_held() || self.kind == ObjectKind::Futex;
        thread(self.beside().0.into()).filter(|_| is_told)
    }

    /// The number of a condition's mutex, which the thread must take again before its wait ends;
    /// `None`: it has none, or an older recorder did not note it.
    pub fn mutex(self) -> Option<u32> {
        let number = self.beside().0;
        (self.kind == ObjectKind::Condition && number != 0).then_some(number)
    }

    /// Whether it is for something that threads have, and not for a wake-up.
    pub fn is_for_lock(self) -> bool {
        self.kind.is_held() || self.owner().is_some()
    }

    /// The readers that had a rwlock when the wait began; 0: none, or that is not known.
    pub fn readers(self) -> u32 {
        match self.kind {
            ObjectKind::RwLock => self.beside().1,
            _ => 0,
        }
    }

    /// The thread that has the object, or had it last. Libc knows also of threads that the recorder
    /// has not seen taking it.
    pub fn holder(self) -> Option<Holder> {
        let counted = self.counted_holder();
        let of_libc = self.owner().map(Holder::of_thread);
        match (counted, of_libc) {
            (Some(counted), Some(of_libc)) if counted.tid == of_libc.tid => Some(counted),
            // Of several readers, the latest.
            (Some(reader), _) if self.readers() > 0 && !reader.released => Some(reader),
            _ => of_libc.or(counted),
        }
    }

    /// The thread that has the object, or had it last, as [`Object::holder`](crate::Object::holder)
    /// was when the wait began.
    pub fn counted_holder(self) -> Option<Holder> {
        let fifth = (self.words[7].get() >> 32) as u32;
        Holder::of(
            self.words[4].get(),
            self.words[5].get(),
            self.words[6].get(),
            fifth,
        )
    }
}

/// A wait that is kept when its record is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptWait {
    kind: ObjectKind,
    timed: bool,
    writes: bool,
    shared: bool,
    words: Box<[U64]>,
}

impl From<Wait<'_>> for KeptWait {
    fn from(wait: Wait<'_>) -> Self {
        KeptWait {
            kind: wait.kind,
            timed: wait.timed,
            writes: wait.writes,
            shared: wait.shared,
            words: wait.words.into(),
        }
    }
}

impl KeptWait {
    /// The same wait.
    pub fn wait(&self) -> Wait<'_> {
        Wait {
            kind: self.kind,
            timed: self.timed,
            writes: self.writes,
            shared: self.shared,
            words: &self.words,
        }
    }
}

/// The thread that has an object, or had it last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Holder {
    /// The kernel's number of it.
    pub tid: u32,
    /// It has let go.
    pub released: bool,
    /// The low halves of return addresses, innermost first: where it took the object, and, as far
    /// as the code keeps frame pointers, where its callers were called. 0 = not known. One behind a
    /// caller that keeps none means nothing: [`Modules::complete`](crate::Modules::complete).
    pub sites: [u32; 6],
}

impl Holder {
    /// A thread of which it is not known where it took the object.
    pub fn of_thread(tid: u32) -> Self {
        Holder {
            tid,
            released: false,
            sites: [0; 6],
        }
    }

    pub(crate) fn of(holder: u64, first: u64, second: u64, fifth: u32) -> Option<Self> {
        let tid = thread(holder)?;
        let (one, two) = halves(first);
        let (three, four) = halves(second);
        Some(Holder {
            tid,
            released: holder as u32 & RELEASED != 0,
            sites: [halves(holder).1, one, two, three, four, fifth],
        })
    }
}
