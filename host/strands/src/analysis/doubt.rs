//! Whether calls of a thread that was read as one stack, without symbols, may be in a wrong place.

use heddle_calls::Profile;
use heddle_symbols::{Images, Location, Resolver};
use heddle_trace_file::{Addr, Modules, Nanos};
use std::collections::HashSet;

/// Whether a call was left without an exit, or an exit was left without a call. What was called
/// behind such a call may have been taken for its callee, if its own frame was larger.
///
/// Each call that has no exit is unwound in the end, or still open. Of those that are open, the
/// outer one made the inner one, and the innermost one made the call that ended last; or one of
/// them is gone, and another open call made it, or one that was left out or began before the
/// recording. That is seldom asked, and of few calls.
pub(super) fn has_lost_exits(modules: &Modules, images: &mut Images, profile: &Profile) -> bool {
    if profile.loose.unwound > 0 || profile.loose.unmatched > 0 {
        return true;
    }
    let mut resolver = Resolver::new(modules);
    let mut outer = HashSet::new();
    let mut body = None;
    let mut calls = profile.open.iter().peekable();
    while let Some(around) = calls.next() {
        let called = match calls.peek() {
            Some(inner) => (!inner.inlined).then_some((inner.caller, inner.enter)),
            // An inlined call has its container's call site.
            None => {
                let site = profile.latest_site.filter(|&site| site != around.caller);
                site.map(|site| (site, profile.last))
            }
        };
        // The calls of an inlined one are made from the code of its container.
        if !around.inlined {
            outer.extend(body.take());
            body = Some(whole(&resolver.function(
                images,
                around.function,
                around.enter,
            )));
        }
        if let Some((site, time)) = called {
            let caller = resolver.caller(images, site, time);
            let made_by = whole(&caller);
            if caller.known
                && body.as_ref() != Some(&made_by)
                && (outer.contains(&made_by) || tells_its_calls(modules, images, site, time))
            {
                return true;
            }
        }
    }
    false
}

/// Whether the function that holds this call site begins by a call of `__fentry__`: within an open
/// call, its own call would have been recorded.
fn tells_its_calls(modules: &Modules, images: &mut Images, site: Addr, time: Nanos) -> bool {
    let address = Addr(site.0.wrapping_sub(1));
    let module = modules.find(address, time);
    let Some(module) = module.and_then(|index| modules.get(index)) else {
        return false;
    };
    let Some(table) = images.table(module).filter(|table| table.calls_hooks()) else {
        return false;
    };
    let at = address.0.wrapping_sub(module.bias);
    let calls = images.enter_calls(module);
    let before = calls.entries().partition_point(|&place| place < at);
    let hook = before.checked_sub(1).map(|last| calls.entries()[last]);
    hook.is_some_and(|hook| table.find(hook) == table.find(at))
}

/// A function's module and symbol, of the part too that the compiler has moved away.
fn whole(location: &Location) -> (String, String) {
    let symbol = &location.symbol;
    let symbol = symbol.strip_suffix(".cold").unwrap_or(symbol);
    (location.module.clone(), symbol.to_owned())
}
