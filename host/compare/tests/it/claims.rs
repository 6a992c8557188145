//! What `heddle compare` says of models and claims.

use crate::house::{House, RATIO, TWICE, is_match};
use predicates::prelude::*;
use predicates::str::contains;

#[test]
fn a_planted_factor_of_two_is_found_without_touching_rust() {
    let house = House::new();
    house.mine(TWICE, "'fast', 'slow'", RATIO);
    house
        .verbose(&["own/", "-n", "10"])
        .assert()
        .code(0)
        .stdout(
            contains("mine: fast wins at 1.01 µs an item, 1.99× (95 % ")
                .and(contains(" ahead of slow."))
                .and(contains("Claims: 1 of 2 statements reproduced, 1 not\n"))
                .and(contains("report/index.html")),
        );
    assert!(
        house.page().contains("fast wins at 1.01"),
        "the page says it, too"
    );
    assert!(
        house.page().contains("Both had 1 strand switch."),
        "and why"
    );
    let samples = house.samples();
    assert_eq!(samples.len(), 20);
    for sample in &samples {
        for field in [
            "machine",
            "seed",
            "command",
            "params",
            "process",
            "started_ns",
        ] {
            assert!(!sample[field].is_null(), "each line says {field}");
        }
        assert!(
            sample["machine"]["host"]
                .as_str()
                .is_some_and(|host| !host.is_empty())
        );
    }
    // Each round has every model once, and the order differs from round to round.
    let order: Vec<&str> = samples
        .iter()
        .map(|sample| sample["model"].as_str().unwrap())
        .collect();
    assert!(
        order.chunks(2).all(|round| round[0] != round[1]),
        "{order:?}"
    );
    assert!(
        order.chunks(2).any(|round| round != &order[..2]),
        "{order:?}"
    );
}

#[test]
fn a_pair_of_the_same_reads_no_significant_difference() {
    let house = House::new();
    house.mine(
        "line $(( 1000 + (s * 7 + ${#m}) % 13 ))\n",
        "'one', 'other'",
        "",
    );
    house
        .verbose(&["own/"])
        .assert()
        .code(0)
        .stdout(contains("mine: no significant difference between ").and(contains("wins").not()));
    assert!(house.page().contains("no significant difference"));
    assert_eq!(
        house.samples().len(),
        40,
        "20 samples a cell unless asked otherwise"
    );
}

#[test]
fn an_inconclusive_claim_gets_more_samples_and_a_reference_never_wins() {
    let house = House::new();
    // 3.5 % apart with noise of 6 %, which is large for one model where it is small for the other,
    // against a bound of 3.4 %.
    let script = "d=$(( (s * s * 7) % 61 )); b=$(( 1000 + d )); \
                  [ $m = slow ] && b=$(( 1095 - d )); line $b\n";
    house.mine(
        script,
        "'fast', 'slow', 'serial'",
        &RATIO.replace("min = 1.8, max = 2.2", "min = 1.034"),
    );
    house.edit("workload =", "reference = ['serial']\nworkload =");
    house.verbose(&["own/"]).assert().code(0).stdout(
        contains("Additional samples, for claims that the first 20 a cell left inconclusive: ")
            .and(contains("serial").not()),
    );
    let counts = ["fast", "slow", "serial"].map(|model| house.count("model", model));
    assert!(counts[0] > 20 && counts[0] == counts[1], "{counts:?}");
    assert_eq!(counts[2], 20, "no claim speaks of it");
}

