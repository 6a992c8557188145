//! What a coroutine awaits, by its suspension points.
//!
//! Behind the store of a suspension point's number ([`super::suspensions`]) GCC's code calls the
//! awaiter's `await_suspend`, or has it inlined there. Its name begins with the awaiter's type.

use super::flow::Flow;
use crate::SymbolTable;
use crate::lines::{Lines, SourceLine};
use iced_x86::{FlowControl, Instruction};
use std::collections::HashSet;
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

/// The `await_suspend` that is called, or inlined, behind the store at `store`, and before another
/// one of `stores`. Of code that several suspension points share, the line is not known: the debug
/// information is of one of them. An optimiser that moves what the `await_suspend`s of two points
/// have in common in front of both leaves it with the debug information of one, so nothing is known
/// where there is something of two behind the store.
pub fn await_suspend(
    flow: &Flow<'_>,
    (table, lines): (&SymbolTable, Option<&Lines>),
    store: u64,
    stores: &HashSet<u64>,
) -> Option<Awaited> {
    let mut found: Option<Awaited> = None;
    for step in flow.path(store) {
        let at = step.instruction.ip();
        if stores.contains(&at) || (found.is_some() && !step.alone) {
            break;
        }
        let (inlined, line) = match lines.and_then(|lines| lines.outermost(at, MEMBER)) {
            Some((inlined, line)) => (inlined, Some(line)),
            None => (None, None),
        };
        let line = line.filter(|_| step.alone);
        let name = match inlined {
            Some(None) => continue,
            Some(name) => name,
            None => called(&step.instruction, table),
        };
        let Some(name) = name else { continue };
        match &found {
            Some(found) if found.name != name || found.line != line => return None,
            Some(_) => {}
            None if !step.always => return None,
            None => {
                // The debug information of shared code is of one place, and others may await what
                // leaves no code, as `std::suspend_always`.
                let is_called = step.instruction.flow_control() == FlowControl::Call;
                if !step.alone && !is_called {
                    return None;
                }
                found = Some(Awaited { name, line });
            }
        }
    }
    found
}

/// The linker's name of the `await_suspend` that an instruction calls.
fn called(instruction: &Instruction, table: &SymbolTable) -> Option<String> {
    let is_call = instruction.flow_control() == FlowControl::Call;
    let name = table
        .find(instruction.near_branch_target())
        .filter(|_| is_call)?;
    name.contains(MANGLED).then(|| name.to_owned())
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
