//! What the decoder has to know of a process's code: which function an address belongs to, which
//! functions are coroutines', and where signal handlers return to.

use heddle_symbols::{
    CallFrames, CallOrders, CoroutinePart, Distance, EnterCalls, Images, Order, SignalReturns,
    coroutine_part,
};
use heddle_trace_file::{Addr, Callee, Module, Modules, Nanos, Process};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The instrumented functions of a process. Read once, shared by all workers.
#[derive(Debug, Default)]
pub struct Code {
    /// The functions of each module of the process, by its index; `None` where no function calls
    /// hooks or no symbols are left.
    modules: Vec<Option<ModuleCode>>,
    /// The frames of each module's functions.
    frames: Vec<CallFrames>,
    /// The order of calls in each.
    orders: Vec<CallOrders>,
    roles: Vec<Role>,
    coroutines: u32,
    /// The coroutines that Clang compiled: it may lay their frames into what calls their ramps.
    by_clang: FxHashSet<u32>,
    /// A module that was loaded at one place several times is here once.
    signal_returns: Vec<SignalReturns>,
    /// By function: those that it jumps to at its end; `None` for one that its code does not tell.
    jumps: FxHashMap<u32, Vec<Option<u32>>>,
    /// Functions of which the compiler made others for some callers, whose hooks name these.
    cloned: FxHashSet<u32>,
    /// Those others, and which function each was made of.
    clones: FxHashMap<u32, u32>,
}

/// The role of a function in a coroutine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Nothing.
    #[default]
    Plain,
    /// It makes instances of the coroutine with this number.
    Ramp(u32),
    /// It runs or destroys them.
    Part(u32, CoroutinePart),
}

/// Bytes in front of a function's call of `__fentry__`: `endbr64` of 4, 2 to push the static chain
/// (r10), and a prefix by which the linker has made the call as long as one by way of the global
/// offset table.
const BEFORE_HOOK: u64 = 7;

/// The suffix that the compiler gives to the part of a function that it moved away.
const COLD: &str = ".cold";

#[derive(Debug)]
struct ModuleCode {
    bias: u64,
    /// The functions' ranges, in order of their addresses, without overlaps.
    stretches: Vec<Stretch>,
    enter_calls: EnterCalls,
}

#[derive(Clone, Copy, Debug)]
struct Stretch {
    start: u64,
    length: u64,
    function: u32,
    /// It may be a GNU C nested function, by its symbol.
    may_be_nested: bool,
}

impl Stretch {
    fn range(&self) -> Range<u64> {
        self.start..self.start + self.length
    }
}

impl Code {
    /// Reads the symbols of the modules of `process` that call hooks.
    pub fn read(process: &Process, images: &mut Images) -> Self {
        let mut code = Code::default();
        let mut read: HashMap<(std::path::PathBuf, Option<String>, u64), usize> = HashMap::new();
        for (index, module) in process.modules().iter().enumerate() {
            let key = (module.path.clone(), module.build_id.clone(), module.bias);
            // The same file at the same place is the same functions, however often it came and
            // went.
            let same = read.get(&key).copied();
            let stretches = match same.and_then(|same| code.modules.get(same)) {
                Some(Some(same)) => Some(same.stretches.clone()),
                Some(None) => None,
                None => code.stretches(module, images),
            };
            let bias = module.bias;
            let module_code = stretches.map(|stretches| ModuleCode {
                bias,
                stretches,
                enter_calls: match same.and_then(|same| code.modules.get(same)) {
                    Some(Some(same)) => same.enter_calls.clone(),
                    _ => images.enter_calls(module),
                },
            });
            let frames = match same.and_then(|same| code.frames.get(same)) {
                Some(same) => same.clone(),
                None => images.call_frames(module),
            };
            code.frames.push(frames);
            let orders = match same.and_then(|same| code.orders.get(same)) {
                Some(same) => same.clone(),
                None => images.call_orders(module),
            };
            code.orders.push(orders);
            if same.is_none()
                && let Some(module_code) = &module_code
            {
                code.add_jumps(module, module_code, images);
            }
            code.modules.push(module_code);
            if same.is_none() {
                code.signal_returns.push(images.signal_returns(module));
            }
            read.entry(key).or_insert(index);
        }
        code
    }

