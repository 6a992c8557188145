//! Where a function has what it was given, by its code in front of the first call that it makes.
//!
//! Clang tells nothing of a coroutine's frame in its debug information, and without `-g` nobody
//! does. Compilers call the hook first, behind code that only moves words.

use crate::values::machine::{Held, Machine, What, writes};
use heddle_trace_file::{FramePlace, FrameRegister};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory};
use iced_x86::{Mnemonic, OpKind};
use std::collections::BTreeSet;

/// The most instructions that are looked at.
const MOST: usize = 64;

// General registers by DWARF's numbers.
const RDI: u8 = 5;
const RBP: usize = 6;
const RSP: u8 = 7;
const PRESERVED: [(usize, FrameRegister); 6] = [
    (3, FrameRegister::Rbx),
    (RBP, FrameRegister::Rbp),
    (12, FrameRegister::R12),
    (13, FrameRegister::R13),
    (14, FrameRegister::R14),
    (15, FrameRegister::R15),
];

/// Where the function at `address` with this code has its first argument as it makes its first
/// call, and where that returns to. `None`: something else comes before, or the place is none that
/// the library can be told.
pub fn first_argument(code: &[u8], address: u64) -> Option<(u64, FramePlace)> {
    let mut here = Here {
        machine: Machine::at_entry(),
        words: BTreeSet::new(),
    };
    let mut factory = InstructionInfoFactory::new();
    let decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    for instruction in decoder.into_iter().take(MOST) {
        match instruction.flow_control() {
            FlowControl::Next => here.step(&instruction, &mut factory),
            FlowControl::Call | FlowControl::IndirectCall => {
                return Some((instruction.next_ip(), here.place()?));
            }
            _ => return None,
        }
    }
    None
}

/// The state behind an instruction: the contents of the registers, and the words of the stack that
/// hold the argument, as offsets from the stack pointer at the function's entry.
struct Here {
    machine: Machine,
    words: BTreeSet<i32>,
}

impl Here {
    fn step(&mut self, instruction: &Instruction, factory: &mut InstructionInfoFactory) {
        let info = factory.info(instruction);
        if info.used_memory().iter().any(|it| writes(it.access())) {
            self.store(instruction);
        }
        self.machine.step(instruction, factory);
    }

    fn store(&mut self, instruction: &Instruction) {
        const WORD: i32 = 8;
        let (to, bytes) = match instruction.mnemonic() {
            Mnemonic::Push => (self.stack_pointer().and_then(|sp| sp.checked_sub(WORD)), 8),
            _ => {
                let to = self.machine.address(instruction);
                let to = to.and_then(|(base, offset)| (base == RSP).then_some(offset));
                (to, instruction.memory_size().size())
            }
        };
        // Where it is not known where something is stored, that may be anywhere.
        let Some((to, bytes)) = to.zip(i32::try_from(bytes).ok()) else {
            return self.words.clear();
        };
        let end = to.saturating_add(bytes);
        self.words
            .retain(|&word| end <= word || word.saturating_add(WORD) <= to);
        let source = match instruction.mnemonic() {
            Mnemonic::Push if instruction.op0_kind() == OpKind::Register => {
                instruction.op0_register()
            }
            Mnemonic::Mov if instruction.op1_kind() == OpKind::Register => {
                instruction.op1_register()
            }
            _ => return,
        };
        if bytes == WORD && is_argument(self.machine.held(source)) {
            self.words.insert(to);
        }
    }

    /// The stack pointer, as the bytes that it is behind what it was at the function's entry.
    fn stack_pointer(&self) -> Option<i32> {
        behind_entry(self.machine.general[usize::from(RSP)])
    }

    fn place(&self) -> Option<FramePlace> {
        let mut preserved = PRESERVED.iter();
        let register = preserved.find(|&&(at, _)| is_argument(self.machine.general[at]));
        if let Some(&(_, register)) = register {
            return Some(FramePlace::Register(register));
        }
        let frame = behind_entry(self.machine.general[RBP]);
        self.words.iter().find_map(|&word| {
            let from = |base: i32| i64::from(word) - i64::from(base);
            let by_frame = frame.and_then(|frame| FramePlace::from_rbp(from(frame)));
            by_frame.or_else(|| FramePlace::from_sp(from(self.stack_pointer()?)))
        })
    }
}

fn is_argument(held: Held) -> bool {
    held.what == What::Register(RDI, 0) && held.bytes >= 8
}

fn behind_entry(held: Held) -> Option<i32> {
    match held.what {
        What::Register(RSP, offset) if held.bytes >= 8 => Some(offset),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each function is at 0x1000. The place of its argument and the return address of its first
    /// call are told.
    #[test]
    fn the_place_is_told_where_code_in_front_of_the_first_call_only_moves_words() {
        let call = [0xe8, 0, 0, 0, 0];
        let frame_pointer = [0x55, 0x48, 0x89, 0xe5]; // push %rbp; mov %rsp,%rbp
        let room = [0x48, 0x81, 0xec, 0xb0, 0x01, 0, 0]; // sub $0x1b0,%rsp
        let store = [0x48, 0x89, 0xbd, 0xe0, 0xfe, 0xff, 0xff]; // mov %rdi,-0x120(%rbp)
        let other = [0x48, 0x89, 0xb5, 0xe4, 0xfe, 0xff, 0xff]; // mov %rsi,-0x11c(%rbp)
        let site = [0x48, 0x8b, 0x75, 0x08]; // mov 0x8(%rbp),%rsi
        let itself = [0x48, 0x8d, 0x3d, 0, 0, 0, 0]; // lea 0(%rip),%rdi
        let aligned = [0x48, 0x83, 0xe4, 0xe0]; // and $-32,%rsp
        let saved = [0x41, 0x56, 0x53, 0x50]; // push %r14; push %rbx; push %rax
        let kept = [0x48, 0x89, 0xfb]; // mov %rdi,%rbx
        let pushed = [0x57, 0x50]; // push %rdi; push %rax
        let anywhere = [0x48, 0x89, 0x30]; // mov %rsi,(%rax)
        let branch = [0x74, 0x00]; // je
        let rbx = Some(FramePlace::Register(FrameRegister::Rbx));
        let slot = FramePlace::from_rbp(-0x120);
        let cases: [(&[&[u8]], Option<FramePlace>); 9] = [
            // Clang at -O0, and above.
            (&[&frame_pointer, &room, &store, &site, &itself], slot),
            (&[&saved, &kept, &itself], rbx),
            (&[&frame_pointer, &aligned, &room, &store, &itself], slot),
            (&[&pushed, &itself], FramePlace::from_sp(8)),
            // Something else is there by then, or may be.
            (&[&frame_pointer, &room, &store, &other, &itself], None),
            (&[&pushed, &anywhere], None),
            (&[&saved, &kept, &branch], None),
            (&[&saved, &itself, &kept], None),
            (&[&itself], None),
        ];
        for (parts, place) in cases {
            let mut code = parts.concat();
            code.extend(call);
            let site = 0x1000 + code.len() as u64;
            code.extend([0xc3]);
            let told = first_argument(&code, 0x1000);
            assert_eq!(told, place.map(|place| (site, place)), "{parts:x?}");
        }
    }
}
