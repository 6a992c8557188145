//! The claims ledger: the source's words and figure, ours, and the verdict.

use super::Link;
use heddle_results::{ClaimReport, Coefficient, Report, Verdict};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Ledger {
    /// How many claims have each verdict.
    counts: Vec<Count>,
    sources: Vec<Source>,
}

/// What one source says: the claims of one experiment.
#[derive(Serialize)]
struct Source {
    link: Link,
    /// Document and place.
    citation: String,
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

#[derive(Serialize)]
struct Claim {
    id: String,
    /// Ours, not a source's: its words are no quotation.
    goal: bool,
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

const VERDICTS: [Verdict; 4] = [
    Verdict::Reproduced,
    Verdict::NotReproduced,
    Verdict::Inconclusive,
    Verdict::Skipped,
];

fn word(verdict: Verdict, goal: bool) -> Word {
    let class = match verdict {
        Verdict::Reproduced => "reproduced",
        Verdict::NotReproduced => "refuted",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Skipped => "skipped",
    };
    let word = verdict.word(goal);
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
        let count = |goal, verdict| Count {
            verdict: word(verdict, goal),
            number: all()
                .filter(|claim| claim.verdict == verdict && claim.goal == goal)
                .count(),
        };
        let counts = [false, true]
            .into_iter()
            .filter(|goal| all().any(|claim| claim.goal == *goal))
            .flat_map(|goal| VERDICTS.map(|verdict| count(goal, verdict)));
        let with_claims = report
            .experiments
            .iter()
            .zip(links)
            .filter(|(experiment, _)| !experiment.claims.is_empty());
        let sources = with_claims.map(|(experiment, link)| {
            let source = experiment.source.iter();
            let parts = source.flat_map(|source| [source.document.as_str(), source.place.as_str()]);
            Source {
                link: link.clone(),
                citation: parts
                    .filter(|part| !part.is_empty())
                    .collect::<Vec<_>>()
                    .join(", "),
                claims: experiment.claims.iter().map(Claim::new).collect(),
            }
        });
        Self {
            counts: counts.collect(),
            sources: sources.collect(),
        }
    }
}

impl Claim {
    fn new(claim: &ClaimReport) -> Self {
        Self {
            id: claim.id.clone(),
            goal: claim.goal,
            words: claim.words.clone(),
            figure: claim.figure.clone().unwrap_or_default(),
            computed: claim.computed.clone(),
            bound: claim.bound.clone(),
            ours: claim.ours.clone(),
            coefficients: claim.coefficients.clone(),
            verdict: word(claim.verdict, claim.goal),
            note: claim.note.clone(),
            why: claim.why.clone(),
        }
    }
}
