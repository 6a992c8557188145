//! Turns a location in DWARF into a place that the library knows.

use super::Slice;
use super::cfa::Cfa;
use gimli::{Encoding, Expression, Operation, Register, X86_64};
use heddle_trace_file::{FramePlace, FrameRegister};

/// What a location says of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// It is there.
    At(FramePlace),
    /// It lies in memory, so far from the canonical frame address.
    FromCfa(i64),
    /// Nowhere, or where the library cannot look.
    Elsewhere,
}

/// What distances in a function's frame are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    Cfa,
    Register(Register),
    Other,
}

/// Reads a frame's base from its expression.
pub fn base(expression: Expression<Slice>, encoding: Encoding) -> Base {
    match operations(expression, encoding).as_deref() {
        Ok([Operation::CallFrameCFA]) => Base::Cfa,
        Ok([Operation::Register { register }]) => Base::Register(*register),
        // One that cannot be read, too.
        _ => Base::Other,
    }
}

/// Reads a pointer's location from its expression. One with an operation that we do not know, as
/// `DW_OP_GNU_uninit`, costs this location alone.
pub fn location(expression: Expression<Slice>, encoding: Encoding, base: Base) -> Location {
    let Ok(operations) = operations(expression, encoding) else {
        return Location::Elsewhere;
    };
    let place = match *operations.as_slice() {
        [Operation::Register { register }] => in_register(register),
        // A value, not an address, that is the register's.
        [
            Operation::RegisterOffset {
                register,
                offset: 0,
                ..
            },
            Operation::StackValue,
        ] => in_register(register),
        [
            Operation::RegisterOffset {
                register, offset, ..
            },
        ] => in_memory(register, offset),
        [Operation::FrameOffset { offset }] => match base {
            Base::Cfa => return Location::FromCfa(offset),
            Base::Register(register) => in_memory(register, offset),
            Base::Other => None,
        },
        _ => None,
    };
    place.map_or(Location::Elsewhere, Location::At)
}

/// The place so far from the canonical frame address, where that is there.
pub fn from_cfa(cfa: Cfa, offset: i64) -> Option<FramePlace> {
    in_memory(cfa.register, cfa.offset.checked_add(offset)?)
}

/// The first three operations of an expression: one with more than two is no place.
fn operations<'a>(
    expression: Expression<Slice<'a>>,
    encoding: Encoding,
) -> gimli::Result<Vec<Operation<Slice<'a>>>> {
    let mut operations = expression.operations(encoding);
    let mut all = Vec::new();
    while let Some(operation) = operations.next()? {
        all.push(operation);
        if all.len() == 3 {
            break;
        }
    }
    Ok(all)
}

fn in_register(register: Register) -> Option<FramePlace> {
    let register = match register {
        X86_64::RBX => FrameRegister::Rbx,
        X86_64::RBP => FrameRegister::Rbp,
        X86_64::R12 => FrameRegister::R12,
        X86_64::R13 => FrameRegister::R13,
        X86_64::R14 => FrameRegister::R14,
        X86_64::R15 => FrameRegister::R15,
        X86_64::RDI => FrameRegister::Rdi,
        _ => return None,
    };
    Some(FramePlace::Register(register))
}

fn in_memory(register: Register, offset: i64) -> Option<FramePlace> {
    match register {
        X86_64::RBP => FramePlace::from_rbp(offset),
        X86_64::RSP => FramePlace::from_sp(offset),
        _ => None,
    }
}
