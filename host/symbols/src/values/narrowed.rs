//! Registers of which only the low bytes are what a function was given when it calls
//! `__cyg_profile_func_enter`.
//!
//! Where a function uses one member of a structure only, GCC may extend that in the register which
//! the structure is in, before it calls the hook: its debug information goes on saying that all of
//! the structure is there (GCC 12 at -O1 and above). It also sets a member there before it calls
//! the hook, which is no memory that a call could see. The code tells both.

use super::machine::{At, at, is_high};
use super::place::Place;
use heddle_trace_file::Missing;
use iced_x86::{Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess};
use iced_x86::{OpKind, Register};

/// The most instructions that are looked at.
const MOST: usize = 1000;

/// How many of their low bytes the general registers have kept, by DWARF's numbers.
pub struct Narrowed([u64; 16]);

impl Narrowed {
    /// At the end of code that begins at `address`. Instructions are taken as they lie there: a
    /// jump can make a value be doubted, but nothing else. `inlined`: the function was inlined
    /// there, so the code may put a structure together; another function is given it whole.
    pub fn behind(code: &[u8], address: u64, inlined: bool) -> Self {
        let mut narrowed = Narrowed([8; 16]);
        let mut factory = InstructionInfoFactory::new();
        let decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
        for instruction in decoder.into_iter().take(MOST) {
            narrowed.step(&instruction, inlined, &mut factory);
        }
        narrowed
    }

    fn step(
        &mut self,
        instruction: &Instruction,
        inlined: bool,
        factory: &mut InstructionInfoFactory,
    ) {
        use Mnemonic as M;
        let left = self.left(instruction);
        let shifts = matches!(
            instruction.mnemonic(),
            M::Sar | M::Shr | M::Shl | M::Sarx | M::Shrx | M::Shlx | M::Rol | M::Ror
        );
        let info = factory.info(instruction);
        for used in info.used_registers() {
            let writes = matches!(
                used.access(),
                OpAccess::Write | OpAccess::ReadWrite | OpAccess::CondWrite
            );
            let Some(At::General(number)) = at(used.register()).filter(|_| writes) else {
                continue;
            };
            let changes = used.access() == OpAccess::ReadWrite && !inlined;
            self.0[number] = match changes {
                // A member is set there.
                _ if used.register().size() < 4 => 0,
                // A member is moved to where it can be used.
                true if shifts => left.min(4),
                true => 0,
                false => left,
            };
        }
    }

    /// How many bytes of its source an instruction leaves in what it writes.
    fn left(&self, instruction: &Instruction) -> u64 {
        let kept = |register: Register| match at(register) {
            Some(At::General(number)) if !is_high(register) => {
                self.0[number].min(register.size() as u64)
            }
            _ => 8,
        };
        match instruction.mnemonic() {
            Mnemonic::Cdqe => kept(Register::EAX),
            Mnemonic::Cwde => kept(Register::AX),
            Mnemonic::Mov | Mnemonic::Movzx | Mnemonic::Movsx | Mnemonic::Movsxd => {
                match instruction.op1_kind() {
                    OpKind::Register => kept(instruction.op1_register()),
                    OpKind::Memory => instruction.memory_size().size() as u64,
                    _ => 8,
                }
            }
            _ => 8,
        }
    }

    /// The place of an object of so many bytes; not known, where it is in registers of which fewer
    /// bytes are left.
    pub fn checked(&self, place: Place, bytes: u64) -> Place {
        match place {
            Place::Register { register, .. } if self.0[usize::from(register & 15)] < bytes => {
                Place::Missing(Missing::NotKnown)
            }
            Place::Pieces(pieces) => {
                let checked = |(piece, bytes): (Place, u16)| {
                    let place = self.checked(piece, bytes.into());
                    (place, bytes)
                };
                Place::Pieces(pieces.into_iter().map(checked).collect())
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(code: &[u8], register: u8, bytes: u64) -> bool {
        left_in(code, register, bytes, false)
    }

    fn left_in(code: &[u8], register: u8, bytes: u64, inlined: bool) -> bool {
        let place = Place::Register {
            register,
            offset: 0,
        };
        let narrowed = Narrowed::behind(code, 0x1000, inlined);
        narrowed.checked(place.clone(), bytes) == place
    }

    #[test]
    fn what_was_extended_has_its_low_bytes_only() {
        const RBX: u8 = 3;
        // mov rbx, rdi
        let moved = [0x48, 0x89, 0xfb];
        assert!(left(&moved, RBX, 8));
        // … movsxd rbx, ebx
        let extended = [&moved[..], &[0x48, 0x63, 0xdb]].concat();
        assert!(left(&extended, RBX, 4) && !left(&extended, RBX, 5));
        // … mov r12, rbx
        let handed_on = [&extended[..], &[0x49, 0x89, 0xdc]].concat();
        assert!(!left(&handed_on, 12, 8) && left(&handed_on, 12, 4));
        // … movzx ebx, bl
        let byte = [&moved[..], &[0x0f, 0xb6, 0xdb]].concat();
        assert!(left(&byte, RBX, 1) && !left(&byte, RBX, 2));
        // mov ebx, edi; mov rbx, [rsp + 8]
        let [low, loaded] = [&[0x89, 0xfb][..], &[0x48, 0x8b, 0x5c, 0x24, 8]];
        assert!(!left(low, RBX, 8) && left(&[low, loaded].concat(), RBX, 8));
    }

    #[test]
    fn a_structure_of_which_a_member_is_set_is_not_what_was_given() {
        const RBX: u8 = 3;
        // mov rbx, rdi
        let moved = [0x48, 0x89, 0xfb];
        // … mov bl, 1, and mov bh, 'Y'
        assert!(!left(&[&moved[..], &[0xb3, 1]].concat(), RBX, 8));
        assert!(!left(&[&moved[..], &[0xb7, 0x59]].concat(), RBX, 4));
        // … or rbx, 1, which in an inlined function may put the structure together
        let or = [&moved[..], &[0x48, 0x83, 0xcb, 1]].concat();
        assert!(!left(&or, RBX, 4) && left_in(&or, RBX, 8, true));
        // … sar rbx, 32: the second of two members
        let second = [&moved[..], &[0x48, 0xc1, 0xfb, 32]].concat();
        assert!(!left(&second, RBX, 8) && left(&second, RBX, 4));
    }
}
