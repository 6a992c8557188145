//! Where functions call the hooks of an enter. A call of `__cyg_profile_func_enter` names the
//! function that is entered: the one whose code it is, or one that is inlined into it. A function
//! that begins by a call of `__fentry__` tells of each of its calls.

use crate::SymbolTable;
use crate::call_frames::KEPT;
use crate::tail_jumps::{CALL, relative};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionKind};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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
    /// The results of [`EnterCalls::named_in`], by where a function's code begins and ends: the
    /// decoder asks again for each other function that may be inlined into it.
    named: Mutex<NamedByCode>,
}

/// The place of a call, and the function that it names, if the code tells.
type Named = (u64, Option<u64>);

type NamedByCode = HashMap<(u64, u64), Arc<[Named]>>;

/// The places of calls, in the file's own address space, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// Those of `__cyg_profile_func_enter`.
    pub functions: Vec<u64>,
    /// Those of `__fentry__`.
    pub entries: Vec<u64>,
    /// In a packed trace: the functions that calls of `__cyg_profile_func_enter` name, by place.
    pub named: BTreeMap<u64, u64>,
    pub are_carried: bool,
}

impl EnterCalls {
    pub(crate) fn of(module: &heddle_trace_file::Module, own_entry: Option<u64>) -> Self {
        EnterCalls(Arc::new(Inner {
            found: OnceLock::new(),
            module: module.clone(),
            own_entry,
            named: Mutex::default(),
        }))
    }

    pub(crate) fn known(module: &heddle_trace_file::Module, places: Places) -> Self {
        let calls = Self::of(module, None);
        // It was empty.
        let _ = calls.0.found.set(Places {
            are_carried: true,
            ..places
        });
        calls
    }

    /// The calls of `__cyg_profile_func_enter` in a function's code, and the functions that they
    /// name: in the file's own address space. `None` for one that the code does not tell, as where
    /// another module may say where it is. O(bytes of the function), once.
    pub fn named_in(&self, function: &Range<u64>) -> Arc<[Named]> {
        let known = || self.0.named.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (function.start, function.end);
        if let Some(known) = known().get(&key) {
            return known.clone();
        }
        // The lock is not held while this thread reads the code, so another may read the same.
        let named = self.read_named(function);
        known().insert(key, named.clone());
        named
    }

    fn read_named(&self, function: &Range<u64>) -> Arc<[Named]> {
        let found = self.found();
        let first = found
            .functions
            .partition_point(|&place| place < function.start);
        let inside = found.functions[first..].iter().copied();
        let places: Vec<u64> = inside.take_while(|&place| place < function.end).collect();
        let read = |bytes: &[u8]| named(bytes, function);
        let named = match found.are_carried || places.is_empty() {
            true => HashMap::new(),
            false => crate::images::with_file(&self.0.module, read),
        };
        let name = |place: &u64| named.get(place).or_else(|| found.named.get(place)).copied();
        places.iter().map(|place| (*place, name(place))).collect()
    }

    /// The address that the call instruction before `site` names, or `Some(None)` if it names a
    /// register or memory; all addresses are in the file's own address space. `None` where the code
    /// is not known: the file is gone, or is another now, or the trace is packed.
    pub fn called_from(&self, site: u64) -> Option<Option<u64>> {
        if self.found().are_carried {
            return None;
        }
        let read = |bytes: &[u8]| called_from(bytes, site);
        crate::images::with_file(&self.0.module, read)
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
        ..Places::default()
    }
}

/// What the first argument of each call in a function's code is, where that is an address that the
/// code has.
fn named(bytes: &[u8], function: &Range<u64>) -> HashMap<u64, u64> {
    let Ok(file) = ElfFile64::<object::LittleEndian>::parse(bytes) else {
        return HashMap::new();
    };
    let code = code_of(&file, function);
    code.map_or_else(HashMap::new, |code| arguments(code, function.start))
}

