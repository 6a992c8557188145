//! Recording less: which functions the user's patterns mean. The library in the traced program
//! follows the calls.

mod options;

pub use options::Options;

use crate::filter::Pattern;
use crate::notes::quoted;
use heddle_symbols::{SymbolTable, demangle};
use heddle_trace_file::{Kinds, PlanRange, Recipe};
use std::collections::BTreeSet;

/// Looks for the patterns in symbol tables.
pub struct Search<'a> {
    patterns: Vec<(Kinds, &'static str, &'a Pattern, bool)>,
}

impl<'a> Search<'a> {
    /// For these patterns.
    pub fn new(options: &'a Options) -> Self {
        Search {
            patterns: options
                .patterns()
                .map(|(kind, option, pattern)| (kind, option, pattern, false))
                .collect(),
        }
    }

    /// What they say of the functions of a file that calls hooks: in order, without overlaps.
    pub fn in_table(&mut self, table: &SymbolTable) -> Vec<PlanRange> {
        if self.patterns.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<PlanRange> = Vec::new();
        // Neighbours are often parts of one function.
        let mut last = ("", Kinds::default());
        for (start, size, symbol) in table.stretches() {
            if symbol != last.0 {
                last = (symbol, self.kinds_of(&demangle(symbol)));
            }
            let kinds = last.1;
            if kinds.is_empty() {
                continue;
            }
            let size = u32::try_from(size).unwrap_or(u32::MAX);
            match found.last_mut() {
                Some(before)
                    if before.kinds == kinds
                        && before.start + u64::from(before.size) == start
                        && before.size.checked_add(size).is_some() =>
                {
                    before.size += size;
                }
                _ => found.push(PlanRange {
                    start,
                    size,
                    kinds,
                    recipe: Recipe::default(),
                }),
            }
        }
        found
    }

    /// The readable names of the functions of a file that calls hooks, each behind the number of a
    /// pattern that it matches, in the order of [`Options::patterns`]: sorted, each once.
    pub fn names_in_table(&mut self, table: &SymbolTable) -> BTreeSet<(usize, String)> {
        let mut found = BTreeSet::new();
        let mut last = "";
        for (_, _, symbol) in table.stretches() {
            if symbol == last {
                continue;
            }
            last = symbol;
            let name = demangle(symbol);
            for number in self.matching(&name) {
                found.insert((number, name.clone()));
            }
        }
        found
    }

    fn kinds_of(&mut self, name: &str) -> Kinds {
        let matching = self.matching(name);
        matching.into_iter().fold(Kinds::default(), |all, number| {
            all | self.patterns[number].0
        })
    }

    /// The numbers of the patterns that mean the function with this readable name.
    fn matching(&mut self, name: &str) -> Vec<usize> {
        let mut numbers = Vec::new();
        for (number, (_, _, pattern, matched)) in self.patterns.iter_mut().enumerate() {
            if pattern.matches(name) {
                numbers.push(number);
                *matched = true;
            }
        }
        numbers
    }

    /// A warning for each pattern that matched nothing.
    pub fn unmatched(&self) -> Vec<String> {
        let idle = self.patterns.iter().filter(|(.., matched)| !matched);
        idle.map(|(_, option, pattern, _)| {
            format!(
                "{option} {} matched no function that could be recorded: of the program and its libraries, those compiled with hooks have none of this name; `nm -C PROGRAM` prints their names",
                quoted(pattern.text().as_ref())
            )
        })
        .collect()
    }
}
