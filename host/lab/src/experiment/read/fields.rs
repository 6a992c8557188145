use super::Wrong;
use super::series::text;
use crate::experiment::claim::{Claim, Form, Says};
use crate::experiment::printed::Printed;
use crate::experiment::range;
use crate::models::hint;
use heddle_results::{Kind, Values};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// What a claim of any form has. What is not here is its form's.
const COMMON: [&str; 14] = [
    "id", "words", "short", "asks", "part", "reading", "says", "figure", "form", "metric", "at",
    "over", "bound", "why",
];

/// What a claim has to quote its source, and a question does not.
const OF_CLAIMS: [&str; 5] = ["words", "short", "part", "reading", "figure"];

/// What claims of some forms have.
const FORMS: [&str; 7] = [
    "numerator",
    "denominator",
    "model",
    "against",
    "along",
    "without",
    "terms",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Common {
    id: String,
    words: Option<String>,
    short: Option<String>,
    asks: Option<String>,
    #[serde(default)]
    part: String,
    #[serde(default)]
    reading: String,
    says: Option<Says>,
    figure: Option<String>,
    form: Spanned<Name>,
    metric: Option<String>,
    #[serde(default)]
    at: Values,
    #[serde(default)]
    over: BTreeMap<String, range::Range>,
    bound: Spanned<Bound>,
    #[serde(default)]
    why: Vec<String>,
}

/// What a form is called in a file.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Name {
    Ratio,
    Table,
    Value,
    Slope,
    Crossover,
    Lines,
    Account,
}

/// A bound as it is written.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "Ends")]
enum Bound {
    Within(range::Range),
    /// So many points around the figure, which is in percent.
    Points(f64),
    /// From the figure divided by a factor to the figure times that factor.
    Factor(f64),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ends {
    min: Option<f64>,
    max: Option<f64>,
    points: Option<f64>,
    factor: Option<f64>,
}

/// The claim that has these fields. `span` is its table's place.
pub(super) fn claim(mut fields: DeTable, span: Range<usize>, kind: Kind) -> Result<Claim, Wrong> {
    known(&fields)?;
    of_kind(&fields, kind)?;
    let mut common = DeTable::new();
    for name in COMMON {
        if let Some((key, value)) = fields.remove_entry(name) {
            common.insert(key, value);
        }
    }
    if let Some(figure) = common.get_mut("figure") {
        // A number reads as it is printed, 95.0 with its zero.
        if let Some(text) = text(figure) {
            *figure.get_mut() = DeValue::String(Cow::Owned(text));
        }
    }
    let common: Common = parse(common, span.clone())?;
    let words = match kind {
        Kind::Question => common.asks.ok_or("asks"),
        Kind::Claim | Kind::Goal => common.words.ok_or("words"),
    };
    let words = words.map_err(|name| Wrong::new(span, format!("missing field `{name}`")))?;
    let figure = common.figure.as_deref();
    let bound = match *common.bound.get_ref() {
        Bound::Within(range) => Ok(range),
        Bound::Points(points) => around(figure, points),
        Bound::Factor(factor) => about(figure, factor),
    };
    let bound = bound.map_err(|message| Wrong::new(common.bound.span(), message))?;
    let points = matches!(common.bound.get_ref(), Bound::Points(_));
    let percent = points || figure.is_some_and(|figure| figure.contains('%'));
    Ok(Claim {
        id: common.id,
        kind,
        words,
        short: common.short,
        figure: common.figure,
        part: common.part,
        reading: common.reading,
        says: common.says,
        percent,
        form: form(&common.form, fields)?,
        metric: common.metric,
        at: common.at,
        over: common.over,
        bound,
        why: common.why,
    })
}

/// A slip in a field's name is told as such, before what is missing because of it.
fn known(fields: &DeTable) -> Result<(), Wrong> {
    let names = || COMMON.into_iter().chain(FORMS);
    let slip = |key: &&Spanned<Cow<str>>| names().all(|name| key.get_ref() != name);
    fields.keys().find(slip).map_or(Ok(()), |key| {
        let name: &str = key.get_ref();
        let hint = hint(name, names());
        let message = match hint.is_empty() {
            true => format!("; a claim has {}", names().collect::<Vec<_>>().join(", ")),
            false => hint,
        };
        Err(Wrong::new(
            key.span(),
            format!("unknown field `{name}`{message}"),
        ))
    })
}

/// What one kind of claim has is not another's.
fn of_kind(fields: &DeTable, kind: Kind) -> Result<(), Wrong> {
    let table = super::table::is_one(fields);
    let (none, remedy): (&[&str], _) = match kind {
        Kind::Claim => (&["asks"], "what we ask is a [[question]]"),
        // The cells of a table have figures, whoever asks for them.
        Kind::Question if table => (&OF_CLAIMS[..4], "what it asks is in `asks`"),
        Kind::Question => (&OF_CLAIMS, "what it asks is in `asks`"),
        Kind::Goal => (
            &["asks", "part", "reading", "says"],
            "only a statement of a source has",
        ),
    };
    match fields
        .keys()
        .find(|key| none.contains(&key.get_ref().as_ref()))
    {
        Some(key) => {
            let message = format!("a {} has no `{}`: {remedy}", kind.name(), key.get_ref());
            Err(Wrong::new(key.span(), message))
        }
        None => Ok(()),
    }
}

/// The form of that name which has fields like these.
fn form(name: &Spanned<Name>, fields: DeTable) -> Result<Form, Wrong> {
    let has = |field: &str| fields.contains_key(field);
    let (model, against, without) = (has("model"), has("against"), has("without"));
    // What is missing is missing where the form is named.
    let place = name.span();
    let form = match name.get_ref() {
        Name::Ratio if against => parse(fields, place).map(Form::Settings),
        Name::Ratio | Name::Table => parse(fields, place).map(Form::Ratio),
        Name::Value => parse(fields, place).map(Form::Value),
        Name::Slope if model => parse(fields, place).map(Form::Slope),
        Name::Slope => parse(fields, place).map(Form::RatioSlope),
        Name::Crossover => parse(fields, place).map(Form::Crossover),
        Name::Lines if without => parse(fields, place).map(Form::SplitLines),
        Name::Lines => parse(fields, place).map(Form::Lines),
        Name::Account => parse(fields, place).map(Form::Account),
    };
    let expected = match name.get_ref() {
        Name::Ratio => "a ratio has numerator and denominator, or model and against",
        Name::Table => "a table has numerator and denominator, each a field or a column",
        Name::Value => "a value has a model",
        Name::Slope => "a slope has along and either model or numerator and denominator",
        Name::Crossover => "a crossover has numerator, denominator and along",
        Name::Lines => {
            "lines have numerator, denominator and along; terms are four, and need `without`"
        }
        Name::Account => "an account has numerator, denominator and terms",
    };
    form.map_err(|wrong| Wrong::new(wrong.span, format!("{}; {expected}", wrong.message)))
}

fn parse<T: DeserializeOwned>(fields: DeTable, place: Range<usize>) -> Result<T, Wrong> {
    let value = Spanned::new(place.clone(), DeValue::Table(fields));
    T::deserialize(ValueDeserializer::from(value)).map_err(|error| Wrong::toml(&error, place))
}

impl TryFrom<Ends> for Bound {
    type Error = &'static str;

