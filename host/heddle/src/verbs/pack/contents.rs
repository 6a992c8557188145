//! A packed trace carries, beside its records, the symbols of the addresses that occur, and facts
//! of their code that reading it asks for.

use crate::names::printable;
use crate::notes;
use heddle_symbols::Images;
use heddle_trace_file::{
    Addr, Callee, Error, Event, EventKind, Module, ModuleSymbols, Modules, Nanos, Trace,
};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What the trace's addresses need of each module.
///
/// # Errors
/// Any damage of the trace.
pub fn symbols(trace: &Trace) -> Result<Vec<ModuleSymbols>, Error> {
    let mut images = Images::new();
    let mut found: BTreeMap<(String, Option<String>), Wanted> = BTreeMap::new();
    for process in trace.processes() {
        for (module, address) in addresses(process)? {
            let Some(module) = process.modules().get(module) else {
                continue;
            };
            let path = module.path.to_string_lossy().into_owned();
            let wanted = found
                .entry((path, module.build_id.clone()))
                .or_insert_with(|| Wanted {
                    module,
                    addresses: BTreeSet::new(),
                });
            let address = address.0.wrapping_sub(module.bias);
            wanted.addresses.insert(address);
        }
    }
    let mut symbols = Vec::new();
    for ((path, build_id), wanted) in found {
        let text = images.excerpt(wanted.module, wanted.addresses);
        symbols.extend(text.map(|text| ModuleSymbols {
            path,
            build_id,
            text,
        }));
    }
    for warning in images.take_warnings() {
        notes::warning(printable(&warning.to_string()));
    }
    Ok(symbols)
}

/// Addresses of a module, as its file has them.
struct Wanted<'a> {
    module: &'a Module,
    addresses: BTreeSet<u64>,
}

/// The addresses that occur in a process, each with the index of its module.
fn addresses(process: &heddle_trace_file::Process) -> Result<HashSet<(usize, Addr)>, Error> {
    let mut all = HashSet::new();
    for thread in process.threads() {
        // Most calls have been seen before, and lately.
        let mut latest = vec![(Addr(0), Addr(0), 0); 4096];
        for event in thread.events() {
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
                    let modules = process.modules();
                    let sites = sites.filter_map(|site| modules.complete(site, event.time));
                    for site in sites.chain([wait.site()]) {
                        add(&mut all, modules, &event, Addr(site.0.wrapping_sub(1)));
                    }
                    (wait.address(), wait.address())
                }
                EventKind::ObjectMet { address, site, .. } => {
                    (address, Addr(site.0.wrapping_sub(1)))
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
            let key = (function, caller, process.modules().generation(event.time));
            if latest[slot] != key {
                latest[slot] = key;
                add(&mut all, process.modules(), &event, function);
                add(&mut all, process.modules(), &event, caller);
            }
        }
    }
    // Where objects were met that are waited for.
    let (modules, end) = (process.modules(), Nanos(u64::MAX));
    for object in process
        .objects()
        .into_iter()
        .flat_map(|objects| &objects.all)
    {
        let site = modules.complete(object.site, end);
        let site = site.map(|site| Addr(site.0.wrapping_sub(1)));
        for address in site.into_iter().chain([object.address]) {
            all.extend(modules.find(address, end).map(|module| (module, address)));
        }
    }
    Ok(all)
}

fn add(to: &mut HashSet<(usize, Addr)>, modules: &Modules, event: &Event, address: Addr) {
    to.extend(
        modules
            .find(address, event.time)
            .map(|module| (module, address)),
    );
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
