//! Where a coroutine is suspended, by its resume index.
//!
//! Right before GCC's code calls `await_suspend` it stores the suspension point's number in the
//! frame: `movw $number, offset(register)`, or, from -O2 on, where a constant of 16 bits is slow,
//! `movl $number, %ecx` and then `movw %cx, offset(register)`. The debug information says which
//! `co_await` that instruction is of, also where nothing that the `co_await` calls has a hook.

use object::{Object, ObjectSection, SectionKind};
use std::ops::Range;

/// The addresses at which the code of `function`, in the ELF file with these bytes, stores a number
/// so far behind what a register points to, with the numbers.
pub fn suspensions(program: &[u8], function: &Range<u64>, offset: u32) -> Vec<(u64, u16)> {
    let Ok(file) = object::File::parse(program) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for section in file.sections() {
        let begin = section.address();
        let end = begin.saturating_add(section.size());
        let inside = begin <= function.start && function.end <= end;
        if section.kind() != SectionKind::Text || !inside {
            continue;
        }
        let at = (function.start - begin) as usize..(function.end - begin) as usize;
        if let Some(code) = section.data().ok().and_then(|data| data.get(at)) {
            found.extend(stores(code, offset).map(|(at, to)| (function.start + at as u64, to)));
        }
    }
    found
}

/// Places in `code` where a number is stored so far behind what a register points to.
fn stores(code: &[u8], offset: u32) -> impl Iterator<Item = (usize, u16)> {
    memchr::memchr_iter(OPERAND_SIZE, code).filter_map(move |at| {
        let number = match store(&code[at + 1..]) {
            Some((there, Source::Number(stored))) if there == offset => Some(stored),
            Some((there, Source::Register(from))) if there == offset => loaded(&code[..at], from),
            _ => None,
        };
        Some((at, number?))
    })
}

/// The prefix that makes the instruction one of 16 bits.
const OPERAND_SIZE: u8 = 0x66;

/// What a store stores.
#[derive(Clone, Copy)]
enum Source {
    Number(u16),
    Register(u8),
}

/// Offset and source of the store whose bytes behind the prefix these are.
fn store(code: &[u8]) -> Option<(u32, Source)> {
    const MOVE_NUMBER: u8 = 0xc7;
    const MOVE_REGISTER: u8 = 0x89;
    /// The operand that says that another byte names the register.
    const INDEXED: u8 = 4;
    let (prefix, code) = match code {
        [prefix @ 0x40..=0x4f, rest @ ..] => (*prefix, rest),
        _ => (0, code),
    };
    let [operation, operand, rest @ ..] = code else {
        return None;
    };
    let rest = match operand & 7 {
        INDEXED => rest.get(1..)?,
        _ => rest,
    };
    let (offset, rest) = match operand >> 6 {
        1 => (u32::from(*rest.first()?), rest.get(1..)?),
        2 => (u32::from_le_bytes(*rest.first_chunk()?), rest.get(4..)?),
        _ => return None,
    };
    let register = operand >> 3 & 7;
    let source = match *operation {
        MOVE_NUMBER if register == 0 => Source::Number(u16::from_le_bytes(*rest.first_chunk()?)),
        // The prefix has the fourth bit.
        MOVE_REGISTER => Source::Register(register | (prefix << 1 & 8)),
        _ => return None,
    };
    Some((offset, source))
}

/// The small number that the code before a store loads into a register, in the last few
/// instructions.
fn loaded(before: &[u8], register: u8) -> Option<u16> {
    const LOAD: u8 = 0xb8;
    const EXTENDED: u8 = 0x41;
    const BYTES: usize = 5;
    const NEAR: usize = 64;
    let near = &before[before.len().saturating_sub(NEAR)..];
    (0..near.len().checked_sub(BYTES - 1)?)
        .rev()
        .find_map(|at| {
            let [load, low, high, 0, 0] = near[at..at + BYTES] else {
                return None;
            };
            let extended = at > 0 && near[at - 1] == EXTENDED;
            let same = load == LOAD | register & 7 && extended == (register >= 8);
            same.then(|| u16::from_le_bytes([low, high]))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_found_by_offset_and_number() {
        let code = [
            0x66, 0xc7, 0x43, 0x28, 4, 0, // movw $4, 40(%rbx)
            0x66, 0x41, 0xc7, 0x44, 0x24, 0x28, 6, 0, // movw $6, 40(%r12)
            0x66, 0xc7, 0x83, 0x90, 1, 0, 0, 8, 0, // movw $8, 400(%rbx)
            0xb9, 10, 0, 0, 0, // movl $10, %ecx
            0x83, 0xc0, 1, // addl $1, %eax
            0x66, 0x89, 0x4f, 0x20, // movw %cx, 32(%rdi)
            0x41, 0xb8, 12, 0, 0, 0, // movl $12, %r8d
            0x66, 0x44, 0x89, 0x47, 0x20, // movw %r8w, 32(%rdi)
            0x66, 0x90,
        ];
        let found = |offset| stores(&code, offset).collect::<Vec<_>>();
        assert_eq!(found(40), [(0, 4), (6, 6)]);
        assert_eq!(found(400), [(14, 8)]);
        assert_eq!(found(32), [(31, 10), (41, 12)]);
        assert_eq!(found(24), []);
    }
}