    /// Reads which functions of `module` end by a jump.
    fn add_jumps(&mut self, module: &Module, code: &ModuleCode, images: &mut Images) {
        for jump in images.tail_jumps(module) {
            let Some((from, _)) = code.stretch(jump.at) else {
                continue;
            };
            let to = jump.to.and_then(|to| code.stretch(to));
            let within = to.is_some_and(|(to, behind)| to.function == from.function && behind > 0);
            let targets = self.jumps.entry(from.function).or_default();
            let to = to.map(|(to, _)| to.function);
            if !within && !targets.contains(&to) {
                targets.push(to);
            }
        }
    }

    /// The functions of `module`, numbered behind those that are known: a part that the compiler
    /// moved away (`.cold`) is its function.
    fn stretches(&mut self, module: &Module, images: &mut Images) -> Option<Vec<Stretch>> {
        let table = images.hooked_table(module)?;
        let mut functions: HashMap<&str, u32> = HashMap::new();
        let mut coroutines: HashMap<&str, u32> = HashMap::new();
        let mut stretches: Vec<Stretch> = Vec::new();
        let mut ramps: Vec<(u32, &str)> = Vec::new();
        let mut moved: Vec<(u64, u64, &str)> = Vec::new();
        for (start, length, symbol) in table.stretches() {
            if symbol.ends_with(COLD) {
                moved.push((start, length, symbol));
                continue;
            }
            // Functions of no linkage may share a name: another stretch of the same function is
            // next to it, or it is another function.
            let continued = stretches.last().filter(|last| {
                last.start + last.length == start && functions.get(symbol) == Some(&last.function)
            });
            let function = match continued {
                Some(last) => last.function,
                None => {
                    let number = self.roles.len() as u32;
                    self.roles.push(match coroutine_part(symbol) {
                        Some((ramp, part, _)) => {
                            let next = self.coroutines + coroutines.len() as u32;
                            let coroutine = *coroutines.entry(ramp).or_insert(next);
                            // GCC's parts have this in their names.
                            if !symbol.contains(".Frame.") {
                                self.by_clang.insert(coroutine);
                            }
                            Role::Part(coroutine, part)
                        }
                        None => {
                            ramps.push((number, symbol));
                            Role::Plain
                        }
                    });
                    functions.insert(symbol, number);
                    number
                }
            };
            let may_be_nested = has_number(symbol);
            stretches.push(Stretch {
                start,
                length,
                function,
                may_be_nested,
            });
        }
        for (start, length, symbol) in moved {
            let whole = symbol.strip_suffix(COLD).unwrap_or(symbol);
            let function = functions.get(whole).copied().unwrap_or_else(|| {
                self.roles.push(Role::Plain);
                self.roles.len() as u32 - 1
            });
            stretches.push(Stretch {
                start,
                length,
                function,
                may_be_nested: false,
            });
        }
        stretches.sort_unstable_by_key(|stretch| stretch.start);
        for (number, symbol) in ramps {
            let name = symbol.split('.').next().unwrap_or(symbol);
            if let Some(&coroutine) = coroutines.get(name) {
                self.roles[number as usize] = Role::Ramp(coroutine);
            }
        }
        for (symbol, &clone) in functions.iter().filter(|(symbol, _)| symbol.contains('.')) {
            let base = symbol.split('.').next();
            if let Some(&base) = base.and_then(|base| functions.get(base)) {
                self.cloned.insert(base);
                self.clones.insert(clone, base);
            }
        }
        self.coroutines += coroutines.len() as u32;
        Some(stretches)
    }

    /// The function that holds `address` at `time`.
    pub fn function(&self, modules: &Modules, address: Addr, time: Nanos) -> Option<u32> {
        let (stretch, _) = self.stretch(modules, address, time)?;
        Some(stretch.function)
    }

    /// The function that this one was made of for some callers, if its symbol says so. By
    /// `-finstrument-functions`, hooks name that.
    pub fn original(&self, function: u32) -> Option<u32> {
        self.clones.get(&function).copied()
    }

    /// The stretch that holds `address` at `time`, and how far behind its beginning that is.
    fn stretch(&self, modules: &Modules, address: Addr, time: Nanos) -> Option<(&Stretch, u64)> {
        let index = modules.find(address, time)?;
        let module = self.modules.get(index)?.as_ref()?;
        module.stretch(address.0.wrapping_sub(module.bias))
    }

