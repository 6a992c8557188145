//! Claims of form `table` as their source prints them: published figures beside ours.

use crate::text::{count, interval, number};
use crate::{CellReport, ClaimReport, Part, Value};

/// A printed table: a row for each place, a column for each claim.
#[derive(Clone, Debug)]
pub struct PrintedTable<'a> {
    /// What tells the rows apart: swept parameters, or `models`.
    pub heads: Vec<&'a str>,
    /// The columns, in the order of the experiments.
    pub columns: Vec<PrintedColumn<'a>>,
    /// The rows, in the source's order.
    pub rows: Vec<PrintedRow<'a>>,
    /// Whether the figures are in percent; else they are ratios.
    pub percent: bool,
}

/// A column of published figures, and of ours.
#[derive(Clone, Debug)]
pub struct PrintedColumn<'a> {
    /// What it is called: the part of the statement, or what the experiment works on.
    pub title: &'a str,
    /// The claim that its cells belong to.
    pub part: Part<'a>,
}

/// A row of a printed table.
#[derive(Clone, Debug)]
pub struct PrintedRow<'a> {
    /// A name for each of the table's heads.
    pub names: Vec<String>,
    /// A cell for each column; none where the source prints none.
    pub cells: Vec<Option<&'a CellReport>>,
}

impl ClaimReport {
    /// Ours without its interval and what follows: `31.2×`.
    pub fn value(&self) -> &str {
        let (value, _) = self.ours.split_once(" (95 %").unwrap_or((&self.ours, ""));
        value
    }

    /// What follows: ` (95 % 29.8–33.0) at n=8`.
    pub fn rest(&self) -> &str {
        &self.ours[self.value().len()..]
    }
}

impl CellReport {
    /// Ours and its interval in the figure's unit: `31.2` and `29.8–33.0`; none if not measured.
    pub fn measured(&self) -> Option<(String, String)> {
        let estimate = self.estimate?;
        let unit = if self.percent { 100.0 } else { 1.0 };
        let ends = interval(estimate.low * unit, estimate.high * unit, "");
        Some((number(estimate.value * unit), ends))
    }
}

/// The tables that the parts of a statement make up: parts whose rows are told apart by the same
/// parameters stand beside each other.
pub fn tables<'a>(parts: &[Part<'a>]) -> Vec<PrintedTable<'a>> {
    let mut tables: Vec<PrintedTable> = Vec::new();
    for part in parts {
        for strip in strips(*part) {
            let fits = |table: &&mut PrintedTable| {
                table.heads == strip.heads && table.percent == strip.percent
            };
            match tables.iter_mut().find(fits) {
                Some(table) => table.add(strip),
                None => {
                    let mut table = PrintedTable {
                        heads: strip.heads.clone(),
                        columns: Vec::new(),
                        rows: Vec::new(),
                        percent: strip.percent,
                    };
                    table.add(strip);
                    tables.push(table);
                }
            }
        }
    }
    tables
}

/// Cells that become one column.
struct Strip<'a> {
    heads: Vec<&'a str>,
    column: PrintedColumn<'a>,
    percent: bool,
    cells: Vec<(Vec<String>, &'a CellReport)>,
}

