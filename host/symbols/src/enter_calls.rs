//! Where functions call the hooks of an enter. A function that calls `__cyg_profile_func_enter`
//! once has no other one inlined; one that begins by a call of `__fentry__` tells of each of its
//! calls.

use crate::SymbolTable;
use crate::tail_jumps::{CALL, relative};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionKind};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The places of a module's calls of these hooks, which are looked for when they are first asked
/// for.
#[derive(Clone, Debug)]
pub struct EnterCalls(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    found: OnceLock<Places>,
    module: heddle_trace_file::Module,
    /// Where the module itself has `__fentry__`, by its symbols.
    own_entry: Option<u64>,
}

/// The places of calls, in the file's own address space, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// Those of `__cyg_profile_func_enter`.
    pub functions: Vec<u64>,
    /// Those of `__fentry__`.
    pub entries: Vec<u64>,
}

impl EnterCalls {
    pub(crate) fn of(module: &heddle_trace_file::Module, own_entry: Option<u64>) -> Self {
        EnterCalls(Arc::new(Inner {
            found: OnceLock::new(),
            module: module.clone(),
            own_entry,
        }))
    }

    pub(crate) fn known(module: &heddle_trace_file::Module, places: Places) -> Self {
        let calls = Self::of(module, None);
        // It was empty.
        let _ = calls.0.found.set(places);
        calls
    }

    /// Where `__cyg_profile_func_enter` is called: in the file's own address space, in order.
    /// Nothing of a file that is gone, or is another now. O(bytes of code), once for both hooks.
    pub fn places(&self) -> &[u64] {
        &self.found().functions
    }

    /// The same, of `__fentry__`.
    pub fn entries(&self) -> &[u64] {
        &self.found().entries
    }

    /// Where functions begin that call one of them.
    pub(crate) fn functions(&self, table: &SymbolTable) -> HashSet<u64> {
        let functions = table
            .stretches()
            .map(|(start, length, _)| start..start + length);
        let calls = functions.filter(|function| self.are_in(function));
        calls.map(|function| function.start).collect()
    }

    /// Whether one of them is in this code.
    pub fn are_in(&self, function: &Range<u64>) -> bool {
        let found = self.found();
        [&found.functions, &found.entries].iter().any(|places| {
            let first = places.partition_point(|&place| place < function.start);
            places.get(first).is_some_and(|&place| place < function.end)
        })
    }

    pub(crate) fn found(&self) -> &Places {
        let inner = &self.0;
        let read = |bytes: &[u8]| enter_calls(bytes, inner.own_entry);
        let found = &inner.found;
        found.get_or_init(|| crate::images::with_file(&inner.module, read))
    }
}

pub(crate) const ENTRY: &str = "__fentry__";
/// `call *distance(%rip)`.
const CALL_SLOT: [u8; 2] = [0xff, 0x15];
/// `jmp *distance(%rip)`.
const JUMP_SLOT: [u8; 2] = [0xff, 0x25];

/// The calls of the hooks in an ELF file.
fn enter_calls(bytes: &[u8], own_entry: Option<u64>) -> Places {
    let Ok(file) = ElfFile64::<object::Endianness>::parse(bytes) else {
        return Places::default();
    };
    let of = |hook: &str, own: Option<u64>| {
        let returns = returns_of(&file, hook.as_bytes(), own);
        returns.into_iter().map(|(place, _)| place).collect()
    };
    Places {
        functions: of("__cyg_profile_func_enter", None),
        entries: of(ENTRY, own_entry),
    }
}

/// The calls of a hook in an ELF file, with the addresses that they return to, in order: directly,
/// by its slot of the global offset table or by way of the procedure linkage table. `own`: where
/// the file itself has the hook.
pub(crate) fn returns_of<E: object::Endian>(
    file: &ElfFile64<'_, E>,
    hook: &[u8],
    own: Option<u64>,
) -> Vec<(u64, u64)> {
    let slots = slots(file, hook);
    let mut stubs: HashSet<u64> = own.into_iter().collect();
    if slots.is_empty() && stubs.is_empty() {
        return Vec::new();
    }
    let code = || {
        let sections = file.sections();
        sections
            .filter(|section| section.kind() == SectionKind::Text)
            .filter_map(|section| section.data().ok().map(|data| (section, data)))
    };
    for (section, data) in code() {
        let name = section.name().unwrap_or_default();
        if !name.starts_with(".plt") {
            continue;
        }
        for at in memchr::memmem::find_iter(data, &JUMP_SLOT) {
            let place = section.address().wrapping_add(at as u64);
            if relative(&data[at + 2..], place.wrapping_add(2))
                .is_some_and(|slot| slots.contains(&slot))
            {
                // An entry is of 16 bytes, in .plt.got of 8; the jump is in its first half.
                stubs.extend([place & !15, place & !7]);
            }
        }
    }
    let mut places = Vec::new();
    for (section, data) in code() {
        let address = |at: usize| section.address().wrapping_add(at as u64);
        let direct = memchr::memchr_iter(CALL, data).filter(|&at| {
            relative(&data[at + 1..], address(at + 1)).is_some_and(|to| stubs.contains(&to))
        });
        let by_slot = memchr::memmem::find_iter(data, &CALL_SLOT).filter(|&at| {
            relative(&data[at + 2..], address(at + 2)).is_some_and(|slot| slots.contains(&slot))
        });
        places.extend(direct.map(|at| (address(at), address(at + 5))));
        places.extend(by_slot.map(|at| (address(at), address(at + 6))));
    }
    places.sort_unstable();
    places
}

/// Where the dynamic linker writes the hook's address.
fn slots<E: object::Endian>(file: &ElfFile64<'_, E>, hook: &[u8]) -> HashSet<u64> {
    let hooks = file.dynamic_symbols();
    let hooks = hooks.filter(|symbol| symbol.name_bytes() == Ok(hook));
    let hooks: HashSet<_> = hooks.map(|symbol| symbol.index()).collect();
    let Some(relocations) = file.dynamic_relocations() else {
        return HashSet::new();
    };
    let of_hook = relocations.filter(|(_, relocation)| {
        matches!(relocation.target(), RelocationTarget::Symbol(index) if hooks.contains(&index))
    });
    of_hook.map(|(slot, _)| slot).collect()
}