#[test]
fn a_sweep_makes_an_axis_groups_and_slopes() {
    let house = House::new();
    let claim = "[[claim]]\nid = 'linear'\nwords = 'linear'\nreading = 'r'\nsays = 'linear'\nform = 'slope'\nmodel = 'slow'\nalong = 'n'\nat = { opt = 'O2' }\n\
                 bound = { min = 0.9, max = 1.1 }\n[[claim]]\nid = 'swap'\nwords = 'they swap'\nreading = 'r'\nform = 'crossover'\n\
                 numerator = 'slow'\ndenominator = 'fast'\nalong = 'n'\nat = { opt = 'O2' }\nbound = { min = 9, max = 11 }\n";
    // slow costs 100 an n, fast 500 and 50 an n: they swap at n = 10.
    let script = "v=$(( (100 * n) * 1000 )); [ $m = fast ] && v=$(( (500 + 50 * n) * 1000 )); line $(( v + noise ))\n";
    house.mine(script, "'fast', 'slow'", claim);
    house.edit(
        "timeout_s = 20",
        "timeout_s = 20, sweep = [{ n = [1, 8, 12, 64], opt = ['O0', 'O2'] }]",
    );
    house.edit("workload =", "axis = 'n'\nworkload =");
    let lead = "1.73× (95 % 1.73–1.73) ahead of slow at n=64";
    house.verbose(&["own/mine.toml", "-n", "6"]).assert().code(0).stdout(
        contains("reproduced      \"linear\"\n")
            .and(contains("slope 1.000"))
            .and(contains("reproduced      \"they swap\"\n"))
            .and(contains("mine, -O0: slow wins up to n=8, "))
            .and(contains(format!("mine, -O2: slow wins up to n=8, 1.12× (95 % 1.12–1.13) ahead of fast at n=8; fast wins from n=12 on, {lead}."))),
    );
}

#[test]
fn two_runs_of_the_same_agree_within_their_intervals() {
    let house = House::new();
    // The noise is of the run and the sample, 5 % wide.
    house.mine(
        "run=$(cat run); line $(( 1000 + (run * 7919 + s * s * 31 + s * 17 + ${#m} * run) % 53 ))\n",
        "'fast', 'slow'",
        RATIO,
    );
    let run = |number: &str| -> heddle_results::Report {
        house.write("own/run", number);
        let output = house.compare(&["own/", "-n", "20", "--json"]).output();
        serde_json::from_slice(&output.unwrap().stdout).unwrap()
    };
    let (a, again) = (run("1"), run("2"));
    let values = |report: &heddle_results::Report, series: usize| {
        let cell = &report.experiments[0].groups[0].series[series].cells[0];
        (cell.values.clone(), cell.median.unwrap())
    };
    for series in 0..2 {
        let ((first, one), (second, other)) = (values(&a, series), values(&again, series));
        assert_ne!(first, second, "the runs are two");
        assert!(one.low < one.high && one.low <= other.high && other.low <= one.high);
    }
    let ratio = |report: &heddle_results::Report| report.experiments[0].claims[1].estimate.unwrap();
    let (one, other) = (ratio(&a), ratio(&again));
    assert!(
        one.low <= other.high && other.low <= one.high,
        "{one:?} {other:?}"
    );
    assert_eq!(
        a.experiments[0].claims[1].verdict,
        again.experiments[0].claims[1].verdict
    );
}

#[test]
fn an_open_claim_says_in_the_terminal_what_would_settle_it_and_why_it_stands_so() {
    let house = House::new();
    // On the bound of 1.8, give or take; slow counts 2 switches, fast 1.
    let script = "b=1000; [ $m = slow ] && { b=1810; n=2; }; line $(( b + (s * s * 7) % 61 ))\n";
    house.mine(script, "'fast', 'slow'", RATIO);
    let output = house.verbose(&["own/", "-n", "10"]).assert().code(0);
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    let mut lines = text
        .lines()
        .skip_while(|line| !line.contains("inconclusive    \"half as fast\""))
        .skip(2);
    let (claim, settles, why) = (lines.next(), lines.next(), lines.next());
    assert!(claim.is_some_and(|line| line.contains("1.8")), "{text}");
    assert!(
        settles.is_some_and(|line| line.contains("samples a cell would settle it (`-n ")
            && line.ends_with("), 10 were taken")),
        "{text}"
    );
    let sentence = "slow had 2 strand switches; fast had 1 strand switch.";
    assert_eq!(why.map(str::trim), Some(sentence), "{text}");
    assert!(house.page().contains(sentence), "the page says it, too");
}

