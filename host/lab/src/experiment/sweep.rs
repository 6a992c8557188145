use heddle_results::{Value, Values};
use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};

/// Most points of a sweep: with two models and 20 samples of 10 ms each, an hour.
pub(super) const MOST_POINTS: usize = 10_000;

/// One entry of a sweep: the product of its parameters' values.
pub type Sweep = BTreeMap<String, OneOrMany>;

/// A value, or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// Several.
    Many(Vec<Value>),
    /// One.
    One(Value),
}

impl OneOrMany {
    /// The values.
    pub fn values(&self) -> &[Value] {
        match self {
            Self::Many(values) => values,
            Self::One(value) => std::slice::from_ref(value),
        }
    }
}

/// The union of the entries' products, in the order written, none twice.
pub(super) fn points(sweep: &[Sweep]) -> Vec<Values> {
    let mut points: Vec<Values> = Vec::new();
    let mut seen = HashSet::new();
    for entry in sweep {
        let mut product = vec![Values::new()];
        for (name, values) in entry {
            product = product
                .iter()
                .flat_map(|point| {
                    values.values().iter().map(|value| {
                        let mut point = point.clone();
                        point.insert(name.clone(), value.clone());
                        point
                    })
                })
                .collect();
        }
        for point in product {
            if seen.insert(key(&point)) {
                points.push(point);
            }
        }
    }
    if points.is_empty() {
        points.push(Values::new());
    }
    points
}

/// Equal for equal points: 1 and 1.0 are the same number.
fn key(point: &Values) -> String {
    let words = point.iter().map(|(name, value)| match value.as_f64() {
        Some(number) => format!("{name}={number:?}\0"),
        None => format!("{name}={value}\0"),
    });
    words.collect()
}

/// How many points the entries have, before those that are there twice are dropped.
pub(super) fn size(sweep: &[Sweep]) -> usize {
    let product = |entry: &Sweep| {
        entry.values().fold(1, |size: usize, values| {
            size.saturating_mul(values.values().len())
        })
    };
    sweep.iter().map(product).fold(0, usize::saturating_add)
}

/// Whether a point has these values.
pub(crate) fn has(point: &Values, values: &Values) -> bool {
    values
        .iter()
        .all(|(name, value)| point.get(name).is_some_and(|other| equal(other, value)))
}

/// Whether two parameter values are the same: 1000 is 1000.0.
fn equal(a: &Value, b: &Value) -> bool {
    a == b || matches!((a.as_f64(), b.as_f64()), (Some(a), Some(b)) if a == b)
}
