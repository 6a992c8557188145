//! Records, coded so that a general compressor finds little left to do: each is predicted from
//! those before it, and only what was not foreseen is written. Exactly the same words come back.
//!
//! Six columns, each a byte stream of its own: what kind of record came and which predictions held
//! (`ops`), call pairs that are new (`pairs`) or not the expected ones (`ids`), stack pointers that
//! are not the expected ones (`stacks`), time since the record before (`times`), and everything
//! else word by word (`others`).
//!
//! * An enter's *pair* (function and call site) is expected to be the one that followed the same
//!   step last time.
//! * Its stack pointer is expected as far below its parent's as that pair's was last time.
//! * An exit is expected to be the latest open call's.

use super::columns::{Columns, Reader};
use super::frames::Frames;
use crate::layout::{
    FUNCTION_BITS, FUNCTION_SHIFT, SHORT, SHORT_ENTRY, SHORT_EXIT, SHORT_PREEMPTED, SHORT_UNTIMED,
    SP_BITS, SP_SHIFT, TICKS_BITS, TICKS_SHIFT,
};

/// The text of the error message about invalid coded bytes.
pub type Wrong = &'static str;

const STACK_MASK: u64 = (1 << SP_BITS) - 1;
const CALLEE_MASK: u64 = (1 << FUNCTION_BITS) - 1;
const TICKS_MASK: u64 = (1 << TICKS_BITS) - 1;

/// An op's low three bits are the record's own (exit, way, untimed). The codec sets the others.
const OP_PREEMPTED: u8 = 8;
const OP_PAIR: u8 = 16;
const OP_STACK: u8 = 32;
const OP_OTHER: u8 = 64;

/// Codes whole records: `None` if the words end in the middle of one.
pub fn encode(words: &[u64]) -> Option<Vec<u8>> {
    let mut columns = Columns::default();
    let mut model = Model::default();
    let mut rest = words;
    while let [first, ..] = *rest {
        let length = record_words(first);
        let (record, after) = rest.split_at_checked(length.max(1))?;
        rest = after;
        if first & SHORT == 0 {
            columns.ops.push(OP_OTHER);
            record
                .iter()
                .for_each(|word| columns.others.extend(word.to_le_bytes()));
            continue;
        }
        let own = (first & (SHORT_EXIT | SHORT_ENTRY | SHORT_UNTIMED)) as u8;
        let mut op = own;
        if first & SHORT_PREEMPTED != 0 {
            op |= OP_PREEMPTED;
        }
        let stack = first >> SP_SHIFT & STACK_MASK;
        if first & SHORT_EXIT != 0 {
            let bits = first >> FUNCTION_SHIFT & CALLEE_MASK;
            let expected = model.frames.top();
            if (stack, bits) == (expected.stack, expected.bits(first & SHORT_ENTRY != 0)) {
                op |= OP_STACK;
            } else {
                columns.signed(stack.wrapping_sub(expected.stack));
                columns.stacks.extend((bits as u16).to_le_bytes());
            }
            model.left();
        } else {
            let pair = record[1];
            let known = model.pairs.get(pair);
            if known == Some(model.expected_pair()) {
                op |= OP_PAIR;
            } else {
                columns.unsigned_id(known.map_or(0, |index| u64::from(index) + 1));
            }
            let index = known.unwrap_or_else(|| {
                columns.pairs.extend(pair.to_le_bytes());
                model.pairs.add(pair)
            });
            let expected = model.expected_stack(index);
            if stack == expected {
                op |= OP_STACK;
            } else {
                columns.signed(stack.wrapping_sub(expected));
            }
            model.entered(index, stack, pair);
        }
        if first & SHORT_UNTIMED == 0 {
            columns.time(model.elapsed(first >> TICKS_SHIFT));
        } else if first >> TICKS_SHIFT != 0 {
            return None;
        }
        columns.ops.push(op);
    }
    Some(columns.joined())
}

