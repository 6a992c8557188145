//! Facts about call sites, by which nearly every enter finds its caller.
//!
//! A call from one site to one function is made from one place in its caller's frame, unless that
//! has grown meanwhile (`alloca`): so where the innermost open call is of the caller's function and
//! just as far above the new one as it was before, the new one lies within its frame, and belongs
//! to it.

use crate::code::{Code, Role};
use crate::entered::Entered;
use crate::stacks::{DOUBTFUL, Frame};
use heddle_symbols::{Distance, Order};
use heddle_trace_file::{Addr, Callee, Modules, Nanos, Way};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// A call site and the function that it calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub site: u64,
    pub function: u64,
    /// How far the caller's stack pointer is above that of the call; 0 if it is inlined into
    /// `caller`.
    pub above: u64,
    /// The function that the site is in.
    pub caller: u32,
    /// The function that is called.
    pub callee: u32,
}

impl Site {
    /// The value of `above` where the distance differs from call to call, so that several open
    /// calls may make the next one. It is no distance: stack pointers differ by 8 bytes at least.
    const VARIES: u64 = 1;
}

/// A call that may have made a new one: its function's code has the call site.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// Where it is among the open calls.
    pub index: usize,
    /// How far it is above the new call.
    pub above: u64,
    /// See [`Frame::function`](crate::stacks::Frame::function).
    pub entered: u64,
}

const NO_FUNCTION: u32 = u32::MAX;
const NO_HOLDER: (u64, u32) = (u64::MAX, NO_FUNCTION);

const NONE: Site = Site {
    site: u64::MAX,
    function: u64::MAX,
    above: u64::MAX,
    caller: NO_FUNCTION,
    callee: NO_FUNCTION,
};

const SITES: usize = 4096;

/// Call sites whose functions are remembered, known or not.
const HOLDERS: usize = 1024;

/// Whether a call is inlined into an open one whose frame has grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grown {
    /// The code has no such thing.
    No,
    /// The code at the call site may as well call the new one's function itself.
    Perhaps,
    /// That code is not known.
    Probably,
    Yes,
}

/// Functions by number: those that have symbols by that of [`Code`], others by one that they get
/// when they are entered.
#[derive(Clone, Debug)]
pub(crate) struct Sites<'a> {
    code: &'a Code,
    modules: &'a Modules,
    /// Addresses mean other functions at other times.
    changing: bool,
    generation: u32,
    table: Vec<Site>,
    /// By call site: the function that holds it, or [`NO_FUNCTION`].
    holders: Vec<(u64, u32)>,
    numbers: FxHashMap<u64, u32>,
    /// The function that was entered last, by address and number: fibers mostly begin with one.
    latest: Option<(u64, u32)>,
    /// Functions without symbols that were entered, by address.
    nameless: BTreeMap<u64, u32>,
    next: u32,
    /// Whether each function was entered, by its number.
    entered: Vec<bool>,
    /// By function: how far the caller's stack pointer was above that of each call of it.
    usual: FxHashMap<u32, u64>,
    /// Functions whose frames grow, as far as is known: one of them made a call from another
    /// distance than before, while two calls of it were open.
    growing: FxHashSet<u32>,
    /// By function: [`Code::calls_hooks`].
    hooked: RefCell<FxHashMap<u32, bool>>,
    /// By function and the address of another one: [`Code::may_inline`].
    inlining: RefCell<FxHashMap<(u32, u64), bool>>,
    /// By function, the address of another one, and call site: [`Sites::is_in_grown`].
    grown: RefCell<FxHashMap<(u32, u64, u64), Grown>>,
    /// By call site and the address at which the caller is entered: [`Code::distance`].
    distances: RefCell<FxHashMap<(u64, u64), Option<Distance>>>,
    /// By call site: [`Code::least_frame`].
    frames: RefCell<FxHashMap<u64, Option<u64>>>,
    /// By function: [`Code::large_frame`].
    large_frames: RefCell<FxHashMap<u64, u64>>,
    /// See [`Sites::has_seen_large`].
    has_seen_large: Cell<bool>,
    /// By call site and function: [`Code::may_jump_on`].
    jumps: RefCell<FxHashMap<(u64, u64), bool>>,
    /// By two call sites: [`Code::order`].
    orders: RefCell<FxHashMap<(u64, u64), Option<Order>>>,
    /// By what an exit tells of its function: [`Code::may_be_part`].
    parts: RefCell<FxHashMap<Callee, bool>>,
    /// By return address: [`Code::is_signal_return`].
    signal_returns: RefCell<FxHashMap<u64, bool>>,
    /// The return address that was asked for last, and whether it is one.
    latest_return: Cell<(u64, bool)>,
    /// By function: whether its hook tells of each of its calls.
    telling: FxHashMap<u32, bool>,
}

