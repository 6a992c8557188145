//! What is said of other models.

use super::lock::Advice;
use super::models::{self, Counted, Operations, Prediction, Range};
use crate::names::Names;
use crate::notes::counted;
use crate::sched::{self, Stretches};
use crate::waits::Waits;
use anyhow::bail;
use heddle_compare::costs::{Costs, measure, measure_life};
use heddle_strands::Kind;
use heddle_trace_file::{Nanos, Trace};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where costs are looked for that were not asked for.
const REPORT: &str = "report";

/// What holds for all predictions.
const ASSUMED: [&str; 3] = [
    "the work takes as long as it does, and as many operations have to wait without the recorder",
    "an operation costs a third to twice what it does in a loop, as in the lab's programs",
    "a strand that waits is woken when it can go on; it does not look again and again",
];
/// Limits must not pass for more than they are.
const LIMITS: &str = "limits are those of costs: other assumptions can be wrong by more";
/// The kernel may switch to each thread that is woken, too.
const NOT_RECORDED: &str =
    "threads lose their processor only where they wait: heddle record --sched tells";
const MUTEXES: &str = "mutexes and spin locks cost what semaphores do";

/// What is said of all processes, and by which costs.
pub struct Told {
    place: PathBuf,
    processors: u64,
    pub processes: Vec<Process>,
}

/// What is said of one process.
pub struct Process {
    pid: u32,
    counted: Counted,
    /// Nothing of the run is missing: what was counted is all.
    whole: bool,
    found: Result<Prediction, String>,
    /// Processor time of all threads, the recorder's within them included; `None`: not recorded.
    running: Option<Nanos>,
}

impl Told {
    /// Predicts by the costs at a place, or else in `report`. `whole`: nothing of the run is
    /// missing.
    ///
    /// # Errors
    /// There is no such place, or what is there cannot be read.
    pub fn new(
        trace: &Trace,
        found: &Waits,
        advice: &[Advice<'_>],
        off: Option<&Stretches>,
        place: Option<&Path>,
        whole: bool,
    ) -> anyhow::Result<Self> {
        let costs = Costs::read(place.unwrap_or(Path::new(REPORT)))?;
        if let (Some(place), None) = (place, &costs) {
            bail!(
                "there are no samples in {}: {} takes them",
                place.display(),
                measure()
            );
        }
        let costs = costs.unwrap_or_default();
        let running = match off {
            Some(_) => running(trace)?,
            None => BTreeMap::new(),
        };
        let whole = whole && found.counted;
        let mut processes: Vec<Process> = Vec::new();
        for pid in trace.processes().iter().map(|process| process.pid()) {
            if processes.iter().any(|process| process.pid == pid) {
                continue;
            }
            let all = trace.processes().iter().enumerate();
            let own = all.filter(|(_, process)| process.pid() == pid);
            let threads = own.clone().map(|(index, process)| {
                off.map_or(process.threads().len(), |off| off.lived(index))
            });
            let made: usize = threads.map(|lived| lived.saturating_sub(1)).sum();
            let mut counted = models::count(pid, &found.locks, advice, made as u64);
            counted.preempted = off.map(|off| own.map(|(index, _)| off.preempted(index)).sum());
            processes.push(Process {
                pid,
                found: predicted(&counted, &costs, whole),
                counted,
                whole,
                running: running.get(&pid).copied(),
            });
        }
        Ok(Told {
            place: place.unwrap_or(Path::new(REPORT)).to_owned(),
            processors: std::thread::available_parallelism().map_or(1, |count| count.get() as u64),
            processes,
        })
    }

    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        for process in &self.processes {
            write!(out, "\nother models")?;
            if self.processes.len() > 1 {
                write!(out, " of process {}", process.pid)?;
            }
            match &process.found {
                Err(why) => writeln!(out, ": not known: {why}")?,
                Ok(found) => {
                    writeln!(
                        out,
                        ", by what operations cost here ({})",
                        self.place.display()
                    )?;
                    process.print(out, found, self.processors)?;
                }
            }
        }
        Ok(())
    }

    pub fn json(&self) -> Vec<Value> {
        let one = |process: &Process| process.json(self.processors);
        self.processes.iter().map(one).collect()
    }
}

