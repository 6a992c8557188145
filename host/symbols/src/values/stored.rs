//! What a function has stored in its frame when it calls `__cyg_profile_func_enter`.
//!
//! Where a parameter's place is in the frame, debug information says so of the whole function. GCC
//! optimises stores away that nothing reads, though: of a structure of three `int`s whose last one
//! alone is used, the other two are never stored (GCC 12 at -O1 and above), and what is in their
//! place is what an earlier call has left there. The code in front of the hook tells which bytes
//! have been stored.
//!
//! Nor is a parameter in a register that the caller uses on: GCC says of the whole function that
//! both halves of an `__int128` are in such registers, and sets the one that it needs (GCC 12 at
//! -O1 and above). What a callee-saved register holds since the function's entry was never given.

use super::machine::{Held, Machine, OTHER, What};
use super::place::{Place, RSP};
use super::types::MOST_BYTES;
use crate::coroutines::cfa::Cfa;
use heddle_trace_file::{Missing, Step};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory};
use iced_x86::{Mnemonic, OpAccess, Register};
use std::collections::{BTreeSet, HashMap};

/// The most instructions that are looked at.
const MOST: usize = 10_000;
/// The most bytes of a call by a slot of the global offset table.
const LONGEST_CALL: u64 = 6;
/// The most bytes that are remembered, as damaged code may store any number: more are not known.
const MOST_STORED: usize = 4096;
/// In place of a register's number: the stack pointer once it has been aligned, which is no longer
/// so far from what it was at the function's entry.
const ALIGNED: u8 = 16;
const RCX: usize = 2;
const RDI: usize = 5;
/// The registers that a function leaves as they were: rbx, rbp, and r12 to r15.
const CALLEE_SAVED: [u8; 6] = [3, 6, 12, 13, 14, 15];

/// A byte of the stack: so far behind what a register held at the function's entry.
type Byte = (u8, i32);

/// The bytes that have been stored on every path to the hook, and what the registers hold there.
#[derive(Clone)]
pub struct Stored {
    /// Where the registers held what they are told by: the function's entry, or code behind it.
    from: u64,
    entered: bool,
    machine: Machine,
    bytes: BTreeSet<Byte>,
    /// Where in the caller's frame something has been stored on one of the paths at least: so far
    /// behind the stack pointer at the function's entry.
    over: BTreeSet<i32>,
}

