//! The statements of the sources. A statement may have several parts, in one experiment or more.

use crate::{ClaimReport, ExperimentReport, Kind, Report, Verdict};

/// What a source says in one place: the claims of all experiments that have its document and words.
#[derive(Clone, Debug)]
pub struct Statement<'a> {
    /// The source's document.
    pub document: &'a str,
    /// Its words.
    pub words: &'a str,
    /// The claims, in the order of the experiments.
    pub parts: Vec<Part<'a>>,
}

/// One part of a statement: a claim, and the experiment that it stands in.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The experiment.
    pub experiment: &'a ExperimentReport,
    /// Its claim.
    pub claim: &'a ClaimReport,
}

impl<'a> Statement<'a> {
    /// Not reproduced if a part is not, else inconclusive if a part is, else reproduced, unless all
    /// parts were skipped.
    pub fn verdict(&self) -> Verdict {
        Verdict::of_all(self.parts.iter().map(|part| part.claim.verdict))
    }

    /// The parts that were not skipped.
    pub fn judged(&self) -> usize {
        let judged = |part: &&Part| part.claim.verdict != Verdict::Skipped;
        self.parts.iter().filter(judged).count()
    }

    /// `2 of 3 parts judged`, where some were skipped and some were not.
    pub fn partly(&self) -> Option<String> {
        let (judged, all) = (self.judged(), self.parts.len());
        (0 < judged && judged < all).then(|| format!("{judged} of {all} parts judged"))
    }

    /// Whether nothing of it could be judged because only `--full` measures what it speaks of.
    pub fn needs_full(&self) -> bool {
        let full = |part: &Part| part.claim.note.starts_with(NEEDS_FULL);
        self.verdict() == Verdict::Skipped && self.parts.iter().any(full)
    }

    /// The part that decides the verdict: the first that has it.
    pub fn decisive(&self) -> Option<&Part<'a>> {
        let verdict = self.verdict();
        self.parts.iter().find(|part| part.claim.verdict == verdict)
    }
}

/// How the note of a claim begins that only `--full` can judge.
pub const NEEDS_FULL: &str = "needs --full";

/// The statements of one document.
#[derive(Clone, Debug)]
pub struct DocumentStatements<'a> {
    /// The document's title.
    pub document: &'a str,
    /// In the order in which the experiments first speak of them.
    pub statements: Vec<Statement<'a>>,
}

impl DocumentStatements<'_> {
    /// How many have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let same = |statement: &&Statement| statement.verdict() == verdict;
        self.statements.iter().filter(same).count()
    }
}

/// The statements of the sources that a report speaks of, by document; both in the order in which
/// the experiments first name them. Questions and goals are no statements.
pub fn statements(report: &Report) -> Vec<DocumentStatements<'_>> {
    let mut documents: Vec<DocumentStatements> = Vec::new();
    for experiment in &report.experiments {
        let claims = experiment.claims.iter();
        for claim in claims.filter(|claim| claim.kind == Kind::Claim) {
            let part = Part { experiment, claim };
            let document = &claim.document;
            let known = documents
                .iter()
                .position(|known| known.document == document);
            let index = known.unwrap_or_else(|| {
                documents.push(DocumentStatements {
                    document,
                    statements: Vec::new(),
                });
                documents.len() - 1
            });
            let statements = &mut documents[index].statements;
            let same = |statement: &&mut Statement| same_words(statement.words, &claim.words);
            match statements.iter_mut().find(same) {
                Some(statement) => statement.parts.push(part),
                None => statements.push(Statement {
                    document,
                    words: &claim.words,
                    parts: vec![part],
                }),
            }
        }
    }
    documents
}

