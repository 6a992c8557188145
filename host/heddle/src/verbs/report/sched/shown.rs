//! What all formats show of strands.

use crate::sched::Group;

/// `thread #3 worker`, `coroutine ×5 order(int)`.
pub fn label(group: &Group) -> String {
    let kind = group.kind.name();
    match &group.label {
        Some(label) => format!("{kind} #{label} {}", group.name),
        None => format!("{kind} \u{d7}{} {}", group.strands, group.name),
    }
}
