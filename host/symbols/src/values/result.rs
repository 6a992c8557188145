//! Where the result of a function is when it calls `__cyg_profile_func_exit`.
//!
//! No debug information tells that, but the code behind the call does: it moves the result from a
//! register that calls preserve, or from the stack, to where the ABI wants it, and returns. The
//! code is followed as far as it only moves words. Where it calculates the result (GCC calls the
//! hook before that if the calculation has no effects), what will be returned is nowhere yet.

use super::place::{Place, RSP};
use heddle_trace_file::{Missing, Step};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register,
};

/// What a register holds, told by what was where when the hook was called, and how many of its low
/// bytes that is true of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    what: What,
    bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// What this register held, and so much more.
    Register(u8, i32),
    /// The memory so far behind what this register held.
    Memory(u8, i32),
    Constant(u64),
    Other,
}

const OTHER: Held = Held {
    what: What::Other,
    bytes: 0,
};

/// The registers at a point behind the hook's call, general ones by DWARF's numbers.
struct Machine {
    general: [Held; 16],
    vectors: [Held; 16],
}

/// A register's place in a machine.
#[derive(Clone, Copy)]
pub enum At {
    General(usize),
    Vector(usize),
}

pub fn at(register: Register) -> Option<At> {
    const ORDER: [usize; 16] = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];
    if register.is_gpr() {
        let number = register.full_register() as usize - Register::RAX as usize;
        return ORDER.get(number).map(|&number| At::General(number));
    }
    let number = register.is_vector_register().then(|| register.number());
    number.filter(|&number| number < 16).map(At::Vector)
}

/// ah and its like are no low bytes.
pub fn is_high(register: Register) -> bool {
    matches!(
        register,
        Register::AH | Register::BH | Register::CH | Register::DH
    )
}

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
    machine.map_or(NOT_KNOWN, |machine| machine.place(wanted, bytes))
}

const NOT_KNOWN: Place = Place::Missing(Missing::NotKnown);

fn run<'a>(mut address: u64, code_at: &dyn Fn(u64) -> Option<&'a [u8]>) -> Option<Machine> {
    let mut machine = Machine::new();
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
        machine.step(&instruction, &mut factory)?;
        address = instruction.next_ip();
    }
    None
}

impl Machine {
    /// As the hook returns: it preserves what calls preserve.
    fn new() -> Self {
        const PRESERVED: [usize; 7] = [3, 6, RSP as usize, 12, 13, 14, 15];
        let held = |number: usize| match PRESERVED.contains(&number) {
            true => Held {
                what: What::Register(number as u8, 0),
                bytes: 8,
            },
            false => OTHER,
        };
        Machine {
            general: std::array::from_fn(held),
            vectors: [OTHER; 16],
        }
    }

    fn held(&self, register: Register) -> Held {
        match at(register) {
            Some(_) if is_high(register) => OTHER,
            Some(At::General(number)) => self.general[number],
            Some(At::Vector(number)) => self.vectors[number],
            None => OTHER,
        }
    }

    /// The address of an operand in memory, if a register's value back then and a number tell it.
    fn address(&self, instruction: &Instruction) -> Option<(u8, i32)> {
        if instruction.memory_index() != Register::None
            || instruction.segment_prefix() != Register::None
        {
            return None;
        }
        let displacement = i32::try_from(instruction.memory_displacement64() as i64).ok()?;
        match self.held(instruction.memory_base()) {
            Held {
                what: What::Register(base, offset),
                bytes: 8,
            } => Some((base, offset.checked_add(displacement)?)),
            _ => None,
        }
    }

    /// What the second operand of a move holds, which has so many bytes at most.
    fn source(&self, instruction: &Instruction, most: u64) -> Held {
        match instruction.op1_kind() {
            OpKind::Register => {
                let register = instruction.op1_register();
                let held = self.held(register);
                let size = most.min(register.size() as u64);
                Held {
                    bytes: held.bytes.min(size),
                    ..held
                }
            }
            OpKind::Memory => match self.address(instruction) {
                Some((base, offset)) => Held {
                    what: What::Memory(base, offset),
                    bytes: most.min(instruction.memory_size().size() as u64),
                },
                None => OTHER,
            },
            _ => match instruction.try_immediate(1) {
                Ok(value) => Held {
                    what: What::Constant(value),
                    bytes: 8,
                },
                Err(_) => OTHER,
            },
        }
    }

