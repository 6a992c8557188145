//! What registers hold at a point of a function, told by what was where at another point: code that
//! only moves words is followed.

use super::place::RSP;
use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};

/// What a register holds, told by what was where at the beginning, and how many of its low bytes
/// that is true of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub what: What,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// What this register held, and so much more.
    Register(u8, i32),
    /// The memory so far behind what this register held.
    Memory(u8, i32),
    Constant(u64),
    Other,
}

pub const OTHER: Held = Held {
    what: What::Other,
    bytes: 0,
};

/// The registers, general ones by DWARF's numbers.
#[derive(Clone)]
pub struct Machine {
    pub general: [Held; 16],
    pub vectors: [Held; 16],
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

impl Machine {
    /// At the entry of a function, which may use all that the registers hold.
    pub fn at_entry() -> Self {
        let held = |number: usize| Held {
            what: What::Register(number as u8, 0),
            bytes: 8,
        };
        Machine {
            general: std::array::from_fn(held),
            vectors: [OTHER; 16],
        }
    }

    /// As a call returns, of what the registers held when it was made: it preserves seven.
    pub fn behind_call(&self) -> Self {
        const PRESERVED: [usize; 7] = [3, 6, RSP as usize, 12, 13, 14, 15];
        let held = |number: usize| match PRESERVED.contains(&number) {
            true => self.general[number],
            false => OTHER,
        };
        Machine {
            general: std::array::from_fn(held),
            vectors: [OTHER; 16],
        }
    }

    /// What a register holds.
    pub fn held(&self, register: Register) -> Held {
        match at(register) {
            Some(_) if is_high(register) => OTHER,
            Some(At::General(number)) => self.general[number],
            Some(At::Vector(number)) => self.vectors[number],
            None => OTHER,
        }
    }

    /// The address of an operand in memory, if a register's value back then and a number tell it.
    pub fn address(&self, instruction: &Instruction) -> Option<(u8, i32)> {
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
            Mnemonic::Push => (RSP, -8),
            Mnemonic::Leave => (6, 8),
            Mnemonic::Add | Mnemonic::Sub if instruction.op0_register() == Register::RSP => {
                let by = i32::try_from(instruction.try_immediate(1).ok()? as i64).ok()?;
                let up = instruction.mnemonic() == Mnemonic::Add;
                (RSP, if up { by } else { by.checked_neg()? })
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

    /// Does an instruction that goes on with the next one.
    pub fn step(&mut self, instruction: &Instruction, factory: &mut InstructionInfoFactory) {
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
    }
}

/// Whether an instruction may write what it uses in this way.
pub fn writes(access: OpAccess) -> bool {
    !matches!(
        access,
        OpAccess::None | OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess
    )
}
