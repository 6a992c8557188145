//! What the summary says of a fixed report, and that no report makes it too long or too wide.

mod arbitrary;
pub mod fixed;

use super::{LINES, Setting, of};
use crate::hints::Hints;
use crate::layout::length;
use fixed::report;
use heddle_results::{Kind, Report, Verdict};

fn setting(width: usize) -> Setting {
    Setting {
        width,
        hints: Hints::of(None, None, None),
        page: Some("report/index.html".into()),
        resumable: false,
        main_only: true,
        is_part: false,
    }
}

/// The summary as a terminal shows it, without colours.
fn seen(report: &Report, setting: &Setting) -> String {
    anstream::adapter::strip_str(&of(report, setting)).to_string()
}

fn assert_fits(text: &str, width: usize) {
    assert!(text.lines().count() <= LINES, "{text}");
    for line in text.lines() {
        assert!(length(line) <= width, "{}: {line}", length(line));
    }
}

#[test]
fn a_fixed_report_reads_as_it_should() {
    let text = seen(&report(), &setting(80));
    assert_fits(&text, 80);
    insta::assert_snapshot!(text);
}

#[test]
fn a_wider_terminal_shows_more_of_the_others() {
    let [narrow, usual, wide] = [60, 80, 120].map(|width| {
        let text = seen(&report(), &setting(width));
        assert_fits(&text, width);
        text.matches('×').count()
    });
    assert!(narrow <= usual && usual < wide, "{narrow} {usual} {wide}");
}

#[test]
fn what_is_red_and_green_is_told_by_signs_too() {
    let coloured = of(&report(), &setting(80));
    assert!(coloured.contains("\x1b["), "{coloured}");
    let plain = seen(&report(), &setting(80));
    for sign in [" ✗ ", " ✓ ", " ? "] {
        assert!(plain.contains(sign), "{plain}");
    }
}

#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let mut report = report();
    report.notes = vec![
        "Additional samples, for claims that the first 20 a cell left inconclusive: 9.".into(),
        "Other programs used 44 % of this machine's processors meanwhile. On a quiet one it is less.".into(),
        "Partial: interrupted after 9 of at least 40 samples.".into(),
    ];
    let setting = Setting {
        resumable: true,
        page: Some("report.partial/index.html".into()),
        ..setting(80)
    };
    let text = seen(&report, &setting);
    let mut lines = text.lines().skip(1);
    assert_eq!(
        lines.next(),
        Some("Partial: interrupted after 9 of at least 40 samples")
    );
    assert_eq!(
        lines.next(),
        Some("Other programs used 44 % of this machine's processors meanwhile")
    );
    assert_eq!(lines.next(), Some(""));
    assert!(
        text.contains("NEXT     heddle compare --resume goes on from here\n"),
        "{text}"
    );
}

#[test]
fn rows_are_derived_where_an_experiment_names_none() {
    let mut report = report();
    report.experiments.truncate(1);
    report.experiments[0].answers.clear();
    let text = seen(&report, &setting(80));
    assert!(text.contains("\nfirst, -O2, n=8  thread 100 ns"), "{text}");
    // There is room for the sentence.
    assert!(text.contains("\nfirst, -O2: thread wins"), "{text}");
}

#[test]
fn what_does_not_fit_is_counted() {
    let one = report().experiments.remove(0);
    let mut report = report();
    report.experiments = (0..50)
        .map(|number| {
            let mut one = one.clone();
            one.id = format!("e{number}");
            one.answers.clear();
            one
        })
        .collect();
    let text = seen(&report, &setting(80));
    assert_fits(&text, 80);
    assert_eq!(text.lines().count(), LINES);
    let shown = text.lines().filter(|line| line.contains(", n=8 ")).count();
    assert!(
        text.contains(&format!("… {} more rows on the page", 50 - shown)),
        "{text}"
    );
}

#[test]
fn a_statement_counts_once_and_by_its_worst_part() {
    let mut report = report();
    let head = |report: &Report, width| {
        let text = seen(report, &setting(width));
        let mut lines = text.lines().map(str::to_owned);
        lines.find(|line| line.starts_with("CLAIMS")).unwrap()
    };
    assert_eq!(
        head(&report, 120),
        "CLAIMS of 1 source   1 of 4 statements reproduced · 1 not · 1 inconclusive · 1 needs --full"
    );
    assert_eq!(
        head(&report, 60),
        "CLAIMS   1 of 4 reproduced · 1 not · 1 inconclusive"
    );
    // The same words in another experiment, with another verdict.
    let part = &mut report.experiments[1].claims[1];
    assert_eq!(part.words, "20x faster or more");
    part.verdict = Verdict::Inconclusive;
    assert_eq!(
        head(&report, 80),
        "CLAIMS   0 of 4 statements reproduced · 1 not · 2 inconclusive · 1 needs --full"
    );
    let text = seen(&report, &setting(80));
    assert!(!text.contains(" ✓ "), "{text}");
    assert!(text.contains(" ? 2 inconclusive: "), "{text}");
}

#[test]
fn goals_are_reached() {
    let mut report = report();
    for claim in &mut report.experiments[0].claims {
        claim.kind = Kind::Goal;
    }
    report.experiments.truncate(1);
    let text = seen(&report, &setting(80));
    assert!(
        text.contains("\nGOALS   1 reached · 1 not · 1 inconclusive"),
        "{text}"
    );
    assert!(!text.contains("CLAIMS"), "{text}");
}
