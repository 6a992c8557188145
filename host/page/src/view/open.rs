//! What is inconclusive, by what would settle it: more samples on this machine, or none that it
//! could take.

use super::Link;
use super::anchors::{Anchors, anchor};
use heddle_results::text::count;
use heddle_results::{ClaimReport, Kind, Report, Verdict, statements};
use serde::Serialize;

/// Samples a cell from which on a claim is called one that this machine cannot settle: the main
/// experiments take 3 minutes for 20.
const MOST: u64 = 1000;
/// Claims that are named.
const NAMED: usize = 3;

#[derive(Serialize)]
pub(super) struct Open {
    /// `not settled`, of questions.
    word: &'static str,
    /// How many more samples settle.
    settled: usize,
    /// How many a cell that takes.
    samples: u64,
    /// How many this machine cannot settle.
    beyond: usize,
    /// The first of these.
    named: Vec<Named>,
}

#[derive(Serialize)]
struct Named {
    words: String,
    anchor: String,
    why: String,
}

/// What is inconclusive of one statement, or a question or goal.
struct Case<'a> {
    claims: Vec<&'a ClaimReport>,
    anchor: String,
}

impl Open {
    /// Of the statements of the sources; none where all are settled.
    pub(super) fn of_statements(report: &Report, anchors: &Anchors) -> Option<Self> {
        let documents = statements(report);
        let all = documents.iter().flat_map(|document| &document.statements);
        let open = all.filter(|statement| statement.verdict() == Verdict::Inconclusive);
        let cases = open.map(|statement| Case {
            claims: statement
                .parts
                .iter()
                .map(|part| part.claim)
                .filter(|claim| claim.verdict == Verdict::Inconclusive)
                .collect(),
            anchor: anchors
                .of(statement.document, statement.words)
                .unwrap_or_default(),
        });
        Self::new(Kind::Claim, cases)
    }

    /// Of our questions, or goals.
    pub(super) fn of_ours(kind: Kind, report: &Report, links: &[Link]) -> Option<Self> {
        let experiments = report.experiments.iter().zip(links);
        let cases = experiments.flat_map(|(experiment, link)| {
            let own = move |claim: &&ClaimReport| {
                claim.kind == kind && claim.verdict == Verdict::Inconclusive
            };
            experiment.claims.iter().filter(own).map(|claim| Case {
                claims: vec![claim],
                anchor: anchor(claim, link),
            })
        });
        Self::new(kind, cases)
    }

    fn new<'a>(kind: Kind, cases: impl Iterator<Item = Case<'a>>) -> Option<Self> {
        let mut open = Self {
            word: Verdict::Inconclusive.word(kind),
            settled: 0,
            samples: 0,
            beyond: 0,
            named: Vec::new(),
        };
        for case in cases {
            let Some((claim, why)) = case
                .claims
                .iter()
                .find_map(|claim| Some((claim, why(claim)?)))
            else {
                let needed = case.claims.iter().filter_map(|claim| claim.needed);
                open.samples = needed.fold(open.samples, u64::max);
                open.settled += 1;
                continue;
            };
            open.beyond += 1;
            if open.named.len() < NAMED {
                open.named.push(Named {
                    words: claim.brief().to_owned(),
                    anchor: case.anchor,
                    why,
                });
            }
        }
        (open.settled + open.beyond > 0).then_some(open)
    }
}

/// Why this machine cannot settle a claim that is inconclusive; none if more samples would.
fn why(claim: &ClaimReport) -> Option<String> {
    if claim.unsteady {
        return Some("it goes with slow phases of this machine".into());
    }
    match claim.needed {
        Some(needed) if needed <= MOST => None,
        Some(needed) => Some(format!("about {} samples a cell", count(needed as f64))),
        None => {
            let first = claim.note.split(';').next().unwrap_or_default();
            Some(first.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(needed: Option<u64>, unsteady: bool, note: &str) -> ClaimReport {
        serde_json::from_value(serde_json::json!({
            "id": "c", "kind": "question", "words": note, "figure": null, "computed": "",
            "bound": "", "ours": "", "estimate": null, "verdict": "inconclusive",
            "needed": needed, "unsteady": unsteady, "note": note, "why": "",
        }))
        .unwrap()
    }

    #[test]
    fn what_more_samples_settle_is_told_from_what_this_machine_cannot() {
        let claims = [
            claim(Some(30), false, "few"),
            claim(Some(1000), false, "some"),
            claim(Some(30), true, "phases"),
            claim(Some(4067), false, "many"),
            claim(None, false, "it lies on the bound; more"),
            claim(None, false, "fourth"),
        ];
        let case = |claim| Case {
            claims: vec![claim],
            anchor: "a".into(),
        };
        let open = Open::new(Kind::Question, claims.iter().map(case)).unwrap();
        assert_eq!((open.settled, open.samples, open.beyond), (2, 1000, 4));
        let why: Vec<&str> = open.named.iter().map(|it| it.why.as_str()).collect();
        assert_eq!(
            why,
            [
                "it goes with slow phases of this machine",
                "about 4\u{202f}067 samples a cell",
                "it lies on the bound"
            ]
        );
        assert_eq!(open.word, "not settled");
        // A statement is settled when all that is open of it is.
        let both = Case {
            claims: vec![&claims[0], &claims[3]],
            anchor: String::new(),
        };
        let open = Open::new(Kind::Claim, std::iter::once(both)).unwrap();
        assert_eq!((open.settled, open.beyond), (0, 1));
        assert!(Open::new(Kind::Claim, std::iter::empty()).is_none());
    }
}
