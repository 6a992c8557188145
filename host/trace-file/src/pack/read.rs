//! Unpacking a trace.

use super::piece::{MOST_WORDS, PLACE_UNIT, Piece, Sum, kind};
use super::scratch::Scratch;
use super::{Held, MAGIC, ModuleSymbols, VERSION, WITHOUT_SUM, codec, words_of};
use crate::file::{open_named, version_of};
use crate::layout::{BLOCK_HEADER, BLOCK_MAGIC, BlockHeader};
use crate::{Error, Workers, stored};
use memmap2::Mmap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};
use zerocopy::IntoBytes;

/// A trace directory that goes when this does.
#[derive(Debug)]
pub struct Unpacked {
    pub directory: Scratch,
    pub symbols: Vec<ModuleSymbols>,
}

/// How much larger than the packed file a trace may be. A loop that calls one function takes 147
/// times its packed size, with the clock's every tick.
const USUAL_RATIO: u64 = 1024;
/// What it may take whatever the packed size.
const USUAL_BYTES: u64 = 64 << 20;

/// The trace in the file `path`; `None` if it is not one that is packed. `most`: how many bytes it
/// may take; without it, what is usual for a file of its size.
pub fn unpack(path: &Path, most: Option<u64>, held: &Held) -> Result<Option<Unpacked>, Error> {
    let file = open_named(path)?;
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
        version_of(path, version, VERSION..=VERSION)?;
    }
    let pieces = pieces(path, &map, version)?;
    let bytes: u64 = pieces.iter().map(Piece::unpacked_bytes).sum();
    let usual = || USUAL_BYTES + USUAL_RATIO * stored(&map, bytes / USUAL_RATIO + 1);
    if bytes > most.unwrap_or_else(usual) {
        return Err(Error::TooLarge {
            path: path.to_owned(),
            packed: map.len() as u64,
            bytes,
        });
    }
    let mut unpacked = Unpacked {
        directory: Scratch::new()?,
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
        go_on(path, held)?;
        let target = target(path, piece, unpacked.directory.path())?;
        std::fs::write(&target, piece.content(path)?).map_err(Error::io(&target))?;
    }
    let mut blocks: Vec<&Piece> = pieces
        .iter()
        .filter(|piece| matches!(piece.header.kind.get(), kind::BLOCK | kind::RAW_BLOCK))
        .collect();
    blocks.sort_by_key(|piece| piece.name);
    for blocks in blocks.chunk_by(|a, b| a.name == b.name) {
        let target = target(path, blocks[0], unpacked.directory.path())?;
        unpack_blocks(path, blocks, &target, held)?;
    }
    Ok(Some(unpacked))
}

/// An error if a signal has come that ends us: nobody sees it.
fn go_on(path: &Path, held: &Held) -> Result<(), Error> {
    if held.came() {
        return Err(Error::io(path)(std::io::ErrorKind::Interrupted.into()));
    }
    Ok(())
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
            if next != bytes.len() {
                let what = format!("{} bytes follow the trace's end", bytes.len() - next);
                return Err(Error::damaged(path, next as u64, what));
            }
            if stated != pieces.len() as u64 {
                let what = format!("{} pieces; the file's end speaks of {stated}", pieces.len());
                return Err(Error::damaged(path, at as u64, what));
            }
            // No part of the file goes unread, so that a changed byte in it is found, too.
            if !piece.content(path)?.is_empty() {
                let what = "the file's end has a content";
                return Err(Error::damaged(path, at as u64, what));
            }
            return Ok(pieces);
        }
        sum.add(&piece.header, piece.name);
        pieces.push(piece);
        at = next;
    }
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
fn unpack_blocks(path: &Path, blocks: &[&Piece], to: &Path, held: &Held) -> Result<(), Error> {
    let file = File::create_new(to).map_err(Error::io(to))?;
    // They were packed one behind the other.
    let end = blocks.iter().map(|piece| piece.unpacked_bytes()).sum();
    let unpacked = Workers::all().each(blocks, |piece| {
        go_on(path, held)?;
        let block = block(path, piece, end)?;
        file.write_all_at(&block, piece.header.offset.get())
            .map_err(Error::io(to))
    });
    unpacked.into_iter().collect()
}

fn block(path: &Path, piece: &Piece, end: u64) -> Result<Vec<u8>, Error> {
    let wrong = |what: String| Error::damaged(path, piece.at as u64, what);
    let most = piece.header.words.get() as usize;
    let used = BLOCK_HEADER + most * 8;
    let room = piece.unpacked_bytes();
    let offset = piece.header.offset.get();
    let beyond = offset.checked_add(room).is_none_or(|behind| behind > end);
    if most > MOST_WORDS || offset % PLACE_UNIT != 0 || beyond {
        return Err(wrong(format!(
            "a block of {used} bytes at offset {offset} of {end} bytes of events"
        )));
    }
    let content = piece.content(path)?;
    let words = match piece.header.kind.get() {
        kind::RAW_BLOCK => words_of(&content).collect(),
        _ => codec::decode(&content, most).map_err(|what| wrong(what.into()))?,
    };
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
