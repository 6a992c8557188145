//! The parts of a packed trace.

use crate::Error;
use crate::layout::BLOCK_HEADER;
use std::io::Write;
use std::path::Path;
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// A packed trace has its blocks' places at multiples of this in files of events.
pub const PLACE_UNIT: u64 = 64 << 10;

/// The types of pieces.
pub mod kind {
    /// A whole file.
    pub const FILE: u16 = 1;
    /// A block of a file of events: at `offset` of it, with its records coded.
    pub const BLOCK: u16 = 2;
    /// The symbols of a module.
    pub const SYMBOLS: u16 = 3;
    /// The end; `offset` is the number of pieces before it, `number` the [`Sum`](super::Sum).
    pub const END: u16 = 4;
    /// A [`BLOCK`] whose content is its words as they are: they are no records that could be coded.
    pub const RAW_BLOCK: u16 = 5;
}

/// The header of a piece; its name and then its packed bytes follow.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct PieceHeader {
    pub kind: U16,
    pub name_bytes: U16,
    pub packed_bytes: U32,
    /// Bytes of the content before it was compressed.
    pub bytes: U32,
    /// Words of a block's records.
    pub words: U32,
    pub offset: U64,
    /// The number of a block.
    pub number: U64,
}

/// The checksum of all that the compressor's own does not cover: headers and names, in their order.
#[derive(Debug, Default)]
pub struct Sum(crc32fast::Hasher);

impl Sum {
    /// Adds a piece. The last one's is added before its header holds the sum.
    pub fn add(&mut self, header: &PieceHeader, name: &str) {
        self.0.update(header.as_bytes());
        self.0.update(name.as_bytes());
    }

    /// Never 0, which says in files of an older version that there is none.
    pub fn value(self) -> u64 {
        1 << 32 | u64::from(self.0.finalize())
    }
}

pub const HEADER_BYTES: usize = size_of::<PieceHeader>();

/// The most bytes of content that a piece may have.
pub const MOST_BYTES: u32 = 64 << 20;

/// The most words of a block. A recorder's has fewer, 1 MiB; other writers' may be longer, and in a
/// damaged file one may seem to be. Its code is at most half as long again.
pub const MOST_WORDS: usize = 4 << 20;

/// A piece in a packed file.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    pub header: PieceHeader,
    pub name: &'a str,
    packed: &'a [u8],
    /// Where in the file it begins.
    pub at: usize,
}

impl<'a> Piece<'a> {
    /// The one that begins at an offset of a packed file's bytes, and where the next one does.
    pub fn read(path: &Path, bytes: &'a [u8], at: usize) -> Result<(Self, usize), Error> {
        let cut = || {
            Error::damaged(
                path,
                bytes.len() as u64,
                "the file ends inside a piece: it was cut short",
            )
        };
        let wrong = |what: String| Error::damaged(path, at as u64, what);
        let rest = bytes.get(at..).unwrap_or_default();
        let (header, rest) = PieceHeader::read_from_prefix(rest).map_err(|_| cut())?;
        let kind = header.kind.get();
        if !(kind::FILE..=kind::RAW_BLOCK).contains(&kind) {
            return Err(wrong(format!("a piece of type {kind}; known are 1 to 5")));
        }
        let (name, rest) = rest
            .split_at_checked(header.name_bytes.get().into())
            .ok_or_else(cut)?;
        let name =
            std::str::from_utf8(name).map_err(|_| wrong("a name that is not UTF-8".into()))?;
        let (packed, _) = rest
            .split_at_checked(header.packed_bytes.get() as usize)
            .ok_or_else(cut)?;
        let next = at + HEADER_BYTES + name.len() + packed.len();
        Ok((
            Piece {
                header,
                name,
                packed,
                at,
            },
            next,
        ))
    }

    /// Bytes that its content takes on disk or in memory, as its header states them.
    pub fn unpacked_bytes(&self) -> u64 {
        match self.header.kind.get() {
            kind::BLOCK | kind::RAW_BLOCK => {
                let used = BLOCK_HEADER as u64 + u64::from(self.header.words.get()) * 8;
                used.next_multiple_of(PLACE_UNIT)
            }
            _ => self.header.bytes.get().into(),
        }
    }

    /// The content, unpacked. The compressor's checksum is verified.
    pub fn content(&self, path: &Path) -> Result<Vec<u8>, Error> {
        let bytes = self.header.bytes.get();
        let wrong = |what: String| Error::damaged(path, self.at as u64, what);
        if bytes > MOST_BYTES {
            return Err(wrong(format!(
                "a piece of {bytes} bytes; the most is {MOST_BYTES}"
            )));
        }
        let content = zstd::bulk::decompress(self.packed, bytes as usize)
            .map_err(|error| wrong(format!("cannot decompress a piece: {error}")))?;
        if content.len() != bytes as usize {
            return Err(wrong(format!(
                "a piece of {} bytes, not {bytes}",
                content.len()
            )));
        }
        Ok(content)
    }
}

/// Writes pieces, and counts them.
pub struct PieceWriter<W> {
    to: W,
    compressor: zstd::bulk::Compressor<'static>,
    pieces: u64,
    sum: Sum,
    /// Bytes written.
    pub written: u64,
}

/// On 37 million events of Lua, levels 1 and 3 take 0.12 bytes an event, level 9 0.08, at a fifth
/// of level 3's speed.
const LEVEL: i32 = 3;

impl<W: Write> PieceWriter<W> {
    /// Begins a packed file.
    pub fn new(mut to: W) -> std::io::Result<Self> {
        to.write_all(&super::MAGIC)?;
        to.write_all(&super::VERSION.to_le_bytes())?;
        let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
        compressor.include_checksum(true)?;
        Ok(PieceWriter {
            to,
            compressor,
            pieces: 0,
            sum: Sum::default(),
            written: 12,
        })
    }

    /// Compresses `content` and appends it.
    pub fn add(
        &mut self,
        mut header: PieceHeader,
        name: &str,
        content: &[u8],
    ) -> std::io::Result<()> {
        let packed = self.compressor.compress(content)?;
        let too_long = || std::io::Error::other("a piece of more than 64 MB");
        header.name_bytes = u16::try_from(name.len()).map_err(|_| too_long())?.into();
        header.packed_bytes = u32::try_from(packed.len()).map_err(|_| too_long())?.into();
        header.bytes = u32::try_from(content.len()).map_err(|_| too_long())?.into();
        if header.bytes.get() > MOST_BYTES {
            return Err(too_long());
        }
        self.sum.add(&header, name);
        if header.kind.get() == kind::END {
            header.number = std::mem::take(&mut self.sum).value().into();
        }
        self.to.write_all(header.as_bytes())?;
        self.to.write_all(name.as_bytes())?;
        self.to.write_all(&packed)?;
        self.pieces += 1;
        self.written += (HEADER_BYTES + name.len() + packed.len()) as u64;
        Ok(())
    }

    /// Ends the file.
    pub fn finish(mut self) -> std::io::Result<u64> {
        let pieces = self.pieces;
        self.add(header(kind::END, pieces), "", &[])?;
        self.to.flush()?;
        Ok(self.written)
    }
}

/// A header with these, and zeros.
pub fn header(kind: u16, offset: u64) -> PieceHeader {
    PieceHeader {
        kind: kind.into(),
        name_bytes: 0.into(),
        packed_bytes: 0.into(),
        bytes: 0.into(),
        words: 0.into(),
        offset: offset.into(),
        number: 0.into(),
    }
}
