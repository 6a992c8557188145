//! What is wrong with an experiment file is said with the line, and with what would be right.

use heddle_lab::experiment::{Experiment, Form, Mode};
use heddle_results::Kind;
use std::path::Path;

const GOOD: &str = r#"id = "e"
title = "t"
workload = "w"
axis = "n"
reference = ["serial"]
[metric]
name = "wall_ns"
label = "time"
unit = "ns"
[quick]
timeout_s = 1
params = { size = 3 }
sweep = [{ n = [1, 2, 3], opt = ["O0", "O2"] }]
[full]
sweep = [{ n = [1, 2, 3, 1000], opt = ["O0", "O2"] }]
params = { size = 3 }
[[program]]
command = ["./x-{opt}", "{size}"]
models = ["serial", "thread", "stackless"]
[[question]]
id = "c1"
asks = "q"
form = "ratio"
numerator = "thread"
denominator = "stackless"
at = { opt = "O0" }
over = { n = { min = 2 } }
bound = { max = 0.95 }
[[question]]
id = "c2"
asks = "q"
form = "slope"
model = "thread"
along = "n"
at = { opt = "O0" }
bound = { min = 0.9, max = 1.1 }
"#;

fn parse(text: &str) -> Result<Experiment, String> {
    Experiment::parse(text, Path::new("/dir/e.toml")).map_err(|error| error.to_string())
}

#[test]
fn the_unchanged_file_is_good() {
    parse(GOOD).unwrap();
}

#[test]
fn each_mistake_is_named_with_its_line() {
    for (from, to, line, message) in [
        ("title = \"t\"", "titel = \"t\"", 2, "unknown field `titel`"),
        ("id = \"e\"", "id = \"f\"", 1, "make it f.toml"),
        ("name = \"wall_ns\"", "name = 7", 7, "expected a string"),
        (
            "unit = \"ns\"",
            "unit = \"ns\"\nbetter = \"faster\"",
            10,
            "unknown variant `faster`, expected `lower` or `higher`",
        ),
        (
            "axis = \"n\"",
            "axis = \"m\"",
            4,
            "the axis `m` is not swept",
        ),
        ("axis = \"n\"", "axis = \"opt\"", 4, "not a number"),
        ("[\"serial\"]", "[\"seriall\"]", 5, "did you mean `serial`"),
        ("timeout_s = 1", "timeout_s = 0", 11, "must be above 0"),
        ("timeout_s = 1", "timeout_s = nan", 11, "must be above 0"),
        (
            "timeout_s = 1",
            "timeout_s = 1\nexpected_s = 1e20",
            12,
            "expected_s must be above 0 and at most 1000000000",
        ),
        (
            "size = 3 }\nsweep",
            "n = 3 }\nsweep",
            12,
            "`n` is in both params and sweep",
        ),
        (
            "size = 3 }\nsweep",
            "size = [3] }\nsweep",
            12,
            "must be a number, a word",
        ),
        (
            "n = [1, 2, 3], opt",
            "n = [], opt",
            13,
            "gives `n` no value",
        ),
        (
            "size = 3 }\nsweep",
            "model = 3 }\nsweep",
            12,
            "cannot be called `model`",
        ),
        (
            "\"thread\", \"stackless\"]",
            "\"thread\", \"stackles\"]",
            19,
            "did you mean `stackless`",
        ),
        (
            "\"thread\", \"stackless\"]",
            "\"thread\", \"thread\"]",
            19,
            "two programs run `thread`",
        ),
        (
            "\"{size}\"]",
            "\"{sise}\"]",
            18,
            "nothing gives {sise} a value",
        ),
        (
            "command = [\"./x-{opt}\", \"{size}\"]",
            "command = []",
            18,
            "name an executable",
        ),
        (
            "numerator = \"thread\"",
            "numerator = \"treads\"",
            24,
            "no program runs `treads`",
        ),
        (
            "numerator = \"thread\"",
            "model = \"thread\"",
            24,
            "a ratio has numerator and denominator",
        ),
        (
            "form = \"ratio\"",
            "form = \"ration\"",
            23,
            "expected one of `ratio`, `table`, `value`, `slope`, `crossover`",
        ),
        ("over = { n", "over = { m", 27, "`m` is not swept"),
        (
            "{ min = 2 }",
            "{ min = 5000 }",
            26,
            "no point of the quick or the full sweep",
        ),
        (
            "{ min = 2 }",
            "{ min = 3, max = 2 }",
            27,
            "min no greater than max",
        ),
        ("{ min = 2 }", "{ }", 27, "needs min, max or both"),
        (
            "at = { opt = \"O0\" }\nover",
            "over",
            20,
            "`at` must say which opt is meant",
        ),
        ("{ max = 0.95 }", "{ max = -1 }", 28, "numbers above 0"),
        ("id = \"c2\"", "id = \"c1\"", 30, "two claims `c1`"),
        ("along = \"n\"", "", 32, "a slope has along"),
    ] {
        assert_eq!(
            GOOD.matches(from).count(),
            1,
            "the change is unique: {from}"
        );
        let error = parse(&GOOD.replacen(from, to, 1))
            .err()
            .unwrap_or_else(|| panic!("{to} was accepted"));
        assert!(error.contains(message), "{to}: {error}");
        assert!(
            error.starts_with(&format!("/dir/e.toml:{line}: ")),
            "{to}: expected line {line}: {error}"
        );
    }
}

