//! Names for objects, and for the code that takes them.

use super::key::Key;
use crate::names::{Names, printable, thread_label};
use heddle_symbols::{Location, demangle};
use heddle_trace_file::{Addr, Holder, Nanos, ObjectKind, Place, Thread, Trace};
use std::collections::HashMap;
use std::rc::Rc;

/// How an object was met.
#[derive(Clone, Debug)]
pub struct Met {
    pub address: Addr,
    pub kind: ObjectKind,
    pub made: bool,
    /// The call of the program's own code in which it was.
    pub function: Rc<str>,
    pub time: Nanos,
}

/// Describes what the records name by addresses.
pub struct Describe<'a> {
    pub trace: &'a Trace,
    pub met: HashMap<Key, Met>,
    /// Those that were initialised, by address, also of several processes.
    made: HashMap<Addr, Vec<Key>>,
}

/// Whether a function is a part of the C++ library's headers, in which a program's waits are
/// wrapped, by the linker's name of it.
pub fn is_wrapper(symbol: &str) -> bool {
    const BEGINNINGS: [&str; 7] = [
        "_ZNSt",
        "_ZNKSt",
        "_ZSt",
        "_ZZNSt",
        "_ZN9__gnu_cxx",
        "_ZNVSt",
        "_ZNVKSt",
    ];
    BEGINNINGS.iter().any(|begin| symbol.starts_with(begin)) || is_gthread(symbol)
}

/// Whether a function is what the C++ library calls libc's by.
fn is_gthread(symbol: &str) -> bool {
    symbol.contains("__gthread_")
}

/// Whether a function is a part of the C++ library that takes locks for who calls it, and so never
/// has the program's own code within it, as what runs a thread's function may have.
pub fn takes_locks(function: &Location) -> bool {
    const BEGINNINGS: [&str; 14] = [
        "std::lock(",
        "std::try_lock(",
        "std::__detail::__lock_impl(",
        "std::__detail::__try_lock_impl(",
        "std::mutex::",
        "std::timed_mutex::",
        "std::recursive_mutex::",
        "std::recursive_timed_mutex::",
        "std::shared_mutex::",
        "std::shared_timed_mutex::",
        "std::lock_guard::",
        "std::scoped_lock::",
        "std::shared_lock::",
        "std::unique_lock::",
    ];
    let short = function.short();
    is_gthread(&function.symbol) || BEGINNINGS.iter().any(|begin| short.starts_with(begin))
}

/// A function for people; where only a part of the C++ library is known that it has called to take
/// a lock, that part.
fn told(names: &Names<'_>, function: &Location) -> Rc<str> {
    let shown = names.shown(function);
    match takes_locks(function) {
        true => format!("a function that called {shown}").into(),
        false => shown.into(),
    }
}

/// Whether a call that returns to `at` is by a function that left no trace of itself: libc and the
/// C++ library call what a thread begins with from such a place, and that has ended by a jump to
/// what it called last (a tail call).
fn is_gone(at: &Location) -> bool {
    const LIBRARIES: [&str; 4] = ["libc.so", "libpthread", "libstdc++.so", "libc++.so"];
    const STARTERS: [&str; 3] = [
        "start_thread",
        "execute_native_thread_routine",
        "__libc_start_call_main",
    ];
    let mut libraries = LIBRARIES.iter();
    let is_library = libraries.any(|library| at.module.starts_with(library));
    is_library && (!at.known || STARTERS.contains(&&*at.symbol))
}

/// The function that called libc's, by where that returns to.
fn calling(names: &Names<'_>, at: &Location) -> Rc<str> {
    match is_gone(at) {
        true => format!(
            "a function that is not known (it returns to {})",
            names.shown(at)
        )
        .into(),
        false => told(names, at),
    }
}

