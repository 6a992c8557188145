//! Turns scopes into ranges of code.

use super::Slice;
use super::cfa;
use super::frame_type::{Frame, Known};
use super::place::{Base, Location, base, from_cfa, location};
use super::scopes::{Scope, global};
use gimli::{AttributeValue, Expression, UnitRef, constants as c};
use heddle_trace_file::{FramePlace, Recipe};
use std::ops::Range;

/// Stretches of code with what is known there.
pub type Found = Vec<(Range<u64>, Recipe)>;

/// Adds what the scopes of a unit say.
pub fn add<'a>(
    found: &mut Found,
    unit: UnitRef<Slice<'a>>,
    scopes: &[Scope<'a>],
    known: &Known,
    cfa: &cfa::Table,
) -> gimli::Result<()> {
    for (index, scope) in scopes.iter().enumerate() {
        let declared = [global(unit, scope.entry), scope.origin];
        let mut declared = declared.into_iter().flatten();
        let frame = declared.find_map(|declared| known.get(&declared));
        let Some(&Frame { resume_index }) = frame else {
            continue;
        };
        let all = ranges(unit, scope)?;
        let inner = scopes[index + 1..]
            .iter()
            .take_while(|inner| inner.parent.is_some_and(|parent| parent >= index))
            .filter(|inner| inner.parent == Some(index));
        let mut others = Vec::new();
        for inner in inner {
            others.extend(ranges(unit, inner)?);
        }
        others.sort_unstable_by_key(|range| range.start);
        let own = without(&all, &others);
        let places = places(unit, scope, &own, cfa)?;
        for range in own {
            // No call returns to an address behind the end.
            let further = !all.iter().any(|whole| whole.end == range.end);
            let end = range.end.saturating_add(further.into());
            let behind = |address: u64| address.saturating_add(1);
            let mut at = behind(range.start);
            let here = places
                .iter()
                .filter(|(part, _)| part.start < range.end && range.start < part.end);
            for (part, place) in here {
                let (start, end) = (behind(part.start).max(at), behind(part.end).min(end));
                if start < end {
                    push(found, at..start, None, resume_index);
                    push(found, start..end, Some(*place), resume_index);
                    at = end;
                }
            }
            push(found, at..end, None, resume_index);
        }
    }
    Ok(())
}

fn push(found: &mut Found, range: Range<u64>, place: Option<FramePlace>, index: Option<u32>) {
    let recipe = Recipe {
        place,
        resume_index: index,
    };
    if !range.is_empty() {
        found.push((range, recipe));
    }
}

/// The code of a scope, in order.
fn ranges(unit: UnitRef<Slice>, scope: &Scope) -> gimli::Result<Vec<Range<u64>>> {
    let entry = unit.entry(scope.entry)?;
    let mut all = Vec::new();
    if let Some(list) = entry.attr_value(c::DW_AT_ranges)? {
        if let Some(mut ranges) = unit.attr_ranges(list)? {
            while let Some(range) = ranges.next()? {
                all.push(range.begin..range.end);
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
        all.extend(high.map(|high| low..high));
    }
    all.retain(|range| !range.is_empty());
    all.sort_unstable_by_key(|range| range.start);
    Ok(all)
}

/// What of `ranges` is in none of `others`; both in order.
fn without(ranges: &[Range<u64>], others: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut left = Vec::new();
    for range in ranges {
        let mut at = range.start;
        for other in others {
            if other.start >= range.end {
                break;
            }
            if at < other.start {
                left.push(at..other.start);
            }
            at = at.max(other.end);
        }
        if at < range.end {
            left.push(at..range.end);
        }
    }
    left
}

/// The parameter's locations, in order of code.
fn places<'a>(
    unit: UnitRef<Slice<'a>>,
    scope: &Scope<'a>,
    own: &[Range<u64>],
    cfa: &cfa::Table,
) -> gimli::Result<Vec<(Range<u64>, FramePlace)>> {
    let encoding = unit.encoding();
    let base = match scope.frame_base {
        Some(AttributeValue::Exprloc(expression)) => base(expression, encoding),
        _ => Base::Other,
    };
    let mut all = Vec::new();
    let mut add = |range: Range<u64>, expression: Expression<Slice>| {
        match location(expression, encoding, base) {
            Location::At(place) => all.push((range, place)),
            Location::FromCfa(offset) => {
                let parts = cfa.within(&range)?.into_iter();
                all.extend(parts.filter_map(|(part, cfa)| Some((part, from_cfa(cfa, offset)?))));
            }
            Location::Elsewhere => {}
        }
        gimli::Result::Ok(())
    };
    match scope.location {
        Some(AttributeValue::Exprloc(expression)) => {
            for range in own {
                add(range.clone(), expression)?;
            }
        }
        Some(list) => {
            if let Some(mut entries) = unit.attr_locations(list)? {
                while let Some(entry) = entries.next()? {
                    add(entry.range.begin..entry.range.end, entry.data)?;
                }
            }
        }
        None => {}
    }
    all.sort_by_key(|(range, _)| range.start);
    Ok(all)
}

/// All in order; where two say something of one address, the first does, and neighbours that say
/// the same are one.
pub fn in_order(mut found: Found) -> Found {
    found.sort_by_key(|(range, _)| range.start);
    let mut all: Found = Vec::with_capacity(found.len());
    for (range, recipe) in found {
        let (mut start, end) = (range.start, range.end);
        if let Some((last, before)) = all.last_mut() {
            start = start.max(last.end);
            if start == last.end && *before == recipe {
                last.end = last.end.max(end);
                continue;
            }
        }
        if start < end {
            all.push((start..end, recipe));
        }
    }
    all
}
