//! The files that a trace's modules were mapped from, each read once.

use crate::call_frames::{CallFrames, FrameSize};
use crate::call_order::CallOrders;
use crate::carried::Carried;
use crate::coroutines::{Body, Point};
use crate::enter_calls::{self, EnterCalls};
use crate::lines::{Lines, SourceLine};
use crate::signal_return::SignalReturns;
use crate::table::Hooks;
use crate::tail_jumps::{TailJump, computed_jumps, tail_jumps};
use crate::variables::Declared;
use crate::variants::variants;
use crate::{
    CoroutinePart, FoundValues, SymbolTable, ValuesWanted, Variable, coroutine_part, coroutines,
    files, values,
};
use heddle_trace_file::{Addr, Kinds, Module, ModuleSymbols, Recipe, in_words};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::io;
use std::ops::Range;
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
    /// The file was written, moved or copied since the module was loaded, and had no build id.
    Newer {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's or the parser's reason.
        reason: io::Error,
    },
    /// It has coroutines, and its debug information cannot be read.
    Debug {
        /// The file.
        path: PathBuf,
        /// The system's or the parser's reason.
        reason: io::Error,
    },
    /// Values of its functions are wanted, and its debug information cannot be read.
    Values {
        /// The file.
        path: PathBuf,
        /// The system's or the parser's reason.
        reason: io::Error,
    },
    /// Values of these functions are wanted, by the linker's names, and there is no debug
    /// information of them.
    Undescribed {
        /// The file.
        path: PathBuf,
        /// The functions.
        functions: Vec<String>,
    },
    /// A function of it was asked for, and its symbol table is gone.
    Stripped {
        /// The file.
        path: PathBuf,
    },
}

