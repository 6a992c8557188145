//! The bytes of version 4: headers and records, as `docs/trace-format.md` lays them out.

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

pub const HEADER_SIZE: usize = 4096;
pub const PROCESS_MAGIC: [u8; 8] = *b"HEDLPROC";
pub const BUFFER_MAGIC: [u8; 8] = *b"HEDLBUFR";
pub const CONTROL_MAGIC: [u8; 8] = *b"HEDLCTRL";
pub const BLOCK_MAGIC: [u8; 8] = *b"HEDLBLCK";
pub const OBJECTS_MAGIC: [u8; 8] = *b"HEDLOBJS";
pub const ALLOCATION_MAGIC: [u8; 8] = *b"HEDLALLC";
pub const SWITCHES_MAGIC: [u8; 8] = *b"HEDLSWCH";
/// Bit 0 of the flags of a process or a run: the recorder saw its end.
pub const ENDED: u32 = 1;
/// Another program was put in a process's place.
pub const REPLACED: u32 = 2;
/// What was asked for beside calls: waits. Bit 0: the other bits, and what follows them, say so.
pub const ASKED_WAITS: u32 = 2;
/// Calls of malloc and its like, counted.
pub const ASKED_ALLOCATION: u32 = 4;
/// When threads are off their processors.
pub const ASKED_SWITCHES: u32 = 8;
/// A snapshot's: files of objects and of allocation are not in it.
pub const TABLES_LEFT_OUT: u32 = 16;
/// What a plan that left functions out was to tell: which ones patterns mean.
pub const WANTED_PATTERNS: u32 = 1;
/// Where arguments and results are.
pub const WANTED_VALUES: u32 = 2;
/// The bits of a run's flags from this one up: the number of the making by which its thread was
/// created.
pub const MADE_BY_SHIFT: u32 = 1;

/// Blocks begin at multiples of this in `events`, and take up multiples of it.
pub const BLOCK_UNIT: u64 = 4 << 10;
/// Bytes from one slot of a buffer to the next.
pub const SLOT_SIZE: u64 = 1 << 20;
/// Slots that a buffer may have.
pub const MOST_SLOTS: u32 = 128;
pub const BLOCK_HEADER: usize = 64;
pub const RUN_SIZE: usize = 128;

/// Bit 3 of a record's first word: an enter or an exit in its short form.
pub const SHORT: u64 = 8;
/// A short record with this bit is an exit, one without it an enter.
pub const SHORT_EXIT: u64 = 1;
/// The second way in made the short record.
pub const SHORT_ENTRY: u64 = 2;
/// The clock was not read for the short record.
pub const SHORT_UNTIMED: u64 = 4;
/// The place of a short record's stack pointer, which is in units of 8 bytes above the base.
pub const SP_SHIFT: u32 = 4;
pub const SP_BITS: u32 = 22;
/// The place of bits 4–14 of the function's address in a short exit.
pub const FUNCTION_SHIFT: u32 = 26;
pub const FUNCTION_BITS: u32 = 11;
/// With `--clock sparse`: the thread was preempted (off its processor, or interrupted) since its
/// previous record. The clock was read then.
pub const SHORT_PREEMPTED: u64 = 1 << 37;
/// The place of the low 26 bits of the ticks in a short record.
pub const TICKS_SHIFT: u32 = 38;
pub const TICKS_BITS: u32 = 26;

