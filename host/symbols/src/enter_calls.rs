//! Where functions call `__cyg_profile_func_enter`: a function that calls it once has no other one
//! inlined.

use crate::tail_jumps::{CALL, relative};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionKind};
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// The places of a module's calls of the hook, which are looked for when they are first asked for.
#[derive(Clone, Debug)]
pub struct EnterCalls(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    found: OnceLock<Vec<u64>>,
    module: heddle_trace_file::Module,
}

impl EnterCalls {
    pub(crate) fn of(module: &heddle_trace_file::Module) -> Self {
        EnterCalls(Arc::new(Inner {
            found: OnceLock::new(),
            module: module.clone(),
        }))
    }

    pub(crate) fn known(module: &heddle_trace_file::Module, places: Vec<u64>) -> Self {
        let calls = Self::of(module);
        // It was empty.
        let _ = calls.0.found.set(places);
        calls
    }

    /// In the file's own address space, in order. Nothing of a file that is gone, or is another
    /// now. O(bytes of code), once.
    pub fn places(&self) -> &[u64] {
        let read = || crate::images::with_file(&self.0.module, enter_calls);
        self.0.found.get_or_init(read)
    }
}

const HOOK: &[u8] = b"__cyg_profile_func_enter";
/// `call *distance(%rip)`.
const CALL_SLOT: [u8; 2] = [0xff, 0x15];
/// `jmp *distance(%rip)`.
const JUMP_SLOT: [u8; 2] = [0xff, 0x25];

/// The calls of the hook in an ELF file.
fn enter_calls(bytes: &[u8]) -> Vec<u64> {
    let Ok(file) = ElfFile64::<object::Endianness>::parse(bytes) else {
        return Vec::new();
    };
    let returns = returns_of(&file, HOOK, None);
    returns.into_iter().map(|(place, _)| place).collect()
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
