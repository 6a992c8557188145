//! Attributes of entries.

use crate::coroutines::Slice;
use gimli::{AttributeValue, Expression, UnitOffset, UnitRef, constants as c};

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
