//! `heddle diff`.

use crate::common::{Program, heddle};
use crate::graph::words;
use heddle_trace_file::write::TraceWriter;
use std::path::Path;

/// A trace in which A takes this time, and a tenth more or less, so many times; B takes 50 ns.
fn timed(path: &Path, program: &Program, time: u64, calls: u64) {
    let trace = TraceWriter::create(path).unwrap();
    let mut process = trace.process(4711, 1, program.path()).unwrap();
    process.module(0, 0x100_0000, 0, None, program.path());
    let (a, b) = (program.place(" _Z1Av"), program.place(" _Z1Bv"));
    let mut thread = process.thread(4711, "abc");
    let mut now = 0;
    for call in 0..calls {
        let took = time - time / 10 + time / 5 * (call % 7) / 6;
        thread.enter(now, a, 0, 900).exit(now + took, a, 0, 900);
        now += took + 10;
        thread.enter(now, b, 0, 900).exit(now + 50, b, 0, 900);
        now += 60;
    }
    thread.finish().unwrap();
    process.finish().unwrap();
}

#[test]
fn a_diff_tells_changes_from_noise_and_fails_where_it_is_asked_to() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = Program::build(path);
    for (name, time, calls) in [
        ("a", 1000, 100),
        ("b", 1010, 100),
        ("c", 1500, 100),
        ("d", 1000, 150),
        // Each call is slower by what is noise, and there are some more.
        ("e", 1030, 108),
    ] {
        timed(&path.join(name), &program, time, calls);
    }
    let diff = |more: &[&str]| {
        let output = heddle(path).arg("diff").args(more).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code().unwrap(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    let of = |text: &str, function: &str| {
        words(text)
            .into_iter()
            .find(|line| line.ends_with(function))
            .unwrap()
    };
    let (code, text, _) = diff(&["a", "b", "--fail-if-slower", "0"]);
    assert_eq!(code, 0, "{text}");
    assert!(of(&text, " A()").contains(" noise "), "{text}");
    let (code, text, said) = diff(&["a", "c", "--fail-if-slower", "10"]);
    assert_eq!(code, 3, "{text}");
    assert!(
        of(&text, " A()").contains("+50.0 % ") && of(&text, " A()").contains(" slower "),
        "{text}"
    );
    assert!(
        of(&text, " B()").contains(" +0.0 % 50 ns 50 ns noise "),
        "{text}"
    );
    assert!(
        of(&text, "all 2 functions").starts_with("200 200 "),
        "{text}"
    );
    assert!(
        said.contains("1 function is slower by more than 10 %: `A()` took"),
        "{said}"
    );
    assert_eq!(diff(&["a", "c", "--fail-if-slower", "60"]).0, 0);
    let (_, text, _) = diff(&["c", "a"]);
    assert!(of(&text, " A()").contains(" faster "), "{text}");
    let (code, text, said) = diff(&["a", "d", "--fail-if-slower", "40"]);
    assert!(of(&text, " A()").contains(" more calls "), "{text}");
    assert_eq!(code, 3);
    let made = "more than 40 %: `A()` was called 150 times, and 100 before";
    assert!(said.contains(made), "{said}");
    // That a whole run was slower is not the calls' number.
    let (code, text, said) = diff(&["a", "e", "--fail-if-slower", "10"]);
    assert!(of(&text, " A()").contains("+11.2 % "), "{text}");
    assert!(of(&text, " A()").contains(" more calls "), "{text}");
    assert_eq!(code, 0, "{said}");
    assert_eq!(diff(&["a", "e", "--fail-if-slower", "7"]).0, 3);
    let (_, csv, _) = diff(&["a", "c", "--format", "csv", "-n", "1"]);
    assert!(
        csv.ends_with(",slower,A()\n") && csv.lines().count() == 2,
        "{csv}"
    );
    let (_, json, _) = diff(&["a", "c", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["what"], "slower");
    let (_, text, said) = diff(&["a", "c", "-N", "A"]);
    assert!(!text.contains("A()"), "{text}");
    for trace in ["a", "c"] {
        let left_out = "heddle: left out 100 of 200 calls: 100 by --exclude";
        let told = format!("heddle: of {trace}:\n{left_out}\n");
        assert!(said.contains(&told), "{said}");
    }
    assert!(
        diff(&["a", "c", "--format", "md"])
            .1
            .contains("| slower | A() |")
    );
}