#[test]
fn an_experiment_says_in_a_line_what_people_build_who_ask_it() {
    let with = |usage: &str| parse(&GOOD.replacen("axis", &format!("use = \"{usage}\"\naxis"), 1));
    assert_eq!(parse(GOOD).unwrap().usage, "");
    assert_eq!(
        with("many idle connections").unwrap().usage,
        "many idle connections"
    );
    for wrong in [
        "two\\nlines",
        " around",
        "a use that goes on for longer than the page has room",
    ] {
        let error = with(wrong).unwrap_err().to_string();
        assert!(error.starts_with("/dir/e.toml:4: `use` has"), "{error}");
        assert!(error.contains("in at most 40"), "{error}");
    }
}

#[test]
fn what_the_work_is_like_refers_to_parameters_and_times() {
    let with =
        |like: &str| parse(&GOOD.replacen("[metric]", &format!("[like]\n{like}\n[metric]"), 1));
    let good = with("waits-on = \"locks\"\nalive = \"n\"\nwaits = \"size\"").unwrap();
    let params = [("n".to_owned(), 8.into()), ("size".to_owned(), 4.into())].into();
    let like = good
        .like
        .as_ref()
        .unwrap()
        .get_ref()
        .like(&params, Some(200.0))
        .unwrap();
    assert_eq!((like.alive, like.work_ns), (8.0, Some(50.0)));
    for (like, message) in [
        (
            "waits-on = \"locks\"\nalive = \"m\"",
            "nothing gives `m` a value in quick",
        ),
        (
            "waits-on = \"locks\"\nalive = 0",
            "`alive` must be a number above 0",
        ),
        ("waits-on = \"love\"\nalive = 1", "unknown variant `love`"),
    ] {
        let error = with(like).unwrap_err().to_string();
        assert!(error.contains(message), "{like}: {error}");
    }
}

#[test]
fn an_answer_has_a_label_that_fits_and_names_one_point() {
    let text = format!(
        "{GOOD}[[answer]]\nlabel = \"key-value, -O2\"\nat = {{ n = 3, opt = \"O2\" }}\nwhy = \"p_operations\"\norder = 10\n\
         [[answer]]\nlabel = \"second\"\nat = {{ n = 2.0, opt = \"O0\" }}\n"
    );
    let experiment = parse(&text).unwrap();
    assert!(experiment.is_main());
    let first = experiment.answers().next().unwrap();
    let point = first.point(&experiment, Mode::Quick).unwrap();
    assert_eq!(point["n"], 3);
    // The full sweep of 1, 2, 3 and 1000 has it, too.
    assert_eq!(first.point(&experiment, Mode::Full), Some(point));
    assert!(!parse(GOOD).unwrap().is_main());
    let suite = parse(&text.replacen("axis", "suite = \"speed\"\naxis", 1));
    assert!(!suite.unwrap().is_main(), "a suite has no main experiments");
    // The full sweep need not have it.
    let without = text.replacen("[1, 2, 3, 1000]", "[1, 2, 1000]", 1);
    let experiment = parse(&without).unwrap();
    let first = experiment.answers().next().unwrap();
    assert_eq!(first.point(&experiment, Mode::Full), None);

    for (from, to, line, message) in [
        (
            "label = \"second\"",
            "label = \"key-value, -O2\"",
            43,
            "two answers `key-value, -O2`",
        ),
        (
            "label = \"second\"",
            "label = \" \"",
            43,
            "a label on one line",
        ),
        (
            "label = \"second\"",
            "label = \"a label that is too long\"",
            43,
            "has 24 characters: it may have 22",
        ),
        ("n = 3, opt", "m = 3, opt", 39, "`m` is not swept in quick"),
        (
            "n = 3, opt",
            "n = 1000, opt",
            39,
            "no point of the quick sweep",
        ),
        (
            "at = { n = 3, opt = \"O2\" }",
            "at = { n = 3 }",
            39,
            "must say which opt is meant, in quick one of \"O0\", \"O2\"",
        ),
        (
            "why = \"p_operations\"",
            "why = \"P operations\"",
            40,
            "no name of a counter",
        ),
        ("order = 10", "order = -1", 41, "expected u32"),
        (
            "label = \"second\"",
            "lable = \"second\"",
            43,
            "unknown field `lable`",
        ),
    ] {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        let error = parse(&text.replacen(from, to, 1))
            .err()
            .unwrap_or_else(|| panic!("{to} was accepted"));
        assert!(error.contains(message), "{to}: {error}");
        assert!(
            error.starts_with(&format!("/dir/e.toml:{line}: ")),
            "{to}: {error}"
        );
    }
}

