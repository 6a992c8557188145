//! Structures, classes and unions: their members, and how they are passed.

use super::types::{
    Class, Described, Form, MOST_NAMES, Reader, WORD, bounded, name_of, stripped, target, within,
};
use crate::coroutines::Slice;
use gimli::{AttributeValue, DebuggingInformationEntry, UnitOffset, constants as c};
use heddle_trace_file::{Member, Type};

/// The type of the class at `class`.
pub fn record<'a>(
    unit: &Reader<'_, 'a>,
    class: UnitOffset,
    entry: &DebuggingInformationEntry<Slice<'a>>,
    bytes: u64,
    depth: u32,
) -> gimli::Result<Described> {
    let name = name_of(**unit, entry)?;
    if entry.attr_value(c::DW_AT_declaration)?.is_some() || depth == 0 {
        return Ok(Described::opaque(name, bytes));
    }
    let mut copying = Copying::default();
    let mut by_reference = matches!(
        entry.attr_value(c::DW_AT_calling_convention)?,
        Some(AttributeValue::CallingConvention(
            c::DW_CC_pass_by_reference
        ))
    );
    let (mut members, mut parts) = (Vec::new(), Some(Vec::new()));
    let mut alignment = alignment_of(entry)?.unwrap_or(WORD);
    let mut boundary = 1;
    let mut tree = unit.entries_tree(Some(class))?;
    let mut children = tree.root()?.children();
    while let Some(child) = children.next()? {
        let entry = child.entry();
        if entry.tag() == c::DW_TAG_subprogram {
            copying.look(unit, entry, (class, &name))?;
            continue;
        }
        let is_base = entry.tag() == c::DW_TAG_inheritance;
        let is_static = entry.attr_value(c::DW_AT_external)?.is_some()
            || entry.attr_value(c::DW_AT_declaration)?.is_some();
        if !(is_base || entry.tag() == c::DW_TAG_member) || is_static || members.len() >= MOST_NAMES
        {
            continue;
        }
        let Some(part) = target(unit, entry, depth - 1)? else {
            continue;
        };
        by_reference |= part.by_reference || entry.attr_value(c::DW_AT_virtuality)?.is_some();
        let (at, bits) = member_place(entry)?.unwrap_or((0, None));
        // A member of a packed class may lie anywhere, and says nothing of where the object does.
        let of_part = alignment_of(entry)?.unwrap_or(part.alignment);
        if at % of_part == 0 && bytes % of_part == 0 {
            alignment = alignment.max(of_part);
        }
        if is_base && entry.attr_value(c::DW_AT_virtuality)?.is_some() {
            parts = None; // where it is, the object says
            continue;
        }
        // An empty base has no place of its own.
        let has_place = !part.parts.as_ref().is_some_and(Vec::is_empty);
        if let (Some(parts), true) = (&mut parts, has_place) {
            match &part.parts {
                Some(inner) => parts.extend(
                    inner
                        .iter()
                        .map(|&(from, class)| (at.saturating_add(from), class)),
                ),
                None => parts.clear(),
            }
        }
        if part.parts.is_none() {
            parts = None;
        }
        if bits.is_none() {
            boundary = boundary.max(part.boundary);
            // An object with a member at such a place, as a packed one, lies in memory.
            if let (Some(parts), true) = (&mut parts, at % part.boundary != 0) {
                parts.push((0, Class::Memory));
            }
        }
        let Ok(at) = u32::try_from(at) else { continue };
        let kind = within(part);
        match kind {
            Type::Record { members: inner, .. } if is_base => {
                members.extend(inner.into_iter().map(|mut member| {
                    member.at = member.at.saturating_add(at);
                    member
                }))
            }
            _ if is_base => {}
            // The address of the virtual functions.
            _ if entry.attr_value(c::DW_AT_artificial)?.is_some() => by_reference = true,
            kind => members.push(Member {
                name: name_of(**unit, entry)?,
                at,
                bits,
                kind,
            }),
        }
    }
    by_reference |= copying.takes_code();
    let form = text_form(&name, &members);
    Ok(Described {
        kind: match form {
            Form::Text { .. } => Type::Text,
            _ => Type::Record {
                bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
                members,
            },
        },
        form,
        bytes,
        alignment,
        boundary,
        by_reference,
        parts: parts.and_then(|parts| bounded(parts, bytes)),
    })
}

/// A bit field begins at this bit and has so many; `None`: the member is no bit field.
type Bits = Option<(u8, u8)>;

