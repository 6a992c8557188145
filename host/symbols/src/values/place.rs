//! Turns a location in DWARF into a place where the library can find a value.

use crate::coroutines::Slice;
use crate::coroutines::cfa::Cfa;
use gimli::{Encoding, Expression, Operation, Register};
use heddle_trace_file::{Missing, Step};

/// Where a value is when a hook is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is what this register holds, and so much more.
    Register {
        register: u8,
        offset: i32,
    },
    /// It is the low bytes of this vector register.
    Vector(u8),
    /// It is in memory: so far behind what the steps leave.
    Memory {
        steps: Vec<Step>,
        offset: i32,
        in_frame: bool,
    },
    /// Parts of it, one behind the other, of so many bytes.
    Pieces(Vec<(Place, u16)>),
    /// It is always this.
    Constant(Vec<u8>),
    Missing(Missing),
}

/// What a location is read with.
pub struct Context {
    pub encoding: Encoding,
    /// What frame offsets count from, if that is known: at this pc.
    pub frame: Option<Cfa>,
    pub cfa: Option<Cfa>,
    /// Whether the hook is called before anything else, so that what the registers held at the
    /// function's entry is still there.
    pub at_entry: bool,
}

/// A word on DWARF's stack.
#[derive(Clone, Debug)]
enum Word {
    Register(u8, i64),
    /// The steps leave it, but for so much more.
    Loaded(Vec<Step>, i64),
    Constant(u64),
}

/// Reads a location. One that cannot be read costs its variable alone: gimli knows no
/// `DW_OP_GNU_uninit`, by which GCC says that a variable may not have been set.
pub fn place(expression: Expression<Slice>, context: &Context) -> Place {
    read(expression, context).unwrap_or(Place::Missing(Missing::NotKnown))
}

fn read(expression: Expression<Slice>, context: &Context) -> gimli::Result<Place> {
    let mut operations = expression.operations(context.encoding);
    let mut stack: Vec<Word> = Vec::new();
    let mut pieces: Vec<(Place, u16)> = Vec::new();
    let mut done: Option<Place> = None;
    let optimised_out = Place::Missing(Missing::OptimisedOut);
    let not_known = Place::Missing(Missing::NotKnown);
    while let Some(operation) = operations.next()? {
        match operation {
            Operation::Register { register } => done = Some(in_register(register, context)),
            Operation::RegisterOffset {
                register, offset, ..
            } => match general(register, context) {
                Some(register) => stack.push(Word::Register(register, offset)),
                None => return Ok(not_known),
            },
            Operation::FrameOffset { offset } => match from(context.frame, offset) {
                Some(word) => stack.push(word),
                None => return Ok(not_known),
            },
            Operation::CallFrameCFA => match from(context.cfa, 0) {
                Some(word) => stack.push(word),
                None => return Ok(not_known),
            },
            Operation::UnsignedConstant { value } => stack.push(Word::Constant(value)),
            Operation::SignedConstant { value } => stack.push(Word::Constant(value as u64)),
            Operation::PlusConstant { value } => match stack.pop().and_then(|top| plus(top, value))
            {
                Some(word) => stack.push(word),
                None => return Ok(not_known),
            },
            Operation::Deref {
                size: 8,
                space: false,
                ..
            } => match stack.pop().and_then(load) {
                Some(word) => stack.push(word),
                None => return Ok(not_known),
            },
            Operation::StackValue => {
                done = Some(match stack.pop() {
                    Some(Word::Register(register, offset)) => match i32::try_from(offset) {
                        Ok(offset) => Place::Register { register, offset },
                        Err(_) => return Ok(not_known),
                    },
                    Some(Word::Constant(value)) => Place::Constant(value.to_le_bytes().to_vec()),
                    _ => return Ok(not_known),
                });
            }
            Operation::ImplicitValue { data } => {
                done = Some(Place::Constant(data.slice().to_vec()))
            }
            Operation::EntryValue { expression } => {
                // What a register held when the function was entered.
                let mut inner = Expression(expression).operations(context.encoding);
                let first = inner.next()?;
                match (first, inner.next()?) {
                    (Some(Operation::Register { register }), None) if context.at_entry => {
                        match in_register(register, context) {
                            Place::Register { register, .. } => {
                                stack.push(Word::Register(register, 0));
                            }
                            other => done = Some(other),
                        }
                    }
                    _ => return Ok(optimised_out),
                }
            }
            Operation::ImplicitPointer { .. } => return Ok(optimised_out),
            Operation::Piece {
                size_in_bits,
                bit_offset,
            } => {
                let bytes = u16::try_from(size_in_bits / 8);
                let (Ok(bytes), 0, None | Some(0)) = (bytes, size_in_bits % 8, bit_offset) else {
                    return Ok(not_known);
                };
                let place = finish(done.take(), stack.pop());
                pieces.push((place.unwrap_or_else(|| optimised_out.clone()), bytes));
            }
            Operation::Nop => {}
            _ => return Ok(not_known),
        }
    }
    if !pieces.is_empty() {
        return Ok(Place::Pieces(pieces));
    }
    Ok(finish(done, stack.pop()).unwrap_or(optimised_out))
}