#[test]
fn costs_once_and_each_are_told_apart_and_a_model_is_set_against_itself() {
    let house = House::new();
    let claims = "[[claim]]\nid = 'model'\nwords = 'w'\nreading = 'r'\nform = 'lines'\nnumerator = 'many'\ndenominator = 'large'\n\
                  without = 'bare'\nterms = ['switch', 'small', 'others', 'big']\nalong = 'n'\nat = { opt = 'O2' }\n\
                  bound = { min = 30, max = 40 }\n\
                  [[claim]]\nid = 'optimised'\nwords = 'v'\nreading = 'r'\nsays = 'difference'\nform = 'ratio'\nmodel = 'many'\n\
                  at = { n = 100, opt = 'O0' }\nagainst = { opt = 'O2' }\nbound = { min = 1.9, max = 2.1 }\n\
                  why = ['strand_switches']\n";
    // At -O2 many costs 200 + 30 n, without its memory 200 + 12 n, large 1100 + 5 n: they meet at n
    // = 36. At -O0 twice that.
    let script = "for a; do case $a in --opt=*) opt=${a#*=};; esac; done\n\
                  case $m in many) v=$(( 200 + 30 * n ));; bare) v=$(( 200 + 12 * n ));; *) v=$(( 1100 + 5 * n ));; esac\n\
                  [ $opt = O0 ] && v=$(( 2 * v )) n=7; line $(( v * 1000 + noise ))\n";
    house.mine(script, "'many', 'large', 'bare'", claims);
    house.edit(
        "timeout_s = 20",
        "timeout_s = 20, sweep = [{ n = [1, 10, 100], opt = ['O0', 'O2'] }]",
    );
    let output = house
        .compare(&["own/", "-n", "6", "--json"])
        .assert()
        .code(0);
    let report: heddle_results::Report =
        serde_json::from_slice(&output.get_output().stdout).unwrap();
    let [model, optimised] = &report.experiments[0].claims[..] else {
        panic!("two claims")
    };
    assert_eq!(model.verdict, heddle_results::Verdict::Reproduced);
    let found: Vec<(&str, f64)> = model
        .coefficients
        .iter()
        .map(|term| (term.name.as_str(), (term.estimate.value / 1000.0).round()))
        .collect();
    let expected = [
        ("switch", 200.0),
        ("small", 18.0),
        ("others", 7.0),
        ("big", 1100.0),
        ("each in large", 5.0),
    ];
    assert_eq!(found, expected, "{}", model.ours);
    assert!(
        model.ours.starts_with("n 36.0 (95 % 36.0–36.0)"),
        "{}",
        model.ours
    );
    let small = &model.coefficients[1].text;
    assert!(small.starts_with("18.0 µs (95 % 18.0–18.0)"), "{small}");
    assert!(
        house.page().contains("each in large"),
        "the page has them, too"
    );
    assert_eq!(optimised.verdict, heddle_results::Verdict::Reproduced);
    assert_eq!(optimised.computed, "many ÷ the same with -O2 at n=100, -O0");
    assert_eq!(
        optimised.why,
        "At n=100, many with -O0 had 7 strand switches; many with -O2 had 100 strand switches."
    );
    for (from, to, error) in [
        (
            "against = { opt = 'O2' }",
            "against = { opt = 'O3' }",
            "quick has no such point to set against n=100, opt=\"O0\"",
        ),
        (
            "against = { opt = 'O3' }",
            "against = { k = 1 }",
            "`against` changes k, so `at` must say it",
        ),
        (
            "'others', 'big'",
            "'others'",
            "terms are four, and need `without`",
        ),
    ] {
        house.edit(from, to);
        house
            .compare(&["own/"])
            .assert()
            .code(2)
            .stderr(contains(error));
    }
}