    /// What an instruction leaves in its first operand, where it only moves something there.
    fn moved(&self, instruction: &Instruction) -> Option<Held> {
        use Mnemonic as M;
        if instruction.op0_kind() != OpKind::Register || is_high(instruction.op0_register()) {
            return None;
        }
        let same = || {
            let operands = (1..instruction.op_count()).map(|index| instruction.op_register(index));
            let first = instruction.op_register(instruction.op_count() - 1);
            instruction.op1_kind() == OpKind::Register
                && operands.clone().all(|register| register == first)
                && (instruction.op_count() > 2 || first == instruction.op0_register())
        };
        let zero = Held {
            what: What::Constant(0),
            bytes: 16,
        };
        Some(match instruction.mnemonic() {
            // Shorter ones leave the rest of the register as it is.
            M::Mov | M::Movzx | M::Movsx | M::Movsxd if instruction.op0_register().size() >= 4 => {
                self.source(instruction, 8)
            }
            M::Movss | M::Vmovss if instruction.op_count() == 2 => self.source(instruction, 4),
            M::Movsd | M::Vmovsd | M::Movq | M::Vmovq if instruction.op_count() == 2 => {
                self.source(instruction, 8)
            }
            M::Movd | M::Vmovd => self.source(instruction, 4),
            M::Movaps
            | M::Movapd
            | M::Movups
            | M::Movupd
            | M::Movdqa
            | M::Movdqu
            | M::Vmovaps
            | M::Vmovapd
            | M::Vmovups
            | M::Vmovupd
            | M::Vmovdqa
            | M::Vmovdqu => self.source(instruction, 16),
            M::Xor | M::Pxor | M::Xorps | M::Xorpd | M::Vpxor | M::Vxorps | M::Vxorpd
                if same() && instruction.op0_register().size() >= 4 =>
            {
                zero
            }
            M::Lea => match self.address(instruction) {
                Some((base, offset)) => Held {
                    what: What::Register(base, offset),
                    bytes: instruction.op0_register().size() as u64,
                },
                None => OTHER,
            },
            M::Pop => match self.general[usize::from(RSP)].what {
                What::Register(base, offset) => Held {
                    what: What::Memory(base, offset),
                    bytes: 8,
                },
                _ => OTHER,
            },
            _ => return None,
        })
    }

    /// The stack pointer behind an instruction that moves it.
    fn above(&self, instruction: &Instruction) -> Option<Held> {
        let (from, by) = match instruction.mnemonic() {
            Mnemonic::Pop => (RSP, 8),
            Mnemonic::Leave => (6, 8),
            Mnemonic::Add if instruction.op0_register() == Register::RSP => {
                let by = instruction.try_immediate(1).ok()? as i64;
                (RSP, i32::try_from(by).ok()?)
            }
            _ => return None,
        };
        let held = self.general[usize::from(from)];
        match held.what {
            What::Register(base, offset) => Some(Held {
                what: What::Register(base, offset.checked_add(by)?),
                ..held
            }),
            _ => None,
        }
    }

    /// Does an instruction. `None`: it writes memory, which may be where the result is.
    fn step(
        &mut self,
        instruction: &Instruction,
        factory: &mut InstructionInfoFactory,
    ) -> Option<()> {
        let moved = self.moved(instruction);
        let above = self.above(instruction);
        let extended = matches!(instruction.mnemonic(), Mnemonic::Cdqe | Mnemonic::Cwde);
        let narrow = extended.then(|| {
            let held = self.general[0];
            let from = if instruction.mnemonic() == Mnemonic::Cdqe {
                4
            } else {
                2
            };
            Held {
                bytes: held.bytes.min(from),
                ..held
            }
        });
        let info = factory.info(instruction);
        let writes = |access: OpAccess| {
            !matches!(
                access,
                OpAccess::None | OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess
            )
        };
        let mut memory = info.used_memory().iter();
        if memory.any(|memory| writes(memory.access())) {
            return None;
        }
        for used in info.used_registers() {
            match at(used.register()).filter(|_| writes(used.access())) {
                Some(At::General(number)) => self.general[number] = OTHER,
                Some(At::Vector(number)) => self.vectors[number] = OTHER,
                None => {}
            }
        }
        let to = instruction.op0_register();
        match (moved, at(to)) {
            (Some(held), Some(At::General(number))) => self.general[number] = held,
            (Some(held), Some(At::Vector(number))) => self.vectors[number] = held,
            _ => {}
        }
        if let Some(narrow) = narrow {
            self.general[0] = narrow;
        }
        if let Some(above) = above {
            self.general[usize::from(RSP)] = above;
        }
        Some(())
    }

    /// The place, as of the hook's call, of what is in `wanted` now.
    fn place(&self, wanted: &Place, bytes: u64) -> Place {
        match wanted {
            Place::Register { register, .. } => {
                let held = self.general[usize::from(register & 15)];
                found(held, bytes)
            }
            Place::Vector(register) => found(self.vectors[usize::from(register & 15)], bytes),
            Place::Pieces(pieces) => {
                let pieces = pieces.iter().map(|(piece, bytes)| {
                    let place = self.place(piece, u64::from(*bytes));
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
                let steps = match self.general[0] {
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