/// A place that an expression ends with: one that it has named, or memory.
fn finish(done: Option<Place>, top: Option<Word>) -> Option<Place> {
    if done.is_some() {
        return done;
    }
    let narrow = |offset: i64| i32::try_from(offset).ok();
    Some(match top? {
        Word::Register(register, offset) => Place::Memory {
            steps: vec![Step::Register(register, 0)],
            offset: narrow(offset)?,
            in_frame: is_frame(register),
        },
        Word::Loaded(steps, offset) => Place::Memory {
            steps,
            offset: narrow(offset)?,
            in_frame: false,
        },
        Word::Constant(_) => Place::Missing(Missing::NotKnown),
    })
}

/// Whether a register holds the address of the frame where a location counts from it.
fn is_frame(register: u8) -> bool {
    register == RSP || register == RBP
}

pub const RSP: u8 = 7;
const RBP: u8 = 6;

fn from(base: Option<Cfa>, offset: i64) -> Option<Word> {
    let base = base?;
    let register = u8::try_from(base.register.0)
        .ok()
        .filter(|&number| number < 16)?;
    Some(Word::Register(register, base.offset.checked_add(offset)?))
}

fn plus(word: Word, value: u64) -> Option<Word> {
    let more = i64::try_from(value).ok()?;
    Some(match word {
        Word::Register(register, offset) => Word::Register(register, offset.checked_add(more)?),
        Word::Loaded(steps, offset) => Word::Loaded(steps, offset.checked_add(more)?),
        Word::Constant(constant) => Word::Constant(constant.wrapping_add(value)),
    })
}

fn load(word: Word) -> Option<Word> {
    let (mut steps, offset, in_frame) = match word {
        Word::Register(register, offset) => (
            vec![Step::Register(register, 0)],
            offset,
            is_frame(register),
        ),
        Word::Loaded(steps, offset) => (steps, offset, false),
        Word::Constant(_) => return None,
    };
    let offset = i32::try_from(offset).ok()?;
    steps.push(Step::Load { offset, in_frame });
    Some(Word::Loaded(steps, 0))
}

/// The registers of which the hooks of `-finstrument-functions` know what the program has in them.
const PRESERVED: [u8; 7] = [3, RBP, RSP, 12, 13, 14, 15];

fn general(register: Register, context: &Context) -> Option<u8> {
    let number = u8::try_from(register.0)
        .ok()
        .filter(|&number| number < 16)?;
    (context.at_entry || PRESERVED.contains(&number)).then_some(number)
}

fn in_register(register: Register, context: &Context) -> Place {
    if let Some(register) = general(register, context) {
        return Place::Register {
            register,
            offset: 0,
        };
    }
    // xmm0 is 17.
    match register.0.checked_sub(17) {
        Some(number) if number < 8 && context.at_entry => Place::Vector(number as u8),
        _ => Place::Missing(Missing::NotKnown),
    }
}
