//! The page as text: what it must hold for reports that are plain, empty, broken or hostile.

use heddle_results::*;

fn rendered(report: &Report) -> String {
    heddle_page::render(report, &crate::common::jsonl(report)).unwrap()
}

/// Every number of every plot that is in the page.
fn coordinates(page: &str) -> Vec<String> {
    let plots = page
        .split("<svg class=\"plot")
        .skip(1)
        .map(|rest| rest.split("</svg>").next().unwrap());
    let attributes = plots.flat_map(|plot| {
        plot.split('"')
            .skip(1)
            .step_by(2)
            .map(String::from)
            .collect::<Vec<_>>()
    });
    attributes
        .filter(|value| {
            value.starts_with(['M', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '-'])
        })
        .collect()
}

/// One model with these values in its only cell.
fn with_values(values: &[f64]) -> Report {
    let mut report = crate::common::small();
    let cell = &mut report.experiments[0].groups[0].series[0].cells[0];
    cell.values = values.to_vec();
    cell.median = values.first().map(|&value| Estimate {
        value,
        low: value,
        high: value,
    });
    report
}

/// The page without style, shapes and script: what changes when its words or its structure change.
#[test]
fn a_small_report_reads_as_before() {
    let page = rendered(&crate::common::small());
    let (head, rest) = page.split_once("<style>").unwrap();
    let (_, body) = rest.split_once("</defs></svg>").unwrap();
    let (body, _) = body.split_once("<script>").unwrap();
    insta::assert_snapshot!(format!("{head}…{body}"));
}

/// Without the marks inside sentences.
fn words_of(page: &str) -> String {
    let marks = [
        "<span class=\"w\">",
        "</span>",
        "<b>",
        "</b>",
        "<code>",
        "</code>",
    ];
    let words = marks
        .iter()
        .fold(page.to_owned(), |page, mark| page.replace(mark, ""));
    let marks = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&#x2f;", "/"),
        ("&#39;", "'"),
        ("&#x27;", "'"),
    ];
    marks
        .iter()
        .fold(words, |page, (mark, plain)| page.replace(mark, plain))
}

#[test]
fn every_verdict_claim_figure_and_reason_is_in_the_page() {
    let report = crate::common::rich();
    let page = words_of(&rendered(&report));
    for experiment in &report.experiments {
        let claims = experiment
            .claims
            .iter()
            .flat_map(|claim| [&claim.words, &claim.ours, &claim.note]);
        let rest = experiment
            .skipped
            .iter()
            .map(|skipped| &skipped.reason)
            .chain(&experiment.troubles);
        let others = claims.chain(rest).chain([&experiment.question]);
        for text in crate::common::sentences(experiment).chain(others.map(String::as_str)) {
            let text = text.replace('`', "");
            assert!(page.contains(&text), "{}: {text}", experiment.id);
        }
        for figure in &experiment.figures {
            assert!(page.contains(&figure.label), "{}", figure.label);
        }
    }
    assert!(page.contains("2 hung"));
}

#[test]
fn every_sample_is_a_dot() {
    let report = crate::common::small();
    // The wide plot and the narrow one have six samples each.
    assert_eq!(rendered(&report).matches("h0").count(), 12);
}

#[test]
fn the_page_asks_for_nothing() {
    let page = rendered(&crate::common::rich());
    for foreign in ["http://", "https://", "@import", "src=", "url("] {
        assert!(!page.contains(foreign), "{foreign}");
    }
}

#[test]
fn an_empty_report_says_so() {
    let page = rendered(&Report::default());
    assert!(page.contains("No experiment was run."));
    assert!(page.ends_with("</html>") || page.ends_with("</html>\n"));
    assert!(
        rendered(&Report {
            experiments: vec![ExperimentReport::default()],
            ..Default::default()
        })
        .contains("did not run")
    );
}

#[test]
fn a_cell_with_failures_only_is_shown_as_such() {
    let mut report = with_values(&[]);
    report.experiments[0].groups[0].series[0].cells[0].failures =
        vec![Status::Hung, Status::Crashed, Status::Hung];
    let page = rendered(&report);
    assert!(page.contains("✕ 1 crashed, 2 hung"), "in the plot");
    assert!(page.contains("+ 1 crashed, 2 hung"), "in the table");
    assert!(page.contains("no good sample, 1 crashed"), "{page}");
}

