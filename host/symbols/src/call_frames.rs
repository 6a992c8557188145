//! How far the frame of a caller reaches above a call that it makes: by the tables that unwinders
//! read, and by the code with which a function that calls `__fentry__` makes its frame.

use crate::coroutines::cfa::{Index, Table};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic, Register};
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol, SectionKind};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};

/// How far above the place of a call's return address its caller's own return address lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// So many bytes.
    Exactly(u64),
    /// At least so many, and at most so many.
    Between(u64, u64),
    /// So many, or more.
    AtLeast(u64),
}

impl Distance {
    /// Whether a caller may be so many bytes above.
    pub fn allows(self, above: u64) -> bool {
        match self {
            Distance::Exactly(bytes) => above == bytes,
            Distance::Between(least, most) => (least..=most).contains(&above),
            Distance::AtLeast(bytes) => above >= bytes,
        }
    }
}

/// A frame of so many bytes is large.
const LARGE: u64 = 256;

/// The frames of a module's functions, which are looked for when one is first asked for.
#[derive(Clone, Debug)]
pub struct CallFrames(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    module: heddle_trace_file::Module,
    /// Those that a packed trace carries.
    carried: Option<Facts>,
    index: OnceLock<Option<Arc<Index>>>,
    is_known: OnceLock<bool>,
    split: OnceLock<Option<HashSet<u64>>>,
}

/// What a packed trace carries of frames, by addresses in the file's own address space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// By return address: the bytes of [`Distance::Exactly`]; 0 where the frame's size may vary.
    pub sites: BTreeMap<u64, u64>,
    /// By the address behind a function's call of `__fentry__`, or where a function begins that
    /// calls no hooks, or has a large frame: the bytes that its frame takes.
    pub prologues: BTreeMap<u64, FrameSize>,
}

/// The bytes that a function's frame takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrameSize {
    pub least: u64,
    /// By how much it grows beyond that at most, where its code tells.
    pub growth: Option<u64>,
}

impl CallFrames {
    pub(crate) fn of(module: &heddle_trace_file::Module, carried: Option<Facts>) -> Self {
        CallFrames(Arc::new(Inner {
            module: module.clone(),
            carried,
            index: OnceLock::new(),
            is_known: OnceLock::new(),
            split: OnceLock::new(),
        }))
    }

    /// How far the caller is above a call that returns to `site`, in the function whose call of
    /// `__fentry__` returns to `entry`: addresses in the file's own address space. `None` where the
    /// tables do not tell, or the file is gone or is another now.
    pub fn distance(&self, site: u64, entry: u64) -> Option<Distance> {
        let inner = &self.0;
        let facts = match &inner.carried {
            Some(carried) => return distance(carried, site, entry),
            None => crate::images::with_file(&inner.module, |bytes| {
                let (site, entry) = (BTreeSet::from([site]), BTreeSet::from([entry]));
                inner.facts(bytes, &site, &entry)
            }),
        };
        distance(&facts, site, entry)
    }

    /// The bytes that the frame of the function around a call that returns to `site` takes at
    /// least, from the place of that call's return address up to its own; `start`: where the
    /// function begins, if that is known. `None` as of [`CallFrames::distance`].
    pub fn least(&self, site: u64, start: Option<u64>) -> Option<u64> {
        let inner = &self.0;
        let facts = match &inner.carried {
            Some(carried) => return least(carried, site, start),
            None => crate::images::with_file(&inner.module, |bytes| {
                let (site, starts) = (BTreeSet::from([site]), start.into_iter().collect());
                inner.facts(bytes, &site, &starts)
            }),
        };
        least(&facts, site, start)
    }

    /// The bytes that a function's frame takes, if they are [`LARGE`] or more; else 0: of the one
    /// that begins at `start`, up to its call of `__cyg_profile_func_enter`, or whose call of
    /// `__fentry__` returns there. `None` as of [`CallFrames::distance`].
    pub fn large(&self, start: u64) -> Option<u64> {
        let inner = &self.0;
        let starts = BTreeSet::from([start]);
        let large = match &inner.carried {
            Some(carried) => {
                let least = carried.prologues.get(&start)?.least;
                return Some(if least < LARGE { 0 } else { least });
            }
            None => crate::images::with_file(&inner.module, |bytes| large(bytes, &starts)),
        };
        large.map(|large| large.get(&start).copied().unwrap_or(0))
    }

