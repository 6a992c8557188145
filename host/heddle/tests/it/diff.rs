//! `heddle diff`.

use crate::common::{Program, heddle};
use crate::graph::words;
use heddle_trace_file::write::TraceWriter;
use std::path::Path;

/// A trace in which A takes this time, and a tenth more or less, so many times; B takes 50 ns.
fn timed(path: &Path, program: &Program, time: u64, calls: u64) {
    let times = (0..calls).map(|call| time - time / 10 + time / 5 * (call % 7) / 6);
    takes(path, program, times);
}

/// A trace in which the calls of A take these times; each is followed by one of B that takes 50 ns.
fn takes(path: &Path, program: &Program, times: impl Iterator<Item = u64>) {
    let mut process = program.process(path);
    let (a, b) = (program.place(" _Z1Av"), program.place(" _Z1Bv"));
    let mut thread = process.thread(4711, "abc");
    let mut now = 0;
    for took in times {
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
        of(&text, " B()").contains(" +0.0 % 50 ns 50 ns +0.0 % noise "),
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
    let made = "2 functions are called more often by more than 40 %: `A()` was called 150 times, and \
                100 before";
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

#[test]
fn a_word_never_says_the_opposite_of_the_figure_beside_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = Program::build(path);
    // Three calls in a hundred had to wait in one run, and make its average.
    let waits = |call: u64| {
        if call % 33 == 5 {
            100_000
        } else {
            1000 + call % 50
        }
    };
    takes(&path.join("waits"), &program, (0..100).map(waits));
    takes(
        &path.join("long"),
        &program,
        (0..100).map(|call| 1500 + call % 50),
    );
    // Fewer calls in the same time, each of which takes longer.
    takes(
        &path.join("short"),
        &program,
        (0..100).map(|call| 1000 + call % 50),
    );
    takes(
        &path.join("fewer"),
        &program,
        (0..60).map(|call| 1500 + call % 50),
    );
    let diff = |before: &str, after: &str| {
        let mut diff = heddle(path);
        diff.args(["diff", before, after, "--fail-if-slower", "10"]);
        let output = diff.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (table, said) = (text(output.stdout), text(output.stderr));
        let mut lines = words(&table).into_iter();
        let of_a = lines.find(|line| line.ends_with(" A()")).unwrap();
        (output.status.code().unwrap(), of_a, said)
    };
    for (before, after, median) in [("waits", "long", "took 1.5"), ("long", "waits", "took 1.0")] {
        let (code, of_a, said) = diff(before, after);
        assert!(of_a.contains(" mixed "), "{of_a}");
        assert_eq!(code, 0, "{said}");
        let told = "1 function is `mixed`, as a few calls that take very long decide the average: \
                    half of the calls of `A()`";
        assert!(said.contains(told) && said.contains(median), "{said}");
    }
    let (code, of_a, said) = diff("short", "fewer");
    assert!(
        of_a.starts_with("100 60 ") && of_a.contains(" -10.9 % "),
        "{of_a}"
    );
    assert!(of_a.contains(" +48.5 % slower "), "{of_a}");
    assert_eq!(code, 3, "{said}");
    assert!(
        said.contains("`A()` took 1.521 µs a call, and 1.024 µs before"),
        "{said}"
    );
    let (_, of_a, said) = diff("fewer", "short");
    assert!(of_a.contains(" faster "), "{of_a}");
    assert!(!said.contains("`A()`"), "{said}");
}

/// A trace in which each of these functions takes its time, and a tenth more or less, often; three
/// calls of the one that is `held` take a hundred times as long.
fn each_takes(path: &Path, program: &Program, times: [u64; 6], held: Option<usize>) {
    let trace = TraceWriter::create(path).unwrap();
    let mut process = trace.process(4711, 1, program.path()).unwrap();
    let mut thread = process.thread(4711, "abc");
    let mut now = 0;
    for call in 0..100 {
        for (index, time) in times.into_iter().enumerate() {
            let function = 0x1000 * (index as u64 + 1);
            let mut took = time - time / 10 + time / 5 * (call * 3 % 7) / 6;
            if held == Some(index) && call % 40 == 5 {
                took *= 100;
            }
            thread.enter(now, function, 0, 900);
            thread.exit(now + took, function, 0, 900);
            now += took + 10;
        }
    }
    thread.finish().unwrap();
    process.finish().unwrap();
}

#[test]
fn what_befalls_a_whole_run_is_told_from_what_became_of_a_function() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = Program::build(path);
    let times = [1000, 2000, 500, 10_000, 3000, 700];
    for (name, factors) in [
        ("idle", [100, 100, 100, 100, 100, 100]),
        ("slow", [150, 149, 151, 150, 148, 152]),
        // On a busy machine, and one function by more than that.
        ("busy", [75, 125, 131, 118, 88, 400]),
        ("one", [100, 101, 100, 99, 100, 130]),
        // This function takes as long as before; all the others take longer.
        ("but", [150, 149, 151, 150, 148, 100]),
        // All together take less, as the longest function does.
        ("less", [150, 149, 151, 10, 148, 152]),
    ] {
        let mut all = times;
        all.iter_mut()
            .zip(factors)
            .for_each(|(time, factor)| *time = *time * factor / 100);
        each_takes(&path.join(name), &program, all, None);
    }
    each_takes(
        &path.join("held"),
        &program,
        [1500, 2980, 755, 15_000, 4440, 1064],
        Some(2),
    );
    let diff = |before: &str, after: &str| {
        let arguments = [
            "diff",
            before,
            after,
            "--format",
            "csv",
            "--fail-if-slower",
            "10",
        ];
        let output = heddle(path).args(arguments).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut words: Vec<(String, String)> = text
            .lines()
            .skip(1)
            .map(|line| {
                let mut cells = line.rsplit(',').map(str::to_owned);
                (cells.next().unwrap(), cells.next().unwrap())
            })
            .collect();
        words.sort();
        let words = words.into_iter().map(|(_, what)| what).collect::<Vec<_>>();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), words.join(" "), said)
    };
    let others = "as others as others as others as others as others";
    let (code, words, said) = diff("idle", "slow");
    assert_eq!((code, words), (3, format!("{others} as others")), "{said}");
    let told = "most functions took 1.50 times as long as before, as if all of the run did";
    assert!(said.contains(told), "{said}");
    let told = "error: the whole run is slower by more than 10 %: most functions took 1.50 times";
    assert!(said.contains(told), "{said}");
    assert!(!said.contains("an average"), "{said}");
    let (_, words, said) = diff("idle", "held");
    assert_eq!(words, format!("{others} as others"), "{said}");
    let told = "an average may have changed by more, by a few calls that take very long: half of \
                the calls of `0x3000` took 7";
    assert!(said.contains(told), "{said}");
    let (code, words, said) = diff("slow", "idle");
    assert_eq!((code, words), (0, format!("{others} as others")), "{said}");
    assert!(said.contains("most functions took 0.67 times"), "{said}");

    let (code, words, said) = diff("idle", "less");
    assert_eq!(
        words, "as others as others as others faster as others as others",
        "{said}"
    );
    assert_eq!(code, 0, "{said}");

    let (code, words, said) = diff("idle", "busy");
    assert_eq!((code, words), (3, format!("{others} slower")), "{said}");
    assert!(
        said.contains("1 function is slower by more than 10 %: `0x6000`"),
        "{said}"
    );

    let (code, words, said) = diff("idle", "one");
    assert_eq!(
        (code, words.as_str()),
        (3, "noise noise noise noise noise slower"),
        "{said}"
    );
    assert!(!said.contains("as others"), "{said}");
    let (_, words, said) = diff("idle", "but");
    assert_eq!(words, format!("{others} noise"), "{said}");
}
