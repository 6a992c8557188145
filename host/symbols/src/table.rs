//! The function symbols of one ELF file.

use crate::{CoroutinePart, coroutine_part};
use object::read::elf::{ElfFile, ElfFile64, FileHeader};
use object::{
    Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, SectionKind, SymbolFlags, elf,
};
use std::collections::{BinaryHeap, HashSet};
use std::ops::Range;
use std::sync::OnceLock;

/// Why bytes are not a usable ELF file.
#[derive(Debug, thiserror::Error)]
#[error("not a readable 64-bit ELF file: {0}")]
pub struct ParseError(#[from] object::Error);

/// Function symbols, by address in the file's own address space.
///
/// A symbol covers [address, address + size). One of size 0 (hand-written assembly without `.size`)
/// covers its own address only: where it ends is not known, and the next symbol's address would be
/// a guess. `.symtab` comes first; `.dynsym` adds what that does not cover.
#[derive(Clone, Debug, Default)]
pub struct SymbolTable {
    /// Sorted by address; at one address, the longest first, then the preferred name.
    symbols: Vec<Symbol>,
    /// The highest end among a symbol and all before it: where the search backwards may stop.
    reach: Vec<u64>,
    /// Made when a search backwards was a long one.
    flat: OnceLock<Vec<Stretch>>,
    /// All names, end to end.
    names: String,
    build_id: Option<String>,
    debug_link: Option<String>,
    has_symtab: bool,
    calls_hooks: bool,
    uses_cpp_heap: bool,
}

/// Addresses that one symbol covers, by its index, as the innermost one.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    start: u64,
    length: u64,
    symbol: usize,
}

/// Symbols that a search backwards looks at. They nest deeper in no compiler's file.
const FEW: usize = 64;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbol {
    pub address: u64,
    pub size: u64,
    pub binding: Binding,
    name: (u32, u32),
}

/// In order of preference: of several names for one function, the most public one is what its
/// author calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Binding {
    Global,
    Weak,
    Local,
}

