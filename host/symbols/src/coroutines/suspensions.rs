//! Where a coroutine is suspended, by its resume index.
//!
//! Right before GCC's code calls `await_suspend` it stores the suspension point's number in the
//! frame: `movw $number, offset(register)`, or, from -O2 on, where a constant of 16 bits is slow,
//! `movl $number, %ecx` and then `movw %cx, offset(register)`. The debug information says which
//! `co_await` that instruction is of, also where nothing that the `co_await` calls has a hook.
//!
//! GCC 12 often says of the store of a `co_await` within an expression, or one that initialises a
//! variable, that it is on the line where the function ends. What follows that store, the call of
//! `await_suspend` or what is inlined of that, is on the right line.

use super::awaiters::{Awaited, await_suspend, same_line};
use super::flow::Flow;
use crate::SymbolTable;
use crate::lines::{Lines, SourceLine};
use object::{Object, ObjectSection, SectionKind};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

/// The code that runs a coroutine, in the file's own address space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub code: Range<u64>,
    /// Parts of it that the compiler has moved elsewhere.
    pub moved: Vec<Range<u64>>,
}

/// A suspension point.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// The resume index.
    pub index: u16,
    /// The instruction that stores it.
    pub at: u64,
    /// The line of the `co_await`, if the debug information tells that for certain.
    pub line: Option<SourceLine>,
    /// The linker's name of the `await_suspend`, or the readable one.
    pub await_suspend: Option<String>,
    /// The return addresses of calls behind which the coroutine is certainly suspended here.
    pub calls: Vec<u64>,
}

/// The resume index of a coroutine at its first suspension.
const INITIAL: u16 = 2;