    /// [`CallFrames::large`] of those functions that have such a frame.
    pub(crate) fn all_large(&self, starts: &BTreeSet<u64>) -> BTreeMap<u64, u64> {
        let all = crate::images::with_file(&self.0.module, |bytes| large(bytes, starts));
        all.unwrap_or_default()
    }

    /// Whether the module's tables are there.
    pub fn is_known(&self) -> bool {
        let inner = &self.0;
        *inner.is_known.get_or_init(|| match &inner.carried {
            Some(carried) => !carried.sites.is_empty(),
            None => crate::images::with_file(&inner.module, |bytes| inner.index(bytes).is_some()),
        })
    }

    /// The facts of these return addresses, and of functions whose calls of `__fentry__` return to
    /// one of `entries`, or that begin there.
    pub(crate) fn facts(&self, sites: &BTreeSet<u64>, entries: &BTreeSet<u64>) -> Facts {
        match &self.0.carried {
            Some(carried) => carried.clone(),
            None => crate::images::with_file(&self.0.module, |bytes| {
                self.0.facts(bytes, sites, entries)
            }),
        }
    }
}

impl Inner {
    /// The index of the tables in the module's file.
    fn index(&self, bytes: &[u8]) -> Option<Arc<Index>> {
        let read = || {
            let file = ElfFile64::parse(bytes).ok()?;
            Table::of(&file).ok()?.index()
        };
        self.index.get_or_init(read).clone()
    }

    /// The facts in the module's file.
    fn facts(&self, bytes: &[u8], sites: &BTreeSet<u64>, entries: &BTreeSet<u64>) -> Facts {
        let Ok(file) = ElfFile64::parse(bytes) else {
            return Facts::default();
        };
        let table = match self.index(bytes) {
            Some(index) => Table::with_index(&file, index),
            None => Table::of(&file),
        };
        let split = || self.split.get_or_init(|| split(&file)).as_ref();
        let is_split = |start: u64| split().is_none_or(|split| split.contains(&start));
        table.map_or_else(
            |_| Facts::default(),
            |table| facts(&file, &table, is_split, (sites, entries)),
        )
    }
}

/// The bytes of frames that functions make before they call their hooks, which are [`LARGE`] or
/// more, by where these functions begin. `None` if the file is none.
fn large(bytes: &[u8], starts: &BTreeSet<u64>) -> Option<BTreeMap<u64, u64>> {
    let file = ElfFile64::<LittleEndian>::parse(bytes).ok()?;
    let mut large = BTreeMap::new();
    for section in file.sections() {
        let (SectionKind::Text, Ok(code)) = (section.kind(), section.data()) else {
            continue;
        };
        let begin = section.address();
        for &start in starts.range(begin..begin.saturating_add(code.len() as u64)) {
            let bytes = made(&code[(start - begin) as usize..], start);
            if bytes >= LARGE {
                large.insert(start, bytes);
            }
        }
    }
    Some(large)
}

/// Where functions begin that have parts in other places, because the compiler moves what seldom
/// runs: a symbol tells of each. `None` if the file has no symbols. O(symbols).
fn split(file: &ElfFile64<'_, LittleEndian>) -> Option<HashSet<u64>> {
    const COLD: &[u8] = b".cold";
    file.section_by_name(".symtab")?;
    let names = file.symbols().filter_map(|symbol| symbol.name_bytes().ok());
    let moved: HashSet<&[u8]> = names.filter_map(|name| name.strip_suffix(COLD)).collect();
    let has_moved = |name: &[u8]| moved.contains(name);
    let all = file.symbols();
    let split = all.filter(|symbol| symbol.name_bytes().is_ok_and(has_moved));
    Some(split.map(|symbol| symbol.address()).collect())
}

fn distance(facts: &Facts, site: u64, entry: u64) -> Option<Distance> {
    match *facts.sites.get(&site)? {
        0 => {
            let size = facts.prologues.get(&entry)?;
            // The return address itself lies below the frame.
            let least = size.least.saturating_add(8);
            Some(match size.growth {
                Some(growth) => Distance::Between(least, least.saturating_add(growth)),
                None => Distance::AtLeast(least),
            })
        }
        exactly => Some(Distance::Exactly(exactly)),
    }
}