impl Warning {
    /// The file that could not be read for lack of memory, if it is about one.
    pub fn lacked_memory(&self) -> Option<&Path> {
        match self {
            Warning::Unreadable { path, reason }
            | Warning::Debug { path, reason }
            | Warning::Values { path, reason } => {
                (reason.kind() == io::ErrorKind::OutOfMemory).then_some(path)
            }
            _ => None,
        }
    }
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
            Warning::Newer { path } => write!(
                f,
                "{}: written, moved or copied since it was recorded, and had no build id that tells whether it is the same: if it was built anew, names of its functions are wrong; link with -Wl,--build-id and record again",
                path.display()
            ),
            Warning::Unreadable { path, reason } => {
                write!(
                    f,
                    "{}: {}: its functions are shown as addresses",
                    path.display(),
                    in_words(reason)
                )
            }
            Warning::Debug { path, reason } => write!(
                f,
                "{}: {}: the frames of its coroutines are sought where they usually are; {} to have them looked up",
                path.display(),
                in_words(reason),
                mending(reason)
            ),
            Warning::Values { path, reason } => write!(
                f,
                "{}: {}: arguments and results of its functions are not recorded; {}",
                path.display(),
                in_words(reason),
                mending(reason)
            ),
            Warning::Undescribed { path, functions } => {
                let first = functions.first().map_or("", String::as_str);
                let more = match functions.len() {
                    0 | 1 => String::new(),
                    count => format!(" and {} more of its functions", count - 1),
                };
                write!(
                    f,
                    "{}: no debug information of {}{more}, so arguments and results are not recorded; compile with -g, which helps but for functions that the optimiser has made of others (.isra, .constprop)",
                    path.display(),
                    crate::demangle(first)
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

/// What to do where debug information cannot be read.
fn mending(reason: &io::Error) -> &'static str {
    match reason.kind() {
        io::ErrorKind::OutOfMemory => "run this with more memory (ulimit -v unlimited)",
        _ => "compile with -g again",
    }
}

/// A cache of symbol tables, and the warnings met while filling it.
#[derive(Debug, Default)]
pub struct Images {
    tables: HashMap<(PathBuf, Option<String>), Option<Rc<SymbolTable>>>,
    warnings: Vec<Warning>,
    /// What is known of a packed trace's modules, instead of looking for files.
    packed: Option<HashMap<(PathBuf, Option<String>), Carried>>,
    /// Source lines, of the files that were asked for.
    lines: HashMap<PathBuf, Option<Lines>>,
    /// What is known of coroutines' frames, of the files that were asked for.
    recipes: HashMap<PathBuf, Vec<(Range<u64>, Recipe)>>,
    /// Where coroutines' bodies are, by ramp, of the files that were asked for.
    bodies: HashMap<PathBuf, HashMap<String, Body>>,
    /// The suspension points of coroutines that were asked for, by ramp.
    points: HashMap<(PathBuf, String), Option<Rc<[Point]>>>,
    /// The lines of these points, by the instruction that stores the resume index.
    suspension_lines: HashMap<PathBuf, HashMap<u64, SourceLine>>,
    /// The variables of the files that were asked for.
    variables: HashMap<PathBuf, Option<SymbolTable>>,
    /// What debug information says of them.
    declared: HashMap<PathBuf, Option<Declared>>,
    /// The files of which a warning said that they are stripped.
    stripped: HashSet<PathBuf>,
}

impl Images {
    /// No file read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What a packed trace carries, instead of the files.
    pub fn packed(symbols: &[ModuleSymbols]) -> Self {
        let key = |module: &ModuleSymbols| (PathBuf::from(&module.path), module.build_id.clone());
        let table = |module: &ModuleSymbols| {
            let table = SymbolTable::from_text(&module.text, module.build_id.as_deref());
            (key(module), Some(Rc::new(table)))
        };
        let carried = |module: &ModuleSymbols| (key(module), Carried::read(&module.text));
        Images {
            tables: symbols.iter().map(table).collect(),
            packed: Some(symbols.iter().map(carried).collect()),
            ..Images::default()
        }
    }

    /// The text that a packed trace carries for `module`: the symbols that cover these addresses of
    /// its file, facts of their functions, and the members of variables that `objects` are, by
    /// address and size. `None` where the file has no symbols.
    pub fn excerpt(
        &mut self,
        module: &Module,
        addresses: impl IntoIterator<Item = u64>,
        objects: impl IntoIterator<Item = (u64, u64)>,
    ) -> Option<String> {
        let table = self.table(module)?;
        let mut wanted: HashSet<u64> = addresses.into_iter().collect();
        // What makes a function a ramp is that there are parts of its coroutine.
        let names: HashSet<&str> = wanted.iter().filter_map(|&at| table.find(at)).collect();
        wanted.extend(table.stretches().filter_map(|(start, _, name)| {
            let (ramp, ..) = coroutine_part(name)?;
            names.contains(ramp).then_some(start)
        }));
        let mut text = table.to_text(wanted.iter().copied());
        let covered = SymbolTable::from_text(&text, None);
        let members = objects.into_iter().filter_map(|(address, bytes)| {
            let Variable { member, offset, .. } = self.variable_at(module, address, bytes)?;
            (!member.is_empty()).then_some(((address, bytes), (offset, member)))
        });
        let members = members.collect();
        let mut carried = Carried {
            members,
            variables: self.variables_at(module, &wanted),
            jumps: self.tail_jumps(module),
            signal_returns: self.signal_returns(module).all().to_vec(),
            enter_calls: self.enter_calls(module).found().clone(),
            ..Carried::default()
        };
        let entries = carried.enter_calls.entries.iter();
        // The call has 5 bytes, or 6 by way of the global offset table.
        let entries = entries.flat_map(|&place| [place + 5, place + 6]);
        let mut entries: BTreeSet<u64> = entries.filter(|at| wanted.contains(at)).collect();
        // Which of the others are within call instructions, right before they return, is not known
        // here.
        let others = wanted.iter().filter(|at| !entries.contains(at)).copied();
        let within: BTreeSet<u64> = others.collect();
        let is_entered = !entries.is_empty();
        let hooked = self.enter_calls(module).functions(&table);
        let mut bare = Vec::new();
        for (start, length, _) in table.stretches() {
            let function = start..start + length;
            let inside: BTreeSet<u64> = within.range(function.clone()).map(|at| at + 1).collect();
            if !hooked.contains(&start) && !inside.is_empty() {
                entries.insert(start);
                bare.push((function, inside));
            }
        }
        let mut sites: BTreeSet<u64> = within.into_iter().map(|at| at + 1).collect();
        if !is_entered {
            sites.retain(|site| bare.iter().any(|(_, sites)| sites.contains(site)));
        }
        let frames = self.call_frames(module);
        carried.frames = frames.facts(&sites, &entries);
        let entered: BTreeSet<u64> = hooked.intersection(&wanted).copied().collect();
        for (start, least) in frames.all_large(&entered) {
            let size = FrameSize {
                least,
                growth: None,
            };
            carried.frames.prologues.entry(start).or_insert(size);
        }
        carried.orders = self.call_orders(module).facts(|| hooked.clone(), &bare);
        carried.jumps.retain(|jump| covered.find(jump.at).is_some());
        let calls = &mut carried.enter_calls;
        for places in [&mut calls.functions, &mut calls.entries] {
            places.retain(|&place| covered.find(place).is_some());
        }
        let known = self.enter_calls(module);
        for (start, length, _) in covered.stretches() {
            let calls = known.named_in(&(start..start + length));
            let named = calls.iter();
            let named = named.filter_map(|&(place, named)| Some((place, named?)));
            carried.enter_calls.named.extend(named);
        }
        let parts = covered.stretches();
        let ramps = parts.filter_map(|(_, _, name)| Some(coroutine_part(name)?.0));
        for ramp in ramps.collect::<HashSet<_>>() {
            let points = self.suspensions(module, ramp).unwrap_or_default();
            let known = points.iter().filter_map(|&(_, at)| at);
            let lines =
                known.filter_map(|at| Some((at, self.suspension_line(module, at)?.clone())));
            carried.lines.extend(lines);
            carried.suspensions.insert(ramp.to_owned(), points);
            for point in self.points(module, ramp).unwrap_or_default().iter() {
                let calls = point.calls.iter().map(|&call| (call, point.index));
                carried.last_calls.extend(calls);
            }
            let awaiters = self.awaiters(module, ramp);
            carried.awaiters.insert(ramp.to_owned(), awaiters);
        }
        carried.write(&mut text);
        Some(text)
    }

    /// What a packed trace carries of `module`.
    fn carried(&self, module: &Module) -> Option<&Carried> {
        let key = (module.path.clone(), module.build_id.clone());
        self.packed.as_ref()?.get(&key)
    }

    /// The symbols of the file that `module` was mapped from; `None` if that file is not there any
    /// more.
    pub fn table(&mut self, module: &Module) -> Option<Rc<SymbolTable>> {
        let key = (module.path.clone(), module.build_id.clone());
        if let Some(known) = self.tables.get(&key) {
            return known.clone();
        }
        if self.is_packed() {
            return None; // no address of it had a name
        }
        let table = self.load(module);
        self.tables.insert(key, table.clone());
        table
    }

    /// The same, of a module whose functions call hooks, or of any of a packed trace; `None` of the
    /// others. Most modules call none (libc), so their symbols, which take longer to read than all
    /// else, are not read. A file that may not be the one that ran is read and warned of.
    pub fn hooked_table(&mut self, module: &Module) -> Option<Rc<SymbolTable>> {
        let is_packed = self.is_packed();
        let calls_none = |bytes: &[u8]| SymbolTable::asks_for_hooks(bytes) == Some(false);
        if !is_packed && module.build_id.is_some() && with_file(module, calls_none) {
            return None;
        }
        let table = self.table(module)?;
        (table.calls_hooks() || is_packed).then_some(table)
    }

    fn load(&mut self, module: &Module) -> Option<Rc<SymbolTable>> {
        let path: &Path = &module.path;
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
        match module.build_id.as_deref() {
            Some(recorded) if table.build_id() != Some(recorded) => {
                let found = table.build_id().map(str::to_owned);
                self.warnings.push(Warning::Rebuilt {
                    path: path.to_owned(),
                    recorded: recorded.to_owned(),
                    found,
                });
                return None;
            }
            None if files::has_changed_since(path, module.loaded_at) => {
                let path = path.to_owned();
                self.warnings.push(Warning::Newer { path });
            }
            _ => {}
        }
        if !table.has_symtab() {
            table = match files::debug_file(path, &table) {
                Ok(None) => table,
                Ok(Some((_, debug))) => debug.with_fallback(table),
                Err(reason) => {
                    let path = path.to_owned();
                    self.warnings.push(Warning::Unreadable { path, reason });
                    table
                }
            };
        }
        Some(Rc::new(table))
    }

    /// Whether functions of the file that `module` was mapped from call hooks. Quicker than its
    /// symbols, which most modules have no use for then; a file that cannot be read may do
    /// anything.
    pub fn may_call_hooks(&self, module: &Module) -> bool {
        module.path.is_absolute()
            && files::map(&module.path)
                .ok()
                .and_then(|bytes| SymbolTable::asks_for_hooks(&bytes))
                .unwrap_or(true)
    }

    /// The functions of the file that `module` was mapped from which have the readable name of
    /// another, by addresses of the file and in their order, each with where the first of that name
    /// begins. None of a file whose functions are never called by hooks.
    pub fn variants(&mut self, module: &Module) -> Vec<(Range<u64>, u64)> {
        if !self.is_packed() && !self.may_call_hooks(module) {
            return Vec::new();
        }
        self.table(module)
            .map_or_else(Vec::new, |table| variants(&table))
    }

    /// By which ways in the functions of the file that `module` was mapped from call hooks. None of
    /// a file that cannot be read.
    pub fn hooks(&self, module: &Module) -> Hooks {
        let bytes = files::map(&module.path).ok();
        bytes
            .and_then(|bytes| SymbolTable::hooks_of(&bytes))
            .unwrap_or_default()
    }

    /// Where in the source the instruction at `address` is, in the traced process, as far as debug
    /// information tells; `None` for a file that was built anew.
    pub fn line(&mut self, module: &Module, address: Addr) -> Option<SourceLine> {
        let address = address.0.wrapping_sub(module.bias);
        let carried = self.carried(module).and_then(|all| all.lines.get(&address));
        if let Some(line) = carried.or(self.suspension_line(module, address)) {
            return Some(line.clone());
        }
        self.lines(module)?.find(address)
    }

    /// The line of the program's own code that `address` is of, in which headers of the system may
    /// be inlined. Not of a packed trace's module that is not here.
    pub fn own_line(&mut self, module: &Module, address: Addr) -> Option<SourceLine> {
        let address = address.0.wrapping_sub(module.bias);
        if let Some(line) = self.suspension_line(module, address) {
            return Some(line.clone());
        }
        self.lines(module)?.find_own(address)
    }

    /// The line of the `co_await` at which this instruction stores the resume index.
    fn suspension_line(&self, module: &Module, address: u64) -> Option<&SourceLine> {
        self.suspension_lines.get(&module.path)?.get(&address)
    }

    fn lines(&mut self, module: &Module) -> Option<&Lines> {
        if self.is_packed() && !module.path.is_file() {
            return None;
        }
        let lines = self.lines.entry(module.path.clone()).or_insert_with(|| {
            let program = files::map(&module.path).ok()?;
            let build_id = SymbolTable::build_id_of(&program);
            if module.build_id.is_some() && build_id != module.build_id {
                return None;
            }
            Lines::parse(&program).or_else(|| {
                let own = SymbolTable::parse(&program).ok()?;
                let (debug, _) = files::debug_file(&module.path, &own).ok()??;
                Lines::parse(&files::map(&debug).ok()?)
            })
        });
        lines.as_ref()
    }

    /// The variable that an object of so many `bytes` at `address` in the traced process lies in,
    /// and the member of it, as far as debug information tells. `None` for a file that was built
    /// anew.
    pub fn variable(&mut self, module: &Module, address: Addr, bytes: u64) -> Option<Variable> {
        let address = address.0.wrapping_sub(module.bias);
        self.variable_at(module, address, bytes)
    }

    fn variable_at(&mut self, module: &Module, address: u64, bytes: u64) -> Option<Variable> {
        let (symbol, name) = self.variables(module)?.covering(address)?;
        let offset = address - symbol.address;
        let (begin, size, symbol) = (symbol.address, symbol.size, name.to_owned());
        let member = match self.carried(module) {
            Some(carried) => carried.members.get(&(address, bytes)).cloned(),
            None if offset.saturating_add(bytes) > size => None,
            None => {
                let declared = self.declared(module);
                let member = declared.and_then(|all| all.member(begin, offset, bytes));
                member.map(|(member, left)| (left, member))
            }
        };
        let (offset, member) = member.unwrap_or((offset, String::new()));
        Some(Variable {
            symbol,
            member,
            offset,
        })
    }

    /// The variables that debug information declares in the file that `module` was mapped from.
    fn declared(&mut self, module: &Module) -> Option<&mut Declared> {
        let known = self.declared.entry(module.path.clone());
        let declared = known.or_insert_with(|| {
            let program = files::map(&module.path).ok()?;
            let of_program = || SymbolTable::build_id_of(&program);
            if module.build_id.is_some() && of_program() != module.build_id {
                return None;
            }
            let bytes = match coroutines::is_described(&program) {
                true => program,
                false => {
                    let own = SymbolTable::parse(&program).ok()?;
                    let (debug, _) = files::debug_file(&module.path, &own).ok()??;
                    files::map(&debug).ok()?
                }
            };
            Declared::parse(bytes).ok()
        });
        declared.as_mut()
    }

    /// By address, sizes and names of those at these addresses.
    fn variables_at(
        &mut self,
        module: &Module,
        wanted: &HashSet<u64>,
    ) -> BTreeMap<u64, (u64, String)> {
        let Some(variables) = self.variables(module) else {
            return BTreeMap::new();
        };
        let found = wanted.iter().filter_map(|&at| variables.covering(at));
        found
            .map(|(symbol, name)| (symbol.address, (symbol.size, name.to_owned())))
            .collect()
    }

    fn variables(&mut self, module: &Module) -> Option<&SymbolTable> {
        let carried = self.carried(module).map(Carried::variables);
        let known = self.variables.entry(module.path.clone());
        let variables = known.or_insert_with(|| {
            carried.or_else(|| {
                let program = files::map(&module.path).ok()?;
                let own = SymbolTable::parse(&program).ok()?;
                if module.build_id.is_some() && own.build_id() != module.build_id.as_deref() {
                    return None;
                }
                let debug = match own.has_symtab() {
                    true => None,
                    false => files::debug_file(&module.path, &own).ok()?,
                };
                match debug {
                    Some((path, _)) => SymbolTable::variables(&files::map(&path).ok()?),
                    None => SymbolTable::variables(&program),
                }
            })
        });
        variables.as_ref()
    }

    /// Whether the symbols are those that a packed trace carries.
    pub fn is_packed(&self) -> bool {
        self.packed.is_some()
    }

    /// The return addresses of signal handlers in the file that `module` was mapped from.
    pub fn signal_returns(&self, module: &Module) -> SignalReturns {
        let carried = self.carried(module);
        SignalReturns::of(
            module,
            carried.map(|carried| carried.signal_returns.clone()),
        )
    }

    /// The jumps by which functions of the file that `module` was mapped from end: those behind
    /// calls of `__return__`, and coroutines' computed ones behind calls of
    /// `__cyg_profile_func_exit`. Of a file that is gone, or is another now, there are none.
    pub fn tail_jumps(&mut self, module: &Module) -> Vec<TailJump> {
        if let Some(carried) = self.carried(module) {
            return carried.jumps.clone();
        }
        let Some(table) = self.table(module) else {
            return Vec::new();
        };
        let is_coroutines = |name: &str| coroutine_part(name).is_some();
        let (mut hook, mut has_coroutines) = (None, false);
        for (start, _, name) in table.stretches() {
            if name == "__return__" {
                hook = Some(start);
            }
            has_coroutines |= is_coroutines(name);
        }
        with_file(module, |bytes| {
            let mut jumps = hook.map_or_else(Vec::new, |hook| tail_jumps(bytes, hook));
            if has_coroutines {
                let computed = computed_jumps(bytes).into_iter();
                let kept = |jump: &TailJump| table.find(jump.at).is_some_and(is_coroutines);
                jumps.extend(computed.filter(kept));
            }
            jumps
        })
    }

    /// Where functions of the file that `module` was mapped from call the hooks of an enter.
    pub fn enter_calls(&mut self, module: &Module) -> EnterCalls {
        match self.carried(module) {
            Some(carried) => EnterCalls::known(module, carried.enter_calls.clone()),
            None => {
                let table = self.table(module);
                let own_entry = table.and_then(|table| table.address_of(enter_calls::ENTRY));
                EnterCalls::of(module, own_entry)
            }
        }
    }

    /// The frames of functions of the file that `module` was mapped from.
    pub fn call_frames(&self, module: &Module) -> CallFrames {
        let carried = self.carried(module).map(|carried| carried.frames.clone());
        CallFrames::of(module, carried)
    }

    /// The order of calls in functions of the file that `module` was mapped from.
    pub fn call_orders(&self, module: &Module) -> CallOrders {
        let carried = self.carried(module).map(|carried| carried.orders.clone());
        CallOrders::of(module, carried)
    }

    /// Where coroutines of the file that `module` was mapped from have their frames: return
    /// addresses of hooks in the file's own address space, in order and without overlaps. What its
    /// debug information does not know is to be looked for at run time: in the functions that are a
    /// coroutine's by their names, and in all of a stripped file that uses C++'s heap. A file
    /// without hooks or without coroutines costs no more than its symbols.
    pub fn recipes(&mut self, module: &Module) -> Vec<(Range<u64>, Recipe)> {
        let Some(table) = self.table(module).filter(|table| table.calls_hooks()) else {
            return Vec::new();
        };
        if !table.has_symtab() {
            if !table.uses_cpp_heap() {
                return Vec::new(); // C has objects that begin with the address of a function, too
            }
            let text = |address: Addr| address.0.wrapping_sub(module.bias);
            let text = text(module.text.start)..text(module.text.end);
            return vec![(text, coroutines::SOUGHT)];
        }
        if !table.has_coroutines() {
            return Vec::new();
        }
        let known = described(&module.path).unwrap_or_else(|reason| {
            let path = module.path.clone();
            self.warnings.push(Warning::Debug { path, reason });
            Vec::new()
        });
        // A file that cannot be read has no code; a warning above has said so.
        let program = files::map(&module.path);
        let program = program.as_deref().map_or(&[][..], |program| program);
        coroutines::with_symbols(known, &table, program)
    }

    /// What the library records of functions of the file that `module` was mapped from, by its
    /// debug information: calls of hooks, in order. `wanted` is asked with symbols.
    pub fn values(
        &mut self,
        module: &Module,
        wanted: &mut dyn FnMut(&str) -> ValuesWanted,
    ) -> Vec<FoundValues> {
        let Some(table) = self.table(module).filter(|table| table.calls_hooks()) else {
            return Vec::new();
        };
        let path = module.path.clone();
        match described_values(&path, &table, wanted) {
            Ok((found, lacking)) => {
                if !lacking.is_empty() {
                    self.warnings.push(Warning::Undescribed {
                        path,
                        functions: lacking.into_iter().collect(),
                    });
                }
                found
            }
            Err(reason) => {
                self.warnings.push(Warning::Values { path, reason });
                Vec::new()
            }
        }
    }

    /// Where the coroutine that `function` makes, runs or destroys suspends at the point with this
    /// resume index: the instruction's address in the traced process, as far as the file that
    /// `module` was mapped from and its debug information tell. [`Images::line`] has the line of
    /// the `co_await` for this address. `Some(None)`: that line is not known, or no single
    /// instruction stores this index: an optimiser computes it where two points are alike but for
    /// it. `None`: nothing is known of this coroutine's points.
    pub fn suspension(
        &mut self,
        module: &Module,
        function: Addr,
        index: u16,
    ) -> Option<Option<Addr>> {
        let table = self.table(module)?;
        let name = table.find(function.0.wrapping_sub(module.bias))?;
        let ramp = coroutine_part(name).map_or(name, |(ramp, ..)| ramp);
        let points = match &self.packed {
            Some(_) => self.carried(module)?.suspensions.get(ramp)?.clone(),
            None => self.suspensions(module, ramp)?,
        };
        if points.is_empty() {
            return None;
        }
        let at = points.into_iter().find(|&(number, _)| number == index);
        let at = at.and_then(|(_, at)| at);
        if let Some(at) = at
            && let Some(line) = self.carried(module).and_then(|all| all.lines.get(&at))
        {
            let line = line.clone();
            let told = self.suspension_lines.entry(module.path.clone());
            told.or_default().insert(at, line);
        }
        Some(at.map(|at| Addr(at.wrapping_add(module.bias))))
    }

    /// Where a coroutine is suspended whose code did nothing behind the call that returns to
    /// `site`, as [`Images::suspension`] says it. `Some(None)`: it may have gone on, or no line is
    /// known. `None`: nothing is known of this coroutine's points, or `site` is in no coroutine's
    /// code.
    pub fn suspension_behind(&mut self, module: &Module, site: Addr) -> Option<Option<Addr>> {
        let site = site.0.wrapping_sub(module.bias);
        let table = self.table(module)?;
        let name = table.find(site.wrapping_sub(1))?;
        let (ramp, CoroutinePart::Resume, _) = coroutine_part(name)? else {
            return None;
        };
        let function = Addr(site.wrapping_sub(1).wrapping_add(module.bias));
        let index = match &self.packed {
            Some(_) => self.carried(module)?.last_calls.get(&site).copied(),
            None => {
                let points = self.points(module, ramp)?;
                let point = points.iter().find(|point| point.calls.contains(&site));
                point.map(|point| point.index)
            }
        };
        let known = self.suspension(module, function, index.unwrap_or_default())?;
        Some(known.filter(|_| index.is_some()))
    }

    /// What the coroutine of this function awaits at the suspension point with this resume index:
    /// the linker's name of the awaiter's `await_suspend`, if the code tells.
    pub fn await_suspend(&mut self, module: &Module, function: Addr, index: u16) -> Option<String> {
        let table = self.table(module)?;
        let name = table.find(function.0.wrapping_sub(module.bias))?;
        let ramp = coroutine_part(name).map_or(name, |(ramp, ..)| ramp);
        let all = match &self.packed {
            Some(_) => self.carried(module)?.awaiters.get(ramp)?.clone(),
            None => self.awaiters(module, ramp),
        };
        let found = all.into_iter().find(|&(number, _)| number == index);
        found.map(|(_, name)| name)
    }

    /// The awaiters' `await_suspend` of the coroutine with this ramp, by resume index.
    fn awaiters(&mut self, module: &Module, ramp: &str) -> Vec<(u16, String)> {
        let points = self.points(module, ramp).unwrap_or_default();
        let named = points
            .iter()
            .filter_map(|point| Some((point.index, point.await_suspend.clone()?)));
        named.collect()
    }

    /// The suspension points of the coroutine with this ramp.
    fn points(&mut self, module: &Module, ramp: &str) -> Option<Rc<[Point]>> {
        let key = (module.path.clone(), ramp.to_owned());
        if let Some(known) = self.points.get(&key) {
            return known.clone();
        }
        let found = self.read_points(module, ramp).map(Rc::from);
        self.points.insert(key, found.clone());
        found
    }

    fn read_points(&mut self, module: &Module, ramp: &str) -> Option<Vec<Point>> {
        let table = self.table(module)?;
        let bodies = self.bodies.entry(module.path.clone());
        let body = bodies.or_insert_with(|| bodies_in(&table)).get(ramp)?;
        let body = body.clone();
        if !self.recipes.contains_key(&module.path) {
            let recipes = self.recipes(module);
            self.recipes.insert(module.path.clone(), recipes);
        }
        let known = self.recipes.get(&module.path)?;
        let hook = body.code.start + 1; // the first return address that a hook can have in it
        let recipe = known.iter().find(|(range, _)| range.contains(&hook));
        let offset = recipe?.1.resume_index?;
        let symbols = (&*table, self.lines(module));
        Some(with_file(module, |bytes| {
            coroutines::suspension_points(bytes, symbols, &body, offset)
        }))
    }

    /// Where the coroutine with this ramp suspends, in the file's own address space: by resume
    /// index, and without an instruction where the line is not known. `None`: of none it is.
    fn suspensions(&mut self, module: &Module, ramp: &str) -> Option<Vec<(u16, Option<u64>)>> {
        self.lines(module)?;
        let points = self.points(module, ramp)?;
        let lines = points
            .iter()
            .filter_map(|point| Some((point.at, point.line.clone()?)));
        let told = self.suspension_lines.entry(module.path.clone());
        told.or_default().extend(lines);
        let points = points.iter();
        let points = points.map(|point| (point.index, point.line.is_some().then_some(point.at)));
        Some(points.collect())
    }

    /// Functions of the file that `module` was mapped from that allocate the frames of coroutines
    /// or destroy these, in the file's own address space, in order and without overlaps. A file
    /// without hooks or without coroutines costs no more than its symbols.
    pub fn frame_code(&mut self, module: &Module) -> Vec<(Range<u64>, Kinds)> {
        let Some(table) = self.table(module) else {
            return Vec::new();
        };
        if !table.calls_hooks() || !table.has_symtab() || !table.has_coroutines() {
            return Vec::new();
        }
        let read = files::map(&module.path)
            .and_then(|program| coroutines::frame_code(&program, &table).map_err(io::Error::other));
        read.unwrap_or_else(|reason| {
            let path = module.path.clone();
            self.warnings.push(Warning::Unreadable { path, reason });
            coroutines::FrameCode::new()
        })
    }

    /// Says once that `module` is stripped, if it is: for those that want a name of it and get
    /// none. Most programs call from stripped libraries, which is no matter.
    pub(crate) fn nameless(&mut self, module: &Module, table: &SymbolTable) {
        if !table.has_symtab() && self.stripped.insert(module.path.clone()) {
            let path = module.path.clone();
            self.warnings.push(Warning::Stripped { path });
        }
    }

    /// Why the system did not let the file that `module` was mapped from be read, an error number,
    /// if one of the warnings that were not taken says so.
    pub fn refusal(&self, module: &Module) -> Option<i32> {
        self.warnings.iter().find_map(|warning| match warning {
            Warning::Unreadable { path, reason }
            | Warning::Debug { path, reason }
            | Warning::Values { path, reason } => {
                reason.raw_os_error().filter(|_| *path == module.path)
            }
            _ => None,
        })
    }

    /// The warnings since the last time this was asked.
    pub fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings)
    }
}

