//! What all formats show of strands.

use crate::sched::Group;

/// `thread #3 worker 4713`, `coroutine ×5 order(int)`; of several processes,
/// `thread #4711/3 worker 4713`, `4711/coroutine ×5 order(int)`.
pub fn label(group: &Group, several: bool) -> String {
    let kind = group.kind.name();
    let process = match several {
        true => format!("{}/", group.process),
        false => String::new(),
    };
    match &group.label {
        Some(label) => format!("{kind} #{label} {}", group.shown),
        None => format!("{process}{kind} \u{d7}{} {}", group.strands, group.shown),
    }
}