#[test]
fn an_account_says_what_counted_things_cost_and_how_much_that_explains() {
    let house = House::new();
    let claims = "[[claim]]\nid = 'account'\nwords = 'w'\nreading = 'r'\nform = 'account'\nnumerator = 'slow'\ndenominator = 'fast'\n\
                  terms = ['strand_switches']\nbound = { min = 0.9 }\n";
    // 30 µs a switch: `fast` has one, `slow` n of them.
    let script = "[ $m = fast ] && n=1; line $(( 30000 * n + noise ))\n";
    house.mine(script, "'slow', 'fast'", claims);
    house.edit(
        "timeout_s = 20",
        "timeout_s = 20, sweep = [{ n = [2, 10, 100] }]",
    );
    let arguments = ["own/", "-n", "6", "--json"];
    let output = house.compare(&arguments).assert().code(0);
    let report: heddle_results::Report =
        serde_json::from_slice(&output.get_output().stdout).unwrap();
    let claim = &report.experiments[0].claims[0];
    assert_eq!(claim.verdict, heddle_results::Verdict::Reproduced);
    assert!(
        claim.ours.starts_with("1.000 of the difference"),
        "{}",
        claim.ours
    );
    assert!(
        claim.note.ends_with("misses no median by more than 0 %"),
        "{}",
        claim.note
    );
    assert_eq!(
        claim.computed,
        "share of slow − fast that an account of strand switches explains"
    );
    let [cost] = &claim.coefficients[..] else {
        panic!("one term")
    };
    assert_eq!(cost.name, "each of strand switches");
    assert!(cost.text.starts_with("30.0 µs (95 %"), "{}", cost.text);

    house.edit("'strand_switches'", "'meals'");
    let output = house.compare(&arguments).assert().code(0);
    let report: heddle_results::Report =
        serde_json::from_slice(&output.get_output().stdout).unwrap();
    let claim = &report.experiments[0].claims[0];
    assert_eq!(claim.note, "meals of slow were not counted at n=2");
    house.edit("terms = ['meals']\n", "");
    house
        .compare(&["own/"])
        .assert()
        .code(2)
        .stderr(contains("an account has numerator, denominator and terms"));
}

#[test]
fn too_few_samples_say_nothing() {
    let house = House::new();
    house.mine(TWICE, "'fast', 'slow'", RATIO);
    house.verbose(&["own/", "-n", "3"]).assert().code(0).stdout(
        contains("too few samples to tell the models apart: 3 in a cell, at least 6 are needed")
            .and(contains(
                "Claims: 0 of 2 statements reproduced, 2 inconclusive\n",
            )),
    );
}

#[test]
fn goals_are_reached_or_not_and_a_table_sets_models_against_its_base() {
    let house = House::new();
    let lines = RATIO
        .lines()
        .filter(|line| !line.starts_with("reading") && !line.starts_with("says"));
    let goals = lines
        .collect::<Vec<_>>()
        .join("\n")
        .replace("[[claim]]", "[[goal]]")
        + "\n";
    let value = "[[goal]]\nid = 'switches'\nwords = 'w'\nform = 'value'\nmetric = 'strand_switches'\nmodel = 'slow'\n\
                 bound = { max = 1 }\n";
    house.mine(TWICE, "'fast', 'slow'", &format!("{goals}{value}"));
    house.edit(
        "workload =",
        "base = 'fast'\ncolumns = ['strand_switches']\nworkload =",
    );
    house
        .verbose(&["own/", "-n", "10"])
        .assert()
        .code(0)
        .stdout(
            contains("\nGoals: 2 reached, 1 not reached\n")
                .and(contains("Claims:").not())
                .and(contains("slow ÷ fast: 1.99× (95 % "))
                .and(contains(
                    "strand switches of slow: 1 (95 % 1–1); wanted ≤ 1",
                ))
                .and(contains("\nmine: A fifth workload\n"))
                .and(contains(
                    "time per item          95 %  ÷ fast       95 %  strand switches\n",
                ))
                .and(is_match(
                    r"\n  slow +2\.01 µs  2\.\d\d–2\.\d\d µs   1\.99×  1\.\d\d–2\.\d\d +1\n",
                )),
        );
    assert!(
        house.page().contains("not reached"),
        "the page says it, too"
    );
}

#[test]
fn a_claim_on_what_only_a_full_run_counts_says_so() {
    let house = House::new();
    let claim = "[[claim]]\nid = 'deep'\nwords = 'w'\nreading = 'r'\nform = 'value'\nmodel = 'slow'\nmetric = 'frames'\nbound = { min = 1 }\n";
    house.mine(TWICE, "'fast', 'slow'", claim);
    house.edit(
        "quick = { timeout_s = 20 }",
        "quick = { timeout_s = 20 }\nfull = { params = { debugger = 1 } }",
    );
    for (mode, reason) in [
        (
            "--quick",
            "needs --full: only there, by debugger=1, frames of slow is counted",
        ),
        ("--full", "frames of slow was not counted at its only point"),
    ] {
        house
            .verbose(&["own/", "-n", "6", mode])
            .assert()
            .code(0)
            .stdout(contains(reason));
    }
}

