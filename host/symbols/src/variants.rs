//! Functions of a file that have one readable name: the variants of a constructor or destructor,
//! and the clones that an optimiser makes of a function.

use crate::{SymbolTable, coroutine_part, demangle};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// The code of each function that has the readable name of another, by addresses of the file and in
/// their order, with where the first of that name begins. O(bytes of names): few are made readable.
pub(crate) fn variants(table: &SymbolTable) -> Vec<(Range<u64>, u64)> {
    let mut first: HashMap<Cow<'_, str>, (Range<u64>, &str)> = HashMap::new();
    let mut alike: HashMap<Cow<'_, str>, Vec<(Range<u64>, &str)>> = HashMap::new();
    for (start, length, symbol) in table.stretches() {
        // The parts of a coroutine have names of their own.
        if coroutine_part(symbol).is_some() {
            continue;
        }
        let function = (start..start + length, symbol);
        let key = alike_as(symbol);
        match first.get(&key) {
            Some(before) => {
                let all = alike.entry(key).or_insert_with(|| vec![before.clone()]);
                all.push(function);
            }
            None => {
                first.insert(key, function);
            }
        }
    }
    let mut variants = Vec::new();
    for functions in alike.into_values() {
        let mut named: HashMap<String, Vec<Range<u64>>> = HashMap::new();
        for (code, symbol) in functions {
            named.entry(demangle(symbol)).or_default().push(code);
        }
        for codes in named.into_values().filter(|codes| codes.len() > 1) {
            let first = codes[0].start;
            variants.extend(codes.into_iter().map(|code| (code, first)));
        }
    }
    variants.sort_unstable_by_key(|(code, _)| code.start);
    variants
}

/// What symbols have in common that may have one readable name: all but an optimiser's suffix and
/// the number of a constructor's or destructor's variant (`C1`, `CI1`, `D0` in the Itanium C++
/// ABI, 5.1.4.3), or what looks like one.
fn alike_as(symbol: &str) -> Cow<'_, str> {
    let end = symbol.find(['.', '@']).filter(|&end| end > 0);
    let name = &symbol[..end.unwrap_or(symbol.len())];
    let bytes = name.as_bytes();
    let is_number = |at: usize| {
        bytes[at].is_ascii_digit()
            && (matches!(bytes[at - 1], b'C' | b'D') || bytes[at - 2..at] == *b"CI")
    };
    if !name.starts_with("_Z") || !(2..bytes.len()).any(is_number) {
        return name.into();
    }
    let letters = name.char_indices().map(|(at, letter)| match at {
        2.. if is_number(at) => '?',
        _ => letter,
    });
    letters.collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(symbols: &[&str]) -> Vec<(Range<u64>, u64)> {
        let mut text = "symtab 1\n".to_owned();
        for (index, symbol) in symbols.iter().enumerate() {
            text += &format!("{:x} 10 local {symbol}\n", 0x100 * (index + 1));
        }
        variants(&SymbolTable::from_text(&text, None))
    }

    #[test]
    fn names_are_one_where_people_read_one() {
        let first = |symbols: &[&str]| -> Vec<u64> {
            of(symbols).into_iter().map(|(_, first)| first).collect()
        };
        assert_eq!(first(&["_ZN1DD0Ev", "main", "_ZN1DD2Ev"]), [0x100; 2]);
        assert_eq!(
            first(&["f.part.0", "f", "f.isra.0.constprop.1"]),
            [0x100; 3]
        );
        assert_eq!(first(&["_ZN1BCI11AEi", "_ZN1BCI21AEi"]), [0x100; 2]);
        // Two files have one each.
        assert_eq!(first(&["other", "help", "help"]), [0x200; 2]);
        for two in [
            ["_ZN1n2D0Ev", "_ZN1n2D1Ev"],
            ["_ZN1DD0Ev", "_ZN1DC1Ev"],
            [
                "_Z1fPZ1fvE8_Z1fv.Frame.actor",
                "_Z1fPZ1fvE8_Z1fv.Frame.destroy",
            ],
            ["f", "f.thunk"],
            ["C1", "C2"],
        ] {
            assert!(first(&two).is_empty(), "{two:?}");
        }
    }

    #[test]
    fn all_code_of_a_variant_is_its_own() {
        assert_eq!(
            of(&["f", "f.part.0"]),
            [(0x100..0x110, 0x100), (0x200..0x210, 0x100)]
        );
    }
}