/// A claim's cells by column: one, unless several pairs of models are compared at the same places.
fn strips(part: Part<'_>) -> Vec<Strip<'_>> {
    let cells = &part.claim.cells;
    let mut pairs: Vec<&str> = Vec::new();
    let mut places = Vec::new();
    for cell in cells {
        if !pairs.contains(&cell.computed.as_str()) {
            pairs.push(&cell.computed);
        }
        if !places.contains(&&cell.at) {
            places.push(&cell.at);
        }
    }
    let Some(first) = cells.first() else {
        return Vec::new();
    };
    let title = match part.claim.part.as_str() {
        "" => part.experiment.workload.as_str(),
        name => name,
    };
    let strip = |title, heads, cells| Strip {
        heads,
        column: PrintedColumn { title, part },
        percent: first.percent,
        cells,
    };
    let heads: Vec<&str> = first.at.keys().map(String::as_str).collect();
    let at_place = |cell: &CellReport| {
        let name = |(name, value): (&String, &Value)| parameter(name, value);
        cell.at.iter().map(name).collect::<Vec<_>>()
    };
    let of_pair = |pair: &str| {
        let own = cells.iter().filter(|cell| cell.computed == pair);
        own.map(|cell| (at_place(cell), cell)).collect()
    };
    if pairs.len() == 1 || places.len() == cells.len() {
        let all = cells.iter().map(|cell| (at_place(cell), cell));
        vec![strip(title, heads, all.collect())]
    } else if places.len() == 1 {
        let all = cells.iter().map(|cell| (vec![cell.computed.clone()], cell));
        vec![strip(title, vec!["models"], all.collect())]
    } else {
        let strips = pairs
            .into_iter()
            .map(|pair| strip(pair, heads.clone(), of_pair(pair)));
        strips.collect()
    }
}

impl<'a> PrintedTable<'a> {
    fn add(&mut self, strip: Strip<'a>) {
        let index = self.columns.len();
        let mut column = strip.column;
        if self.columns.iter().any(|other| other.title == column.title) {
            column.title = &column.part.claim.id;
        }
        self.columns.push(column);
        for row in &mut self.rows {
            row.cells.push(None);
        }
        for (names, cell) in strip.cells {
            // A source may print two figures for one place.
            let free = |row: &&mut PrintedRow| row.names == names && row.cells[index].is_none();
            match self.rows.iter_mut().find(free) {
                Some(row) => row.cells[index] = Some(cell),
                None => {
                    let mut cells = vec![None; index];
                    cells.push(Some(cell));
                    self.rows.push(PrintedRow { names, cells });
                }
            }
        }
    }
}

/// A swept parameter's value for people: `10 000`, `-O2`.
fn parameter(name: &str, value: &Value) -> String {
    match value {
        Value::Number(exact) => match exact.as_f64() {
            Some(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => count(whole),
            _ => exact.to_string(),
        },
        Value::String(level) if name == "opt" => format!("-{level}"),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Estimate, ExperimentReport, Kind, Limits, Values, Verdict};

    /// A place, the models that are compared, what is printed, and ours.
    type Row = (Option<u32>, &'static str, &'static str, Option<f64>);

    fn cell(&(work, computed, figure, ours): &Row) -> CellReport {
        let at = work.map(|work| ("work".to_owned(), Value::from(work)));
        CellReport {
            place: String::new(),
            at: Values::from_iter(at),
            computed: computed.into(),
            figure: figure.into(),
            percent: true,
            bound: String::new(),
            within: Limits::default(),
            ours: String::new(),
            estimate: ours.map(|value| Estimate {
                value,
                low: value - 0.01,
                high: value + 0.02,
            }),
            verdict: Verdict::Skipped,
            note: String::new(),
        }
    }

    fn experiment(workload: &str, claims: &[(&str, &[Row])]) -> ExperimentReport {
        let claim = |(part, rows): &(&str, &[Row])| ClaimReport {
            id: format!("{workload}.{part}"),
            kind: Kind::Claim,
            words: String::new(),
            short: String::new(),
            document: String::new(),
            part: (*part).into(),
            reading: String::new(),
            figure: None,
            computed: String::new(),
            bound: String::new(),
            within: Limits::default(),
            ours: String::new(),
            estimate: None,
            compared: vec![],
            coefficients: vec![],
            cells: rows.iter().map(cell).collect(),
            verdict: Verdict::Skipped,
            needed: None,
            unsteady: false,
            note: String::new(),
            why: String::new(),
        };
        ExperimentReport {
            workload: workload.into(),
            claims: claims.iter().map(claim).collect(),
            ..ExperimentReport::default()
        }
    }

    /// The tables as lines: heads and titles, then each row with what is printed.
    fn printed(experiments: &[ExperimentReport]) -> Vec<Vec<String>> {
        let claims = experiments.iter().flat_map(|experiment| {
            let claims = experiment.claims.iter();
            claims.map(move |claim| Part { experiment, claim })
        });
        let parts: Vec<Part> = claims.collect();
        let table = |table: &PrintedTable| {
            let titles = table.columns.iter().map(|column| column.title);
            let head: Vec<&str> = table.heads.iter().copied().chain(titles).collect();
            let rows = table.rows.iter().map(|row| {
                let figure = |cell: &Option<&CellReport>| {
                    cell.map_or_else(|| "-".to_owned(), |cell| cell.figure.clone())
                };
                let cells: Vec<String> = row.cells.iter().map(figure).collect();
                [row.names.join(","), cells.join(" ")].join(": ")
            });
            std::iter::once(head.join(" ")).chain(rows).collect()
        };
        tables(&parts).iter().map(table).collect()
    }

    #[test]
    fn experiments_stand_beside_each_other_where_their_rows_are_the_same() {
        let rows = |figures: [&'static str; 2]| -> Vec<Row> {
            [100, 10_000]
                .into_iter()
                .zip(figures)
                .map(|(work, figure)| (Some(work), "a ÷ b", figure, None))
                .collect()
        };
        let (philosophers, buffer) = (rows(["20.0", "52.8"]), rows(["92.7", "93.1"]));
        let more: [Row; 2] = [
            (Some(2), "a ÷ b", "97.0", None),
            (Some(100), "a ÷ b", "77.8", None),
        ];
        let found = printed(&[
            experiment("philosophers", &[("DP", &philosophers)]),
            experiment("buffer", &[("", &buffer), ("", &[])]),
            experiment("buffer", &[("", &more)]),
        ]);
        let expected = [
            "work DP buffer buffer.",
            "100: 20.0 92.7 77.8",
            "10\u{202f}000: 52.8 93.1 -",
            "2: - - 97.0",
        ];
        assert_eq!(found, [expected]);
    }

    #[test]
    fn models_are_columns_where_they_share_places_and_rows_where_there_is_one_place() {
        let columns: [Row; 4] = [
            (Some(2), "x ÷ b", "1", None),
            (Some(2), "y ÷ b", "2", None),
            (Some(4), "x ÷ b", "3", None),
            (Some(4), "y ÷ b", "4", None),
        ];
        let found = printed(&[experiment("w", &[("", &columns)])]);
        assert_eq!(found, [["work x ÷ b y ÷ b", "2: 1 2", "4: 3 4"]]);
        let one: [Row; 2] = [(None, "x ÷ b", "1", None), (None, "y ÷ b", "2", None)];
        let found = printed(&[experiment("w", &[("", &one)])]);
        assert_eq!(found, [["models w", "x ÷ b: 1", "y ÷ b: 2"]]);
    }

    #[test]
    fn two_figures_for_one_place_are_two_rows() {
        let twice: [Row; 2] = [
            (Some(2), "a ÷ b", "90", None),
            (Some(2), "a ÷ b", "120", None),
        ];
        let found = printed(&[experiment("w", &[("", &twice)])]);
        assert_eq!(found, [["work w", "2: 90", "2: 120"]]);
    }

    #[test]
    fn ours_is_in_the_unit_of_the_figure() {
        let measured = cell(&(None, "", "20.0", Some(0.25)));
        let (value, interval) = measured.measured().unwrap();
        assert_eq!((value.as_str(), interval.as_str()), ("25.0", "24.0–27.0"));
        assert_eq!(cell(&(None, "", "20.0", None)).measured(), None);
    }
}
