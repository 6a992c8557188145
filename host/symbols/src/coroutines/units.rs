//! The compilation units that may have coroutines: most have none, and there may be gigabytes of
//! them.

use super::Slice;
use super::frame_type::Known;
use super::scopes::{self, Scope};
use gimli::{Dwarf, Section, Unit, UnitHeader, UnitSectionOffset};
use heddle_trace_file::Workers;
use memchr::memmem;

/// The name of the parameter; and of the units that GCC makes of code that was optimised at link
/// time.
const NAMES: [&[u8]; 2] = [b"frame_ptr\0", b"<artificial>\0"];

/// The units in which one of these names occurs.
///
/// A name is an offset into `.debug_str` or `.debug_line_str`, where the linker keeps it once; four
/// bytes that are the same by chance cost time, no more.
pub fn with_coroutines<'a>(dwarf: &Dwarf<Slice<'a>>) -> gimli::Result<Vec<UnitHeader<Slice<'a>>>> {
    let info = dwarf.debug_info.reader().slice();
    let strings = [
        dwarf.debug_str.reader().slice(),
        dwarf.debug_line_str.reader().slice(),
    ];
    let mut hits = Vec::new();
    for name in NAMES {
        hits.extend(memmem::find_iter(info, name));
        for at in strings.iter().flat_map(|all| memmem::find_iter(all, name)) {
            let Ok(offset) = u32::try_from(at) else {
                break; // DWARF of 64 bits, which GCC writes on request only
            };
            hits.extend(memmem::find_iter(info, &offset.to_le_bytes()));
        }
    }
    hits.sort_unstable();
    let mut found = Vec::new();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let UnitSectionOffset::DebugInfoOffset(begin) = header.offset() else {
            continue;
        };
        let end = begin.0 + header.length_including_self();
        let next = hits.partition_point(|&hit| hit < begin.0);
        if hits.get(next).is_some_and(|&hit| hit < end) {
            found.push(header);
        }
    }
    Ok(found)
}

/// A unit with its scopes and the coroutines among them.
type Parts<'a> = (Unit<Slice<'a>>, Vec<Scope<'a>>, Known);

/// Reads them, by all processors at once.
pub fn read<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    headers: &[UnitHeader<Slice<'a>>],
) -> gimli::Result<Vec<Parts<'a>>> {
    let read = Workers::all().each(headers, |header| {
        let unit = dwarf.unit(*header)?;
        let (scopes, known) = scopes::read(unit.unit_ref(dwarf))?;
        Ok((unit, scopes, known))
    });
    read.into_iter().collect()
}
