//! The functions of a unit, inlined ones too, with their first parameters.

use super::Slice;
use super::frame_type::{Known, pointed_to};
use gimli::{
    AttributeSpecification, AttributeValue, DebugInfoOffset, EntriesRaw, UnitOffset, UnitRef,
    constants as c,
};

/// A function, or a place that it was inlined at.
pub struct Scope<'a> {
    pub entry: UnitOffset,
    /// The entry that declares it, where that is another one.
    pub origin: Option<DebugInfoOffset>,
    /// The index of the scope around it.
    pub parent: Option<usize>,
    /// What places on the stack are counted from; inlined ones have their outermost scope's.
    pub frame_base: Option<AttributeValue<Slice<'a>>>,
    /// Whether it has a parameter; it is the first if there are more.
    pub has_parameter: bool,
    /// The location of that parameter.
    pub location: Option<AttributeValue<Slice<'a>>>,
}

/// The attributes of an entry that matter here.
#[derive(Default)]
struct Attributes<'a> {
    name: Option<AttributeValue<Slice<'a>>>,
    origin: Option<AttributeValue<Slice<'a>>>,
    kind: Option<AttributeValue<Slice<'a>>>,
    frame_base: Option<AttributeValue<Slice<'a>>>,
    location: Option<AttributeValue<Slice<'a>>>,
}

impl<'a> Attributes<'a> {
    /// Reads an entry's attributes. `origin_only`: nothing but the origin is needed. Most entries
    /// are inlined functions, of which this holds.
    fn read(
        raw: &mut EntriesRaw<'_, '_, Slice<'a>>,
        specifications: &[AttributeSpecification],
        origin_only: bool,
    ) -> gimli::Result<Self> {
        let mut all = Attributes::default();
        for (index, &specification) in specifications.iter().enumerate() {
            if all.origin.is_some() && origin_only {
                raw.skip_attributes(&specifications[index..])?;
                break;
            }
            let attribute = raw.read_attribute(specification)?;
            let value = Some(attribute.value());
            match attribute.name() {
                c::DW_AT_name => all.name = value,
                c::DW_AT_abstract_origin => all.origin = value,
                c::DW_AT_type => all.kind = value,
                c::DW_AT_frame_base => all.frame_base = value,
                c::DW_AT_location => all.location = value,
                _ => {}
            }
        }
        Ok(all)
    }
}

/// An entry's offset in the whole section.
pub fn global(unit: UnitRef<Slice>, entry: UnitOffset) -> Option<DebugInfoOffset> {
    entry.to_debug_info_offset(&unit.header)
}

/// The scopes of `unit` in the order in which they begin, and which of them are a coroutine's
/// functions.
pub fn read<'a>(unit: UnitRef<'_, Slice<'a>>) -> gimli::Result<(Vec<Scope<'a>>, Known)> {
    let mut scopes: Vec<Scope> = Vec::new();
    let mut known = Known::new();
    // The open scopes, with their depths.
    let mut open: Vec<(isize, usize)> = Vec::new();
    let mut raw = unit.entries_raw(None)?;
    while !raw.is_empty() {
        let (depth, entry) = (raw.next_depth(), raw.next_offset());
        let Some(abbreviation) = raw.read_abbreviation()? else {
            continue;
        };
        while open
            .last()
            .is_some_and(|&(opened_at, _)| opened_at >= depth)
        {
            open.pop();
        }
        match abbreviation.tag() {
            c::DW_TAG_subprogram | c::DW_TAG_inlined_subroutine => {
                let inlined = abbreviation.tag() == c::DW_TAG_inlined_subroutine;
                let attributes = Attributes::read(&mut raw, abbreviation.attributes(), inlined)?;
                let parent = open.last().map(|&(_, scope)| scope);
                let outer = parent.and_then(|parent| scopes[parent].frame_base);
                open.push((depth, scopes.len()));
                scopes.push(Scope {
                    entry,
                    origin: match attributes.origin {
                        Some(AttributeValue::UnitRef(at)) => global(unit, at),
                        Some(AttributeValue::DebugInfoRef(at)) => Some(at),
                        _ => None,
                    },
                    parent,
                    frame_base: attributes.frame_base.or(outer),
                    has_parameter: false,
                    location: None,
                });
            }
            c::DW_TAG_formal_parameter => {
                let function = open
                    .last()
                    .filter(|&&(opened_at, _)| opened_at + 1 == depth);
                let Some(&(_, function)) = function.filter(|&&(_, f)| !scopes[f].has_parameter)
                else {
                    raw.skip_attributes(abbreviation.attributes())?;
                    continue;
                };
                let attributes = Attributes::read(&mut raw, abbreviation.attributes(), false)?;
                let scope = &mut scopes[function];
                (scope.has_parameter, scope.location) = (true, attributes.location);
                if let (Some(name), Some(AttributeValue::UnitRef(kind))) =
                    (attributes.name, attributes.kind)
                    && unit.attr_string(name)?.slice() == b"frame_ptr"
                    && let Some(frame) = pointed_to(unit, kind)?
                {
                    known.extend(global(unit, scope.entry).map(|function| (function, frame)));
                }
            }
            _ => raw.skip_attributes(abbreviation.attributes())?,
        }
    }
    Ok((scopes, known))
}
