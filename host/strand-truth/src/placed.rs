//! Whether marks lie where they belong: a check of the programs, not of what is decoded.

use crate::mark::Truth;
use crate::names::{Name, Names};
use crate::verdict::Verdict;
use heddle_trace_file::{Error, EventKind, Process};
use std::collections::HashSet;

/// Counts marks that are not right behind the enter of the innermost call that they name. Returns all functions that truth names.
pub fn check(
    process: &Process,
    names: &mut Names,
    verdict: &mut Verdict,
) -> Result<HashSet<Name>, Error> {
    let mut told = HashSet::new();
    for thread in process.threads() {
        let mut entered = None;
        for event in thread.events() {
            let event = event?;
            match event.kind {
                EventKind::Enter { function, .. } => {
                    entered = Some(names.function(function, event.time))
                }
                EventKind::Exit { .. } => entered = None,
                EventKind::Mark { text, .. } => {
                    let Some(truth) = Truth::parse(text) else {
                        continue;
                    };
                    verdict.marks += 1;
                    told.extend(truth.path().map(|function| names.told(function)));
                    let innermost = truth
                        .path()
                        .next_back()
                        .map(|function| names.told(function));
                    if innermost != entered {
                        let entered = entered.map_or("no enter", |name| names.text(name));
                        verdict.misplaced(format_args!(
                            "{} ns, thread {}: {truth}, behind {entered}",
                            event.time.0,
                            thread.number()
                        ));
                    }
                }
                _ => {}
            }
        }
    }
    Ok(told)
}
