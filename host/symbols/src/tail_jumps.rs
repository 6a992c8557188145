//! Functions that end by a jump to another one: tail calls.
//!
//! By `-minstrument-return=call` a function calls `__return__` right before it returns or jumps, so
//! the instruction behind such a call says which of the two it does.

use object::{Object, ObjectSection, SectionKind};

/// A jump at the end of a function, in the file's own address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TailJump {
    /// Where the call of `__return__` before it is.
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