/// What `read` finds in the bytes of the file that `module` was mapped from: nothing in one that is
/// gone, or is another now.
pub(crate) fn with_file<T: Default>(module: &Module, read: impl Fn(&[u8]) -> T) -> T {
    if !module.path.is_absolute() {
        return T::default();
    }
    let bytes = files::map(&module.path).ok();
    let same = bytes.filter(|bytes| {
        module.build_id.is_none() || SymbolTable::build_id_of(bytes) == module.build_id
    });
    same.map_or_else(T::default, |bytes| read(&bytes))
}

/// Where the functions that resume coroutines are, by ramp.
fn bodies_in(table: &SymbolTable) -> HashMap<String, Body> {
    let mut bodies: HashMap<String, Body> = HashMap::new();
    for (start, length, name) in table.stretches() {
        let Some((ramp, CoroutinePart::Resume, suffixes)) = coroutine_part(name) else {
            continue;
        };
        let body = bodies.entry(ramp.to_owned()).or_default();
        match suffixes {
            "" if body.code.is_empty() => body.code = start..start + length,
            _ => body.moved.push(start..start + length),
        }
    }
    bodies.retain(|_, body| !body.code.is_empty());
    bodies
}

/// What the debug information of the file at `path`, whose symbols are `table`, says of wanted
/// functions; it may be in a file of its own. The names are those of wanted functions without.
fn described_values(
    path: &Path,
    table: &SymbolTable,
    wanted: &mut dyn FnMut(&str) -> ValuesWanted,
) -> io::Result<(Vec<FoundValues>, BTreeSet<String>)> {
    let program = files::map(path)?;
    let debug = match coroutines::is_described(&program) {
        true => None,
        false => {
            let own = SymbolTable::parse(&program).map_err(io::Error::other)?;
            files::debug_file(path, &own)?.map(|(debug, _)| debug)
        }
    };
    let debug = debug.map(|debug| files::map(&debug)).transpose()?;
    let debug = debug.as_deref().unwrap_or(&program);
    values::recipes((&program, debug), table, wanted).map_err(io::Error::other)
}

/// What the debug information of the file at `path` says of coroutines; it may be in a file of its
/// own.
fn described(path: &Path) -> io::Result<Vec<(Range<u64>, Recipe)>> {
    let program = files::map(path)?;
    if coroutines::is_described(&program) {
        return coroutines::recipes(&program, &program).map_err(io::Error::other);
    }
    let own = SymbolTable::parse(&program).map_err(io::Error::other)?;
    let Some((debug, _)) = files::debug_file(path, &own)? else {
        return Ok(Vec::new());
    };
    coroutines::recipes(&program, &files::map(&debug)?).map_err(io::Error::other)
}
