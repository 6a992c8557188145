//! Where the result of a function is when it calls `__cyg_profile_func_exit`.
//!
//! No debug information tells that, but the code behind the call does: it moves the result from a
//! register that calls preserve, or from the stack, to where the ABI wants it, and returns. The
//! code is followed as far as it only moves words. Where it calculates the result (GCC calls the
//! hook before that if the calculation has no effects), what will be returned is nowhere yet.

use super::machine::{Held, Machine, What, writes};
use super::place::{Place, RSP};
use heddle_trace_file::{Missing, Step};
use iced_x86::{Decoder, DecoderOptions, FlowControl, InstructionInfoFactory, Mnemonic, OpKind};

/// The most instructions that are followed.
const MOST: usize = 100;

/// Follows the code at `address`, behind a call of the exit hook, to the function's return.
/// `wanted`: where the ABI has the result, of so many bytes, then. Gives its place as of the hook's
/// call. `code_at`: the code from an address on.
pub fn traced<'a>(
    address: u64,
    code_at: &dyn Fn(u64) -> Option<&'a [u8]>,
    (wanted, bytes): (&Place, u64),
) -> Place {
    let machine = run(address, code_at);
    machine.map_or(NOT_KNOWN, |machine| place(&machine, wanted, bytes))
}

const NOT_KNOWN: Place = Place::Missing(Missing::NotKnown);

fn run<'a>(mut address: u64, code_at: &dyn Fn(u64) -> Option<&'a [u8]>) -> Option<Machine> {
    let mut machine = Machine::at_entry().behind_call();
    let mut factory = InstructionInfoFactory::new();
    for _ in 0..MOST {
        let code = code_at(address)?;
        let code = &code[..code.len().min(15)];
        let instruction = Decoder::with_ip(64, code, address, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return None;
        }
        match instruction.mnemonic() {
            Mnemonic::Ret => return Some(machine),
            Mnemonic::Jmp if instruction.op0_kind() == OpKind::NearBranch64 => {
                address = instruction.near_branch_target();
                continue;
            }
            _ => {}
        }
        // A call changes what it likes; other jumps depend on something.
        if instruction.flow_control() != FlowControl::Next {
            return None;
        }
        // What it writes may be where the result is.
        let mut memory = factory.info(&instruction).used_memory().iter();
        if memory.any(|memory| writes(memory.access())) {
            return None;
        }
        machine.step(&instruction, &mut factory);
        address = instruction.next_ip();
    }
    None
}

/// The place, as of the hook's call, of what is in `wanted` now.
fn place(machine: &Machine, wanted: &Place, bytes: u64) -> Place {
    match wanted {
        Place::Register { register, .. } => {
            let held = machine.general[usize::from(register & 15)];
            found(held, bytes)
        }
        Place::Vector(register) => found(machine.vectors[usize::from(register & 15)], bytes),
        Place::Pieces(pieces) => {
            let pieces = pieces.iter().map(|(piece, bytes)| {
                let place = place(machine, piece, u64::from(*bytes));
                (place, *bytes)
            });
            let pieces: Vec<(Place, u16)> = pieces.collect();
            let known = pieces
                .iter()
                .all(|(place, _)| !matches!(place, Place::Missing(_)));
            if known {
                Place::Pieces(pieces)
            } else {
                NOT_KNOWN
            }
        }
        // rax has its address.
        Place::Memory { .. } => {
            let steps = match machine.general[0] {
                Held { bytes, .. } if bytes < 8 => return NOT_KNOWN,
                held => match held.what {
                    What::Register(base, offset) => vec![Step::Register(base, offset)],
                    What::Memory(base, offset) => vec![
                        Step::Register(base, 0),
                        Step::Load {
                            offset,
                            in_frame: base == RSP || base == 6,
                        },
                    ],
                    What::Constant(_) | What::Other => return NOT_KNOWN,
                },
            };
            Place::Memory {
                steps,
                offset: 0,
                in_frame: false,
            }
        }
        Place::Constant(_) | Place::Missing(_) => NOT_KNOWN,
    }
}

