//! The functions of units, inlined ones too, with their code and parameters.

use super::types::{self, Described, Reader};
use super::{Hook, attributes::inherited};
use crate::coroutines::Slice;
use crate::coroutines::cfa::Cfa;
use gimli::{AttributeValue, DebugInfoOffset, Dwarf, Encoding, Expression, Operation, Unit};
use gimli::{UnitOffset, UnitRef, constants as c};
use heddle_trace_file::Workers;
use std::collections::HashMap;
use std::ops::Range;

/// A function, or a place that it was inlined at.
pub struct Scope<'a> {
    pub entry: UnitOffset,
    /// The entry that declares it, where that is another one.
    pub origin: Option<DebugInfoOffset>,
    pub inlined: bool,
    /// How many scopes are around it.
    depth: usize,
    /// Its code; the part that it begins with is first.
    code: Vec<Range<u64>>,
    /// What places on the stack are counted from.
    pub frame_base: Option<AttributeValue<Slice<'a>>>,
    parameters: Vec<UnitOffset>,
}

impl Scope<'_> {
    /// Where its code begins.
    pub fn start(&self) -> Option<u64> {
        self.code.first().map(|part| part.start)
    }

    /// Whether an address is in the part that it begins with.
    pub fn begins_with(&self, address: u64) -> bool {
        let first = self.code.first();
        first.is_some_and(|part| part.contains(&address))
    }
}

/// A parameter of a function.
pub struct Parameter<'a> {
    pub name: String,
    pub described: Described,
    pub location: Option<AttributeValue<Slice<'a>>>,
    /// What it is somewhere in the function, where it has no location.
    pub constant: Option<Vec<u8>>,
}

/// A unit with its scopes.
pub type Parts<'a> = (Unit<Slice<'a>>, Vec<Scope<'a>>);

/// The units whose code calls hooks, by all processors at once.
pub fn units<'a>(dwarf: &Dwarf<Slice<'a>>, sites: &[(u64, Hook)]) -> gimli::Result<Vec<Parts<'a>>> {
    let mut headers = Vec::new();
    let mut all = dwarf.units();
    while let Some(header) = all.next()? {
        headers.push(header);
    }
    let read = Workers::all().each(&headers, |header| {
        let unit = dwarf.unit(*header)?;
        let here = unit.unit_ref(dwarf);
        let mut ranges = here.unit_ranges()?;
        let mut calls = false;
        while let Some(range) = ranges.next()? {
            let first = sites.partition_point(|&(address, _)| address <= range.begin);
            calls |= sites
                .get(first)
                .is_some_and(|&(address, _)| address <= range.end);
        }
        if !calls {
            return Ok(None);
        }
        let scopes = scopes(here)?;
        gimli::Result::Ok(Some((unit, scopes)))
    });
    let read: gimli::Result<Vec<Option<Parts>>> = read.into_iter().collect();
    Ok(read?.into_iter().flatten().collect())
}

fn scopes<'a>(unit: UnitRef<Slice<'a>>) -> gimli::Result<Vec<Scope<'a>>> {
    let mut scopes: Vec<Scope> = Vec::new();
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
        let tag = abbreviation.tag();
        raw.skip_attributes(abbreviation.attributes())?;
        match tag {
            c::DW_TAG_subprogram | c::DW_TAG_inlined_subroutine => {
                let inlined = tag == c::DW_TAG_inlined_subroutine;
                let outer = open.last().map(|&(_, scope)| &scopes[scope]);
                let outer_base = outer.filter(|_| inlined).and_then(|outer| outer.frame_base);
                let new = scope(unit, entry, (inlined, open.len(), outer_base))?;
                open.push((depth, scopes.len()));
                scopes.push(new);
            }
            c::DW_TAG_formal_parameter => {
                if let Some(&(opened_at, scope)) = open.last()
                    && opened_at + 1 == depth
                {
                    scopes[scope].parameters.push(entry);
                }
            }
            _ => {}
        }
    }
    Ok(scopes)
}

