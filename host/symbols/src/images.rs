//! The files that a trace's modules were mapped from, each read once.

use crate::{SymbolTable, files};
use heddle_trace_file::{Module, ModuleSymbols};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Why a module's addresses have no names. One for each file.
#[derive(Debug)]
pub enum Warning {
    /// The file at the path is not the one that ran.
    Rebuilt {
        /// The file.
        path: PathBuf,
        /// The build id that ran.
        recorded: String,
        /// The one that is there now, if it has any.
        found: Option<String>,
    },
    /// The file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's or the parser's reason.
        reason: io::Error,
    },
    /// A function of it was asked for, and its symbol table is gone.
    Stripped {
        /// The file.
        path: PathBuf,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Rebuilt {
                path,
                recorded,
                found,
            } => write!(
                f,
                "{}: rebuilt since it was recorded (build id {recorded} then, {} now): its functions are shown as addresses; record again to see names",
                path.display(),
                found.as_deref().unwrap_or("none")
            ),
            Warning::Unreadable { path, reason } => {
                write!(
                    f,
                    "{}: {reason}: its functions are shown as addresses",
                    path.display()
                )
            }
            Warning::Stripped { path } => {
                let name = path
                    .file_name()
                    .unwrap_or(path.as_os_str())
                    .to_string_lossy();
                write!(
                    f,
                    "{name} has no symbol table (it is stripped): its functions print as module+offset; put the unstripped file back at {}, or link without -s and record again",
                    path.display()
                )
            }
        }
    }
}

/// A cache of symbol tables, and the warnings met while filling it.
#[derive(Debug, Default)]
pub struct Images {
    tables: HashMap<(PathBuf, Option<String>), Option<Rc<SymbolTable>>>,
    warnings: Vec<Warning>,
    /// No file is looked for.
    packed: bool,
    /// Of which files it was said.
    stripped: HashSet<PathBuf>,
}

impl Images {
    /// No file read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The symbols that a packed trace carries, instead of the files'.
    pub fn packed(symbols: &[ModuleSymbols]) -> Self {
        let table = |module: &ModuleSymbols| {
            let build_id = module.build_id.as_deref();
            let key = (PathBuf::from(&module.path), module.build_id.clone());
            let table = SymbolTable::from_text(&module.text, build_id);
            (key, Some(Rc::new(table)))
        };
        Images {
            tables: symbols.iter().map(table).collect(),
            packed: true,
            ..Images::default()
        }
    }

    /// The symbols of the file that `module` was mapped from; `None` if that file is not there any more.
    pub fn table(&mut self, module: &Module) -> Option<Rc<SymbolTable>> {
        let key = (module.path.clone(), module.build_id.clone());
        if let Some(known) = self.tables.get(&key) {
            return known.clone();
        }
        if self.packed {
            return None; // no address of it had a name
        }
        let table = self.load(&module.path, module.build_id.as_deref());
        self.tables.insert(key, table.clone());
        table
    }

    fn load(&mut self, path: &Path, recorded: Option<&str>) -> Option<Rc<SymbolTable>> {
        // `[vdso]` and its like are no files.
        if !path.is_absolute() {
            return None;
        }
        let mut table = match files::load(path) {
            Ok(table) => table,
            Err(reason) => {
                self.warnings.push(Warning::Unreadable {
                    path: path.to_owned(),
                    reason,
                });
                return None;
            }
        };
        if let Some(recorded) = recorded.filter(|&id| table.build_id() != Some(id)) {
            let found = table.build_id().map(str::to_owned);
            self.warnings.push(Warning::Rebuilt {
                path: path.to_owned(),
                recorded: recorded.to_owned(),
                found,
            });
            return None;
        }
        if !table.has_symtab() {
            table = files::debug_file(path, &table)
                .map_or(table.clone(), |debug| debug.with_fallback(table));
        }
        Some(Rc::new(table))
    }

    /// Says once that `module` is stripped, if it is: for those that want a name of it and get none. Most programs call from stripped libraries, which is no matter.
    pub(crate) fn nameless(&mut self, module: &Module, table: &SymbolTable) {
        if !table.has_symtab() && self.stripped.insert(module.path.clone()) {
            let path = module.path.clone();
            self.warnings.push(Warning::Stripped { path });
        }
    }

    /// The warnings since the last time this was asked.
    pub fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }
}
