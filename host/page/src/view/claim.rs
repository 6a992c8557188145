//! A claim's, a question's or a goal's entry in its experiment: what was computed and found, the
//! verdict and why.

use super::Link;
use super::anchors::{Anchors, anchor, compared_anchor};
use heddle_results::{ClaimReport, Coefficient, ExperimentReport, Kind, Verdict};
use serde::Serialize;

/// A verdict as a word, and the class that gives it colour and shape.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Word {
    word: &'static str,
    class: &'static str,
}

impl Word {
    pub(super) fn new(verdict: Verdict, kind: Kind) -> Self {
        let class = match verdict {
            Verdict::Reproduced => "reproduced",
            Verdict::NotReproduced => "refuted",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Skipped => "skipped",
        };
        let word = verdict.word(kind);
        Self { word, class }
    }

    pub(super) fn word(self) -> &'static str {
        self.word
    }
}

/// A claim with all that is to be said of it.
#[derive(Serialize)]
pub(super) struct Claim {
    id: String,
    anchor: String,
    kind: Kind,
    /// Where the whole statement stands; none for what is ours.
    statement: Option<String>,
    /// Of a statement an excerpt: its words stand in the ledger.
    words: String,
    figure: String,
    computed: String,
    bound: String,
    value: String,
    /// Its interval, and what else is to be said of it.
    rest: String,
    coefficients: Vec<Coefficient>,
    verdict: Word,
    note: String,
    why: String,
    /// The cells whose samples decided it, by model, and where those are.
    samples: Vec<(String, String)>,
}

impl Claim {
    /// The claims of an experiment, in its order.
    pub(super) fn all(experiment: &ExperimentReport, link: &Link, anchors: &Anchors) -> Vec<Self> {
        let claims = experiment.claims.iter();
        claims
            .map(|claim| Self::new(experiment, claim, link, anchors.statement(claim)))
            .collect()
    }

    pub(super) fn new(
        experiment: &ExperimentReport,
        claim: &ClaimReport,
        link: &Link,
        statement: Option<String>,
    ) -> Self {
        let place = |cell: &heddle_results::Compared| {
            let anchor = compared_anchor(experiment, link, cell)?;
            Some((cell.model.clone(), anchor))
        };
        let words = match (&statement, claim.short.as_str()) {
            (Some(_), short) if !short.is_empty() => short,
            _ => &claim.words,
        };
        Self {
            id: claim.id.clone(),
            anchor: anchor(claim, link),
            kind: claim.kind,
            words: words.to_owned(),
            statement,
            figure: claim.figure.clone().unwrap_or_default(),
            computed: claim.computed.clone(),
            bound: claim.bound.clone(),
            value: claim.value().to_owned(),
            rest: claim.rest().to_owned(),
            coefficients: claim.coefficients.clone(),
            verdict: Word::new(claim.verdict, claim.kind),
            note: claim.note.clone(),
            why: claim.why.clone(),
            samples: claim.compared.iter().filter_map(place).collect(),
        }
    }
}
