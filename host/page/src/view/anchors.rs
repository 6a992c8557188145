//! Where claims and statements stand in the page.

use super::{Link, slug};
use heddle_results::{ClaimReport, Kind, Report, statements};
use std::collections::BTreeMap;

/// Where a claim's entry stands.
pub(super) fn anchor(claim: &ClaimReport, link: &Link) -> String {
    format!("{}:{}", link.anchor, slug(&claim.id))
}

/// Where statements stand: named by their first words, so that links stay valid from run to run.
pub(super) struct Anchors(BTreeMap<(String, String), String>);

/// So many words name a statement.
const NAMING: usize = 6;

impl Anchors {
    pub(super) fn new(report: &Report) -> Self {
        let mut anchors = BTreeMap::new();
        let mut used: BTreeMap<String, usize> = BTreeMap::new();
        let documents = statements(report);
        for statement in documents.iter().flat_map(|document| &document.statements) {
            let first: Vec<&str> = statement.words.split_whitespace().take(NAMING).collect();
            let name = format!("s-{}", slug(&first.join("-")).to_lowercase());
            let number = used
                .entry(name.clone())
                .and_modify(|number| *number += 1)
                .or_insert(1);
            let anchor = match number {
                1 => name,
                number => format!("{name}.{number}"),
            };
            anchors.insert(key(statement.document, statement.words), anchor);
        }
        Self(anchors)
    }

    /// The anchor of the statement that has these words.
    pub(super) fn of(&self, document: &str, words: &str) -> Option<String> {
        self.0.get(&key(document, words)).cloned()
    }

    /// Where the statement stands that a claim is a part of; nowhere if it is ours.
    pub(super) fn statement(&self, claim: &ClaimReport) -> Option<String> {
        let own = claim.kind == Kind::Claim;
        own.then(|| self.of(&claim.document, &claim.words))
            .flatten()
    }
}

/// White space does not tell words apart.
fn key(document: &str, words: &str) -> (String, String) {
    let words: Vec<&str> = words.split_whitespace().collect();
    (document.to_owned(), words.join(" "))
}
