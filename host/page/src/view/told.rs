//! The ledger on the first screen: how many statements came out how, and the most telling ones.

use super::anchors::Anchors;
use super::claim::Word;
use heddle_results::{Entry, Kind, Report, Verdict, statements, telling};
use serde::Serialize;
use std::collections::BTreeSet;

/// Statements that are quoted, at most.
const NOT_REPRODUCED: usize = 3;
const REPRODUCED: usize = 1;

#[derive(Serialize)]
pub(super) struct Quoted {
    words: String,
    verdict: Word,
    bound: String,
    value: String,
    anchor: String,
}

/// The most telling statements, refutations first.
pub(super) fn quoted(report: &Report, anchors: &Anchors) -> Vec<Quoted> {
    let documents = statements(report);
    let all = documents.iter().flat_map(|document| &document.statements);
    let entries: Vec<Entry> = all.filter_map(Entry::of_statement).collect();
    let mut seen = BTreeSet::new();
    let chosen = [
        (Verdict::NotReproduced, NOT_REPRODUCED),
        (Verdict::Reproduced, REPRODUCED),
    ];
    let mut found = Vec::new();
    for (verdict, most) in chosen {
        for claim in telling(&entries, verdict, most, &mut seen) {
            found.push(Quoted {
                words: claim.brief().to_owned(),
                verdict: Word::new(claim.verdict, Kind::Claim),
                bound: claim.bound.clone(),
                value: claim.value().to_owned(),
                anchor: anchors.statement(claim).unwrap_or_default(),
            });
        }
    }
    found
}
