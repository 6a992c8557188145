//! Trace directories: what is done with one, and what must hold whatever is in it.

use crate::{Files, scratch};
use heddle_trace_file::{
    Addr, CoroutineFrame, Damages, Error, EventKind, Nanos, Thread, Trace, recover,
};
use std::path::Path;

/// The files of a trace, by their numbers in an input.
pub const NAMES: [&str; 13] = [
    "heddle",
    "42/process",
    "42/modules",
    "42/events",
    "42/events-1",
    "42/buffer-2",
    "filters",
    "unrecorded",
    "43/process",
    "shapes",
    "42/objects-1",
    "switches",
    "42/allocation-1",
];

/// Reads a trace, collects what is in its buffers, and reads it again.
pub fn read(input: &[u8]) {
    let directory = scratch();
    Files::read(input).write(directory.path(), &NAMES);
    walk_all(directory.path());
    if recover(directory.path()).is_ok() {
        walk_all(directory.path());
    }
}

/// Reads all of a trace in every way there is.
pub fn walk_all(path: &Path) {
    let Ok(trace) = Trace::open(path) else {
        return;
    };
    let _ = (trace.filters(), trace.unrecorded(), trace.lost());
    if let Ok(Some(switches)) = trace.switches() {
        for tid in switches.threads() {
            let all = switches.of(tid, Nanos(0)..Nanos(u64::MAX));
            assert!(all.iter().all(|off| off.from < off.to));
            assert!(all.is_sorted_by_key(|off| off.from));
        }
    }
    for process in trace.processes() {
        let objects = process.objects().map_or(&[][..], |objects| &objects.all);
        assert!(objects.is_sorted_by_key(|object| object.number));
        let entries = process.allocation().map_or(&[][..], |all| &all.entries);
        for entry in entries {
            let all = entry.within(Nanos(0), Nanos(u64::MAX));
            assert!(entry.first <= entry.last && all <= entry.took);
        }
        let modules = process.modules();
        for module in modules.iter() {
            modules.find(module.start, module.loaded);
            modules.time_of(module.start, modules.generation(module.loaded));
        }
        let _ = modules.find(Addr(0x1010), Nanos(10));
        for thread in process.threads() {
            // An error is as good: what was given before it was in order.
            let _ = walk(thread);
            for event in thread.events().map_while(Result::ok) {
                if let EventKind::Values(values) = event.kind {
                    let shape = trace.shapes().get(values.shape);
                    let _ = shape.and_then(|shape| values.read(shape));
                }
            }
        }
    }
    let mut latest = Nanos(0);
    let _ = trace.in_order(|_, event| {
        assert!(event.time >= latest, "time runs backwards");
        latest = event.time;
        true
    });
}
/// Walks over a thread's events. What is given is consistent, and damage is passed over alike.
fn walk(thread: &Thread) -> Result<Damages, Error> {
    let mut events = thread.events();
    let mut latest = Nanos(0);
    let mut calls = 0;
    let mut frames = Vec::new();
    for event in events.by_ref() {
        let event = event?;
        assert!(event.time >= latest, "time runs backwards");
        latest = event.time;
        let call = matches!(event.kind, EventKind::Enter { .. } | EventKind::Exit { .. });
        calls += u64::from(call);
        frames.extend(captured(&event.kind));
    }
    let remarks = events.remarks();
    let dropped = remarks.dropped;
    let (counted, remarks) = thread.count()?;
    assert_eq!(
        (counted, remarks.dropped),
        (calls, dropped),
        "counted otherwise"
    );
    let (mut by_runs, mut frames_by_runs, mut damages) = (0, Vec::new(), Damages::default());
    for run in thread.runs() {
        let mut events = run.events();
        for event in events.by_ref() {
            let kind = event?.kind;
            frames_by_runs.extend(captured(&kind));
            by_runs += u64::from(matches!(
                kind,
                EventKind::Enter { .. } | EventKind::Exit { .. }
            ));
        }
        damages += &events.remarks().damages;
    }
    assert_eq!(
        damages, remarks.damages,
        "runs have other damage than their thread"
    );
    assert_eq!(by_runs, calls, "runs hold other events than their thread");
    assert_eq!(
        frames_by_runs, frames,
        "runs hold other captures than their thread"
    );
    Ok(damages)
}

fn captured(kind: &EventKind) -> Option<CoroutineFrame> {
    match kind {
        EventKind::Enter { frame, .. } => *frame,
        _ => None,
    }
}