/// The function in whose code `site` is, if it is no wrapper and lies in another module than the
/// innermost of the open `calls`, which come innermost first: code without hooks. Else that call's,
/// wrappers left out; a wrapper, if nothing else is known. Empty, if nothing is.
pub fn own_function(
    names: &mut Names<'_>,
    process: usize,
    calls: impl Iterator<Item = (Addr, Nanos)>,
    site: Option<(Addr, Nanos)>,
) -> Rc<str> {
    let mut innermost: Option<Rc<Location>> = None;
    let mut own = None;
    for (function, enter) in calls {
        let location = names.function(process, function, enter);
        if !is_wrapper(&location.symbol) {
            own = Some(location);
            break;
        }
        innermost = Some(location);
    }
    let at = site.map(|(site, time)| names.caller(process, site, time));
    let is_foreign = |at: &Rc<Location>| {
        let elsewhere = own.as_ref().is_none_or(|own| own.module != at.module);
        at.known && !is_wrapper(&at.symbol) && !is_gone(at) && elsewhere
    };
    let foreign = at.clone().filter(is_foreign);
    match foreign.or(own).or(innermost) {
        Some(found) => told(names, &found),
        None => at.map_or("".into(), |at| calling(names, &at)),
    }
}

impl<'a> Describe<'a> {
    pub fn new(trace: &'a Trace) -> Self {
        Describe {
            trace,
            met: HashMap::new(),
            made: HashMap::new(),
        }
    }

    /// Adds how objects were met.
    pub fn extend(&mut self, met: HashMap<Key, Met>) {
        for (&key, met) in met.iter().filter(|(_, met)| met.made) {
            self.made.entry(met.address).or_default().push(key);
        }
        self.met.extend(met);
    }

    /// How the latest object at this address was initialised in a process before a time.
    pub fn made(
        &self,
        process: usize,
        (address, kind): (Addr, ObjectKind),
        before: Nanos,
    ) -> Option<&Met> {
        let keys = self.made.get(&address)?.iter();
        let keys = keys.filter(|&&(Key::Number(at, _) | Key::Address(at, _))| at == process);
        let all = keys.filter_map(|key| self.met.get(key));
        let all = all.filter(|met| met.kind == kind && met.time < before);
        all.max_by_key(|met| met.time)
    }

    /// A process and those that it descends from, nearest first, with the time when its line left
    /// each of them: a process is forked before its first event.
    pub fn line(&self, process: usize) -> Vec<(usize, Nanos)> {
        let mut line = vec![(process, Nanos(u64::MAX))];
        let mut at = process;
        while let Some((forker, _)) = self.trace.forked_by(at) {
            let threads = self.trace.processes()[at].threads().iter();
            let first = threads.map(|thread| thread.first()).min();
            line.push((forker.process, first.unwrap_or_default()));
            at = forker.process;
        }
        line
    }

    /// How an object was initialised in a process that this one descends from, before the fork: it
    /// is the same object, or its copy.
    fn made_before_fork(&self, process: usize, object: (Addr, ObjectKind)) -> Option<&Met> {
        self.made.get(&object.0)?;
        let line = self.line(process).into_iter().skip(1);
        let mut made = line.filter_map(|(process, left)| self.made(process, object, left));
        made.next()
    }

    /// Where a holder took what it has: in the innermost function that is no wrapper; `?`: that is
    /// not known.
    pub fn holder(
        &self,
        names: &mut Names<'_>,
        process: usize,
        holder: &Holder,
        time: Nanos,
    ) -> Rc<str> {
        let (sites, _) = self.sites(names, process, holder, time);
        match sites.iter().find(|site| !is_wrapper(&site.symbol)) {
            Some(own) => calling(names, own),
            None => {
                let innermost = sites.first();
                innermost.map_or("?".into(), |wrapper| told(names, wrapper))
            }
        }
    }

    /// Where a holder took what it has, as far as code that keeps frame pointers tells, innermost
    /// first; and how many of these are certain to be callers of one another: the first is where
    /// libc was called, and one behind a caller that keeps no frame pointer is any that does, or
    /// none at all.
    pub fn sites(
        &self,
        names: &mut Names<'_>,
        process: usize,
        holder: &Holder,
        time: Nanos,
    ) -> (Vec<Rc<Location>>, usize) {
        let modules = self.trace.processes()[process].modules();
        let sites = holder.sites.iter().take_while(|&&site| site != 0);
        let sites = sites.map_while(|&site| modules.complete(site, time));
        let sites: Vec<_> = sites
            .map(|site| names.caller(process, site, time))
            .collect();
        // Optimised code has these inline.
        let keeps = sites.first().is_some_and(|site| is_gthread(&site.symbol));
        let certain = if keeps { sites.len() } else { 1 };
        (sites, certain)
    }

