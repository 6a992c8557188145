//! Recipes from DWARF: where the frame of a C++20 coroutine is when one of its functions is
//! entered, and where in it `_Coro_resume_index` is.
//!
//! GCC gives the functions that resume and destroy a coroutine one parameter, `frame_ptr`, and says
//! by a location for every program counter where it is. An optimiser inlines these functions too,
//! into the ramp above all; then the parameter has places in there. What is between an inlined
//! callee's brackets is that callee's, so it gets no recipe: the hooks that are called there are
//! not the coroutine's.
//!
//! The library knows a call of its hook by the return address, which is behind the call: so code
//! [a, b) becomes the return addresses [a + 1, b + 1).
//!
//! Seen in the wild: functions in two parts (`.cold`: no `DW_AT_low_pc`), the same coroutine once
//! in every object file (the parts are local symbols), sections that the linker discarded (their
//! code is at address 0 or 1), `frame_ptr` in a register that is used for something else while the
//! coroutine still runs, link-time optimisation (functions in units of their own, called
//! `<artificial>`, that refer to what they are in others').

mod awaiters;
pub(crate) mod cfa;
mod flow;
mod frame_code;
mod frame_type;
mod place;
mod prologue;
mod ranges;
mod scopes;
mod suspensions;
mod units;

use crate::unpack::{Unpackable, Unpacking};
use crate::{SymbolTable, coroutine_part};
pub(crate) use frame_code::{FrameCode, frame_code};
use gimli::{DwarfSections, EndianSlice, LittleEndian, SectionId};
use heddle_trace_file::{FramePlace, Recipe};
use object::Object;
use object::read::elf::ElfFile64;
use prologue::first_argument;
use std::borrow::Cow;
use std::ops::Range;
use suspensions::code_in;
pub(crate) use suspensions::{Body, Point, suspension_points};

/// DWARF as it lies in the file.
pub(crate) type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// Why there are no recipes.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("not a readable 64-bit ELF file: {0}")]
    Elf(#[from] object::Error),
    #[error("damaged debug information: {0}")]
    Dwarf(#[from] gimli::Error),
    #[error("damaged debug information: {0}")]
    Packed(#[from] Unpackable),
}

/// Return addresses of hooks, in the file's own address space, in order and without overlaps, and
/// what is known there. `debug` is the file that has the debug information of `program`, which may
/// be itself.
///
/// O(bytes of the compilation units that have coroutines), and a look at all bytes of `.debug_info`
/// for which these are.
pub(crate) fn recipes(program: &[u8], debug: &[u8]) -> Result<Vec<(Range<u64>, Recipe)>, Unusable> {
    let program = ElfFile64::<object::LittleEndian>::parse(program)?;
    let mut unpacking = Unpacking::new();
    let debug = ElfFile64::<object::LittleEndian>::parse(debug)?;
    let load = |id: SectionId| match debug.section_by_name(id.name()) {
        Some(section) => unpacking.data(&section),
        None => Ok(Cow::default()),
    };
    let sections = DwarfSections::load(load)?;
    let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
    let mut units = Vec::new();
    let mut known = frame_type::Known::new();
    for (unit, scopes, of_unit) in units::read(&dwarf, &units::with_coroutines(&dwarf)?)? {
        known.extend(of_unit);
        units.push((unit, scopes));
    }
    let cfa = cfa::Table::of(&program)?;
    let mut found = ranges::Found::new();
    for (unit, scopes) in &units {
        ranges::add(&mut found, unit.unit_ref(&dwarf), scopes, &known, &cfa)?;
    }
    let code = crate::table::executable_ranges(&program);
    found.retain(|(range, _)| crate::table::holds(&code, range));
    Ok(ranges::in_order(found))
}

/// Whether the file has debug information of its own.
pub(crate) fn is_described(program: &[u8]) -> bool {
    ElfFile64::<object::LittleEndian>::parse(program)
        .is_ok_and(|file| file.section_by_name(".debug_info").is_some())
}

/// The recipe for code of which nothing is known: the library searches for the frame.
pub(crate) const SOUGHT: Recipe = Recipe {
    place: Some(FramePlace::Anywhere),
    resume_index: None,
};

/// Adds to `known` the functions of `program` that are a coroutine's by their names alone: those of
/// objects that were compiled without `-g`, or by Clang. Their code in front of the hook says where
/// the frame is, or else the library searches.
pub(crate) fn with_symbols(
    known: ranges::Found,
    table: &SymbolTable,
    program: &[u8],
) -> ranges::Found {
    let file = object::File::parse(program).ok();
    let mut all = Vec::with_capacity(known.len());
    let mut known = known.into_iter().peekable();
    let named = table
        .stretches()
        .filter(|(_, _, name)| coroutine_part(name).is_some());
    for (start, size, _) in named {
        let before = all.len();
        while let Some(next) = known.next_if(|(range, _)| range.start < start + size) {
            all.push(next);
        }
        let described = all[before..].iter().any(|(range, _)| range.end > start);
        if !described && all.last().is_none_or(|(range, _)| range.end <= start) {
            let function = start..start + size;
            let code = file.as_ref().and_then(|file| code_in(file, &function));
            match code.and_then(|code| first_argument(code, start)) {
                Some((site, place)) if site < function.end => {
                    let told = Recipe {
                        place: Some(place),
                        resume_index: None,
                    };
                    all.push((start..site, SOUGHT));
                    all.push((site..site + 1, told));
                    all.push((site + 1..function.end, SOUGHT));
                    all.retain(|(range, _)| !range.is_empty());
                }
                _ => all.push((function, SOUGHT)),
            }
        }
    }
    all.extend(known);
    all
}
