//! Packing a trace.

use super::carried::{self, DAMAGE};
use super::piece::{MOST_WORDS, PLACE_UNIT, PieceWriter, header, kind};
use super::{ModuleSymbols, codec, words_of};
use crate::file::bytes_of;
use crate::layout::{BLOCK_HEADER, ProcessHeader, RUN_SIZE};
use crate::process::Process;
use crate::run;
use crate::store::{Block, Source};
use crate::switches::SWITCHES;
use crate::trace::{FILTERS, UNRECORDED};
use crate::values::SHAPES;
use crate::{Damages, Error, Trace, allocation, objects};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use zerocopy::FromBytes;

/// What can be read of a process, and was left out all the same.
pub type Omitted = Damages;

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
/// [`Error::Uncollected`] for a trace with blocks still in buffers; what the system refuses. What
/// cannot be read of the trace is left out, and the packed trace says so.
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
    // What is left in a damaged buffer cannot be collected.
    let is_uncollected = |process: &Process| {
        let rest = process
            .uncollected()
            .saturating_sub(process.store().damaged_buffers);
        rest > 0 || process.running()
    };
    if trace.processes().iter().any(is_uncollected) {
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
    let mut omitted = Vec::new();
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
        let files = modules.exists().then_some(modules).into_iter();
        let files = files.chain(objects::paths(directory)?);
        for file in files.chain(allocation::paths(directory)?) {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            match bytes_of(&file) {
                Ok(content) => add(kind::FILE, &name, &content)?,
                // It is said that it could not be read.
                Err(error) if process.lacks().iter().any(|it| it.path == file) => {
                    error.of_one_file()?;
                }
                Err(error) => return Err(error),
            }
        }
        let blocks = add_blocks(process, &format!("{name}/events"), &mut writer, path)?;
        records += blocks.0;
        omitted.push(blocks.1);
    }
    let missing = carried::text(trace, &omitted);
    if !missing.is_empty() {
        writer
            .add(header(kind::FILE, 0), DAMAGE, missing.as_bytes())
            .map_err(Error::io(path))?;
    }
    let bytes = writer.finish().map_err(Error::io(path))?;
    Ok(Packed { bytes, records })
}

/// With the clock's rate in it, which on another machine no further stamp can tell, and the events
/// dropped that only the header of a damaged buffer tells of.
fn process_header(trace: &Trace, process: &Process) -> Result<Vec<u8>, Error> {
    let path = process.directory().join("process");
    let mut bytes = bytes_of(&path)?;
    if let Ok((header, _)) = ProcessHeader::mut_from_prefix(&mut bytes) {
        if header.ticks_per_second.get() == 0 {
            header.ticks_per_second = (trace.rate().frequency().round() as u64).into();
        }
        header.buffers = 0.into();
        let mut dropped = process.dropped();
        for thread in process.threads().iter().filter(|it| it.dropped() > 0) {
            let told = thread.dropped_in_gaps()?;
            dropped = dropped.saturating_add(thread.dropped().saturating_sub(told));
        }
        header.dropped = dropped.into();
    }
    Ok(bytes)
}

/// Adds the runs of all blocks. Returns how many bytes of records these are, and what is left out
/// that could be read.
fn add_blocks<W: Write>(
    process: &Process,
    name: &str,
    writer: &mut PieceWriter<W>,
    path: &Path,
) -> Result<(u64, Omitted), Error> {
    let store = process.store();
    let mut omitted = Omitted::default();
    let (mut offset, mut records) = (0, 0);
    for block in &store.blocks {
        let source = &store.sources[block.source as usize];
        let (words, rest) = words_to_pack(source, block);
        if rest > 0 {
            let most = MOST_WORDS * 8;
            let what = format!("a block of more than {most} bytes, which is the most in a pack");
            omitted.add(source.damaged(block.begin + 12, what), rest as u64)?;
        }
        // What would not come back as it is comes back as it was, so that a reader of the packed
        // trace passes over the same records, and tells of them.
        let coded = codec::encode(&words)
            .filter(|coded| codec::decode(coded, words.len()).is_ok_and(|again| again == words));
        let (kind, content) = match coded {
            Some(coded) => (kind::BLOCK, coded),
            None => {
                let bytes = words.iter().flat_map(|word| word.to_le_bytes());
                (kind::RAW_BLOCK, bytes.collect())
            }
        };
        let mut piece = header(kind, offset);
        piece.number = block.number.into();
        piece.words = (words.len() as u32).into();
        writer.add(piece, name, &content).map_err(Error::io(path))?;
        let used = BLOCK_HEADER as u64 + words.len() as u64 * 8;
        offset += used.next_multiple_of(PLACE_UNIT);
        records += words.len() as u64 * 8;
    }
    Ok((records, omitted))
}

/// The words of a block's runs, and how many bytes of these are left out because they are too many.
/// What follows the runs is none, which the trace's [`Damages`] tell.
fn words_to_pack(source: &Source, block: &Block) -> (Vec<u64>, usize) {
    let begin = block.begin + BLOCK_HEADER;
    let (mut runs, _) = run::in_block(source, block);
    let whole = runs.last().map_or(begin, |last| last.end);
    let mut end = whole.min(begin + MOST_WORDS * 8);
    while let Some(last) = runs.last().filter(|last| last.begin > end) {
        end = last.begin - RUN_SIZE;
        runs.pop();
    }
    let mut words: Vec<u64> = words_of(&source.bytes()[begin..end]).collect();
    // A run that its file, or the block here, ends inside states how long it was, and in the packed
    // trace nothing ends there.
    if let Some(last) = runs.last().filter(|_| block.cut || end < whole) {
        let at = (last.begin - RUN_SIZE - begin) / 8;
        // The upper half is the run's length: 0 is up to the block's end.
        words[at] &= u64::from(u32::MAX);
    }
    (words, whole - end)
}