    fn try_from(ends: Ends) -> Result<Self, Self::Error> {
        match (ends.min, ends.max, ends.points, ends.factor) {
            (None, None, Some(points), None) if points.is_finite() && points > 0.0 => {
                Ok(Self::Points(points))
            }
            (None, None, None, Some(factor)) if factor.is_finite() && factor > 1.0 => {
                Ok(Self::Factor(factor))
            }
            (min, max, None, None) => range::Range::new(min, max).map(Self::Within),
            (_, _, Some(_), _) => Err("`points` must be above 0, and stands by itself in a bound"),
            _ => Err("`factor` must be above 1, and stands by itself in a bound"),
        }
    }
}

/// A bound of so many points around a figure in percent, as a ratio.
fn around(figure: Option<&str>, points: f64) -> Result<range::Range, String> {
    let figure = figure.and_then(Printed::single);
    let figure = figure.ok_or("`points` needs a figure in percent, such as \"52.6 %\"")?;
    rounded((figure - points) / 100.0, (figure + points) / 100.0)
}

/// A bound of a factor around a figure.
fn about(figure: Option<&str>, factor: f64) -> Result<range::Range, String> {
    let percent = figure.is_some_and(|figure| figure.contains('%'));
    let figure = figure.and_then(Printed::single);
    let figure = figure.ok_or("`factor` needs a figure, such as \"20×\"")?;
    let ratio = if percent { figure / 100.0 } else { figure };
    rounded(ratio / factor, ratio * factor)
}

/// Rounded to nine decimals: binary sums end in digits that the file does not have.
fn rounded(low: f64, high: f64) -> Result<range::Range, String> {
    let end = |end: f64| (end * 1e9).round() / 1e9;
    range::Range::new(Some(end(low)), Some(end(high))).map_err(str::to_owned)
}