#[test]
fn a_group_without_any_good_sample_has_no_plot_and_says_so() {
    let mut report = with_values(&[]);
    let series = &mut report.experiments[0].groups[0].series;
    series.truncate(1);
    series[0].cells[0].failures = vec![Status::Wrong];
    let page = rendered(&report);
    assert!(page.contains("no good sample, nothing to plot"));
    assert!(!page.contains("<svg class=\"plot"));
}

#[test]
fn strange_values_never_break_a_plot() {
    let strange: &[&[f64]] = &[
        &[42.0],
        &[0.0],
        &[-3.0, 5.0],
        &[f64::MIN_POSITIVE, f64::MAX],
        &[1e-300, 1e300],
        &[f64::NAN, f64::INFINITY, 1.0],
        &[f64::NAN],
        &[7.0; 500],
    ];
    for values in strange {
        let mut report = with_values(values);
        let page = rendered(&report);
        assert!(
            !page.contains("NaN\"") && !page.contains("inf\""),
            "{values:?}"
        );
        // The same over an axis, with strange places on it.
        let experiment = &mut report.experiments[0];
        experiment.axis = Some("n".into());
        for series in &mut experiment.groups[0].series {
            let cell = series.cells[0].clone();
            let places = [0.0, 1e-9, 3.0, 1e12, f64::NAN];
            series.cells = places
                .map(|x| Cell {
                    x: Some(x),
                    ..cell.clone()
                })
                .into();
        }
        let over = rendered(&report);
        for number in coordinates(&page).into_iter().chain(coordinates(&over)) {
            assert!(
                !number.contains("NaN") && !number.contains("inf"),
                "{values:?}: {number}"
            );
        }
    }
}

#[test]
fn a_model_has_one_colour_and_one_shape_throughout() {
    let page = rendered(&crate::common::rich());
    let after = |text: &str| {
        page.match_indices(text)
            .map(|(at, _)| at)
            .collect::<Vec<_>>()
    };
    let looks: std::collections::BTreeSet<&str> = after("</svg>thread</span>")
        .into_iter()
        .map(|end| &page[page[..end].rfind("<svg").unwrap()..end])
        .collect();
    assert_eq!(looks.len(), 1, "{looks:?}");
}

#[test]
fn equal_ids_get_different_anchors() {
    let mut report = crate::common::small();
    report.experiments.push(report.experiments[0].clone());
    let page = rendered(&report);
    assert_eq!(page.matches("id=\"e-mine\"").count(), 1);
    assert_eq!(page.matches("id=\"e-mine.2\"").count(), 1);
}

#[test]
fn plots_come_before_claims_which_are_folded() {
    let page = rendered(&crate::common::small());
    let section = &page[page.find("id=\"e-mine\"").unwrap()..];
    let at = |text: &str| section.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(at("class=\"sentences\"") < at("<svg class=\"plot"));
    assert!(at("<svg class=\"plot") < at("<details class=\"claims\">"));
    assert!(at("<details class=\"claims\">") < at("id=\"e-mine:"));
    // The ledger leads there.
    let ledger = &page[page.find("id=\"claims\"").unwrap()..];
    assert!(ledger.contains("href=\"#e-mine:"));
}

/// The part of the page that begins at `id`.
fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let (_, rest) = page
        .split_once(&format!("<section id=\"{id}\">"))
        .expect(id);
    rest.split_once("</section>").expect("ends").0
}

/// In a narrow column a name breaks behind its slash, not inside a word.
#[test]
fn names_on_the_first_screen_may_break_at_their_slashes() {
    let page = rendered(&crate::common::rich());
    let answers = page.split_once("<table class=\"answers\"").unwrap().1;
    let (answers, _) = answers.split_once("</table>").unwrap();
    assert!(answers.contains("fiber/<wbr>asm</span>"), "{answers}");
}

#[test]
fn what_this_machine_cannot_settle_is_named_and_why() {
    let mut report = crate::common::rich();
    for experiment in &mut report.experiments {
        for claim in &mut experiment.claims {
            claim.unsteady = claim.verdict == Verdict::Inconclusive;
        }
    }
    let page = words_of(&rendered(&report));
    let told = section(&page, "told");
    assert!(
        told.contains("This machine cannot settle 1: <a href=\"#s-"),
        "{told}"
    );
    assert!(
        told.contains("”</a> (it goes with slow phases of this machine)."),
        "{told}"
    );
}