    /// Whether the function whose call of `__fentry__` returns to `address` has pushed its static
    /// chain before. The call has 5 bytes, or 6 by way of the global offset table, and may have
    /// `endbr64` in front, of 4; to push the chain (r10) takes 2.
    pub fn pushes_chain(&self, modules: &Modules, address: Addr, time: Nanos) -> bool {
        let stretch = self.stretch(modules, address, time);
        stretch.is_some_and(|(stretch, behind)| {
            stretch.may_be_nested && matches!(behind, 7 | 8 | 11 | 12)
        })
    }

    /// How far above a call from `site` the call lies that made it, of the function whose call of
    /// `__fentry__` returns to `entry`. `None` where the code does not tell.
    pub fn distance(
        &self,
        modules: &Modules,
        site: Addr,
        entry: Addr,
        time: Nanos,
    ) -> Option<Distance> {
        let index = modules.find(Addr(site.0.wrapping_sub(1)), time)?;
        let module = self.modules.get(index)?.as_ref()?;
        let of_file = |address: Addr| address.0.wrapping_sub(module.bias);
        self.frames[index].distance(of_file(site), of_file(entry))
    }

    /// See [`CallFrames::least`]. `None` also of a function that calls hooks: what is inlined into
    /// it lies in its frame. O(stretches).
    pub fn least_frame(&self, modules: &Modules, site: Addr, time: Nanos) -> Option<u64> {
        let call = Addr(site.0.wrapping_sub(1));
        let index = modules.find(call, time)?;
        let bias = modules.iter().nth(index)?.bias;
        let code = self.modules.get(index)?.as_ref();
        let place = call.0.wrapping_sub(bias);
        let function = code.and_then(|code| Some(code.stretch(place)?.0.function));
        // The hooks may be in its other part, and the call in one that the compiler moved away.
        if function.is_some_and(|function| self.calls_hooks(function)) {
            return None;
        }
        let start = code.and_then(|code| code.start(place));
        let frames = self.frames.get(index)?;
        frames.least(site.0.wrapping_sub(bias), start)
    }

    /// See [`CallFrames::large`]: of the function that begins here, or whose call of `__fentry__`
    /// returns here. 0 where that is not known.
    /// O(bytes of the module's headers).
    pub fn large_frame(&self, modules: &Modules, function: Addr, time: Nanos) -> u64 {
        let large = || {
            let index = modules.find(function, time)?;
            let bias = self.modules.get(index)?.as_ref()?.bias;
            self.frames.get(index)?.large(function.0.wrapping_sub(bias))
        };
        large().unwrap_or(0)
    }

    /// Whether a function that calls no hooks can make the call that returns to `site` first, and
    /// next behind the call that returns to `before`. `None` where the code does not tell, as that
    /// of a module without functions that call hooks. O(stretches + bytes of code).
    pub fn order(
        &self,
        modules: &Modules,
        (before, site): (Addr, Addr),
        time: Nanos,
    ) -> Option<Order> {
        let (code, orders, function) = self.unhooked(modules, site, time)?;
        let [before, site] = [before, site].map(|at| at.0.wrapping_sub(code.bias));
        if !function.contains(&before) {
            return None;
        }
        orders.order(&function, || code.hooked(), before, site)
    }

    /// Whether a function that calls no hooks can jump to the function at the address `to` behind
    /// its call that returns to `before`. False where the code does not tell. As [`Code::order`].
    pub fn may_jump_on(&self, modules: &Modules, (before, to): (Addr, Addr), time: Nanos) -> bool {
        let Some((code, orders, function)) = self.unhooked(modules, before, time) else {
            return false;
        };
        let [before, to] = [before, to].map(|at| at.0.wrapping_sub(code.bias));
        let may_jump = |to| orders.may_jump(&function, || code.hooked(), before, to);
        let Some((entered, _)) = code.stretch(to) else {
            return may_jump(to);
        };
        // It was entered behind its beginning where it calls `__fentry__`; and where another was
        // made of it for some callers, the hook of that names it.
        let is_clone =
            |stretch: &&Stretch| self.original(stretch.function) == Some(entered.function);
        let clones = match self.cloned.contains(&entered.function) {
            true => code.stretches.as_slice(),
            false => &[],
        };
        let clones = clones.iter().filter(is_clone);
        let mut starts = std::iter::once(entered).chain(clones);
        starts.any(|stretch| may_jump(stretch.start))
    }