/// Where a member is in its class, or a base: so many bytes from the beginning, and which bits
/// from there. `None`: an expression tells.
pub fn member_place(
    entry: &DebuggingInformationEntry<Slice>,
) -> gimli::Result<Option<(u64, Bits)>> {
    let number = |name| -> gimli::Result<Option<u64>> {
        let value = entry.attr_value(name)?;
        Ok(value.and_then(|value| value.udata_value()))
    };
    let bits = |first: u64, count| ((first % 8) as u8, u8::try_from(count).unwrap_or(64));
    if let (Some(first), Some(count)) = (
        number(c::DW_AT_data_bit_offset)?,
        number(c::DW_AT_bit_size)?,
    ) {
        return Ok(Some((first / 8, Some(bits(first, count)))));
    }
    Ok(match entry.attr_value(c::DW_AT_data_member_location)? {
        Some(at) => at.udata_value().map(|at| (at, None)),
        // The members of a union.
        None => Some((0, None)),
    })
}

/// The boundary that `alignas` asks for at an entry, if it is wider than a word.
fn alignment_of(entry: &DebuggingInformationEntry<Slice>) -> gimli::Result<Option<u64>> {
    let said = entry.attr_value(c::DW_AT_alignment)?;
    let said = said.and_then(|value| value.udata_value());
    Ok(said.filter(|&bytes| bytes > WORD && bytes.is_power_of_two()))
}

/// Whether objects of a class are copied and destroyed by code of its own: then they are passed and
/// returned by their address (Itanium C++ ABI, 3.1.2). GCC 12 tells so by the members alone.
#[derive(Default)]
struct Copying {
    /// There is a destructor, or a constructor that copies or moves, which the program wrote.
    has_code: bool,
    /// Constructors that copy or move, and those of them that are deleted.
    copies: u32,
    deleted: u32,
}

impl Copying {
    /// Looks at a member function of the class at `class`, which has this name.
    fn look<'a>(
        &mut self,
        unit: &Reader<'_, 'a>,
        entry: &DebuggingInformationEntry<Slice<'a>>,
        (class, name): (UnitOffset, &str),
    ) -> gimli::Result<()> {
        let flag = |name| -> gimli::Result<bool> { Ok(entry.attr_value(name)?.is_some()) };
        self.has_code |= flag(c::DW_AT_virtuality)?;
        let own = name_of(**unit, entry)?;
        let is_destructor = own.starts_with('~');
        let plain = name.split('<').next().unwrap_or(name);
        if !is_destructor && (own != plain || !takes_another(unit, entry.offset(), class)?) {
            return Ok(());
        }
        // What the compiler makes, or is told to make, depends on the members alone.
        let defaulted = entry.attr_value(c::DW_AT_defaulted)?;
        let defaulted = defaulted.and_then(|how| how.udata_value());
        let is_deleted = flag(c::DW_AT_deleted)?;
        let in_class = u64::from(c::DW_DEFAULTED_in_class.0);
        let is_made = flag(c::DW_AT_artificial)? || defaulted == Some(in_class);
        self.has_code |= !is_made && !is_deleted;
        self.copies += u32::from(!is_destructor);
        self.deleted += u32::from(!is_destructor && is_deleted);
        Ok(())
    }

    fn takes_code(&self) -> bool {
        self.has_code || (self.copies > 0 && self.copies == self.deleted)
    }
}

/// Whether the parameter behind `this` is a reference to another object of the class.
fn takes_another(unit: &Reader, at: UnitOffset, class: UnitOffset) -> gimli::Result<bool> {
    let mut tree = unit.entries_tree(Some(at))?;
    let mut children = tree.root()?.children();
    let mut number = 0;
    while let Some(child) = children.next()? {
        let entry = child.entry();
        if entry.tag() != c::DW_TAG_formal_parameter {
            continue;
        }
        number += 1;
        if number == 1 {
            continue;
        }
        let Some(AttributeValue::UnitRef(kind)) = entry.attr_value(c::DW_AT_type)? else {
            return Ok(false);
        };
        let kind = unit.entry(kind)?;
        let refers = matches!(
            kind.tag(),
            c::DW_TAG_reference_type | c::DW_TAG_rvalue_reference_type
        );
        return match kind.attr_value(c::DW_AT_type)? {
            Some(AttributeValue::UnitRef(to)) if refers => Ok(stripped(unit, to)? == Some(class)),
            _ => Ok(false),
        };
    }
    Ok(false)
}

/// `std::string` and `std::string_view`, as libstdc++ has them: the address of the text and its
/// length are members.
fn text_form(name: &str, members: &[Member]) -> Form {
    let at = |wanted: &str| {
        let member = members.iter().find(|member| member.name == wanted);
        member.and_then(|member| i16::try_from(member.at).ok())
    };
    let (text, length) = if name.starts_with("basic_string<char,") {
        (at("_M_dataplus"), at("_M_string_length"))
    } else if name.starts_with("basic_string_view<char,") {
        (at("_M_str"), at("_M_len"))
    } else {
        (None, None)
    };
    match (text, length) {
        (Some(text), Some(length)) => Form::Text { text, length },
        _ => Form::Plain,
    }
}
