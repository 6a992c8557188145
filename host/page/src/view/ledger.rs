//! The claims: an overview of all, a line each, and the entry that stands in its experiment: the source's words and figure, ours,
//! the verdict and why.

use super::{Link, slug};
use heddle_results::{ClaimReport, Coefficient, ExperimentReport, Kind, Report, Verdict};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Ledger {
    /// How many claims have each verdict.
    counts: Vec<Count>,
    sources: Vec<Source>,
}

/// The claims of one experiment.
#[derive(Serialize)]
struct Source {
    link: Link,
    claims: Vec<Claim>,
}

#[derive(Serialize)]
struct Count {
    verdict: Word,
    number: usize,
}

/// A verdict as a word, and the class that gives it colour and shape.
#[derive(Clone, Copy, Serialize)]
struct Word {
    word: &'static str,
    class: &'static str,
}

/// A claim with all that is to be said of it.
#[derive(Serialize)]
pub(super) struct Claim {
    id: String,
    anchor: String,
    /// Only a source's words are a quotation.
    kind: Kind,
    words: String,
    figure: String,
    computed: String,
    bound: String,
    ours: String,
    coefficients: Vec<Coefficient>,
    verdict: Word,
    note: String,
    why: String,
}

fn word(verdict: Verdict, kind: Kind) -> Word {
    let class = match verdict {
        Verdict::Reproduced => "reproduced",
        Verdict::NotReproduced => "refuted",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Skipped => "skipped",
    };
    let word = verdict.word(kind);
    Word { word, class }
}

impl Ledger {
    pub(super) fn new(report: &Report, links: &[Link]) -> Self {
        let all = || {
            report
                .experiments
                .iter()
                .flat_map(|experiment| &experiment.claims)
        };
        let count = |kind, verdict| Count {
            verdict: word(verdict, kind),
            number: all()
                .filter(|claim| claim.verdict == verdict && claim.kind == kind)
                .count(),
        };
        let counts = Kind::ALL
            .into_iter()
            .filter(|kind| all().any(|claim| claim.kind == *kind))
            .flat_map(|kind| Verdict::ALL.map(|verdict| count(kind, verdict)));
        let with_claims = report
            .experiments
            .iter()
            .zip(links)
            .filter(|(experiment, _)| !experiment.claims.is_empty());
        let sources = with_claims.map(|(experiment, link)| Source {
            link: link.clone(),
            claims: Claim::all(experiment, link),
        });
        Self {
            counts: counts.collect(),
            sources: sources.collect(),
        }
    }
}

impl Claim {
    /// The claims of an experiment, in its order.
    pub(super) fn all(experiment: &ExperimentReport, link: &Link) -> Vec<Self> {
        let claims = experiment.claims.iter();
        claims.map(|claim| Self::new(claim, link)).collect()
    }

    fn new(claim: &ClaimReport, link: &Link) -> Self {
        Self {
            id: claim.id.clone(),
            anchor: format!("{}:{}", link.anchor, slug(&claim.id)),
            kind: claim.kind,
            words: claim.words.clone(),
            figure: claim.figure.clone().unwrap_or_default(),
            computed: claim.computed.clone(),
            bound: claim.bound.clone(),
            ours: claim.ours.clone(),
            coefficients: claim.coefficients.clone(),
            verdict: word(claim.verdict, claim.kind),
            note: claim.note.clone(),
            why: claim.why.clone(),
        }
    }
}
