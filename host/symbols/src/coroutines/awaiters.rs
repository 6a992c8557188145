//! What a coroutine awaits, by its suspension points.
//!
//! Behind the store of a suspension point's number ([`super::suspensions`]) GCC's code calls the
//! awaiter's `await_suspend`, or has it inlined there. Its name begins with the awaiter's type.

use super::flow::Flow;
use crate::SymbolTable;
use crate::lines::{Lines, SourceLine};
use iced_x86::FlowControl;
use std::ops::Range;

/// The member function, and how the linker's name of a class's has that.
const MEMBER: &str = "await_suspend";
const MANGLED: &str = "13await_suspend";

/// The `await_suspend` of a suspension point.
pub struct Awaited {
    /// The linker's name, or the readable one.
    pub name: String,
    /// The line of its call, which is the `co_await`'s.
    pub line: Option<SourceLine>,
}

/// The `await_suspend` that is called, or inlined, behind the store at the range's begin, and
/// before the next store, which is at its end. Of code that several suspension points share, the
/// line is not known: the debug information is of one of them.
pub fn await_suspend(
    flow: &Flow<'_>,
    (table, lines): (&SymbolTable, Option<&Lines>),
    stores: Range<u64>,
) -> Option<Awaited> {
    for (instruction, alone) in flow.path(stores.start) {
        let at = instruction.ip();
        if at == stores.end {
            break;
        }
        let (inlined, line) = match lines.and_then(|lines| lines.outermost(at, MEMBER)) {
            Some((inlined, line)) => (inlined, Some(line)),
            None => (None, None),
        };
        let line = line.filter(|_| alone);
        match inlined {
            // The debug information of shared code is of one place. All are of one type if the
            // coroutine has no other.
            Some(Some(name)) => {
                let all = lines?.inlined(flow.range(), MEMBER);
                let certain = alone || all.iter().all(|(_, _, other)| *other == name);
                return certain.then_some(Awaited { name, line });
            }
            Some(None) => continue,
            None => {}
        }
        if instruction.flow_control() == FlowControl::Call
            && let Some(name) = table.find(instruction.near_branch_target())
            && name.contains(MANGLED)
        {
            let name = name.to_owned();
            return Some(Awaited { name, line });
        }
    }
    None
}

/// The `await_suspend` that is inlined nearest to the store, between the stores before and behind
/// it, and called on the same line. An optimiser puts parts of it in front of the store, and parts
/// of others' behind it.
pub fn same_line(lines: &Lines, between: Range<u64>, store: u64, line: u32) -> Option<String> {
    let all = lines.inlined(between, MEMBER);
    let here = all.into_iter().filter(|&(_, of, _)| of == line);
    let nearest = here.min_by_key(|&(at, ..)| at.abs_diff(store))?;
    Some(nearest.2)
}