impl Stored {
    /// At the end of code that begins at `address`, with a function's entry, and ends in the call
    /// of the hook. Code that is only reached by a jump back, or by a table of jumps, has nothing
    /// stored in front of it.
    ///
    /// `inlined`: the hook is one of a function that was inlined there. What other code has stored
    /// may be another variable in the same place, so only stores behind the last call count: GCC
    /// sets parameters right before the hook.
    pub fn behind(code: &[u8], address: u64, inlined: bool) -> Self {
        let mut here = Some(Self::begun(address, true));
        // By where they lead, of jumps forward.
        let mut jumps: HashMap<u64, Stored> = HashMap::new();
        let mut factory = InstructionInfoFactory::new();
        let decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
        let end = address.wrapping_add(code.len() as u64);
        for (number, instruction) in decoder.into_iter().enumerate() {
            if number == MOST {
                return Self::nothing();
            }
            let at = instruction.ip();
            here = Self::either(here, jumps.remove(&at), at);
            if inlined && here.is_none() {
                here = Some(Self::begun(at, false));
            }
            if instruction.is_invalid() {
                // The call of the hook, but for its last byte; else, no code.
                let is_last = end.wrapping_sub(at) <= LONGEST_CALL;
                return here.filter(|_| is_last).unwrap_or_else(Self::nothing);
            }
            let Some(stored) = &mut here else { continue };
            let flow = instruction.flow_control();
            match flow {
                FlowControl::Next => stored.step(&instruction, &mut factory),
                FlowControl::Call | FlowControl::IndirectCall => {
                    stored.machine = stored.machine.behind_call();
                    if inlined {
                        stored.bytes.clear();
                    }
                }
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                    let to = instruction.near_branch_target();
                    let there = Self::either(jumps.remove(&to), Some(stored.clone()), to);
                    jumps.extend(there.map(|there| (to, there)));
                }
                _ => {}
            }
            let goes_on = matches!(
                flow,
                FlowControl::Next
                    | FlowControl::Call
                    | FlowControl::IndirectCall
                    | FlowControl::ConditionalBranch
            );
            here = here.filter(|_| goes_on);
        }
        Self::either(here, jumps.remove(&end), end).unwrap_or_else(Self::nothing)
    }

    /// Where nothing is known of the code in front of the hook.
    pub fn nothing() -> Self {
        let mut nothing = Self::begun(0, false);
        nothing.machine.general = [OTHER; 16];
        nothing
    }

    /// With nothing stored, and what the registers hold there.
    fn begun(from: u64, entered: bool) -> Self {
        Stored {
            from,
            entered,
            machine: Machine::at_entry(),
            bytes: BTreeSet::new(),
            over: BTreeSet::new(),
        }
    }

    /// What holds where two paths meet, at this address.
    fn either(one: Option<Self>, other: Option<Self>, at: u64) -> Option<Self> {
        let (mut one, mut other) = match (one, other) {
            (Some(one), Some(other)) => (one, other),
            (one, other) => return one.or(other),
        };
        one.over.append(&mut other.over);
        if one.from != other.from {
            let over = one.over;
            return Some(Stored {
                over,
                ..Self::begun(at, false)
            });
        }
        for (held, other) in one.machine.general.iter_mut().zip(other.machine.general) {
            if *held != other {
                *held = OTHER;
            }
        }
        one.bytes.retain(|byte| other.bytes.contains(byte));
        Some(one)
    }

    fn step(&mut self, instruction: &Instruction, factory: &mut InstructionInfoFactory) {
        self.store(instruction, factory);
        let aligns =
            instruction.mnemonic() == Mnemonic::And && instruction.op0_register() == Register::RSP;
        self.machine.step(instruction, factory);
        if aligns {
            self.machine.general[usize::from(RSP)] = Held {
                what: What::Register(ALIGNED, 0),
                bytes: 8,
            };
        }
    }

    /// Adds what an instruction stores. A push saves a register, or makes room.
    fn store(&mut self, instruction: &Instruction, factory: &mut InstructionInfoFactory) {
        if instruction.mnemonic() == Mnemonic::Push {
            return;
        }
        if instruction.is_string_instruction() && instruction.has_rep_prefix() {
            if let What::Constant(count) = self.machine.general[RCX].what
                && let Some((base, at)) = self.address(self.machine.general[RDI], 0)
            {
                let each = instruction.memory_size().size() as u64;
                self.add((base, at), count.saturating_mul(each));
            }
            return;
        }
        for memory in factory.info(instruction).used_memory() {
            let is_plain = memory.index() == Register::None
                && !matches!(memory.segment(), Register::FS | Register::GS);
            if memory.access() != OpAccess::Write || !is_plain {
                continue;
            }
            let held = self.machine.held(memory.base());
            if let Some(first) = self.address(held, memory.displacement() as i64) {
                self.add(first, memory.memory_size().size() as u64);
            }
        }
    }

    fn add(&mut self, (base, at): Byte, count: u64) {
        let room = MOST_STORED.saturating_sub(self.bytes.len());
        let bytes = 0..count.min(room as u64) as i32;
        let bytes = bytes.map(|byte| at.saturating_add(byte));
        if base == RSP && self.entered {
            self.over.extend(bytes.clone().filter(|&at| at >= 0));
        }
        self.bytes.extend(bytes.map(|at| (base, at)));
    }

    /// The byte so far behind the address that a register holds.
    fn address(&self, held: Held, behind: i64) -> Option<Byte> {
        let behind = i32::try_from(behind).ok()?;
        match held {
            Held {
                what: What::Register(base, offset),
                bytes: 8,
            } => Some((base, offset.checked_add(behind)?)),
            _ => None,
        }
    }

    /// Whether this is told by what a callee-saved register held at the function's entry, which is
    /// the caller's and no argument.
    fn is_callers(&self, held: Held) -> bool {
        let saved = |base| self.entered && CALLEE_SAVED.contains(&base);
        matches!(held.what, What::Register(base, _) if saved(base))
    }

    /// The place of an object of so many bytes, without those of its bytes that are in the frame,
    /// but have not been stored there, and those in registers that hold what the caller had there.
    /// `cfa`: the canonical frame address at the hook.
    pub fn checked(&self, place: Place, bytes: u64, cfa: Option<Cfa>) -> Place {
        match place {
            Place::Register { register, .. }
                if self.is_callers(self.machine.general[usize::from(register & 15)]) =>
            {
                Place::Missing(Missing::NotKnown)
            }
            Place::Memory {
                steps,
                offset,
                in_frame,
            } => {
                let first = match steps[..] {
                    [Step::Register(register, more)] => (register, more, offset, bytes),
                    [
                        Step::Register(register, more),
                        Step::Load { offset, .. },
                        ..,
                    ] => (register, more, offset, 8),
                    _ => {
                        return Place::Memory {
                            steps,
                            offset,
                            in_frame,
                        };
                    }
                };
                let is_object = steps.len() == 1;
                let there = self.there(first, cfa);
                let part = |from: usize| Place::Memory {
                    steps: steps.clone(),
                    offset: offset.saturating_add(if is_object { from as i32 } else { 0 }),
                    in_frame,
                };
                if there.iter().all(|&there| there) {
                    return part(0);
                }
                if !is_object || there.iter().all(|&there| !there) {
                    return Place::Missing(Missing::NotKnown);
                }
                let mut from = 0;
                let pieces = there.chunk_by(|one, next| one == next).map(|run| {
                    let place = match run[0] {
                        true => part(from),
                        false => Place::Missing(Missing::NotKnown),
                    };
                    from += run.len();
                    (place, run.len() as u16)
                });
                Place::Pieces(pieces.collect())
            }
            Place::Pieces(pieces) => {
                let checked =
                    |(piece, bytes): (Place, u16)| (self.checked(piece, bytes.into(), cfa), bytes);
                Place::Pieces(pieces.into_iter().map(checked).collect())
            }
            other => other,
        }
    }

    /// For each of so many bytes, as far as they are recorded, whether something is there: of the
    /// stack, what the caller has stored is, and of other memory all.
    fn there(
        &self,
        (register, more, offset, bytes): (u8, i32, i32, u64),
        cfa: Option<Cfa>,
    ) -> Vec<bool> {
        let held = self.machine.general[usize::from(register & 15)];
        let behind = i64::from(more) + i64::from(offset);
        let first = self.address(held, behind);
        let cfa = cfa.filter(|cfa| cfa.register.0 == u16::from(register));
        let there = |byte: i32| {
            // The return address, below the canonical frame address, was there at the entry.
            let behind_cfa = cfa.map(|cfa| behind + i64::from(byte) - cfa.offset);
            let of_caller = behind_cfa.filter(|&behind| behind >= 0).map(|at| at + 8);
            let at_entry = match first {
                Some((RSP, at)) if self.entered => Some(i64::from(at.saturating_add(byte))),
                _ => None,
            };
            let of_caller = of_caller.or(at_entry.filter(|&at| at >= 0));
            if let Some(at) = of_caller {
                return i32::try_from(at).is_ok_and(|at| !self.over.contains(&at));
            }
            match first {
                Some((base, at)) if base == RSP || base == ALIGNED || cfa.is_some() => {
                    self.bytes.contains(&(base, at.saturating_add(byte)))
                }
                Some(_) => !self.is_callers(held),
                None => cfa.is_none() && register != RSP,
            }
        };
        (0..bytes.min(MOST_BYTES) as i32).map(there).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RBP: u8 = 6;

    fn on_stack(register: u8, offset: i32) -> Place {
        Place::Memory {
            steps: vec![Step::Register(register, 0)],
            offset,
            in_frame: true,
        }
    }

    fn cfa(register: u8, offset: i64) -> Option<Cfa> {
        let register = gimli::Register(register.into());
        Some(Cfa { register, offset })
    }

    fn checked(code: &[u8], place: Place, bytes: u64) -> Place {
        Stored::behind(code, 0x1000, false).checked(place, bytes, cfa(RSP, 100))
    }

    const NOT_KNOWN: Place = Place::Missing(Missing::NotKnown);

    /// sub rsp, 40; mov [rsp+24], esi
    const LAST_OF_THREE: [u8; 8] = [0x48, 0x83, 0xec, 40, 0x89, 0x74, 0x24, 24];

    #[test]
    fn of_a_structure_in_the_frame_the_bytes_are_known_that_are_stored() {
        let three = || on_stack(RSP, 16);
        let last = || vec![(NOT_KNOWN, 8), (on_stack(RSP, 24), 4)];
        let place = checked(&LAST_OF_THREE, three(), 12);
        assert_eq!(place, Place::Pieces(last()));
        // … mov [rsp+16], rdi
        let all = [&LAST_OF_THREE[..], &[0x48, 0x89, 0x7c, 0x24, 16]].concat();
        assert_eq!(checked(&all, three(), 12), three());
        // … push rdi saves a register.
        let pushed = [&LAST_OF_THREE[..], &[0x57]].concat();
        assert_eq!(checked(&pushed, on_stack(RSP, 0), 8), NOT_KNOWN);
        assert_eq!(checked(&pushed, on_stack(RSP, 32), 4), on_stack(RSP, 32));
        assert_eq!(checked(&[], on_stack(RSP, -16), 12), NOT_KNOWN);
        // What the caller passes on the stack is there.
        assert_eq!(
            checked(&LAST_OF_THREE, on_stack(RSP, 48), 64),
            on_stack(RSP, 48)
        );
        // … mov qword [rsp+56], 77: another is set in its place.
        let over = [
            &LAST_OF_THREE[..],
            &[0x48, 0xc7, 0x44, 0x24, 56, 77, 0, 0, 0],
        ]
        .concat();
        let place =
            Stored::behind(&over, 0x1000, false).checked(on_stack(RSP, 48), 24, cfa(RSP, 48));
        let parts = vec![
            (on_stack(RSP, 48), 8),
            (NOT_KNOWN, 8),
            (on_stack(RSP, 64), 8),
        ];
        assert_eq!(place, Place::Pieces(parts));
        // By its address, of which the frame has nothing.
        let by_address = Place::Memory {
            steps: vec![
                Step::Register(RSP, 0),
                Step::Load {
                    offset: 16,
                    in_frame: true,
                },
            ],
            offset: 0,
            in_frame: false,
        };
        assert_eq!(checked(&LAST_OF_THREE, by_address.clone(), 64), NOT_KNOWN);
        assert_eq!(checked(&all, by_address.clone(), 64), by_address);
        // sub rsp, rax: where that is from the function's entry is not known.
        assert_eq!(checked(&[0x48, 0x29, 0xc4], on_stack(RSP, 0), 8), NOT_KNOWN);
        // mov rbx, rdi: behind a pointer all is.
        let pointer = [0x48, 0x89, 0xfb];
        assert_eq!(checked(&pointer, on_stack(3, -8), 64), on_stack(3, -8));
    }

    #[test]
    fn an_unoptimised_function_has_stored_its_parameters() {
        // push rbp; mov rbp, rsp; sub rsp, 48; mov rax, rdi; mov ecx, esi; mov [rbp-32], rax;
        // mov [rbp-24], ecx
        let code = [
            &[0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 48][..],
            &[0x48, 0x89, 0xf8, 0x89, 0xf1],
            &[0x48, 0x89, 0x45, 0xe0, 0x89, 0x4d, 0xe8],
        ]
        .concat();
        assert_eq!(checked(&code, on_stack(RBP, -32), 12), on_stack(RBP, -32));
        assert_eq!(checked(&code, on_stack(RSP, 16), 12), on_stack(RSP, 16));
        // push rbp; mov rbp, rsp; and rsp, -32; mov [rsp-16], rdi
        let aligned = [
            &[0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xe0][..],
            &[0x48, 0x89, 0x7c, 0x24, 0xf0],
        ]
        .concat();
        assert_eq!(checked(&aligned, on_stack(RSP, -16), 8), on_stack(RSP, -16));
        assert_eq!(checked(&aligned, on_stack(RBP, -16), 8), NOT_KNOWN);
        // lea rdi, [rsp-32]; mov ecx, 3; rep movsq
        let copied = [
            &[0x48, 0x8d, 0x7c, 0x24, 0xe0, 0xb9, 3, 0, 0, 0][..],
            &[0xf3, 0x48, 0xa5],
        ]
        .concat();
        assert_eq!(checked(&copied, on_stack(RSP, -32), 24), on_stack(RSP, -32));
        assert_eq!(checked(&copied, on_stack(RSP, -8), 8), NOT_KNOWN);
    }

    #[test]
    fn what_the_caller_has_in_a_register_is_no_argument() {
        let half = |number| Place::Register {
            register: number,
            offset: 0,
        };
        let both = || Place::Pieces(vec![(half(12), 8), (half(13), 8)]);
        // push r13; push r12; mov r12, rsi
        let low = [0x41, 0x55, 0x41, 0x54, 0x49, 0x89, 0xf4];
        let known = vec![(half(12), 8), (NOT_KNOWN, 8)];
        assert_eq!(checked(&low, both(), 16), Place::Pieces(known));
        assert_eq!(checked(&low, half(13), 4), NOT_KNOWN);
        assert_eq!(checked(&low, on_stack(13, 0), 8), NOT_KNOWN);
        // … mov r13, rdx
        let high = [&low[..], &[0x49, 0x89, 0xd5]].concat();
        assert_eq!(checked(&high, both(), 16), both());
        // … je over that: the code is not followed so far.
        let perhaps = [&low[..], &[0x74, 3], &high[7..]].concat();
        assert_eq!(checked(&perhaps, both(), 16), both());
        // … mov r13, rbx: a copy of what the caller has
        let copied = [&low[..], &[0x49, 0x89, 0xdd]].concat();
        assert_eq!(checked(&copied, half(13), 8), NOT_KNOWN);
        // At the function's entry an argument is in a register that calls may change.
        assert_eq!(checked(&[], half(5), 8), half(5));
        // Of code that a jump back leads to it is not known what is in the registers.
        let body = Stored::behind(&[0xeb, 100, 0x90], 0x1000, true);
        assert_eq!(body.checked(half(13), 8, cfa(RSP, 8)), half(13));
    }

    #[test]
    fn what_is_stored_on_one_path_alone_is_not_known() {
        let four = || on_stack(RSP, 24);
        let behind = |jump: &[u8], store: &[u8]| {
            let code = [&LAST_OF_THREE[..4], jump, &LAST_OF_THREE[4..], store].concat();
            checked(&code, four(), 4)
        };
        // je over the store
        assert_eq!(behind(&[0x74, 4], &[]), NOT_KNOWN);
        // … behind which there is another one
        assert_eq!(behind(&[0x74, 4], &[0x89, 0x54, 0x24, 24]), four());
        // je away
        assert_eq!(behind(&[0x74, 100], &[]), four());
        // jmp over the store, to the hook, or away
        assert_eq!(behind(&[0xeb, 4], &[]), NOT_KNOWN);
        assert_eq!(behind(&[0xeb, 100], &[]), NOT_KNOWN);
        // The hook's call, of which the last byte is left out, directly and by a slot
        assert_eq!(behind(&[], &[0xe8, 0, 0, 0]), four());
        assert_eq!(behind(&[], &[0xff, 0x15, 0, 0, 0]), four());
        // … to which a jump leads
        assert_eq!(behind(&[0x74, 4], &[0xe8, 0, 0, 0]), NOT_KNOWN);
        // what is no code
        assert_eq!(behind(&[0x06, 0, 0, 0, 0, 0, 0], &[]), NOT_KNOWN);
        // A call preserves what is stored.
        assert_eq!(behind(&[], &[0xe8, 0, 0, 0, 0]), four());
    }

    #[test]
    fn for_an_inlined_function_only_the_stores_behind_the_last_call_count() {
        let inlined = |code: &[u8], place: Place, bytes| {
            Stored::behind(code, 0x1000, true).checked(place, bytes, cfa(RBP, 16))
        };
        // push rbp; mov rbp, rsp; mov [rbp-8], edi
        let stored = [0x55, 0x48, 0x89, 0xe5, 0x89, 0x7d, 0xf8];
        let four = || on_stack(RBP, -8);
        assert_eq!(inlined(&stored, four(), 4), four());
        // … call; mov [rbp-12], edi
        let called = [&stored[..], &[0xe8, 0, 0, 0, 0, 0x89, 0x7d, 0xf4]].concat();
        assert_eq!(inlined(&called, four(), 4), NOT_KNOWN);
        assert_eq!(inlined(&called, on_stack(RBP, -12), 4), on_stack(RBP, -12));
        // … jmp away; mov [rbp-12], edi: the body of a loop, which its end jumps to
        let body = [&stored[..], &[0xeb, 100, 0x89, 0x7d, 0xf4]].concat();
        assert_eq!(inlined(&body, four(), 4), NOT_KNOWN);
        assert_eq!(inlined(&body, on_stack(RBP, -12), 4), on_stack(RBP, -12));
        // What the caller of the function around has passed on the stack is there.
        assert_eq!(inlined(&body, on_stack(RBP, 16), 64), on_stack(RBP, 16));
        assert_eq!(
            Stored::behind(&body, 0x1000, false).checked(on_stack(RBP, -12), 4, cfa(RBP, 16)),
            NOT_KNOWN
        );
    }
}
