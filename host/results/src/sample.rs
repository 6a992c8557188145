use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A parameter's value: a number or a word.
pub type Value = serde_json::Value;

/// Named values; ordered, so that equal points compare and print equal.
pub type Values = BTreeMap<String, Value>;

/// How one run of a lab program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It ran and its oracle agreed.
    Ok,
    /// It ran and its oracle found a wrong result.
    Wrong,
    /// It was stopped at the time limit.
    Hung,
    /// It was ended by a signal, or by an exit code other than 0.
    Crashed,
    /// It ended well but printed no line that we understand.
    Garbage,
}

/// What the kernel says of the whole process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessUsage {
    /// From start to end, ns.
    pub wall_ns: u64,
    /// Processor time in user mode, ns.
    pub user_ns: u64,
    /// Processor time in the kernel, ns.
    pub sys_ns: u64,
    /// Peak resident memory, bytes.
    pub peak_rss_bytes: u64,
    /// Context switches because it waited.
    pub voluntary_switches: u64,
    /// Context switches because its time was up.
    pub involuntary_switches: u64,
}

/// What the machine was like while a sample was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Around {
    /// What it cost to wake a thread on another processor right before it, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_ns: Option<f64>,
    /// The clock rate right before it, cycles a ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ghz: Option<f64>,
    /// The share of the processors' time that the host gave to others meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal: Option<f64>,
    /// The share that other programs here used meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<f64>,
}

/// Where a sample was taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Host name.
    pub host: String,
    /// Processor model.
    pub cpu: String,
    /// Processors that we may use.
    pub cpus: u32,
    /// Memory, bytes.
    pub memory_bytes: u64,
    /// Kernel name and release.
    pub kernel: String,
    /// Distribution.
    pub system: String,
}

impl Machine {
    /// Whether both have as many processors of one name: times of other machines are not compared.
    pub fn is_like(&self, other: &Self) -> bool {
        self.cpu == other.cpu && self.cpus == other.cpus
    }
}

/// One run of a lab program: one line of `results.jsonl`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// Experiment id.
    pub experiment: String,
    /// Workload.
    pub workload: String,
    /// Model, `model` or `model/variant`.
    pub model: String,
    /// The swept parameters: where in the sweep this sample lies.
    pub point: Values,
    /// All parameters, swept and fixed.
    pub params: Values,
    /// Number of the sample in its cell, from 0.
    pub sample: u32,
    /// Number of the sample in the whole run, from 0: the order in which they were taken.
    pub order: u32,
    /// Seed of the run.
    pub seed: u64,
    /// When it was started, ns since 1970.
    pub started_ns: u64,
    /// How it ended.
    pub status: Status,
    /// What went wrong, if something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What the oracle compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<String>,
    /// The name of the code that ran, where the program says so; else it is the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<String>,
    /// The answer, or a checksum of it, which other models must give, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The command, as executed.
    pub command: Vec<String>,
    /// Metrics printed by the program.
    pub metrics: BTreeMap<String, f64>,
    /// Counters printed by the program.
    pub counters: BTreeMap<String, f64>,
    /// What the kernel says of the process.
    pub process: ProcessUsage,
    /// What the machine was like meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<Around>,
    /// The recorded run of the cell (`--trace`), which stands on its first sample alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traced: Option<crate::Traced>,
    /// Compiler and flags, as printed by the program.
    #[serde(default)]
    pub build: BTreeMap<String, String>,
    /// Where it ran.
    pub machine: Arc<Machine>,
}