impl SymbolTable {
    /// Reads the symbols, the build id and the debug link out of the bytes of an ELF file.
    ///
    /// # Errors
    /// The bytes are no 64-bit ELF file. A file without symbols is not an error.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let file = ElfFile64::<object::Endianness>::parse(bytes)?;
        let mut table = SymbolTable {
            build_id: file.build_id().ok().flatten().map(hexadecimal),
            debug_link: file
                .gnu_debuglink()
                .ok()
                .flatten()
                .map(|(name, _)| String::from_utf8_lossy(name).into_owned()),
            ..SymbolTable::default()
        };
        table.calls_hooks = calls_hooks(&file);
        table.uses_cpp_heap = uses_cpp_heap(&file);
        let code: Vec<Range<u64>> = executable_ranges(&file);
        // Relocatable files have no addresses.
        if file.elf_header().e_type(file.endian()) != elf::ET_REL {
            table.has_symtab = file
                .symbol_table()
                .is_some_and(|symbols| symbols.symbols().next().is_some());
            for symbols in [file.symbol_table(), file.dynamic_symbol_table()]
                .into_iter()
                .flatten()
            {
                table.add(symbols.symbols(), &code);
            }
        }
        table.sort();
        Ok(table)
    }

    /// The variables of an ELF file's bytes, instead of its functions; those of each thread's own
    /// are not among them, as they have no address in the file.
    pub fn variables(bytes: &[u8]) -> Option<Self> {
        let file = ElfFile64::<object::Endianness>::parse(bytes).ok()?;
        let mut table = SymbolTable::default();
        let tables = [file.symbol_table(), file.dynamic_symbol_table()];
        let symbols = tables.iter().flatten().flat_map(|table| table.symbols());
        for symbol in symbols.filter(|symbol| !symbol.is_undefined()) {
            let SymbolFlags::Elf { st_info, .. } = symbol.flags() else {
                continue;
            };
            let (binding, name) = (binding(st_info), symbol.name().unwrap_or_default());
            if st_info & 0xf == elf::STT_OBJECT && !name.is_empty() {
                table.push(symbol.address(), symbol.size(), binding, name);
            }
        }
        table.sort();
        Some(table)
    }

    /// [`SymbolTable::calls_hooks`] of an ELF file's bytes alone; `None` if they are none.
    pub(crate) fn asks_for_hooks(bytes: &[u8]) -> Option<bool> {
        let file = ElfFile64::<object::Endianness>::parse(bytes).ok()?;
        Some(calls_hooks(&file))
    }

    /// By which ways in the functions of an ELF file with these bytes call hooks; `None` if it is
    /// none.
    pub(crate) fn hooks_of(bytes: &[u8]) -> Option<Hooks> {
        let file = ElfFile64::<object::Endianness>::parse(bytes).ok()?;
        let mut hooks = Hooks::default();
        for symbol in file.dynamic_symbols().filter(ObjectSymbol::is_undefined) {
            let name = symbol.name().unwrap_or_default();
            hooks.functions |= name.starts_with(FUNCTIONS);
            hooks.entry |= name.starts_with(ENTRY);
        }
        Some(hooks)
    }

    /// [`SymbolTable::build_id`] of an ELF file's bytes alone.
    pub(crate) fn build_id_of(bytes: &[u8]) -> Option<String> {
        let file = ElfFile64::<object::Endianness>::parse(bytes).ok()?;
        file.build_id().ok().flatten().map(hexadecimal)
    }

    fn add<'a>(
        &mut self,
        symbols: impl Iterator<Item = impl ObjectSymbol<'a>>,
        code: &[Range<u64>],
    ) {
        for symbol in symbols {
            let (address, size) = (symbol.address(), symbol.size());
            let SymbolFlags::Elf { st_info, .. } = symbol.flags() else {
                continue;
            };
            let function = match st_info & 0xf {
                elf::STT_FUNC | elf::STT_GNU_IFUNC => true,
                // Assembly often leaves the type out.
                elf::STT_NOTYPE => holds(code, &(address..address.saturating_add(1))),
                _ => false,
            };
            let Ok(name) = symbol.name() else { continue };
            if !function
                || symbol.is_undefined()
                || name.is_empty()
                || address.checked_add(size).is_none()
            {
                continue;
            }
            self.push(address, size, binding(st_info), name);
        }
    }

    /// A table without symbols.
    pub(crate) fn named(build_id: Option<&str>, has_symtab: bool) -> Self {
        SymbolTable {
            build_id: build_id.map(str::to_owned),
            has_symtab,
            ..SymbolTable::default()
        }
    }

    /// Adds a symbol; [`SymbolTable::sort`] must follow. One that would reach beyond the last
    /// address, or whose name lies beyond 4 GB of them, is left out: no such file exists.
    pub(crate) fn push(&mut self, address: u64, size: u64, binding: Binding, name: &str) {
        let place = (u32::try_from(self.names.len()), u32::try_from(name.len()));
        let (Ok(start), Ok(length)) = place else {
            return;
        };
        if address.checked_add(size).is_none() {
            return;
        }
        self.names.push_str(name);
        self.symbols.push(Symbol {
            address,
            size,
            binding,
            name: (start, length),
        });
    }

    pub(crate) fn sort(&mut self) {
        let names = &self.names;
        let text = |symbol: &Symbol| &names[symbol.name.0 as usize..][..symbol.name.1 as usize];
        self.symbols.sort_by(|a, b| {
            let key = |symbol: &Symbol| {
                let underscores = text(symbol).bytes().take_while(|&b| b == b'_').count();
                (
                    symbol.address,
                    std::cmp::Reverse(symbol.size),
                    symbol.binding,
                    underscores,
                    symbol.name.1,
                )
            };
            key(a).cmp(&key(b)).then_with(|| text(a).cmp(text(b)))
        });
        self.flat = OnceLock::new();
        // Aliases: the first is preferred, and the others say nothing more.
        self.symbols
            .dedup_by_key(|symbol| (symbol.address, symbol.size));
        // A label that the author of assembly inside a function has written is no function.
        let mut covered = 0;
        self.symbols.retain(|symbol| {
            let is_label = symbol.size == 0 && symbol.address < covered;
            covered = covered.max(symbol.address.saturating_add(symbol.size));
            !is_label
        });
        let mut reach = 0;
        self.reach = self
            .symbols
            .iter()
            .map(|symbol| {
                reach =
                    reach.max(symbol.address + symbol.size.max(1).min(u64::MAX - symbol.address));
                reach
            })
            .collect();
    }

    /// The name of the innermost symbol that covers `address`. O(log n).
    pub fn find(&self, address: u64) -> Option<&str> {
        self.covering(address).map(|(_, name)| name)
    }

    pub(crate) fn covering(&self, address: u64) -> Option<(Symbol, &str)> {
        let after = self
            .symbols
            .partition_point(|symbol| symbol.address <= address);
        for index in (0..after).rev().take(FEW) {
            if self.reach[index] <= address {
                return None;
            }
            let symbol = &self.symbols[index];
            if address - symbol.address < symbol.size || address == symbol.address {
                return Some((*symbol, self.name(symbol)));
            }
        }
        if after <= FEW {
            return None;
        }
        let flat = self.flat.get_or_init(|| self.flattened());
        let after = flat.partition_point(|stretch| stretch.start <= address);
        let last = flat[..after].last()?;
        let symbol = &self.symbols[last.symbol];
        (address - last.start < last.length).then(|| (*symbol, self.name(symbol)))
    }

    fn name(&self, symbol: &Symbol) -> &str {
        &self.names[symbol.name.0 as usize..][..symbol.name.1 as usize]
    }

    /// The address of a symbol of this name. O(n).
    pub fn address_of(&self, name: &str) -> Option<u64> {
        let mut symbols = self.symbols.iter();
        let found = symbols.find(|symbol| self.name(symbol) == name)?;
        Some(found.address)
    }

    /// Every stretch of addresses that a symbol covers, in order and without overlaps: first
    /// address, length, and the name that [`SymbolTable::find`] has for it. O(n log n).
    pub fn stretches(&self) -> impl Iterator<Item = (u64, u64, &str)> {
        self.flattened().into_iter().map(|stretch| {
            let name = self.name(&self.symbols[stretch.symbol]);
            (stretch.start, stretch.length, name)
        })
    }

    fn flattened(&self) -> Vec<Stretch> {
        let end = |symbol: &Symbol| symbol.address.saturating_add(symbol.size.max(1));
        let mut bounds: Vec<u64> = self.symbols.iter().map(|symbol| symbol.address).collect();
        bounds.extend(self.symbols.iter().map(end));
        bounds.sort_unstable();
        bounds.dedup();
        let mut stretches = Vec::with_capacity(self.symbols.len());
        // Of the symbols that have begun, the innermost is the one that comes last in order.
        let (mut begun, mut open) = (0, BinaryHeap::new());
        for bounds in bounds.windows(2) {
            let &[start, next] = bounds else { continue };
            while begun < self.symbols.len() && self.symbols[begun].address <= start {
                open.push(begun);
                begun += 1;
            }
            while open
                .peek()
                .is_some_and(|&last| end(&self.symbols[last]) <= start)
            {
                open.pop();
            }
            stretches.extend(open.peek().map(|&symbol| Stretch {
                start,
                length: next - start,
                symbol,
            }));
        }
        stretches
    }

    /// These symbols, and those of `other` where these cover nothing: a debug file's, then the
    /// stripped file's own.
    pub fn with_fallback(mut self, other: SymbolTable) -> SymbolTable {
        self.calls_hooks |= other.calls_hooks;
        self.uses_cpp_heap |= other.uses_cpp_heap;
        let added: Vec<&Symbol> = other
            .symbols
            .iter()
            .filter(|symbol| self.find(symbol.address).is_none())
            .collect();
        for symbol in added {
            let Ok(start) = u32::try_from(self.names.len()) else {
                continue;
            };
            self.names.push_str(other.name(symbol));
            self.symbols.push(Symbol {
                name: (start, symbol.name.1),
                ..*symbol
            });
        }
        self.sort();
        self
    }

    /// Whether it has a `.symtab`: a file without was stripped, and knows its exported functions
    /// only.
    pub fn has_symtab(&self) -> bool {
        self.has_symtab
    }

    /// Whether it asks the dynamic linker for the recorder's hooks, by either way in: the functions
    /// of a file that does not are never recorded.
    pub fn calls_hooks(&self) -> bool {
        self.calls_hooks
    }

    /// Whether it asks the dynamic linker for C++'s `operator new` or `delete`, as what makes
    /// coroutines does, unless all of them are elided.
    pub fn uses_cpp_heap(&self) -> bool {
        self.uses_cpp_heap
    }

    /// Whether functions of it resume or destroy C++20 coroutines. O(bytes of names).
    pub fn has_coroutines(&self) -> bool {
        // GCC makes a `.destroy` for each. Clang leaves it out where every frame of the coroutine
        // lies in its caller's: `.cleanup` destroys it then, and either part may be inlined.
        let parts: [&[u8]; 3] = [b".destroy", b".resume", b".cleanup"];
        let names = self.names.as_bytes();
        parts
            .iter()
            .any(|part| memchr::memmem::find(names, part).is_some())
    }

    /// The ramps of C++20 coroutines that Clang compiled, by the names that it gives to what
    /// resumes them. O(symbols).
    pub fn clang_coroutines(&self) -> HashSet<&str> {
        let names = self.symbols.iter().map(|symbol| self.name(symbol));
        let parts = (names.filter(|name| !name.contains(".Frame."))).filter_map(coroutine_part);
        let resume = parts.filter(|(_, part, _)| *part == CoroutinePart::Resume);
        resume.map(|(ramp, ..)| ramp).collect()
    }

    /// Whether there is no function symbol in it: a stripped file.
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }

    /// The build-id note, in hexadecimal.
    pub fn build_id(&self) -> Option<&str> {
        self.build_id.as_deref()
    }

    /// The file name in `.gnu_debuglink`.
    pub fn debug_link(&self) -> Option<&str> {
        self.debug_link.as_deref()
    }
}

