//! A claim is a statement of a source that can fail and can succeed; what is ours is a question.

use heddle_lab::experiment::{Experiment, Form, Says};
use heddle_results::Kind;
use std::path::Path;

/// Line 1 to 30; what follows it begins on line 31.
const HEAD: &str = r#"id = "e"
title = "t"
workload = "w"
asks = "Which is faster?"
axis = "n"
[source]
document = "A paper"
[metric]
name = "wall_ns"
label = "time"
unit = "ns"
[quick]
sweep = [{ n = [1, 2, 3], opt = ["O0", "O2"] }]
[full]
sweep = [{ n = [1, 2, 3, 1000], opt = ["O0", "O2"] }]
[[program]]
command = ["./x-{opt}"]
models = ["serial", "thread", "stackless"]
[claims]
at = { opt = "O0" }
[quote.table]
words = "Table 2. Ratio of thread to serial (%)"
[quote.faster]
words = "Threads are faster than coroutines by 17 %"
[quote.linear]
words = "Time is linear in n"
[quote.account]
words = "Most of the time is spent on switches"
[quote.size]
words = "A stack has 8 KB"
"#;

const CLAIMS: &str = r#"[[claim]]
id = "table"
quote = "table"
reading = "a cell within ten points"
form = "table"
numerator = "thread"
denominator = "serial"
columns = ["n", "figure"]
cells = [
    [1, 45.4],
    [3, 95.0],
    [1000, "126 %"],
]
bound = { points = 10 }
[[claim]]
id = "faster"
quote = "faster"
reading = "at n = 3"
form = "ratio"
says = "difference"
numerator = "thread"
denominator = "stackless"
at = { n = 3, opt = "O0" }
bound = { max = 0.95 }
[[claim]]
id = "linear"
quote = "linear"
reading = "of thread"
form = "slope"
says = "linear"
model = "thread"
along = "n"
bound = { min = 0.9, max = 1.1 }
[[claim]]
id = "account"
quote = "account"
reading = "nine tenths of it"
form = "account"
numerator = "thread"
denominator = "serial"
terms = ["switches"]
bound = { min = 0.9 }
[[claim]]
id = "size"
quote = "size"
reading = "bytes"
form = "value"
model = "thread"
at = { n = 1, opt = "O0" }
bound = { max = 9000 }
[[question]]
id = "too-{numerator}"
asks = "Is {numerator} faster than serial, too?"
form = "ratio"
denominator = "serial"
columns = ["numerator", "n"]
cells = [["thread", 2], ["stackless", 3]]
bound = { max = 1 }
[[goal]]
id = "goal"
words = "Threads are twice as fast"
form = "ratio"
numerator = "thread"
denominator = "serial"
at = { n = 2, opt = "O0" }
bound = { max = 0.5 }
"#;

fn parse(text: &str) -> Result<Experiment, String> {
    Experiment::parse(text, Path::new("/dir/e.toml")).map_err(|error| error.to_string())
}

fn good() -> String {
    format!("{HEAD}{CLAIMS}")
}

/// Line of the first place at which the text has this, from 1.
fn line_of(text: &str, part: &str) -> usize {
    let at = text.find(part).unwrap_or_else(|| panic!("no {part}"));
    1 + text[..at].matches('\n').count()
}

/// Each change makes an error with this message, at the line on which the changed text has `place`.
fn each_is_refused(text: &str, changes: &[(&str, &str, &str, &str)]) {
    for (from, to, place, message) in changes {
        assert_eq!(text.matches(from).count(), 1, "it is unique: {from}");
        let changed = text.replacen(from, to, 1);
        let error = parse(&changed).err();
        let error = error.unwrap_or_else(|| panic!("{to} was accepted"));
        assert!(error.contains(message), "{to}: {error}");
        let line = line_of(&changed, place);
        let expected = format!("/dir/e.toml:{line}: ");
        assert!(error.starts_with(&expected), "{to}: not {line}: {error}");
    }
}

