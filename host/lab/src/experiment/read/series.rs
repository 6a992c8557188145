use super::Wrong;
use crate::command::placeholders;
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// Columns that are fields of the claim; any other is a swept parameter, a value of `at`.
const FIELDS: [&str; 20] = [
    "id",
    "quote",
    "words",
    "short",
    "asks",
    "part",
    "reading",
    "says",
    "figure",
    "metric",
    "numerator",
    "denominator",
    "model",
    "without",
    "along",
    "terms",
    "against",
    "over",
    "bound",
    "why",
];

/// What may name columns, as an id does: `{NAME}` stands for the row's value in that column.
const TEMPLATES: [&str; 2] = ["asks", "reading"];

/// `columns` and `cells` of a claim: it is a claim for each row, or a table.
#[derive(Default)]
pub(super) struct Series<'i> {
    columns: Vec<Spanned<String>>,
    /// Without columns there are no rows, and the claim is by itself.
    rows: Vec<Spanned<DeArray<'i>>>,
}

/// The fields of a claim, and the place of its row if it is one of a series.
pub(super) type Member<'i> = (DeTable<'i>, Option<Range<usize>>);

impl<'i> Series<'i> {
    /// Takes both out of the claim's own fields.
    pub fn take(fields: &mut DeTable<'i>) -> Result<Self, Wrong> {
        let (columns, cells) = match (fields.remove("columns"), fields.remove("cells")) {
            (None, None) => return Ok(Self::default()),
            (Some(columns), Some(cells)) => (columns, cells),
            (Some(one), None) | (None, Some(one)) => {
                let message =
                    "`columns` and `cells` go together: names, and a row of values a claim";
                return Err(Wrong::new(one.span(), message));
            }
        };
        let message = "`columns` must be a list of swept parameters and fields of a claim";
        let name = |value: &Spanned<DeValue>| {
            let name = value.get_ref().as_str().map(str::to_owned);
            name.map(|name| Spanned::new(value.span(), name))
        };
        let names = columns.get_ref().as_array();
        let names = names.and_then(|names| names.iter().map(name).collect::<Option<Vec<_>>>());
        let names = names.filter(|names| !names.is_empty());
        let names = names.ok_or_else(|| Wrong::new(columns.span(), message))?;
        for name in &names {
            let (text, span) = (name.get_ref().as_str(), name.span());
            if ["form", "at", "columns", "cells"].contains(&text) {
                let message = format!("`{text}` cannot be a column: it is the same in a series");
                return Err(Wrong::new(span, message));
            }
            if text != "id" && fields.contains_key(text) {
                let message = format!("`{text}` is both a field and a column: one is enough");
                return Err(Wrong::new(span, message));
            }
        }
        let rows = rows(&cells, names.len())?;
        Ok(Self {
            columns: names,
            rows,
        })
    }

