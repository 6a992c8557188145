//! What a coroutine's frame is.

use super::Slice;
use gimli::{AttributeValue, DebugInfoOffset, UnitOffset, UnitRef, constants as c};
use std::collections::HashMap;

/// The frames of functions, by where these are declared.
pub type Known = HashMap<DebugInfoOffset, Frame>;

/// A type of frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The offset of `_Coro_resume_index`.
    pub resume_index: Option<u32>,
}

/// GCC 10 called it otherwise.
const RESUME_INDEX: [&[u8]; 2] = [b"_Coro_resume_index", b"__resume_at"];
/// What every frame begins with.
const RESUME_FUNCTION: [&[u8]; 2] = [b"_Coro_resume_fn", b"__resume"];

/// The frame that a parameter of this type points to; `None` if it is something else.
pub fn pointed_to(unit: UnitRef<Slice>, mut at: UnitOffset) -> gimli::Result<Option<Frame>> {
    // A pointer, perhaps const, and no chain that ends in itself.
    for _ in 0..4 {
        let entry = unit.entry(at)?;
        match entry.tag() {
            c::DW_TAG_structure_type | c::DW_TAG_class_type => return members(unit, at),
            c::DW_TAG_pointer_type
            | c::DW_TAG_const_type
            | c::DW_TAG_volatile_type
            | c::DW_TAG_typedef => match entry.attr_value(c::DW_AT_type)? {
                Some(AttributeValue::UnitRef(next)) => at = next,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        }
    }
    Ok(None)
}

fn members(unit: UnitRef<Slice>, at: UnitOffset) -> gimli::Result<Option<Frame>> {
    let mut tree = unit.entries_tree(Some(at))?;
    let mut children = tree.root()?.children();
    let (mut is_frame, mut resume_index) = (false, None);
    while let Some(child) = children.next()? {
        let entry = child.entry();
        if entry.tag() != c::DW_TAG_member {
            continue;
        }
        let Some(name) = entry.attr_value(c::DW_AT_name)? else {
            continue;
        };
        let name = unit.attr_string(name)?;
        is_frame |= RESUME_FUNCTION.contains(&name.slice());
        if RESUME_INDEX.contains(&name.slice()) {
            let offset = entry.attr(c::DW_AT_data_member_location)?;
            let offset = offset.and_then(|offset| offset.udata_value());
            resume_index = offset.and_then(|offset| u32::try_from(offset).ok());
        }
    }
    Ok(is_frame.then_some(Frame { resume_index }))
}
