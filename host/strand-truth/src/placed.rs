//! Whether marks lie where they belong: a check of the programs, not of what is decoded.

use crate::mark::Truth;
use crate::names::{Name, Names};
use crate::verdict::Verdict;
use heddle_trace_file::{Error, EventKind, Process};
use std::collections::HashSet;

/// All functions that truth names. Counts the marks that tell of strands.
pub fn told(
    process: &Process,
    names: &mut Names,
    verdict: &mut Verdict,
) -> Result<HashSet<Name>, Error> {
    let mut told = HashSet::new();
    for thread in process.threads() {
        for event in thread.events() {
            if let EventKind::Mark { text, .. } = event?.kind {
                if let Some(truth) = Truth::parse(text) {
                    verdict.marks += 1;
                    told.extend(truth.path().map(|function| names.told(function)));
                }
            }
        }
    }
    Ok(told)
}

/// Counts marks that are not behind the enter of the innermost call that they name. Others may lie
/// between (what a coroutine does before its body), but none of those in `told`. `open_at_start`:
/// the enter may be missing.
pub fn check(
    process: &Process,
    told: &HashSet<Name>,
    names: &mut Names,
    open_at_start: bool,
    verdict: &mut Verdict,
) -> Result<(), Error> {
    for thread in process.threads() {
        let mut entered = None;
        for event in thread.events() {
            let event = event?;
            match event.kind {
                EventKind::Enter { function, .. } => {
                    entered = Some(names.function(function, event.time))
                        .filter(|name| told.contains(name))
                        .or(entered);
                }
                EventKind::Mark { text, .. } => {
                    let Some(truth) = Truth::parse(text) else {
                        continue;
                    };
                    let innermost = truth
                        .path()
                        .next_back()
                        .map(|function| names.told(function));
                    // Once: another mark has an enter of its own.
                    let before = entered.take();
                    if innermost != before && !(open_at_start && before.is_none()) {
                        let before = before.map_or("no enter", |name| names.text(name));
                        verdict.misplaced(format_args!(
                            "{} ns, thread {}: {truth}, behind {before}",
                            event.time.0,
                            thread.number()
                        ));
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}