fn binding(st_info: u8) -> Binding {
    match st_info >> 4 {
        elf::STB_LOCAL => Binding::Local,
        elf::STB_WEAK => Binding::Weak,
        _ => Binding::Global,
    }
}

/// Whether the dynamic linker is asked for hooks. Who has some, as libc does, does not call them.
pub(crate) fn calls_hooks<H: FileHeader>(file: &ElfFile<'_, H>) -> bool {
    file.dynamic_symbols()
        .any(|symbol| symbol.is_undefined() && symbol.name().is_ok_and(is_hook))
}

/// Whether the dynamic linker is asked for C++'s heap.
fn uses_cpp_heap<H: FileHeader>(file: &ElfFile<'_, H>) -> bool {
    let is_of_heap = |name: &str| name.starts_with("_Znw") || name.starts_with("_Zdl");
    file.dynamic_symbols()
        .any(|symbol| symbol.is_undefined() && symbol.name().is_ok_and(is_of_heap))
}

/// What the names of hooks begin with: of `-finstrument-functions`, and of `heddle/return.h`.
const FUNCTIONS: &str = "__cyg_profile_func_";
const ENTRY: &str = "__heddle_";

/// The ways in by which functions of a file call hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// `-finstrument-functions`.
    pub functions: bool,
    /// `-mfentry -minstrument-return=call`.
    pub entry: bool,
}

