//! What a coroutine awaits, by its suspension points.
//!
//! Behind the store of a suspension point's number ([`super::suspensions`]) GCC's code calls the
//! awaiter's `await_suspend`, or has it inlined there. Its name begins with the awaiter's type.

use crate::SymbolTable;
use crate::lines::Lines;
use object::{Object, ObjectSection, SectionKind};
use std::ops::Range;

/// So far behind the store, in bytes, the call begins at the latest: between them are conversions
/// of the coroutine's handle.
const NEAR: u64 = 256;

/// The member function, and how the linker's name of a class's has that.
const MEMBER: &str = "await_suspend";
const MANGLED: &str = "13await_suspend";

/// A store of a resume index.
pub struct Store {
    pub at: u64,
    /// Where the stores before and behind it are, or the function begins and ends.
    pub between: Range<u64>,
    /// The line that the debug information says of it is the right one.
    pub line_is_known: bool,
}

/// The linker's name, or the readable one, of the `await_suspend` that is called, or inlined, at
/// this store in the ELF file with these bytes.
pub fn await_suspend(
    program: &[u8],
    (table, lines): (&SymbolTable, Option<&Lines>),
    store: &Store,
) -> Option<String> {
    let near = store.between.end.min(store.at.saturating_add(NEAR));
    if let Some(called) = call(program, table, store.at..near) {
        return Some(called);
    }
    let lines = lines?;
    let line = lines.find(store.at)?.line;
    // An optimiser puts parts of it in front of the store, and parts of others' behind it.
    let all = lines.inlined(store.between.clone(), MEMBER);
    let far = |&(at, ..): &(u64, u32, String)| at.abs_diff(store.at);
    let same_line = all
        .iter()
        .filter(|(_, of, _)| *of == line)
        .min_by_key(|&it| far(it));
    let behind = all
        .iter()
        .filter(|(at, ..)| *at >= store.at)
        .min_by_key(|&it| far(it));
    let found = same_line.or(behind.filter(|_| !store.line_is_known));
    found.map(|(_, _, name)| name.clone())
}

/// The first call of such a function.
fn call(program: &[u8], table: &SymbolTable, range: Range<u64>) -> Option<String> {
    const CALL: u8 = 0xe8;
    const BYTES: usize = 5;
    let file = object::File::parse(program).ok()?;
    let section = file.sections().find(|section| {
        let end = section.address().saturating_add(section.size());
        section.kind() == SectionKind::Text && section.address() <= range.start && range.start < end
    })?;
    let skipped = usize::try_from(range.start - section.address()).ok()?;
    let code = section.data().ok()?.get(skipped..)?;
    let length = usize::try_from(range.end - range.start).ok()?;
    let code = &code[..code.len().min(length)];
    memchr::memchr_iter(CALL, code).find_map(|at| {
        let distance = code.get(at + 1..at + BYTES)?.first_chunk()?;
        let behind = range.start + (at + BYTES) as u64;
        let to = behind.wrapping_add_signed(i32::from_le_bytes(*distance).into());
        let name = table.find(to).filter(|name| name.contains(MANGLED))?;
        Some(name.to_owned())
    })
}