#[test]
fn a_short_form_of_a_claim_is_an_excerpt() {
    let words = "words = \"in most cases threads are twice as slow\"\nshort = ";
    let with = |short: &str| {
        let good = GOOD.replacen("[[question]]", "[[goal]]", 1);
        good.replacen("asks = \"q\"", &format!("{words}\"{short}\""), 1)
    };
    let experiment = parse(&with("threads … twice as slow")).unwrap();
    let claim = experiment.claims().last().unwrap();
    assert_eq!(claim.short.as_deref(), Some("threads … twice as slow"));
    let error = parse(&with("threads … twice as fast")).unwrap_err();
    assert!(
        error.starts_with("/dir/e.toml:23: claim c1: `short`"),
        "{error}"
    );
}

#[test]
fn each_form_has_its_own_fields() {
    let with = |fields: &str| {
        let place = "at = { opt = \"O0\" }\nover = { n = { min = 1 } }\nbound = { max = 2 }\n";
        parse(&format!(
            "{GOOD}[[question]]\nid = \"f\"\nasks = \"q\"\n{fields}\n{place}"
        ))
    };
    let pair = "numerator = \"thread\"\ndenominator = \"serial\"";
    let form = |fields: &str| {
        let experiment = with(fields).unwrap_or_else(|error| panic!("{fields}: {error}"));
        experiment.claims().last().unwrap().form.clone()
    };
    assert!(matches!(
        form(&format!("form = \"ratio\"\n{pair}")),
        Form::Ratio(_)
    ));
    assert!(matches!(
        form("form = \"value\"\nmodel = \"thread\""),
        Form::Value(_)
    ));
    let slope = "form = \"slope\"\nalong = \"n\"";
    assert!(matches!(
        form(&format!("{slope}\nmodel = \"thread\"")),
        Form::Slope(_)
    ));
    assert!(matches!(
        form(&format!("{slope}\n{pair}")),
        Form::RatioSlope(_)
    ));
    let crossover = format!("form = \"crossover\"\nalong = \"n\"\n{pair}");
    assert!(matches!(form(&crossover), Form::Crossover(_)));
    let lines = format!("form = \"lines\"\nalong = \"n\"\n{pair}");
    assert!(matches!(form(&lines), Form::Lines(_)));
    let split = format!("{lines}\nwithout = \"stackless\"");
    assert!(matches!(form(&split), Form::SplitLines(_)));
    let terms = form(&format!("{split}\nterms = [\"a\", \"b\", \"c\", \"d\"]"));
    assert!(matches!(terms, Form::SplitLines(lines) if lines.terms.is_some()));
    let account = format!("form = \"account\"\n{pair}\nterms = [\"switches\"]");
    assert!(matches!(form(&account), Form::Account(_)));

    // The line of the field that is too much, or of the form where one is missing.
    for (fields, line, message) in [
        (
            format!("form = \"value\"\n{pair}"),
            42,
            "unknown field `denominator`",
        ),
        (
            "form = \"value\"".into(),
            40,
            "missing field `model`; a value has a model",
        ),
        (
            slope.into(),
            40,
            "a slope has along and either model or numerator",
        ),
        (
            format!("{slope}\nmodel = \"thread\"\n{pair}"),
            44,
            "unknown field `denominator`",
        ),
        (
            format!("form = \"crossover\"\n{pair}"),
            40,
            "missing field `along`; a crossover has",
        ),
        (
            format!("{lines}\nterms = [\"a\", \"b\", \"c\", \"d\"]"),
            44,
            "unknown field `terms`, expected one of `numerator`, `denominator`, `along`; lines have",
        ),
        (
            format!("{split}\nterms = [\"a\"]"),
            45,
            "expected an array of length 4",
        ),
        (
            format!("form = \"account\"\n{pair}"),
            40,
            "missing field `terms`; an account has",
        ),
        (
            format!("form = \"account\"\n{pair}\nterms = []"),
            43,
            "an account needs a counter",
        ),
        (
            "form = \"ratio\"\nmodel = \"thread\"\nagainst = { opt = \"O9\" }".into(),
            42,
            "quick has no such point to set against n=1",
        ),
        (
            "form = \"ratio\"\nmodel = \"thread\"\nagainst = {}".into(),
            42,
            "needs a parameter that is another",
        ),
        (
            "form = \"value\"\nmodel = \"thread\"\nmetrik = \"m\"".into(),
            42,
            "unknown field `metrik`; did you mean `metric`?",
        ),
        (
            "form = \"value\"\nmodel = 7".into(),
            41,
            "expected a string",
        ),
    ] {
        let error = with(&fields).unwrap_err();
        let expected = format!("/dir/e.toml:{line}: claim f: ");
        assert!(error.starts_with(&expected), "{fields}: {error}");
        assert!(error.contains(message), "{fields}: {error}");
    }
}

