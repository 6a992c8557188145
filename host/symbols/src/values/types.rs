//! Types of DWARF, as far as it matters to find and print values of them.

use super::attributes::inherited;
use super::records::record;
use crate::coroutines::Slice;
use gimli::{AttributeValue, DebuggingInformationEntry, UnitOffset, UnitRef, constants as c};
use heddle_trace_file::Type;
use std::cell::Cell;

/// A unit whose types are read, and how many may still be: structures of structures are many.
pub struct Reader<'u, 'a> {
    unit: UnitRef<'u, Slice<'a>>,
    left: Cell<u32>,
}

impl<'u, 'a> Reader<'u, 'a> {
    pub fn new(unit: UnitRef<'u, Slice<'a>>) -> Self {
        Reader {
            unit,
            left: Cell::new(0),
        }
    }
}

impl<'u, 'a> std::ops::Deref for Reader<'u, 'a> {
    type Target = UnitRef<'u, Slice<'a>>;
    fn deref(&self) -> &Self::Target {
        &self.unit
    }
}

/// A type, and how a value of it is found from where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    pub kind: Type,
    pub form: Form,
    /// Bytes of an object of it; 0: not known, or none.
    pub bytes: u64,
    /// The boundary in bytes at which an object of it lies on the stack: 8 or more.
    pub alignment: u64,
    /// The boundary at which all its members lie well where the object itself does.
    pub boundary: u64,
    /// Objects are passed and returned by their address, because they cannot be copied as bytes.
    pub by_reference: bool,
    /// What is where in it, for the rules by which it is passed; `None`: not known.
    pub parts: Option<Vec<(u64, Class)>>,
}

/// How the value to print is found.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// It is the bytes of the object.
    Plain,
    /// The object is a pointer to a text that ends with a zero.
    String,
    /// The object has a pointer to the text, and its length, so far behind its beginning.
    Text { text: i16, length: i16 },
    /// The object is the address of another one.
    Reference(Box<Described>),
}

/// Classes of System V's ABI, 3.2.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Integer,
    Sse,
    /// The rest of a vector: it is in the register in which the vector begins.
    SseUp,
    /// x87's, and what else goes through memory.
    Memory,
}

/// The most bytes of an object that are recorded.
pub const MOST_BYTES: u64 = 64;
/// Bytes of a word of the stack: no argument there is aligned to less.
pub const WORD: u64 = 8;
/// How deep structures within structures are described.
const DEEPEST: u32 = 10;
/// The most enumerators of an enumeration, and members of a structure, that are told.
pub const MOST_NAMES: usize = 1000;
/// The most parts of an object whose classes are told.
const MOST_PARTS: usize = 256;
/// The most types that one type is described by.
const MOST_TYPES: u32 = 2000;

impl Described {
    fn scalar(kind: Type, bytes: u64, class: Class) -> Self {
        Described {
            kind,
            form: Form::Plain,
            bytes,
            alignment: bytes.max(WORD),
            boundary: bytes.max(1),
            by_reference: false,
            parts: Some(vec![(0, class)]),
        }
    }

    pub fn pointer() -> Self {
        Self::scalar(Type::Pointer, 8, Class::Integer)
    }

    /// `double`.
    pub fn double() -> Self {
        Self::scalar(Type::Float { bytes: 8 }, 8, Class::Sse)
    }

    /// A type of which nothing is known.
    pub fn unknown() -> Self {
        Self::opaque("?".into(), 0)
    }

    /// A type of which nothing but the name is known.
    pub fn opaque(name: String, bytes: u64) -> Self {
        Described {
            kind: Type::Opaque(name),
            form: Form::Plain,
            bytes,
            alignment: WORD,
            boundary: 1,
            by_reference: false,
            parts: None,
        }
    }
}

/// The type that an entry's `DW_AT_type` names; `None`: it has none, as a function that returns
/// nothing.
pub fn of_entry(unit: &Reader, entry: UnitOffset) -> gimli::Result<Option<Described>> {
    match inherited(**unit, entry, c::DW_AT_type)? {
        None => Ok(None),
        Some(AttributeValue::UnitRef(at)) => {
            unit.left.set(MOST_TYPES);
            described(unit, at, DEEPEST).map(Some)
        }
        Some(_) => Ok(Some(Described::unknown())),
    }
}

