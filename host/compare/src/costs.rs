//! Reads what operations of synchronisation cost on this machine from the samples of a finished
//! comparison; `heddle advise` predicts by these costs.

use crate::hints::building;
use anyhow::{Context, bail};
use heddle_lab::output::RAW;
use heddle_lab::run::machine;
use heddle_results::{Estimate, Machine, Status, Value, Values};
use heddle_stats::{FEWEST, Resampled};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

/// The experiments that measure all of them.
const ALL: &str = "e10-costs s14-group-handoff s20-sync b2-spawn";
/// The one that measures [`LIFE`].
const LIVES: &str = "b2-spawn";

/// The command that measures all of them.
pub fn measure() -> String {
    building(ALL)
}

/// The command that measures [`LIFE`].
pub fn measure_life() -> String {
    building(LIVES)
}

/// The operation that a strand of one group waits for another group's; its time is wall time, while
/// two processors are busy.
pub const BETWEEN: &str = "hand-over between groups";

/// The operation that makes a strand, runs it, and sees it end, one after the other.
pub const LIFE: &str = "life";

/// Bytes of a sample's line: ours have some 3000.
const LONGEST_LINE: u64 = 1 << 20;

/// One operation's processor time, ns, with its interval.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Cost {
    /// The median.
    pub value: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl From<Estimate> for Cost {
    fn from(estimate: Estimate) -> Self {
        Cost {
            value: estimate.value,
            low: estimate.low,
            high: estimate.high,
        }
    }
}

/// The costs that were measured on a machine like this one.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    known: BTreeMap<(String, String), Cost>,
    /// Cells that have fewer samples than an interval needs.
    pub thin: Vec<String>,
    /// The processors of other machines, whose samples were passed over.
    pub others: Vec<String>,
}

/// A line of `results.jsonl`, as far as it matters here.
#[derive(Deserialize)]
struct Line {
    workload: String,
    model: String,
    params: Values,
    status: Status,
    metrics: BTreeMap<String, f64>,
    machine: Machine,
}

impl Line {
    /// The operation that was measured, and what it took, if it is one of these. The two workloads
    /// have a hand-over each, on one processor and between two.
    fn measured(&self) -> Option<(&str, f64)> {
        let parameter = |name| self.params.get(name).and_then(|value| value.as_str());
        let (operation, metric) = match self.workload.as_str() {
            "sync-costs" => (parameter("operation")?, "op_cpu_ns"),
            "spawn" if self.params.get("outstanding").and_then(Value::as_f64) == Some(1.0) => {
                (LIFE, "strand_cpu_ns")
            }
            "group-speed" if parameter("row") == Some("handoff") => (BETWEEN, "op_ns"),
            _ => return None,
        };
        let value = self.metrics.get(metric).copied()?;
        (self.status == Status::Ok && value > 0.0).then_some((operation, value))
    }
}

impl Costs {
    /// Reads those of a report's directory; `None`: there are no samples.
    ///
    /// # Errors
    /// The samples cannot be read, or a line is none: with file and line.
    pub fn read(directory: &Path) -> anyhow::Result<Option<Self>> {
        Self::of_machine(directory, &machine())
    }

    fn of_machine(directory: &Path, here: &Machine) -> anyhow::Result<Option<Self>> {
        let path = directory.join(RAW);
        let file = match File::open(&path) {
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(None);
            }
            other => other.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let mut cells: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
        let mut costs = Costs::default();
        let mut reader = BufReader::new(file);
        let mut text = Vec::new();
        for number in 1.. {
            text.clear();
            let at = || format!("{}, line {number}", path.display());
            let mut limited = reader.by_ref().take(LONGEST_LINE);
            if limited.read_until(b'\n', &mut text).with_context(at)? == 0 {
                break;
            }
            if text.len() as u64 == LONGEST_LINE {
                bail!("{}: longer than {LONGEST_LINE} bytes", at());
            }
            let line: Line =
                serde_json::from_slice(&text).with_context(|| format!("{}: no sample", at()))?;
            let Some((operation, value)) = line.measured() else {
                continue;
            };
            if !line.machine.is_like(here) {
                if !costs.others.contains(&line.machine.cpu) {
                    costs.others.push(line.machine.cpu);
                }
                continue;
            }
            let cell = cells.entry((line.model.clone(), operation.to_owned()));
            cell.or_default().push(value);
        }
        for (cell, values) in cells {
            match Resampled::new(&values, 1).filter(|_| values.len() >= FEWEST) {
                Some(resampled) => _ = costs.known.insert(cell, resampled.median.into()),
                None => costs.thin.push(format!("{} {}", cell.0, cell.1)),
            }
        }
        Ok(Some(costs))
    }