#[test]
fn claims_questions_and_goals_are_read() {
    let experiment = parse(&good()).unwrap();
    assert_eq!(experiment.question, "Which is faster?");
    let told = experiment
        .claims()
        .map(|claim| (claim.id.as_str(), claim.kind));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            ("table", Kind::Claim),
            ("faster", Kind::Claim),
            ("linear", Kind::Claim),
            ("account", Kind::Claim),
            ("size", Kind::Claim),
            ("too-thread", Kind::Question),
            ("too-stackless", Kind::Question),
            ("goal", Kind::Goal),
        ]
    );
    let words = |id: &str| {
        let mut claims = experiment.claims();
        claims.find(|claim| claim.id == id).unwrap().words.clone()
    };
    assert_eq!(
        words("too-stackless"),
        "Is stackless faster than serial, too?"
    );
    let faster = experiment.claims().nth(1).unwrap();
    assert_eq!(faster.says, Some(Says::Difference));
    assert_eq!(faster.reading, "at n = 3");
}

#[test]
fn the_cells_of_a_table_are_one_claim() {
    let experiment = parse(&good()).unwrap();
    let table = experiment.claims().next().unwrap();
    assert_eq!((table.figure.as_deref(), table.at.len()), (None, 1));
    assert_eq!(table.bound.to_string(), "0.354 … 1.36");
    let Form::Table(cells) = &table.form else {
        panic!("a table");
    };
    let told = cells.iter().map(|cell| {
        let claim = &cell.claim;
        assert_eq!(claim.at["opt"], "O0");
        assert_eq!(cell.at.len(), 1);
        assert!(claim.percent);
        let figure = claim.figure.as_deref().unwrap();
        format!("{} {figure} {}", cell.at["n"], claim.bound)
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            "1 45.4 0.354 … 0.554",
            "3 95.0 0.85 … 1.05",
            "1000 126 % 1.16 … 1.36",
        ]
    );
    // Models and bounds may be columns, too; a factor is of a ratio.
    let other = "numerator = \"thread\"\ndenominator = \"serial\"\ncolumns = [\"n\", \"figure\"]\n";
    let columns = "columns = [\"numerator\", \"denominator\", \"figure\", \"bound\"]\n\
                   at = { n = 1, opt = \"O0\" }\n";
    let rows = "    [1, 45.4],\n    [3, 95.0],\n    [1000, \"126 %\"],\n";
    let cells = "    [\"thread\", \"serial\", \"2×\", { factor = 1.5 }],\n\
                 [\"serial\", \"thread\", 0.5, { max = 0.6 }],\n";
    let text = good().replacen(other, columns, 1).replacen(rows, cells, 1);
    let text = text.replacen("bound = { points = 10 }\n", "", 1);
    let experiment = parse(&text).unwrap();
    let Form::Table(cells) = &experiment.claims().next().unwrap().form else {
        panic!("a table");
    };
    let told = cells.iter().map(|cell| {
        let models = cell.claim.form.models().join(" ÷ ");
        format!("{models}: {}", cell.claim.bound)
    });
    let expected = ["thread ÷ serial: 1.333333333 … 3", "serial ÷ thread: ≤ 0.6"];
    assert_eq!(told.collect::<Vec<_>>(), expected);
}