pub fn name_of<'a>(
    unit: UnitRef<'_, Slice<'a>>,
    entry: &DebuggingInformationEntry<Slice<'a>>,
) -> gimli::Result<String> {
    match entry.attr_value(c::DW_AT_name)? {
        Some(name) => Ok(String::from_utf8_lossy(unit.attr_string(name)?.slice()).into_owned()),
        None => Ok(String::new()),
    }
}

/// The entry that a type stands for: without names and qualifiers for it. `None`: `void`.
pub fn stripped(unit: &Reader, mut at: UnitOffset) -> gimli::Result<Option<UnitOffset>> {
    // No chain that ends in itself.
    for _ in 0..64 {
        let entry = unit.entry(at)?;
        if !is_other_name(entry.tag()) {
            return Ok(Some(at));
        }
        match entry.attr_value(c::DW_AT_type)? {
            Some(AttributeValue::UnitRef(next)) => at = next,
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// Whether an entry is another name of a type, or qualifies it.
pub fn is_other_name(tag: gimli::DwTag) -> bool {
    matches!(
        tag,
        c::DW_TAG_typedef
            | c::DW_TAG_const_type
            | c::DW_TAG_volatile_type
            | c::DW_TAG_restrict_type
            | c::DW_TAG_atomic_type
    )
}

pub fn size_of(entry: &DebuggingInformationEntry<Slice>) -> gimli::Result<u64> {
    let size = entry.attr_value(c::DW_AT_byte_size)?;
    Ok(size.and_then(|size| size.udata_value()).unwrap_or(0))
}

fn described(unit: &Reader, at: UnitOffset, depth: u32) -> gimli::Result<Described> {
    let Some(at) = stripped(unit, at)? else {
        return Ok(Described::opaque("void".into(), 0));
    };
    let Some(left) = unit.left.get().checked_sub(1) else {
        return Ok(Described::unknown());
    };
    unit.left.set(left);
    let entry = unit.entry(at)?;
    let bytes = size_of(&entry)?;
    Ok(match entry.tag() {
        c::DW_TAG_base_type => base(unit, &entry, bytes)?,
        c::DW_TAG_unspecified_type => Described::pointer(), // std::nullptr_t
        c::DW_TAG_pointer_type => pointer(unit, &entry)?,
        c::DW_TAG_reference_type | c::DW_TAG_rvalue_reference_type => {
            let target = match depth.checked_sub(1) {
                Some(depth) => target(unit, &entry, depth)?,
                None => None,
            };
            match target {
                Some(target) if !matches!(target.kind, Type::Opaque(_)) => Described {
                    form: Form::Reference(Box::new(target)),
                    ..Described::pointer()
                },
                _ => Described::pointer(),
            }
        }
        c::DW_TAG_enumeration_type => enumeration(unit, at, &entry, bytes)?,
        c::DW_TAG_structure_type | c::DW_TAG_class_type | c::DW_TAG_union_type => {
            record(unit, at, &entry, bytes, depth)?
        }
        c::DW_TAG_array_type => array(unit, at, &entry, depth)?,
        c::DW_TAG_ptr_to_member_type => to_member(unit, &entry)?,
        _ => Described::opaque(name_of(**unit, &entry)?, bytes),
    })
}

pub fn target<'a>(
    unit: &Reader<'_, 'a>,
    entry: &DebuggingInformationEntry<Slice<'a>>,
    depth: u32,
) -> gimli::Result<Option<Described>> {
    match entry.attr_value(c::DW_AT_type)? {
        Some(AttributeValue::UnitRef(at)) => described(unit, at, depth).map(Some),
        _ => Ok(None),
    }
}

fn base<'a>(
    unit: &Reader<'_, 'a>,
    entry: &DebuggingInformationEntry<Slice<'a>>,
    bytes: u64,
) -> gimli::Result<Described> {
    let name = name_of(**unit, entry)?;
    let encoding = match entry.attr_value(c::DW_AT_encoding)? {
        Some(AttributeValue::Encoding(encoding)) => encoding,
        _ => c::DwAte(0),
    };
    let short = bytes as u16;
    let is_character = matches!(
        name.as_str(),
        "char" | "char8_t" | "char16_t" | "char32_t" | "wchar_t"
    );
    let kind = match encoding {
        _ if bytes == 0 || bytes > 16 => return Ok(Described::opaque(name, bytes)),
        _ if is_character && bytes <= 4 => Type::Character { bytes: short },
        c::DW_ATE_boolean => Type::Bool,
        c::DW_ATE_signed | c::DW_ATE_signed_char => Type::Integer {
            bytes: short,
            signed: true,
        },
        c::DW_ATE_unsigned | c::DW_ATE_unsigned_char | c::DW_ATE_UTF | c::DW_ATE_address => {
            Type::Integer {
                bytes: short,
                signed: false,
            }
        }
        c::DW_ATE_float if bytes == 4 || bytes == 8 => {
            return Ok(Described::scalar(
                Type::Float { bytes: short },
                bytes,
                Class::Sse,
            ));
        }
        // Of these it matters only where the ones behind them are.
        c::DW_ATE_float if name == "_Float16" => {
            return Ok(Described {
                parts: Some(vec![(0, Class::Sse)]),
                boundary: bytes,
                ..Described::opaque(name, bytes)
            });
        }
        c::DW_ATE_float if name == "_Float128" || name == "__float128" => {
            return Ok(Described {
                parts: vector(bytes),
                alignment: bytes,
                boundary: bytes,
                ..Described::opaque(name, bytes)
            });
        }
        c::DW_ATE_complex_float if bytes == 8 || bytes == 16 => {
            let half = bytes / 2;
            return Ok(Described {
                parts: Some(vec![(0, Class::Sse), (half, Class::Sse)]),
                boundary: half,
                ..Described::opaque(name, bytes)
            });
        }
        c::DW_ATE_float if name == "long double" => {
            return Ok(Described::scalar(
                Type::Float { bytes: 16 },
                16,
                Class::Memory,
            ));
        }
        _ => return Ok(Described::opaque(name, bytes)),
    };
    let mut scalar = Described::scalar(kind, bytes, Class::Integer);
    if bytes > 8 {
        scalar.parts = Some(vec![(0, Class::Integer), (8, Class::Integer)]);
    }
    Ok(scalar)
}

/// The parts of a vector of so many bytes. `None`: compilers pass it in different ways.
fn vector(bytes: u64) -> Option<Vec<(u64, Class)>> {
    let class = |word: u64| match word {
        0 => (0, Class::Sse),
        word => (word * WORD, Class::SseUp),
    };
    matches!(bytes, 8 | 16 | 32 | 64).then(|| (0..bytes / WORD).map(class).collect())
}

fn pointer<'a>(
    unit: &Reader<'_, 'a>,
    entry: &DebuggingInformationEntry<Slice<'a>>,
) -> gimli::Result<Described> {
    let target = match entry.attr_value(c::DW_AT_type)? {
        Some(AttributeValue::UnitRef(at)) => stripped(unit, at)?,
        _ => None,
    };
    let Some(target) = target else {
        return Ok(Described::pointer());
    };
    let target = unit.entry(target)?;
    Ok(match target.tag() {
        c::DW_TAG_base_type if name_of(**unit, &target)? == "char" => Described {
            kind: Type::Text,
            form: Form::String,
            ..Described::pointer()
        },
        c::DW_TAG_subroutine_type => Described::scalar(Type::Function, 8, Class::Integer),
        _ => Described::pointer(),
    })
}

