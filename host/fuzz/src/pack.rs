//! Packed traces.

use crate::{scratch, trace, write};
use heddle_symbols::Images;
use heddle_trace_file::Trace;

/// One piece of a packed trace, before it is compressed: docs/trace-format.md, "A packed trace".
#[derive(Clone, Debug)]
pub struct Part {
    /// The piece's type, from 1.
    pub kind: u8,
    /// Words of a block's records.
    pub words: u32,
    /// The block's offset in its file.
    pub offset: u64,
    /// The number of the block.
    pub number: u64,
    /// The name.
    pub name: Vec<u8>,
    /// The content.
    pub content: Vec<u8>,
}

/// The first byte of an input that is a packed file as it is; otherwise it is of parts.
const AS_IT_IS: u8 = b'H';
/// The bytes of a part before its name and its content.
const HEADER: usize = 24;
const END: u16 = 4;

/// Unpacks a file, reads the trace in it, and the symbols that it carries. A change of a byte is
/// mostly a wrong checksum and nothing more: so an input may also be of [`Part`]s, which are
/// compressed and summed up here.
pub fn read(input: &[u8]) {
    let directory = scratch();
    let path = directory.path().join("packed");
    match input.first() {
        Some(&AS_IT_IS) => write(&path, input),
        _ => write(&path, &assemble(&parts(input))),
    }
    trace::walk_all(&path);
    let Ok(trace) = Trace::open(&path) else {
        return;
    };
    let mut images = Images::packed(trace.symbols().unwrap_or_default());
    for process in trace.processes() {
        for module in process.modules().iter() {
            if let Some(table) = images.table(module) {
                table.stretches().count();
            }
            images.line(module, module.start);
            images.tail_jumps(module);
            images.signal_returns(module).all();
            let _ = images.enter_calls(module).places();
            images.suspension(module, module.start, 2);
        }
    }
}

/// The parts that an input says: header, name, content.
fn parts(mut input: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    while let Some((header, rest)) = input.split_first_chunk::<HEADER>() {
        let number = |from: usize, bytes: usize| {
            let bytes = header[from..from + bytes].iter().rev();
            bytes.fold(0, |number, &byte| number << 8 | u64::from(byte))
        };
        let name = rest.len().min(number(1, 1) as usize);
        let (name, rest) = rest.split_at(name);
        let content = rest.len().min(number(2, 2) as usize);
        let (content, rest) = rest.split_at(content);
        parts.push(Part {
            kind: header[0],
            words: number(4, 4) as u32,
            offset: number(8, 8),
            number: number(16, 8),
            name: name.to_vec(),
            content: content.to_vec(),
        });
        input = rest;
    }
    parts
}

impl Part {
    /// Adds it to an input.
    pub fn add_to(&self, input: &mut Vec<u8>) {
        input.extend([self.kind, self.name.len() as u8]);
        input.extend((self.content.len() as u16).to_le_bytes());
        input.extend(self.words.to_le_bytes());
        input.extend(self.offset.to_le_bytes());
        input.extend(self.number.to_le_bytes());
        input.extend(&self.name);
        input.extend(&self.content);
    }
}

/// A packed file of these parts, with its end.
pub fn assemble(parts: &[Part]) -> Vec<u8> {
    let mut file = b"HEDLPACK\x03\0\0\0".to_vec();
    let mut sum = crc32fast::Hasher::new();
    for part in parts {
        let packed = compressed(&part.content);
        let mut header = Vec::new();
        header.extend(u16::from(part.kind).to_le_bytes());
        header.extend((part.name.len() as u16).to_le_bytes());
        header.extend((packed.len() as u32).to_le_bytes());
        header.extend((part.content.len() as u32).to_le_bytes());
        header.extend(part.words.to_le_bytes());
        header.extend(part.offset.to_le_bytes());
        header.extend(part.number.to_le_bytes());
        sum.update(&header);
        sum.update(&part.name);
        file.extend(header.iter().chain(&part.name).chain(&packed));
    }
    let packed = compressed(&[]);
    let mut header = Vec::new();
    header.extend(END.to_le_bytes());
    header.extend(0_u16.to_le_bytes());
    header.extend((packed.len() as u32).to_le_bytes());
    header.extend([0; 8]);
    header.extend((parts.len() as u64).to_le_bytes());
    let mut summed = header.clone();
    summed.extend([0; 8]);
    sum.update(&summed);
    header.extend((1 << 32 | u64::from(sum.finalize())).to_le_bytes());
    file.extend(header.iter().chain(&packed));
    file
}

fn compressed(content: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(content, 1).unwrap_or_else(|error| panic!("{error}"))
}