#[test]
fn a_mistake_in_a_table_is_named_with_its_line() {
    each_is_refused(
        &good(),
        &[
            (
                "[1, 45.4]",
                "[1]",
                "[1]",
                "the row has 1 values for 2 columns",
            ),
            (
                "[1, 45.4]",
                "[7, 45.4]",
                "[7, 45.4]",
                "no point of the quick or the full sweep",
            ),
            (
                "[1, 45.4]",
                "[3, 45.4]",
                "[3, 95.0]",
                "two rows are of the same cell",
            ),
            (
                "[1, 45.4]",
                "[1, \"dear\"]",
                "bound = { points",
                "`points` needs a figure in percent",
            ),
            (
                "[1, 45.4]",
                "[1, 9.0]",
                "bound = { points",
                "bounded by numbers above 0",
            ),
            (
                "points = 10",
                "points = 0",
                "points = 0",
                "`points` must be above 0",
            ),
            (
                "points = 10",
                "factor = 1",
                "factor",
                "`factor` must be above 1",
            ),
            (
                "points = 10",
                "factor = 2, max = 3",
                "factor",
                "`factor` must be above 1, and stands by",
            ),
            (
                "points = 10",
                "min = 0.4, max = 0.5",
                "min = 0.4",
                "does not hold its figure 45.4; one in percent has a %",
            ),
            (
                "columns = [\"n\", \"figure\"]",
                "columns = [\"n\", \"why\"]",
                "form = \"table\"",
                "a table has `columns`, `figure` among them",
            ),
            (
                "columns = [\"n\", \"figure\"]",
                "columns = [\"id\", \"figure\"]",
                "columns = [\"id\"",
                "`id` cannot be a column of a table",
            ),
            (
                "columns = [\"n\", \"figure\"]",
                "columns = [\"metric\", \"figure\"]",
                "columns = [\"metric\"",
                "`metric` cannot be a column of a table",
            ),
            (
                "columns = [\"n\", \"figure\"]",
                "columns = [\"opt\", \"figure\"]",
                "columns = [\"opt\"",
                "`opt` is in both at and columns",
            ),
            (
                "columns = [\"n\", \"figure\"]",
                "over = { n = { min = 1 } }\ncolumns = [\"n\", \"figure\"]",
                "over",
                "a table has no `over`",
            ),
            (
                "columns = [\"n\", \"figure\"]\n",
                "figure = 3\ncolumns = [\"n\", \"figure\"]\n",
                "columns = [\"n\", \"figure\"]",
                "`figure` is both a field and a column",
            ),
            (
                "numerator = \"thread\"\ndenominator = \"serial\"\ncolumns",
                "model = \"thread\"\ncolumns",
                "model = \"thread\"\ncolumns",
                "a table has numerator and denominator, each a field or a column",
            ),
            (
                "numerator = \"thread\"\ndenominator = \"serial\"\ncolumns",
                "numerator = \"treads\"\ndenominator = \"serial\"\ncolumns",
                "\"treads\"",
                "no program runs `treads`",
            ),
            (
                "form = \"table\"\n",
                "form = \"table\"\nsays = \"figure\"\n",
                "says = \"figure\"",
                "only a ratio or a slope says",
            ),
        ],
    );
}

#[test]
fn a_claim_has_a_source_and_says_how_it_was_read() {
    let long = format!("reading = \"{}\"", "x".repeat(161));
    each_is_refused(
        &good(),
        &[
            (
                "[source]\ndocument = \"A paper\"\n",
                "",
                "[[claim]]",
                "[source] has no `document`: name it there, or ask a [[question]]",
            ),
            (
                "document = \"A paper\"\n",
                "",
                "[[claim]]",
                "[source] has no `document`",
            ),
            (
                "reading = \"at n = 3\"\n",
                "",
                "[[claim]]\nid = \"faster\"",
                "claim faster: it needs a `reading`: which models",
            ),
            (
                "\"at n = 3\"",
                "\" \"",
                "reading = \" \"",
                "it needs a `reading`",
            ),
            (
                "\"at n = 3\"",
                "\"a\\nb\"",
                "\"a\\nb\"",
                "`reading` must be one line",
            ),
            (
                "reading = \"at n = 3\"",
                &long,
                &long,
                "has 161 characters: it may have 160",
            ),
            (
                "reading = \"at n = 3\"",
                "asks = \"Is it?\"",
                "asks = \"Is it?\"",
                "a claim has no `asks`",
            ),
            (
                "quote = \"faster\"\n",
                "quote = \"linear\"\n",
                "[quote.faster]",
                "no claim has quote = \"faster\"",
            ),
        ],
    );
}

#[test]
fn a_file_of_claims_alone_is_held_to_the_rules_too() {
    let claim = "[[claim]]\nid = \"size\"\nwords = \"A stack has 8 KB\"\nform = \"value\"\n\
                 model = \"thread\"\nat = { n = 1, opt = \"O0\" }\nbound = { max = 9000 }\n";
    let head = HEAD.split("[quote.").next().unwrap();
    let error = parse(&format!("{head}{claim}")).unwrap_err();
    assert!(
        error.contains("claim size: it needs a `reading`"),
        "{error}"
    );
}

