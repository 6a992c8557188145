//! A whole trace in one file: `docs/trace-format.md`, "A packed trace".
//!
//! A sequence of pieces, each a file of the trace directory or a block of its events, compressed on
//! its own; the last one counts the others. To be read, the file is unpacked into a directory that
//! is removed at once, while what was mapped of it stays: so reading costs as little memory as
//! reading a directory, and nothing is left behind.

mod carried;
mod codec;
mod columns;
mod frames;
mod held;
mod pairs;
mod piece;
mod read;
mod scratch;
mod write;

pub use write::{Packed, pack, pack_into};

pub(crate) use carried::Carried;
pub(crate) use held::Held;
pub(crate) use read::unpack;

/// What a packed trace begins with; then the version, 4 bytes.
pub(crate) const MAGIC: [u8; 8] = *b"HEDLPACK";

/// The version of a packed trace.
const VERSION: u32 = 3;
/// The version whose last piece has no checksum of the headers and names.
const WITHOUT_SUM: u32 = 2;

/// The function symbols of a module that a trace has addresses in, as far as they cover these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleSymbols {
    /// Path of the module.
    pub path: String,
    /// Its build id in hexadecimal, if it has one.
    pub build_id: Option<String>,
    /// In the form of `heddle_symbols::SymbolTable::to_text`.
    pub text: String,
}

/// The whole words of a block's content.
fn words_of(content: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let words = content.chunks_exact(8);
    words
        .filter_map(|word| word.try_into().ok())
        .map(u64::from_le_bytes)
}