/// The suspension points of the coroutine with this body, in the ELF file with these bytes; the
/// resume index is so far behind the begin of the frame.
pub(crate) fn suspension_points(
    program: &[u8],
    (table, lines): (&SymbolTable, Option<&Lines>),
    body: &Body,
    offset: u32,
) -> Vec<Point> {
    let Ok(file) = object::File::parse(program) else {
        return Vec::new();
    };
    let Some(code) = code_in(&file, &body.code) else {
        return Vec::new();
    };
    let moved = body.moved.iter();
    let moved = moved.filter_map(|part| Some((code_in(&file, part)?, part.start)));
    let flow = Flow::of(code, body.code.start, &moved.collect::<Vec<_>>());
    let stores = stores(code, body.code.start, offset, &flow);
    // What is inlined there may be the beginning of another coroutine, which has its own frame.
    let is_own = |at| !lines.is_some_and(|lines| lines.is_inlined(at));
    let stores = stores.filter(|&(at, _)| is_own(at)).collect::<Vec<_>>();
    let all = stores.iter().map(|&(at, _)| at).collect::<HashSet<_>>();
    let ends = lines.and_then(|lines| lines.ends(body.code.clone()));
    let last = stores.iter().filter_map(|&(_, index)| index).max();
    let found = stores.iter().enumerate().map(|(number, &(at, index))| {
        let next = stores.get(number + 1).map_or(body.code.end, |&(at, _)| at);
        let own = lines.and_then(|lines| lines.find(at));
        let found = await_suspend(&flow, (table, lines), at, &all);
        (index, at..next, own, found)
    });
    let found = found.collect::<Vec<_>>();
    // Rows of other functions may be taken for the body's own, so its last line may be below its
    // end. A line is known to be that of its end where the `await_suspend` is on another, or where
    // the frame's first word is cleared, which comes before the last suspension.
    let wrong = found.iter().filter_map(|(_, _, own, found)| {
        let line = found.as_ref()?.line.as_ref()?;
        Some(own.as_ref()?.line).filter(|&own| own > line.line)
    });
    let cleared = flow
        .clearings()
        .filter_map(|at| Some(lines?.find(at)?.line));
    let wrong = wrong.chain(cleared).collect::<HashSet<_>>();
    // The suspension points on each line; a line is that of what is inlined there if it has one.
    let mut on_line: HashMap<u32, HashSet<u16>> = HashMap::new();
    for (index, _, own, _) in &found {
        let (Some(own), Some(index)) = (own, index) else {
            continue;
        };
        on_line.entry(own.line).or_default().insert(*index);
    }
    let mut points: BTreeMap<u16, Point> = BTreeMap::new();
    let mut doubtful = HashSet::new();
    let mut before = body.code.start;
    for (index, stores, own, found) in found {
        let (at, between) = (stores.start, before..stores.end);
        before = at + 1;
        // 0 is what a coroutine has in its frame that has not begun.
        let Some(index) = index.filter(|&index| index >= INITIAL) else {
            continue;
        };
        // Before the first `co_await` and behind the last one a coroutine is suspended on the line
        // where the function begins.
        let within = own.clone().filter(|own| {
            let inside = |(first, last)| first < own.line && own.line < last;
            ends.is_some_and(inside) && !wrong.contains(&own.line)
        });
        // All of a body of one line is on that, and so does not tell what is awaited.
        let is_only = |own: &SourceLine| ends == Some((own.line, own.line));
        let begins = ends.is_some_and(|(first, _)| own.as_ref().is_some_and(|it| it.line == first));
        let at_an_end = index <= INITIAL || (Some(index) == last && begins);
        let own = own.filter(|own| at_an_end || within.is_some() || is_only(own));
        let (name, line) = match found {
            Some(Awaited { name, line }) => (Some(name), own.or(line)),
            None => {
                let alone =
                    |own: &SourceLine| on_line.get(&own.line).is_some_and(|it| it.len() == 1);
                let name = lines.zip(within.filter(alone).filter(|_| !at_an_end));
                let name = name.and_then(|(lines, own)| same_line(lines, between, at, own.line));
                (name, own)
            }
        };
        let point = points.entry(index).or_insert_with(|| Point {
            index,
            at,
            line: line.clone(),
            await_suspend: None,
            calls: Vec::new(),
        });
        point.calls.extend(flow.calls_to_the_end(at, &all));
        // An optimiser may have copied the code of a `co_await`.
        if point.line.is_none() {
            (point.at, point.line) = (at, line);
        } else if line.is_some() && line != point.line {
            doubtful.insert(index);
        }
        point.await_suspend = point.await_suspend.take().or(name);
    }
    for index in doubtful {
        points.entry(index).and_modify(|point| point.line = None);
    }
    points.into_values().collect()
}

/// The bytes of code in this range.
pub fn code_in<'a>(file: &object::File<'a>, range: &Range<u64>) -> Option<&'a [u8]> {
    let section = file.sections().find(|section| {
        let end = section.address().saturating_add(section.size());
        let inside = section.address() <= range.start && range.end <= end;
        section.kind() == SectionKind::Text && inside
    })?;
    let at = |address: u64| usize::try_from(address - section.address()).ok();
    section.data().ok()?.get(at(range.start)?..at(range.end)?)
}

/// Places in `code`, which begins at `start`, where a number is stored so far behind what a
/// register points to. The number is not known where several places share the store.
fn stores(
    code: &[u8],
    start: u64,
    offset: u32,
    flow: &Flow<'_>,
) -> impl Iterator<Item = (u64, Option<u16>)> {
    memchr::memchr_iter(OPERAND_SIZE, code).filter_map(move |at| {
        let place = start + at as u64;
        let number = match store(&code[at + 1..]) {
            Some((there, Source::Number(stored))) if there == offset => Some(stored),
            Some((there, Source::Register(from))) if there == offset => {
                let loaded = loaded(&code[..at], from);
                let alone = loaded.filter(|&(at, _)| !flow.joins(start + at as u64..place));
                alone.map(|(_, number)| number)
            }
            _ => return None,
        };
        Some((place, number))
    })
}

/// The prefix that makes the instruction one of 16 bits.
const OPERAND_SIZE: u8 = 0x66;

/// What a store stores.
#[derive(Clone, Copy)]
enum Source {
    Number(u16),
    Register(u8),
}