#[test]
fn a_statement_is_one_claim_of_a_file_or_has_parts() {
    let again = |parts: [&str; 2]| {
        let [first, second] = parts.map(|part| match part {
            "" => String::new(),
            part => format!("part = \"{part}\"\n"),
        });
        let text = good().replacen("reading = \"at", &format!("{first}reading = \"at"), 1);
        format!(
            "{text}[[claim]]\nid = \"again\"\nquote = \"faster\"\nreading = \"at n = 2\"\n{second}\
             form = \"ratio\"\nsays = \"difference\"\nnumerator = \"thread\"\n\
             denominator = \"stackless\"\nat = {{ n = 2, opt = \"O0\" }}\n\
             bound = {{ max = 0.95 }}\n"
        )
    };
    let experiment = parse(&again(["n = 3", "n = 2"])).unwrap();
    let parts = experiment.claims().filter(|claim| !claim.part.is_empty());
    let parts = parts.map(|claim| (claim.id.as_str(), claim.part.as_str()));
    assert_eq!(
        parts.collect::<Vec<_>>(),
        [("faster", "n = 3"), ("again", "n = 2")]
    );
    for (parts, place, message) in [
        (
            ["", ""],
            "[[claim]]\nid = \"again\"",
            "claim again: it has the words of faster: what we ask",
        ),
        (
            ["a", ""],
            "[[claim]]\nid = \"again\"",
            "parts of one statement have a `part` each",
        ),
        (
            ["", "a"],
            "[[claim]]\nid = \"again\"",
            "it has the words of faster",
        ),
        (
            ["a", "a"],
            "part = \"a\"\nform",
            "it is the part `a` of its statement, as faster is",
        ),
    ] {
        let text = again(parts);
        let error = parse(&text).unwrap_err();
        let expected = format!("/dir/e.toml:{}: ", line_of(&text, place));
        assert!(
            error.starts_with(&expected) && error.contains(message),
            "{error}"
        );
    }
    // A series is parts of a statement, or questions.
    let row = "at = { n = 3, opt = \"O0\" }\n";
    let series = |column: &str| {
        let rows = format!("columns = [\"{column}\", \"n\"]\ncells = [[\"a\", 2], [\"b\", 3]]\n");
        let text = good().replacen(row, &rows, 1);
        text.replacen("id = \"faster\"", "id = \"faster-{n}\"", 1)
    };
    assert_eq!(parse(&series("part")).unwrap().claims().count(), 9);
    let text = series("reading").replacen("reading = \"at n = 3\"\n", "", 1);
    let error = parse(&text).unwrap_err();
    let message = "claim faster-2: a [[claim]] with `columns` and `cells` is a table";
    assert!(error.contains(message), "{error}");
}

