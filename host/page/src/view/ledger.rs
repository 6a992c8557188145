//! The ledger: the statements of the sources by document, each once, with its parts and printed
//! tables; then our questions and our goals, a line each. What was computed, and why, stands in the
//! experiments.

use super::Link;
use super::anchors::{Anchors, anchor};
use super::claim::{Claim, Word};
use super::open::Open;
use heddle_results::{
    CellReport, ClaimReport, ExperimentReport, Kind, Part, PrintedTable, Report, Statement, Tally,
    Verdict, statements, tables,
};
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Serialize)]
pub(super) struct Ledger {
    /// Of statements, not of their parts.
    counts: Vec<Count>,
    statements: usize,
    /// `27 of 45 statements reproduced, 9 not`.
    tally: String,
    documents: Vec<Document>,
    /// Questions, then goals; only what there is.
    ours: Vec<Ours>,
}

#[derive(Serialize)]
pub(super) struct Count {
    verdict: Word,
    number: usize,
}

/// A source, with what it says.
#[derive(Serialize)]
struct Document {
    title: String,
    /// `12 of 20 reproduced, 5 not, 3 inconclusive`.
    tally: String,
    statements: Vec<Entry>,
}

/// A statement of a source.
#[derive(Serialize)]
struct Entry {
    anchor: String,
    words: String,
    verdict: Word,
    /// What decided it: `4.90×`, against the bound.
    value: String,
    claimed: String,
    /// How many parts were judged, where some were not.
    partly: String,
    /// How the words were read, where all parts read them alike.
    reading: String,
    parts: Vec<PartLine>,
    tables: Vec<Table>,
}

/// What one experiment says of a statement.
#[derive(Serialize)]
struct PartLine {
    anchor: String,
    experiment: String,
    name: String,
    /// Only where there are several parts.
    verdict: Option<Word>,
    bound: String,
    /// What was found; empty: nothing was, and `note` says why.
    value: String,
    /// Its interval, and what else is to be said of it.
    rest: String,
    note: String,
    /// Only where the parts read the words differently.
    reading: String,
}

/// A printed table, published beside measured.
#[derive(Serialize)]
struct Table {
    /// `In percent`.
    unit: &'static str,
    heads: Vec<String>,
    columns: Vec<String>,
    rows: Vec<(Vec<String>, Vec<Option<Cell>>)>,
}

#[derive(Serialize)]
struct Cell {
    published: String,
    measured: String,
    interval: String,
    bound: String,
    verdict: Word,
    note: String,
}

/// Our questions, or our goals.
#[derive(Serialize)]
struct Ours {
    kind: Kind,
    counts: Vec<Count>,
    open: Option<Open>,
    experiments: Vec<(Link, Vec<Claim>)>,
}

impl Ledger {
    pub(super) fn new(report: &Report, links: &[Link], anchors: &Anchors) -> Self {
        let found = statements(report);
        let all = || found.iter().flat_map(|document| &document.statements);
        let link = |experiment: &ExperimentReport| {
            let mut known = report.experiments.iter().zip(links);
            known
                .find(|(other, _)| std::ptr::eq(*other, experiment))
                .map(|(_, link)| link)
        };
        let documents = found.iter().map(|document| Document {
            title: match document.document {
                "" => "No document is named".to_owned(),
                title => title.to_owned(),
            },
            tally: Tally::of_statements(&document.statements)
                .phrases("")
                .join(", "),
            statements: document
                .statements
                .iter()
                .map(|statement| Entry::new(statement, anchors, &link))
                .collect(),
        });
        let ours = [Kind::Question, Kind::Goal];
        let tally = Tally::of_statements(all());
        Self {
            counts: counts(Kind::Claim, &tally),
            tally: tally.phrases("statement").join(", "),
            statements: all().count(),
            documents: documents.collect(),
            ours: ours
                .into_iter()
                .filter_map(|kind| Ours::new(kind, report, links))
                .collect(),
        }
    }
}

fn counts(kind: Kind, tally: &Tally) -> Vec<Count> {
    let count = |verdict| Count {
        verdict: Word::new(verdict, kind),
        number: tally.count(verdict),
    };
    Verdict::ALL.map(count).into()
}

