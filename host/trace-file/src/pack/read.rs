//! Unpacking a trace.

use super::piece::{Piece, Sum, kind};
use super::{MAGIC, ModuleSymbols, VERSION, WITHOUT_SUM, codec};
use crate::file::{open, version_of};
use crate::layout::{BLOCK_HEADER, BLOCK_MAGIC, BLOCK_UNIT, BlockHeader};
use crate::{Error, Workers};
use memmap2::Mmap;
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Component, Path, PathBuf};
use zerocopy::IntoBytes;

/// A trace directory that goes when this does.
#[derive(Debug)]
pub struct Unpacked {
    pub directory: PathBuf,
    pub symbols: Vec<ModuleSymbols>,
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        // Nothing can be done about what cannot be removed.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// The trace in the file `path`; `None` if it is not one that is packed.
pub fn unpack(path: &Path) -> Result<Option<Unpacked>, Error> {
    let file = open(path)?;
    // SAFETY: bytes are plain, whatever becomes of them; a file that is cut short while it is
    // mapped is the user's own doing.
    let map = unsafe { Mmap::map(&file) }.map_err(Error::io(path))?;
    let Some(rest) = map.strip_prefix(&MAGIC) else {
        return Ok(None);
    };
    let Some(version) = rest.first_chunk() else {
        return Err(Error::damaged(
            path,
            map.len() as u64,
            "the file ends inside its version",
        ));
    };
    let version = u32::from_le_bytes(*version);
    if version != WITHOUT_SUM {
        version_of(path, version, VERSION)?;
    }
    let pieces = pieces(path, &map, version)?;
    let mut unpacked = Unpacked {
        directory: scratch()?,
        symbols: Vec::new(),
    };
    for piece in pieces
        .iter()
        .filter(|piece| piece.header.kind == kind::SYMBOLS)
    {
        unpacked.symbols.push(symbols(path, piece)?);
    }
    for piece in pieces
        .iter()
        .filter(|piece| piece.header.kind == kind::FILE)
    {
        let target = target(path, piece, &unpacked.directory)?;
        std::fs::write(&target, piece.content(path)?).map_err(Error::io(&target))?;
    }
    let mut blocks: Vec<&Piece> = pieces
        .iter()
        .filter(|piece| piece.header.kind == kind::BLOCK)
        .collect();
    blocks.sort_by_key(|piece| piece.name);
    for blocks in blocks.chunk_by(|a, b| a.name == b.name) {
        unpack_blocks(path, blocks, &target(path, blocks[0], &unpacked.directory)?)?;
    }
    Ok(Some(unpacked))
}

fn pieces<'a>(path: &Path, bytes: &'a [u8], version: u32) -> Result<Vec<Piece<'a>>, Error> {
    let mut pieces = Vec::new();
    let mut sum = Sum::default();
    let mut at = MAGIC.len() + 4;
    loop {
        let (piece, next) = Piece::read(path, bytes, at)?;
        if piece.header.kind == kind::END {
            let mut header = piece.header;
            let stated = std::mem::take(&mut header.number).get();
            sum.add(&header, piece.name);
            let expected = if version == WITHOUT_SUM {
                0
            } else {
                sum.value()
            };
            if stated != expected {
                let what = "the checksum of names and headers is wrong: some were changed";
                return Err(Error::damaged(path, at as u64, what));
            }
            let stated = header.offset.get();
            if stated != pieces.len() as u64 || next != bytes.len() {
                let what = format!("{} pieces; the file's end speaks of {stated}", pieces.len());
                return Err(Error::damaged(path, at as u64, what));
            }
            return Ok(pieces);
        }
        sum.add(&piece.header, piece.name);
        pieces.push(piece);
        at = next;
    }
}

/// A fresh directory that no other user may enter. Not in /tmp, which may be memory.
fn scratch() -> Result<PathBuf, Error> {
    let parent = std::env::var_os("TMPDIR").map_or_else(|| "/var/tmp".into(), PathBuf::from);
    for attempt in 0_u32.. {
        let path = parent.join(format!("heddle-{}-{attempt}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::io(&path)(error)),
        }
    }
    Err(Error::io(&parent)(std::io::ErrorKind::AlreadyExists.into()))
}

/// Where a piece goes: `heddle`, or a file in a directory of one name.
fn target(path: &Path, piece: &Piece, directory: &Path) -> Result<PathBuf, Error> {
    let name = Path::new(piece.name);
    let plain = name
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let depth = name.components().count();
    if !plain || !(1..=2).contains(&depth) {
        let what = format!("a piece named {:?}", piece.name);
        return Err(Error::damaged(path, piece.at as u64, what));
    }
    let target = directory.join(name);
    if let Some(parent) = target.parent() {
        std::fs::create_dir_all(parent).map_err(Error::io(parent))?;
    }
    Ok(target)
}

fn symbols(path: &Path, piece: &Piece) -> Result<ModuleSymbols, Error> {
    let wrong = |what| Error::damaged(path, piece.at as u64, what);
    let (build_id, module) = piece
        .name
        .split_once(' ')
        .ok_or_else(|| wrong("symbols of no module"))?;
    let text =
        String::from_utf8(piece.content(path)?).map_err(|_| wrong("symbols that are not UTF-8"))?;
    Ok(ModuleSymbols {
        path: module.to_owned(),
        build_id: Some(build_id).filter(|&id| id != "-").map(str::to_owned),
        text,
    })
}

/// All processors at once: unpacking is what reading a packed trace waits for.
fn unpack_blocks(path: &Path, blocks: &[&Piece], to: &Path) -> Result<(), Error> {
    let file = File::create_new(to).map_err(Error::io(to))?;
    let unpacked = Workers::all().each(blocks, |piece| {
        let block = block(path, piece)?;
        file.write_all_at(&block, piece.header.offset.get())
            .map_err(Error::io(to))
    });
    unpacked.into_iter().collect()
}

fn block(path: &Path, piece: &Piece) -> Result<Vec<u8>, Error> {
    let wrong = |what: String| Error::damaged(path, piece.at as u64, what);
    let most = piece.header.words.get() as usize;
    let used = BLOCK_HEADER + most * 8;
    let room = (used as u64).next_multiple_of(BLOCK_UNIT);
    let offset = piece.header.offset.get();
    // A block is at most a slot long; a file of events has its blocks at multiples of their unit.
    if room > crate::layout::SLOT_SIZE || offset % BLOCK_UNIT != 0 || offset > 1 << 50 {
        return Err(wrong(format!(
            "a block of {used} bytes at offset {offset} of the events"
        )));
    }
    let words = codec::decode(&piece.content(path)?, most).map_err(|what| wrong(what.into()))?;
    if words.len() != most {
        return Err(wrong(format!(
            "a block of {} words, not {most}",
            words.len()
        )));
    }
    let header = BlockHeader {
        magic: BLOCK_MAGIC,
        room: (room as u32).into(),
        used: (used as u32).into(),
        number: piece.header.number,
        unused: [0; 40],
    };
    let mut block = Vec::with_capacity(used);
    block.extend(header.as_bytes());
    words
        .iter()
        .for_each(|word| block.extend(word.to_le_bytes()));
    Ok(block)
}