/// See [`EnterCalls::called_from`].
fn called_from(bytes: &[u8], site: u64) -> Option<Option<u64>> {
    let file = ElfFile64::<object::Endianness>::parse(bytes).ok()?;
    let code = code_of(&file, &(site.checked_sub(5)?..site))?;
    Some(match code {
        [CALL, distance @ ..] => relative(distance, site - 4),
        _ => None,
    })
}

/// The code in this range of the file's own address space.
pub(crate) fn code_of<'a, E: object::Endian>(
    file: &ElfFile64<'a, E>,
    range: &Range<u64>,
) -> Option<&'a [u8]> {
    file.sections().find_map(|section| {
        let first = usize::try_from(range.start.checked_sub(section.address())?).ok()?;
        let last = usize::try_from(range.end.checked_sub(section.address())?).ok()?;
        let is_code = section.kind() == SectionKind::Text;
        is_code.then(|| section.data().ok()?.get(first..last))?
    })
}

/// The addresses that `rdi` has at the calls in this code, as far as the code alone tells: from
/// where a register gets the address to the call, no branch leads in between.
fn arguments(code: &[u8], start: u64) -> HashMap<u64, u64> {
    let decoder = || Decoder::with_ip(64, code, start, DecoderOptions::NONE).into_iter();
    let is_near = |it: &Instruction| {
        let flow = it.flow_control();
        matches!(
            flow,
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
        )
    };
    let joined: BTreeSet<u64> = decoder()
        .filter(is_near)
        .map(|it| it.near_branch_target())
        .collect();
    let mut known: HashMap<Register, u64> = HashMap::new();
    let mut found = HashMap::new();
    for it in decoder() {
        if joined.contains(&it.ip()) {
            known.clear();
        }
        match it.flow_control() {
            FlowControl::Next => {}
            FlowControl::Call | FlowControl::IndirectCall => {
                found.extend(known.get(&Register::RDI).map(|&at| (it.ip(), at)));
                known.retain(|register, _| KEPT.contains(register));
                continue;
            }
            FlowControl::ConditionalBranch => continue,
            _ => {
                known.clear();
                continue;
            }
        }
        if it.op_count() == 0 || it.op0_kind() != OpKind::Register {
            continue;
        }
        let value = match (it.mnemonic(), it.op1_kind()) {
            (Mnemonic::Lea, _) if it.is_ip_rel_memory_operand() => Some(it.ip_rel_memory_address()),
            (Mnemonic::Mov, OpKind::Register) => {
                known.get(&it.op1_register().full_register()).copied()
            }
            (Mnemonic::Mov, OpKind::Immediate32 | OpKind::Immediate64) => Some(it.immediate(1)),
            _ => None,
        };
        let register = it.op0_register().full_register();
        match value {
            Some(value) => _ = known.insert(register, value),
            // What only reads its first operand makes less known than is.
            None => _ = known.remove(&register),
        }
    }
    found
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_names_the_address_that_its_register_gets() {
        let code = [
            0x48, 0x8d, 0x05, 0xf9, 0xff, 0xff, 0xff, // 0: lea -7(%rip),%rax
            0x48, 0x89, 0xc7, // 7: mov %rax,%rdi
            0xe8, 0, 0, 0, 0, // a: call
            0xe8, 0, 0, 0, 0, // f: call
            0xbb, 0x39, 0x11, 0, 0, // 14: mov $0x1139,%ebx
            0x89, 0xdf, // 19: mov %ebx,%edi
            0xff, 0xd0, // 1b: call *%rax
            0x48, 0x89, 0xdf, // 1d: mov %rbx,%rdi
            0x74, 1,    // 20: je 23
            0x90, // 22: nop
            0xe8, 0, 0, 0, 0, // 23: call
            0x48, 0x8b, 0x3d, 0, 0, 0, 0, // 28: mov 0(%rip),%rdi
            0xe8, 0, 0, 0, 0, // 2f: call
        ];
        let found: BTreeMap<u64, u64> = arguments(&code, 0x1000).into_iter().collect();
        assert_eq!(found, [(0x100a, 0x1000), (0x101b, 0x1139)].into());
    }
}