#[test]
fn a_bound_fits_what_the_words_say() {
    let says = "says = \"difference\"\nnumerator = \"thread\"\ndenominator = \"stackless\"\n\
                at = { n = 3, opt = \"O0\" }\nbound = { max = 0.95 }";
    let ratio = |says: &str, bound: &str| {
        format!(
            "{says}numerator = \"thread\"\ndenominator = \"stackless\"\n\
             at = {{ n = 3, opt = \"O0\" }}\nbound = {bound}"
        )
    };
    let slope = |says: &str, bound: &str| {
        format!(
            "{says}numerator = \"thread\"\ndenominator = \"stackless\"\n\
             along = \"n\"\nbound = {bound}"
        )
    };
    let with = |form: &str, to: &str| {
        let text = good().replacen(says, to, 1);
        let from = "reading = \"at n = 3\"\nform = \"ratio\"";
        let form = format!("reading = \"at n = 3\"\nform = \"{form}\"");
        parse(&text.replacen(from, &form, 1))
    };
    let figure = "says = \"figure\"\nfigure = \"17 %\"\n";
    for (form, fields) in [
        ("ratio", ratio("says = \"difference\"\n", "{ min = 1.053 }")),
        (
            "ratio",
            ratio("says = \"sameness\"\n", "{ min = 0.8, max = 1.25 }"),
        ),
        ("ratio", ratio(figure, "{ min = 1.02, max = 1.32 }")),
        (
            "ratio",
            ratio("says = \"figure\"\nfigure = 83\n", "{ points = 15 }"),
        ),
        (
            "ratio",
            ratio("says = \"figure\"\nfigure = \"20x\"\n", "{ factor = 1.5 }"),
        ),
        ("slope", slope("says = \"difference\"\n", "{ min = 0.1 }")),
        (
            "slope",
            slope("says = \"sameness\"\n", "{ min = -0.1, max = 0.1 }"),
        ),
        (
            "slope",
            slope(
                "says = \"figure\"\nfigure = 0.5\n",
                "{ min = 0.4, max = 0.6 }",
            ),
        ),
    ] {
        with(form, &fields).unwrap_or_else(|error| panic!("{fields}: {error}"));
    }
    for (form, fields, message) in [
        (
            "ratio",
            ratio("", "{ max = 0.95 }"),
            "it needs `says`: \"difference\", \"sameness\", or",
        ),
        ("slope", slope("", "{ min = 0.1 }"), "it needs `says`"),
        (
            "ratio",
            ratio("says = \"difference\"\n", "{ max = 1 }"),
            "it says `difference`, and its bound ≤ 1 holds 1, which is none: end it before",
        ),
        (
            "slope",
            slope("says = \"difference\"\n", "{ min = 0 }"),
            "it says `difference`, and its bound ≥ 0 holds 0",
        ),
        (
            "ratio",
            ratio("says = \"sameness\"\n", "{ max = 0.9 }"),
            "it says `sameness`, and its bound ≤ 0.9 does not hold 1",
        ),
        (
            "slope",
            slope("says = \"sameness\"\n", "{ min = 0.1 }"),
            "it says `sameness`, and its bound ≥ 0.1 does not hold 0",
        ),
        (
            "ratio",
            ratio("says = \"figure\"\n", "{ max = 2 }"),
            "it says `figure`, so it needs the `figure` that the source prints",
        ),
        (
            "ratio",
            ratio(figure, "{ min = 1.2, max = 1.5 }"),
            "it says `figure`, and its bound 1.2 … 1.5 does not hold 17 %",
        ),
        (
            "ratio",
            ratio("says = \"figure\"\nfigure = \"dear\"\n", "{ max = 2 }"),
            "does not hold dear",
        ),
        (
            "ratio",
            ratio("says = \"linear\"\n", "{ max = 2 }"),
            "only the slope of one model",
        ),
        (
            "slope",
            slope("says = \"linear\"\n", "{ max = 2 }"),
            "only the slope of one model",
        ),
        (
            "ratio",
            ratio("says = \"all\"\n", "{ max = 2 }"),
            "unknown variant `all`",
        ),
        (
            "ratio",
            ratio("says = \"difference\"\n", "{ max = 0.9 }").replace("stackless", "thread"),
            "numerator and denominator are the same model",
        ),
    ] {
        let error = with(form, &fields).unwrap_err();
        assert!(
            error.contains(&format!("claim faster: {message}")) || error.contains(message),
            "{fields}: {error}"
        );
        assert!(error.starts_with("/dir/e.toml:"), "{error}");
    }
}

#[test]
fn the_other_forms_can_fail_too() {
    each_is_refused(
        &good(),
        &[
            (
                "says = \"linear\"\n",
                "",
                "form = \"slope\"",
                "a slope needs `says`: \"linear\", \"difference\" or \"sameness\"",
            ),
            (
                "bound = { min = 0.9, max = 1.1 }",
                "bound = { min = 0 }",
                "bound = { min = 0 }",
                "it says `linear`, so its bound must hold a slope of 1 and not one of 0",
            ),
            (
                "bound = { min = 0.9, max = 1.1 }",
                "bound = { min = 1.5 }",
                "bound = { min = 1.5 }",
                "must hold a slope of 1",
            ),
            (
                "says = \"linear\"",
                "says = \"sameness\"",
                "bound = { min = 0.9, max = 1.1 }",
                "it says `sameness`, and its bound 0.9 … 1.1 does not hold 0",
            ),
            (
                "bound = { min = 0.9 }",
                "bound = { max = 0.9 }",
                "bound = { max = 0.9 }",
                "an account that explains nothing would reproduce it",
            ),
            (
                "bound = { max = 9000 }",
                "bound = {}",
                "bound = {}",
                "a range needs min, max or both",
            ),
            (
                "form = \"value\"\n",
                "form = \"value\"\nsays = \"figure\"\n",
                "says = \"figure\"",
                "only a ratio or a slope says",
            ),
        ],
    );
}

