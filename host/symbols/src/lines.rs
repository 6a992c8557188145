//! Source lines, where debug information tells them.

use crate::unpack::Unpacking;
use addr2line::Context;
use gimli::{Dwarf, EndianRcSlice, RunTimeEndian, SectionId};
use object::Object;
use std::ops::Range;
use std::rc::Rc;

type Reader = EndianRcSlice<RunTimeEndian>;

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file's path, as the compiler was given it.
    pub file: String,
    /// Line number, from 1.
    pub line: u32,
}

impl SourceLine {
    /// `fetch.cpp:12`.
    pub fn short(&self) -> String {
        let file = self.file.rsplit('/').next().unwrap_or(&self.file);
        format!("{file}:{}", self.line)
    }
}

/// The lines of one file.
pub(crate) struct Lines(Context<Reader>);

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lines")
    }
}

impl Lines {
    /// Those that the debug information in an ELF file's bytes tells; `None` if there is none that
    /// can be read.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let file = object::File::parse(bytes).ok()?;
        file.section_by_name(".debug_line")?;
        let mut unpacking = Unpacking::new();
        let load = |id: SectionId| -> Result<Reader, gimli::Error> {
            let section = file.section_by_name(id.name());
            let data = section.and_then(|section| unpacking.data(&section).ok());
            let data: Rc<[u8]> = Rc::from(data.unwrap_or_default().as_ref());
            Ok(EndianRcSlice::new(data, RunTimeEndian::Little))
        };
        let dwarf = Dwarf::load(load).ok()?;
        Context::from_dwarf(dwarf).ok().map(Lines)
    }

    /// The first and the last line of a function's own code, what was inlined into it left out.
    pub fn ends(&self, code: Range<u64>) -> Option<(u32, u32)> {
        let rows = self.0.find_location_range(code.start, code.end).ok()?;
        let lines = rows.filter_map(|(address, _, _)| {
            let mut frames = self.0.find_frames(address).skip_all_loads().ok()?;
            let mut outermost = None;
            while let Ok(Some(frame)) = frames.next() {
                outermost = frame.location.and_then(|location| location.line);
            }
            outermost.filter(|&line| line > 0)
        });
        lines.fold(None, |ends, line| {
            let (first, last) = ends.unwrap_or((line, line));
            Some((line.min(first), line.max(last)))
        })
    }

    /// The line of the instruction at `address`, in the file's own address space.
    pub fn find(&self, address: u64) -> Option<SourceLine> {
        let location = self.0.find_location(address).ok()??;
        Some(SourceLine {
            file: location.file?.to_owned(),
            line: location.line.filter(|&line| line > 0)?,
        })
    }
}