fn predicted(counted: &Counted, costs: &Costs, whole: bool) -> Result<Prediction, String> {
    if !whole {
        return Err("parts of the run are not recorded".into());
    }
    if counted.goes == Operations::default() && counted.stays == Operations::default() {
        return Err(
            "no semaphore, mutex or spin lock was used, and nothing else is predicted".into(),
        );
    }
    if costs.is_empty() && !costs.others.is_empty() {
        return Err(format!(
            "the costs are those of another machine ({}): {} measures them here",
            costs.others.join(", "),
            measure()
        ));
    }
    models::predict(counted, costs).map_err(|what| {
        let thin = match costs.thin.is_empty() {
            true => String::new(),
            false => format!(" (too few samples of {})", costs.thin.join(", ")),
        };
        format!(
            "{what} was not measured on this machine{thin}: {} measures it",
            measure()
        )
    })
}

/// Processor time by process, where it was recorded.
fn running(trace: &Trace) -> anyhow::Result<BTreeMap<u32, Nanos>> {
    let mut all = BTreeMap::new();
    let groups = sched::read(trace, Names::new(trace), None)?.groups;
    let unknown = |group: &sched::Group| group.split.of(sched::State::NotKnown).total > Nanos(0);
    let unknown: Vec<u32> = groups
        .iter()
        .filter(|it| unknown(it))
        .map(|it| it.process.pid)
        .collect();
    for group in groups {
        if unknown.contains(&group.process.pid) {
            continue;
        }
        if group.kind == Kind::Thread {
            let time = group.split.of(sched::State::Running).total;
            let sum = all.entry(group.process.pid).or_insert(Nanos(0));
            *sum = Nanos(sum.0.saturating_add(time.0));
        }
    }
    Ok(all)
}

