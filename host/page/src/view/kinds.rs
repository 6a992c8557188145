//! The columns of the first table: the kinds of model that people choose between.

use heddle_results::{Place, Row, kind};

/// At most so many columns.
const MOST: usize = 4;

/// The kinds that Heddle's own models are of, in the order in which people ask.
const KINDS: [&str; MOST] = ["thread", "goroutine", "fiber", "coroutine"];

/// The columns for these rows: the known kinds that were compared anywhere, then other families,
/// the most usual first.
pub(super) fn columns<'a>(rows: &[Row<'a>]) -> Vec<&'a str> {
    let mut met: Vec<(&str, usize)> = Vec::new();
    for place in rows.iter().filter_map(|row| row.place) {
        let mut here: Vec<&str> = place.able().map(kind).collect();
        here.sort_unstable();
        here.dedup();
        for name in here {
            match met.iter_mut().find(|(other, _)| *other == name) {
                Some((_, count)) => *count += 1,
                None => met.push((name, 1)),
            }
        }
    }
    let rank = |name: &str| KINDS.iter().position(|known| *known == name);
    met.sort_by_key(|(name, count)| (rank(name).unwrap_or(MOST), usize::MAX - count));
    met.truncate(MOST);
    met.into_iter().map(|(name, _)| name).collect()
}

/// The best model of a kind at a place, if one was compared.
pub(super) fn best<'a>(place: &Place<'a>, of_kind: &str) -> Option<&'a str> {
    let own = place.able().filter(|model| kind(model) == of_kind);
    let compared = own.filter_map(|model| Some((model, place.behind(model)?.0.value)));
    let best = compared.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(best.0)
}