    /// Whether a column is called so.
    pub fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.get_ref() == name)
    }

    /// Whether there are neither columns nor rows.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// What the columns are called.
    pub fn columns(&self) -> &[Spanned<String>] {
        &self.columns
    }

    /// The fields of each cell of a table, and the place of its row.
    pub fn cells(&self, fields: &DeTable<'i>) -> Result<Vec<(DeTable<'i>, Range<usize>)>, Wrong> {
        let cell = |row: &Spanned<DeArray<'i>>| Ok((self.merged(fields.clone(), row)?, row.span()));
        self.rows.iter().map(cell).collect()
    }

    /// The claims of a series with these fields.
    pub fn claims(&self, fields: DeTable<'i>) -> Result<Vec<Member<'i>>, Wrong> {
        if self.columns.is_empty() {
            return Ok(vec![(fields, None)]);
        }
        let claim = |(index, row): (usize, &Spanned<DeArray<'i>>)| {
            let claim = self.claim(fields.clone(), index + 1, row)?;
            Ok((claim, Some(row.span())))
        };
        self.rows.iter().enumerate().map(claim).collect()
    }

    fn claim(
        &self,
        mut fields: DeTable<'i>,
        number: usize,
        row: &Spanned<DeArray<'i>>,
    ) -> Result<DeTable<'i>, Wrong> {
        let template = fields.get("id").map(|id| (id.span(), text(id)));
        if let Some((span, Some(template))) = &template {
            let id = self.id(template, number, row);
            let id = id.map_err(|message| Wrong::new(span.clone(), message))?;
            let id = DeValue::String(Cow::Owned(id));
            insert(&mut fields, "id", span, Spanned::new(row.span(), id));
        }
        for name in TEMPLATES {
            let Some((span, Some(template))) = fields.get(name).map(|it| (it.span(), text(it)))
            else {
                continue;
            };
            let filled = self.fill(&template, number, row);
            let filled = filled.map_err(|message| Wrong::new(span.clone(), message))?;
            let filled = Spanned::new(span.clone(), DeValue::String(Cow::Owned(filled)));
            insert(&mut fields, name, &span, filled);
        }
        self.merged(fields, row)
    }

    /// The fields with the row's values in their places.
    fn merged(
        &self,
        mut fields: DeTable<'i>,
        row: &Spanned<DeArray<'i>>,
    ) -> Result<DeTable<'i>, Wrong> {
        let named = fields.contains_key("id");
        let mut at = table_at(&mut fields, row.span())?;
        for (column, value) in self.columns.iter().zip(row.get_ref().iter()) {
            let (name, span) = (column.get_ref().as_str(), column.span());
            if name == "id" && named {
                // It is what the template says.
            } else if FIELDS.contains(&name) {
                insert(&mut fields, name, &span, value.clone());
            } else if at.get_ref().contains_key(name) {
                let message = format!("`{name}` is in both at and columns");
                return Err(Wrong::new(span, message));
            } else {
                insert(at.get_mut(), name, &span, value.clone());
            }
        }
        let (span, at) = (at.span(), DeValue::Table(at.into_inner()));
        insert(&mut fields, "at", &span, Spanned::new(span.clone(), at));
        Ok(fields)
    }

    /// A row's id: `{NAME}` is its value in a column, `{number}` the row's number from 1.
    fn id(&self, template: &str, number: usize, row: &Spanned<DeArray>) -> Result<String, String> {
        let id = self.fill(template, number, row)?;
        if id == template && self.rows.len() > 1 {
            let column = self
                .columns
                .first()
                .map_or("number", |column| column.get_ref());
            return Err(format!(
                "the claims of a series need ids that differ, such as `{id}-{{{column}}}`"
            ));
        }
        Ok(id)
    }

    /// A text with the row's values for the columns that it names.
    fn fill(
        &self,
        template: &str,
        number: usize,
        row: &Spanned<DeArray>,
    ) -> Result<String, String> {
        let mut filled = template.to_owned();
        for name in placeholders(template) {
            let place = |column: &Spanned<String>| column.get_ref() == name;
            let text = match self.columns.iter().position(place) {
                Some(place) => row.get_ref().get(place).and_then(text),
                None if name == "number" => Some(number.to_string()),
                None => return Err(format!("`{{{name}}}` is not a column, nor {{number}}")),
            };
            let text = text.ok_or_else(|| format!("`{{{name}}}` is neither number nor word"))?;
            filled = filled.replace(&format!("{{{name}}}"), &text);
        }
        Ok(filled)
    }
}

/// The rows, each as long as there are columns.
fn rows<'i>(
    cells: &Spanned<DeValue<'i>>,
    width: usize,
) -> Result<Vec<Spanned<DeArray<'i>>>, Wrong> {
    let message = "`cells` must be a list of rows: a value for each column";
    let row = |row: &Spanned<DeValue<'i>>| match row.get_ref().as_array() {
        None => Err(Wrong::new(row.span(), message)),
        Some(values) if values.len() != width => {
            let message = format!("the row has {} values for {width} columns", values.len());
            Err(Wrong::new(row.span(), message))
        }
        Some(values) => Ok(Spanned::new(row.span(), values.clone())),
    };
    match cells.get_ref().as_array() {
        Some(cells) if !cells.is_empty() => cells.iter().map(row).collect(),
        _ => Err(Wrong::new(cells.span(), message)),
    }
}

/// Takes `at` out of a claim's fields; it is at `otherwise` if the claim has none.
fn table_at<'i>(
    fields: &mut DeTable<'i>,
    otherwise: Range<usize>,
) -> Result<Spanned<DeTable<'i>>, Wrong> {
    let Some(at) = fields.remove("at") else {
        return Ok(Spanned::new(otherwise, DeTable::new()));
    };
    let span = at.span();
    match at.into_inner() {
        DeValue::Table(table) => Ok(Spanned::new(span, table)),
        _ => Err(Wrong::new(span, "`at` must be a table")),
    }
}

fn insert<'i>(
    table: &mut DeTable<'i>,
    name: &str,
    place: &Range<usize>,
    value: Spanned<DeValue<'i>>,
) {
    // A key that is there would keep its own place.
    table.remove(name);
    table.insert(
        Spanned::new(place.clone(), Cow::Owned(name.to_owned())),
        value,
    );
}

/// A number as it is written, or a word.
pub(super) fn text(value: &Spanned<DeValue>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(number) => Some(number.as_str().to_owned()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(value) => Some(value.to_string()),
        _ => None,
    }
}