fn least(facts: &Facts, site: u64, start: Option<u64>) -> Option<u64> {
    /// A frame whose size may vary is found by a register that the function keeps in it.
    const VARIES: u64 = 16;
    match *facts.sites.get(&site)? {
        0 => {
            let made = start.and_then(|start| facts.prologues.get(&start));
            Some(made.map_or(VARIES, |made| VARIES.max(made.least.saturating_add(8))))
        }
        exactly => Some(exactly),
    }
}

/// The address is so far above where a function is entered: that is no call site.
const ENTERED: u64 = 8;

/// The facts in an ELF file with this table. How much frames grow is told if one of the sites needs
/// it, of functions that begin where no function `is_split`.
fn facts(
    file: &ElfFile64<'_, LittleEndian>,
    table: &Table<'_>,
    is_split: impl Fn(u64) -> bool,
    (sites, entries): (&BTreeSet<u64>, &BTreeSet<u64>),
) -> Facts {
    let mut facts = Facts::default();
    for &site in sites {
        // The call itself: what is behind it may have another frame.
        let Some(call) = site.checked_sub(1) else {
            continue;
        };
        let rows = table.within(&(call..site)).unwrap_or_default();
        if let [(_, cfa)] = *rows {
            let by_stack_pointer = cfa.register == gimli::X86_64::RSP;
            let bytes = u64::try_from(cfa.offset).ok().filter(|_| by_stack_pointer);
            // Behind a call, the stack is aligned to 16 bytes.
            if bytes != Some(ENTERED) {
                facts.sites.insert(site, bytes.unwrap_or(0));
            }
        }
    }
    let varies = facts.sites.values().any(|&bytes| bytes == 0);
    for section in file.sections() {
        let (SectionKind::Text, Ok(code)) = (section.kind(), section.data()) else {
            continue;
        };
        let begin = section.address();
        for &entry in entries.range(begin..begin.saturating_add(code.len() as u64)) {
            let rest = &code[(entry - begin) as usize..];
            let code = table.range(entry).filter(|_| varies);
            let end = code
                .filter(|code| !is_split(code.start))
                .map(|code| code.end);
            let bytes = end.and_then(|end| end.checked_sub(entry));
            let whole = bytes.and_then(|bytes| rest.get(..bytes as usize));
            let (least, behind) = prologue(rest, entry);
            let body = whole.and_then(|code| code.get(behind..));
            let growth = body.and_then(|code| growth(code, entry + behind as u64));
            facts.prologues.insert(entry, FrameSize { least, growth });
        }
    }
    facts
}

