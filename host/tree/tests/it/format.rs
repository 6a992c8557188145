//! What the format promises: what fits, what does not, and what the difference looks like.

use heddle_tree::{
    Call, Expected, Foreign, Mark, Process, Strand, compare, context, has_differences, hints, print,
};
use proptest::prelude::*;
use std::sync::Arc;

/// `name*calls(child child)`; times are 10 ms to 20 ms.
fn calls(text: &str) -> Vec<Call> {
    fn row(text: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Vec<Call> {
        let mut row = Vec::new();
        loop {
            while text.next_if_eq(&' ').is_some() {}
            let mut word = String::new();
            while let Some(c) = text.next_if(|c| !" ()".contains(*c)) {
                word.push(c);
            }
            if word.is_empty() {
                return row;
            }
            let (name, number) = word.split_once('*').unwrap_or((&word, "1"));
            let children = if text.next_if_eq(&'(').is_some() {
                row_until_close(text)
            } else {
                Vec::new()
            };
            let mut call = Call::new(&format!("{name}(int)"), name);
            (call.calls, call.children, call.min, call.max) =
                (number.parse().unwrap(), children, 10_000_000, 20_000_000);
            row.push(call);
        }
    }
    fn row_until_close(text: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Vec<Call> {
        let children = row(text);
        assert_eq!(text.next(), Some(')'));
        children
    }
    row(&mut text.chars().peekable())
}

fn one_thread(text: &str) -> [Process; 1] {
    [Process {
        name: "app".into(),
        strands: vec![Strand {
            name: "app".into(),
            calls: calls(text),
            ..Strand::default()
        }],
    }]
}

fn fits(expected: &str, got: &[Process]) -> bool {
    !has_differences(&compare(&Expected::parse(expected).unwrap(), got))
}

#[test]
fn a_line_matches_as_the_document_says() {
    for (got, expected, result) in [
        ("main", "main", true),
        ("main", "main(int)", true),
        ("main", "main(long)", false),
        ("main", "ma*", true),
        ("main(a b)", "main\n  a\n  b", true),
        ("main(a b)", "main\n  b\n  a", false),
        ("main(a b)", "main\n  a", false),
        ("main(a b)", "main", false),
        ("main(a b)", "main\n  ...", true),
        ("main(a b c)", "main\n  ...\n  b\n  ...", true),
        ("main(a c)", "main\n  ...\n  b\n  ...", false),
        ("main(a*3)", "main\n  a x3", true),
        ("main(a*3)", "main\n  a ×3", true),
        ("main(a*3)", "main\n  a", false),
        ("main(a*3)", "main\n  a\n  a\n  a", true),
        ("main(a*3)", "main\n  a x4..", false),
        ("main(a*3)", "main\n  a x..3", true),
        ("main(a*3)", "main\n  a x2..5", true),
        ("main", "main\n  a x*", true),
        ("main", "main\n  a x0", true),
        ("main(a)", "main\n  a x0", false),
        ("main(a a(b) a)", "main\n  a x3\n    b x*", true),
        ("main(a*2 b*2)", "main\n  * x4", true),
        ("main(a*2 b*2)", "main\n  a x*\n  * x1..\n", true),
        ("main", "main [10ms..20ms]", true),
        ("main", "main [..15ms]", false),
        ("main", "main [12ms..]", false),
        ("main", "main [*]   # as long as it likes", true),
        ("main(a)", "main\n  a <- main", true),
        ("main(a)", "main\n  a <- b", false),
        ("main", "thread app\n  main", true),
        ("main", "thread a*\n  main", true),
        ("main", "thread b\n  main", false),
        ("main", "thread app x2\n  main", false),
        ("main", "process app\n  thread app\n    main", true),
        ("main", "process app\n  main", true),
        ("main", "process other\n  main", false),
        ("main", "", false),
        // Loops.
        ("main(a b a b a b)", "main\n  loop: x3\n    a\n    b", true),
        ("main(a b a b a b)", "main\n  loop: x2\n    a\n    b", false),
        (
            "main(a b a b a b)",
            "main\n  loop: x4..\n    a\n    b",
            false,
        ),
        (
            "main(a b a b a)",
            "main\n  loop: x2..3\n    a\n    b",
            false,
        ),
        (
            "main(a b a b a)",
            "main\n  loop: x*\n    a\n    b\n  a",
            true,
        ),
        ("main(a)", "main\n  loop: x*\n    b\n  a", true),
        ("main(a)", "main\n  loop: x5..\n    a x*", true),
        ("main(a)", "main\n  loop: x5..\n    a x1..", false),
        ("main", "main\n  loop: x9999999999\n    ...", true),
        (
            "main(c)",
            "main\n  loop: x9999999999\n    a x*\n    b x*",
            false,
        ),
        (
            "main(a b*2 a b*2 c a b*2 a b*2 c)",
            "main\n  loop: x2\n    loop: x2\n      a\n      b x2\n    c",
            true,
        ),
        (
            "main(a(b) c a(d) c)",
            "main\n  loop: x2\n    a\n      * x1\n    c",
            true,
        ),
        (
            "main(a(b) c a(d) c)",
            "main\n  loop: x2\n    a\n      b\n    c",
            false,
        ),
    ] {
        assert_eq!(
            fits(expected, &one_thread(got)),
            result,
            "got {got}, expected:\n{expected}"
        );
    }
}

#[test]
fn a_row_that_is_repeated_is_printed_as_a_loop() {
    for (got, printed) in [
        (
            "a b a b c",
            ["loop: x2", "  a(int)", "  b(int)", "c(int)"].as_slice(),
        ),
        (
            "a b*2 a b*2 c a b*2 a b*2 c",
            &[
                "loop: x2",
                "  loop: x2",
                "    a(int)",
                "    b(int) x2",
                "  c(int)",
            ],
        ),
        // Counts and what is called are the same in each round.
        ("a b a b*2", &["a(int)", "b(int)", "a(int)", "b(int) x2"]),
        (
            "a(c) b a(d) b",
            &[
                "a(int)", "  c(int)", "b(int)", "a(int)", "  d(int)", "b(int)",
            ],
        ),
    ] {
        let lines = printed.iter().map(|line| format!("  {line}\n"));
        let expected = "thread app\n".to_owned() + &lines.collect::<String>();
        assert_eq!(print(&one_thread(got), false), expected);
        assert!(fits(&expected, &one_thread(got)), "{expected}");
    }
    // A function that has a loop's name is not taken for one.
    let mut got = one_thread("a");
    got[0].strands[0].calls[0].name = "loop:".into();
    assert!(fits(&print(&got, false), &got));
    // The times are those of all rounds.
    let mut got = one_thread("a b a b");
    got[0].strands[0].calls[2].max = 30_000_000;
    let printed = print(&got, true);
    assert!(printed.contains("    a(int) [10ms..30ms]\n"), "{printed}");
    assert!(fits(&printed, &got));
}

#[test]
fn a_round_that_differs_is_shown_among_the_others() {
    let expected = Expected::parse("main\n  loop: x3\n    a\n    b").unwrap();
    let lines = |got: &str| {
        let lines = compare(&expected, &one_thread(got)).into_iter();
        let lines = lines.map(|line| format!("{:?} {}", line.mark, line.text));
        lines.collect::<Vec<_>>().join(", ")
    };
    let round = "Same a(int), Same b(int)";
    let main = "Same main(int)";
    for (got, differs) in [
        ("main(a b a c a b)", "Same a(int), Expected b, Got c(int)"),
        ("main(a b a a b)", "Same a(int), Expected b"),
    ] {
        let lines = lines(got);
        assert!(lines.contains(differs) && lines.contains(round), "{lines}");
        assert!(lines.contains(main), "{lines}");
    }
    let lines = lines("main(a b a b)");
    assert!(lines.ends_with("Expected a, Expected b"), "{lines}");
}

#[test]
fn a_foreign_caller_matches_by_function_or_module() {
    let mut got = one_thread("main(compare)");
    let caller = Foreign {
        name: "libc.so.6+0x3d5a2".into(),
        module: "libc.so.6".into(),
    };
    got[0].strands[0].calls[0].children[0].foreign = Some(Arc::new(caller));
    for (caller, result) in [
        ("libc.so.6", true),
        ("libc.so.6+*", true),
        ("libc*", true),
        ("main", false),
    ] {
        assert_eq!(
            fits(&format!("main\n  compare <- {caller}"), &got),
            result,
            "{caller}"
        );
    }
    assert!(
        fits("main\n  compare", &got),
        "a line without a caller takes any"
    );
    assert_eq!(
        print(&got, false),
        "thread app\n  main(int)\n    compare(int) <- libc.so.6\n"
    );
}

#[test]
fn threads_match_in_any_order_and_by_what_they_do_where_names_are_equal() {
    let thread = |name: &str, text: &str| Strand {
        name: name.into(),
        calls: calls(text),
        ..Strand::default()
    };
    let threads = vec![
        thread("app", "main"),
        thread("app", "work"),
        thread("w-1", "run"),
        thread("w-2", "run"),
    ];
    let got = [Process {
        name: "app".into(),
        strands: threads,
    }];
    assert!(fits(
        "thread w-* x2\n  run\nthread app\n  work\nthread app\n  main\n",
        &got
    ));
    assert!(!fits(
        "thread w-*\n  run\nthread app\n  work\nthread app\n  main\n",
        &got
    ));
    assert!(!fits("thread w-* x2\n  run\nthread app x2\n  work\n", &got));
}

#[test]
fn the_difference_shows_both_sides_in_their_place() {
    let expected = Expected::parse("main\n  a\n    x x2\n    y [..5ms]\n  b\n  d").unwrap();
    let lines = compare(&expected, &one_thread("main(a(x*3 y) b c d)"));
    let shown: Vec<String> = lines
        .iter()
        .map(|line| {
            let mark = match line.mark {
                Mark::Same => ' ',
                Mark::Expected => '-',
                Mark::Got => '+',
                Mark::Gap => '~',
            };
            format!("{mark}{:1$}{2}", "", 2 * line.depth, line.text)
        })
        .collect();
    let wanted = [
        " thread *",
        "   main(int)",
        "     a(int)",
        "-      x x2",
        "+      x(int) x3",
        "-      y [..5ms]",
        "+      y(int) [10ms..20ms]",
        "     b(int)",
        "+    c(int)",
        "     d(int)",
    ];
    assert_eq!(shown, wanted);
}

#[test]
fn only_what_is_near_a_difference_is_shown() {
    let calls: Vec<String> = (0..100).map(|number| format!("f{number}")).collect();
    let mut expected = calls.clone();
    expected[50] = "other".into();
    let expected = Expected::parse(&format!("main\n  {}", expected.join("\n  "))).unwrap();
    let lines = context(
        &compare(
            &expected,
            &one_thread(&format!("main({})", calls.join(" "))),
        ),
        2,
    );
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "thread *",
            "main(int)",
            "⋮",
            "f48(int)",
            "f49(int)",
            "other",
            "f50(int)",
            "f51(int)",
            "f52(int)",
            "⋮"
        ]
    );
}

