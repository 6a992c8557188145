//! Packing a trace.

use super::piece::{PLACE_UNIT, PieceWriter, header, kind};
use super::{ModuleSymbols, codec};
use crate::file::bytes_of;
use crate::layout::{BLOCK_HEADER, ProcessHeader, RUN_SIZE};
use crate::process::Process;
use crate::run;
use crate::store::{Block, Source};
use crate::switches::SWITCHES;
use crate::trace::{FILTERS, UNRECORDED};
use crate::values::SHAPES;
use crate::{Error, Trace, allocation, objects};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use zerocopy::{FromBytes, IntoBytes};

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Bytes of the packed file.
    pub bytes: u64,
    /// Bytes of the records that are in it.
    pub records: u64,
}

/// Writes `trace` into the file `to`, which must not be there yet, with the symbols that its
/// addresses need. On an error nothing is left.
///
/// # Errors
/// [`Error::Uncollected`] for a trace with blocks still in buffers; damage of the trace; what the
/// system refuses.
pub fn pack(trace: &Trace, symbols: &[ModuleSymbols], to: &Path) -> Result<Packed, Error> {
    // Like the trace's own files: command lines are in it.
    let mut file = File::options();
    let file = file.write(true).create_new(true).mode(0o600);
    let file = file.open(to).map_err(Error::io(to))?;
    let result = pack_into(trace, symbols, BufWriter::new(file), to);
    if result.is_err() {
        // It is the first error that matters.
        let _ = std::fs::remove_file(to);
    }
    result
}

/// Writes `trace` as [`pack`] does, into a file that is open already; errors name it `path`.
///
/// # Errors
/// Those of [`pack`].
pub fn pack_into<W: Write>(
    trace: &Trace,
    symbols: &[ModuleSymbols],
    to: W,
    path: &Path,
) -> Result<Packed, Error> {
    let mut processes = trace.processes().iter();
    if processes.any(|process| process.uncollected() > 0) {
        return Err(Error::Uncollected(trace.path().to_owned()));
    }
    let mut writer = PieceWriter::new(to).map_err(Error::io(path))?;
    let marker = crate::marker();
    let mut add = |kind, name: &str, content: &[u8]| {
        writer
            .add(header(kind, 0), name, content)
            .map_err(Error::io(path))
    };
    add(kind::FILE, "heddle", marker.as_bytes())?;
    if let Some(filters) = trace.filters() {
        add(kind::FILE, FILTERS, filters.as_bytes())?;
    }
    if !trace.unrecorded_text().is_empty() {
        add(kind::FILE, UNRECORDED, trace.unrecorded_text().as_bytes())?;
    }
    if !trace.shapes().is_empty() {
        add(kind::FILE, SHAPES, trace.shapes().text.as_bytes())?;
    }
    if let Some(switches) = trace.switch_bytes() {
        add(kind::FILE, SWITCHES, switches)?;
    }
    for module in symbols {
        let name = format!(
            "{} {}",
            module.build_id.as_deref().unwrap_or("-"),
            module.path
        );
        add(kind::SYMBOLS, &name, module.text.as_bytes())?;
    }
    let mut records = 0;
    for process in trace.processes() {
        let directory = process.directory();
        let name = directory.file_name().unwrap_or_default().to_string_lossy();
        let mut add = |kind, file: &str, content: &[u8]| {
            let name = format!("{name}/{file}");
            writer
                .add(header(kind, 0), &name, content)
                .map_err(Error::io(path))
        };
        add(kind::FILE, "process", &process_header(trace, process)?)?;
        let modules = directory.join("modules");
        if modules.exists() {
            add(kind::FILE, "modules", &bytes_of(&modules)?)?;
        }
        let counted = objects::paths(directory)?.into_iter();
        for counts in counted.chain(allocation::paths(directory)?) {
            let name = counts.file_name().unwrap_or_default().to_string_lossy();
            let content = bytes_of(&counts)?;
            add(kind::FILE, &name, &content)?;
        }
        records += add_blocks(process, &format!("{name}/events"), &mut writer, path)?;
    }
    let bytes = writer.finish().map_err(Error::io(path))?;
    Ok(Packed { bytes, records })
}

/// With the clock's rate in it, which on another machine no further stamp can tell.
fn process_header(trace: &Trace, process: &Process) -> Result<Vec<u8>, Error> {
    let path = process.directory().join("process");
    let mut bytes = bytes_of(&path)?;
    if let Ok((header, _)) = ProcessHeader::mut_from_prefix(&mut bytes) {
        if header.ticks_per_second.get() == 0 {
            header.ticks_per_second = (trace.rate().frequency().round() as u64).into();
        }
        header.buffers = 0.into();
    }
    Ok(bytes)
}

fn add_blocks<W: Write>(
    process: &Process,
    name: &str,
    writer: &mut PieceWriter<W>,
    path: &Path,
) -> Result<u64, Error> {
    let store = process.store();
    let (mut offset, mut records) = (0, 0);
    let mut words = Vec::new();
    for block in &store.blocks {
        let source = &store.sources[block.source as usize];
        let content = &source.bytes()[block.begin + BLOCK_HEADER..block.begin + block.used];
        words.clear();
        words.extend(
            content
                .chunks_exact(8)
                .filter_map(|word| word.try_into().ok())
                .map(u64::from_le_bytes),
        );
        if block.cut {
            end_last_run(source, block, &mut words);
        }
        let coded = codec::encode(&words)
            .ok_or_else(|| source.damaged(block.begin, "a block whose last record is not whole"))?;
        let mut piece = header(kind::BLOCK, offset);
        piece.number = block.number.into();
        piece.words = (words.len() as u32).into();
        writer.add(piece, name, &coded).map_err(Error::io(path))?;
        offset += (block.used as u64).next_multiple_of(PLACE_UNIT);
        records += content.as_bytes().len() as u64;
    }
    Ok(records)
}

/// Lets the last run end where its block does. In a block that its file ends inside, the run states
/// how long it was, and in the packed trace no file ends there.
fn end_last_run(source: &Source, block: &Block, words: &mut [u64]) {
    let (runs, _) = run::in_block(source, block);
    let end = block.begin + block.used;
    let Some(last) = runs.last().filter(|last| last.end == end) else {
        return;
    };
    let at = (last.begin - RUN_SIZE - block.begin - BLOCK_HEADER) / 8;
    // The upper half is the run's length: 0 is up to the block's end.
    words[at] &= u64::from(u32::MAX);
}