/// The types of the other records.
pub mod kind {
    pub const RUN: u64 = 1;
    pub const BASE: u64 = 2;
    pub const WIDE_ENTER: u64 = 3;
    pub const WIDE_EXIT: u64 = 4;
    pub const GAP: u64 = 5;
    pub const MARK: u64 = 6;
    pub const STRAND: u64 = 7;
    pub const STRAND_NAME: u64 = 8;
    pub const STRAND_WAITS: u64 = 9;
    pub const CAPTURE: u64 = 10;
    pub const MAKING: u64 = 11;
    pub const FRAME_MADE: u64 = 12;
    pub const FRAME_FREED: u64 = 13;
    pub const FRAME_LEFT: u64 = 14;
    pub const STACK_MADE: u64 = 15;
    pub const STRAND_MADE: u64 = 16;
    pub const TIME: u64 = 17;
    pub const JUMP: u64 = 18;
    pub const ARGUMENTS: u64 = 20;
    pub const RESULT: u64 = 21;
    pub const OBJECT_MET: u64 = 24;
    pub const WAIT: u64 = 25;
    pub const WAIT_ENDED: u64 = 26;
    pub const WAKE: u64 = 27;
    pub const LONG_CALL: u64 = 28;
}

/// The direction of a record of type jump.
pub mod jump {
    pub const DOWNWARDS: u32 = 1;
    /// From bit 1 up, how far an exception goes, in units of so many bytes.
    pub const UNIT: u64 = 16;
}

/// What a thread makes, by its record of type making.
pub mod making {
    pub const PROCESS: u32 = 1;
    pub const THREAD: u32 = 2;
}

/// Number of missing events of a gap that was not counted.
pub const NOT_COUNTED: u64 = u64::MAX;

/// The states of a slot.
pub mod slot {
    pub const FREE: u32 = 0;
    pub const FILLING: u32 = 1;
    pub const FULL: u32 = 2;
    pub const COPIED_BY_THREAD: u32 = 3;
    pub const COPIED_BY_US: u32 = 4;
}

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct StampBytes {
    pub ticks: U64,
    pub realtime: U64,
    pub monotonic_raw: U64,
}