/// Offset and source of the store whose bytes behind the prefix these are.
fn store(code: &[u8]) -> Option<(u32, Source)> {
    const MOVE_NUMBER: u8 = 0xc7;
    const MOVE_REGISTER: u8 = 0x89;
    /// The operand that says that another byte names the register.
    const INDEXED: u8 = 4;
    let (prefix, code) = match code {
        [prefix @ 0x40..=0x4f, rest @ ..] => (*prefix, rest),
        _ => (0, code),
    };
    let [operation, operand, rest @ ..] = code else {
        return None;
    };
    let rest = match operand & 7 {
        INDEXED => rest.get(1..)?,
        _ => rest,
    };
    let (offset, rest) = match operand >> 6 {
        1 => (u32::from(*rest.first()?), rest.get(1..)?),
        2 => (u32::from_le_bytes(*rest.first_chunk()?), rest.get(4..)?),
        _ => return None,
    };
    let register = operand >> 3 & 7;
    let source = match *operation {
        MOVE_NUMBER if register == 0 => Source::Number(u16::from_le_bytes(*rest.first_chunk()?)),
        // The prefix has the fourth bit.
        MOVE_REGISTER => Source::Register(register | (prefix << 1 & 8)),
        _ => return None,
    };
    Some((offset, source))
}

/// The small number that the code before a store loads into a register, in the last few
/// instructions, and where.
fn loaded(before: &[u8], register: u8) -> Option<(usize, u16)> {
    const LOAD: u8 = 0xb8;
    const EXTENDED: u8 = 0x41;
    const BYTES: usize = 5;
    const NEAR: usize = 64;
    let skipped = before.len().saturating_sub(NEAR);
    let near = &before[skipped..];
    (0..near.len().checked_sub(BYTES - 1)?)
        .rev()
        .find_map(|at| {
            let [load, low, high, 0, 0] = near[at..at + BYTES] else {
                return None;
            };
            let extended = at > 0 && near[at - 1] == EXTENDED;
            let same = load == LOAD | register & 7 && extended == (register >= 8);
            same.then(|| (skipped + at, u16::from_le_bytes([low, high])))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_found_by_offset_and_number() {
        let code = [
            0x66, 0xc7, 0x43, 0x28, 4, 0, // movw $4, 40(%rbx)
            0x66, 0x41, 0xc7, 0x44, 0x24, 0x28, 6, 0, // movw $6, 40(%r12)
            0x66, 0xc7, 0x83, 0x90, 1, 0, 0, 8, 0, // movw $8, 400(%rbx)
            0xb9, 10, 0, 0, 0, // movl $10, %ecx
            0x83, 0xc0, 1, // addl $1, %eax
            0x66, 0x89, 0x4f, 0x20, // movw %cx, 32(%rdi)
            0x41, 0xb8, 12, 0, 0, 0, // movl $12, %r8d
            0x66, 0x44, 0x89, 0x47, 0x20, // movw %r8w, 32(%rdi)
            0x66, 0x90,
        ];
        let flow = Flow::of(&code, 0, &[]);
        let found = |offset| stores(&code, 0, offset, &flow).collect::<Vec<_>>();
        assert_eq!(found(40), [(0, Some(4)), (6, Some(6))]);
        assert_eq!(found(400), [(14, Some(8))]);
        assert_eq!(found(32), [(31, Some(10)), (41, Some(12))]);
        assert_eq!(found(24), []);
    }

    #[test]
    fn the_number_of_a_store_that_places_share_is_not_known() {
        let code = [
            0xb9, 10, 0, 0, 0, // movl $10, %ecx
            0xeb, 5, // jmp to the store
            0xb9, 12, 0, 0, 0, // movl $12, %ecx
            0x66, 0x89, 0x4f, 0x20, // movw %cx, 32(%rdi)
        ];
        let flow = Flow::of(&code, 0, &[]);
        let found = stores(&code, 0, 32, &flow).collect::<Vec<_>>();
        assert_eq!(found, [(12, None)]);
    }
}
