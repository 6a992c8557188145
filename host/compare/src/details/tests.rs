//! What `--verbose`, `--show` and `--ledger` print of a fixed report.

use super::{Wide, markdown, of, show};
use crate::summary::tests::fixed::report;
use heddle_results::{CellReport, ClaimReport, Estimate, Kind, Limits, Report, Values, Verdict};

/// Where a line of a terminal ends.
const WIDE: Wide = Wide {
    table: 80,
    sentence: 80,
};

/// A printed cell: the work, what is printed, ours as a ratio, the verdict.
type Row = (u32, &'static str, Option<f64>, Verdict);

fn cell(&(work, figure, ours, verdict): &Row) -> CellReport {
    CellReport {
        place: format!("work={work}"),
        at: Values::from([("work".to_owned(), work.into())]),
        computed: "cooperative/asm ÷ concurrent".into(),
        figure: figure.into(),
        percent: true,
        bound: String::new(),
        within: Limits::default(),
        ours: String::new(),
        estimate: ours.map(|value| Estimate {
            value,
            low: value - 0.02,
            high: value + 0.02,
        }),
        verdict,
        note: String::new(),
    }
}

/// The fixed report with a table of two experiments.
fn with_table() -> Report {
    use Verdict::{Inconclusive, NotReproduced, Reproduced, Skipped};
    let mut report = report();
    let table = |id: &str, part: &str, rows: &[Row]| ClaimReport {
        id: id.into(),
        words: "Table 1. Execution time ratio CM/CP (%) for three applications".into(),
        document: "A paper".into(),
        part: part.into(),
        reading: "CM is cooperative/asm, CP is concurrent, both on one processor; \
                  a printed cell holds within ten points"
            .into(),
        computed: "cooperative/asm ÷ concurrent".into(),
        bound: "within 10 points".into(),
        ours: "31.2 % (95 % 29.2–33.2) where the source prints 20.0 %; 1 of 2 cells inside".into(),
        cells: rows.iter().map(cell).collect(),
        verdict: Verdict::of_all(rows.iter().map(|row| row.3)),
        ..report.experiments[0].claims[0].clone()
    };
    let tables = [
        table(
            "first.table",
            "DP",
            &[
                (100, "20.0", Some(0.312), NotReproduced),
                (10_000, "52.8", Some(0.531), Reproduced),
                (1_000_000, "52.9", None, Skipped),
            ],
        ),
        table(
            "second.table",
            "PC",
            &[
                (100, "92.7", Some(0.83), Inconclusive),
                (10_000, "93.1", Some(0.92), Reproduced),
            ],
        ),
    ];
    for (experiment, table) in report.experiments.iter_mut().zip(tables) {
        experiment.claims.insert(0, table);
    }
    let question = report.experiments[1].claims.iter_mut();
    for question in question.filter(|claim| claim.kind == Kind::Question) {
        question.why = "stackless had no allocations".into();
    }
    report
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[test]
fn everything_is_told_by_source_and_what_is_ours_apart() {
    insta::assert_snapshot!(plain(&of(&with_table(), WIDE)));
}

#[test]
fn one_experiment_is_shown_with_its_tables_and_its_questions_apart() {
    insta::assert_snapshot!(plain(&show(&with_table().experiments[1], WIDE)));
}

#[test]
fn the_ledger_is_markdown_in_which_no_text_is_markup() {
    let mut report = with_table();
    report.experiments[0].claims[1].words = "a_b *is* <faster> | than [c]".into();
    report.experiments[1].claims[1].words = "Is a|b faster?".into();
    insta::assert_snapshot!(markdown(&report));
}