impl<'a> Sites<'a> {
    /// Nothing is known yet of the process with this code.
    pub fn new(code: &'a Code, modules: &'a Modules) -> Self {
        Sites {
            code,
            modules,
            changing: modules.generation(Nanos(u64::MAX)) > 0,
            table: vec![NONE; SITES],
            generation: 0,
            holders: vec![NO_HOLDER; HOLDERS],
            numbers: FxHashMap::default(),
            latest: None,
            nameless: BTreeMap::new(),
            next: code.functions(),
            entered: Vec::new(),
            usual: FxHashMap::default(),
            growing: FxHashSet::default(),
            hooked: RefCell::default(),
            inlining: RefCell::default(),
            grown: RefCell::default(),
            distances: RefCell::default(),
            frames: RefCell::default(),
            large_frames: RefCell::default(),
            has_seen_large: Cell::default(),
            jumps: RefCell::default(),
            orders: RefCell::default(),
            parts: RefCell::default(),
            signal_returns: RefCell::default(),
            latest_return: Cell::new((u64::MAX, false)),
            telling: FxHashMap::default(),
        }
    }

    #[inline]
    fn slot(site: u64, function: u64, inlined: bool) -> usize {
        let mixed = (site ^ function.rotate_left(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed >> 52) as usize & !1 | usize::from(inlined)) % SITES
    }

    /// The facts that were noted of a call from `site` to `function`, `inlined` into the function
    /// with that site or not.
    #[inline]
    pub fn of(&self, site: u64, function: u64, inlined: bool) -> Option<&Site> {
        let noted = &self.table[Self::slot(site, function, inlined)];
        (noted.site == site && noted.function == function).then_some(noted)
    }

    /// The enter of a call as it is of other functions, if it is one of a GNU C nested function by
    /// `-mfentry`. That has its static chain, the address of its container's frame, pushed on the
    /// stack before the call of `__fentry__`: the recorder takes that for the return address, and
    /// where it lies for the place of the return address. The call site is not in the trace.
    // A copy of the whole would wait for its parts to be written.
    #[inline(always)]
    pub fn corrected(&self, mut new: Entered) -> Entered {
        if Self::may_have_chain(new.way, new.caller, new.sp)
            && self.has_chain(new.function, new.time)
        {
            (new.caller, new.sp) = (0, new.sp + 8);
        }
        new
    }

    /// Whether an enter may be one of a nested function: see [`Sites::corrected`].
    #[inline(always)]
    pub fn may_have_chain(way: Way, caller: u64, sp: u64) -> bool {
        /// A container's frame is so near, modulo 4 GiB. A text is hardly ever.
        const NEAR: u32 = 8 << 20;
        way == Way::Entry && (caller as u32).wrapping_sub(sp as u32) < NEAR
    }

    #[cold]
    fn has_chain(&self, function: u64, time: u64) -> bool {
        self.code
            .pushes_chain(self.modules, Addr(function), Nanos(time))
    }

    pub fn note(&mut self, site: Site) {
        self.table[Self::slot(site.site, site.function, site.above == 0)] = site;
    }

    /// Notes how far above a call its caller is, an open call of the function `site.caller`. If the
    /// call `is_ambiguous`, another call of that function may have made it; then each later call
    /// from there is looked at.
    pub fn note_made(&mut self, site: Site, is_ambiguous: bool) {
        if is_ambiguous {
            self.growing.insert(site.caller);
        }
        let above = match self.growing.contains(&site.caller) {
            true => Site::VARIES,
            false => site.above,
        };
        let usual = self.usual.entry(site.callee).or_insert(site.above);
        if *usual != site.above {
            *usual = Site::VARIES;
        }
        self.note(Site { above, ..site });
    }