#[test]
fn a_wrong_line_is_named() {
    for (text, line, word) in [
        ("main\n\tf", 2, "tab"),
        ("  main", 1, "indented"),
        ("main\n  a\n    b\n   c", 4, "neighbours"),
        ("main\n  f x5..2", 2, "count"),
        ("main\n  f [10..20]", 2, "times"),
        ("main\n  ...\n    f", 3, "`...`"),
        ("thread a\n  f\nmain", 3, "thread"),
        ("process a\n  f\nthread b", 3, "process"),
        ("thread a [*] [..1ms]\n  f", 1, "times"),
        ("main <- ", 1, "no caller"),
    ] {
        let error = Expected::parse(text).unwrap_err();
        assert!(
            error.line == line && error.what.contains(word),
            "{text:?}: {error}"
        );
    }
}

#[test]
fn comments_are_not_taken_for_lambdas() {
    let mut got = one_thread("main");
    got[0].strands[0].calls[0].name = "main::{lambda(int)#1}::operator()(int) const".into();
    assert!(fits(
        "# a comment\nmain::{lambda(int)#1}::operator()(int) const   # another\n",
        &got
    ));
}

fn any_calls() -> impl Strategy<Value = Vec<Call>> {
    let name = prop::sample::select(vec![
        "f()",
        "g(int)",
        "void t<int>(int)",
        "operator*(A const&)",
        "h() [resume]",
        "{lambda()#1}",
    ]);
    let leaf = (
        name.clone(),
        1u64..5,
        0u64..5_000_000_000,
        prop::option::of(Just("libc.so.6")),
        // All returned; none did; one was still open, longer than the others.
        prop::sample::select(vec![(1, 2, 0), (0, 0, 1), (1, 2, 3)]),
    );
    type Leaf = (
        &'static str,
        u64,
        u64,
        Option<&'static str>,
        (u64, u64, u64),
    );
    let make = |(name, calls, time, foreign, (min, max, open)): Leaf, children| Call {
        calls,
        min: if min == 0 { u64::MAX } else { time * min },
        max: time * max,
        open: time * open,
        children,
        foreign: foreign.map(|module| {
            Arc::new(Foreign {
                name: format!("{module}+0x1"),
                module: module.into(),
            })
        }),
        ..Call::new(name, name)
    };
    let one = leaf.clone().prop_map(move |leaf| make(leaf, Vec::new()));
    let tree = one.prop_recursive(4, 40, 5, move |inner| {
        (leaf.clone(), prop::collection::vec(inner, 0..5))
            .prop_map(move |(leaf, children)| make(leaf, children))
    });
    prop::collection::vec(tree, 0..5)
}

