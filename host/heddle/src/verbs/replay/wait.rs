//! What replay says of waits (`heddle record --sync`).

use crate::names::Names;
use crate::waits::{Describe, Labels};
use heddle_trace_file::{Error, Event, EventKind, Nanos, ObjectKind, Place, Trace};
use std::collections::HashMap;

/// Makes lines of the events that tell of waits.
pub struct WaitLines<'a> {
    describe: Describe<'a>,
    labels: Labels,
    /// When the waits began that have not ended, by process and thread; a handler may wait within
    /// one.
    begun: HashMap<(usize, usize), Vec<Nanos>>,
}

impl<'a> WaitLines<'a> {
    /// Of a trace of which nothing was told yet.
    ///
    /// # Errors
    /// What reading the trace gives.
    pub fn new(trace: &'a Trace, names: &mut Names<'_>) -> Result<Self, Error> {
        Ok(WaitLines {
            describe: Describe::new(trace),
            labels: Labels::of_all(trace, names)?,
            begun: HashMap::new(),
        })
    }

    /// The two parts of the event's line, if it is of a wait.
    pub fn line(
        &mut self,
        names: &mut Names<'_>,
        place: Place,
        event: &Event<'_>,
    ) -> Option<(&'static str, String)> {
        let process = place.process;
        let of_thread = (process, place.thread);
        match event.kind {
            EventKind::Wait(wait) => {
                let begun = self.begun.entry(of_thread).or_default();
                begun.push(event.time);
                let label = self.labels.of_wait(process, wait);
                let holder = wait.holder().filter(|holder| !holder.released);
                let name = |tid| self.describe.thread_name(process, tid, event.time);
                let words = match (holder, wait.kind) {
                    (Some(holder), ObjectKind::Thread) => {
                        format!("for the end of {}", name(holder.tid))
                    }
                    (Some(holder), _) if wait.is_for_lock() => {
                        let by = name(holder.tid);
                        let function = self.describe.holder(names, process, &holder, event.time);
                        match &*function {
                            "?" => format!("for {label}, held by {by}"),
                            _ => format!("for {label}, held by {by} ({function})"),
                        }
                    }
                    _ if wait.readers() > 1 => {
                        format!("for {label}, held by {} readers", wait.readers())
                    }
                    _ => format!("for {label}"),
                };
                Some(("Waits", words))
            }
            EventKind::WaitEnded { error, .. } => {
                let begun = self.begun.get_mut(&of_thread).and_then(Vec::pop);
                let took = match begun {
                    Some(begun) => format!("after {}", event.time - begun),
                    // It began before the time that is shown, or that was kept.
                    None => "after a wait whose beginning is not there".to_owned(),
                };
                let how = match error {
                    0 | -1 => "",
                    libc::ETIMEDOUT => ": time-out",
                    libc::EINTR => ": interrupted",
                    libc::ECANCELED => ": cancelled",
                    libc::EOWNERDEAD => ": its holder has died",
                    _ => ": an error",
                };
                Some(("Goes on", format!("{took}{how}")))
            }
            EventKind::Wake { number, .. } => {
                let label = self.labels.of(process, number)?;
                Some(("Wakes", format!("those that wait for {label}")))
            }
            _ => None,
        }
    }
}
