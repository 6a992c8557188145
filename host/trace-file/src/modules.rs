//! What was mapped where, and when.

use crate::clock::TimeLine;
use crate::{Addr, Damages, Error, Nanos, Ticks};
use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// One executable or library while it was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The file it was mapped from, or a name such as `[vdso]`.
    pub path: PathBuf,
    /// Lowest address.
    pub start: Addr,
    /// One past the highest address.
    pub end: Addr,
    /// Where its code is.
    pub text: Range<Addr>,
    /// What the loader added to the file's addresses.
    pub bias: u64,
    /// The build-id note of the file, in hexadecimal.
    pub build_id: Option<String>,
    /// The time at which it was first seen.
    pub loaded: Nanos,
    /// The same by the wall clock, ns since 1970, where that is known.
    pub loaded_at: Option<Nanos>,
    /// The time at which it was unloaded, if it was.
    pub unloaded: Option<Nanos>,
}

impl Module {
    /// Whether `address` lies in it.
    pub fn contains(&self, address: Addr) -> bool {
        self.start <= address && address < self.end
    }
}

/// All modules of a process, in the order in which they were loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modules {
    all: Vec<Module>,
    /// When a load reused addresses of an unloaded module: the meaning of an address may change
    /// there.
    reuses: Vec<Nanos>,
    /// Loads and unloads in order of time, by index.
    changes: Vec<(Ticks, Change)>,
}

/// What happened to a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    // An unload sorts before a load at the same time: the new module may have the old one's place.
    Unload(usize),
    Load(usize),
}