    /// How far the caller is above the new call, if that distance is what it was at the site's
    /// earlier calls. By `-finstrument-functions` the distance is the size of the called function's
    /// own frame, wherever it is called, unless its callers' frames grow.
    fn expected(&self, new: &Entered, (caller, callee): (u32, u32)) -> Option<u64> {
        if self.growing.contains(&caller) {
            return None;
        }
        let usual = || self.usual.get(&callee).copied();
        match self.of(new.caller, new.function, false) {
            Some(site) => Some(site.above),
            None => usual().filter(|&above| new.way == Way::Instrumented && above != Site::VARIES),
        }
    }

    /// Whether a caller so far above the new call is much nearer or further than those of earlier
    /// calls; `functions` as of [`Sites::maker`].
    pub fn is_unexpected(&self, new: &Entered, functions: (u32, u32), above: u64) -> bool {
        let expected = self.expected(new, functions);
        expected.is_some_and(|expected| expected.abs_diff(above) >= DOUBTFUL)
    }

    /// Finds which of `calls`, the innermost first, made the new one. `functions` are that which
    /// made it, whose calls these are, and that which is called. The innermost call made it, unless
    /// an exception, or a jump without a record, has left the innermost: then its code tells that
    /// it cannot make a call from there, or another one is just as far above as the callers at this
    /// site were before. O(calls).
    pub fn maker(
        &self,
        new: &Entered,
        functions: (u32, u32),
        calls: impl Iterator<Item = Candidate> + Clone,
    ) -> Option<usize> {
        let mut others = calls.clone();
        let nearest = others.next()?;
        if others.next().is_none() {
            return Some(nearest.index);
        }
        let distance = self.distance(nearest.entered, new);
        let mut able = calls.filter(|call| self.can_make(call, new));
        let grows = matches!(distance, Some(Distance::AtLeast(_)));
        let expected = self.expected(new, functions).filter(|_| !grows);
        let as_expected = expected.and_then(|above| able.clone().find(|call| call.above == above));
        let made_it = as_expected.or_else(|| able.next());
        Some(made_it.unwrap_or(nearest).index)
    }

    /// Whether only calls from other sites tell that the call at `index` made the new one, and not
    /// a nearer one of `calls`, the innermost first.
    pub fn is_by_others(
        &self,
        new: &Entered,
        index: usize,
        mut calls: impl Iterator<Item = Candidate>,
    ) -> bool {
        let is_nearest = calls.next().is_none_or(|nearest| nearest.index == index);
        !is_nearest
            && new.way == Way::Instrumented
            && self.of(new.caller, new.function, false).is_none()
    }

    /// Whether one of `calls` further out than that at `index` may have made the new call instead,
    /// because that one is gone; all are of the function `caller`, the innermost first. Where its
    /// frames are always as large, none may. O(calls).
    pub fn is_ambiguous(
        &self,
        new: &Entered,
        (caller, index): (u32, usize),
        mut calls: impl Iterator<Item = Candidate>,
    ) -> bool {
        let Some(call) = calls.find(|call| call.index == index) else {
            return false;
        };
        let mut others = calls.peekable();
        if others.peek().is_none() {
            return false;
        }
        let noted = self.of(new.caller, new.function, false);
        let differs = noted.is_some_and(|site| site.above != call.above);
        let varies = differs || self.growing.contains(&caller);
        let may_grow = match self.distance(call.entered, new) {
            Some(Distance::Exactly(_)) => false,
            Some(Distance::Between(..)) => noted.is_none() || varies,
            Some(Distance::AtLeast(_)) => true,
            None => varies,
        };
        may_grow && others.any(|other| self.can_make(&other, new))
    }

    /// Whether a call can have made the new one, as far as its code tells.
    ///
    /// A call that an exception, or a jump without a record, has left may lie above the next call
    /// that is made by an outer one of its function, if that has arguments on the stack.
    fn can_make(&self, call: &Candidate, new: &Entered) -> bool {
        self.may_call(call.entered, call.above, new) != Some(false)
    }

    /// It is `time`: addresses may mean others from now on.
    #[inline]
    pub fn advance(&mut self, time: Nanos) {
        if self.changing {
            self.begin_generation(self.modules.generation(time));
        }
    }

