use super::series::Series;
use super::{Located, Wrong, block};
use crate::models::hint;
use heddle_results::Kind;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What claims may share: what every form has, but for the id.
const FIELDS: [&str; 9] = [
    "quote", "words", "short", "figure", "metric", "at", "over", "bound", "why",
];

/// What belongs to a quotation: a claim with words of its own takes none of it from `[claims]`, nor
/// does a question.
const QUOTATION: [&str; 4] = ["quote", "words", "short", "figure"];

/// What a file says once for several claims.
pub(super) struct Shared<'i> {
    /// `[claims]`: what a claim has unless it says otherwise.
    fields: DeTable<'i>,
    pub place: Option<Range<usize>>,
    /// `[quote.NAME]`: words of the source, with their excerpt and figure.
    quotes: BTreeMap<String, Quote<'i>>,
}

struct Quote<'i> {
    fields: DeTable<'i>,
    place: Range<usize>,
}

impl<'i> Shared<'i> {
    pub fn read(root: &DeTable<'i>, text: &str) -> Result<Self, Wrong> {
        let claims = root.get("claims");
        let message = "[claims] is what the claims share; a claim is a [[claim]]";
        let fields = claims.map(|claims| table(claims, &FIELDS, message));
        let mut quotes = BTreeMap::new();
        if let Some(all) = root.get("quote") {
            let message = "a quotation is a [quote.NAME] with words";
            let Some(named) = all.get_ref().as_table() else {
                return Err(Wrong::new(all.span(), message));
            };
            for (name, quote) in named {
                let fields = table(quote, &QUOTATION[1..], message)?;
                if !fields.contains_key("words") {
                    return Err(Wrong::new(quote.span(), message));
                }
                let place = block(text, quote.span().start, "\n[");
                let name = name.get_ref().clone().into_owned();
                quotes.insert(name, Quote { fields, place });
            }
        }
        Ok(Self {
            fields: fields.transpose()?.unwrap_or_default(),
            place: claims.map(|claims| block(text, claims.span().start, "\n[")),
            quotes,
        })
    }

    /// Adds what a claim does not say itself, be it in its fields or in the columns of its series.
    pub fn fill(&self, fields: &mut DeTable<'i>, series: &Series, kind: Kind) {
        let own = |fields: &DeTable, name: &str| fields.contains_key(name) || series.has(name);
        let quoted = own(fields, "quote") || own(fields, "words") || kind == Kind::Question;
        let table = super::table::is_one(fields);
        for (key, value) in &self.fields {
            let name: &str = key.get_ref();
            let other = quoted && QUOTATION.contains(&name) || table && name == "over";
            if !(own(fields, name) || other) {
                fields.insert(key.clone(), value.clone());
            }
        }
    }

    /// Puts the words that `quote` names in its place; says where they are.
    pub fn quote(&self, fields: &mut DeTable<'i>) -> Result<Option<Range<usize>>, Wrong> {
        let Some(name) = fields.remove("quote") else {
            return Ok(None);
        };
        let wrong = |message: String| Wrong::new(name.span(), message);
        let Some(text) = name.get_ref().as_str() else {
            return Err(wrong("`quote` must be the name of a [quote.NAME]".into()));
        };
        if fields.contains_key("words") {
            return Err(wrong("has both `quote` and `words`: one is enough".into()));
        }
        let Some(quote) = self.quotes.get(text) else {
            let hint = hint(text, self.quotes.keys().map(String::as_str));
            return Err(wrong(format!("there is no [quote.{text}]{hint}")));
        };
        for (key, value) in &quote.fields {
            if !fields.contains_key(key.get_ref().as_ref()) {
                fields.insert(key.clone(), value.clone());
            }
        }
        Ok(Some(quote.place.clone()))
    }

    /// A quotation that no claim has: most likely a claim was forgotten.
    pub fn unused(&self, claims: &[Located]) -> Option<Wrong> {
        let used = |quote: &Quote| {
            let mut places = claims.iter().flat_map(|claim| &claim.places);
            places.any(|place| *place == quote.place)
        };
        let (name, quote) = self.quotes.iter().find(|(_, quote)| !used(quote))?;
        let message = format!("no claim has quote = \"{name}\": remove it, or refer to it");
        Some(Wrong::new(quote.place.clone(), message))
    }
}

/// A table that has none but these fields.
fn table<'i>(
    value: &Spanned<DeValue<'i>>,
    fields: &[&str],
    message: &str,
) -> Result<DeTable<'i>, Wrong> {
    let Some(table) = value.get_ref().as_table() else {
        return Err(Wrong::new(value.span(), message));
    };
    for key in table.keys() {
        let name: &str = key.get_ref();
        if !fields.contains(&name) {
            let expected = fields.join("`, `");
            let message =
                format!("unknown field `{name}`, expected one of `{expected}`; {message}");
            return Err(Wrong::new(key.span(), message));
        }
    }
    Ok(table.clone())
}
