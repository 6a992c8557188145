//! `heddle graph`.

use crate::common::{LIBC, Program, heddle};
use crate::strands::written;
use crate::viewing::{lines_with, said};
use std::path::Path;

/// main calls A twice, which calls C; and B, which calls C.
fn graphed(directory: &Path) {
    let program = Program::build(directory);
    program.trace(|thread, at| {
        let (main, a, b, c) = (at("main"), at("_Z1Av"), at("_Z1Bv"), at("_Z1Cv"));
        thread.enter(0, main, LIBC + 5, 900);
        for (function, time) in [(a, 100), (a, 200), (b, 300)] {
            thread
                .enter(time, function, main + 5, 800)
                .enter(time + 10, c, function + 5, 700)
                .exit(time + 30, c, function + 5, 700)
                .exit(time + 50, function, main + 5, 800);
        }
        thread.exit(1000, main, LIBC + 5, 900);
    });
}

/// Columns without what aligns them.
pub fn words(text: &str) -> Vec<String> {
    let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect()
}

#[test]
fn a_graph_adds_calls_up_by_those_that_they_are_in() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    graphed(path);
    let (graph, _) = said(path, &["graph"]);
    let expected = [
        "total self calls call",
        "1.000 µs 0 ns 1 thread abc",
        "1.000 µs 850 ns 1 main",
        "100 ns 60 ns 2 A()",
        "40 ns 40 ns 2 C()",
        "50 ns 30 ns 1 B()",
        "20 ns 20 ns 1 C()",
    ];
    assert_eq!(words(&graph), expected);
    let (short, _) = said(path, &["graph", "--least", "60", "heddle.trace"]);
    assert_eq!(words(&short)[3..], ["150 ns 3 … 2 others"]);
    let (one, _) = said(path, &["graph", "C"]);
    let expected = [
        "total self calls called by",
        "40 ns 0 ns 2 A()",
        "40 ns 0 ns 2 main",
        "40 ns 0 ns 2 thread abc",
        "20 ns 0 ns 1 B()",
        "20 ns 0 ns 1 main",
        "20 ns 0 ns 1 thread abc",
        "",
        "total self calls call",
        "60 ns 60 ns 3 C()",
    ];
    assert_eq!(words(&one), expected);
    let (json, _) = said(path, &["graph", "A", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["function"]["callees"][0]["total_ns"], 40);
    assert_eq!(json["callers"][0]["name"], "main");
    heddle(path)
        .args(["graph", "nobody"])
        .assert()
        .code(2)
        .stderr(predicates::str::contains(
            "no call of `nobody` is in the trace",
        ));
    // Strands have their own calls.
    written(path);
    let (strands, _) = said(path, &["graph", "--least", "0"]);
    for name in ["thread app", "coroutine leaf(int)", "fiber body()"] {
        assert_eq!(
            lines_with(&strands, &format!("  {name}")).len(),
            1,
            "{strands}"
        );
    }
}

/// Overloads of one printed name.
#[test]
fn a_function_is_meant_by_its_whole_name_and_by_what_is_printed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let source = "template<class T, class U = T> T pick(T x) { return x; }\n\
                  int main() { pick<int, int>(1); pick<int, long>(2); }\n";
    let program = Program::compile(path, "app", source, &["-O0"]);
    program.trace(|thread, at| {
        thread.enter(0, at("main"), LIBC + 5, 900);
        for (time, function) in [(10, "_Z4pickIiiET_S0_"), (30, "_Z4pickIilET_S0_")] {
            let function = at(function);
            thread.enter(time, function, at("main") + 5, 800).exit(
                time + 10,
                function,
                at("main") + 5,
                800,
            );
        }
        thread.exit(100, at("main"), LIBC + 5, 900);
    });
    for (pattern, calls, total) in [
        ("pick<int, long>", 1, "10 ns"),
        ("int pick<int, int>(int)", 1, "10 ns"),
        ("pick", 2, "20 ns"),
        ("pick(int)", 2, "20 ns"),
    ] {
        for names in ["short", "full"] {
            let (graph, _) = said(path, &["graph", pattern, "--names", names]);
            let last = words(&graph).pop().unwrap();
            let start = format!("{total} {total} {calls} ");
            assert!(last.starts_with(&start), "{pattern}: {graph}");
        }
        let (report, _) = said(path, &["report", "-F", pattern, "--format", "json"]);
        let counted = report.matches("pick").count();
        assert_eq!(counted, calls, "{pattern}: {report}");
    }
    // What is called by one of both is one line.
    let (main, _) = said(path, &["graph", "main"]);
    assert_eq!(words(&main).pop().unwrap(), "20 ns 20 ns 2 pick(int)");
    let orders = [["pick", "heddle.trace"], ["heddle.trace", "pick"]];
    let [one, other] = orders.map(|[a, b]| said(path, &["graph", a, b]).0);
    assert_eq!(one, other);
}