    fn begin_generation(&mut self, generation: u32) {
        if generation != self.generation {
            self.generation = generation;
            self.table.fill(NONE);
            self.holders.fill(NO_HOLDER);
            self.numbers.clear();
            self.latest = None;
            self.nameless.clear();
            self.inlining.borrow_mut().clear();
            self.grown.borrow_mut().clear();
            self.distances.borrow_mut().clear();
            self.frames.borrow_mut().clear();
            self.large_frames.borrow_mut().clear();
            self.jumps.borrow_mut().clear();
            self.orders.borrow_mut().clear();
        }
    }

    /// The number of the function that is entered at `address`.
    #[inline]
    pub fn callee(&mut self, address: u64, time: u64) -> u32 {
        match self.latest {
            Some((latest, number)) if latest == address => number,
            _ => {
                let number = self.number(address, time);
                self.latest = Some((address, number));
                number
            }
        }
    }

    #[inline(never)]
    fn number(&mut self, address: u64, time: u64) -> u32 {
        if let Some(&number) = self.numbers.get(&address) {
            return number;
        }
        let named = self.code.function(self.modules, Addr(address), Nanos(time));
        let number = match named {
            Some(number) => number,
            None => {
                let number = self.next;
                self.next += 1;
                self.nameless.insert(address, number);
                self.holders.fill(NO_HOLDER);
                number
            }
        };
        self.numbers.insert(address, number);
        let index = number as usize;
        if index >= self.entered.len() {
            self.entered.resize(index + 1, false);
        }
        self.entered[index] = true;
        number
    }

    /// The function that holds `site`, as far as symbols tell, or that was entered last before it.
    #[inline]
    pub fn holder(&mut self, site: u64, time: u64) -> Option<u32> {
        let slot = (site ^ (site >> 10)) as usize % HOLDERS;
        let (known, mut function) = self.holders[slot];
        if known != site {
            function = self.find_holder(site, time).unwrap_or(NO_FUNCTION);
            self.holders[slot] = (site, function);
        }
        (function != NO_FUNCTION).then_some(function)
    }

    fn find_holder(&self, site: u64, time: u64) -> Option<u32> {
        let address = Addr(site.wrapping_sub(1));
        let named = self.code.function(self.modules, address, Nanos(time));
        // A function whose hooks name another one is never entered under its own name.
        let by_other_name =
            |&function: &u32| !self.was_entered(function) && !self.code.tells_its_calls(function);
        let original = named
            .filter(by_other_name)
            .and_then(|function| self.code.original(function))
            .filter(|&original| self.was_entered(original));
        original.or(named).or_else(|| {
            let (&start, &number) = self.nameless.range(..site).next_back()?;
            let module = |address: u64| self.modules.find(Addr(address), Nanos(time));
            let same = module(start).is_some() && module(start) == module(address.0);
            same.then_some(number)
        })
    }

    /// Whether the function `from` may jump to `to` at its end.
    pub fn may_jump(&self, from: u32, to: u32) -> bool {
        self.code.may_jump(from, to)
    }

    /// [`Code::is_signal_return`], once for each return address.
    #[inline]
    pub fn is_signal_return(&self, address: Addr) -> bool {
        let (latest, is_it) = self.latest_return.get();
        if latest == address.0 {
            return is_it;
        }
        let is_it = self.returns_from_signal(address);
        self.latest_return.set((address.0, is_it));
        is_it
    }

    #[inline(never)]
    fn returns_from_signal(&self, address: Addr) -> bool {
        let mut known = self.signal_returns.borrow_mut();
        *known
            .entry(address.0)
            .or_insert_with(|| self.code.is_signal_return(address))
    }

    /// Whether a symbol says where the function is.
    pub fn has_symbol(&self, function: u32) -> bool {
        function < self.code.functions()
    }

    /// [`Code::calls_hooks`], once for each function.
    pub fn calls_hooks(&self, function: u32) -> bool {
        let mut known = self.hooked.borrow_mut();
        let calls_hooks = || self.has_symbol(function) && self.code.calls_hooks(function);
        *known.entry(function).or_insert_with(calls_hooks)
    }

    /// [`Code::may_inline`], once for each two functions.
    pub fn may_inline(&self, function: u32, other: u64) -> bool {
        if !self.has_symbol(function) {
            return true;
        }
        let mut known = self.inlining.borrow_mut();
        let may_inline = || self.code.may_inline(function, Addr(other));
        *known.entry((function, other)).or_insert_with(may_inline)
    }