    /// The function that makes the call which returns to `site`, if it calls no hooks.
    fn unhooked(
        &self,
        modules: &Modules,
        site: Addr,
        time: Nanos,
    ) -> Option<(&ModuleCode, &CallOrders, Range<u64>)> {
        let call = Addr(site.0.wrapping_sub(1));
        let index = modules.find(call, time)?;
        let code = self.modules.get(index)?.as_ref()?;
        let (stretch, _) = code.stretch(call.0.wrapping_sub(code.bias))?;
        let function = stretch.range();
        let is_whole = code.start(function.start).is_some();
        let is_it = is_whole && !code.enter_calls.are_in(&function);
        is_it.then_some((code, &self.orders[index], function))
    }

    /// Whether [`Code::distance`] tells of calls that are made by the function with this address in
    /// it.
    pub fn tells_distances(&self, modules: &Modules, function: Addr, time: Nanos) -> bool {
        let index = modules.find(function, time);
        let module = index.and_then(|index| self.modules.get(index)?.as_ref());
        module.is_some() && index.is_some_and(|index| self.frames[index].is_known())
    }

    /// Whether the function `from` may jump to `to` at its end, as far as its code tells.
    pub fn may_jump(&self, from: u32, to: u32) -> bool {
        let targets = self.jumps.get(&from);
        from != to && targets.is_some_and(|all| all.contains(&None) || all.contains(&Some(to)))
    }

    /// Whether the function may jump at its end to an address that it computes: a coroutine's does,
    /// where it hands over to another one.
    pub fn hands_over(&self, function: u32) -> bool {
        let targets = self.jumps.get(&function);
        targets.is_some_and(|all| all.contains(&None))
    }

    /// Whether the function that is entered at the address `other` can be inlined into this one,
    /// by `-finstrument-functions`: its code calls the enter hook in that one's name, or in one
    /// that is not known, besides its own. O(bytes of code) for the first function of a module,
    /// then O(stretches + bytes of the function).
    pub fn may_inline(&self, function: u32, other: Addr) -> bool {
        let Some(code) = self
            .code_of(function)
            .filter(|_| !self.cloned.contains(&function))
        else {
            return true;
        };
        let named = code.named_by(function);
        let other = other.0.wrapping_sub(code.bias);
        let is_other = |named: &&Option<u64>| named.is_none_or(|named| named == other);
        let own = code.stretch(other);
        let own = own.is_some_and(|(own, _)| own.function == function);
        match named.len() {
            // Its code is elsewhere.
            0 => true,
            // That is its own.
            1 => false,
            _ => named.iter().filter(is_other).count() > usize::from(own),
        }
    }

    /// Whether the function that is entered at the address `other` is inlined into this one: its
    /// code calls the enter hook in that one's name. As [`Code::may_inline`].
    pub fn inlines(&self, function: u32, other: Addr) -> bool {
        self.code_of(function).is_some_and(|code| {
            let other = other.0.wrapping_sub(code.bias);
            let own = code.stretch(other);
            let own = own.is_some_and(|(own, _)| own.function == function);
            !own && code.named_by(function).contains(&Some(other))
        })
    }

    /// Whether the call that returns to `site` calls this function, as its instruction names it;
    /// `None` where its code is not known.
    pub fn calls(&self, modules: &Modules, site: Addr, function: u32, time: Nanos) -> Option<bool> {
        let index = modules.find(Addr(site.0.wrapping_sub(1)), time)?;
        let code = self.modules.get(index)?.as_ref()?;
        let place = site.0.wrapping_sub(code.bias);
        let called = code.enter_calls.called_from(place)?;
        let called = called.and_then(|place| code.stretch(place));
        Some(called.is_some_and(|(stretch, behind)| stretch.function == function && behind == 0))
    }

    /// What is known of the module in which the function is.
    fn code_of(&self, function: u32) -> Option<&ModuleCode> {
        let mut modules = self.modules.iter().flatten();
        modules.find(|code| code.stretches.iter().any(|s| s.function == function))
    }

