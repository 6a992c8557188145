//! The claims ledger: the source's words and figure, ours, and the verdict.

use super::Link;
use heddle_results::{Report, Verdict};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Ledger {
    /// How many claims have each verdict.
    counts: Vec<Count>,
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
    link: Link,
    words: String,
    /// Where the source says so: document and place.
    source: String,
    figure: String,
    computed: String,
    bound: String,
    ours: String,
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

fn word(verdict: Verdict) -> Word {
    let (word, class) = match verdict {
        Verdict::Reproduced => ("reproduced", "reproduced"),
        Verdict::NotReproduced => ("not reproduced", "refuted"),
        Verdict::Inconclusive => ("inconclusive", "inconclusive"),
        Verdict::Skipped => ("skipped", "skipped"),
    };
    Word { word, class }
}

impl Ledger {
    pub(super) fn new(report: &Report, links: &[Link]) -> Self {
        let all = || {
            report
                .experiments
                .iter()
                .zip(links)
                .flat_map(|(experiment, link)| {
                    experiment
                        .claims
                        .iter()
                        .map(move |claim| (experiment, link, claim))
                })
        };
        let counts = VERDICTS.map(|verdict| Count {
            verdict: word(verdict),
            number: all().filter(|(.., claim)| claim.verdict == verdict).count(),
        });
        let claims = all().map(|(experiment, link, claim)| {
            let source = experiment
                .source
                .iter()
                .flat_map(|source| [source.document.as_str(), source.place.as_str()]);
            Claim {
                id: claim.id.clone(),
                link: link.clone(),
                words: claim.words.clone(),
                source: source
                    .filter(|part| !part.is_empty())
                    .collect::<Vec<_>>()
                    .join(", "),
                figure: claim.figure.clone().unwrap_or_default(),
                computed: claim.computed.clone(),
                bound: claim.bound.clone(),
                ours: claim.ours.clone(),
                verdict: word(claim.verdict),
                note: claim.note.clone(),
                why: claim.why.clone(),
            }
        });
        Self {
            counts: counts.into(),
            claims: claims.collect(),
        }
    }
}
