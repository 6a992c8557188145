//! Which entry of debug information declares the variable at an address.
//!
//! The location of a variable that has an address is that address in full, `DW_OP_addr`, so its
//! unit is found by a search for the bytes; Clang keeps the addresses of DWARF 5 in `.debug_addr`,
//! by numbers, `DW_OP_addrx`, a table for each unit. Sections that the linker discarded have
//! addresses that are nobody's.

use super::layout::TypeAt;
use crate::coroutines::Slice;
use gimli::{
    AttributeValue, DebugInfoOffset, DebugTypeSignature, Dwarf, Expression, Operation,
    Section as _, Unit, UnitOffset, UnitRef, UnitSectionOffset, UnitType, constants as c,
};
use memchr::memmem;
use std::collections::{HashMap, HashSet};

/// An expression of nine bytes, and the first of these: an address follows.
const ADDRESS: [u8; 2] = [9, c::DW_OP_addr.0];
/// The most places that are kept of a file, and the most units that are read for one variable: a
/// file is not to make us read without end.
const MOST_PLACES: usize = 4 << 20;
const MOST_UNITS: usize = 16;
/// The most entries that refer to one another for the type of a variable.
const LONGEST_CHAIN: usize = 8;

/// Where a file's variables are declared.
pub struct Places {
    /// Where the units of `.debug_info` begin, in order.
    units: Vec<usize>,
    /// The units that have one type, and where in them that is, by signature.
    signatures: HashMap<u64, TypeAt>,
    /// By address: places in `.debug_info` that may be its location.
    found: Vec<(u64, usize)>,
    /// Where the units' tables of addresses begin, with the units, in order; read when they are
    /// first asked for.
    tables: Option<Vec<(usize, usize)>>,
    /// The units whose variables are known, and the entries of these by address.
    read: HashSet<usize>,
    entries: HashMap<u64, TypeAt>,
}

impl Places {
    /// O(bytes of `.debug_info`).
    pub fn of(dwarf: &Dwarf<Slice<'_>>) -> gimli::Result<Self> {
        let (mut units, mut signatures) = (Vec::new(), HashMap::new());
        let mut headers = dwarf.units();
        while let Some(header) = headers.next()? {
            let UnitSectionOffset::DebugInfoOffset(begin) = header.offset() else {
                continue;
            };
            units.push(begin.0);
            if let UnitType::Type {
                type_signature,
                type_offset,
            } = header.type_()
            {
                let at = TypeAt(begin.0.saturating_add(type_offset.0));
                signatures.insert(type_signature.0, at);
            }
        }
        let info = dwarf.debug_info.reader().slice();
        let found = memmem::find_iter(info, &ADDRESS).filter_map(|at| {
            let address = info.get(at + ADDRESS.len()..)?.first_chunk()?;
            Some((u64::from_le_bytes(*address), at))
        });
        let mut found: Vec<(u64, usize)> = found.take(MOST_PLACES).collect();
        found.sort_unstable();
        Ok(Places {
            units,
            signatures,
            found,
            tables: None,
            read: HashSet::new(),
            entries: HashMap::new(),
        })
    }

