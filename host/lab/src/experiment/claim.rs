use super::range::Range;
use heddle_results::{Kind, Values};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A statement of a source that a measurement can confirm or refute, a question of ours, or a goal.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Id.
    pub id: String,
    /// Whose it is.
    pub kind: Kind,
    /// The source's words, verbatim; of a question what it asks; of a goal, ours.
    pub words: String,
    /// An excerpt of the words, for where there is little room.
    pub short: Option<String>,
    /// What the words say of a ratio or a slope; none: the form has one meaning.
    pub says: Option<Says>,
    /// What the source prints, if it prints a figure.
    pub figure: Option<String>,
    /// Whether the figure is in percent.
    pub percent: bool,
    /// The part of the statement that it is, where the file has several; else empty.
    pub part: String,
    /// How we read the source's words, in one line; empty for what is ours.
    pub reading: String,
    /// What is computed.
    pub form: Form,
    /// The metric or counter that is meant; unset: the experiment's metric.
    pub metric: Option<String>,
    /// Values of swept parameters.
    pub at: Values,
    /// Ranges of swept parameters.
    pub over: BTreeMap<String, Range>,
    /// Where the claim holds; of a table, the range round the bounds of all its cells.
    pub bound: Range,
    /// Counters to print beside the verdict.
    pub why: Vec<String>,
}

/// What the words claim of a ratio or a slope, so that its bound can be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Says {
    /// That there is one: a ratio is not 1, a slope not 0.
    Difference,
    /// That there is none worth mentioning.
    Sameness,
    /// A figure, which the source prints.
    Figure,
    /// That a cost grows in proportion: a slope of 1.
    Linear,
}

/// The forms of a claim, each with its own fields.
#[derive(Clone, Debug)]
pub enum Form {
    /// Ratio of two models' medians, at a point or over a range.
    Ratio(Pair),
    /// Ratio of a model's median to its own under other parameters.
    Settings(Settings),
    /// A ratio in each cell of a table that the source prints.
    Table(Vec<TableCell>),
    /// A model's median itself, in the metric's unit: sizes and counts, which do not depend on the
    /// machine.
    Value(Single),
    /// Slope of log(metric) over log(parameter).
    Slope(Slope),
    /// The same of the ratio of two models.
    RatioSlope(Trend),
    /// The size where two models swap.
    Crossover(Trend),
    /// The size from which on one model's line, cost once + cost of each · size, is above
    /// another's.
    Lines(Trend),
    /// The same, where a third model tells a part of the cost of each from the rest.
    SplitLines(SplitLines),
    /// How much of the difference between two models an account explains, cost of each · count for
    /// each of some counters.
    Account(Account),
}

/// Two models.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The model above the line.
    pub numerator: String,
    /// The model below the line.
    pub denominator: String,
}

/// A cell of a printed table.
#[derive(Clone, Debug)]
pub struct TableCell {
    /// The table's claim for this cell alone: a ratio at a point, with a figure and a bound.
    pub claim: Claim,
    /// The swept parameters that its row names.
    pub at: Values,
}

/// One model under two settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The model.
    pub model: String,
    /// The parameters that are others below the line.
    pub against: Values,
}

/// One model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Single {
    /// The model.
    pub model: String,
}

/// One model along a swept parameter.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slope {
    /// The model.
    pub model: String,
    /// The swept parameter.
    pub along: String,
}

/// Two models along a swept parameter.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trend {
    /// The model above the line.
    pub numerator: String,
    /// The model below the line.
    pub denominator: String,
    /// The swept parameter.
    pub along: String,
}

/// Two models along a swept parameter, and the first without a part of its cost of each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitLines {
    /// The model above the line.
    pub numerator: String,
    /// The model below the line.
    pub denominator: String,
    /// The numerator without that part.
    pub without: String,
    /// The swept parameter.
    pub along: String,
    /// What the source calls the numerator's cost once, the part of its cost of each that `without`
    /// does not have, the
    /// rest of it, and the denominator's cost once.
    pub terms: Option<[String; 4]>,
}

/// Two models and the counters whose costs are fitted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// The model whose cost is explained.
    pub numerator: String,
    /// The model that it is compared with.
    pub denominator: String,
    /// The counters.
    pub terms: Vec<String>,
}

impl Form {
    /// The models that it speaks of: above the line, below it, and the one that splits a cost. Of a
    /// table, each once.
    pub fn models(&self) -> Vec<&str> {
        match self {
            Self::Ratio(Pair {
                numerator,
                denominator,
            })
            | Self::RatioSlope(Trend {
                numerator,
                denominator,
                ..
            })
            | Self::Crossover(Trend {
                numerator,
                denominator,
                ..
            })
            | Self::Lines(Trend {
                numerator,
                denominator,
                ..
            })
            | Self::Account(Account {
                numerator,
                denominator,
                ..
            }) => vec![numerator, denominator],
            Self::SplitLines(SplitLines {
                numerator,
                denominator,
                without,
                ..
            }) => vec![numerator, denominator, without],
            Self::Table(cells) => {
                let mut models: Vec<&str> = Vec::new();
                for model in cells.iter().flat_map(|cell| cell.claim.form.models()) {
                    if !models.contains(&model) {
                        models.push(model);
                    }
                }
                models
            }
            Self::Settings(Settings { model, .. })
            | Self::Value(Single { model })
            | Self::Slope(Slope { model, .. }) => vec![model],
        }
    }

    /// The swept parameter that it goes along, if it does.
    pub fn along(&self) -> Option<&str> {
        match self {
            Self::Slope(Slope { along, .. })
            | Self::RatioSlope(Trend { along, .. })
            | Self::Crossover(Trend { along, .. })
            | Self::Lines(Trend { along, .. })
            | Self::SplitLines(SplitLines { along, .. }) => Some(along),
            Self::Ratio(_)
            | Self::Settings(_)
            | Self::Table(_)
            | Self::Value(_)
            | Self::Account(_) => None,
        }
    }
}

impl Settings {
    /// The point of a sweep that is below the line where `point` is above it: the same but for
    /// `against`.
    pub fn partner(&self, point: &Values, sweep: &[Values]) -> Option<Values> {
        let mut other = point.clone();
        other.extend(self.against.clone());
        let same = |point: &&Values| point.len() == other.len() && super::has(&other, point);
        sweep.iter().find(same).cloned()
    }
}

impl Claim {
    /// Whether a point of the sweep belongs to the claim.
    pub fn covers(&self, point: &Values) -> bool {
        super::has(point, &self.at)
            && self
                .over
                .iter()
                .all(|(name, range)| point.get(name).is_some_and(|value| range.holds(value)))
    }
}
