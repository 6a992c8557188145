//! Form `table`: the rows of `cells` are the cells of a table that the source prints, one claim.

use super::series::Series;
use super::shared::Shared;
use super::{Wrong, fields};
use crate::experiment::claim::{Claim, Form, TableCell};
use crate::experiment::range;
use heddle_results::{Kind, Values};
use std::ops::Range;
use toml::Spanned;
use toml::de::DeTable;

/// What the columns of a table may be, beside swept parameters.
const COLUMNS: [&str; 4] = ["figure", "numerator", "denominator", "bound"];

/// What cannot be a column though a series may have it.
const FIELDS: [&str; 14] = [
    "id", "quote", "words", "short", "asks", "part", "reading", "says", "metric", "model", "over",
    "against", "along", "why",
];

/// A table as it was read.
pub(super) struct Table {
    pub claim: Claim,
    /// The places of its rows.
    pub rows: Vec<Range<usize>>,
    /// Where its words are, if they are a quotation.
    pub quoted: Option<Range<usize>>,
}

/// Whether these are the fields of a table.
pub(super) fn is_one(fields: &DeTable) -> bool {
    let form = fields.get("form").and_then(|form| form.get_ref().as_str());
    form == Some("table")
}

/// The table that has these fields; `span` is its place.
pub(super) fn read<'i>(
    fields: DeTable<'i>,
    span: Range<usize>,
    kind: Kind,
    series: &Series<'i>,
    shared: &Shared<'i>,
) -> Result<Table, Wrong> {
    let form = fields.get("form").map_or(span.clone(), Spanned::span);
    if kind == Kind::Goal {
        let message = "a goal is no table: only a source prints one";
        return Err(Wrong::new(form, message));
    }
    if let Some((key, _)) = fields.get_key_value("over") {
        let message = "a table has no `over`: its rows say where its cells are";
        return Err(Wrong::new(key.span(), message));
    }
    if series.is_empty() || !series.has("figure") {
        let message = "a table has `columns`, `figure` among them, and `cells`: a row for each";
        return Err(Wrong::new(form, message));
    }
    let no_column = |column: &&Spanned<String>| FIELDS.contains(&column.get_ref().as_str());
    if let Some(column) = series.columns().iter().find(no_column) {
        let message = format!(
            "`{}` cannot be a column of a table: they are swept parameters, {}",
            column.get_ref(),
            COLUMNS.map(|name| format!("`{name}`")).join(", ")
        );
        return Err(Wrong::new(column.span(), message));
    }
    let own = |name: &str| series.has(name) && !COLUMNS.contains(&name);
    let (mut cells, mut rows, mut quoted) = (Vec::new(), Vec::new(), None);
    for (mut fields, row) in series.cells(&fields)? {
        quoted = shared.quote(&mut fields)?;
        let claim = fields::claim(fields, span.clone(), kind)?;
        let at = claim.at.iter().filter(|(name, _)| own(name));
        let at: Values = at
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        cells.push(TableCell { claim, at });
        rows.push(row);
    }
    let Some(first) = cells.first() else {
        return Err(Wrong::new(form, "a table needs a row in `cells`"));
    };
    let mut claim = first.claim.clone();
    claim.at.retain(|name, _| !own(name));
    claim.figure = None;
    claim.bound = hull(&cells);
    claim.form = Form::Table(cells);
    Ok(Table {
        claim,
        rows,
        quoted,
    })
}

/// The narrowest range that holds the bounds of all cells.
fn hull(cells: &[TableCell]) -> range::Range {
    let ends = |end: fn(&range::Range) -> Option<f64>| {
        let ends = cells.iter().map(move |cell| end(&cell.claim.bound));
        ends.collect::<Option<Vec<f64>>>()
    };
    let least = |ends: Vec<f64>| ends.into_iter().fold(f64::INFINITY, f64::min);
    let most = |ends: Vec<f64>| ends.into_iter().fold(f64::NEG_INFINITY, f64::max);
    range::Range {
        min: ends(|it| it.min).map(least),
        max: ends(|it| it.max).map(most),
    }
}
