//! What lies where in a type, one type at a time.

use super::places::Places;
use crate::coroutines::Slice;
use crate::values::{array_counts, is_other_name, member_place, name_of, size_of};
use gimli::{DebuggingInformationEntry, Dwarf, UnitOffset, UnitRef, constants as c};
use std::collections::HashMap;
use std::rc::Rc;

/// Where an entry is, in `.debug_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeAt(pub usize);

/// A type, without what it is qualified by and other names of it.
#[derive(Debug)]
pub enum Layout {
    /// It has no parts that could have names.
    Scalar { bytes: u64 },
    Array {
        element: TypeAt,
        /// Of each dimension; never empty.
        counts: Vec<u64>,
    },
    Record {
        name: String,
        bytes: u64,
        /// In order of their places.
        parts: Vec<Part>,
    },
}

/// A member of a record, or one of its bases.
#[derive(Debug)]
pub struct Part {
    /// Empty: what is in it belongs to the record, as of anonymous unions.
    pub name: String,
    pub at: u64,
    pub kind: TypeAt,
    pub is_base: bool,
}

/// The most names and qualifiers in front of a type, and the most parts of one.
const LONGEST_CHAIN: usize = 64;
const MOST_PARTS: usize = 10_000;
/// The most types that one question looks at.
const MOST_LOOKS: u32 = 2000;

/// Types of one file, each read when it is first asked for.
pub struct Types<'u, 'a> {
    dwarf: &'u Dwarf<Slice<'a>>,
    places: &'u Places,
    known: &'u mut HashMap<TypeAt, Rc<Layout>>,
    left: u32,
}

impl<'u, 'a> Types<'u, 'a> {
    /// `known`: those that were asked for earlier.
    pub fn new(
        dwarf: &'u Dwarf<Slice<'a>>,
        places: &'u Places,
        known: &'u mut HashMap<TypeAt, Rc<Layout>>,
    ) -> Self {
        Types {
            dwarf,
            places,
            known,
            left: MOST_LOOKS,
        }
    }

    /// The type at an entry; `None` of damaged or of too many.
    pub fn get(&mut self, at: TypeAt) -> Option<Rc<Layout>> {
        self.left = self.left.checked_sub(1)?;
        if let Some(known) = self.known.get(&at) {
            return Some(known.clone());
        }
        let layout = Rc::new(self.read(at).ok()??);
        self.known.insert(at, layout.clone());
        Some(layout)
    }

    fn read(&self, mut at: TypeAt) -> gimli::Result<Option<Layout>> {
        for _ in 0..LONGEST_CHAIN {
            let unit = self.places.unit(self.dwarf, at.0)?;
            let unit = unit.unit_ref(self.dwarf);
            let Some(within) = at.within(unit) else {
                return Ok(None);
            };
            let entry = unit.entry(within)?;
            // A type that has a unit of its own.
            let next = match is_other_name(entry.tag()) {
                true => entry.attr_value(c::DW_AT_type)?,
                false => entry.attr_value(c::DW_AT_signature)?,
            };
            match next {
                Some(value) => match self.places.target(unit, value) {
                    Some(next) => at = next,
                    None => return Ok(None),
                },
                None => return self.layout(unit, within, &entry).map(Some),
            }
        }
        Ok(None)
    }

    fn layout(
        &self,
        unit: UnitRef<'_, Slice<'a>>,
        at: UnitOffset,
        entry: &DebuggingInformationEntry<Slice<'a>>,
    ) -> gimli::Result<Layout> {
        let bytes = size_of(entry)?;
        match entry.tag() {
            c::DW_TAG_structure_type | c::DW_TAG_class_type | c::DW_TAG_union_type => {
                let is_declared = entry.attr_value(c::DW_AT_declaration)?.is_some();
                match self.parts(unit, at)?.filter(|_| !is_declared) {
                    Some(parts) => Ok(Layout::Record {
                        name: name_of(unit, entry)?,
                        bytes,
                        parts,
                    }),
                    None => Ok(Layout::Scalar { bytes: 0 }),
                }
            }
            c::DW_TAG_array_type => {
                let element = entry.attr_value(c::DW_AT_type)?;
                let element = element.and_then(|element| self.places.target(unit, element));
                let counts = array_counts(unit, at)?;
                let is_strided = entry.attr_value(c::DW_AT_byte_stride)?.is_some()
                    || entry.attr_value(c::DW_AT_bit_stride)?.is_some();
                Ok(match element {
                    Some(element) if !is_strided && !counts.is_empty() => {
                        Layout::Array { element, counts }
                    }
                    _ => Layout::Scalar { bytes: 0 },
                })
            }
            _ => Ok(Layout::Scalar { bytes }),
        }
    }

    /// The parts of a record whose places are known; `None` if they are too many.
    fn parts(
        &self,
        unit: UnitRef<'_, Slice<'a>>,
        at: UnitOffset,
    ) -> gimli::Result<Option<Vec<Part>>> {
        let mut parts = Vec::new();
        let mut tree = unit.entries_tree(Some(at))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            let is_base = entry.tag() == c::DW_TAG_inheritance;
            // Static members are variables by themselves.
            let is_static = entry.attr_value(c::DW_AT_external)?.is_some()
                || entry.attr_value(c::DW_AT_declaration)?.is_some();
            if !(is_base || entry.tag() == c::DW_TAG_member) || is_static {
                continue;
            }
            // Where a virtual base is, the object says.
            let is_virtual = is_base && entry.attr_value(c::DW_AT_virtuality)?.is_some();
            let Some((at, None)) = member_place(entry)?.filter(|_| !is_virtual) else {
                continue;
            };
            let kind = entry.attr_value(c::DW_AT_type)?;
            let kind = kind.and_then(|kind| self.places.target(unit, kind));
            if let Some(kind) = kind {
                let name = name_of(unit, entry)?;
                parts.push(Part {
                    name,
                    at,
                    kind,
                    is_base,
                });
            }
            if parts.len() > MOST_PARTS {
                return Ok(None);
            }
        }
        parts.sort_by_key(|part| part.at);
        Ok(Some(parts))
    }
}