impl Modules {
    /// Every load, in order of time.
    pub fn iter(&self) -> std::slice::Iter<'_, Module> {
        self.all.iter()
    }

    /// The module with this index, in the order of [`Modules::iter`].
    pub fn get(&self, index: usize) -> Option<&Module> {
        self.all.get(index)
    }

    /// The index of the module that held `address` at `time`: the latest load before it.
    ///
    /// A load is written after the fact, so code may run in a module a little before: an address
    /// that no earlier load explains is given to the first later one.
    pub fn find(&self, address: Addr, time: Nanos) -> Option<usize> {
        let holds = |&index: &usize| self.all[index].contains(address);
        let born = self.all.partition_point(|module| module.loaded <= time);
        match (0..born).rev().find(holds) {
            Some(index) if self.all[index].unloaded.is_none_or(|gone| time <= gone) => Some(index),
            _ => (born..self.all.len()).find(holds),
        }
    }

    /// The address of code with these low 32 bits, at `time`: of several modules that have such, in
    /// the one that was loaded first, which is the program; `None` where none has.
    pub fn complete(&self, low: u32, time: Nanos) -> Option<Addr> {
        self.all.iter().find_map(|module| {
            let begin = module.text.start.0;
            let address = Addr(begin.checked_add(low.wrapping_sub(begin as u32).into())?);
            let there = module.loaded <= time && module.unloaded.is_none_or(|gone| time <= gone);
            (there && module.text.contains(&address)).then_some(address)
        })
    }

    /// A number that changes when addresses may have changed their meaning, so that results of
    /// [`Modules::find`] can be kept by (address, generation).
    #[inline]
    pub fn generation(&self, time: Nanos) -> u32 {
        if self.reuses.is_empty() {
            0
        } else {
            self.reuses.partition_point(|&reuse| reuse <= time) as u32
        }
    }

    /// The latest time of a generation: for looking an address of it up.
    pub fn end_of(&self, generation: u32) -> Nanos {
        self.reuses
            .get(generation as usize)
            .map_or(Nanos(u64::MAX), |next| Nanos(next.0.saturating_sub(1)))
    }

    /// A time at which `address` meant what it means in a generation: the end of it, or of the
    /// module that held the address then and was closed before.
    pub fn time_of(&self, address: Addr, generation: u32) -> Nanos {
        let end = self.end_of(generation);
        let begin = (generation as usize)
            .checked_sub(1)
            .and_then(|previous| self.reuses.get(previous))
            .map_or(Nanos(0), |&begin| begin);
        let born = self.all.partition_point(|module| module.loaded <= end);
        let latest = self.all[..born]
            .iter()
            .rev()
            .find(|module| module.contains(address));
        latest
            .and_then(|module| module.unloaded)
            .filter(|gone| (begin..=end).contains(gone))
            .unwrap_or(end)
    }

    /// Loads and unloads in order of time.
    pub(crate) fn changes(&self) -> &[(Ticks, Change)] {
        &self.changes
    }

    /// Reads the text of a `modules` file, whose lines have sums from version 4 on, and from 5 on
    /// name the sum of the line before, the first one `start`; `path` is for errors. A line that is
    /// damaged is passed over; one that does not follow the line before it is read.
    ///
    /// # Errors
    /// None but those that [`Damages::add`] gives back.
    pub(crate) fn parse(
        path: &Path,
        bytes: &[u8],
        line: TimeLine,
        version: u32,
        start: u32,
    ) -> Result<(Self, Damages), Error> {
        let mut modules = Modules::default();
        let mut damages = Damages::default();
        let mut ticks = Vec::new();
        let mut offset = 0;
        let mut chain = Chain::new(start);
        for (index, text) in whole_lines(bytes)
            .split_inclusive(|&b| b == b'\n')
            .enumerate()
        {
            let content = match version {
                CHAINED_SINCE.. => {
                    if !chain.follows(text) {
                        let what = format!(
                            "line {} does not follow the one before: lines were lost or moved, or \
                             are of another trace",
                            index + 1
                        );
                        damages.add(Error::damaged(path, offset, what), 0)?;
                    }
                    checked(text).and_then(behind_sum)
                }
                SUMS_SINCE.. => checked(text),
                _ => Ok(String::from_utf8_lossy(without_newline(text))),
            };
            let whole = damages.places == 0;
            let read = content.and_then(|text| modules.line(&text, line, &mut ticks, whole));
            if let Err(what) = read {
                let what = format!("line {} {what}", index + 1);
                damages.add(Error::damaged(path, offset, what), text.len() as u64)?;
            }
            offset += text.len() as u64;
        }
        // Two threads that call dlopen may write their lines in either order.
        let mut order: Vec<usize> = (0..ticks.len()).collect();
        order.sort_by_key(|&index| ticks[index].0);
        modules.all = order
            .iter()
            .map(|&index| modules.all[index].clone())
            .collect();
        for (index, &before) in order.iter().enumerate() {
            let (loaded, unloaded) = ticks[before];
            if unloaded.is_none_or(|gone| gone > loaded) {
                modules.changes.push((loaded, Change::Load(index)));
                let gone = unloaded.map(|gone| (gone, Change::Unload(index)));
                modules.changes.extend(gone);
            }
        }
        modules.changes.sort_unstable();
        modules.find_reuses();
        Ok((modules, damages))
    }

    /// The loads among the lines of a `modules` file of this version that begin at `offset`, in
    /// their order; `path` is for errors.
    pub(crate) fn loads(path: &Path, offset: usize, bytes: &[u8]) -> Result<Vec<Module>, Error> {
        let mut modules = Modules::default();
        let mut offset = offset as u64;
        for text in bytes.split_inclusive(|&b| b == b'\n') {
            let damaged = |what| Error::damaged(path, offset, format!("the line {what}"));
            let line = checked(text).and_then(behind_sum).map_err(damaged)?;
            if line.starts_with("load ") {
                modules
                    .line(&line, TimeLine::TICKS, &mut Vec::new(), true)
                    .map_err(damaged)?;
            }
            offset += text.len() as u64;
        }
        Ok(modules.all)
    }

    /// Takes over what a line says; `whole`: so were all lines before it.
    fn line(
        &mut self,
        text: &str,
        line: TimeLine,
        times: &mut Vec<(Ticks, Option<Ticks>)>,
        whole: bool,
    ) -> Result<(), String> {
        let bad = |what: &str| format!("has {what}: `{text}`");
        let number = |field: Option<&str>, radix| {
            field.and_then(|digits| u64::from_str_radix(digits, radix).ok())
        };
        let mut fields = text.splitn(9, ' ');
        match fields.next() {
            Some("load") => {
                let ticks = number(fields.next(), 10).ok_or_else(|| bad("no time"))?;
                let mut hexadecimal = |name: &str| {
                    number(fields.next(), 16).ok_or_else(|| bad(&format!("no {name} address")))
                };
                let (start, end) = (hexadecimal("start")?, hexadecimal("end")?);
                let (text_start, text_end) = (hexadecimal("text start")?, hexadecimal("text end")?);
                let bias = hexadecimal("bias")?;
                if start >= end {
                    return Err(bad("an end that is not above the start"));
                }
                if text_start > text_end {
                    return Err(bad("a text that ends below its start"));
                }
                let build_id = fields.next().ok_or_else(|| bad("no build id"))?;
                let file = fields.next().ok_or_else(|| bad("no path"))?;
                self.all.push(Module {
                    path: unescape(file).into(),
                    start: Addr(start),
                    end: Addr(end),
                    text: Addr(text_start)..Addr(text_end),
                    bias,
                    build_id: (build_id != "-").then(|| build_id.to_ascii_lowercase()),
                    loaded: line.at(Ticks(ticks)),
                    loaded_at: line.wall(Ticks(ticks)),
                    unloaded: None,
                });
                times.push((Ticks(ticks), None));
            }
            Some("unload") => {
                let ticks = number(fields.next(), 10).ok_or_else(|| bad("no time"))?;
                let start = Addr(number(fields.next(), 16).ok_or_else(|| bad("no start address"))?);
                let loaded = self
                    .all
                    .iter()
                    .rposition(|module| module.start == start && module.unloaded.is_none());
                match loaded {
                    Some(loaded) => {
                        self.all[loaded].unloaded = Some(line.at(Ticks(ticks)));
                        times[loaded].1 = Some(Ticks(ticks));
                    }
                    // The line of its load is damaged, which has been said.
                    None if !whole => {}
                    None => return Err(bad("no module that was loaded before")),
                }
            }
            _ => return Err(bad("neither `load` nor `unload`")),
        }
        Ok(())
    }

    fn find_reuses(&mut self) {
        let overlaps = |a: &Module, b: &Module| a.start < b.end && b.start < a.end;
        let reuses = self
            .all
            .iter()
            .enumerate()
            .filter(|(index, new)| self.all[..*index].iter().any(|old| overlaps(old, new)));
        self.reuses = reuses.map(|(_, module)| module.loaded).collect();
    }
}

