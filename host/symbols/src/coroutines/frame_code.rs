//! Code that allocates the frames of coroutines, and functions that destroy these.
//!
//! A ramp allocates its coroutine's frame, and stores in it the addresses of the functions that
//! resume and destroy the coroutine. The optimiser puts ramps into their callers, so every function
//! that refers to one of the two may allocate frames. A reference is four bytes of the code: the
//! distance from behind them, or, in a program at fixed addresses, the address itself. Where both
//! addresses are stored at once, the code refers to a constant that holds them.
//!
//! Other bytes that look like a reference do no harm: the memory that such a function allocates is
//! recorded, and is never entered as a frame.

use super::Unusable;
use crate::{CoroutinePart, SymbolTable, coroutine_part};
use heddle_trace_file::Kinds;
use object::read::elf::ElfFile64;
use object::{Object, ObjectKind, ObjectSection, SectionKind};
use std::collections::HashSet;
use std::ops::Range;

/// Functions in order of their addresses, in the file's own address space.
pub type FrameCode = Vec<(Range<u64>, Kinds)>;

/// What the suffix of a symbol says of a part that the compiler moved away: nothing refers to it
/// but its own function.
const COLD: &str = ".cold";

/// The class's own `operator new(unsigned long)`, which a ramp may call, in a mangled name.
const OPERATOR_NEW: &str = "nwEm";

/// The functions of `program`, whose symbols are `table`. O(bytes of the file).
pub fn frame_code(program: &[u8], table: &SymbolTable) -> Result<FrameCode, Unusable> {
    let file = ElfFile64::<object::LittleEndian>::parse(program)?;
    let functions: Vec<(u64, u64, &str)> = table.stretches().collect();
    let mut ramps: HashSet<&str> = HashSet::new();
    let mut targets = Vec::new();
    for &(start, _, name) in &functions {
        if let Some((ramp, _, suffixes)) = coroutine_part(name) {
            ramps.insert(ramp);
            if !suffixes.contains(COLD) {
                targets.push(start);
            }
        }
    }
    let mut referring = vec![false; functions.len()];
    for (index, &(_, _, name)) in functions.iter().enumerate() {
        let whole = name.split('.').next().unwrap_or(name);
        referring[index] = ramps.contains(whole) || name.contains(OPERATOR_NEW);
    }
    let parts = Addresses::of(targets);
    let mut targets = constants(&file, &parts)?;
    targets.extend(&parts.sorted);
    let targets = Addresses::of(targets);
    let fixed = file.kind() == ObjectKind::Executable;
    for section in file.sections() {
        if section.kind() != SectionKind::Text {
            continue;
        }
        let (address, code) = (section.address(), section.data()?);
        for (at, bytes) in code.windows(4).enumerate() {
            let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let here = address.wrapping_add(at as u64);
            let distance = i64::from(word as i32);
            let far = here.wrapping_add(4).wrapping_add_signed(distance);
            if targets.hold(far) || (fixed && targets.hold(word.into())) {
                let after = functions.partition_point(|&(start, ..)| start <= here);
                if let Some(index) = after.checked_sub(1) {
                    let (start, length, _) = functions[index];
                    referring[index] |= here - start < length;
                }
            }
        }
    }
    let kinds = functions.iter().zip(referring);
    let kinds = kinds.map(|(&(start, length, name), refers)| {
        let part = coroutine_part(name).map(|(_, part, _)| part);
        let mut kinds = Kinds::default();
        if refers {
            kinds |= Kinds::MAKES_FRAMES;
        }
        if part.is_some_and(|part| part != CoroutinePart::Resume) {
            kinds |= Kinds::DESTROYS_FRAMES;
        }
        (start..start + length, kinds)
    });
    Ok(kinds.filter(|(_, kinds)| !kinds.is_empty()).collect())
}

/// Where data holds one of these addresses: as it is, or as a relocation will put it there.
fn constants(
    file: &ElfFile64<'_, object::LittleEndian>,
    parts: &Addresses,
) -> Result<Vec<u64>, Unusable> {
    let mut found = Vec::new();
    for section in file.sections() {
        let data = match section.kind() {
            SectionKind::Data | SectionKind::ReadOnlyData | SectionKind::ReadOnlyDataWithRel => {
                section.data()?
            }
            _ => continue,
        };
        for (number, bytes) in data.chunks_exact(8).enumerate() {
            let word = bytes.try_into().map_or(0, u64::from_le_bytes);
            if parts.hold(word) {
                found.push(section.address().wrapping_add(8 * number as u64));
            }
        }
    }
    for (address, relocation) in file.dynamic_relocations().into_iter().flatten() {
        if parts.hold(relocation.addend() as u64) {
            found.push(address);
        }
    }
    Ok(found)
}

/// A set of addresses that lie near one another.
struct Addresses {
    sorted: Vec<u64>,
}

impl Addresses {
    fn of(mut addresses: Vec<u64>) -> Self {
        addresses.sort_unstable();
        addresses.dedup();
        Addresses { sorted: addresses }
    }

    /// Most numbers are far from all of them.
    fn hold(&self, address: u64) -> bool {
        match (self.sorted.first(), self.sorted.last()) {
            (Some(&first), Some(&last)) if (first..=last).contains(&address) => {
                self.sorted.binary_search(&address).is_ok()
            }
            _ => false,
        }
    }
}