#[test]
fn cells_that_crash_alike_share_a_line() {
    let house = House::new();
    house.mine("echo 'no luck' >&2; exit 9\n", "'fast', 'slow'", "");
    house.edit(
        "timeout_s = 20",
        "timeout_s = 20, sweep = [{ n = [1, 8, 12] }]",
    );
    house.verbose(&["own/"]).assert().code(1).stdout(
        contains("mine: fast ×3 and slow ×3, first at n=1: 18 of 18 samples crashed: ")
            .or(contains(
                "mine: slow ×3 and fast ×3, first at n=1: 18 of 18 samples crashed: ",
            ))
            .and(contains("no luck")),
    );
}

#[test]
fn a_reason_is_drawn_from_metrics_too() {
    let house = House::new();
    let claim = RATIO.replace(
        "form = \"ratio\"",
        "form = \"ratio\"\nmetric = \"strand_switches\"",
    );
    house.mine(
        TWICE,
        "'fast', 'slow'",
        &claim.replace("why = [\"strand_switches\"]", "why = [\"wall_ns\"]"),
    );
    house.compare(&["own/", "-n", "6"]).assert().code(0);
    assert!(
        house
            .page()
            .contains("slow had 2.00 µs of wall; fast had 1.00 µs of wall.")
    );
}

#[test]
fn a_printed_table_stands_beside_ours_and_a_question_is_answered_apart() {
    let house = House::new();
    let claims = "[[claim]]\nid = 'table'\nwords = 'Table 1. Time of slow (%)'\nreading = 'within ten points'\n\
                  form = 'table'\nnumerator = 'slow'\ndenominator = 'fast'\ncolumns = ['n', 'figure']\n\
                  cells = [[1, 199.0], [2, 95.0], [4, 201.0]]\nbound = { points = 10 }\n\
                  [[question]]\nid = 'slower'\nasks = 'Is slow slower at twice the size, too?'\nform = 'ratio'\n\
                  numerator = 'slow'\ndenominator = 'fast'\nat = { n = 2 }\nbound = { max = 0.95 }\n";
    house.mine(TWICE, "'fast', 'slow'", claims);
    house.edit(
        "quick = { timeout_s = 20 }",
        "quick = { timeout_s = 20, sweep = [{ n = [1, 2] }] }\nfull = { timeout_s = 20, sweep = [{ n = [1, 2, 4] }] }",
    );
    house
        .verbose(&["own/", "-n", "10"])
        .assert()
        .code(0)
        .stdout(
            contains("Claims: 0 of 1 statement reproduced, 1 not\n")
                .and(contains("\nA fifth article: 0 of 1 reproduced, 1 not\n"))
                .and(contains(
                    "  not reproduced  \"Table 1. Time of slow (%)\"\n",
                ))
                .and(is_match(r"\n +n  published  ours, % +95 %\n"))
                .and(is_match(r"\n +1 +199\.0 +✓ 199 +1\d\d–\d+\n"))
                .and(is_match(r"\n +2 +95\.0 +✗ 199 +1\d\d–\d+\n"))
                .and(is_match(r"\n +4 +201\.0 +–\n"))
                .and(contains("\nQuestions: 1 no\n"))
                .and(contains(
                    "CLAIMS of 1 source   0 of 1 statement reproduced · 1 not\n",
                ))
                .and(contains("QUESTIONS of ours   1 no\n")),
        );
    house.compare(&["--show", "mine"]).assert().code(0).stdout(
        contains("  not reproduced  table: ")
            .and(is_match(r"\n +n  published  ours, % +95 %\n"))
            .and(contains("  no              slower: slow ÷ fast at n=2: "))
            .and(contains("Is slow slower at twice the size, too?\n")),
    );
    let page = house.page();
    for text in [
        "In percent; ours with its 95 % interval",
        "not measured",
        "within ten points",
    ] {
        assert!(page.contains(text), "{text}");
    }
}