    /// The unit that has this place in it.
    pub fn unit<'a>(&self, dwarf: &Dwarf<Slice<'a>>, at: usize) -> gimli::Result<Unit<Slice<'a>>> {
        let behind = self.units.partition_point(|&begin| begin <= at);
        let begin = behind.checked_sub(1).map_or(0, |index| self.units[index]);
        let header = dwarf
            .debug_info
            .header_from_offset(DebugInfoOffset(begin))?;
        dwarf.unit(header)
    }

    /// The entry that an attribute refers to, in this unit or in another one.
    pub fn target<'a>(
        &self,
        unit: UnitRef<'_, Slice<'a>>,
        value: AttributeValue<Slice<'a>>,
    ) -> Option<TypeAt> {
        match value {
            AttributeValue::UnitRef(at) => Some(TypeAt(at.to_debug_info_offset(&unit.header)?.0)),
            AttributeValue::DebugInfoRef(at) => Some(TypeAt(at.0)),
            AttributeValue::DebugTypesRef(DebugTypeSignature(signature)) => {
                self.signatures.get(&signature).copied()
            }
            _ => None,
        }
    }

    /// The type of the variable at an address.
    pub fn type_of(
        &mut self,
        dwarf: &Dwarf<Slice<'_>>,
        address: u64,
    ) -> gimli::Result<Option<TypeAt>> {
        let first = self.found.partition_point(|&(place, _)| place < address);
        let places = self.found[first..].iter();
        let places = places.take_while(|&&(place, _)| place == address);
        let mut units: Vec<usize> = places.map(|&(_, at)| at).take(MOST_UNITS).collect();
        units.extend(self.with_index_of(dwarf, address)?);
        for at in units {
            if !self.entries.contains_key(&address) {
                let unit = self.unit(dwarf, at)?;
                self.learn(unit.unit_ref(dwarf))?;
            }
        }
        let Some(&entry) = self.entries.get(&address) else {
            return Ok(None);
        };
        self.declared_type(dwarf, entry)
    }

    /// The units whose tables of addresses have this one.
    fn with_index_of(
        &mut self,
        dwarf: &Dwarf<Slice<'_>>,
        address: u64,
    ) -> gimli::Result<Vec<usize>> {
        let all = dwarf.debug_addr.reader().slice();
        if all.is_empty() {
            return Ok(Vec::new());
        }
        let tables = match &mut self.tables {
            Some(tables) => tables,
            none => none.insert(tables(dwarf)?),
        };
        let bytes = address.to_le_bytes();
        let hits = memmem::find_iter(all, &bytes).take(MOST_UNITS);
        let units = hits.filter_map(|hit| {
            let behind = tables.partition_point(|&(begin, _)| begin <= hit);
            Some(tables.get(behind.checked_sub(1)?)?.1)
        });
        Ok(units.collect())
    }

    /// Learns where the variables of a unit are declared.
    fn learn(&mut self, unit: UnitRef<Slice<'_>>) -> gimli::Result<()> {
        let UnitSectionOffset::DebugInfoOffset(begin) = unit.header.offset() else {
            return Ok(());
        };
        if !self.read.insert(begin.0) {
            return Ok(());
        }
        let mut raw = unit.entries_raw(None)?;
        while !raw.is_empty() {
            let at = raw.next_offset();
            let Some(abbreviation) = raw.read_abbreviation()? else {
                continue;
            };
            if abbreviation.tag() != c::DW_TAG_variable {
                raw.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            for &each in abbreviation.attributes() {
                let attribute = raw.read_attribute(each)?;
                if attribute.name() == c::DW_AT_location
                    && let AttributeValue::Exprloc(location) = attribute.value()
                    && let Some(address) = address(unit, location)
                {
                    let entry = TypeAt(begin.0.saturating_add(at.0));
                    self.entries.entry(address).or_insert(entry);
                }
            }
        }
        Ok(())
    }

    /// The type of a variable's entry, or of the one that it refers to for what it does not say.
    fn declared_type(
        &self,
        dwarf: &Dwarf<Slice<'_>>,
        mut entry: TypeAt,
    ) -> gimli::Result<Option<TypeAt>> {
        for _ in 0..LONGEST_CHAIN {
            let unit = self.unit(dwarf, entry.0)?;
            let unit = unit.unit_ref(dwarf);
            let Some(at) = entry.within(unit) else {
                return Ok(None);
            };
            let found = unit.entry(at)?;
            if let Some(value) = found.attr_value(c::DW_AT_type)? {
                return Ok(self.target(unit, value));
            }
            let origin = match found.attr_value(c::DW_AT_abstract_origin)? {
                None => found.attr_value(c::DW_AT_specification)?,
                origin => origin,
            };
            match origin.and_then(|origin| self.target(unit, origin)) {
                Some(next) => entry = next,
                None => return Ok(None),
            }
        }
        Ok(None)
    }
}

impl TypeAt {
    /// The place in its unit.
    pub fn within(self, unit: UnitRef<Slice<'_>>) -> Option<UnitOffset> {
        DebugInfoOffset(self.0).to_unit_offset(&unit.header)
    }
}

/// The address that an expression is, if it is nothing else, and can be read.
fn address<'a>(unit: UnitRef<'_, Slice<'a>>, expression: Expression<Slice<'a>>) -> Option<u64> {
    let mut operations = expression.operations(unit.encoding());
    let address = match operations.next().ok()?? {
        Operation::Address { address } => address,
        Operation::AddressIndex { index } => unit.address(index).ok()?,
        _ => return None,
    };
    matches!(operations.next(), Ok(None)).then_some(address)
}

/// Where the units' tables of addresses begin, with the units, in order.
fn tables(dwarf: &Dwarf<Slice<'_>>) -> gimli::Result<Vec<(usize, usize)>> {
    let mut tables = Vec::new();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        if let UnitSectionOffset::DebugInfoOffset(begin) = header.offset() {
            let unit = dwarf.unit(header)?;
            tables.push((unit.addr_base.0, begin.0));
        }
    }
    tables.sort_unstable();
    Ok(tables)
}
