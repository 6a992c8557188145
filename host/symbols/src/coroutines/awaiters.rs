//! What a coroutine awaits, by its suspension points.
//!
//! Behind the store of a suspension point's number ([`super::suspensions`]) GCC's code calls the
//! awaiter's `await_suspend`, or has it inlined. Its name begins with the awaiter's type.

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

/// The linker's name, or the readable one, of the `await_suspend` behind the store at the address,
/// where the next store is no nearer than `next`, in the ELF file with these bytes.
pub fn await_suspend(
    program: &[u8],
    (table, lines): (&SymbolTable, Option<&Lines>),
    store: u64,
    next: u64,
) -> Option<String> {
    let range = store..next.min(store.saturating_add(NEAR));
    let called = call(program, table, range.clone());
    let inlined = lines.and_then(|lines| lines.inlined(range, MEMBER));
    match (called, inlined) {
        (Some(called), Some(inlined)) => Some(called.min(inlined).1),
        (one, other) => one.or(other).map(|(_, name)| name),
    }
}

/// The first call of such a function, and where it is.
fn call(program: &[u8], table: &SymbolTable, range: Range<u64>) -> Option<(u64, String)> {
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
        Some((behind, name.to_owned()))
    })
}
