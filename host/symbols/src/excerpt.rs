//! The part of a symbol table that a trace needs, as text: what a packed trace carries.
//!
//! ```text
//! symtab 1
//! 1139 1c global _Z3addii
//! ```
//!
//! First whether there was a `.symtab`; then a line a symbol: address and size in hexadecimal,
//! binding, name.

use crate::table::{Binding, SymbolTable};
use std::collections::BTreeMap;
use std::fmt::Write as _;

impl SymbolTable {
    /// The symbols that cover these addresses, as text.
    pub fn to_text(&self, addresses: impl IntoIterator<Item = u64>) -> String {
        let mut found = BTreeMap::new();
        for address in addresses {
            found.extend(self.covering(address).map(|(symbol, name)| {
                let key = (symbol.address, symbol.size);
                (key, (symbol.binding, name))
            }));
        }
        let mut text = format!("symtab {}\n", u8::from(self.has_symtab()));
        for ((address, size), (binding, name)) in found {
            // A name with a newline in it is no compiler's.
            if !name.contains('\n') {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{address:x} {size:x} {} {name}", word(binding));
            }
        }
        text
    }

    /// The table that [`SymbolTable::to_text`] wrote; lines that are not of this form are left out.
    pub fn from_text(text: &str, build_id: Option<&str>) -> SymbolTable {
        let mut lines = text.lines();
        let mut table = SymbolTable::named(build_id, lines.next() == Some("symtab 1"));
        for line in lines {
            let mut fields = line.splitn(4, ' ');
            let mut hex = || u64::from_str_radix(fields.next()?, 16).ok();
            let (Some(address), Some(size)) = (hex(), hex()) else {
                continue;
            };
            let binding = [Binding::Global, Binding::Weak, Binding::Local]
                .into_iter()
                .find(|&binding| Some(word(binding)) == line.split(' ').nth(2));
            if let (Some(binding), Some(name)) = (binding, line.splitn(4, ' ').nth(3)) {
                table.push(address, size, binding, name);
            }
        }
        table.sort();
        table
    }
}

fn word(binding: Binding) -> &'static str {
    match binding {
        Binding::Global => "global",
        Binding::Weak => "weak",
        Binding::Local => "local",
    }
}