/// Names as threads, programs and modules may have them.
const NAMES: [&str; 16] = [
    "",
    " ",
    "...",
    "#1",
    "a #b",
    "a x2",
    "x3",
    " a ",
    "a <- b",
    "a\nb",
    "a [..1ms]",
    "thread x*",
    "a 3",
    "a x",
    "a <-b",
    "..",
];

/// A program with this one call, of a function with this name.
fn one_call(name: &str, values: &str) -> [Process; 1] {
    let mut call = Call::new(name, name);
    call.values = values.into();
    let thread = Strand {
        name: "app".into(),
        calls: vec![call],
        ..Strand::default()
    };
    [Process {
        name: "app".into(),
        strands: vec![thread],
    }]
}

/// Whether the printed tree fits these values, and not others.
fn values_are_read_back(name: &str, values: &str) -> Result<(), String> {
    let got = one_call(name, values);
    let text = print(&got, false);
    let expected = Expected::parse(&text).map_err(|error| format!("{error}\n{text}"))?;
    if has_differences(&compare(&expected, &got)) {
        return Err(format!("does not fit itself: {text}"));
    }
    if !has_differences(&compare(&expected, &one_call(name, " {other} = 0"))) {
        return Err(format!("fits other values, too: {text}"));
    }
    Ok(())
}