const SERIES: &str = r#"[claims]
at = { opt = "O0" }
why = ["switches"]
quote = "table"
[quote.table]
words = "Table 2. Ratio of thread to serial (%)"
short = "Ratio of thread to serial"
[[goal]]
id = "s-{n}"
form = "ratio"
numerator = "thread"
denominator = "serial"
columns = ["n", "figure"]
cells = [
    [1, 45.4],
    [2, 95.0],
    [3, "126 %"],
]
bound = { points = 10 }
[[goal]]
id = "own"
words = "w"
form = "value"
model = "thread"
at = { opt = "O2", n = 1 }
why = []
bound = { max = 2 }
"#;

#[test]
fn a_series_is_a_claim_for_each_row() {
    let experiment = parse(&format!("{GOOD}{SERIES}")).unwrap();
    let claims: Vec<_> = experiment.claims().skip(2).collect();
    let ids: Vec<_> = claims.iter().map(|claim| claim.id.as_str()).collect();
    assert_eq!(ids, ["s-1", "s-2", "s-3", "own"]);
    let figures = claims.iter().map(|claim| claim.figure.as_deref());
    let printed = [Some("45.4"), Some("95.0"), Some("126 %"), None];
    assert_eq!(figures.collect::<Vec<_>>(), printed);
    let bounds = claims.iter().map(|claim| claim.bound.to_string());
    let around = ["0.354 … 0.554", "0.85 … 1.05", "1.16 … 1.36", "≤ 2"];
    assert_eq!(bounds.collect::<Vec<_>>(), around);
    for (index, claim) in claims[..3].iter().enumerate() {
        assert_eq!(claim.words, "Table 2. Ratio of thread to serial (%)");
        assert_eq!(claim.short.as_deref(), Some("Ratio of thread to serial"));
        assert_eq!(claim.at["opt"], "O0");
        assert_eq!(claim.at["n"], index + 1);
        assert_eq!(claim.why, ["switches"]);
    }
    // With words of its own a claim has nothing of the shared quotation.
    let own = claims[3];
    assert_eq!((own.words.as_str(), &own.short), ("w", &None));
    assert!(own.why.is_empty() && own.at["opt"] == "O2");
}

#[test]
fn a_column_is_a_field_or_a_parameter() {
    let series = "[[goal]]\nid = \"g-{id}\"\nwords = \"w\"\nform = \"ratio\"\ndenominator = \"serial\"\n\
                  columns = [\"id\", \"numerator\", \"opt\", \"n\", \"bound\"]\n\
                  cells = [[\"a\", \"thread\", \"O0\", 1, { max = 1 }],\n\
                  [\"b\", \"stackless\", \"O2\", 2, { min = 1 }]]\n";
    let experiment = parse(&format!("{GOOD}{series}")).unwrap();
    let goals: Vec<_> = experiment
        .claims()
        .filter(|claim| claim.kind == Kind::Goal)
        .collect();
    let told = goals.iter().map(|goal| {
        let models = goal.form.models().join(" ÷ ");
        format!("{} {models} {} {}", goal.id, goal.at["opt"], goal.bound)
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            "g-a thread ÷ serial \"O0\" ≤ 1",
            "g-b stackless ÷ serial \"O2\" ≥ 1"
        ]
    );
}