/// Whether two quotations are the same words: white space does not tell them apart.
pub fn same_words(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(kind: Kind, document: &str, words: &str, verdict: Verdict) -> ClaimReport {
        ClaimReport {
            id: "c".into(),
            kind,
            words: words.into(),
            short: String::new(),
            document: document.into(),
            part: String::new(),
            reading: String::new(),
            figure: None,
            computed: String::new(),
            bound: String::new(),
            within: Default::default(),
            ours: String::new(),
            estimate: None,
            compared: vec![],
            coefficients: vec![],
            cells: vec![],
            verdict,
            needed: None,
            unsteady: false,
            note: String::new(),
            why: String::new(),
        }
    }

    fn report(experiments: Vec<Vec<ClaimReport>>) -> Report {
        let experiment = |claims| ExperimentReport {
            claims,
            ..ExperimentReport::default()
        };
        Report {
            experiments: experiments.into_iter().map(experiment).collect(),
            ..Report::default()
        }
    }

    /// All lists of up to `length` verdicts.
    fn lists(length: usize) -> Vec<Vec<Verdict>> {
        let mut lists = vec![vec![]];
        let mut longest = lists.clone();
        for _ in 0..length {
            longest = longest
                .iter()
                .flat_map(|list| Verdict::ALL.map(|verdict| [list.clone(), vec![verdict]].concat()))
                .collect();
            lists.extend(longest.clone());
        }
        lists
    }

    #[test]
    fn a_statement_is_reproduced_only_where_all_parts_that_were_judged_are() {
        for verdicts in lists(4) {
            let has = |verdict| verdicts.contains(&verdict);
            let expected = if has(Verdict::NotReproduced) {
                Verdict::NotReproduced
            } else if has(Verdict::Inconclusive) {
                Verdict::Inconclusive
            } else if has(Verdict::Reproduced) {
                Verdict::Reproduced
            } else {
                Verdict::Skipped
            };
            assert_eq!(Verdict::of_all(verdicts.clone()), expected, "{verdicts:?}");
            if verdicts.is_empty() {
                continue;
            }
            let parts = verdicts
                .iter()
                .map(|verdict| vec![claim(Kind::Claim, "d", "w", *verdict)]);
            let report = report(parts.collect());
            let [document] = &statements(&report)[..] else {
                panic!("one document");
            };
            let [statement] = &document.statements[..] else {
                panic!("one statement");
            };
            assert_eq!(statement.verdict(), expected);
            assert_eq!(document.count(expected), 1);
            let skipped = verdicts
                .iter()
                .filter(|it| **it == Verdict::Skipped)
                .count();
            assert_eq!(statement.judged() + skipped, verdicts.len());
            let mixed = 0 < skipped && skipped < verdicts.len();
            assert_eq!(statement.partly().is_some(), mixed, "{verdicts:?}");
            let decisive = statement.decisive().map(|part| part.claim.verdict);
            assert_eq!(decisive, Some(expected));
        }
    }

    #[test]
    fn words_of_one_document_are_one_statement_and_ours_are_none() {
        use Verdict::{Inconclusive, NotReproduced, Reproduced, Skipped};
        let report = report(vec![
            vec![
                claim(Kind::Claim, "a", "table 1", Reproduced),
                claim(Kind::Claim, "b", "table 1", NotReproduced),
                claim(Kind::Question, "", "is it?", Inconclusive),
            ],
            vec![
                claim(Kind::Goal, "", "table 1", NotReproduced),
                claim(Kind::Claim, "a", "faster", Skipped),
                claim(Kind::Claim, "a", "table\n  1", Skipped),
            ],
        ]);
        let found = statements(&report);
        let told = found.iter().flat_map(|document| {
            document.statements.iter().map(|it| {
                (
                    it.document,
                    it.words,
                    it.parts.len(),
                    it.verdict(),
                    it.partly(),
                )
            })
        });
        let partly = Some("1 of 2 parts judged".to_owned());
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                ("a", "table 1", 2, Reproduced, partly),
                ("a", "faster", 1, Skipped, None),
                ("b", "table 1", 1, NotReproduced, None),
            ]
        );
    }

    #[test]
    fn each_kind_has_words_of_its_own_for_its_verdicts() {
        let words = |kind| Verdict::ALL.map(|verdict| verdict.word(kind));
        let question = ["yes", "no", "not settled", "skipped"];
        assert_eq!(words(Kind::Question), question);
        for kind in Kind::ALL {
            let mut words = words(kind).to_vec();
            words.sort_unstable();
            words.dedup();
            assert_eq!(words.len(), Verdict::ALL.len(), "{}", kind.name());
        }
    }
}