    /// Whether a call is inlined into the open one of the function `body` with the same call site,
    /// whose frame has grown (`alloca`), since `body` has its hook.
    pub fn is_in_grown(&self, body: u32, new: &Entered) -> Grown {
        let mut known = self.grown.borrow_mut();
        let is_in = || {
            if !self.has_symbol(body) || !self.code.inlines(body, Addr(new.function)) {
                return Grown::No;
            }
            let (site, time) = (Addr(new.caller), Nanos(new.time));
            match self.code.calls(self.modules, site, body, time) {
                Some(true) => Grown::Yes,
                Some(false) => Grown::Perhaps,
                None => Grown::Probably,
            }
        };
        *known
            .entry((body, new.function, new.caller))
            .or_insert_with(is_in)
    }

    /// Whether a call of `-mfentry` may be made from so far above, by a call that was entered at
    /// the address `entered`; `None` where its code does not tell.
    pub fn may_call(&self, entered: u64, above: u64, new: &Entered) -> Option<bool> {
        let distance = self.distance(entered, new);
        distance.map(|distance| distance.allows(above))
    }

    /// Whether a call of `-mfentry` is made from just so far above, by a call that was entered at
    /// the address `entered`, as its code tells.
    pub fn calls_from(&self, entered: u64, above: u64, new: &Entered) -> bool {
        self.distance(entered, new) == Some(Distance::Exactly(above))
    }

    fn distance(&self, entered: u64, new: &Entered) -> Option<Distance> {
        if new.way != Way::Entry {
            return None;
        }
        let mut known = self.distances.borrow_mut();
        *known.entry((new.caller, entered)).or_insert_with(|| {
            let (site, entry) = (Addr(new.caller), Addr(entered));
            self.code
                .distance(self.modules, site, entry, Nanos(new.time))
        })
    }

    /// Whether a call by uninstrumented code lies in the frame of a call that was entered with the
    /// stack pointer `sp`, by the frame of the code that makes it: then that one is gone.
    pub fn is_in_frame(&self, new: &Entered, sp: u64) -> bool {
        let mut known = self.frames.borrow_mut();
        let frame = *known.entry(new.caller).or_insert_with(|| {
            let (site, time) = (Addr(new.caller), Nanos(new.time));
            self.code.least_frame(self.modules, site, time)
        });
        // A call that is further below may be inside the other.
        frame.is_some_and(|bytes| new.sp <= sp && sp - new.sp <= bytes)
    }

    /// The stack pointer with which the new call was made, as far as it can be far above the one
    /// with which its hook was called, in its own frame.
    pub fn made_at(&self, new: &Entered) -> u64 {
        if new.way == Way::Entry {
            return new.sp;
        }
        let bytes = self.large_frame(new.function, new.time);
        new.sp.saturating_add(bytes)
    }

    /// Whether a call with the stack pointer `sp` lies within the frame of an open call above, by
    /// `-mfentry`, as its code says: what it calls is lower, so an array there is a fiber's stack.
    pub fn has_array_at(&self, call: &Frame, sp: u64) -> bool {
        let below = call.sp.checked_sub(sp);
        below.is_some_and(|below| below < self.frame_below(call))
    }

    /// How far the frame of an open call reaches below its stack pointer, as far as is known.
    pub fn frame_below(&self, call: &Frame) -> u64 {
        let bytes = match call.is(Frame::ENTRY) {
            true => self.large_frame(call.function, call.enter),
            false => 0,
        };
        if bytes > 0 {
            self.has_seen_large.set(true);
        }
        bytes
    }

    /// Whether [`Sites::frame_below`] was ever more than nothing.
    pub fn has_seen_large(&self) -> bool {
        self.has_seen_large.get()
    }

    /// [`Code::large_frame`], once for each function.
    fn large_frame(&self, function: u64, time: u64) -> u64 {
        let mut known = self.large_frames.borrow_mut();
        *known.entry(function).or_insert_with(|| {
            let (function, time) = (Addr(function), Nanos(time));
            self.code.large_frame(self.modules, function, time)
        })
    }

