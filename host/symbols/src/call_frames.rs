//! How far the frame of a caller reaches above a call that it makes: by the tables that unwinders
//! read, and by the code with which a function that calls `__fentry__` makes its frame.

use crate::coroutines::cfa::{Index, Table};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic, Register};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, SectionKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// How far above the place of a call's return address its caller's own return address lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// So many bytes.
    Exactly(u64),
    /// So many, or more.
    AtLeast(u64),
}

impl Distance {
    /// Whether a caller may be so many bytes above.
    pub fn allows(self, above: u64) -> bool {
        match self {
            Distance::Exactly(bytes) => above == bytes,
            Distance::AtLeast(bytes) => above >= bytes,
        }
    }
}

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
}

/// What a packed trace carries of frames, by addresses in the file's own address space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// By return address: the bytes of [`Distance::Exactly`]; 0 where the frame's size may vary.
    pub sites: BTreeMap<u64, u64>,
    /// By the address behind a function's call of `__fentry__`, or where a function begins that
    /// calls no hooks: the bytes that its frame takes at least.
    pub prologues: BTreeMap<u64, u64>,
}

impl CallFrames {
    pub(crate) fn of(module: &heddle_trace_file::Module, carried: Option<Facts>) -> Self {
        CallFrames(Arc::new(Inner {
            module: module.clone(),
            carried,
            index: OnceLock::new(),
            is_known: OnceLock::new(),
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
                facts(bytes, inner.index(bytes), &site, &entry)
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
                facts(bytes, inner.index(bytes), &site, &starts)
            }),
        };
        least(&facts, site, start)
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
            None => {
                crate::images::with_file(&self.0.module, |bytes| facts(bytes, None, sites, entries))
            }
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
}

fn distance(facts: &Facts, site: u64, entry: u64) -> Option<Distance> {
    match *facts.sites.get(&site)? {
        // The return address itself lies below the frame.
        0 => Some(Distance::AtLeast(facts.prologues.get(&entry)? + 8)),
        exactly => Some(Distance::Exactly(exactly)),
    }
}

fn least(facts: &Facts, site: u64, start: Option<u64>) -> Option<u64> {
    /// A frame whose size may vary is found by a register that the function keeps in it.
    const VARIES: u64 = 16;
    match *facts.sites.get(&site)? {
        0 => {
            let made = start.and_then(|start| facts.prologues.get(&start));
            Some(made.map_or(VARIES, |made| VARIES.max(made + 8)))
        }
        exactly => Some(exactly),
    }
}

/// The address is so far above where a function is entered: that is no call site.
const ENTERED: u64 = 8;

/// The facts in an ELF file; `index`: that of its table, if it is known.
fn facts(
    bytes: &[u8],
    index: Option<Arc<Index>>,
    sites: &BTreeSet<u64>,
    entries: &BTreeSet<u64>,
) -> Facts {
    let mut facts = Facts::default();
    let Ok(file) = ElfFile64::parse(bytes) else {
        return facts;
    };
    let table = match index {
        Some(index) => Table::with_index(&file, index),
        None => Table::of(&file),
    };
    let Ok(table) = table else {
        return facts;
    };
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
    for section in file.sections() {
        let (SectionKind::Text, Ok(code)) = (section.kind(), section.data()) else {
            continue;
        };
        let begin = section.address();
        for &entry in entries.range(begin..begin.saturating_add(code.len() as u64)) {
            let rest = &code[(entry - begin) as usize..];
            facts.prologues.insert(entry, prologue(rest, entry));
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

/// The bytes by which the stack is aligned where a call has arguments on it.
const ALIGNING: u64 = 8;

/// The bytes that a function's frame takes at least, by the code at its beginning. What belongs to
/// a call's arguments may follow at once, and is not of the frame.
fn prologue(code: &[u8], address: u64) -> u64 {
    /// A prologue has hardly more instructions.
    const MOST: usize = 24;
    let mut kept = Vec::new();
    let mut made = 0;
    let decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    for instruction in decoder.into_iter().take(MOST) {
        let register = instruction.op0_register();
        match instruction.mnemonic() {
            Mnemonic::Push if KEPT.contains(&register) && !kept.contains(&register) => {
                kept.push(register);
            }
            Mnemonic::Sub if register == Register::RSP => {
                // By a register: so many that the code does not tell.
                let fixed = instruction.try_immediate(1).unwrap_or(0);
                if fixed != ALIGNING && fixed < 1 << 31 {
                    made = fixed;
                }
                break;
            }
            Mnemonic::Push | Mnemonic::Pop | Mnemonic::Leave => break,
            _ if register == Register::RSP => break,
            _ if instruction.flow_control() != FlowControl::Next => break,
            _ => {}
        }
    }
    made + 8 * kept.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_takes_what_its_function_pushes_and_subtracts() {
        // push %rbp; mov %rsp,%rbp; push %rbx; sub $0x28,%rsp
        let code = [0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 0x28, 0xc3];
        assert_eq!(prologue(&code, 0x1000), 0x38);
        // push %rbx; call; push %rbx
        assert_eq!(prologue(&[0x53, 0xe8, 0, 0, 0, 0, 0x53], 0x1000), 8);
        // push %rbp; mov %rsp,%rbp; sub $8,%rsp; push $7
        let code = [0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 8, 0x6a, 7];
        assert_eq!(prologue(&code, 0x1000), 8);
        // push %rbp; mov %rsp,%rbp; push $8
        assert_eq!(prologue(&[0x55, 0x48, 0x89, 0xe5, 0x6a, 8], 0x1000), 8);
        assert_eq!(prologue(&[], 0x1000), 0);
    }

    #[test]
    fn a_caller_is_as_far_above_as_its_frame_says_or_further_if_that_grows() {
        let facts = Facts {
            sites: [(0x1100, 0x20), (0x1200, 0)].into(),
            prologues: [(0x1005, 0x38)].into(),
        };
        let of = |site, entry| distance(&facts, site, entry);
        assert_eq!(of(0x1100, 0x1005), Some(Distance::Exactly(0x20)));
        assert_eq!(of(0x1200, 0x1005), Some(Distance::AtLeast(0x40)));
        assert_eq!(of(0x1200, 0x1006), None);
        assert_eq!(of(0x1300, 0x1005), None);
        assert_eq!(least(&facts, 0x1100, Some(0x1005)), Some(0x20));
        assert_eq!(least(&facts, 0x1200, Some(0x1005)), Some(0x40));
        assert_eq!(least(&facts, 0x1200, None), Some(0x10));
        assert_eq!(least(&facts, 0x1300, None), None);
        assert!(Distance::AtLeast(0x40).allows(0x50) && !Distance::AtLeast(0x40).allows(0x30));
        assert!(!Distance::Exactly(0x20).allows(0x30));
    }
}