/// A pointer to a member: an offset; or, to a function, two words.
fn to_member<'a>(
    unit: &Reader<'_, 'a>,
    entry: &DebuggingInformationEntry<Slice<'a>>,
) -> gimli::Result<Described> {
    let mut described = Described::opaque("pointer to member".into(), 8);
    let mut parts = vec![(0, Class::Integer)];
    if let Some(AttributeValue::UnitRef(at)) = entry.attr_value(c::DW_AT_type)?
        && let Some(at) = stripped(unit, at)?
        && unit.entry(at)?.tag() == c::DW_TAG_subroutine_type
    {
        described.bytes = 16;
        parts.push((8, Class::Integer));
    }
    described.parts = Some(parts);
    Ok(described)
}

fn enumeration<'a>(
    unit: &Reader<'_, 'a>,
    at: UnitOffset,
    entry: &DebuggingInformationEntry<Slice<'a>>,
    bytes: u64,
) -> gimli::Result<Described> {
    let underlying = target(unit, entry, 0)?;
    let mut signed = matches!(
        underlying.map(|underlying| underlying.kind),
        Some(Type::Integer { signed: true, .. })
    );
    let mut names = Vec::new();
    let mut tree = unit.entries_tree(Some(at))?;
    let mut children = tree.root()?.children();
    while let Some(child) = children.next()? {
        let entry = child.entry();
        if entry.tag() != c::DW_TAG_enumerator || names.len() >= MOST_NAMES {
            continue;
        }
        let value = entry.attr_value(c::DW_AT_const_value)?;
        let value = value.and_then(|value| match value.sdata_value() {
            Some(value) => Some(value),
            None => value.udata_value().map(|value| value as i64),
        });
        if let Some(value) = value {
            names.push((value, name_of(**unit, entry)?));
        }
    }
    if bytes == 0 || bytes > 8 {
        return Ok(Described::opaque(name_of(**unit, entry)?, bytes));
    }
    signed |= bytes < 8 && names.iter().any(|(value, _)| *value < 0);
    let kind = Type::Enumeration {
        bytes: bytes as u16,
        signed,
        names,
    };
    Ok(Described::scalar(kind, bytes, Class::Integer))
}

