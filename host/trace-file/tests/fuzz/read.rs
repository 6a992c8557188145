//! What is done with a trace, and what must hold whatever is in it.

use heddle_trace_file::{
    Addr, CoroutineFrame, Damages, Error, EventKind, Nanos, Thread, Trace, recover,
};
use std::path::Path;

/// Reads all of it in every way there is, and collects it if asked to. The answer has no numbers in
/// it, so that there are few.
pub fn everything(path: &Path, collect: bool) -> String {
    let mut answer = read(path);
    if collect {
        let collected = match recover(path) {
            Ok(collected) => format!("collected, trouble: {}", collected.trouble.is_some()),
            Err(error) => said(&error),
        };
        answer = format!("{answer}; {collected}; {}", read(path));
    }
    answer
}

fn read(path: &Path) -> String {
    let trace = match Trace::open(path) {
        Ok(trace) => trace,
        Err(error) => return said(&error),
    };
    let mut answer = "read".to_owned();
    for process in trace.processes() {
        if let Some(damage) = &process.damages().first {
            answer = said(&damage.clone().into());
        }
        let modules = process.modules();
        for module in modules.iter() {
            modules.find(module.start, module.loaded);
            modules.time_of(module.start, modules.generation(module.loaded));
        }
        let _ = modules.find(Addr(0x1010), Nanos(10));
        for thread in process.threads() {
            let found = walk(thread);
            if let Some(damage) = found.map_err(|error| error.to_string()).unwrap().first {
                answer = said(&damage.into());
            }
        }
    }
    let mut latest = Nanos(0);
    // An error is as good: what was given before it was in order.
    let _ = trace.in_order(|_, event| {
        assert!(event.time >= latest, "time runs backwards");
        latest = event.time;
        true
    });
    answer
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
    assert_eq!(thread.count()?, (calls, dropped), "counted otherwise");
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

/// An error without its path and its numbers; what was found is left out too.
fn said(error: &Error) -> String {
    let text = match error {
        Error::Damaged { path, what, .. } => {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            let what = what.split([',', '`']).next().unwrap_or_default();
            format!("{file}: {what}")
        }
        Error::Io { cause, .. } => format!("{:?}", cause.kind()),
        other => format!("{other:?}")
            .split('(')
            .next()
            .unwrap_or_default()
            .to_owned(),
    };
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}
