//! Reading a trace asks more of a module than its symbols: facts of its code and of its debug
//! information. A packed trace carries them as text, so that it is read alike without the module.
//!
//! ```text
//! 1150 0 jump 1180
//! 1160 0 jump ?
//! 11f0 0 handler-return -
//! 1143 0 enter-call 1139
//! 1180 0 entry-call -
//! 11c4 20 call-frame -
//! 1185 38 frame 20
//! 1163 1 first-call -
//! 1163 0 next-call 1178
//! 1178 0 next-jump 1180
//! 1234 4 suspension _Z5fetchi
//! 0 4 awaits _Z5fetchi _ZN4wait13await_suspendEv
//! 1234 2a line /src/fetch.cpp
//! 4040 28 variable ledger
//! 4068 28 member 0 .queues[3].lock
//! ```
//!
//! A line a fact: address and a number in hexadecimal, a word, and what it leads to. A function
//! ends by a jump behind this address, to that one or to where the code does not tell; a signal
//! handler returns to this address; a function calls `__cyg_profile_func_enter` or `__fentry__`
//! there; the caller's frame reaches so far above a call that returns to this address (0: its size
//! may vary); the frame of the function whose call of `__fentry__` returns here, or that begins
//! here and calls no hooks, or has a large one, takes so much, and grows by no more than what
//! follows, if that is told; the call that returns here can be the first of
//! its function, which calls no hooks (0: it can't), and the next one behind it can be that which
//! returns there, or a jump to this function, with which its own ends; a coroutine suspends there,
//! at the point with the number as resume index (0 as address: its line would be a wrong one),
//! where it awaits what has that function; the instruction there is of the line with that number;
//! a variable of that size is there; an object of that size is there, so far behind the beginning
//! of that member of its variable.

use crate::SymbolTable;
use crate::call_frames::{Facts, FrameSize};
use crate::call_order;
use crate::enter_calls::Places;
use crate::lines::SourceLine;
use crate::table::Binding;
use crate::tail_jumps::TailJump;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// The facts about one module, in the file's own address space.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    pub jumps: Vec<TailJump>,
    pub signal_returns: Vec<u64>,
    pub enter_calls: Places,
    pub frames: Facts,
    pub orders: call_order::Facts,
    /// By ramp: resume indices, and the instructions if their lines tell.
    pub suspensions: HashMap<String, Vec<(u16, Option<u64>)>>,
    /// By ramp: resume indices, and the awaiter's `await_suspend`.
    pub awaiters: HashMap<String, Vec<(u16, String)>>,
    /// By the return address of a call behind which a coroutine is certainly suspended: the resume
    /// index.
    pub last_calls: BTreeMap<u64, u16>,
    pub lines: BTreeMap<u64, SourceLine>,
    /// Sizes and names, by address.
    pub variables: BTreeMap<u64, (u64, String)>,
    /// By the address and the size of an object: how far it is behind the beginning of a member of
    /// its variable, and that.
    pub members: BTreeMap<(u64, u64), (u64, String)>,
}

impl Carried {
    /// Adds the facts to a text, in lines that end.
    pub fn write(&self, text: &mut String) {
        // Writing to a string cannot fail.
        let mut line = |at: u64, number: u64, word: &str, rest: &str| {
            if !rest.contains('\n') {
                let _ = writeln!(text, "{at:x} {number:x} {word} {rest}");
            }
        };
        for jump in &self.jumps {
            let to = jump.to.map_or("?".to_owned(), |to| format!("{to:x}"));
            line(jump.at, 0, JUMP, &to);
        }
        for &at in &self.signal_returns {
            line(at, 0, HANDLER_RETURN, "-");
        }
        for &at in &self.enter_calls.functions {
            let named = self.enter_calls.named.get(&at);
            let named = named.map_or("-".to_owned(), |named| format!("{named:x}"));
            line(at, 0, ENTER_CALL, &named);
        }
        for &at in &self.enter_calls.entries {
            line(at, 0, ENTRY_CALL, "-");
        }
        for (&at, &bytes) in &self.frames.sites {
            line(at, bytes, CALL_FRAME, "-");
        }
        for (&at, size) in &self.frames.prologues {
            let growth = size.growth.map_or("-".to_owned(), |by| format!("{by:x}"));
            line(at, size.least, FRAME, &growth);
        }
        for (&at, &begins) in &self.orders.begins {
            line(at, begins.into(), FIRST_CALL, "-");
        }
        for &(at, next) in &self.orders.follows {
            line(at, 0, NEXT_CALL, &format!("{next:x}"));
        }
        for &(at, to) in &self.orders.jumps {
            line(at, 0, NEXT_JUMP, &format!("{to:x}"));
        }
        let mut ramps: Vec<_> = self.suspensions.iter().collect();
        ramps.sort_unstable();
        for (ramp, points) in ramps {
            for &(index, at) in points {
                line(at.unwrap_or(0), index.into(), SUSPENSION, ramp);
            }
        }
        let mut ramps: Vec<_> = self.awaiters.iter().collect();
        ramps.sort_unstable();
        for (ramp, awaiters) in ramps {
            for (index, name) in awaiters {
                line(0, (*index).into(), AWAITS, &format!("{ramp} {name}"));
            }
        }
        for (&at, &index) in &self.last_calls {
            line(at, index.into(), LAST_CALL, "-");
        }
        for (&at, source) in &self.lines {
            line(at, source.line.into(), LINE, &source.file);
        }
        for (&at, (size, name)) in &self.variables {
            line(at, *size, VARIABLE, name);
        }
        for (&(at, size), (behind, member)) in &self.members {
            line(at, size, MEMBER, &format!("{behind:x} {member}"));
        }
    }