/// The fork that made a process; all zeros if there was none, or it is not known.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct ForkBytes {
    /// Ticks of the first stamp of the parent's image.
    pub image: U64,
    pub pid: U32,
    /// The number of the parent's thread that forked.
    pub thread: U32,
    /// The number of that thread's record of type making.
    pub making: U32,
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct ProcessHeader {
    pub magic: [u8; 8],
    pub version: U32,
    pub flags: U32,
    pub pid: U32,
    pub parent: U32,
    pub clock: U32,
    /// Taken after the first, modulo 2³²; the latest is in slot (number − 1) mod 2.
    pub stamps: U32,
    pub ticks_per_second: U64,
    pub first: StampBytes,
    pub latest: [StampBytes; 2],
    pub boot_id: [u8; 16],
    pub threads: U32,
    pub buffers: U32,
    pub dropped: U64,
    pub unused: U64,
    /// Flight recorder: bytes that the process may keep; 0 = everything is kept.
    pub flight: U64,
    /// Bytes of records for which one reading of the clock serves; 0 = every event reads it.
    pub sparse: U32,
    /// Why events were dropped first, an error number; 0 = none was.
    pub trouble: U32,
    pub fork: ForkBytes,
    pub unused_too: U32,
    /// Blocks that were begun, and the number of the next one; 0 = not known.
    pub blocks: U64,
    /// Threads that are in the recorder's slow path, or were killed there.
    pub at_work: U32,
    /// Bytes of whole lines that `modules` has got; 0 = not known.
    pub module_bytes: U32,
    /// What was asked for beside calls: [`ASKED_KNOWN`] …
    pub asked: U32,
    /// Files of objects, and of allocation, that were made.
    pub object_files: U32,
    pub allocation_files: U32,
    /// Why one more of these could not be made first, an error number; 0 = none was refused.
    pub table_trouble: U32,
    /// Operations on objects, and calls of malloc and its like, for which there was no table.
    pub uncounted_operations: U64,
    pub uncounted_allocations: U64,
    /// Why a plan first left functions out, an error number; 0 = none did.
    pub unplanned: U32,
    /// What that plan was to tell: [`WANTED_PATTERNS`] …
    pub wanted_of_plan: U32,
    /// Why a flight recorder first got less room than it may take, an error number; 0 = it did not.
    pub flight_trouble: U32,
    pub unused_three: U32,
    pub host: [u8; 256],
    pub executable: [u8; 1024],
    pub command: [u8; 2560],
}

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Slot {
    pub state: U32,
    pub used: U32,
    pub number: U64,
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct BufferHeader {
    pub magic: [u8; 8],
    pub version: U32,
    pub slots: U32,
    pub address: U64,
    pub dropped: U64,
    /// Number of the thread whose run is the last in this buffer.
    pub thread: U32,
    pub unused: [u8; 28],
    pub position: U64,
    pub unused_too: [u8; 1976],
    pub table: [Slot; MOST_SLOTS as usize],
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct ControlHeader {
    pub magic: [u8; 8],
    pub version: U32,
    /// A futex: 1 = a block has become full since it was last looked at.
    pub bell: U32,
    /// A futex: how many times a process has asked for a plan.
    pub requests: U32,
    /// A futex: how many plans there were; all bits set = there will be none.
    pub answers: U32,
    /// Events of processes that cannot even make their directory.
    pub lost: U64,
    /// Why not, an error number; 0 = there is no such process.
    pub trouble: U32,
    /// 1 = the collector could not copy a block when it tried last.
    pub stuck: U32,
    /// Operations on objects, and calls of malloc and its like, of such processes.
    pub uncounted_operations: U64,
    pub uncounted_allocations: U64,
    /// Programs whose processes may not open this file any more, and why the first may not, an
    /// error number.
    pub barred: U32,
    pub barred_reason: U32,
    /// The inode of the trace's directory.
    pub inode: U64,
    /// 1 = the recording has ended.
    pub ended: U32,
    /// Why there will be no more plans, an error number; 0 = not said.
    pub refusal: U32,
    pub unused_too: [u8; 4016],
}

#[derive(Clone, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct BlockHeader {
    pub magic: [u8; 8],
    pub room: U32,
    pub used: U32,
    pub number: U64,
    pub unused: [u8; 40],
}

/// The beginning of a file of objects that are waited for.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct ObjectsHeader {
    pub magic: [u8; 8],
    pub version: U32,
    /// Objects that the file has room for.
    pub room: U32,
    /// Those of the files before it.
    pub before: U32,
    /// Bit 0: rwlocks have the number of their readers.
    pub flags: U32,
    /// Operations on objects that had no room; in the first file.
    pub uncounted: U64,
    pub unused_too: [u8; 4064],
}

/// An object that is waited for.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct ObjectBytes {
    /// Its address; with bit 0, another object has had that since.
    pub key: U64,
    /// Its kind, whether its initialisation was seen, the low half of a site.
    pub about: U64,
    pub taken: U64,
    pub blocked: U64,
    pub holder: U64,
    pub given: U64,
    pub unmet: U64,
    pub fifth: U32,
    pub waiting: U32,
}

/// The beginning of a file of calls of malloc and its like.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct AllocationHeader {
    pub magic: [u8; 8],
    pub version: U32,
    /// Entries that the file has room for.
    pub room: U32,
    /// Those that were begun.
    pub used: U32,
    /// In the first file.
    pub flags: U32,
    /// Ticks that one reading of the clock takes.
    pub clock_cost: U64,
    /// Calls that had no room; in the first file.
    pub uncounted: U64,
    /// Ticks that counting and timing a call takes beside it.
    pub call_cost: U64,
    pub unused: [u8; 4048],
}

/// Calls of a thread.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct AllocationBytes {
    /// Ticks; 0: nothing is here.
    pub first: U64,
    pub last: U64,
    pub took: U64,
    pub allocated: U64,
    pub freed: U64,
    pub bytes: U64,
    pub tid: U32,
    pub kind: U32,
    pub reserved: U64,
}