/// The registers that a function keeps for its caller.
pub(crate) const KEPT: [Register; 6] = [
    Register::RBP,
    Register::RBX,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

/// So much is taken at once in a loop that touches the stack page by page.
const PAGE: u64 = 4096;

/// The bytes by which the stack is aligned where a call has arguments on it.
const ALIGNING: u64 = 8;

/// The bytes that a function's frame takes at least, by the code at its beginning, and the length
/// of that code. What belongs to a call's arguments may follow at once, and is not of the frame.
fn prologue(code: &[u8], address: u64) -> (u64, usize) {
    /// A prologue has hardly more instructions.
    const MOST: usize = 24;
    let mut kept = Vec::new();
    let (mut made, mut behind) = (0, address);
    let decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    for instruction in decoder.into_iter().take(MOST) {
        let register = instruction.op0_register();
        behind = instruction.ip();
        match instruction.mnemonic() {
            Mnemonic::Push if KEPT.contains(&register) && !kept.contains(&register) => {
                kept.push(register);
            }
            Mnemonic::Sub if register == Register::RSP => {
                // By a register: so many that the code does not tell.
                let fixed = instruction.try_immediate(1).unwrap_or(0);
                if fixed != ALIGNING && fixed < 1 << 31 {
                    made = fixed;
                    behind = instruction.next_ip();
                }
                break;
            }
            // Up to there, the pages of a large frame are touched one by one
            // (`-fstack-clash-protection`).
            Mnemonic::Lea if instruction.memory_base() == Register::RSP => {
                let by = instruction.memory_displacement64().wrapping_neg();
                if (PAGE..1 << 31).contains(&by) {
                    made = by;
                    break;
                }
            }
            Mnemonic::Push | Mnemonic::Pop | Mnemonic::Leave => break,
            _ if register == Register::RSP => break,
            _ if instruction.flow_control() != FlowControl::Next => break,
            _ => {}
        }
        behind = instruction.next_ip();
    }
    (made + 8 * kept.len() as u64, (behind - address) as usize)
}

/// The bytes that a function's frame takes at least, also behind where the code aligns it.
fn made(code: &[u8], address: u64) -> u64 {
    let (bytes, length) = prologue(code, address);
    let rest = &code[length..];
    let mut decoder = Decoder::with_ip(64, rest, address + length as u64, DecoderOptions::NONE);
    let next = decoder.decode();
    let aligns = next.mnemonic() == Mnemonic::And && next.op0_register() == Register::RSP;
    match aligns {
        true => bytes + prologue(&rest[next.len()..], next.next_ip()).0,
        false => bytes,
    }
}

/// The most bytes by which a frame grows in this code, which is behind what [`prologue`] has looked
/// at: what is pushed for calls. `None` if a frame may grow by anything (`alloca`).
fn growth(code: &[u8], address: u64) -> Option<u64> {
    /// Vectors are aligned by no more.
    const ALIGNMENT: u64 = 64;
    let (mut grown, mut most): (u64, u64) = (0, 0);
    let decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    for instruction in decoder {
        let of_stack = instruction.op0_register() == Register::RSP;
        match instruction.mnemonic() {
            Mnemonic::Push => grown += 8,
            Mnemonic::Pop => grown = grown.saturating_sub(8),
            Mnemonic::Leave => grown = 0,
            Mnemonic::Sub if of_stack => {
                grown += instruction.try_immediate(1).ok().filter(|&by| by < PAGE)?;
            }
            Mnemonic::Add if of_stack => match instruction.try_immediate(1).ok()? {
                by if by < 1 << 31 => grown = grown.saturating_sub(by),
                negative => grown += Some(negative.wrapping_neg()).filter(|&by| by < PAGE)?,
            },
            Mnemonic::And if of_stack => {
                let by = instruction.try_immediate(1).ok()?.wrapping_neg();
                grown += Some(by).filter(|&by| by <= ALIGNMENT)?;
            }
            Mnemonic::Lea if of_stack && instruction.memory_base() == Register::RBP => grown = 0,
            // The beginning and the end of a frame that a register says the place of.
            Mnemonic::Mov if of_stack && instruction.op1_register() == Register::RBP => grown = 0,
            Mnemonic::Cmp | Mnemonic::Test => {}
            _ if of_stack => return None,
            _ => {}
        }
        most = most.max(grown);
    }
    Some(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_takes_what_its_function_pushes_and_subtracts() {
        // push %rbp; mov %rsp,%rbp; push %rbx; sub $0x28,%rsp
        let code = [0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 0x28, 0xc3];
        assert_eq!(prologue(&code, 0x1000), (0x38, 9));
        // push %rbx; call; push %rbx
        assert_eq!(prologue(&[0x53, 0xe8, 0, 0, 0, 0, 0x53], 0x1000), (8, 1));
        // push %rbp; mov %rsp,%rbp; sub $8,%rsp; push $7
        let code = [0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 8, 0x6a, 7];
        assert_eq!(prologue(&code, 0x1000), (8, 4));
        // push %rbp; mov %rsp,%rbp; push $8
        assert_eq!(prologue(&[0x55, 0x48, 0x89, 0xe5, 0x6a, 8], 0x1000), (8, 4));
        assert_eq!(prologue(&[], 0x1000), (0, 0));
        // push %rbp; mov %rsp,%rbp; lea -0x20000(%rsp),%r11; sub $0x1000,%rsp
        let touched = [
            0x55, 0x48, 0x89, 0xe5, 0x4c, 0x8d, 0x9c, 0x24, 0, 0, 0xfe, 0xff, 0x48, 0x81, 0xec, 0,
            0x10, 0, 0,
        ];
        assert_eq!(prologue(&touched, 0x1000), (0x2_0008, 4));
        // lea -0x18(%rsp),%rdi; sub $0x28,%rsp
        let below = [0x48, 0x8d, 0x7c, 0x24, 0xe8, 0x48, 0x83, 0xec, 0x28];
        assert_eq!(prologue(&below, 0x1000), (0x28, 9));
    }

    #[test]
    fn a_frame_that_is_aligned_takes_what_is_subtracted_then() {
        // push %rbp; mov %rsp,%rbp; push %rbx; and $-64,%rsp; sub $0x10080,%rsp
        let code = [
            0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xe4, 0xc0, 0x48, 0x81, 0xec, 0x80, 0, 1, 0,
        ];
        assert_eq!(prologue(&code, 0x1000), (0x10, 5));
        assert_eq!(made(&code, 0x1000), 0x1_0090);
        assert_eq!(made(&code[..5], 0x1000), 0x10);
        assert_eq!(made(&[], 0x1000), 0);
    }

    #[test]
    fn a_caller_is_as_far_above_as_its_frame_says_or_further_if_that_grows() {
        let facts = Facts {
            sites: [(0x1100, 0x20), (0x1200, 0)].into(),
            prologues: [(0x1005, size(0x38, None)), (0x1006, size(0x38, Some(0x20)))].into(),
        };
        let of = |site, entry| distance(&facts, site, entry);
        assert_eq!(of(0x1100, 0x1005), Some(Distance::Exactly(0x20)));
        assert_eq!(of(0x1200, 0x1005), Some(Distance::AtLeast(0x40)));
        assert_eq!(of(0x1200, 0x1006), Some(Distance::Between(0x40, 0x60)));
        assert_eq!(of(0x1200, 0x1007), None);
        assert_eq!(of(0x1300, 0x1005), None);
        assert_eq!(least(&facts, 0x1100, Some(0x1005)), Some(0x20));
        assert_eq!(least(&facts, 0x1200, Some(0x1005)), Some(0x40));
        assert_eq!(least(&facts, 0x1200, None), Some(0x10));
        assert_eq!(least(&facts, 0x1300, None), None);
        assert!(Distance::AtLeast(0x40).allows(0x50) && !Distance::AtLeast(0x40).allows(0x30));
        assert!(!Distance::Exactly(0x20).allows(0x30));
        // A damaged pack tells of any number.
        let most = size(u64::MAX, Some(u64::MAX));
        let facts = Facts {
            sites: [(0x1200, 0)].into(),
            prologues: [(0x1005, most)].into(),
        };
        let all = Distance::Between(u64::MAX, u64::MAX);
        assert_eq!(distance(&facts, 0x1200, 0x1005), Some(all));
        assert_eq!(least(&facts, 0x1200, Some(0x1005)), Some(u64::MAX));
        let between = Distance::Between(0x20, 0x30);
        let allowed = [0x18, 0x20, 0x30, 0x38].map(|above| between.allows(above));
        assert_eq!(allowed, [false, true, true, false]);
    }

    fn size(least: u64, growth: Option<u64>) -> FrameSize {
        FrameSize { least, growth }
    }

    #[test]
    fn a_frame_grows_by_what_is_pushed_unless_a_register_says_how_much() {
        // sub $8,%rsp; push $7; push $8; call; add $0x10,%rsp; push $7; leave; ret
        let code = [
            0x48, 0x83, 0xec, 8, 0x6a, 7, 0x6a, 8, 0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 0x10, 0x6a,
            7, 0xc9, 0xc3,
        ];
        assert_eq!(growth(&code, 0x1000), Some(0x18));
        // sub %rax,%rsp
        assert_eq!(growth(&[0x48, 0x29, 0xc4], 0x1000), None);
        // mov %rbx,%rsp; sub $0x1000,%rsp
        assert_eq!(growth(&[0x48, 0x89, 0xdc], 0x1000), None);
        assert_eq!(growth(&[0x48, 0x81, 0xec, 0, 0x10, 0, 0], 0x1000), None);
        // and $-32,%rsp; add $-0x80,%rsp
        assert_eq!(growth(&[0x48, 0x83, 0xe4, 0xe0], 0x1000), Some(32));
        assert_eq!(growth(&[0x48, 0x83, 0xc4, 0x80], 0x1000), Some(0x80));
    }
}