    /// The index of the thread with this number of the kernel's, at `time`.
    pub fn thread(&self, process: usize, tid: u32, time: Nanos) -> Option<usize> {
        let threads = self.trace.processes()[process].threads();
        let begun = |thread: &Thread| thread.tid() == tid && thread.first() <= time;
        let begun = threads.iter().rposition(begun);
        begun.or_else(|| threads.iter().rposition(|thread| thread.tid() == tid))
    }

    /// The thread with this number of the kernel's, of the process or, if it has none, of another
    /// one: of a lock that is shared, or that was copied by a fork.
    pub fn place(&self, process: usize, tid: u32, time: Nanos) -> Option<Place> {
        let others = (0..self.trace.processes().len()).filter(|&other| other != process);
        [process].into_iter().chain(others).find_map(|process| {
            let thread = self.thread(process, tid, time)?;
            Some(Place { process, thread })
        })
    }

    /// `worker 4711`.
    pub fn name(&self, place: Place) -> String {
        let process = &self.trace.processes()[place.process];
        thread_label(self.trace, process, &process.threads()[place.thread])
    }

    /// `worker 4711`, of a thread with this number of the kernel's.
    pub fn thread_name(&self, process: usize, tid: u32, time: Nanos) -> String {
        match self.place(process, tid, time) {
            Some(place) => self.name(place),
            None => format!("{tid}, of which nothing is recorded"),
        }
    }

    /// The name of an object for people: the variable, or the member of one, that it is; else who
    /// made it, be it before a fork, or met it first; its address, if nothing tells. `fallback`:
    /// the low half of such a site.
    pub fn object(
        &self,
        names: &mut Names<'_>,
        key: Key,
        kind: ObjectKind,
        address: Addr,
        fallback: (bool, u32),
    ) -> String {
        let told = self.told(names, key, kind, address, fallback);
        told.unwrap_or_else(|| address.to_string())
    }

    /// The name of an object as [`Describe::object`] gives it; `None` where only its address is
    /// known.
    pub fn told(
        &self,
        names: &mut Names<'_>,
        key: Key,
        kind: ObjectKind,
        address: Addr,
        fallback: (bool, u32),
    ) -> Option<String> {
        let (Key::Number(process, _) | Key::Address(process, _)) = key;
        let met = self.met.get(&key);
        let time = met.map_or(Nanos(u64::MAX), |met| met.time);
        if kind == ObjectKind::Thread {
            return Some("(join)".to_owned());
        }
        if let Some(variable) = self.variable(names, process, (address, kind), time) {
            return Some(variable);
        }
        let made = |made| if made { "made in" } else { "first used in" };
        let was_made = met.map_or(fallback.0, |met| met.made);
        let copied = match was_made {
            true => None,
            false => self.made_before_fork(process, (address, kind)),
        };
        if let Some(met) = copied.or(met) {
            return Some(format!("{} {}", made(met.made), met.function));
        }
        let (_, site) = fallback;
        let modules = self.trace.processes()[process].modules();
        let site = modules.complete(site, time).filter(|_| site != 0);
        let function = site.map(|site| names.caller(process, site, time));
        let function = function.filter(|function| !is_wrapper(&function.symbol))?;
        Some(format!("{} {}", made(was_made), calling(names, &function)))
    }

    fn variable(
        &self,
        names: &mut Names<'_>,
        process: usize,
        (address, kind): (Addr, ObjectKind),
        time: Nanos,
    ) -> Option<String> {
        let modules = self.trace.processes()[process].modules();
        let module = modules.get(modules.find(address, time)?)?;
        let variable = names.images().variable(module, address, kind.bytes());
        let (name, offset) = match variable {
            Some(variable) => {
                let name = demangle(&variable.symbol) + &variable.member;
                (printable(&name), variable.offset)
            }
            None => {
                let file = module.path.file_name().unwrap_or_default();
                let offset = address.0.wrapping_sub(module.bias);
                (printable(&file.to_string_lossy()), offset)
            }
        };
        Some(match offset {
            0 => name,
            _ => format!("{name}+{offset:#x}"),
        })
    }
}