/// How an experiment's claims, questions and goals came out: only what there is.
pub(super) fn counts_of(claims: &[ClaimReport]) -> Vec<Count> {
    let kind = claims.iter().map(|claim| claim.kind).min();
    let count = |verdict| Count {
        verdict: Word::new(verdict, kind.unwrap_or_default()),
        number: claims
            .iter()
            .filter(|claim| claim.verdict == verdict)
            .count(),
    };
    let counts = Verdict::ALL.into_iter().map(count);
    counts.filter(|count| count.number > 0).collect()
}

impl Entry {
    fn new<'a>(
        statement: &Statement,
        anchors: &Anchors,
        link: &impl Fn(&ExperimentReport) -> Option<&'a Link>,
    ) -> Self {
        let readings: BTreeSet<&str> = statement
            .parts
            .iter()
            .map(|part| part.claim.reading.as_str())
            .collect();
        let (alike, several) = (readings.len() == 1, statement.parts.len() > 1);
        // Parts of one experiment have names that tell them apart, or at least ids.
        let shared = |part: &Part| {
            let own = |other: &&Part| std::ptr::eq(other.experiment, part.experiment);
            statement.parts.iter().filter(own).count() > 1
        };
        let part = |part: &Part| {
            let claim = part.claim;
            let link = link(part.experiment)?;
            Some(PartLine {
                anchor: anchor(claim, link),
                experiment: link.id.clone(),
                name: match claim.part.as_str() {
                    "" if shared(part) => claim.id.clone(),
                    name => name.to_owned(),
                },
                verdict: several.then(|| Word::new(claim.verdict, Kind::Claim)),
                bound: claim.bound.clone(),
                value: claim.value().to_owned(),
                rest: claim.rest().to_owned(),
                note: claim.note.clone(),
                reading: if alike {
                    String::new()
                } else {
                    claim.reading.clone()
                },
            })
        };
        let first = statement.parts.first().filter(|_| alike);
        let decisive = statement.decisive().map(|part| part.claim);
        Self {
            value: decisive.map_or_else(String::new, |claim| claim.value().to_owned()),
            claimed: decisive.map_or_else(String::new, |claim| claim.bound.clone()),
            anchor: anchors
                .of(statement.document, statement.words)
                .unwrap_or_default(),
            words: statement.words.to_owned(),
            verdict: Word::new(statement.verdict(), Kind::Claim),
            partly: statement.partly().unwrap_or_default(),
            reading: first
                .map(|part| part.claim.reading.clone())
                .unwrap_or_default(),
            parts: statement.parts.iter().filter_map(part).collect(),
            tables: tables(&statement.parts).iter().map(Table::new).collect(),
        }
    }
}

impl Table {
    fn new(table: &PrintedTable) -> Self {
        let cell = |cell: &CellReport| {
            let (measured, interval) = cell.measured().unwrap_or_default();
            Cell {
                published: cell.figure.clone(),
                measured,
                interval,
                bound: cell.bound.clone(),
                verdict: Word::new(cell.verdict, Kind::Claim),
                note: cell.note.clone(),
            }
        };
        let rows = table.rows.iter().map(|row| {
            let cells = row.cells.iter().map(|found| found.map(cell));
            (row.names.clone(), cells.collect())
        });
        Self {
            unit: if table.percent {
                "In percent"
            } else {
                "As ratios"
            },
            heads: table.heads.iter().map(|head| (*head).to_owned()).collect(),
            columns: table
                .columns
                .iter()
                .map(|column| column.title.to_owned())
                .collect(),
            rows: rows.collect(),
        }
    }
}

impl Ours {
    fn new(kind: Kind, report: &Report, links: &[Link]) -> Option<Self> {
        let of_kind = |(experiment, link): (&ExperimentReport, &Link)| {
            let own = experiment.claims.iter().filter(|claim| claim.kind == kind);
            let claims: Vec<Claim> = own
                .map(|claim| Claim::new(experiment, claim, link, None))
                .collect();
            (!claims.is_empty()).then(|| (link.clone(), claims))
        };
        let experiments: Vec<_> = report
            .experiments
            .iter()
            .zip(links)
            .filter_map(of_kind)
            .collect();
        let claims = report
            .experiments
            .iter()
            .flat_map(|experiment| &experiment.claims);
        let tally = Tally::of_claims(kind, claims);
        (!experiments.is_empty()).then(|| Self {
            kind,
            counts: counts(kind, &tally),
            open: Open::of_ours(kind, report, links),
            experiments,
        })
    }
}
