//! What strands wait for at the end, and whether they wait for one another.

use super::key::Key;
use super::names::Describe;
use crate::names::Names;
use heddle_strands::StrandId;
use heddle_trace_file::{Addr, Holder, Nanos, ObjectKind, Objects};
use std::collections::HashMap;
use std::rc::Rc;

/// A strand whose wait had not ended.
#[derive(Clone, Debug)]
pub struct Blocked {
    pub strand: StrandId,
    /// The thread that it blocks; `None`: its runtime runs others.
    pub thread: Option<usize>,
    /// `thread worker #2`.
    pub label: Rc<str>,
    pub since: Nanos,
    /// In which it waits.
    pub function: Rc<str>,
    /// What the object is; `None`: what the runtime says.
    pub kind: Option<ObjectKind>,
    pub key: Option<Key>,
    pub address: Addr,
    /// As the record of the wait has it; [`complete`] looks who has it at the end.
    pub holder: Option<Holder>,
    /// The object's name.
    pub object: String,
    pub timed: bool,
    pub writes: bool,
    /// The holder, and the index of its thread, where something of it is recorded.
    pub held_by: Option<(String, Option<usize>)>,
    /// Where the holder took it.
    pub taken_in: Option<Rc<str>>,
    /// Of a condition, the operations that found nobody waiting.
    pub unmet: u64,
}

/// Fills in names, and who has each object at the end.
pub fn complete(
    blocked: &mut [Blocked],
    counted: &[Objects],
    names: &mut Names<'_>,
    describe: &Describe<'_>,
) {
    for wait in blocked.iter_mut() {
        let (Some(key), Some(kind)) = (wait.key, wait.kind) else {
            continue;
        };
        let process = wait.strand.process();
        let object = match key {
            Key::Number(_, number) => {
                let all = &counted[process].all;
                let found = all.binary_search_by_key(&number, |object| object.number);
                found.ok().map(|index| all[index])
            }
            Key::Address(..) => None,
        };
        let fallback = object.map_or((false, 0), |object| (object.made, object.site));
        wait.object = describe.object(names, key, kind, wait.address, fallback);
        wait.unmet = object.map_or(0, |object| object.unmet);
        let holder = match kind {
            // A semaphore and a condition have none, but who took it last may be whom all wait for.
            ObjectKind::Condition | ObjectKind::Barrier | ObjectKind::Futex => None,
            ObjectKind::Thread => wait.holder,
            _ => object.and_then(|object| object.holder).or(wait.holder),
        };
        wait.holder = holder.filter(|holder| !holder.released);
        let Some(holder) = wait.holder else { continue };
        let end = Nanos(u64::MAX);
        let thread = describe.thread(process, holder.tid, end);
        let name = describe.thread_name(process, holder.tid, end);
        wait.held_by = Some((name, thread));
        if kind != ObjectKind::Thread {
            wait.taken_in = Some(describe.holder(names, process, &holder, end));
        }
    }
    blocked.sort_by_key(|wait| (wait.strand, wait.since));
}

/// Indices of strands each of which waits for what the next one has; the last for what the first
/// has.
pub type Cycle = Vec<usize>;

/// The circles among the waits. A thread waits for one thing at a time, so each is in one circle at
/// most.
pub fn cycles(blocked: &[Blocked]) -> Vec<Cycle> {
    let mut of_thread: HashMap<(usize, usize), usize> = HashMap::new();
    for (index, wait) in blocked.iter().enumerate() {
        if let Some(thread) = wait.thread {
            // A handler's wait is the innermost, and the latest.
            of_thread.insert((wait.strand.process(), thread), index);
        }
    }
    let next = |index: usize| {
        let wait = &blocked[index];
        let (_, thread) = wait.held_by.as_ref()?;
        of_thread.get(&(wait.strand.process(), (*thread)?)).copied()
    };
    let mut cycles = Vec::new();
    let mut seen = vec![0; blocked.len()];
    for begin in 0..blocked.len() {
        let mark = begin + 1;
        let mut at = Some(begin);
        while let Some(index) = at.filter(|&index| seen[index] == 0) {
            seen[index] = mark;
            at = next(index);
        }
        let Some(first) = at.filter(|&index| seen[index] == mark) else {
            continue;
        };
        let mut cycle = vec![first];
        let mut at = next(first);
        while let Some(index) = at.filter(|&index| index != first) {
            cycle.push(index);
            at = next(index);
        }
        cycles.push(cycle);
    }
    cycles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(holders: &[Option<usize>]) -> Vec<Blocked> {
        let wait = |(thread, holder): (usize, &Option<usize>)| Blocked {
            strand: StrandId::of_thread(0, thread),
            thread: Some(thread),
            label: "".into(),
            since: Nanos(0),
            function: "".into(),
            kind: Some(ObjectKind::Mutex),
            key: None,
            address: Addr(0),
            holder: None,
            object: String::new(),
            timed: false,
            writes: false,
            held_by: holder.map(|holder| (String::new(), Some(holder))),
            taken_in: None,
            unmet: 0,
        };
        holders.iter().enumerate().map(wait).collect()
    }

    #[test]
    fn circles_are_found_and_who_only_waits_for_one_is_in_none() {
        assert_eq!(cycles(&waits(&[])), Vec::<Cycle>::new());
        assert_eq!(cycles(&waits(&[Some(0)])), [vec![0]]);
        assert_eq!(
            cycles(&waits(&[Some(1), Some(2), Some(0)])),
            [vec![0, 1, 2]]
        );
        let tail = waits(&[Some(1), Some(2), Some(1), Some(7), None, Some(4)]);
        assert_eq!(cycles(&tail), [vec![1, 2]]);
    }
}
