//! Reports of several machines side by side: what is the same row, and the same statement, on each.

use crate::{Report, Row, Statement, rows, same_words, statements};

/// Whatever one machine and another may both have.
trait Shared {
    fn is_same(&self, other: &Self) -> bool;
}

impl Shared for Row<'_> {
    fn is_same(&self, other: &Self) -> bool {
        self.experiment.id == other.experiment.id && self.label == other.label
    }
}

impl Shared for Statement<'_> {
    fn is_same(&self, other: &Self) -> bool {
        self.document == other.document && same_words(self.words, other.words)
    }
}

/// The rows of the first table of all reports, those that experiments ask for first; of each row
/// what every report has, in the order of the reports.
pub fn rows_side_by_side<'a>(reports: &[&'a Report]) -> Vec<Vec<Option<Row<'a>>>> {
    let mut all = joined(reports, rows);
    let answered = |row: &Vec<Option<Row>>| row.iter().flatten().any(|own| own.answered);
    all.sort_by_key(|row| !answered(row));
    all
}

/// The statements of the sources that any report speaks of; of each what every report has, in the
/// order of the reports.
pub fn statements_side_by_side<'a>(reports: &[&'a Report]) -> Vec<Vec<Option<Statement<'a>>>> {
    joined(reports, |report| {
        let documents = statements(report).into_iter();
        documents.flat_map(|document| document.statements).collect()
    })
}

fn joined<'a, T: Shared>(
    reports: &[&'a Report],
    of: impl Fn(&'a Report) -> Vec<T>,
) -> Vec<Vec<Option<T>>> {
    let mut all: Vec<Vec<Option<T>>> = Vec::new();
    for (number, report) in reports.iter().enumerate() {
        for one in of(report) {
            let same =
                |row: &&mut Vec<Option<T>>| row.iter().flatten().any(|own| own.is_same(&one));
            match all.iter_mut().find(same) {
                Some(row) => row[number] = Some(one),
                None => {
                    let mut row: Vec<Option<T>> = reports.iter().map(|_| None).collect();
                    row[number] = Some(one);
                    all.push(row);
                }
            }
        }
    }
    all
}
