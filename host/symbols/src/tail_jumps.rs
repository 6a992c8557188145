//! Functions that end by a jump to another one: tail calls.
//!
//! By `-minstrument-return=call` a function calls `__return__` right before it returns or jumps, so
//! the instruction behind such a call says which of the two it does. By `-finstrument-functions` it
//! calls its exit hook, restores its caller's registers, and then does so.

use crate::enter_calls::returns_of;
use iced_x86::{Decoder, DecoderOptions, FlowControl};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, SectionKind};

/// A jump at the end of a function, in the file's own address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TailJump {
    /// Where the call of the hook before it is.
    pub at: u64,
    /// Where it leads; `None` if a register or memory says that.
    pub to: Option<u64>,
}

/// The jumps behind calls of `hook`, which is where the file has its `__return__`. None where the
/// file cannot be read. O(bytes of code).
pub fn tail_jumps(bytes: &[u8], hook: u64) -> Vec<TailJump> {
    let Ok(file) = object::File::parse(bytes) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for section in file.sections() {
        let (SectionKind::Text, Ok(code)) = (section.kind(), section.data()) else {
            continue;
        };
        let calls = memchr::memchr_iter(CALL, code).filter(|&at| {
            let behind = section.address().wrapping_add(at as u64 + 1);
            relative(&code[at + 1..], behind) == Some(hook)
        });
        found.extend(calls.filter_map(|at| {
            let place = section.address().wrapping_add(at as u64);
            let behind = place.wrapping_add(CALL_BYTES as u64);
            let to = jump(code.get(at + CALL_BYTES..)?, behind)?;
            Some(TailJump { at: place, to })
        }));
    }
    found
}

/// So many instructions at most restore what a function's caller has in registers.
const RESTORING: usize = 32;

/// The jumps to an address that the program computes, behind calls of `__cyg_profile_func_exit`:
/// those by which one coroutine hands over to another. None where the file cannot be read. O(bytes
/// of code).
pub fn computed_jumps(bytes: &[u8]) -> Vec<TailJump> {
    let Ok(file) = ElfFile64::<object::Endianness>::parse(bytes) else {
        return Vec::new();
    };
    let returns = returns_of(&file, b"__cyg_profile_func_exit", None);
    let mut found = Vec::new();
    for section in file.sections() {
        let (SectionKind::Text, Ok(code)) = (section.kind(), section.data()) else {
            continue;
        };
        let begin = section.address();
        let here = returns
            .iter()
            .filter(|(place, _)| (begin..begin + code.len() as u64).contains(place));
        found.extend(here.filter_map(|&(at, behind)| {
            leaves_by_jump(code, begin, behind).then_some(TailJump { at, to: None })
        }));
    }
    found
}

/// Whether the code at `address`, which comes behind an exit hook, leads to a computed jump.
fn leaves_by_jump(code: &[u8], begin: u64, mut address: u64) -> bool {
    for _ in 0..RESTORING {
        let rest = address
            .checked_sub(begin)
            .and_then(|at| code.get(at as usize..));
        let Some(rest) = rest else { return false };
        let instruction = Decoder::with_ip(64, rest, address, DecoderOptions::NONE).decode();
        address = match instruction.flow_control() {
            FlowControl::Next => instruction.next_ip(),
            // Several exits share what restores registers.
            FlowControl::UnconditionalBranch => instruction.near_branch_target(),
            FlowControl::IndirectBranch => return true,
            _ => return false,
        };
    }
    false
}

/// `call` to an address that is told by its distance.
pub(crate) const CALL: u8 = 0xe8;
const CALL_BYTES: usize = 5;

/// Where the jump that stands at `address` leads, if it is one.
fn jump(code: &[u8], address: u64) -> Option<Option<u64>> {
    /// `bnd`, `notrack`, and the prefix of r8 to r15.
    const PREFIXES: [u8; 3] = [0xf2, 0x3e, 0x41];
    let prefixes = code.iter().take_while(|byte| PREFIXES.contains(byte));
    let prefixes = prefixes.count();
    let (address, code) = (address.wrapping_add(prefixes as u64), &code[prefixes..]);
    match *code {
        [0xe9, ref distance @ ..] => Some(relative(distance, address.wrapping_add(1))),
        [0xeb, distance, ..] => {
            let distance = i64::from(distance as i8);
            Some(Some(address.wrapping_add(2).wrapping_add_signed(distance)))
        }
        // The middle three bits say which of several instructions this is.
        [0xff, operand, ..] if operand >> 3 & 7 == 4 => Some(None),
        _ => None,
    }
}

/// The address that is as far behind the four bytes at `address` as they say.
pub(crate) fn relative(bytes: &[u8], address: u64) -> Option<u64> {
    let distance = i32::from_le_bytes(bytes.first_chunk().copied()?);
    Some(address.wrapping_add(4).wrapping_add_signed(distance.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_restores_registers_may_lead_to_a_jump() {
        // add $8, %rsp; pop %rbx; then ret, jmp *%rax, jmp *(%rdi), call, or jmp to the pop.
        let behind = |last: &[u8]| [&[0x48, 0x83, 0xc4, 8, 0x5b], last].concat();
        for (last, jumps) in [
            (&[0xc3][..], false),
            (&[0xff, 0xe0], true),
            (&[0xff, 0x27], true),
            (&[0xe8, 0, 0, 0, 0], false),
            (&[0xeb, 0x00, 0xff, 0xe0], true),
            (&[0xeb, 0xfd], false),
            (&[0x74, 0x00, 0xff, 0xe0], false),
            (&[], false),
        ] {
            assert_eq!(
                leaves_by_jump(&behind(last), 0x100, 0x100),
                jumps,
                "{last:x?}"
            );
        }
    }

    #[test]
    fn jumps_are_told_from_returns() {
        assert_eq!(jump(&[0xc3], 0x10), None);
        assert_eq!(jump(&[0xf3, 0xc3], 0x10), None);
        assert_eq!(jump(&[0xe9, 0xf0, 0, 0, 0], 0x10), Some(Some(0x105)));
        assert_eq!(jump(&[0xeb, 0xfe], 0x10), Some(Some(0x10)));
        assert_eq!(jump(&[0xff, 0xe0], 0x10), Some(None));
        assert_eq!(jump(&[0x3e, 0x41, 0xff, 0xe3], 0x10), Some(None));
        assert_eq!(jump(&[0xff, 0xd0], 0x10), None);
        assert_eq!(jump(&[], 0x10), None);
    }
}