/// The words that [`encode`] was given.
///
/// # Errors
/// The bytes are not its output.
pub fn decode(bytes: &[u8], most_words: usize) -> Result<Vec<u64>, Wrong> {
    let mut reader = Reader::split(bytes)?;
    let mut model = Model::default();
    let mut words = Vec::new();
    while let Some(op) = reader.op() {
        if words.len() >= most_words {
            return Err("more words than stated");
        }
        if op == OP_OTHER {
            let first = reader.other()?;
            words.push(first);
            for _ in 1..record_words(first) {
                words.push(reader.other()?);
            }
            continue;
        }
        let mut first = SHORT | u64::from(op) & (SHORT_EXIT | SHORT_ENTRY | SHORT_UNTIMED);
        if op & OP_PREEMPTED != 0 {
            first |= SHORT_PREEMPTED;
        }
        let mut second = None;
        if first & SHORT_EXIT != 0 {
            let expected = model.frames.top();
            let (stack, bits) = if op & OP_STACK != 0 {
                (expected.stack, expected.bits(first & SHORT_ENTRY != 0))
            } else {
                let stack = expected.stack.wrapping_add(reader.signed()?) & STACK_MASK;
                (stack, reader.bits()? & CALLEE_MASK)
            };
            first |= stack << SP_SHIFT | bits << FUNCTION_SHIFT;
            model.left();
        } else {
            let index = if op & OP_PAIR != 0 {
                model.expected_pair()
            } else {
                match reader.id()? {
                    0 => model.pairs.add(reader.pair()?),
                    known => u32::try_from(known - 1).map_err(|_| "a pair that is not there")?,
                }
            };
            let pair = model.pairs.at(index).ok_or("a pair that is not there")?;
            let mut stack = model.expected_stack(index);
            if op & OP_STACK == 0 {
                stack = stack.wrapping_add(reader.signed()?) & STACK_MASK;
            }
            first |= stack << SP_SHIFT;
            second = Some(pair);
            model.entered(index, stack, pair);
        }
        if first & SHORT_UNTIMED == 0 {
            first |= model.after(reader.time()?) << TICKS_SHIFT;
        }
        words.push(first);
        words.extend(second);
    }
    reader.finish()?;
    Ok(words)
}

/// Words of the record that begins with this one.
fn record_words(first: u64) -> usize {
    if first & SHORT != 0 {
        return if first & SHORT_EXIT != 0 { 1 } else { 2 };
    }
    (first >> 16 & 0xffff) as usize
}

/// What both sides learn from the records that they have seen.
#[derive(Default)]
struct Model {
    frames: Frames,
    pairs: super::pairs::Pairs,
    /// By step: the pair that came next.
    next: Vec<[u32; 2]>,
    /// By pair: how far below its parent.
    depth: Vec<u64>,
    /// The pair of the latest step, plus one.
    step: u32,
    /// Whether that was an exit.
    exit: bool,
    ticks: u64,
}

impl Model {
    fn expected_pair(&self) -> u32 {
        self.next
            .get(self.step as usize)
            .map_or(0, |next| next[usize::from(self.exit)])
    }

    fn expected_stack(&self, pair: u32) -> u64 {
        let depth = self.depth.get(pair as usize).copied().unwrap_or(0);
        self.frames.top().stack.wrapping_sub(depth) & STACK_MASK
    }

    fn entered(&mut self, pair: u32, stack: u64, word: u64) {
        let index = pair as usize;
        if self.depth.len() <= index {
            self.depth.resize(index + 1, 0);
        }
        if self.next.len() <= index + 1 {
            self.next.resize(index + 2, [0; 2]);
        }
        self.depth[index] = self.frames.top().stack.wrapping_sub(stack) & STACK_MASK;
        if let Some(next) = self.next.get_mut(self.step as usize) {
            next[usize::from(self.exit)] = pair;
        }
        (self.step, self.exit) = (pair + 1, false);
        self.frames.enter(pair, stack, word);
    }

    fn left(&mut self) {
        if let Some(frame) = self.frames.leave() {
            (self.step, self.exit) = (frame.pair + 1, true);
        }
    }

    fn elapsed(&mut self, ticks: u64) -> u64 {
        let elapsed = ticks.wrapping_sub(self.ticks) & TICKS_MASK;
        self.ticks = ticks;
        elapsed
    }

    fn after(&mut self, elapsed: u64) -> u64 {
        self.ticks = self.ticks.wrapping_add(elapsed) & TICKS_MASK;
        self.ticks
    }
}