fn found(held: Held, bytes: u64) -> Place {
    if held.bytes < bytes {
        return NOT_KNOWN;
    }
    match held.what {
        What::Register(register, offset) => Place::Register { register, offset },
        What::Memory(base, offset) => Place::Memory {
            steps: vec![Step::Register(base, 0)],
            offset,
            in_frame: base == RSP || base == 6,
        },
        What::Constant(value) => Place::Constant(u128::from(value).to_le_bytes().to_vec()),
        What::Other => NOT_KNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAX: Place = Place::Register {
        register: 0,
        offset: 0,
    };

    fn after(code: &[u8], wanted: &Place, bytes: u64) -> Place {
        let code_at = |address: u64| code.get((address as usize).checked_sub(0x1000)?..);
        traced(0x1000, &code_at, (wanted, bytes))
    }

    fn register(register: u8, offset: i32) -> Place {
        Place::Register { register, offset }
    }

    fn on_stack(base: u8, offset: i32) -> Place {
        Place::Memory {
            steps: vec![Step::Register(base, 0)],
            offset,
            in_frame: true,
        }
    }

    #[test]
    fn code_that_only_moves_the_result_tells_where_it_was() {
        // mov eax, ebx; mov rbx, [rbp-8]; leave; ret
        let at_o0 = [0x89, 0xd8, 0x48, 0x8b, 0x5d, 0xf8, 0xc9, 0xc3];
        assert_eq!(after(&at_o0, &RAX, 4), register(3, 0));
        assert_eq!(after(&at_o0, &RAX, 8), NOT_KNOWN, "it moved four bytes");
        // movsd xmm0, [rsp+8]; add rsp, 24; ret
        let double = [0xf2, 0x0f, 0x10, 0x44, 0x24, 8, 0x48, 0x83, 0xc4, 24, 0xc3];
        assert_eq!(after(&double, &Place::Vector(0), 8), on_stack(RSP, 8));
        // add rsp, 24; mov rax, [rsp-8]; pop rbx; ret
        let moved = [
            0x48, 0x83, 0xc4, 24, 0x48, 0x8b, 0x44, 0x24, 0xf8, 0x5b, 0xc3,
        ];
        assert_eq!(after(&moved, &RAX, 8), on_stack(RSP, 16));
        // xor eax, eax; ret
        let zero = Place::Constant(0u128.to_le_bytes().to_vec());
        assert_eq!(after(&[0x31, 0xc0, 0xc3], &RAX, 4), zero);
        // jmp +1; int3; lea eax, [rbx+1]; ret
        assert_eq!(
            after(&[0xeb, 1, 0xcc, 0x8d, 0x43, 1, 0xc3], &RAX, 4),
            register(3, 1)
        );
    }

    #[test]
    fn what_is_calculated_behind_the_hook_is_not_known() {
        // mov eax, ebx; add eax, ecx; ret
        assert_eq!(after(&[0x89, 0xd8, 0x01, 0xc8, 0xc3], &RAX, 4), NOT_KNOWN);
        // mov eax, ebx; mov [rsp], eax; ret: it writes memory
        assert_eq!(
            after(&[0x89, 0xd8, 0x89, 0x04, 0x24, 0xc3], &RAX, 4),
            NOT_KNOWN
        );
        // mov eax, ebx; call; ret
        assert_eq!(
            after(&[0x89, 0xd8, 0xe8, 0, 0, 0, 0, 0xc3], &RAX, 4),
            NOT_KNOWN
        );
        // je +0; mov eax, ebx; ret
        assert_eq!(after(&[0x74, 0, 0x89, 0xd8, 0xc3], &RAX, 4), NOT_KNOWN);
        // mov al, bl; ret: the rest is as it was
        assert_eq!(after(&[0x88, 0xd8, 0xc3], &RAX, 1), NOT_KNOWN);
        assert_eq!(after(&[0x89, 0xd8], &RAX, 4), NOT_KNOWN, "the code ends");
    }
}
