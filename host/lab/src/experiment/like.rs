use super::Experiment;
use heddle_results::{Like, Value, Values, WaitsOn};
use serde::Deserialize;

/// What kind of work an experiment is, for those who choose by what theirs is like.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Nature {
    /// What strands wait for.
    pub waits_on: WaitsOn,
    /// How many are alive: a number, or the parameter that says it.
    pub alive: Value,
    /// How often one waits in the time that the metric is of: a number, or the parameter that says
    /// it. Unset: the metric says nothing of the time between two waits.
    pub waits: Option<Value>,
}

impl Nature {
    /// Its numbers, which may name parameters.
    pub fn numbers(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        let waits = self.waits.as_ref().map(|waits| ("waits", waits));
        std::iter::once(("alive", &self.alive)).chain(waits)
    }

    /// What the work is like with these parameters, where the best model takes so long.
    pub fn like(&self, params: &Values, best: Option<f64>) -> Option<Like> {
        let number = |value: &Value| match value {
            Value::String(name) => params.get(name)?.as_f64(),
            number => number.as_f64(),
        };
        let alive = number(&self.alive)?;
        let waits = self.waits.as_ref().and_then(number);
        let work_ns = best.zip(waits).map(|(best, waits)| best / waits);
        Some(Like {
            waits_on: self.waits_on,
            alive,
            work_ns: work_ns.filter(|work| work.is_finite() && *work > 0.0),
        })
    }
}

impl Experiment {
    /// Whether the metric is a time, from which the work between two waits can be told.
    pub fn times(&self) -> bool {
        self.metric.unit == "ns" && self.metric.better == heddle_results::Better::Lower
    }
}
