//! The claims of a file, from tables to typed claims.
//!
//! [`Shared`] gives a claim what its file says once, [`Series`] makes one claim of each row of
//! `cells`, or [`table`] one of all rows, and [`fields`] tells a claim's form by its fields, so
//! that the form's own type refuses what does not belong to it. Values keep their places in the
//! file until then: an error is at the line of the value, however it came into the claim.

mod fields;
mod series;
mod shared;
mod table;

use super::claim::Claim;
use heddle_results::Kind;
use series::Series;
use shared::Shared;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A claim, and where it was read.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub claim: Claim,
    /// Where its fields are: its row, its table, and the tables that it shares with others.
    pub places: Vec<Range<usize>>,
    /// Whether it is a row of a series.
    pub row: bool,
    /// Of a table, the places of its rows.
    pub rows: Vec<Range<usize>>,
}

/// What is wrong with a claim, and where.
pub(super) struct Wrong {
    pub span: Range<usize>,
    pub message: String,
}

impl Wrong {
    fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { span, message }
    }

    /// An error of TOML; `otherwise` is its place where it names none.
    fn toml(error: &toml::de::Error, otherwise: Range<usize>) -> Self {
        let span = error.span().unwrap_or(otherwise);
        Self::new(span, super::one_line(error))
    }

    fn of_claim(self, id: &str) -> Self {
        Self::new(self.span, format!("claim {id}: {}", self.message))
    }
}

/// The claims of a file, then its questions, then its goals, in their order.
pub(super) fn claims(root: &DeTable, text: &str) -> Result<Vec<Located>, Wrong> {
    let shared = Shared::read(root, text)?;
    let mut claims = Vec::new();
    for kind in Kind::ALL {
        for table in tables(root, kind.name())? {
            let id = table
                .get_ref()
                .get("id")
                .and_then(|id| id.get_ref().as_str());
            let id = id.unwrap_or("without an id").to_owned();
            let located = located(table, kind, &shared, text);
            claims.extend(located.map_err(|wrong| wrong.of_claim(&id))?);
        }
    }
    match shared.unused(&claims) {
        Some(wrong) => Err(wrong),
        None => Ok(claims),
    }
}

/// The claims of one table: one, or one for each row of its series.
fn located(
    table: Spanned<DeTable>,
    kind: Kind,
    shared: &Shared,
    text: &str,
) -> Result<Vec<Located>, Wrong> {
    let span = table.span();
    let mut fields = table.into_inner();
    let series = Series::take(&mut fields)?;
    shared.fill(&mut fields, &series, kind);
    let own = block(text, span.start, "\n[[");
    if table::is_one(&fields) {
        let table = table::read(fields, span, kind, &series, shared)?;
        return Ok(vec![Located {
            claim: table.claim,
            places: [own]
                .into_iter()
                .chain(table.quoted)
                .chain(shared.place.clone())
                .collect(),
            row: false,
            rows: table.rows,
        }]);
    }
    let mut claims = Vec::new();
    for (mut fields, row) in series.claims(fields)? {
        let quoted = shared.quote(&mut fields)?;
        let claim = fields::claim(fields, span.clone(), kind)?;
        let is_row = row.is_some();
        let places = row.into_iter().chain([own.clone()]).chain(quoted);
        let places = places.chain(shared.place.clone()).collect();
        claims.push(Located {
            claim,
            places,
            row: is_row,
            rows: Vec::new(),
        });
    }
    Ok(claims)
}

/// The tables of `[[key]]`.
fn tables<'i>(root: &DeTable<'i>, key: &str) -> Result<Vec<Spanned<DeTable<'i>>>, Wrong> {
    let Some(found) = root.get(key) else {
        return Ok(Vec::new());
    };
    let message = || {
        let own = match key {
            "question" => "; the experiment's own question is `asks`",
            _ => "",
        };
        format!("`{key}` must be written as [[{key}]]{own}")
    };
    let Some(array) = found.get_ref().as_array() else {
        return Err(Wrong::new(found.span(), message()));
    };
    let table = |value: &Spanned<DeValue<'i>>| match value.get_ref() {
        DeValue::Table(table) => Ok(Spanned::new(value.span(), table.clone())),
        _ => Err(Wrong::new(value.span(), message())),
    };
    array.iter().map(table).collect()
}

/// The part of the text from `start` to the header that ends it.
fn block(text: &str, start: usize, header: &str) -> Range<usize> {
    let rest = text.get(start..).unwrap_or("");
    start..start + rest.find(header).unwrap_or(rest.len())
}