    /// Whether the function's code calls the hook of an enter. O(bytes of code) for the first
    /// function of a module, then O(stretches).
    pub fn calls_hooks(&self, function: u32) -> bool {
        self.modules.iter().flatten().any(|code| {
            let stretches = code.stretches.iter();
            let mut stretches = stretches.filter(|stretch| stretch.function == function);
            stretches.any(|stretch| code.enter_calls.are_in(&stretch.range()))
        })
    }

    /// Whether the function begins by a call of `__fentry__`, so that each call of it is recorded
    /// that is not left out. A function that is inlined has no such call. O(bytes of code) for the
    /// first function of a module, then O(stretches).
    pub fn tells_its_calls(&self, function: u32) -> bool {
        self.modules.iter().flatten().any(|code| {
            let stretches = code.stretches.iter();
            let mut stretches = stretches.filter(|stretch| stretch.function == function);
            stretches.any(|stretch| {
                let entries = code.enter_calls.entries();
                let first = entries.partition_point(|&place| place < stretch.start);
                entries
                    .get(first)
                    .is_some_and(|place| place - stretch.start <= BEFORE_HOOK)
            })
        })
    }

    /// The role of a function in a coroutine; unknown, and so plain, without a symbol.
    pub fn role(&self, function: u32) -> Role {
        let role = self.roles.get(function as usize);
        role.copied().unwrap_or_default()
    }

    /// Whether Clang compiled the coroutine with this number.
    pub fn is_by_clang(&self, coroutine: u32) -> bool {
        self.by_clang.contains(&coroutine)
    }

    /// Whether `function` may be one that runs or destroys coroutines. O(stretches).
    pub fn may_be_part(&self, function: Callee) -> bool {
        self.modules.iter().flatten().any(|code| {
            let mut parts = code.stretches.iter().filter(|stretch| {
                let role = self.role(stretch.function);
                matches!(role, Role::Part(..))
            });
            parts.any(|part| function.may_be(Addr(part.start.wrapping_add(code.bias))))
        })
    }

    /// The number of functions that have numbers, which begin at 0.
    pub fn functions(&self) -> u32 {
        self.roles.len() as u32
    }

    /// The number of coroutines that have numbers, which begin at 0.
    pub fn coroutines(&self) -> u32 {
        self.coroutines
    }

    /// Whether this return address is where the kernel has a signal's handler return to. O(bytes of
    /// code) for the first address of a module, O(modules) else.
    pub fn is_signal_return(&self, address: Addr) -> bool {
        self.signal_returns
            .iter()
            .any(|returns| returns.have(address))
    }
}

impl ModuleCode {
    /// The functions in whose names the function's code calls the enter hook: in the file's own
    /// address space, and `None` for one that is not known.
    fn named_by(&self, function: u32) -> Vec<Option<u64>> {
        let stretches = self.stretches.iter().filter(|s| s.function == function);
        let calls =
            stretches.flat_map(|stretch| self.enter_calls.named_in(&stretch.range()).to_vec());
        calls.map(|(_, named)| named).collect()
    }

    /// The stretch that holds an address of the file, and how far behind its beginning that is.
    fn stretch(&self, address: u64) -> Option<(&Stretch, u64)> {
        let after = self.stretches.partition_point(|s| s.start <= address);
        let stretch = self.stretches.get(after.checked_sub(1)?)?;
        let behind = address - stretch.start;
        (behind < stretch.length).then_some((stretch, behind))
    }

    /// Where functions begin that call hooks.
    fn hooked(&self) -> HashSet<u64> {
        let all = self.stretches.iter().map(Stretch::range);
        let hooked = all.filter(|function| self.enter_calls.are_in(function));
        hooked.map(|function| function.start).collect()
    }

    /// Where the function begins that holds an address of the file. `None` for one that is in
    /// several places.
    fn start(&self, address: u64) -> Option<u64> {
        let (stretch, _) = self.stretch(address)?;
        let function = stretch.function;
        let all = self.stretches.iter().filter(|s| s.function == function);
        (all.count() == 1).then_some(stretch.start)
    }
}

/// Whether a symbol ends in a number, as `name.0` does: those of GNU C nested functions do, and
/// some others.
fn has_number(symbol: &str) -> bool {
    let number = symbol.rsplit_once('.').map_or("", |(_, number)| number);
    !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
}
