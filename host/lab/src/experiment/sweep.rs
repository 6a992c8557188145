use super::claim::equal;
use heddle_results::{Value, Values};
use serde::Deserialize;
use std::collections::BTreeMap;

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
            if !points.iter().any(|other| same(other, &point)) {
                points.push(point);
            }
        }
    }
    if points.is_empty() {
        points.push(Values::new());
    }
    points
}

fn same(a: &Values, b: &Values) -> bool {
    a.len() == b.len()
        && a.iter()
            .all(|(name, value)| b.get(name).is_some_and(|other| equal(value, other)))
}