/// The text up to its last newline: what follows it was being written when the process died.
pub(crate) fn whole_lines(text: &[u8]) -> &[u8] {
    let last = text.iter().rposition(|&b| b == b'\n');
    &text[..last.map_or(0, |last| last + 1)]
}

/// The version from which on every line of `modules` has a sum.
const SUMS_SINCE: u32 = 4;
/// The version from which on the sum of the line before is behind it, and in it.
const CHAINED_SINCE: u32 = 5;

/// Whether lines follow one another.
struct Chain {
    /// The sum of the line before; none where that is damaged, which has been said.
    before: Option<Sum>,
}

impl Chain {
    /// Before the first line.
    fn new(start: u32) -> Self {
        Chain {
            before: Some(in_digits(start)),
        }
    }

    /// Whether this line follows the last one, as far as both are whole.
    fn follows(&mut self, line: &[u8]) -> bool {
        let line = without_newline(line);
        let (sum, behind) = match line.split_first_chunk::<SUM_BYTES>() {
            Some((sum, text)) if *sum == sum_of(text) => (*sum, text.first_chunk()),
            _ => {
                self.before = None;
                return true;
            }
        };
        let before = self.before.replace(sum);
        before.is_none_or(|before| behind == Some(&before))
    }
}

/// The text of a line behind the sum of the line before.
fn behind_sum(text: Cow<'_, str>) -> Result<Cow<'_, str>, String> {
    let (sum, rest) = text.split_at_checked(SUM_BYTES).unwrap_or(("", ""));
    let digits = sum.strip_suffix(' ').unwrap_or("");
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if digits.is_empty() || !digits.bytes().all(is_digit) {
        return Err(format!("has no sum of the line before: `{text}`"));
    }
    Ok(match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[SUM_BYTES..]),
        Cow::Owned(_) => Cow::Owned(rest.to_owned()),
    })
}

/// The text of a line behind its sum, and without the newline, if there is one.
fn checked(line: &[u8]) -> Result<Cow<'_, str>, String> {
    let line = without_newline(line);
    match line.split_first_chunk() {
        // Compared as text: a digit in upper case was changed, too.
        Some((sum, text)) if *sum == sum_of(text) => Ok(String::from_utf8_lossy(text)),
        _ => Err("does not match its sum".to_owned()),
    }
}

