//! Names for the addresses of one process.

use crate::{Images, SymbolTable, demangle, short_name};
use heddle_trace_file::{Addr, Modules, Nanos};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

/// What is known about an address.
#[derive(Clone, Debug)]
pub struct Location {
    /// File name of the module, without directories; empty for an address outside every module.
    pub module: String,
    /// The linker's name; without a symbol, `libc.so.6+0x29d68`; outside every module, the bare
    /// address `0x7f…`.
    pub symbol: String,
    /// The readable name, the same as `symbol` where that is no mangled name.
    pub name: String,
    /// Whether a symbol covers the address.
    pub known: bool,
    short: OnceCell<String>,
}

impl Location {
    /// The name that people look at ([`short_name`]), made when it is first asked for.
    pub fn short(&self) -> &str {
        self.short.get_or_init(|| match self.known {
            true => short_name(&self.name),
            false => self.name.clone(),
        })
    }
}

/// Looks addresses of one process up, each once.
pub struct Resolver<'a> {
    modules: &'a Modules,
    tables: Vec<Option<Option<Rc<SymbolTable>>>>,
    known: HashMap<(Addr, u32), Rc<Location>>,
}

impl<'a> Resolver<'a> {
    /// A resolver for the process that had these modules.
    pub fn new(modules: &'a Modules) -> Self {
        Resolver {
            modules,
            tables: vec![None; modules.iter().len()],
            known: HashMap::new(),
        }
    }

    /// The process's modules.
    pub fn modules(&self) -> &'a Modules {
        self.modules
    }

    /// The function at `address`, as it was at `time`.
    pub fn function(&mut self, images: &mut Images, address: Addr, time: Nanos) -> Rc<Location> {
        self.locate(images, address, address, time)
    }

    /// The function that made a call, from its return address: one byte before it, since a call may
    /// be a function's last instruction. Without a symbol, the return address itself is shown.
    pub fn caller(
        &mut self,
        images: &mut Images,
        return_address: Addr,
        time: Nanos,
    ) -> Rc<Location> {
        self.locate(
            images,
            Addr(return_address.0.wrapping_sub(1)),
            return_address,
            time,
        )
    }

    fn locate(
        &mut self,
        images: &mut Images,
        address: Addr,
        shown: Addr,
        time: Nanos,
    ) -> Rc<Location> {
        // Functions and return addresses are looked up by different bytes, so one map serves both.
        let key = (
            if address == shown {
                address
            } else {
                Addr(!address.0)
            },
            self.modules.generation(time),
        );
        if let Some(location) = self.known.get(&key) {
            return location.clone();
        }
        let location = Rc::new(self.look_up(images, address, shown, time));
        self.known.insert(key, location.clone());
        location
    }

    fn look_up(
        &mut self,
        images: &mut Images,
        address: Addr,
        shown: Addr,
        time: Nanos,
    ) -> Location {
        let found = self
            .modules
            .find(address, time)
            .and_then(|index| Some((index, self.modules.get(index)?)));
        let Some((index, module)) = found else {
            let symbol = shown.to_string();
            return Location {
                module: String::new(),
                name: symbol.clone(),
                symbol,
                known: false,
                short: OnceCell::new(),
            };
        };
        let table = self.tables[index].get_or_insert_with(|| images.table(module));
        let file = printable(&file_name(&module.path));
        let symbol = table
            .as_ref()
            .and_then(|table| table.find(address.0.wrapping_sub(module.bias)));
        match symbol {
            Some(symbol) => Location {
                module: file,
                name: printable(&demangle(symbol)),
                symbol: printable(symbol),
                known: true,
                short: OnceCell::new(),
            },
            None => {
                if let Some(table) = table.as_ref().filter(|_| address == shown) {
                    images.nameless(module, table);
                }
                let symbol = format!("{file}+{:#x}", shown.0.wrapping_sub(module.bias));
                Location {
                    module: file,
                    name: symbol.clone(),
                    symbol,
                    known: false,
                    short: OnceCell::new(),
                }
            }
        }
    }
}

/// Text with a question mark for each character that steers: what a file's name or a symbol may
/// hold must not break a line, steer a terminal, or show what follows in another order.
///
/// ```
/// assert_eq!(heddle_symbols::printable("a\x1b[2J\nb\u{202e}c"), "a?[2J?b?c");
/// ```
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if steers(c) { '?' } else { c })
        .collect()
}

/// Whether a character does not print, but steers what does: a control character, or one that says
/// in which direction text runs (Unicode's Bidi_Control).
pub fn steers(character: char) -> bool {
    let directs = matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    directs || character.is_control()
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}