    /// [`Code::may_jump_on`], once for each call site and function.
    pub fn may_jump_on(&self, before: u64, to: u64, time: u64) -> bool {
        let mut known = self.jumps.borrow_mut();
        *known.entry((before, to)).or_insert_with(|| {
            let places = (Addr(before), Addr(to));
            self.code.may_jump_on(self.modules, places, Nanos(time))
        })
    }

    /// [`Code::order`], once for each two call sites.
    pub fn order(&self, before: u64, site: u64, time: u64) -> Option<Order> {
        let mut known = self.orders.borrow_mut();
        *known.entry((before, site)).or_insert_with(|| {
            let sites = (Addr(before), Addr(site));
            self.code.order(self.modules, sites, Nanos(time))
        })
    }

    /// See [`Code::tells_distances`].
    pub fn tells_distances(&self, function: u64, time: u64) -> bool {
        self.code
            .tells_distances(self.modules, Addr(function), Nanos(time))
    }

    /// [`Code::tells_its_calls`], once for each function.
    pub fn tells_its_calls(&mut self, function: u32) -> bool {
        let code = self.code;
        self.has_symbol(function)
            && *self
                .telling
                .entry(function)
                .or_insert_with(|| code.tells_its_calls(function))
    }

    /// The coroutine that the function runs or destroys, if it does.
    pub fn coroutine(&self, function: u32) -> Option<u32> {
        match self.code.role(function) {
            Role::Part(coroutine, _) => Some(coroutine),
            _ => None,
        }
    }

    /// Whether the process has functions of coroutines.
    pub fn have_coroutines(&self) -> bool {
        self.code.coroutines() > 0
    }

    /// [`Code::may_be_part`], once for each function.
    pub fn may_be_part(&self, function: Callee) -> bool {
        let mut known = self.parts.borrow_mut();
        let known = known.entry(function);
        *known.or_insert_with(|| self.code.may_be_part(function))
    }

    /// Whether the function was entered before.
    pub fn was_entered(&self, function: u32) -> bool {
        self.entered.get(function as usize) == Some(&true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_symbols::Images;
    use heddle_trace_file::write::{START, TraceWriter};
    use heddle_trace_file::{ModuleSymbols, Trace};

    #[test]
    fn a_function_is_another_where_its_module_was_replaced() {
        const CODE: u64 = 0x40_0000;
        let directory = tempfile::tempdir().unwrap();
        let writer = TraceWriter::create(directory.path()).unwrap();
        let mut process = writer.process(4711, 1, "/nowhere/app").unwrap();
        process.module(CODE, CODE + 0x1000, CODE, None, "/nowhere/first");
        process.module_line(&format!("unload {} {CODE:x}", START + 1000));
        let place = format!("{CODE:x} {:x}", CODE + 0x1000);
        let second = format!("{place} {place} {CODE:x} - /nowhere/second");
        process.module_line(&format!("load {} {second}", START + 2000));
        process.finish().unwrap();
        let of = |path: &str, function: &str| ModuleSymbols {
            path: path.into(),
            build_id: None,
            text: format!("symtab 1\n100 100 global {function}\n"),
        };
        let symbols = [
            of("/nowhere/first", "one"),
            of("/nowhere/second", "another"),
        ];
        let trace = Trace::open(directory.path()).unwrap();
        let process = &trace.processes()[0];
        let mut images = Images::packed(&symbols);
        let code = Code::read(process, &mut images);
        let mut sites = Sites::new(&code, process.modules());
        let (named, nameless) = (CODE + 0x100, CODE + 0x300);
        let mut at = |time: u64| {
            sites.advance(Nanos(time));
            // A function without a symbol is not known before it is entered.
            let before = sites.holder(nameless + 0x10, time);
            let callee = sites.callee(named, time);
            assert_eq!(sites.holder(named + 0x10, time), Some(callee));
            let other = sites.callee(nameless, time);
            assert_eq!(sites.holder(nameless + 0x10, time), Some(other));
            // It is the latest when time goes on.
            assert_eq!(sites.callee(named, time), callee);
            (before, callee, other)
        };
        let (before, one, nameless) = at(500);
        assert_eq!(before, None);
        assert_eq!(at(900), (Some(nameless), one, nameless));
        let (before, another, other) = at(2500);
        assert_eq!(before, None);
        assert!(another != one && other != nameless);
    }
}