fn without_newline(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// A sum's eight digits and the space behind it.
const SUM_BYTES: usize = 9;

/// Its digits and the space.
type Sum = [u8; SUM_BYTES];

/// What stands in front of this text of a line: its CRC-32.
fn sum_of(text: &[u8]) -> Sum {
    in_digits(crc32fast::hash(text))
}

fn in_digits(value: u32) -> Sum {
    let mut sum = [b' '; SUM_BYTES];
    for (place, digit) in sum.iter_mut().zip((0..SUM_BYTES - 1).rev()) {
        *place = b"0123456789abcdef"[(value >> (4 * digit)) as usize % 16];
    }
    sum
}

/// What the first line of `modules` names, of a process that began at this moment.
pub(crate) fn chain_start(first: Ticks) -> u32 {
    first.0 as u32
}

/// Writes lines of `modules`.
#[derive(Clone, Debug)]
pub struct ModuleLines(Sum);

impl ModuleLines {
    /// Of a process that began at this moment.
    pub fn of(first: Ticks) -> Self {
        ModuleLines(in_digits(chain_start(first)))
    }

    /// The next line with this text: its sum and that of the line before in front, a newline
    /// behind.
    pub fn line(&mut self, text: &[u8]) -> Vec<u8> {
        let text = [&self.0[..], text].concat();
        self.0 = sum_of(&text);
        [&self.0[..], &text, b"\n"].concat()
    }
}

/// Undoes `\\` and `\n`; any other backslash stands for itself.
fn unescape(path: &str) -> String {
    let mut result = String::with_capacity(path.len());
    let mut characters = path.chars();
    while let Some(character) = characters.next() {
        match (character, characters.as_str().chars().next()) {
            ('\\', Some('n')) => result.push('\n'),
            ('\\', Some('\\')) => result.push('\\'),
            (other, _) => {
                result.push(other);
                continue;
            }
        }
        characters.next();
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: TimeLine = TimeLine::TICKS;

    /// Without sums, as earlier versions wrote it.
    fn parse(text: &str) -> Modules {
        let read = Modules::parse("modules".as_ref(), text.as_bytes(), LINE, SUMS_SINCE - 1, 0);
        let (modules, damages) = read.unwrap();
        assert_eq!(damages, Damages::default());
        modules
    }

    #[test]
    fn an_address_belongs_to_the_latest_load_before_it() {
        let modules = parse(
            "load 10 1000 2000 1000 2000 0 - /a\nunload 20 1000\nload 30 1000 3000 1000 3000 0 ABCD /b c\n",
        );
        let at = |address, time| {
            modules
                .find(Addr(address), Nanos(time))
                .map(|index| modules.iter().as_slice()[index].path.clone())
        };
        assert_eq!(at(0x1fff, 15), Some("/a".into()));
        assert_eq!(at(0x1fff, 31), Some("/b c".into()));
        assert_eq!(
            at(0x1000, 0),
            Some("/a".into()),
            "a call just before the load was written"
        );
        assert_eq!(at(0x3000, 31), None);
        assert_eq!(
            (modules.generation(Nanos(29)), modules.generation(Nanos(30))),
            (0, 1)
        );
        assert_eq!(modules.end_of(0), Nanos(29));
        assert_eq!(
            (
                modules.time_of(Addr(0x1fff), 0),
                modules.time_of(Addr(0x1fff), 1),
                modules.time_of(Addr(0x3000), 0),
            ),
            (Nanos(20), Nanos(u64::MAX), Nanos(29)),
            "/a was closed before the generation's end, /b c never, and nothing is at 0x3000"
        );
    }

    #[test]
    fn paths_with_newlines_and_backslashes_survive_and_an_unfinished_line_is_ignored() {
        let modules = parse("load 1 1000 2000 1000 2000 0 - /a\\nb\\\\n\\x\nload 2 1000 20");
        assert_eq!(
            modules
                .iter()
                .map(|module| module.path.clone())
                .collect::<Vec<_>>(),
            [PathBuf::from("/a\nb\\n\\x")]
        );
    }

    const FIRST: &str = "load 1 1000 2000 0 0 0 - /a";
    const LAST: &str = "load 1 5000 6000 0 0 0 - /c";

    #[test]
    fn a_broken_line_is_named_and_costs_that_line_alone() {
        for broken in [
            "load",
            "load x",
            "load 1 2000 1000 0 0 0 - /b",
            "load 1 1 2 2 1 0 - /b",
            "load 1 1 2 1 2 0 -",
            "unload 1 5",
            "hello",
            "",
        ] {
            for version in [SUMS_SINCE - 1, SUMS_SINCE, CHAINED_SINCE] {
                let mut chained = chained();
                let lines = [FIRST, broken, LAST].map(|line| match version {
                    SUMS_SINCE => summed(line),
                    CHAINED_SINCE => chained(line),
                    _ => format!("{line}\n"),
                });
                let text = lines.concat();
                let read = Modules::parse("modules".as_ref(), text.as_bytes(), LINE, version, 7);
                let (modules, damages) = read.unwrap();
                let paths: Vec<_> = modules.iter().map(|module| &module.path).collect();
                assert_eq!(paths, [Path::new("/a"), Path::new("/c")]);
                assert_eq!(
                    (damages.places, damages.bytes),
                    (1, lines[1].len() as u64),
                    "{broken}"
                );
                let first = damages.first.unwrap();
                assert_eq!(first.offset, lines[0].len() as u64);
                assert!(
                    first.what.starts_with("line 2 has ") && first.what.contains(broken),
                    "{first:?}"
                );
            }
        }
    }

    fn summed(line: &str) -> String {
        let sum = String::from_utf8(sum_of(line.as_bytes()).into()).unwrap();
        format!("{sum}{line}\n")
    }

    /// Gives lines their sums, of a process that began at 7.
    fn chained() -> impl FnMut(&str) -> String {
        let mut lines = ModuleLines::of(Ticks(7));
        move |line| String::from_utf8(lines.line(line.as_bytes())).unwrap()
    }

    /// Every line is read, and that it is not where it was written is said.
    #[test]
    fn lines_that_were_lost_moved_or_put_in_are_said_and_the_others_are_read() {
        let lines: Vec<String> = (0..4)
            .map(|at| format!("load 1 {}000 {}000 0 0 0 - /{at}", at + 1, at + 2))
            .scan(chained(), |chained, line| Some(chained(&line)))
            .collect();
        let mut others = ModuleLines::of(Ticks(8));
        let other = others.line(b"load 1 9000 a000 0 0 0 - /other");
        let other = String::from_utf8(other).unwrap();
        let at = |order: &[usize]| order.iter().map(|&at| &lines[at][..]).collect::<String>();
        for (text, loads, first) in [
            (at(&[0, 1, 2, 3]), 4, None),
            (at(&[0, 2, 1, 3]), 4, Some("line 2 does not follow")),
            (at(&[0, 2, 3]), 3, Some("line 2 does not follow")),
            (at(&[1, 2, 3]), 3, Some("line 1 does not follow")),
            (at(&[0, 1, 1, 2, 3]), 5, Some("line 3 does not follow")),
            (at(&[0, 1]) + &other + &at(&[2, 3]), 5, Some("line 3 does")),
            (other.clone(), 1, Some("line 1 does not follow")),
        ] {
            let read = Modules::parse("modules".as_ref(), text.as_bytes(), LINE, CHAINED_SINCE, 7);
            let (modules, damages) = read.unwrap();
            assert_eq!((modules.all.len(), damages.bytes), (loads, 0), "{text}");
            let said = damages.first.map(|first| first.what);
            let is_first = first.is_none_or(|first| said.as_ref().unwrap().starts_with(first));
            assert_eq!(said.is_some(), first.is_some(), "{text}{said:?}");
            assert!(is_first, "{text}{said:?}");
        }
    }

    #[test]
    fn every_flipped_bit_of_a_file_with_sums_is_said_and_costs_two_lines_at_most() {
        let lines = [
            FIRST,
            "load 2 3000 4000 3000 4000 0 abcd /b c",
            "unload 3 1000",
            LAST,
        ];
        for (version, text) in [
            (SUMS_SINCE, lines.map(summed).concat()),
            (CHAINED_SINCE, lines.map(chained()).concat()),
        ] {
            flip_every_bit(version, text.as_bytes());
        }
    }

    fn flip_every_bit(version: u32, text: &[u8]) {
        let read =
            |text: &[u8]| Modules::parse("modules".as_ref(), text, LINE, version, 7).unwrap();
        let (whole, damages) = read(text);
        assert_eq!((whole.all.len(), damages.places), (3, 0));
        let places = |modules: &Modules| {
            modules
                .iter()
                .map(|it| (it.start, it.path.clone()))
                .collect()
        };
        let all: Vec<_> = places(&whole);
        for bit in 0..text.len() * 8 {
            let mut flipped = text.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let (found, damages) = read(&flipped);
            let cut = whole_lines(&flipped).len() < text.len();
            assert!(
                cut || matches!(damages.places, 1 | 2),
                "bit {bit}: {damages:?}"
            );
            let found: Vec<_> = places(&found);
            assert!(
                found.iter().all(|module| all.contains(module)),
                "bit {bit}: {found:?}"
            );
            assert!(found.len() + 2 >= all.len(), "bit {bit}: {found:?}");
        }
    }

    #[test]
    fn a_line_without_a_sum_is_damaged_where_all_have_one() {
        let text = summed(FIRST) + LAST + "\n";
        let read = Modules::parse("modules".as_ref(), text.as_bytes(), LINE, SUMS_SINCE, 0);
        let (modules, damages) = read.unwrap();
        assert_eq!((modules.all.len(), damages.places), (1, 1));
    }

    #[test]
    fn a_sum_is_eight_digits_and_a_space() {
        assert_eq!(&sum_of(b"123456789"), b"cbf43926 ");
    }
}
