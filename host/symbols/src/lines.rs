//! Source lines, where debug information tells them.

use crate::unpack::Unpacking;
use addr2line::{Context, Frame};
use gimli::{
    AttributeValue, Dwarf, EndianRcSlice, Reader as _, RunTimeEndian, SectionId, UnitOffset,
    UnitRef, constants,
};
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

    /// The first and the last line of a function's own code, what was inlined into it left out, in
    /// the file in which it begins.
    pub fn ends(&self, code: Range<u64>) -> Option<(u32, u32)> {
        let rows = self.0.find_location_range(code.start, code.end).ok()?;
        let (_, begin) = self.outer(code.start)?;
        let lines = rows.filter_map(|(address, _, _)| {
            let (_, own) = self.outer(address)?;
            (own.file == begin.file).then_some(own.line)
        });
        lines.fold(None, |ends, line| {
            let (first, last) = ends.unwrap_or((line, line));
            Some((line.min(first), line.max(last)))
        })
    }

    /// The member functions of this name that are inlined in this code: where, the line of their
    /// call, and the linker's name, or, as classes in unnamed namespaces have none there, the
    /// readable one.
    pub fn inlined(&self, code: Range<u64>, member: &str) -> Vec<(u64, u32, String)> {
        let Ok(rows) = self.0.find_location_range(code.start, code.end) else {
            return Vec::new();
        };
        let found = rows.filter_map(|(address, _, _)| {
            let address = address.max(code.start);
            let mut frames = self.0.find_frames(address).skip_all_loads().ok()?;
            while let Ok(Some(frame)) = frames.next() {
                let Some(name) = self.member(address, &frame, member) else {
                    continue;
                };
                let line = frames.next().ok()??.location?.line?;
                return Some((address, line, name));
            }
            None
        });
        found.collect()
    }

    /// The line of the function's own code at `address`, and what is inlined there by it itself:
    /// the name of a member function of this name, as [`Lines::inlined`] has it, `Some(None)` if it
    /// is another function, and `None` if nothing is.
    pub fn outermost(
        &self,
        address: u64,
        member: &str,
    ) -> Option<(Option<Option<String>>, SourceLine)> {
        let (inlined, line) = self.outer(address)?;
        let inlined = inlined.map(|frame| self.member(address, &frame, member));
        Some((inlined, line))
    }

    /// Whether another function is inlined at `address`.
    pub fn is_inlined(&self, address: u64) -> bool {
        matches!(self.outer(address), Some((Some(_), _)))
    }

    /// The line of the function's own code at `address`, and the place that is inlined into it.
    fn outer(&self, address: u64) -> Option<(Option<Frame<'_, Reader>>, SourceLine)> {
        let mut frames = self.0.find_frames(address).skip_all_loads().ok()?;
        let (mut inlined, mut own) = (None, frames.next().ok()??);
        while let Ok(Some(around)) = frames.next() {
            inlined = Some(std::mem::replace(&mut own, around));
        }
        let location = own.location?;
        let file = location.file?.to_owned();
        let line = location.line.filter(|&line| line > 0)?;
        Some((inlined, SourceLine { file, line }))
    }

    /// The name of the function that is inlined at `address`, if it is a member of this name.
    fn member(&self, address: u64, frame: &Frame<'_, Reader>, member: &str) -> Option<String> {
        let mangled = format!("{}{member}", member.len());
        let name = frame.function.as_ref()?.raw_name().ok()?.into_owned();
        if name != member {
            return name.contains(&mangled).then_some(name);
        }
        let unit = self.0.find_dwarf_and_unit(address).skip_all_loads()?;
        let path = qualified(unit, frame.dw_die_offset?)?;
        Some(format!("{path}()"))
    }

    /// The line of the instruction at `address` that is in the program's own code: of what is
    /// inlined there, the system's headers are left out.
    pub fn find_own(&self, address: u64) -> Option<SourceLine> {
        let mut frames = self.0.find_frames(address).skip_all_loads().ok()?;
        while let Ok(Some(frame)) = frames.next() {
            let Some(location) = frame.location else {
                continue;
            };
            let (Some(file), Some(line)) = (location.file, location.line) else {
                continue;
            };
            if line > 0 && !file.starts_with("/usr/") {
                let file = file.to_owned();
                return Some(SourceLine { file, line });
            }
        }
        None
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

/// `(anonymous namespace)::Elsewhere::await_suspend`, of a function or of a place where it is
/// inlined.
fn qualified(unit: UnitRef<'_, Reader>, mut entry: UnitOffset) -> Option<String> {
    // What is inlined refers to the function, and that to its declaration in the class.
    const MOST: usize = 4;
    for _ in 0..MOST {
        let refers = unit.entry(entry).ok()?;
        let to = |at| match refers.attr_value(at) {
            Ok(Some(AttributeValue::UnitRef(to))) => Some(to),
            _ => None,
        };
        match to(constants::DW_AT_abstract_origin).or_else(|| to(constants::DW_AT_specification)) {
            Some(next) => entry = next,
            None => break,
        }
    }
    // Entries do not know in which they are.
    let mut around: Vec<(isize, String)> = Vec::new();
    let mut entries = unit.entries();
    let mut depth = 0;
    while let Ok(Some((deeper, each))) = entries.next_dfs() {
        depth += deeper;
        around.retain(|&(of, _)| of < depth);
        let is_path = matches!(
            each.tag(),
            constants::DW_TAG_namespace
                | constants::DW_TAG_class_type
                | constants::DW_TAG_structure_type
                | constants::DW_TAG_union_type
        );
        if !is_path && each.offset() != entry {
            continue;
        }
        let name = each.attr_value(constants::DW_AT_name).ok()?;
        let name = name.and_then(|name| unit.attr_string(name).ok());
        let name = match name {
            Some(name) => name.to_string_lossy().ok()?.into_owned(),
            None => "(anonymous namespace)".to_owned(),
        };
        around.push((depth, name));
        if each.offset() == entry {
            let path: Vec<String> = around.into_iter().map(|(_, name)| name).collect();
            return Some(path.join("::"));
        }
    }
    None
}