#[test]
fn the_ledger_has_each_statement_once_with_a_line_for_each_experiment_on_it() {
    let report = crate::common::rich();
    let page = rendered(&report);
    let ledger = section(&page, "claims");
    let plain = words_of(ledger);
    let all = statements(&report);
    let all = || all.iter().flat_map(|document| &document.statements);
    assert_eq!(ledger.matches("<q>").count(), all().count());
    let parts: usize = all().map(|statement| statement.parts.len()).sum();
    assert!(parts > all().count(), "some have several");
    assert_eq!(ledger.matches("<a href=\"#e-").count(), parts);
    for statement in all() {
        assert_eq!(
            plain
                .matches(&format!("<q>{}</q>", statement.words))
                .count(),
            1
        );
        for part in &statement.parts {
            assert!(
                plain.contains(&part.claim.reading),
                "{}",
                part.claim.reading
            );
        }
    }
    assert!(ledger.contains("11 statements of 4 sources"));
    assert!(
        ledger.contains("(Euro-Par 2000) <span class=\"tally\">1 of 2 reproduced, 1 not</span>")
    );
    assert!(ledger.contains("2 of 3 parts judged"));
    let told = section(&page, "told");
    for sum in [
        "<b>4</b>",
        "<b>5</b>",
        "<b>1</b>",
        "<q>threads were ahead by only 17 %</q>",
    ] {
        assert!(told.contains(sum), "{told}");
    }
}

#[test]
fn a_printed_table_has_its_rows_down_and_its_experiments_across() {
    let page = rendered(&crate::common::rich());
    assert_eq!(page.matches("<table class=\"numbers printed\">").count(), 1);
    let (_, table) = page
        .split_once("<table class=\"numbers printed\">")
        .unwrap();
    let (table, _) = table.split_once("</table>").unwrap();
    let text = |html: &str| {
        let parts = html.split('<').filter_map(|part| part.split_once('>'));
        parts.map(|(_, text)| text).collect::<String>()
    };
    let rows: Vec<Vec<String>> = table
        .split("<tr>")
        .skip(1)
        .map(|row| {
            row.split("</t")
                .map(text)
                .filter(|cell| !cell.trim().is_empty())
                .collect()
        })
        .collect();
    assert_eq!(rows[0], ["work", "DP", "PC", "readers-writers"]);
    assert_eq!(
        rows[1].join(" "),
        "published ours published ours published ours"
    );
    assert_eq!(
        rows[2],
        [
            "100",
            "20.0",
            "3.42 3.32–3.56",
            "92.7",
            "71.2 69.1–74.0",
            "77.8",
            "61.2 59.4–63.6"
        ]
    );
    assert_eq!(rows[6][1..3], ["52.9", "not measured"]);
    assert_eq!(rows.len(), 7);
}

#[test]
fn questions_and_goals_are_counted_apart() {
    let page = rendered(&crate::common::rich());
    let questions = section(&page, "questions");
    assert!(!section(&page, "claims").contains("without stacks"));
    assert_eq!(
        questions
            .matches(">Is CM ahead of CP without stacks, too?</a>")
            .count(),
        3
    );
    assert!(questions.contains("not settled"));
    let goals = section(&page, "goals");
    assert!(goals.contains("reached") && !goals.contains("reproduced<"));
    let plain = rendered(&crate::common::small());
    assert!(!plain.contains("id=\"questions\"") && !plain.contains("href=\"#questions\""));
}

#[test]
fn words_of_models_and_sources_are_explained_where_they_are_met() {
    let page = rendered(&crate::common::rich());
    let words = page.split("id=\"words\"").nth(1).expect("explained");
    let words = words
        .split("</details>")
        .next()
        .expect("folded")
        .replace("&#x2f;", "/");
    for met in ["thread", "fiber/asm", "P, V", "CM"] {
        assert!(words.contains(&format!("<dt>{met}</dt>")), "{met}: {words}");
    }
    assert!(
        !words.contains("<dt>tokio</dt>"),
        "not in this report: {words}"
    );
}

#[test]
fn tables_are_folded_and_models_that_lack_the_same_share_a_line() {
    let mut report = crate::common::small();
    report.experiments[0].skipped = ["a", "b", "c"]
        .map(|model| SkippedModel {
            model: model.into(),
            reason: if model == "c" { "no disk" } else { "no Go" }.into(),
        })
        .into();
    let page = rendered(&report);
    assert!(page.contains("<details class=\"table\">\n<summary>Numbers"));
    assert_eq!(page.matches("no Go").count(), 1);
    assert_eq!(page.matches("no disk").count(), 1);
}