/// Whether this is a hook of `-finstrument-functions` or of `heddle/return.h`.
fn is_hook(name: &str) -> bool {
    name.starts_with(FUNCTIONS) || name.starts_with(ENTRY)
}

/// The addresses of the sections that hold code, in order and without overlaps.
pub(crate) fn executable_ranges<H: FileHeader>(file: &ElfFile<'_, H>) -> Vec<Range<u64>> {
    let code = file
        .sections()
        .filter(|section| section.kind() == SectionKind::Text);
    let code = code.filter_map(|section| {
        Some(section.address()..section.address().checked_add(section.size())?)
    });
    let mut code: Vec<Range<u64>> = code.collect();
    code.sort_unstable_by_key(|range| range.start);
    code.dedup_by(|next, last| {
        let joins = next.start <= last.end;
        if joins {
            last.end = last.end.max(next.end);
        }
        joins
    });
    code
}

/// Whether one of these ranges, which are in order, holds all of `part`.
pub(crate) fn holds(ranges: &[Range<u64>], part: &Range<u64>) -> bool {
    let after = ranges.partition_point(|range| range.start <= part.start);
    ranges[..after]
        .last()
        .is_some_and(|range| part.end <= range.end)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{Binding, SymbolTable};

    /// Symbols within one another, each with its name's number.
    fn nested(symbols: impl Iterator<Item = (u64, u64)>) -> SymbolTable {
        let mut table = SymbolTable::named(None, true);
        for (number, (address, size)) in symbols.enumerate() {
            table.push(address, size, Binding::Global, &number.to_string());
        }
        table.sort();
        table
    }

    #[test]
    fn a_label_inside_a_function_is_none() {
        // As where `asm` saves the place to go on at; one behind the function, and its alias.
        let table = nested([(16, 32), (20, 0), (16, 0), (48, 0)].into_iter());
        let stretches: Vec<_> = table.stretches().collect();
        assert_eq!(stretches, [(16, 32, "0"), (48, 1, "3")]);
        assert_eq!(table.find(20), Some("0"));
    }

    #[test]
    fn of_symbols_that_nest_deeply_the_innermost_is_found_behind_the_others_too() {
        let depth = 300;
        let table = nested((0..depth).map(|level| (level, 2 * (depth - level))));
        for address in 0..2 * depth {
            let level = address.min(2 * depth - 1 - address);
            let name = level.to_string();
            assert_eq!(table.find(address), Some(name.as_str()), "{address}");
        }
        assert_eq!(table.find(2 * depth), None);
        let stretches: u64 = table.stretches().map(|(_, length, _)| length).sum();
        assert_eq!(stretches, 2 * depth);
    }

    /// A search that looks at all symbols each time would take hours.
    #[test]
    fn a_symbol_around_a_million_others_costs_little() {
        let inner = (1..1_000_000).map(|number| (16 * number, 8));
        let table = nested([(0, 1 << 40)].into_iter().chain(inner));
        assert_eq!(table.stretches().count(), 2_000_000 - 1);
        for address in (0..16_000_000).step_by(160) {
            assert_eq!(table.find(address + 8), Some("0"));
        }
    }
}