#[test]
fn values_that_look_like_something_else_are_covered() {
    for name in ["f(int)", "operator x", "f x2"] {
        for values in [
            " {t = \"\\xddX #T\\x7f\", n = 4}",
            " {t = \"a <- b\"} = \"c [..1ms]\"",
            " {lambda = \" # \"}",
            " {unnamed = \" # \"}",
            " {n = 1} = x2",
            " = x2",
            " = \" #\"",
            " = \"a <- b\"",
        ] {
            values_are_read_back(name, values).unwrap();
        }
    }
}

#[test]
fn names_that_look_like_something_else_are_covered() {
    for name in NAMES {
        let full = if name.starts_with('.') {
            name.to_owned()
        } else {
            format!("f {name}")
        };
        let mut call = Call::new(&full, "f");
        call.foreign = Some(Arc::new(Foreign {
            name: "qsort".into(),
            module: name.into(),
        }));
        let mut main = Call::new("main", "main");
        main.children.push(call);
        let thread = Strand {
            name: name.into(),
            calls: vec![main],
            ..Strand::default()
        };
        let process = Process {
            name: name.into(),
            strands: vec![thread],
        };
        for got in [vec![process.clone()], vec![process.clone(), process]] {
            let text = print(&got, false);
            let expected =
                Expected::parse(&text).unwrap_or_else(|error| panic!("{name:?}: {error}\n{text}"));
            assert!(
                !has_differences(&compare(&expected, &got)),
                "{name:?}\n{text}"
            );
        }
    }
}