/// The beginning of the file of switches.
#[derive(Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct SwitchesHeader {
    pub magic: [u8; 8],
    pub version: U32,
    /// Why the kernel tells of no switch, an error number; 0 = it does.
    pub error: U32,
    /// `kernel.perf_event_paranoid` then, and 1000; 0 = not known.
    pub paranoid: U32,
    /// That the program might use when it began; 0 = not known.
    pub processors: U32,
    /// CLOCK_MONOTONIC_RAW, ns: switches are told from then on.
    pub begin: U64,
    /// Likewise: all up to then are there; 0 = not known.
    pub until: U64,
    /// How many records there are; 0 = not known.
    pub records: U64,
    /// Why the latest could not be written, an error number; 0 = they were, or it is not known.
    pub trouble: U32,
    pub unused_too: [u8; 4044],
}

/// A thread leaves its processor, or comes back.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct SwitchBytes {
    /// CLOCK_MONOTONIC_RAW, ns.
    pub time: U64,
    pub pid: U32,
    pub tid: U32,
    pub cpu: U32,
    pub what: U32,
}

/// The record that every run begins with.
#[derive(Clone, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RunRecord {
    pub head: U32,
    /// Bytes of the run, this record included; 0 = to the end of the block.
    pub bytes: U32,
    pub thread: U32,
    pub run: U32,
    pub base_ticks: U64,
    pub base_sp: U64,
    pub tid: U32,
    pub flags: U32,
    pub stack_low: U64,
    pub stack_high: U64,
    pub first_ticks: U64,
    pub name: [u8; 64],
}

/// Bits 0–31 of the first word of a record that is not short.
pub const fn head(kind: u64, words: u64) -> u64 {
    kind << 4 | words << 16
}

const _: () = assert!(size_of::<ProcessHeader>() == HEADER_SIZE);
const _: () = assert!(std::mem::offset_of!(ProcessHeader, boot_id) == 112);
const _: () = assert!(std::mem::offset_of!(ProcessHeader, sparse) == 160);
const _: () = assert!(std::mem::offset_of!(ProcessHeader, fork) == 168);
const _: () = assert!(std::mem::offset_of!(ProcessHeader, trouble) == 164);
const _: () = assert!(std::mem::offset_of!(ProcessHeader, asked) == 208);
const _: () = assert!(std::mem::offset_of!(ProcessHeader, uncounted_operations) == 224);
const _: () = assert!(std::mem::offset_of!(ProcessHeader, unplanned) == 240);
const _: () = assert!(std::mem::offset_of!(ProcessHeader, host) == 256);
const _: () = assert!(size_of::<BufferHeader>() == HEADER_SIZE);
const _: () = assert!(std::mem::offset_of!(BufferHeader, thread) == 32);
const _: () = assert!(std::mem::offset_of!(BufferHeader, position) == 64);
const _: () = assert!(std::mem::offset_of!(BufferHeader, table) == 2048);
const _: () = assert!(size_of::<ControlHeader>() == HEADER_SIZE);
const _: () = assert!(std::mem::offset_of!(ControlHeader, lost) == 24);
const _: () = assert!(std::mem::offset_of!(ControlHeader, uncounted_operations) == 40);
const _: () = assert!(size_of::<ObjectsHeader>() == HEADER_SIZE);
const _: () = assert!(size_of::<ObjectBytes>() == 64);
const _: () = assert!(size_of::<AllocationHeader>() == HEADER_SIZE);
const _: () = assert!(size_of::<AllocationBytes>() == 64);
const _: () = assert!(size_of::<SwitchesHeader>() == HEADER_SIZE);
const _: () = assert!(size_of::<SwitchBytes>() == 24);
const _: () = assert!(size_of::<BlockHeader>() == BLOCK_HEADER);
const _: () = assert!(size_of::<RunRecord>() == RUN_SIZE);

/// The text before the first zero; bytes that are not UTF-8 are replaced.
pub fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