#[test]
fn a_mistake_in_a_series_is_named_with_its_line() {
    let text = format!("{GOOD}{SERIES}");
    for (from, to, line, message) in [
        (
            "columns = [\"n\", ",
            "columns = [\"m\", ",
            45,
            "`{n}` is not a column",
        ),
        (
            "[2, 95.0]",
            "[2]",
            52,
            "claim s-{n}: the row has 1 values for 2 columns",
        ),
        ("[2, 95.0]", "2", 52, "`cells` must be a list of rows"),
        (
            "[2, 95.0]",
            "[7, 95.0]",
            52,
            "claim s-7: no point of the quick or the full sweep",
        ),
        ("[2, 95.0]", "[1, 95.0]", 52, "two claims `s-1`"),
        (
            "[2, 95.0]",
            "[2, \"dear\"]",
            55,
            "claim s-{n}: `points` needs a figure in percent",
        ),
        (
            "points = 10",
            "points = 60",
            55,
            "claim s-1: a ratio or a size is bounded by",
        ),
        (
            "points = 10",
            "points = 10, max = 1",
            55,
            "`points` must be above 0, and stands by itself",
        ),
        (
            "id = \"s-{n}\"",
            "id = \"s\"",
            45,
            "ids that differ, such as `s-{n}`",
        ),
        (
            "columns = [\"n\", \"figure\"]\n",
            "",
            49,
            "`columns` and `cells` go together",
        ),
        (
            "columns = [\"n\", ",
            "columns = [\"form\", ",
            49,
            "`form` cannot be a column",
        ),
        (
            "columns = [\"n\", ",
            "columns = [\"numerator\", ",
            49,
            "`numerator` is both a field and a column",
        ),
        (
            "at = { opt = \"O0\" }\nwhy",
            "at = { n = 1 }\nwhy",
            49,
            "`n` is in both at and columns",
        ),
        (
            "quote = \"table\"",
            "quote = \"tabel\"",
            40,
            "did you mean `table`?",
        ),
        (
            "quote = \"table\"",
            "words = \"w\"",
            41,
            "no claim has quote = \"table\"",
        ),
        (
            "why = [\"switches\"]",
            "id = \"x\"",
            39,
            "unknown field `id`, expected one of `quote`",
        ),
        (
            "why = [\"switches\"]",
            "why = 7",
            39,
            "claim c1: invalid type: integer `7`",
        ),
        (
            "short = \"Ratio",
            "short = \"Ration",
            43,
            "claim s-1: `short` must be an excerpt",
        ),
        ("[claims]", "[[claims]]", 37, "a claim is a [[claim]]"),
    ] {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        let error = parse(&text.replacen(from, to, 1))
            .err()
            .unwrap_or_else(|| panic!("{to} was accepted"));
        assert!(error.contains(message), "{to}: {error}");
        assert!(
            error.starts_with(&format!("/dir/e.toml:{line}: ")),
            "{to}: {error}"
        );
    }
}

#[test]
fn a_goal_is_checked_as_a_claim_and_a_value_has_one_model() {
    let goal = "[[goal]]\nid = \"g1\"\nwords = \"w\"\nform = \"value\"\nmetric = \"bytes\"\nmodel = \"thread\"\n\
                at = { opt = \"O0\", n = 2 }\nbound = { max = 12 }\n";
    let text = format!("{GOOD}{goal}");
    let experiment = parse(&text).unwrap();
    let goals: Vec<_> = experiment
        .claims()
        .filter(|claim| claim.kind == Kind::Goal)
        .collect();
    assert_eq!(goals.len(), 1);
    assert_eq!(goals[0].id, "g1");
    for (from, to, message) in [
        ("id = \"g1\"", "id = \"c1\"", "two claims `c1`"),
        (
            "model = \"thread\"\nat = { opt = \"O0\", n",
            "at = { opt = \"O0\", n",
            "a value has a model",
        ),
        (
            "[metric]",
            "base = \"thraed\"\n[metric]",
            "no program runs `thraed`; did you mean `thread`?",
        ),
    ] {
        let error = parse(&text.replacen(from, to, 1))
            .err()
            .unwrap_or_else(|| panic!("{to} was accepted"));
        assert!(error.contains(message), "{to}: {error}");
    }
}
