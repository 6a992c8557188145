use crate::command::plain;
use crate::experiment::Experiment;
use crate::run::Cell;
use heddle_results::{ProcessUsage, Status, Value, Values};
use heddle_stats::{FEWEST_ROUNDS, Resampled, median, ratio};
use std::collections::BTreeMap;

/// A cell with what its samples say.
pub struct Judged<'a> {
    /// Number of the cell in the plan.
    pub index: usize,
    /// The cell.
    pub cell: &'a Cell,
    /// Its place on the axis.
    pub x: Option<f64>,
    /// Its good samples, resampled; none if there are none.
    pub resampled: Option<Resampled>,
    /// Median of every counter over the good samples.
    pub counters: BTreeMap<String, f64>,
}

impl<'a> Judged<'a> {
    /// Judges a cell by a metric or a counter.
    pub fn new(
        index: usize,
        cell: &'a Cell,
        experiment: &Experiment,
        metric: &str,
        seed: u64,
    ) -> Self {
        let values = cell.values(metric);
        let x = experiment
            .axis
            .as_ref()
            .and_then(|axis| cell.point.get(axis)?.as_f64());
        // The samples are one of each round if none is missing.
        let in_rounds = values.len() >= FEWEST_ROUNDS && values.len() == cell.samples.len();
        let resampled = match in_rounds {
            true => Resampled::in_rounds(&values, seed),
            false => Resampled::new(&values, cell_seed(seed, &experiment.id, cell)),
        };
        Self {
            index,
            cell,
            x,
            resampled,
            counters: counters(cell),
        }
    }

    /// The samples, if all were good: a model that hangs or errs now and then has no claim to a
    /// median.
    pub fn sound(&self) -> Option<&Resampled> {
        if self.cell.failures().is_empty() {
            self.resampled.as_ref()
        } else {
            None
        }
    }

    /// The cell as it stands in the report; `base` is the cell that the table sets it against.
    pub fn to_cell(&self, experiment: &Experiment, base: Option<&Self>) -> heddle_results::Cell {
        let column = |name: &String| median(&self.cell.values(name));
        let to_base = || ratio(self.sound()?, base?.sound()?);
        heddle_results::Cell {
            x: self.x,
            point: self.cell.point.clone(),
            values: self.cell.values(&experiment.metric.name),
            median: self.resampled.as_ref().map(|resampled| resampled.median),
            counters: self.counters.clone(),
            fixed: fixed(self.cell),
            to_base: to_base(),
            columns: experiment.columns.iter().map(column).collect(),
            failures: self.cell.failures(),
            traced: self.cell.traced().cloned(),
        }
    }
}

/// The parameters that are not swept.
fn fixed(cell: &Cell) -> Values {
    let is_fixed = |(name, _): &(&String, &Value)| !cell.point.contains_key(*name);
    let fixed = cell.params.iter().filter(is_fixed);
    fixed.map(|(name, it)| (name.clone(), it.clone())).collect()
}

/// A cell of few samples has a generator of its own, so that what one cell says doesn't depend on
/// which others ran. FNV-1a, because the standard library's hash may change from one release to the
/// next.
fn cell_seed(seed: u64, experiment: &str, cell: &Cell) -> u64 {
    let point = cell
        .point
        .iter()
        .map(|(name, value)| format!("{name}={value};"))
        .collect::<String>();
    let text = format!("{seed}|{experiment}|{}|{point}", cell.model);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Medians of the program's own counters, and of the kernel's where the program doesn't print them.
fn counters(cell: &Cell) -> BTreeMap<String, f64> {
    let mut columns: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for sample in cell
        .samples
        .iter()
        .filter(|sample| sample.status == Status::Ok)
    {
        let kernel = kernel_counters(&sample.process);
        let added = kernel
            .iter()
            .filter(|(name, _)| !sample.counters.contains_key(*name))
            .map(|(name, value)| (*name, *value));
        for (name, value) in sample
            .counters
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .chain(added)
        {
            columns.entry(name.to_owned()).or_default().push(value);
        }
    }
    columns
        .into_iter()
        .filter_map(|(name, values)| Some((name, median(&values)?)))
        .collect()
}

fn kernel_counters(usage: &ProcessUsage) -> [(&'static str, f64); 5] {
    [
        ("user_ns", usage.user_ns as f64),
        ("sys_ns", usage.sys_ns as f64),
        ("peak_rss_bytes", usage.peak_rss_bytes as f64),
        ("voluntary_switches", usage.voluntary_switches as f64),
        ("involuntary_switches", usage.involuntary_switches as f64),
    ]
}

/// Parameters for people: `-O2` as a compiler spells it, others `name=value`.
pub fn label(at: &Values) -> String {
    let one = |(name, value): (&String, &heddle_results::Value)| match (name.as_str(), plain(value))
    {
        ("opt", value) if value.starts_with('O') => format!("-{value}"),
        (name, value) => format!("{name}={value}"),
    };
    at.iter().map(one).collect::<Vec<_>>().join(", ")
}