    /// Gives what an operation (`p`, `v`, `handoff`, [`BETWEEN`], [`LIFE`]) costs a model, in ns,
    /// or `None` where that was not measured, or too rarely.
    pub fn of(&self, model: &str, operation: &str) -> Option<Cost> {
        let cell = (model.to_owned(), operation.to_owned());
        self.known.get(&cell).copied()
    }

    /// Those that somebody else has measured: model, operation, cost.
    pub fn known<'a>(all: impl Iterator<Item = (&'a str, &'a str, Cost)>) -> Self {
        let own = |(model, operation, cost): (&str, &str, Cost)| {
            ((model.to_owned(), operation.to_owned()), cost)
        };
        Costs {
            known: all.map(own).collect(),
            ..Costs::default()
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> Machine {
        Machine {
            cpu: "this".into(),
            cpus: 2,
            ..Machine::default()
        }
    }

    fn line(model: &str, operation: &str, value: f64, cpu: &str, status: &str) -> String {
        let machine = Machine {
            cpu: cpu.into(),
            ..here()
        };
        let line = serde_json::json!({
            "workload": "sync-costs",
            "model": model,
            "params": { "operation": operation },
            "status": status,
            "metrics": { "op_cpu_ns": value },
            "machine": machine,
        });
        format!("{line}\n")
    }

    fn read(text: &str) -> anyhow::Result<Option<Costs>> {
        let place = tempfile::tempdir()?;
        std::fs::write(place.path().join(RAW), text)?;
        Costs::of_machine(place.path(), &here())
    }

    #[test]
    fn a_cost_is_the_median_of_good_samples_of_this_machine() {
        let mut text = String::new();
        for value in [9.0, 10.0, 11.0, 10.0, 12.0, 8.0, 10.0] {
            text += &line("thread", "p", value, "this", "ok");
            text += &line("thread", "p", value * 100.0, "another", "ok");
            text += &line("thread", "p", value * 100.0, "this", "wrong");
        }
        let costs = read(&text).unwrap().unwrap();
        let cost = costs.of("thread", "p").unwrap();
        assert_eq!(cost.value, 10.0);
        assert!(cost.low >= 8.0 && cost.high <= 12.0, "{cost:?}");
        assert_eq!(costs.others, ["another"]);
        assert_eq!(costs.of("thread", "v"), None);
    }

    #[test]
    fn hand_overs_on_one_processor_and_between_two_are_two_operations() {
        let between = line("thread", "", 7000.0, "this", "ok")
            .replace("sync-costs", "group-speed")
            .replace("op_cpu_ns", "op_ns")
            .replace("\"operation\":\"\"", "\"row\":\"handoff\"");
        let text = line("thread", "handoff", 1000.0, "this", "ok") + &between;
        let costs = read(&text.repeat(FEWEST)).unwrap().unwrap();
        assert_eq!(costs.of("thread", "handoff").unwrap().value, 1000.0);
        assert_eq!(costs.of("thread", BETWEEN).unwrap().value, 7000.0);
    }

    #[test]
    fn a_life_is_of_strands_one_after_the_other() {
        let life = |outstanding: &str, value: f64| {
            line("thread", "", value, "this", "ok")
                .replace("sync-costs", "spawn")
                .replace("op_cpu_ns", "strand_cpu_ns")
                .replace(
                    "\"operation\":\"\"",
                    &format!("\"outstanding\":{outstanding}"),
                )
        };
        let text = life("1", 15_000.0) + &life("0", 30_000.0);
        let costs = read(&text.repeat(FEWEST)).unwrap().unwrap();
        assert_eq!(costs.of("thread", LIFE).unwrap().value, 15_000.0);
    }

    #[test]
    fn few_samples_are_no_cost() {
        let costs = read(&line("thread", "p", 5.0, "this", "ok").repeat(FEWEST - 1));
        let costs = costs.unwrap().unwrap();
        assert_eq!(costs.of("thread", "p"), None);
        assert_eq!(costs.thin, ["thread p"]);
    }

    #[test]
    fn what_is_no_sample_is_an_error_with_its_line() {
        let text = line("thread", "p", 5.0, "this", "ok") + "{\"workload\": 3}\n";
        let error = format!("{:#}", read(&text).unwrap_err());
        assert!(
            error.contains("results.jsonl, line 2: no sample"),
            "{error}"
        );
        let long = format!("\"{}\"", " ".repeat(LONGEST_LINE as usize));
        let error = format!("{:#}", read(&long).unwrap_err());
        assert!(error.contains("line 1: longer than"), "{error}");
    }

    #[test]
    fn a_place_without_samples_has_no_costs() {
        let place = tempfile::tempdir().unwrap();
        let found = Costs::of_machine(place.path(), &here()).unwrap();
        assert!(found.is_none());
    }
}
