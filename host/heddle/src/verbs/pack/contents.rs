//! A packed trace carries, beside its records, the symbols of the addresses that occur, and facts
//! of their code that reading it asks for.

use crate::names::printable;
use crate::notes;
use heddle_symbols::Images;
use heddle_trace_file::{
    Addr, Callee, Damages, Error, EventKind, Module, ModuleSymbols, Modules, Nanos, ObjectKind,
    Trace,
};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The symbols of each module by which the trace's addresses can be named, and the events that
/// cannot be read: what is packed has the first and tells of the second.
///
/// # Errors
/// What reading the events gives.
pub fn symbols(trace: &Trace) -> Result<(Vec<ModuleSymbols>, Damages), Error> {
    let mut damages = Damages::default();
    let mut images = Images::new();
    let mut found: BTreeMap<(String, Option<String>), Wanted> = BTreeMap::new();
    for process in trace.processes() {
        let occurring = Occurring::of(process, &mut damages)?;
        let addresses = occurring.addresses.into_iter();
        let addresses = addresses.map(|(module, address)| (module, address, None));
        let objects = occurring.objects.into_iter();
        let objects = objects.map(|(module, address, kind)| (module, address, Some(kind)));
        for (module, address, kind) in addresses.chain(objects) {
            let Some(module) = process.modules().get(module) else {
                continue;
            };
            let path = module.path.to_string_lossy().into_owned();
            let wanted = found
                .entry((path, module.build_id.clone()))
                .or_insert_with(|| Wanted {
                    module,
                    addresses: BTreeSet::new(),
                    objects: BTreeSet::new(),
                });
            let address = address.0.wrapping_sub(module.bias);
            match kind {
                Some(kind) => wanted.objects.insert((address, kind.bytes())),
                None => wanted.addresses.insert(address),
            };
        }
    }
    let mut symbols = Vec::new();
    for ((path, build_id), wanted) in found {
        let text = images.excerpt(wanted.module, wanted.addresses, wanted.objects);
        symbols.extend(text.map(|text| ModuleSymbols {
            path,
            build_id,
            text,
        }));
    }
    for warning in images.take_warnings() {
        notes::warning(printable(&warning.to_string()));
    }
    Ok((symbols, damages))
}

/// Addresses of a module, as its file has them.
struct Wanted<'a> {
    module: &'a Module,
    addresses: BTreeSet<u64>,
    /// Those that are waited for, with their sizes.
    objects: BTreeSet<(u64, u64)>,
}

/// The addresses that occur in a process, each with the index of its module.
#[derive(Default)]
struct Occurring {
    addresses: HashSet<(usize, Addr)>,
    /// What is waited for, or may be.
    objects: HashSet<(usize, Addr, ObjectKind)>,
}

impl Occurring {
    fn of(process: &heddle_trace_file::Process, damages: &mut Damages) -> Result<Self, Error> {
        let mut all = Occurring::default();
        let modules = process.modules();
        for thread in process.threads() {
            // Most calls have been seen before, and lately.
            let mut latest = vec![(Addr(0), Addr(0), 0); 4096];
            let mut events = thread.events();
            for event in events.by_ref() {
                let event = event?;
                let (function, caller) = match event.kind {
                    EventKind::Enter {
                        function, caller, ..
                    } => (function, Addr(caller.0.wrapping_sub(1))),
                    EventKind::Exit {
                        function: Callee::Known(function),
                        ..
                    } => (function, function),
                    EventKind::Wait(wait) => {
                        let sites = wait.holder().map_or([0; 6], |holder| holder.sites);
                        let sites = sites.into_iter().filter(|&site| site != 0);
                        let sites = sites.filter_map(|site| modules.complete(site, event.time));
                        for site in sites.chain([wait.site()]) {
                            all.add(modules, event.time, Addr(site.0.wrapping_sub(1)));
                        }
                        all.add_object(modules, event.time, (wait.address(), wait.kind));
                        continue;
                    }
                    EventKind::ObjectMet {
                        address,
                        kind,
                        site,
                        ..
                    } => {
                        all.add_object(modules, event.time, (address, kind));
                        all.add(modules, event.time, Addr(site.0.wrapping_sub(1)));
                        continue;
                    }
                    EventKind::Wake { site, .. } => {
                        let site = Addr(site.0.wrapping_sub(1));
                        (site, site)
                    }
                    EventKind::FrameFreed { destroyer, .. }
                    | EventKind::FrameLeft { destroyer, .. } => (destroyer, destroyer),
                    _ => continue,
                };
                let slot =
                    (function.0 ^ caller.0.rotate_left(5) ^ caller.0 >> 7) as usize % latest.len();
                let key = (function, caller, modules.generation(event.time));
                if latest[slot] != key {
                    latest[slot] = key;
                    all.add(modules, event.time, function);
                    all.add(modules, event.time, caller);
                }
            }
            *damages += &events.remarks().damages;
        }
        // Where objects were met that are waited for.
        let end = Nanos(u64::MAX);
        for object in process.objects().into_iter().flat_map(|it| &it.all) {
            if let Some(site) = modules.complete(object.site, end) {
                all.add(modules, end, Addr(site.0.wrapping_sub(1)));
            }
            all.add_object(modules, end, (object.address, object.kind));
        }
        Ok(all)
    }

    fn add(&mut self, modules: &Modules, time: Nanos, address: Addr) {
        let module = modules.find(address, time);
        self.addresses
            .extend(module.map(|module| (module, address)));
    }

    fn add_object(&mut self, modules: &Modules, time: Nanos, (address, kind): (Addr, ObjectKind)) {
        if let Some(module) = modules.find(address, time) {
            self.addresses.insert((module, address));
            self.objects.insert((module, address, kind));
        }
    }
}

/// Enters and exits in the trace.
///
/// # Errors
/// Any damage of the trace.
pub fn events(trace: &Trace) -> Result<u64, Error> {
    let threads = trace
        .processes()
        .iter()
        .flat_map(|process| process.threads());
    threads
        .map(|thread| thread.count().map(|(calls, _)| calls))
        .sum()
}
