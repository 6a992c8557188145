//! The numbers that tracks, flows and interned texts have in a file.

use heddle_perfetto::Interned;
use heddle_strands::{Kind, StrandId};

/// Tracks that are no strand's have the highest numbers: strands' are below 2⁶³.
const OTHERS: u64 = 1 << 63;

/// A process's track.
pub fn process(index: usize) -> u64 {
    OTHERS + 4 * index as u64
}

/// The track below which a process's fibers or coroutines are; threads are below the process
/// itself.
pub fn group(process_index: usize, kind: Kind) -> u64 {
    let offset = match kind {
        Kind::Thread => 0,
        Kind::Fiber => 1,
        Kind::Coroutine => 2,
    };
    process(process_index) + offset
}

/// A strand's tracks: the first has its own number, and further ones are for calls at once with
/// those of the first. There are fewer strands than 2³² in a process.
pub fn lane(strand: StrandId, lane: u64) -> u64 {
    strand.unique() + (lane << 32)
}

/// Tracks that a strand may have.
const LANES: u64 = 64;

/// The first of a strand's tracks that is free.
pub fn free_lane(taken: impl Iterator<Item = u64>) -> u64 {
    // There is hardly ever another one.
    let taken = taken.fold(0u64, |taken, lane| taken | 1 << lane);
    u64::from(taken.trailing_ones()).min(LANES - 1)
}

/// Which of a strand's tracks has this number.
pub fn lane_of(track: u64) -> u64 {
    (track & StrandId::NUMBER) >> 32
}

/// The flow from who made a strand to it. Even numbers.
pub fn birth(strand: StrandId) -> u64 {
    strand.unique() << 1
}

/// The flow from who resumed a strand to it, of which the process has had `before`. Odd numbers.
pub fn resumption(process: usize, before: u64) -> u64 {
    (((process as u64) << 40) + before) << 1 | 1
}

/// Names that are no function's.
pub const SUSPENDED: u64 = 1;
pub const RESUMED: u64 = 2;

/// Name and location of the function with this id.
pub fn function(id: u32) -> u64 {
    16 + u64::from(id)
}

/// Categories.
pub const CALL: Option<u64> = Some(1);
pub const STRAND: Option<u64> = Some(2);
pub const MARK: Option<u64> = Some(3);
pub const GAP: Option<u64> = Some(4);
pub const UNMATCHED: Option<u64> = Some(5);
pub const PROCESSOR: Option<u64> = Some(6);

/// Annotations.
pub const FRAME: u64 = 1;
pub const RESUME_INDEX: u64 = 2;
pub const THREAD: u64 = 3;

/// What they all stand for, but for the functions.
pub const INTERNED: [Interned<'static>; 11] = [
    Interned::Name(SUSPENDED, "suspended"),
    Interned::Name(RESUMED, "resumed"),
    Interned::Category(1, "call"),
    Interned::Category(2, "strand"),
    Interned::Category(3, "mark"),
    Interned::Category(4, "gap"),
    Interned::Category(5, "exit without enter"),
    Interned::Category(6, "processor"),
    Interned::Annotation(FRAME, "frame"),
    Interned::Annotation(RESUME_INDEX, "resume index"),
    Interned::Annotation(THREAD, "thread"),
];

/// The index of the function with this name's number.
pub fn function_of(number: u64) -> Option<usize> {
    Some(number.checked_sub(function(0))? as usize)
}

/// The text of a name that is no function's.
pub fn name(number: u64) -> &'static str {
    interned(|one| match *one {
        Interned::Name(known, text) if known == number => Some(text),
        _ => None,
    })
}

/// The text of a category.
pub fn category(number: u64) -> &'static str {
    interned(|one| match *one {
        Interned::Category(known, text) if known == number => Some(text),
        _ => None,
    })
}

/// The text of an annotation's name.
pub fn annotation(number: u64) -> &'static str {
    interned(|one| match *one {
        Interned::Annotation(known, text) if known == number => Some(text),
        _ => None,
    })
}

fn interned(text: impl FnMut(&Interned<'static>) -> Option<&'static str>) -> &'static str {
    INTERNED.iter().find_map(text).unwrap_or("?")
}

/// Whether a flow leads from a strand's maker to it, not from who resumed it.
pub fn is_birth(flow: u64) -> bool {
    flow & 1 == 0
}