    /// The variables.
    pub fn variables(&self) -> SymbolTable {
        let mut table = SymbolTable::default();
        for (&at, (size, name)) in &self.variables {
            table.push(at, *size, Binding::Global, name);
        }
        table.sort();
        table
    }

    /// The facts in a text; lines that are not of this form are left out.
    pub fn read(text: &str) -> Carried {
        let mut carried = Carried::default();
        for line in text.lines() {
            // Most lines are symbols.
            let _ = carried.read_line(line);
        }
        carried.enter_calls.functions.sort_unstable();
        carried.enter_calls.entries.sort_unstable();
        carried
    }

    fn read_line(&mut self, line: &str) -> Option<()> {
        let hex = |word: &str| u64::from_str_radix(word, 16).ok();
        let mut fields = line.splitn(4, ' ');
        let (at, number) = (hex(fields.next()?)?, hex(fields.next()?)?);
        let (word, rest) = (fields.next()?, fields.next()?);
        match word {
            JUMP => {
                let to = match rest {
                    "?" => None,
                    to => Some(hex(to)?),
                };
                self.jumps.push(TailJump { at, to });
            }
            HANDLER_RETURN => self.signal_returns.push(at),
            ENTER_CALL => {
                self.enter_calls.functions.push(at);
                let named = hex(rest).map(|named| (at, named));
                self.enter_calls.named.extend(named);
            }
            ENTRY_CALL => self.enter_calls.entries.push(at),
            CALL_FRAME => _ = self.frames.sites.insert(at, number),
            FRAME => {
                let (least, growth) = (number, hex(rest));
                self.frames
                    .prologues
                    .insert(at, FrameSize { least, growth });
            }
            FIRST_CALL => _ = self.orders.begins.insert(at, number != 0),
            NEXT_CALL => _ = self.orders.follows.insert((at, hex(rest)?)),
            NEXT_JUMP => _ = self.orders.jumps.insert((at, hex(rest)?)),
            SUSPENSION => {
                let point = (u16::try_from(number).ok()?, (at != 0).then_some(at));
                let points = self.suspensions.entry(rest.to_owned()).or_default();
                points.push(point);
            }
            AWAITS => {
                let (ramp, name) = rest.split_once(' ')?;
                let awaiter = (u16::try_from(number).ok()?, name.to_owned());
                let awaiters = self.awaiters.entry(ramp.to_owned()).or_default();
                awaiters.push(awaiter);
            }
            LAST_CALL => _ = self.last_calls.insert(at, u16::try_from(number).ok()?),
            LINE => {
                let line = u32::try_from(number).ok()?;
                let file = rest.to_owned();
                self.lines.insert(at, SourceLine { file, line });
            }
            VARIABLE => _ = self.variables.insert(at, (number, rest.to_owned())),
            MEMBER => {
                let (behind, member) = rest.split_once(' ')?;
                let member = (hex(behind)?, member.to_owned());
                self.members.insert((at, number), member);
            }
            _ => {}
        }
        Some(())
    }
}

const JUMP: &str = "jump";
const HANDLER_RETURN: &str = "handler-return";
const ENTER_CALL: &str = "enter-call";
const ENTRY_CALL: &str = "entry-call";
const CALL_FRAME: &str = "call-frame";
const FRAME: &str = "frame";
const FIRST_CALL: &str = "first-call";
const NEXT_CALL: &str = "next-call";
const NEXT_JUMP: &str = "next-jump";
const SUSPENSION: &str = "suspension";
const AWAITS: &str = "awaits";
const LAST_CALL: &str = "last-call";
const LINE: &str = "line";
const VARIABLE: &str = "variable";
const MEMBER: &str = "member";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_as_they_were_written_and_no_symbol_is_one() {
        let text = "symtab 1\n1139 1c global _Z3addii\n1150 0 jump 1180\n1160 0 jump ?\n\
                    11f0 0 handler-return -\n1143 0 enter-call 1139\n114b 0 enter-call -\n1180 0 entry-call -\n11c4 20 call-frame -\n\
                    1185 38 frame -\n1163 1 first-call -\n1163 0 next-call 1178\n1178 0 next-jump 1180\n0 2 suspension f\n\
                    1234 4 suspension f\n0 4 awaits f _ZN1w13await_suspendEv\n\
                    1243 4 last-call -\n1234 2a line /a b.cpp\n4040 28 variable ledger\n\
                    4068 28 member 0 .queues[3].lock\n1 2 jump x\nz 1 line f\n1 1 line\n";
        let carried = Carried::read(text);
        assert_eq!(carried.jumps.len(), 2);
        assert_eq!(carried.suspensions["f"], [(2, None), (4, Some(0x1234))]);
        let awaits = (4, "_ZN1w13await_suspendEv".to_owned());
        assert_eq!(carried.awaiters["f"], [awaits]);
        assert_eq!(carried.last_calls[&0x1243], 4);
        assert_eq!(carried.lines[&0x1234].short(), "a b.cpp:42");
        let mut again = String::new();
        carried.write(&mut again);
        let facts: Vec<&str> = text.lines().skip(2).take(18).collect();
        assert_eq!(again.lines().collect::<Vec<_>>(), facts);
    }
}
