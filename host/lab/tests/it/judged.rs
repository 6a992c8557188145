//! How tables and questions are judged, by programs whose times are made up.

use super::contract::{Quiet, options};
use heddle_lab::experiment::{Experiment, Mode};
use heddle_lab::run::Earlier;
use heddle_results::{ClaimReport, ExperimentReport, Kind, Verdict};
use std::path::Path;

/// Model `a` takes n quarters of the time of `b`, both with some noise. `c` is as `a`, and crashes
/// at n = 3. `d` is as `a`, and falls back to the code of `b` at n = 4.
const HEAD: &str = r#"id = "e"
title = "t"
workload = "w"
source = { document = "A paper" }
metric = { name = "wall_ns", label = "time", unit = "ns" }
quick = { sweep = [{ n = [1, 2, 3, 4, 5] }] }
full = { sweep = [{ n = [1, 2, 3, 4, 5, 6, 7] }] }
[[program]]
models = ["a", "b", "c", "d"]
command = ["sh", "-c", '''
noise=$(( $3 * 7 % 13 ))
v=$(( (1000 + noise) * $2 / 4 ))
[ $1 = b ] && v=$(( 1000 + noise * 2 ))
[ $1$2 = c3 ] && exit 1
ran=$1
[ $1$2 = d4 ] && ran=b
echo "{\"model\":\"$1\",\"ran\":\"$ran\",\"oracle\":{\"ok\":true},\"metrics\":{\"wall_ns\":$v}}"
''', "-", "{model}", "{n}", "{sample}"]
"#;

/// The claims of an experiment with these, judged by 8 samples a cell.
fn judged(claims: &str) -> Vec<ClaimReport> {
    reported(claims).claims
}

/// The whole experiment.
fn reported(claims: &str) -> ExperimentReport {
    let text = format!("{HEAD}{claims}");
    let experiment = Experiment::parse(&text, Path::new("/e.toml"));
    let experiments = [experiment.unwrap_or_else(|error| panic!("{error}"))];
    let (options, earlier) = (options(Some(8)), Earlier::default());
    let report = heddle_lab::compare(&experiments, &options, vec![], &earlier, &mut Quiet);
    let mut report = report.unwrap();
    report.experiments.swap_remove(0)
}

