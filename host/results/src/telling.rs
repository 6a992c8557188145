//! The statements that say most: those that were not reproduced and lie farthest outside their
//! bounds, and those that were and have the boldest figures.

use crate::{ClaimReport, Statement, Verdict};
use std::collections::BTreeSet;

/// What is counted and may be quoted: a statement of a source by its most telling part, or a goal.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The verdict on all of it.
    pub verdict: Verdict,
    /// The part that says most.
    pub claim: &'a ClaimReport,
    /// Samples a cell that would settle all that is open of it.
    pub needed: u64,
}

impl<'a> Entry<'a> {
    /// A claim by itself.
    pub fn of_claim(claim: &'a ClaimReport) -> Self {
        Self {
            verdict: claim.verdict,
            claim,
            needed: claim.needed.unwrap_or(u64::MAX),
        }
    }

    /// A statement; none if it has no part.
    pub fn of_statement(statement: &Statement<'a>) -> Option<Self> {
        let verdict = statement.verdict();
        let parts = statement
            .parts
            .iter()
            .map(|part| Self::of_claim(part.claim));
        let deciding = || parts.clone().filter(|part| part.verdict == verdict);
        let needed = deciding().map(|part| part.needed).max()?;
        let telling = deciding().max_by(|a, b| a.weight().total_cmp(&b.weight()))?;
        Some(Self { needed, ..telling })
    }

    /// How much it says: the distance from its bound if it was not reproduced, else the boldness of
    /// its figure.
    fn weight(&self) -> f64 {
        match self.verdict {
            Verdict::NotReproduced => outside(self.claim),
            _ => boldness(self.claim),
        }
    }
}

impl ClaimReport {
    /// Its words, or the excerpt that stands for them where there is little room.
    pub fn brief(&self) -> &str {
        if self.short.is_empty() {
            &self.words
        } else {
            &self.short
        }
    }
}

/// The entries of a verdict that say most, no words twice: those in `seen` are left out, and those
/// found are added.
pub fn telling<'a>(
    entries: &[Entry<'a>],
    verdict: Verdict,
    most: usize,
    seen: &mut BTreeSet<&'a str>,
) -> Vec<&'a ClaimReport> {
    let mut found: Vec<&Entry> = entries
        .iter()
        .filter(|entry| entry.verdict == verdict)
        .collect();
    found.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
    let fresh = found
        .into_iter()
        .filter(|entry| seen.insert(entry.claim.brief()));
    fresh.take(most).map(|entry| entry.claim).collect()
}

/// How far the estimate is from the bound, as the logarithm of a factor, or for what may be
/// negative as a distance.
fn outside(claim: &ClaimReport) -> f64 {
    let Some(value) = claim.estimate.map(|estimate| estimate.value) else {
        return 0.0;
    };
    let distance = |end: f64| {
        if value > 0.0 && end > 0.0 {
            (value / end).ln().abs()
        } else {
            (value - end).abs()
        }
    };
    let below = claim.within.min.filter(|min| value < *min);
    let above = claim.within.max.filter(|max| value > *max);
    let found = below.or(above).map_or(0.0, distance);
    if found.is_finite() { found } else { 0.0 }
}

/// How much a ratio differs from 1; a ratio for which the source prints a figure comes before all
/// others.
fn boldness(claim: &ClaimReport) -> f64 {
    let value = claim.estimate.map_or(1.0, |estimate| estimate.value);
    if !claim.value().ends_with('×') || value <= 0.0 || !value.is_finite() {
        return 0.0;
    }
    let printed = if claim.figure.is_some() { 1000.0 } else { 0.0 };
    printed + value.ln().abs()
}