fn scope<'a>(
    unit: UnitRef<Slice<'a>>,
    at: UnitOffset,
    (inlined, depth, outer_base): (bool, usize, Option<AttributeValue<Slice<'a>>>),
) -> gimli::Result<Scope<'a>> {
    let entry = unit.entry(at)?;
    let origin = match entry.attr_value(c::DW_AT_abstract_origin)? {
        None => entry.attr_value(c::DW_AT_specification)?,
        origin => origin,
    };
    let own_base = entry.attr_value(c::DW_AT_frame_base)?;
    let mut code = Vec::new();
    if let Some(list) = entry.attr_value(c::DW_AT_ranges)? {
        if let Some(mut ranges) = unit.attr_ranges(list)? {
            while let Some(range) = ranges.next()? {
                code.push(range.begin..range.end);
            }
        }
    } else if let Some(low) = entry.attr_value(c::DW_AT_low_pc)?
        && let Some(low) = unit.attr_address(low)?
    {
        let high = match entry.attr_value(c::DW_AT_high_pc)? {
            Some(high) => match high.udata_value() {
                Some(size) => low.checked_add(size),
                None => unit.attr_address(high)?,
            },
            None => None,
        };
        code.extend(high.map(|high| low..high));
    }
    code.retain(|range| !range.is_empty());
    Ok(Scope {
        entry: at,
        origin: match origin {
            Some(AttributeValue::UnitRef(at)) => at.to_debug_info_offset(&unit.header),
            Some(AttributeValue::DebugInfoRef(at)) => Some(at),
            _ => None,
        },
        inlined,
        depth,
        code,
        frame_base: own_base.or(outer_base),
        parameters: Vec::new(),
    })
}

/// For each call of a hook in these scopes, by its index, the function whose code it is in, and
/// the innermost scope around it.
pub fn holders(
    scopes: &[Scope],
    sites: &[(u64, Hook)],
) -> (HashMap<usize, usize>, HashMap<usize, usize>) {
    let (mut around, mut innermost) = (HashMap::new(), HashMap::new());
    for (index, scope) in scopes.iter().enumerate() {
        for part in &scope.code {
            // The call is the byte before the address that it returns to.
            let first = sites.partition_point(|&(address, _)| address <= part.start);
            let end = sites.partition_point(|&(address, _)| address <= part.end);
            for site in first..end.max(first) {
                if !scope.inlined {
                    around.entry(site).or_insert(index);
                }
                let inner = innermost.entry(site).or_insert(index);
                if scopes[*inner].depth <= scope.depth {
                    *inner = index;
                }
            }
        }
    }
    (around, innermost)
}

/// The linker's name of a scope's function.
pub fn linkage_name(unit: UnitRef<Slice>, scope: &Scope) -> gimli::Result<Option<String>> {
    let name = match inherited(unit, scope.entry, c::DW_AT_linkage_name)? {
        // A function of C.
        None => inherited(unit, scope.entry, c::DW_AT_name)?,
        name => name,
    };
    let Some(name) = name else { return Ok(None) };
    let name = unit.attr_string(name)?;
    Ok(Some(String::from_utf8_lossy(name.slice()).into_owned()))
}

/// Whether a function is called without a prototype (C's old style), so that its arguments are
/// promoted: a `float` is given as a `double`.
pub fn is_unprototyped(unit: UnitRef<Slice>, scope: &Scope) -> gimli::Result<bool> {
    if inherited(unit, scope.entry, c::DW_AT_prototyped)?.is_some() {
        return Ok(false);
    }
    let mut tree = unit.entries_tree(None)?;
    let language = tree.root()?.entry().attr_value(c::DW_AT_language)?;
    Ok(matches!(
        language,
        Some(AttributeValue::Language(
            c::DW_LANG_C | c::DW_LANG_C89 | c::DW_LANG_C99 | c::DW_LANG_C11 | c::DW_LANG_C17
        ))
    ))
}

