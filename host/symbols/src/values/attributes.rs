//! Attributes of entries.

use crate::coroutines::Slice;
use gimli::{AttributeValue, Expression, RawLocListEntry, UnitOffset, UnitRef, constants as c};

/// The location that a list has for an address.
pub fn location_at<'a>(
    unit: UnitRef<Slice<'a>>,
    list: AttributeValue<Slice<'a>>,
    pc: u64,
) -> gimli::Result<Option<Expression<Slice<'a>>>> {
    let Some(mut entries) = unit.attr_locations(list)? else {
        return Ok(None);
    };
    while let Some(entry) = entries.next()? {
        if entry.range.begin <= pc && pc < entry.range.end {
            return Ok(Some(entry.data));
        }
    }
    Ok(None)
}

/// The location that a list has for a function's entry, its address `start`.
///
/// Where the function's first statement gives a parameter another value, GCC's list has two
/// locations that begin there: the first one, of the argument, holds for no instruction at all, and
/// the second one for those behind. At the first instruction that has not happened yet.
pub fn location_at_entry<'a>(
    unit: UnitRef<Slice<'a>>,
    list: AttributeValue<Slice<'a>>,
    start: u64,
) -> gimli::Result<Option<Expression<Slice<'a>>>> {
    let Some(offset) = unit.attr_locations_offset(list)? else {
        return Ok(None);
    };
    // Of such a range gimli's other iterator tells nothing.
    let mut entries = unit.raw_locations(offset)?;
    let mut base = unit.low_pc;
    while let Some(entry) = entries.next()? {
        let (begin, data) = match entry {
            RawLocListEntry::BaseAddress { addr } => {
                base = addr;
                continue;
            }
            RawLocListEntry::BaseAddressx { addr } => {
                base = unit.address(addr)?;
                continue;
            }
            RawLocListEntry::AddressOrOffsetPair { begin, data, .. }
            | RawLocListEntry::OffsetPair { begin, data, .. } => (base.wrapping_add(begin), data),
            RawLocListEntry::StartEnd { begin, data, .. }
            | RawLocListEntry::StartLength { begin, data, .. } => (begin, data),
            RawLocListEntry::StartxEndx { begin, data, .. }
            | RawLocListEntry::StartxLength { begin, data, .. } => (unit.address(begin)?, data),
            RawLocListEntry::DefaultLocation { data } => (start, data),
        };
        if begin == start {
            return Ok(Some(data));
        }
    }
    location_at(unit, list, start)
}

/// An entry's attribute, or that of the entry that it refers to for what it does not say itself.
pub fn inherited<'a>(
    unit: UnitRef<Slice<'a>>,
    mut at: UnitOffset,
    name: gimli::DwAt,
) -> gimli::Result<Option<AttributeValue<Slice<'a>>>> {
    // Origin, specification, and no chain that ends in itself.
    for _ in 0..4 {
        let entry = unit.entry(at)?;
        if let Some(value) = entry.attr_value(name)? {
            return Ok(Some(value));
        }
        let origin = match entry.attr_value(c::DW_AT_abstract_origin)? {
            None => entry.attr_value(c::DW_AT_specification)?,
            origin => origin,
        };
        match origin {
            Some(AttributeValue::UnitRef(next)) => at = next,
            _ => return Ok(None),
        }
    }
    Ok(None)
}
