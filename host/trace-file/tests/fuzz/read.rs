//! What is done with a trace, and what must hold whatever is in it.

use heddle_trace_file::{Addr, CoroutineFrame, Error, EventKind, Nanos, Thread, Trace, recover};
use std::path::Path;

/// Reads all of it in every way there is, and collects it if asked to. The answer has no numbers in it, so that there are few.
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
        let modules = process.modules();
        for module in modules.iter() {
            modules.find(module.start, module.loaded);
            modules.time_of(module.start, modules.generation(module.loaded));
        }
        let _ = modules.find(Addr(0x1010), Nanos(10));
        for thread in process.threads() {
            if let Err(error) = walk(thread) {
                answer = said(&error);
            }
        }
    }
    let mut latest = Nanos(0);
    for event in trace.merged() {
        let Ok((_, event)) = event else { break };
        assert!(event.time >= latest, "time runs backwards");
        latest = event.time;
    }
    answer
}

/// Walks over a thread's events. What is given is consistent, and nothing comes after an error.
fn walk(thread: &Thread) -> Result<(), Error> {
    let mut events = thread.events();
    let mut latest = Nanos(0);
    let mut calls = 0;
    let mut frames = Vec::new();
    for event in events.by_ref() {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                assert!(events.next().is_none(), "an event after an error");
                assert!(
                    thread.count().is_err(),
                    "an error that counting does not meet"
                );
                return Err(error);
            }
        };
        assert!(event.time >= latest, "time runs backwards");
        latest = event.time;
        let call = matches!(event.kind, EventKind::Enter { .. } | EventKind::Exit { .. });
        calls += u64::from(call);
        frames.extend(captured(&event.kind));
    }
    let dropped = events.remarks().dropped;
    assert_eq!(thread.count()?, (calls, dropped), "counted otherwise");
    let (mut by_runs, mut frames_by_runs) = (0, Vec::new());
    for run in thread.runs() {
        for event in run.events() {
            let kind = event?.kind;
            frames_by_runs.extend(captured(&kind));
            by_runs += u64::from(matches!(
                kind,
                EventKind::Enter { .. } | EventKind::Exit { .. }
            ));
        }
    }
    assert_eq!(by_runs, calls, "runs hold other events than their thread");
    assert_eq!(
        frames_by_runs, frames,
        "runs hold other captures than their thread"
    );
    Ok(())
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
        Error::Io { source, .. } => format!("{:?}", source.kind()),
        other => format!("{other:?}")
            .split('(')
            .next()
            .unwrap_or_default()
            .to_owned(),
    };
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}
