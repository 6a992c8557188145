//! The bytes of version 1: headers and records, as `docs/trace-format.md` lays them out.

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

pub const HEADER_SIZE: usize = 4096;
pub const RECORD_SIZE: usize = 32;
pub const PROCESS_MAGIC: [u8; 8] = *b"HEDLPROC";
pub const THREAD_MAGIC: [u8; 8] = *b"HEDLTHRD";
/// Bit 63 of a record's first word: an exit.
pub const EXIT_BIT: u64 = 1 << 63;
/// Bit 63 of a record's function: the address lies within it, at a hook of [`Way::Entry`](crate::Way::Entry).
pub const WITHIN_BIT: u64 = 1 << 63;
/// Bit 0 of the flags of a process or a thread: the recorder saw its end.
pub const ENDED: u32 = 1;

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct StampBytes {
    pub ticks: U64,
    pub realtime: U64,
    pub monotonic_raw: U64,
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
    pub reserved: U32,
    pub dropped: U64,
    pub unused: [u8; 112],
    pub host: [u8; 256],
    pub executable: [u8; 1024],
    pub command: [u8; 2560],
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct ThreadHeader {
    pub magic: [u8; 8],
    pub version: U32,
    pub record_size: U32,
    pub tid: U32,
    pub flags: U32,
    pub reserved_records: U64,
    pub dropped: U64,
    pub stack_low: U64,
    pub stack_high: U64,
    pub first_ticks: U64,
    pub room: U64,
    pub unused: [u8; 56],
    pub name: [u8; 64],
    pub rest: [u8; 3904],
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Record {
    pub word: U64,
    pub function: U64,
    pub caller: U64,
    pub sp: U64,
}

const _: () = assert!(size_of::<ProcessHeader>() == HEADER_SIZE);
const _: () = assert!(std::mem::offset_of!(ProcessHeader, boot_id) == 112);
const _: () = assert!(std::mem::offset_of!(ProcessHeader, host) == 256);
const _: () = assert!(size_of::<ThreadHeader>() == HEADER_SIZE);
const _: () = assert!(std::mem::offset_of!(ThreadHeader, name) == 128);
const _: () = assert!(size_of::<Record>() == RECORD_SIZE);

/// The text before the first zero; bytes that are not UTF-8 are replaced.
pub fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