fn array<'a>(
    unit: &Reader<'_, 'a>,
    at: UnitOffset,
    entry: &DebuggingInformationEntry<Slice<'a>>,
    depth: u32,
) -> gimli::Result<Described> {
    let element = match depth.checked_sub(1) {
        Some(depth) => target(unit, entry, depth)?,
        None => None,
    };
    let is_vector = entry.attr_value(c::DW_AT_GNU_vector)?.is_some();
    let mut alignment = element.as_ref().map_or(WORD, |element| element.alignment);
    let counts = array_counts(**unit, at)?;
    let (Some(element), &[count]) = (element, counts.as_slice()) else {
        return Ok(Described::opaque("array".into(), 0));
    };
    let small = |number: u64| u32::try_from(number).ok();
    let bytes = element.bytes.checked_mul(count).and_then(small);
    let (Some(bytes), Some(each), Some(count)) = (bytes, small(element.bytes), small(count)) else {
        return Ok(Described::opaque("array".into(), 0));
    };
    let mut boundary = element.boundary;
    let mut parts = element.parts.as_ref().and_then(|parts| {
        let elements = (0..u64::from(count).min(16)).map(|index| index * u64::from(each));
        let all = elements.flat_map(|at| {
            parts
                .iter()
                .map(move |&(part, class)| (part.saturating_add(at), class))
        });
        let mut all: Vec<(u64, Class)> = all.take(MOST_PARTS + 1).collect();
        // As of a packed structure, that is no multiple of its members' size.
        if count > 1 && u64::from(each) % boundary != 0 {
            all.push((0, Class::Memory));
        }
        bounded(all, bytes.into())
    });
    if is_vector {
        parts = vector(bytes.into());
        boundary = u64::from(bytes).max(1);
        alignment = boundary.max(WORD);
    }
    Ok(Described {
        kind: Type::Array {
            of: Box::new(within(element)),
            bytes: each,
            count,
        },
        form: Form::Plain,
        bytes: bytes.into(),
        alignment,
        boundary,
        by_reference: false,
        parts,
    })
}

/// How many elements an array has, in each of its dimensions; 0: not known.
pub fn array_counts(unit: UnitRef<Slice>, at: UnitOffset) -> gimli::Result<Vec<u64>> {
    let mut counts = Vec::new();
    let mut tree = unit.entries_tree(Some(at))?;
    let mut children = tree.root()?.children();
    while let Some(child) = children.next()? {
        let entry = child.entry();
        if entry.tag() != c::DW_TAG_subrange_type {
            continue;
        }
        let number = |name| -> gimli::Result<Option<u64>> {
            Ok(entry
                .attr_value(name)?
                .and_then(|value| value.udata_value()))
        };
        let count = match number(c::DW_AT_count)? {
            Some(count) => Some(count),
            None => number(c::DW_AT_upper_bound)?.and_then(|bound| bound.checked_add(1)),
        };
        counts.push(count.unwrap_or(0));
    }
    Ok(counts)
}

/// What is known of an object's parts, not more than matters: one that is too large for registers
/// lies in memory whatever it has.
pub fn bounded(mut parts: Vec<(u64, Class)>, bytes: u64) -> Option<Vec<(u64, Class)>> {
    if parts.len() > MOST_PARTS {
        parts.truncate(MOST_PARTS);
        return (bytes > 16).then_some(parts);
    }
    Some(parts)
}

/// The type of a part of an object: of that, only its own bytes are recorded.
pub fn within(described: Described) -> Type {
    match described.form {
        Form::Plain => described.kind,
        Form::Reference(_) | Form::String => Type::Pointer,
        Form::Text { .. } => Type::Opaque("text".into()),
    }
}