#[test]
fn what_is_a_sources_is_not_a_questions_or_a_goals() {
    each_is_refused(
        &good(),
        &[
            (
                "asks = \"Is {numerator} faster than serial, too?\"",
                "words = \"Is it?\"",
                "words = \"Is it?\"",
                "a question has no `words`: what it asks is in `asks`",
            ),
            (
                "asks = \"Is {numerator} faster than serial, too?\"",
                "asks = \"Is it?\"\nfigure = 3",
                "figure = 3",
                "a question has no `figure`",
            ),
            (
                "asks = \"Is {numerator} faster than serial, too?\"",
                "asks = \"Is it?\"\nreading = \"as it stands\"",
                "reading = \"as it stands\"",
                "a question has no `reading`",
            ),
            (
                "asks = \"Is {numerator} faster than serial, too?\"\n",
                "",
                "[[question]]",
                "missing field `asks`",
            ),
            (
                "asks = \"Is {numerator} faster than serial, too?\"",
                "asks = \"\"",
                "asks = \"\"",
                "it needs `asks`, a question",
            ),
            (
                "asks = \"Is {numerator} faster than serial, too?\"",
                "asks = \"Is {model}?\"",
                "asks = \"Is {model}?\"",
                "`{model}` is not a column, nor {number}",
            ),
            (
                "words = \"Threads are twice as fast\"",
                "words = \"Threads are twice as fast\"\nreading = \"r\"",
                "reading = \"r\"",
                "a goal has no `reading`: only a statement of a source has",
            ),
            (
                "words = \"Threads are twice as fast\"\nform = \"ratio\"",
                "words = \"w\"\nform = \"table\" # here",
                "form = \"table\" # here",
                "claim goal: a goal is no table",
            ),
        ],
    );
    // The experiment's own question has another name.
    let old = HEAD.replacen("asks =", "question =", 1);
    let message =
        "`question` must be written as [[question]]; the experiment's own question is `asks`";
    assert!(parse(&old).unwrap_err().contains(message));
    // A question may ask for the cells of a printed table.
    let table = "[[question]]\nid = \"other\"\nasks = \"Does the table hold for stackless, too?\"\n\
                 form = \"table\"\nnumerator = \"stackless\"\ndenominator = \"serial\"\n\
                 columns = [\"n\", \"figure\"]\ncells = [[1, 45.4]]\nbound = { points = 10 }\n";
    assert!(parse(&format!("{}{table}", good())).is_ok());
}

#[test]
fn a_damaged_file_is_refused_at_one_of_its_lines() {
    let good = good();
    let lines: Vec<&str> = good.lines().collect();
    let joined = |lines: Vec<&str>| lines.join("\n") + "\n";
    let without = (0..lines.len()).map(|line| {
        let others = lines.iter().enumerate().filter(|(other, _)| *other != line);
        joined(others.map(|(_, text)| *text).collect())
    });
    let twice = (0..lines.len()).map(|line| {
        let mut lines = lines.clone();
        lines.insert(line, lines[line]);
        joined(lines)
    });
    let cut = good.char_indices().map(|(end, _)| good[..end].to_owned());
    let (mut read, mut refused) = (0, 0);
    for text in without.chain(twice).chain(cut) {
        let Err(error) = parse(&text) else {
            read += 1;
            continue;
        };
        refused += 1;
        let place = error.strip_prefix("/dir/e.toml:").unwrap();
        let (line, message) = place.split_once(": ").unwrap();
        let line: usize = line.parse().unwrap();
        assert!(line <= text.lines().count().max(1) + 1, "{error}");
        assert!(!message.is_empty());
    }
    assert!(read > 0 && refused > 1000, "{read} {refused}");
}
