//! Whether calls of a thread that was read as one stack, without symbols, may be in a wrong place.

use heddle_calls::Profile;
use heddle_symbols::{Images, Location, Resolver};
use heddle_trace_file::Modules;
use std::collections::HashSet;

/// Whether a call was left without an exit, or an exit was left without a call. What was called
/// behind such a call may have been taken for its callee, if its own frame was larger.
///
/// Each call that has no exit is unwound in the end, or still open. Of those that are open, the
/// outer one made the inner one, and the innermost one made the call that ended last; or one of
/// them is gone, and another open call made it. That is seldom asked, and of few calls.
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
            if caller.known && body.as_ref() != Some(&made_by) && outer.contains(&made_by) {
                return true;
            }
        }
    }
    false
}

/// A function's module and symbol, of the part too that the compiler has moved away.
fn whole(location: &Location) -> (String, String) {
    let symbol = &location.symbol;
    let symbol = symbol.strip_suffix(".cold").unwrap_or(symbol);
    (location.module.clone(), symbol.to_owned())
}