proptest! {
    #[test]
    fn values_of_any_text_are_read_back(
        text in "([a-c#<\\-\\[\\].x0-3{}=\" ]|\\PC){0,12}",
        given in any::<bool>(),
    ) {
        let values = if given { format!(" {{t = \"{text}\"}} = 1") } else { format!(" = \"{text}\"") };
        values_are_read_back("f(char const*)", &values).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn what_is_printed_fits_what_it_was_printed_from(
        first in any_calls(),
        second in any_calls(),
        times in any::<bool>(),
        two in any::<bool>(),
    ) {
        let threads = vec![Strand { name: "app".into(), calls: first, ..Strand::default() }, Strand { name: "w 1".into(), calls: second, ..Strand::default() }];
        let process = Process { name: "app".into(), strands: threads };
        let got = if two { vec![process.clone(), process] } else { vec![process] };
        let text = print(&got, times);
        let expected = Expected::parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert!(!has_differences(&compare(&expected, &got)), "{}", text);
    }

    #[test]
    fn one_call_more_anywhere_is_a_difference(calls in any_calls(), depth in 0usize..4) {
        let process = |calls| [Process { name: "app".into(), strands: vec![Strand { name: "app".into(), calls, ..Strand::default() }] }];
        let expected = Expected::parse(&print(&process(calls.clone()), false)).unwrap();
        let mut more = calls;
        let mut row = &mut more;
        for _ in 0..depth {
            if row.last().is_some_and(|call| !call.children.is_empty()) {
                row = &mut row.last_mut().unwrap().children;
            }
        }
        match row.last_mut() {
            Some(call) => call.calls += 1,
            None => row.push(Call::new("f()", "f")),
        }
        let lines = compare(&expected, &process(more));
        prop_assert!(has_differences(&lines));
        prop_assert!(has_differences(&context(&lines, 2)));
    }

    #[test]
    fn any_text_is_a_tree_or_an_error(text in "([ \t]{0,4}(thread|process|loop:|f|x2|\\.\\.\\.|\\[\\.\\.1ms\\]|<-|#|\\*| ){0,4}\n){0,8}") {
        if let Ok(expected) = Expected::parse(&text) {
            compare(&expected, &one_thread("main(a b)"));
        }
    }
}

#[test]
fn a_slip_of_the_pen_is_an_error() {
    for (line, what) in [
        ("f x", "no number behind `x`"),
        ("f 3", "write `x3`"),
        ("f 3x", "write `x3`"),
        ("f X3 [..1ms]", "write `x3`"),
        ("f *3", "write `x3`"),
        ("f [10ms]", "no range of times"),
        ("f ..10ms", "no range of times"),
        ("f [10ms..", "no range of times"),
        ("f <-qsort", "a space on each side"),
        ("..", "write `...`"),
    ] {
        let error = Expected::parse(&format!("main\n  {line}\n")).unwrap_err();
        assert!(
            error.line == 2 && error.what.contains(what),
            "{line}: {error}"
        );
    }
    for line in [
        "A::operator x",
        "bool operator< <-1>(A<-1> const&)",
        "h() [resume]",
        "f() [clone .llvm.123]",
        "unsigned long t<3>(s, ms)",
        "x",
        "3",
    ] {
        Expected::parse(&format!("main\n  {line}\n")).unwrap();
    }
    // A thread may be named so.
    Expected::parse("thread worker 3\n  f\n").unwrap();
}

#[test]
fn hints_are_few_and_count_what_is_alike() {
    let thread = |name: &str| Strand {
        name: name.into(),
        calls: vec![Call::new("f()", "f")],
        ..Strand::default()
    };
    let got = [Process {
        name: "app".into(),
        strands: vec![thread("w"), thread("w"), thread("app")],
    }];
    let hints_for = |text: &str| hints(&Expected::parse(text).unwrap(), &got);
    let [hint] = <[String; 1]>::try_from(hints_for("f\n")).unwrap();
    assert!(hint.ends_with("the trace has 3: write `thread NAME` lines; there are `app`, `w` x2"));
    assert!(hints_for("thread *\n  f\n").is_empty());
    let many: String = (0..30).map(|n| format!("  unknown_{n}\n")).collect();
    let few = hints_for(&format!("thread app\n{many}"));
    assert_eq!(
        (few.len(), few[10].as_str()),
        (11, "… and 20 more of the kind")
    );
}