/// What a function returns; `None`: nothing.
pub fn result(reader: &Reader, scope: &Scope) -> gimli::Result<Option<Described>> {
    types::of_entry(reader, scope.entry)
}

/// The parameters, in order.
pub fn parameters<'a>(
    reader: &Reader<'_, 'a>,
    scope: &Scope<'a>,
) -> gimli::Result<Vec<Parameter<'a>>> {
    let mut all = Vec::new();
    for at in in_order(reader, &scope.parameters)? {
        let entry = reader.entry(at)?;
        let name = match inherited(**reader, at, c::DW_AT_name)? {
            Some(name) => String::from_utf8_lossy(reader.attr_string(name)?.slice()).into_owned(),
            None => String::new(),
        };
        let described = match types::of_entry(reader, at)? {
            Some(described) => described,
            None => Described::unknown(),
        };
        let constant = match entry.attr_value(c::DW_AT_const_value)? {
            Some(AttributeValue::Block(bytes)) => Some(bytes.slice().to_vec()),
            Some(value) => {
                let number = match value.sdata_value() {
                    Some(number) => Some(number),
                    None => value.udata_value().map(|number| number as i64),
                };
                number.map(|number| i128::from(number).to_le_bytes().to_vec())
            }
            None => None,
        };
        all.push(Parameter {
            name,
            described,
            location: entry.attr_value(c::DW_AT_location)?,
            constant,
        });
    }
    Ok(all)
}

/// Parameters in the order in which the function declares them: of a copy of it, GCC may list them
/// the other way round.
fn in_order(reader: &Reader, parameters: &[UnitOffset]) -> gimli::Result<Vec<UnitOffset>> {
    let mut declared = Vec::new();
    for &at in parameters {
        match reader.entry(at)?.attr_value(c::DW_AT_abstract_origin)? {
            Some(AttributeValue::UnitRef(origin)) => declared.push((origin, at)),
            _ => return Ok(parameters.to_vec()),
        }
    }
    declared.sort_unstable();
    Ok(declared.into_iter().map(|(_, at)| at).collect())
}

/// What offsets in a frame count from, at a place with this canonical frame address.
pub fn frame_base(
    expression: Expression<Slice>,
    encoding: Encoding,
    cfa: Option<Cfa>,
) -> Option<Cfa> {
    let mut operations = expression.operations(encoding);
    let first = operations.next().ok()??;
    match (first, operations.next()) {
        (Operation::CallFrameCFA, Ok(None)) => cfa,
        (Operation::Register { register }, Ok(None)) => Some(Cfa {
            register,
            offset: 0,
        }),
        _ => None,
    }
}

/// Whether a parameter that is stored in the function's frame is there by its address; `None`: it
/// is not stored there, or that cannot be read.
pub fn is_by_address(expression: Expression<Slice>, encoding: Encoding) -> Option<bool> {
    let mut operations = expression.operations(encoding);
    let in_frame = match operations.next().ok()?? {
        Operation::FrameOffset { .. } => true,
        first => by_pointer(first),
    };
    match operations.next().ok()? {
        None if in_frame => Some(false),
        Some(Operation::Deref { .. }) if in_frame => Some(true),
        _ => None,
    }
}

/// Whether a location that holds for all of a function is in its own frame, where it stores the
/// parameter once it has been entered.
pub fn is_stored_later(expression: Expression<Slice>, encoding: Encoding) -> bool {
    let first = expression.operations(encoding).next();
    match first {
        Ok(Some(Operation::FrameOffset { offset })) => offset < 0,
        Ok(Some(first)) => by_pointer(first),
        _ => false,
    }
}

/// Whether an operation counts from the stack pointer or the base pointer themselves, as where a
/// function has aligned the stack.
fn by_pointer(operation: Operation<Slice>) -> bool {
    matches!(
        operation,
        Operation::RegisterOffset { register, .. } if matches!(register.0, 6 | 7)
    )
}