/// A table of a model ÷ b, with a row for each n: figure and bound.
fn table(id: &str, model: &str, rows: &[(u32, f64, f64, f64)]) -> String {
    let row = |(n, figure, min, max): &(u32, f64, f64, f64)| {
        format!("[{n}, {figure:?}, {{ min = {min:?}, max = {max:?} }}]")
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!(
        "[[claim]]\nid = \"{id}\"\nwords = \"{id}\"\nreading = \"r\"\nform = \"table\"\n\
         numerator = \"{model}\"\ndenominator = \"b\"\ncolumns = [\"n\", \"figure\", \"bound\"]\n\
         cells = [{}]\n",
        rows.join(", ")
    )
}

#[test]
fn a_table_has_a_verdict_and_each_cell_of_it_one() {
    let inside = |n: u32| {
        let ratio = f64::from(n) / 4.0;
        (n, ratio, ratio * 0.9, ratio * 1.1)
    };
    let points = "[[claim]]\nid = \"points\"\nwords = \"points\"\nreading = \"r\"\n\
                  form = \"table\"\nnumerator = \"a\"\ndenominator = \"b\"\n\
                  columns = [\"n\", \"figure\"]\n\
                  cells = [[1, 24.0], [2, \"54 %\"]]\nbound = { points = 10 }\n";
    let claims = [
        table("all", "a", &[inside(1), inside(2), inside(5)]),
        table("outside", "a", &[inside(1), (2, 2.0, 1.9, 2.1), inside(5)]),
        table("on", "a", &[inside(1), (4, 1.2, 0.995, 1.3)]),
        table("more", "a", &[inside(2), inside(5), inside(6), inside(7)]),
        table("beyond", "a", &[inside(6), inside(7)]),
        table("crash", "c", &[inside(1), inside(3)]),
        table("crash-outside", "c", &[(1, 2.0, 1.9, 2.1), inside(3)]),
        points.to_owned(),
    ];
    let found = judged(&claims.concat());
    let told = found.iter().map(|claim| {
        let cells = claim
            .cells
            .iter()
            .map(|cell| cell.verdict.word(Kind::Claim));
        let cells = cells.collect::<Vec<_>>().join(", ");
        (&*claim.id, claim.verdict.word(Kind::Claim), cells)
    });
    let told: Vec<_> = told.collect();
    let expected = [
        ("all", "reproduced", "reproduced, reproduced, reproduced"),
        (
            "outside",
            "not reproduced",
            "reproduced, not reproduced, reproduced",
        ),
        ("on", "inconclusive", "reproduced, inconclusive"),
        (
            "more",
            "reproduced",
            "reproduced, reproduced, skipped, skipped",
        ),
        ("beyond", "skipped", "skipped, skipped"),
        ("crash", "skipped", "reproduced, skipped"),
        ("crash-outside", "not reproduced", "not reproduced, skipped"),
        ("points", "reproduced", "reproduced, reproduced"),
    ];
    let expected = expected.map(|(id, verdict, cells)| (id, verdict, cells.to_owned()));
    assert_eq!(told, expected);
    let note = |id: &str| {
        let claim = found.iter().find(|claim| claim.id == id).unwrap();
        claim.note.as_str()
    };
    assert!(
        note("more").ends_with("2 of 4 cells measured"),
        "{}",
        note("more")
    );
    let more = found.iter().find(|claim| claim.id == "more").unwrap();
    assert!(
        more.ours
            .ends_with("; 2 of 2 cells inside, 2 of 4 measured"),
        "{}",
        more.ours
    );
    assert!(
        note("beyond").starts_with("needs --full"),
        "{}",
        note("beyond")
    );
    assert!(
        note("crash").starts_with("c crashed at n=3"),
        "{}",
        note("crash")
    );
    assert!(
        note("outside").starts_with("decided at n=2"),
        "{}",
        note("outside")
    );
    assert!(
        note("on").contains("samples a cell would"),
        "{}",
        note("on")
    );
    // Published beside measured, both in percent where the source prints that.
    let points = found.last().unwrap();
    let cell = &points.cells[1];
    assert_eq!(
        (&*cell.place, &*cell.figure, cell.percent),
        ("n=2", "54", true)
    );
    assert_eq!(cell.bound, "44.0–64.0");
    assert!(cell.ours.starts_with("49.7 (95 % "), "{}", cell.ours);
    let outside = found.iter().find(|claim| claim.id == "outside").unwrap();
    let (within, estimate) = (outside.within, outside.estimate.unwrap());
    assert_eq!(within.min, Some(1.9), "that of the cell that decided");
    assert!(
        estimate.value < 0.6 && outside.ours.starts_with("0.49"),
        "{}",
        outside.ours
    );
    assert!(
        outside
            .ours
            .ends_with("the source prints 2.0×; 2 of 3 cells inside"),
        "{}",
        outside.ours
    );
}

#[test]
fn a_table_of_one_bound_is_judged_as_a_ratio_over_the_same_range() {
    let mut random = fastrand::Rng::with_seed(18);
    let mut claims = String::new();
    for number in 0..120 {
        let first = random.u32(1..=5);
        let last = random.u32(first..=5);
        // Round the ratios, and some ends close to one of them.
        let end = |random: &mut fastrand::Rng| match random.bool() {
            true => random.f64() * 1.5 + 0.01,
            false => f64::from(random.u32(1..=5)) / 4.0 * (1.0 + (random.f64() - 0.5) * 0.02),
        };
        let (one, other) = (end(&mut random), end(&mut random));
        let (min, max) = (one.min(other), one.max(other));
        let rows = (first..=last).map(|n| (n, f64::midpoint(min, max), min, max));
        claims += &table(&format!("t{number}"), "a", &rows.collect::<Vec<_>>());
        claims += &format!(
            "[[question]]\nid = \"q{number}\"\nasks = \"?\"\nform = \"ratio\"\nnumerator = \"a\"\n\
             denominator = \"b\"\nover = {{ n = {{ min = {first}, max = {last} }} }}\n\
             bound = {{ min = {min:?}, max = {max:?} }}\n"
        );
    }
    let found = judged(&claims);
    let (tables, questions): (Vec<_>, Vec<_>) =
        found.iter().partition(|claim| claim.kind == Kind::Claim);
    assert_eq!((tables.len(), questions.len()), (120, 120));
    for (table, question) in tables.iter().zip(&questions) {
        assert_eq!(table.verdict, question.verdict, "{table:?} {question:?}");
        assert_eq!(table.estimate, question.estimate, "{}", table.id);
        assert_eq!(table.needed, question.needed, "{}", table.id);
        let cells = || table.cells.iter().map(|cell| cell.verdict);
        if table.verdict != Verdict::Inconclusive {
            assert_eq!(table.verdict, Verdict::of_all(cells()), "{table:?}");
        }
    }
    for verdict in &Verdict::ALL[..3] {
        let count = tables
            .iter()
            .filter(|claim| claim.verdict == *verdict)
            .count();
        assert!(count >= 5, "{count} are {verdict:?}");
    }
}

#[test]
fn a_model_that_ran_anothers_code_is_not_compared_with_it() {
    let question = |id: &str, rest: &str| {
        format!(
            "[[question]]\nid = \"{id}\"\nasks = \"?\"\n\
             numerator = \"d\"\ndenominator = \"b\"\n{rest}\n"
        )
    };
    let claims = [
        question(
            "there",
            "form = \"ratio\"\nat = { n = 4 }\nbound = { min = 0.1, max = 9 }",
        ),
        question(
            "around",
            "form = \"ratio\"\nover = { n = { min = 3, max = 5 } }\n\
             bound = { min = 0.1, max = 0.9 }",
        ),
        question(
            "slope",
            "form = \"slope\"\nalong = \"n\"\nbound = { min = 0.9, max = 1.1 }",
        ),
        table("table", "d", &[(4, 1.0, 0.9, 1.1), (2, 0.5, 0.45, 0.55)]),
    ];
    let found = judged(&claims.concat());
    let by = |id: &str| found.iter().find(|claim| claim.id == id).unwrap();
    let reason = "both ran b: that compares a program with itself";
    assert_eq!(
        (by("there").verdict, &*by("there").note),
        (Verdict::Skipped, reason)
    );
    // The other points are judged.
    for (id, verdict) in [
        ("around", Verdict::NotReproduced),
        ("slope", Verdict::Reproduced),
    ] {
        let claim = by(id);
        assert_eq!(claim.verdict, verdict, "{claim:?}");
        let note = format!("not judged at n=4: {reason}");
        assert!(claim.note.ends_with(&note), "{}", claim.note);
    }
    let table = by("table");
    assert_eq!(table.verdict, Verdict::Reproduced);
    assert!(
        table.note.ends_with("1 of 2 cells measured"),
        "{}",
        table.note
    );
    assert_eq!(table.cells[0].note, reason);
}

#[test]
fn ties_have_a_ratio_and_a_claim_names_the_cells_that_decided() {
    let claim = "[[claim]]\nid = \"r\"\nwords = \"r\"\nreading = \"r\"\nform = \"ratio\"\n\
                 says = \"difference\"\nnumerator = \"a\"\ndenominator = \"b\"\nat = { n = 1 }\n\
                 bound = { max = 0.5 }\n";
    let report = reported(claim);
    let first = &report.groups[0].winners[0];
    assert_eq!(first.models, ["a", "c", "d"]);
    let ties: Vec<&str> = first.ties.iter().map(|tie| tie.over.as_str()).collect();
    assert_eq!(ties, ["c", "d"]);
    let even = |tie: &heddle_results::Lead| tie.times.low <= 1.0 && tie.times.high >= 1.0;
    assert!(first.ties.iter().all(even), "{:?}", first.ties);
    let compared = report.claims[0].compared.iter();
    let compared = compared.map(|cell| (cell.model.as_str(), cell.point["n"].as_f64()));
    assert_eq!(
        compared.collect::<Vec<_>>(),
        [("a", Some(1.0)), ("b", Some(1.0))]
    );
}

/// What a claim says when each sample of `a` takes as long as its wake times `a`, and those of `b`
/// are as they are.
fn noted(follows: bool) -> (String, bool) {
    let claim = "[[claim]]\nid = \"r\"\nwords = \"r\"\nreading = \"r\"\nform = \"ratio\"\n\
                 says = \"difference\"\nnumerator = \"a\"\ndenominator = \"b\"\nat = { n = 1 }\n\
                 bound = { min = 1.4 }\n";
    let experiment = Experiment::parse(&format!("{HEAD}{claim}"), Path::new("/e.toml")).unwrap();
    let experiments = [experiment];
    let options = options(Some(20));
    let mut plan = heddle_lab::run::plan(&experiments, &options);
    for cell in &mut plan.cells {
        for number in 0..20_u32 {
            // Phases of five samples: the host is slow in every other one.
            let wake = if number / 5 % 2 == 0 { 3000.0 } else { 6000.0 } + f64::from(number);
            let steady = 3000.0 + f64::from(number * 7 % 20 * 150);
            let value = if follows { wake } else { steady };
            let sample = serde_json::json!({
                "experiment": "e", "workload": "w", "model": cell.model, "point": cell.point,
                "params": cell.params, "sample": number, "order": number, "seed": 1,
                "started_ns": 1, "status": "ok", "command": [], "counters": {},
                "metrics": { "wall_ns": if cell.model == "b" { 3000.0 } else { value } },
                "process": heddle_results::ProcessUsage::default(),
                "around": { "wake_ns": wake, "ghz": 3.0 },
                "machine": heddle_results::Machine::default(),
            });
            cell.samples.push(serde_json::from_value(sample).unwrap());
        }
    }
    let claim = heddle_lab::judge::claims(0, &experiments[0], &plan, Mode::Quick, 1);
    let claim = &claim.claims[0];
    assert_eq!(claim.verdict, Verdict::Inconclusive, "{}", claim.ours);
    (claim.note.clone(), claim.unsteady)
}

#[test]
fn a_claim_that_goes_with_the_hosts_phases_says_that_this_machine_cannot_settle_it() {
    let (note, unsteady) = noted(true);
    let told = "a goes with what waking another processor costs, which changed 2.01× meanwhile";
    assert!(note.contains(told) && unsteady, "{note}");
    let (note, unsteady) = noted(false);
    assert!(!note.contains("waking") && !unsteady, "{note}");
}

#[test]
fn a_value_stands_in_the_unit_of_its_bound() {
    let value = |id: &str, bound: &str| {
        format!(
            "[[question]]\nid = \"{id}\"\nasks = \"{id}?\"\nform = \"value\"\nmodel = \"b\"\n\
             at = {{ n = 1 }}\nbound = {bound}\n"
        )
    };
    let found = judged(
        &[
            value("small", "{ max = 2e6 }"),
            value("between", "{ min = 900, max = 1100 }"),
        ]
        .concat(),
    );
    let [small, between] = &found[..] else {
        panic!("two questions");
    };
    // 1 000 ns and some, of 2 ms.
    assert_eq!(small.bound, "≤ 2\u{202f}000 µs");
    assert!(
        small.ours.starts_with("1.01 µs (95 % 1.0"),
        "{}",
        small.ours
    );
    assert_eq!(between.bound, "900 … 1\u{202f}100 ns");
    assert!(
        between.ours.starts_with("1\u{202f}01") && between.ours.contains(" ns (95 % 1\u{202f}0")
    );
}
