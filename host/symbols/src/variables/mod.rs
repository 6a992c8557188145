//! The members of variables: what lies so far behind a variable's beginning is `.queues[3].lock`,
//! by the type that debug information gives the variable.
//!
//! Debug information is read as far as the question asks: the bytes of `.debug_info` are searched
//! for the places of variables once ([`places`]), then the entries of the unit that has the
//! variable are read, and the types on the way to the member ([`layout`], [`walk`]).
//!
//! Where it does not tell, there is no member: a type that is only declared, what lies between
//! members, members of a union that might all be meant, virtual bases, units in other files
//! (`-gsplit-dwarf`).

mod layout;
mod places;
mod walk;

use crate::coroutines::{Slice, Unusable};
use crate::unpack::Unpacking;
use gimli::{Dwarf, DwarfSections, EndianSlice, LittleEndian, SectionId};
use layout::{Layout, TypeAt};
use memmap2::Mmap;
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection};
use places::Places;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// What an address in the data of a module is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The linker's name of the variable that it lies in.
    pub symbol: String,
    /// The member of that, `.queues[3].lock`; empty, if it is the variable itself, or that is not
    /// known.
    pub member: String,
    /// Bytes from the member's beginning.
    pub offset: u64,
}

/// The variables of one file that debug information declares.
pub(crate) struct Declared {
    bytes: Mmap,
    sections: DwarfSections<Section>,
    places: Places,
    types: HashMap<TypeAt, Rc<Layout>>,
}

impl std::fmt::Debug for Declared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Declared")
    }
}

/// Bytes of a section: a part of the file, or what was compressed there.
enum Section {
    Stored(Range<usize>),
    Unpacked(Vec<u8>),
}

impl Section {
    fn of<'a>(&'a self, file: &'a [u8]) -> Slice<'a> {
        let bytes = match self {
            Section::Stored(range) => file.get(range.clone()).unwrap_or_default(),
            Section::Unpacked(bytes) => bytes,
        };
        EndianSlice::new(bytes, LittleEndian)
    }
}

impl Declared {
    /// Those that the debug information in an ELF file's bytes tells. The file stays mapped, as it
    /// may have gigabytes of which little is read.
    ///
    /// O(bytes of `.debug_info`), and those of compressed sections.
    pub fn parse(bytes: Mmap) -> Result<Self, Unusable> {
        let file = ElfFile64::<object::LittleEndian>::parse(&*bytes)?;
        let mut unpacking = Unpacking::new();
        let load = |id: SectionId| -> Result<Section, Unusable> {
            // Of code, nothing is asked.
            let is_needed = !matches!(
                id,
                SectionId::DebugAranges
                    | SectionId::DebugLoc
                    | SectionId::DebugLocLists
                    | SectionId::DebugRanges
                    | SectionId::DebugRngLists
                    | SectionId::DebugMacinfo
                    | SectionId::DebugMacro
                    | SectionId::DebugTypes
            );
            let section = file.section_by_name(id.name()).filter(|_| is_needed);
            let Some(section) = section else {
                return Ok(Section::Stored(0..0));
            };
            let data = unpacking.data(&section)?;
            let (start, size) = section.file_range().unwrap_or_default();
            let ends = (start.try_into(), start.saturating_add(size).try_into());
            Ok(match (data, ends) {
                (Cow::Borrowed(_), (Ok(start), Ok(end))) => Section::Stored(start..end),
                (data, _) => Section::Unpacked(data.into_owned()),
            })
        };
        let sections = DwarfSections::load(load)?;
        let places = Places::of(&sections.borrow(|section| section.of(&bytes)))?;
        Ok(Declared {
            bytes,
            sections,
            places,
            types: HashMap::new(),
        })
    }

    /// The member of the variable at `address` that an object of so many `bytes` so far behind its
    /// beginning is, and how far that object is from the member's beginning; `None`: not known.
    pub fn member(&mut self, address: u64, offset: u64, bytes: u64) -> Option<(String, u64)> {
        let Declared {
            bytes: file,
            sections,
            places,
            types,
        } = self;
        let dwarf: Dwarf<Slice<'_>> = sections.borrow(|section| section.of(file));
        let of = places.type_of(&dwarf, address).ok()??;
        let types = layout::Types::new(&dwarf, places, types);
        walk::Walk::new(types).member(of, offset, bytes)
    }
}