impl Process {
    /// Processor time without the recorder's.
    fn own(&self, found: &Prediction) -> Result<Range, &'static str> {
        let running = self
            .running
            .ok_or(match self.counted.preempted {
                None => "heddle record --sched tells",
                Some(_) => "the latest switches of threads are missing",
            })?
            .0 as f64;
        let recorder = found
            .recorder
            .ok_or("what recording costs was not measured")?;
        let running = Range {
            value: running,
            low: running,
            high: running,
        };
        Ok(running - recorder)
    }

    /// Not more is saved than it takes in all.
    fn bounded(&self, found: &Prediction) -> Prediction {
        let own = self.own(found).map_or(f64::INFINITY, |own| own.high);
        let pcm = found.pcm.clone();
        Prediction {
            now: found.now.at_most(own),
            cm: found.cm.at_most(own),
            pcm: pcm.map(|(low, high)| (low, high.min(own))),
            ..*found
        }
    }

    fn assumed(&self) -> impl Iterator<Item = String> {
        let mutexes = self.counted.mutexes.then_some(MUTEXES);
        let lives = self.found.as_ref().is_ok_and(|found| found.lives);
        let lives = (!lives && self.counted.made > 0).then(|| {
            let measure = measure_life();
            format!("making and ending threads costs nothing: {measure} measures what it does")
        });
        let switches = self.counted.preempted.is_none().then_some(NOT_RECORDED);
        let all = ASSUMED.into_iter().chain(switches);
        all.chain(mutexes).map(str::to_owned).chain(lives)
    }

    fn print(&self, out: &mut dyn Write, found: &Prediction, processors: u64) -> io::Result<()> {
        let found = &self.bounded(found);
        let Counted { goes, stays, .. } = self.counted;
        let (free, waits) = (goes.free + stays.free, goes.waits + stays.waits);
        writeln!(
            out,
            "    as it is (CP): {} of processor time for {free} P that took at once, {waits} that waited, and V{}{}",
            with_limits(found.now),
            self.counted.preempted.map_or_else(String::new, |times| {
                format!(", and for {times} switches from threads that could run on")
            }),
            match found.lives && self.counted.made > 0 {
                true => format!(", and {} made", counted(self.counted.made, "thread")),
                false => String::new(),
            }
        )?;
        let own = self.own(found);
        match own {
            Ok(own) => writeln!(
                out,
                "        of {} in all, without the recorder's",
                with_limits(own)
            )?,
            Err(why) => writeln!(
                out,
                "        in all, without the recorder's: not known: {why}"
            )?,
        }
        let gone = goes.free + goes.waits;
        writeln!(
            out,
            "    one cooperative scheduler (CM): {}; {gone} P need not be, {} stay",
            saved(found.cm),
            stays.free + stays.waits
        )?;
        if let Ok(own) = own {
            let left = own - found.cm;
            // What a wait costs in a program differs from what it does in a loop, and where waits
            // are most of the time, what is left is not to be told from that: docs/advise.md.
            match left.value * 2.0 < own.value {
                true => writeln!(out, "        so at most {}", time(left.high))?,
                false => writeln!(out, "        so {}", with_limits(left))?,
            }
        }
        match &found.pcm {
            Err(why) => writeln!(
                out,
                "    groups on {processors} processors (PCM): not known: {why} was not measured on this machine: {} measures it",
                measure()
            )?,
            Ok((low, high)) => {
                writeln!(
                    out,
                    "    groups on {processors} processors (PCM): between {} and {}: which strands would be one group is not in a trace",
                    change(*low),
                    change(*high)
                )?;
                if let Ok(own) = own {
                    writeln!(
                        out,
                        "        so a run of {} to {}",
                        time((own.low - high).max(0.0) / processors as f64),
                        time(own.high - low)
                    )?;
                }
            }
        }
        if self.counted.unmeasured > 0 {
            writeln!(
                out,
                "    left out: {} for other things than semaphores, mutexes and spin locks, whose cost is not measured",
                counted(self.counted.unmeasured, "wait")
            )?;
        }
        writeln!(out, "    {LIMITS}")?;
        for each in self.assumed() {
            writeln!(out, "    assumed: {each}")?;
        }
        Ok(())
    }

    fn json(&self, processors: u64) -> Value {
        let found = self.found.as_ref().map(|found| self.bounded(found));
        let found = found.as_ref();
        let own = found.ok().and_then(|found| self.own(found).ok());
        let pcm = found.ok().and_then(|found| found.pcm.as_ref().ok());
        let all = |count: u64| self.whole.then_some(count);
        json!({
            "pid": self.pid,
            "not_known": found.err(),
            "p_free": all(self.counted.goes.free + self.counted.stays.free),
            "p_waited": all(self.counted.goes.waits + self.counted.stays.waits),
            "preempted": self.counted.preempted,
            "threads_made": self.counted.made,
            "p_that_can_go": all(self.counted.goes.free + self.counted.goes.waits),
            "waits_not_predicted": all(self.counted.unmeasured),
            "own_cpu_ns": own.map(range),
            "synchronisation_cpu_ns": found.ok().map(|found| range(found.now)),
            "recorder_cpu_ns": found.ok().and_then(|found| found.recorder).map(range),
            "cm_saves_cpu_ns": found.ok().map(|found| range(found.cm)),
            "pcm_saves_cpu_ns": pcm.map(|(low, high)| json!({ "low": low, "high": high })),
            "processors": processors,
            "assumed": self.assumed().collect::<Vec<_>>(),
        })
    }
}

fn range(range: Range) -> Value {
    json!({ "value": range.value, "low": range.low, "high": range.high })
}

/// `1.204 ms`, also below 0.
fn time(ns: f64) -> String {
    let sign = if ns < 0.0 { "\u{2212}" } else { "" };
    format!("{sign}{}", Nanos(ns.abs().round() as u64))
}

fn with_limits(range: Range) -> String {
    format!(
        "{} ({} to {})",
        time(range.value),
        time(range.low),
        time(range.high)
    )
}

/// `1.204 ms less`.
fn change(saved: f64) -> String {
    match saved < 0.0 {
        true => format!("{} more", time(-saved)),
        false => format!("{} less", time(saved)),
    }
}

fn saved(range: Range) -> String {
    format!(
        "{} ({} to {})",
        change(range.value),
        change(range.low),
        change(range.high)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_that_was_not_measured_comes_with_the_command_that_builds_and_measures() {
        let counted = Counted {
            stays: Operations {
                free: 10,
                waits: 2,
                gives: 10,
            },
            ..Counted::default()
        };
        let why = predicted(&counted, &Costs::default(), true).unwrap_err();
        let cost = "the cost of taking a lock or semaphore (P) in the model `thread`";
        assert!(
            why.starts_with(&format!("{cost} was not measured on this machine: `")),
            "{why}"
        );
        // The lab is built by ./dev; heddle compare builds nothing.
        assert!(
            why.contains("dev compare e10-costs s14-group-handoff s20-sync b2-spawn`"),
            "{why}"
        );
    }
}
