//! What is done for people who look at a trace: names that can be read, one's own code alone,
//! suspensions as lines of their own.

#[allow(dead_code, reason = "other tests use the rest")]
use crate::common::{LIBC, Program, TASK, heddle, json_lines};
use crate::strands::written;
use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use heddle_trace_file::{Nanos, Switch, SwitchKind};
use std::fs;
use std::path::Path;

/// What a command prints that succeeds, and its notes.
pub fn said(directory: &Path, arguments: &[&str]) -> (String, String) {
    let output = heddle(directory).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, notes) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{arguments:?}: {notes}");
    (out, notes)
}

pub fn lines_with<'a>(text: &'a str, part: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.contains(part)).collect()
}

const TEMPLATES: &str = r"
namespace lib {
template <class T> struct box { void put(T) {} };
template <class F> void each(F f) { f(1); f(2); }
}
template <class T> void take(T) {}
void mine(int) {}
int main() {
  lib::box<int>().put(1);
  lib::each([](int n) { mine(n); });
  take(1);
  take('a');
}
";

/// A program with templates, and a trace in which `main` calls each function of its namespace, and
/// those call `mine`.
fn templates(directory: &Path) -> Program {
    let flags = ["-O0", "-g", "-finstrument-functions"];
    let program = Program::compile(directory, "templates", TEMPLATES, &flags);
    program.trace(|thread, at| {
        let (main, put) = (at("main"), at("_ZN3lib3boxIiE3putEi"));
        let (each, lambda) = (
            at("_ZN3lib4eachIZ4mainEUliE_EEvT_"),
            at("_ZZ4mainENKUliE_clEi"),
        );
        let (mine, ints, chars) = (at("_Z4minei"), at("_Z4takeIiEvT_"), at("_Z4takeIcEvT_"));
        thread.enter(0, main, LIBC + 5, 900);
        thread
            .enter(10, put, main + 5, 800)
            .exit(30, put, main + 5, 800);
        thread.enter(100, each, main + 9, 800);
        for time in [110, 150] {
            thread
                .enter(time, lambda, each + 5, 700)
                .enter(time + 5, mine, lambda + 5, 600)
                .exit(time + 10, mine, lambda + 5, 600)
                .exit(time + 15, lambda, each + 5, 700);
        }
        thread.exit(200, each, main + 9, 800);
        thread
            .enter(300, ints, main + 13, 800)
            .exit(310, ints, main + 13, 800);
        thread
            .enter(400, chars, main + 17, 800)
            .exit(420, chars, main + 17, 800);
        thread.exit(1000, main, LIBC + 5, 900);
    });
    program
}

#[test]
fn names_are_short_unless_two_would_look_the_same_or_they_are_asked_for_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    templates(path);
    let (table, _) = said(path, &["report", "-s", "function"]);
    for name in [
        "lib::box::put(int)",
        "lib::each(main::{lambda#1})",
        "main::{lambda#1}(int)",
    ] {
        assert_eq!(
            lines_with(&table, &format!("  {name}")).len(),
            1,
            "{name}: {table}"
        );
    }
    // take(int) and take(char) differ by their parameters; each of them is told.
    assert!(
        table.contains("  take(int)\n") && table.contains("  take(char)\n"),
        "{table}"
    );
    let (full, _) = said(path, &["report", "--names", "full"]);
    assert!(full.contains("  lib::box<int>::put(int)\n"), "{full}");
    assert!(full.contains("  void take<int>(int)\n"), "{full}");
    // What programs read is whole.
    let (csv, _) = said(path, &["report", "--format", "csv"]);
    assert!(csv.contains(",lib::box<int>::put(int),"), "{csv}");
    let (log, _) = said(path, &["replay"]);
    assert!(log.contains("Enter     main::{lambda#1}(int)  <- lib::each(main::{lambda#1})\n"));
    // A pattern means what is printed, too.
    let (filtered, _) = said(path, &["report", "-F", "lib::box::put"]);
    assert_eq!(filtered.lines().count(), 2, "{filtered}");
}

#[test]
fn what_looks_the_same_is_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let source = "template <int N> void f() {}\nint main() { f<1>(); f<2>(); }\n";
    let flags = ["-O0", "-finstrument-functions"];
    let program = Program::compile(directory.path(), "same", source, &flags);
    program.trace(|thread, at| {
        for (time, function) in [(0, at("_Z1fILi1EEvv")), (10, at("_Z1fILi2EEvv"))] {
            thread
                .enter(time, function, LIBC + 5, 900)
                .exit(time + 5, function, LIBC + 5, 900);
        }
    });
    let (table, _) = said(directory.path(), &["report"]);
    assert!(
        table.contains("  f<1>()\n") && table.contains("  f<2>()\n"),
        "{table}"
    );
}

#[test]
fn what_is_hidden_leaves_what_it_calls() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    templates(path);
    let (tree, notes) = said(path, &["tree", "--strand", "1", "--hide", "lib::*"]);
    assert!(
        tree.contains("    main  1.000 µs\n      ×2 main::{lambda#1}(int)  15 ns\n"),
        "{tree}"
    );
    assert!(tree.contains("        mine(int)  5 ns\n"), "{tree}");
    assert!(
        notes.ends_with("left out 2 of 9 calls: 2 by --hide\n"),
        "{notes}"
    );
    // Its own time is its caller's.
    let (csv, _) = said(path, &["report", "--hide", "lib::*", "--format", "csv"]);
    assert!(
        csv.contains("1,1000,940,1000,1000,1000,main,templates\n"),
        "{csv}"
    );
    heddle(path)
        .args(["report", "--hide", "nobody::*"])
        .assert()
        .code(2)
        .stderr(predicates::str::contains(
            "--hide 'nobody::*' matches no function",
        ));
}

#[test]
fn what_is_ones_own_is_told_by_the_source() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::create_dir(path.join("library")).unwrap();
    fs::write(
        path.join("library/lib.hpp"),
        "template <class F> void each(F f) { f(); f(); }\n",
    )
    .unwrap();
    let source = "#include \"library/lib.hpp\"\nvoid mine() {}\nint main() { each(mine); }\n";
    let flags = ["-O0", "-g", "-finstrument-functions"];
    let program = Program::compile(path, "own", source, &flags);
    program.trace(|thread, at| {
        let (main, each, mine) = (at("main"), at("_Z4eachIPFvvEEvT_"), at("_Z4minev"));
        thread
            .enter(0, main, LIBC + 5, 900)
            .enter(10, each, main + 5, 800);
        for time in [20, 40] {
            thread
                .enter(time, mine, each + 5, 700)
                .exit(time + 10, mine, each + 5, 700);
        }
        thread
            .exit(100, each, main + 5, 800)
            .exit(200, main, LIBC + 5, 900);
    });
    let functions = |mine: &str| {
        let (csv, _) = said(path, &["report", "-s", "function", "--format", "csv", mine]);
        let names = csv
            .lines()
            .skip(1)
            .map(|line| line.split(',').nth(6).unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    // Nothing of it is the system's.
    assert_eq!(functions("--mine").len(), 3);
    assert_eq!(
        functions("--mine=library"),
        ["void each<void (*)()>(void (*)())"]
    );
    let (log, _) = said(path, &["replay", "--exclude", "nothing|each"]);
    assert!(
        !log.contains("mine"),
        "an --exclude leaves out what is inside: {log}"
    );
    heddle(path)
        .args(["report", "--mine=elsewhere"])
        .assert()
        .code(2)
        .stderr(predicates::str::contains(
            "--mine: no function's source is below",
        ));
}

#[test]
fn a_suspension_is_a_line_with_its_place_and_who_resumed_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    written(path);
    let (tree, _) = said(path, &["tree", "--strand", "2"]);
    let line = TASK.lines().count() + 3;
    let first = format!(
        "    suspended at app.cpp:{line} on std::suspend_always, resumed by thread app, in main at app.cpp:17  180 ns\n    step()  50 ns\n"
    );
    assert!(tree.contains(&first), "{tree}");
    // The fiber is suspended in a call, and it is said in which.
    let (tree, _) = said(path, &["tree", "--strand", "4"]);
    let expected = "    body()  105 ns\n      step()  95 ns\n        suspended in step(), resumed after fiber body() on thread app  80 ns";
    assert!(tree.contains(expected), "{tree}");
}

#[test]
fn loops_are_there_once() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|thread, at| {
        let (main, a, b) = (at("main"), at("_Z1Av"), at("_Z1Bv"));
        thread.enter(0, main, LIBC + 5, 900);
        for time in (10..310).step_by(30) {
            thread
                .enter(time, a, main + 5, 800)
                .exit(time + 5, a, main + 5, 800)
                .enter(time + 10, b, main + 9, 800)
                .exit(time + 20, b, main + 9, 800);
        }
        thread.exit(400, main, LIBC + 5, 900);
    });
    let (tree, _) = said(directory.path(), &["tree", "--strand", "1"]);
    let expected = "    main  400 ns\n      ×10 loop\n        A()  5 ns\n        B()  10 ns\n";
    assert!(tree.ends_with(expected), "{tree}");
}

#[test]
fn a_replay_may_be_of_one_strand_and_look_like_c() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    written(path);
    let (tree, _) = said(path, &["replay", "--format", "tree", "--strand", "2"]);
    assert!(
        lines_with(&tree, "  50 ns  ")
            .iter()
            .any(|line| line.ends_with("step();")),
        "{tree}"
    );
    assert!(lines_with(&tree, "1 app").is_empty(), "{tree}");
    let (whole, _) = said(path, &["replay", "--format", "tree"]);
    assert!(
        whole.contains("  1 app ") && whole.contains("main() {\n"),
        "{whole}"
    );
    let end = lines_with(&whole, "} /* main() */");
    assert_eq!(end.len(), 1, "{whole}");
    assert!(end[0].starts_with("     900 ns  "), "{whole}");
    // As many calls begin as end.
    assert_eq!(lines_with(&whole, " {\n").len(), 0);
    let begun = whole.lines().filter(|line| line.ends_with(" {")).count();
    assert_eq!(begun, lines_with(&whole, "} /*").len(), "{whole}");
    heddle(path)
        .args(["replay", "--strand", "77"])
        .assert()
        .code(2)
        .stderr(predicates::str::contains(
            "no strand 77; `heddle strands` lists",
        ));
}

#[test]
fn rows_are_by_caller_line_and_module() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = templates(path);
    let csv = |by: &str| {
        said(
            path,
            &["report", "--by", by, "-s", "function", "--format", "csv"],
        )
        .0
    };
    let callers = csv("caller");
    assert!(
        callers.starts_with("calls,total_ns,self_ns,min_ns,avg_ns,max_ns,function,module,caller\n")
    );
    let mine = "2,10,10,5,5,5,mine(int),templates,main::{lambda(int)#1}::operator()(int) const\n";
    assert!(callers.contains(mine), "{callers}");
    assert!(
        callers.contains(",main,templates,[libc.so.6]+0x5\n"),
        "{callers}"
    );
    let lines = csv("line");
    let call = lines
        .lines()
        .find(|line| line.contains(",mine(int),"))
        .unwrap();
    let place = call.rsplit(',').next().unwrap();
    assert!(place.starts_with("templates.cpp:"), "{lines}");
    // All calls are within main's, which is of the same module.
    assert_eq!(
        csv("module").lines().nth(1).unwrap(),
        "9,1000,1000,5,132,1000,templates,templates"
    );
    let (table, _) = said(path, &["report", "--by", "caller"]);
    assert!(
        table.contains("  mine(int)  <- main::{lambda#1}(int)\n"),
        "{table}"
    );
    drop(program);
}

/// A function that calls itself from two places: its time is there once.
#[test]
fn a_recursion_from_several_lines_is_counted_once() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|thread, at| {
        let a = at("_Z1Av");
        thread
            .enter(0, a, LIBC + 5, 900)
            .enter(10, a, a + 5, 800)
            .enter(20, a, a + 9, 700)
            .exit(30, a, a + 9, 700)
            .exit(50, a, a + 5, 800)
            .exit(100, a, LIBC + 5, 900);
    });
    let arguments = ["report", "--by", "caller", "--format", "csv", "-s", "calls"];
    let (csv, _) = said(directory.path(), &arguments);
    // 40 of the outer one, and the inner one is within that.
    assert!(csv.contains("2,40,40,10,25,40,A(),abc,A()\n"), "{csv}");
}

/// A destructor that frees the object calls the one that does not, and a clone what it was made of:
/// both have one name, and the time of a call is there once.
#[test]
fn variants_of_a_function_are_one_recursion() {
    let directory = tempfile::tempdir().unwrap();
    // Functions named as variants are, but for D0 and D1, which are two.
    let source = "struct D { virtual ~D(); };\nD::~D() {}\n\
        namespace n { void D0() {} void D1() {} }\n\
        extern \"C\" { void f() {} void part() __asm__(\"f.part.0\"); void part() {} }\n\
        int main() {}\n";
    let program = Program::compile(
        directory.path(),
        "abc",
        source,
        &["-O0", "-finstrument-functions"],
    );
    program.trace(|thread, at| {
        let nests = |thread: &mut ThreadWriter, from: u64, outer: u64, inner: u64| {
            thread
                .enter(from, outer, LIBC + 5, 900)
                .enter(from + 10, inner, outer + 5, 800)
                .exit(from + 40, inner, outer + 5, 800)
                .exit(from + 50, outer, LIBC + 5, 900);
        };
        nests(thread, 100, at("_ZN1DD0Ev"), at("_ZN1DD1Ev"));
        nests(thread, 200, at("f"), at("f.part.0"));
        nests(thread, 300, at("_ZN1n2D0Ev"), at("_ZN1n2D1Ev"));
    });
    for more in [&[][..], &["-F", "."], &["--by", "thread"]] {
        let arguments = [&["report", "--format", "csv"], more].concat();
        let (csv, _) = said(directory.path(), &arguments);
        for row in ["D::~D()", "f"].map(|function| format!("2,50,50,30,40,50,{function},abc")) {
            assert!(csv.contains(&row), "{more:?}: {csv}");
        }
        for row in ["1,50,20,50,50,50,n::D0()", "1,30,30,30,30,30,n::D1()"] {
            assert!(csv.contains(row), "{more:?}: {csv}");
        }
    }
}

#[test]
fn colours_are_there_when_they_are_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    templates(path);
    let plain = said(path, &["report"]).0;
    assert!(!plain.contains('\x1b'));
    let colored = said(path, &["report", "--color", "always"]).0;
    assert!(colored.starts_with("\x1b[1m"), "{colored}");
    assert!(
        !said(path, &["report", "--color", "never"])
            .0
            .contains('\x1b')
    );
    // csv is for programs.
    assert!(
        !said(path, &["report", "--color", "always", "--format", "csv"])
            .0
            .contains('\x1b')
    );
}

/// A coroutine goes on behind another one's end: by that one's call, it awaited it if it made it;
/// in its place, by whoever resumed that.
#[test]
fn who_awaits_is_the_maker_that_is_called_at_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let source = "task inner() { co_return; }\ntask outer() { co_return; }\nint main() { inner(); outer(); }\n";
    let program = Program::of_tasks(path, source, &["-g"]);
    let [main, outer, inner, destroy] = program.places([
        " main",
        "outerv.Frame.actor",
        "innerv.Frame.actor",
        "innerv.Frame.destroy",
    ]);
    let (of_outer, of_inner) = (0x5581_0010, 0x5581_0090);
    for (made_by_outer, is_called) in [(true, true), (false, true), (true, false)] {
        let directory = path.join(format!("{made_by_outer}-{is_called}"));
        std::fs::create_dir(&directory).unwrap();
        let mut process = program.process(&directory.join("heddle.trace"));
        let mut thread = process.thread(4711, "app");
        thread
            .enter(0, main, 0, 900)
            .capture(outer, of_outer, Some(0))
            .enter(10, outer, main + 9, 800);
        let (maker, sp) = if made_by_outer {
            (outer, 700)
        } else {
            (main, 800)
        };
        if !made_by_outer {
            thread.exit(20, outer, 0, 800);
        }
        thread
            .capture(inner, of_inner, Some(0))
            .enter(30, inner, maker + 9, sp)
            .exit(40, inner, 0, sp);
        if made_by_outer {
            thread.exit(45, outer, 0, 800);
        }
        thread
            .capture(inner, of_inner, Some(2))
            .enter(50, inner, main + 9, 800);
        let (caller, sp) = if is_called { (inner, 700) } else { (main, 800) };
        if !is_called {
            thread.exit(60, inner, 0, 800);
        }
        thread
            .capture(outer, of_outer, Some(2))
            .enter(61, outer, caller + 9, sp)
            .capture(destroy, of_inner, Some(4))
            .enter(65, destroy, outer + 9, 600)
            .exit(68, destroy, 0, 600)
            .exit(70, outer, 0, sp);
        if is_called {
            thread.exit(80, inner, 0, 800);
        }
        thread.exit(100, main, 0, 900).finish().unwrap();
        process.finish().unwrap();
        let (tree, _) = said(&directory, &["tree", "--strand", "3"]);
        assert!(tree.starts_with("coroutine inner() #3\n"), "{tree}");
        let awaited = tree.contains("  awaited by   outer() #2\n");
        assert_eq!(awaited, made_by_outer && is_called, "{tree}");
        let (tree, _) = said(&directory, &["tree", "--strand", "2"]);
        assert!(!tree.contains("awaited by"), "{tree}");
        let resumer = if is_called {
            "coroutine inner() on thread app"
        } else {
            "thread app, in main"
        };
        assert!(tree.contains(&format!("resumed by {resumer}")), "{tree}");
    }
}

/// A coroutine that hands over to its maker as it ends, by a call, as code without optimisation
/// does; the maker destroys it while that call lasts.
pub fn handing_over(directory: &Path, flags: &[&str]) {
    let source = "task inner() { co_return; }\ntask outer() { co_return; }\n\
                  int main() { inner(); outer(); }\n";
    let program = Program::of_tasks(directory, source, flags);
    let [main, outer, inner, destroy] = program.places([
        " main",
        "outerv.Frame.actor",
        "innerv.Frame.actor",
        "innerv.Frame.destroy",
    ]);
    let (of_outer, of_inner) = (0x5581_0010, 0x5581_0090);
    let mut process = program.process(&directory.join("heddle.trace"));
    let mut thread = process.thread(4711, "app");
    thread
        .enter(0, main, 0, 900)
        .capture(outer, of_outer, Some(0))
        .enter(10, outer, main + 9, 800)
        .capture(inner, of_inner, Some(0))
        .enter(30, inner, outer + 9, 700)
        .exit(40, inner, 0, 700)
        .exit(45, outer, 0, 800)
        .capture(inner, of_inner, Some(2))
        .enter(50, inner, main + 9, 800)
        .capture(outer, of_outer, Some(2))
        .enter(61, outer, inner + 9, 700)
        .capture(destroy, of_inner, Some(4))
        .enter(65, destroy, outer + 9, 600)
        .capture(inner, of_inner, Some(5))
        .enter(66, inner, destroy + 9, 500)
        .exit(67, inner, destroy + 9, 500)
        .exit(68, destroy, 0, 600)
        .exit(70, outer, 0, 700)
        .exit(80, inner, 0, 800)
        .exit(100, main, 0, 900)
        .finish()
        .unwrap();
    process.finish().unwrap();
}

#[test]
fn who_hands_over_by_a_call_is_suspended_meanwhile() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    handing_over(path, &["-g", "-O0"]);
    let line = TASK.lines().count() + 1;
    let last = format!(
        "    suspended at app.cpp:{line} on std::suspend_always, \
         destroyed by coroutine outer() on thread app"
    );
    let (tree, _) = said(path, &["tree", "--strand", "3"]);
    let suspended = lines_with(&tree, "suspended at");
    assert_eq!(suspended.len(), 2, "{tree}");
    assert!(suspended[0].contains("resumed by thread app"), "{tree}");
    assert!(suspended[1].starts_with(&last), "{tree}");
    assert!(suspended[1].ends_with("  4 ns"), "{tree}");
    // What an activation takes is not suspended besides, whoever else runs in it.
    let (strands, _) = said(path, &["strands", "--json"]);
    let inner = lines_with(&strands, r#""strand":3,"#)[0];
    assert!(inner.contains(r#""suspended_ns":10,"#), "{inner}");
    // What has destroyed it has returned before the activation that handed over.
    assert!(inner.contains(r#""died_ns":68,"#), "{inner}");
    assert_eq!(suspensions(path, 3), [(40, Some(50)), (61, Some(65))]);
    let (chrome, _) = said(path, &["export", "--format", "chrome", "-o", "-"]);
    let chrome: serde_json::Value = serde_json::from_str(&chrome).unwrap();
    let events = chrome["traceEvents"].as_array().unwrap();
    let begins = |event: &&serde_json::Value| {
        event["tid"] == 3 && event["ph"] == "B" && event["name"] == "suspended"
    };
    assert_eq!(events.iter().filter(begins).count(), 1, "{chrome}");
    // It is destroyed, whatever calls are left out.
    for hidden in [["--hide", "inner*"], ["-N", "inner*"]] {
        let arguments = [&["tree", "--strand", "3"][..], &hidden].concat();
        let (tree, _) = said(path, &arguments);
        let suspended = lines_with(&tree, "suspended at");
        assert!(suspended[1].starts_with(&last), "{hidden:?}: {tree}");
    }
}

#[test]
fn the_parts_of_the_time_that_a_strand_ran_are_no_more_than_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    handing_over(path, &["-O0"]);
    let trace = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    let switch = |time, kind| Switch {
        time: Nanos(time),
        pid: 4711,
        tid: 4711,
        cpu: 0,
        kind,
    };
    let all = [
        switch(100, SwitchKind::Blocks),
        switch(150, SwitchKind::Runs),
    ];
    trace.switches(&all, Some(200)).unwrap();
    for (strand, elapsed, parts) in [
        (
            "3",
            "34 ns elapsed",
            "of that      34 ns on a processor, 0 ns ready, 0 ns blocked\n",
        ),
        (
            "2",
            "31 ns elapsed",
            "of that      31 ns on a processor, 0 ns ready, 0 ns blocked\n",
        ),
        // The kernel tells of its thread, which lives on.
        (
            "1",
            "35 ns elapsed",
            "in all       35 ns on a processor, 0 ns ready, 50 ns blocked, \
             50 ns of it behind its last event\n",
        ),
    ] {
        let (tree, _) = said(path, &["tree", "--strand", strand]);
        assert!(tree.contains(elapsed) && tree.contains(parts), "{tree}");
    }
}

#[test]
fn a_suspension_that_lasts_says_where_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let source = "task inner() { co_return; }\nint main() { inner(); }\n";
    let program = Program::of_tasks(path, source, &["-g", "-O0"]);
    let [main, inner, destroy] =
        program.places([" main", "innerv.Frame.actor", "innerv.Frame.destroy"]);
    let mut process = program.process(&path.join("heddle.trace"));
    let mut thread = process.thread(4711, "app");
    thread
        .enter(0, main, 0, 900)
        .capture(inner, 0x5581_0090, Some(0))
        .enter(10, inner, main + 9, 800)
        .exit(20, inner, 0, 800)
        .exit(50, main, 0, 900)
        .frame_left(90, 0x5581_0090, 2, destroy)
        .finish()
        .unwrap();
    process.finish().unwrap();
    let (tree, _) = said(path, &["tree", "--strand", "2"]);
    let place = format!(
        "app.cpp:{} on std::suspend_always",
        TASK.lines().count() + 1
    );
    assert!(
        tree.contains(&format!("  left at      {place}\n")),
        "{tree}"
    );
    let lasts = format!("    suspended at {place}, and not resumed");
    assert!(tree.contains(&lasts), "{tree}");
    // Until the process did something last, as what is suspended in all has it.
    assert!(tree.ends_with("  70 ns\n"), "{tree}");
    assert!(tree.contains("; suspended 70 ns\n"), "{tree}");
}

/// All of a body of one line is on that line, also where the optimiser leaves no more to tell; and
/// what has not begun is at none. Which of its suspensions awaits what such a line does not tell.
#[test]
fn a_suspension_in_a_body_of_one_line_is_there() {
    let turn = "struct turn {\n  bool await_ready() { return false; }\n  \
                void await_suspend(std::coroutine_handle<>) {}\n  void await_resume() {}\n};\n";
    for (level, awaited, index) in [
        ("-O0", "std::suspend_always", 4),
        ("-O2", "std::suspend_always", 4),
        ("-O0", "std::suspend_always", 0),
        ("-O2", "std::suspend_always", 0),
        ("-O2", "turn", 2),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let source = format!("{turn}task inner() {{ co_await {awaited}{{}}; }}\n");
        let line = [TASK, &source].concat().lines().count();
        let source = format!("{source}int main() {{ inner(); }}\n");
        let program = Program::of_tasks(path, &source, &["-g", level]);
        let [main, inner, destroy] =
            program.places([" main", "innerv.Frame.actor", "innerv.Frame.destroy"]);
        let mut process = program.process(&path.join("heddle.trace"));
        let mut thread = process.thread(4711, "app");
        thread
            .enter(0, main, 0, 900)
            .capture(inner, 0x5581_0090, Some(0))
            .enter(10, inner, main + 9, 800)
            .exit(20, inner, 0, 800)
            .exit(50, main, 0, 900)
            .frame_left(90, 0x5581_0090, index, destroy)
            .finish()
            .unwrap();
        process.finish().unwrap();
        let (tree, _) = said(path, &["tree"]);
        let left = format!("left at app.cpp:{line}: inner()");
        assert_eq!(tree.contains(&left), index > 0, "{level} {index}: {tree}");
        assert_eq!(tree.contains("left at"), index > 0, "{tree}");
        let (life, _) = said(path, &["tree", "--strand", "2"]);
        assert!(!life.contains(" on turn"), "{level} {index}: {life}");
    }
}

#[test]
fn threads_of_one_name_are_told_apart_where_they_resume_another() {
    for (name, told) in [("app", "app #2"), ("worker", "worker")] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let source = "task inner() { co_return; }\nint main() { inner(); }\n";
        let program = Program::of_tasks(path, source, &["-g", "-O0"]);
        let [main, inner] = program.places([" main", "innerv.Frame.actor"]);
        let mut process = program.process(&path.join("heddle.trace"));
        let mut first = process.thread(4711, "app");
        first
            .enter(0, main, 0, 900)
            .capture(inner, 0x5581_0090, Some(0))
            .enter(10, inner, main + 9, 800)
            .exit(20, inner, 0, 800)
            .exit(90, main, 0, 900)
            .finish()
            .unwrap();
        let mut second = process.thread(4712, name);
        second
            .capture(inner, 0x5581_0090, Some(2))
            .enter(50, inner, main + 9, 800)
            .exit(60, inner, 0, 800)
            .finish()
            .unwrap();
        process.finish().unwrap();
        let (strands, _) = said(path, &["strands", "--json"]);
        let own = lines_with(&strands, r#""kind":"coroutine""#)[0];
        let number = own.split(r#""strand":"#).nth(1).unwrap();
        let number = number.split(',').next().unwrap();
        let (tree, _) = said(path, &["tree", "--strand", number]);
        let resumed = format!("resumed by thread {told}");
        let line = lines_with(&tree, "resumed by")[0];
        let rest = line.split(&resumed).nth(1);
        assert!(rest.is_some_and(|rest| !rest.starts_with(" #")), "{tree}");
    }
}

/// As of a program that was killed: where the last call tells for certain, and else nothing.
#[test]
fn where_a_coroutine_is_that_nobody_noted_is_told_if_it_is_sure() {
    const SOURCE: &str = "
void step() {}
struct sure { bool await_ready() { return false; } void await_suspend(std::coroutine_handle<>) {}
  void await_resume() {} };
struct may { bool await_ready() { return false; } bool await_suspend(std::coroutine_handle<>)
  { return true; } void await_resume() {} };
task co() {
  step();
  co_await sure{}; // left here
  co_await may{};
}
int main() { co(); }
";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = Program::of_tasks(path, SOURCE, &["-g", "-O0"]);
    let [main, co] = program.places([" main", "cov.Frame.actor"]);
    let awaits = "13await_suspendENSt7__n486116coroutine_handleIvEE";
    let [step, sure, may] = program.places([
        " _Z4stepv",
        &format!(" _ZN4sure{awaits}"),
        &format!(" _ZN3may{awaits}"),
    ]);
    let text = [TASK, SOURCE].concat();
    let line = text.lines().position(|line| line.ends_with("left here"));
    let here = format!("app.cpp:{}", line.unwrap() + 1);
    for (calls, resumed, told) in [
        (&[step, sure][..], false, Some(&here)),
        (&[sure, step], false, None),
        (&[step, may], false, None),
        (&[step], false, None),
        (&[sure], true, None),
    ] {
        let trace = path.join("heddle.trace");
        _ = std::fs::remove_dir_all(&trace);
        let mut process = program.process(&trace);
        let mut thread = process.thread(4711, "app");
        thread
            .enter(0, main, 0, 900)
            .capture(co, 0x5581_0090, Some(0))
            .enter(10, co, main + 9, 800)
            .exit(20, co, 0, 800)
            .capture(co, 0x5581_0090, Some(2))
            .enter(30, co, main + 19, 800);
        for (time, &callee) in (40..).zip(calls) {
            thread
                .enter(time, callee, program.return_address(co, callee), 700)
                .exit(time, callee, 0, 700);
        }
        thread.exit(50, co, 0, 800);
        if resumed {
            thread
                .capture(co, 0x5581_0090, Some(4))
                .enter(60, co, main + 29, 800)
                .exit(70, co, 0, 800);
        }
        thread.exit(80, main, 0, 900).finish().unwrap();
        process.finish().unwrap();
        heddle(path)
            .args(["pack", "-o", "packed.trace"])
            .assert()
            .success();
        for trace in ["heddle.trace", "packed.trace"] {
            let (tree, _) = said(path, &["tree", trace]);
            let left = tree.split(", left at ").nth(1);
            let left = left.and_then(|left| left.split(": ").next());
            assert_eq!(left, told.map(String::as_str), "{calls:x?}: {tree}");
            let (life, _) = said(path, &["tree", "--strand", "2", trace]);
            let lasts = match told {
                Some(told) => format!("suspended at {told}"),
                None => "suspended".to_owned(),
            };
            let last = life.lines().last().unwrap();
            assert!(last.trim_start().starts_with(&lasts), "{life}");
            let place = last.contains(" at ") || last.contains(" in ");
            assert_eq!(place, told.is_some(), "{life}");
            let (list, _) = said(path, &["strands", "--json", trace]);
            let place = told.map_or("null".to_owned(), |told| format!("\"{told}\""));
            let own = lines_with(&list, r#""strand":2,"#)[0];
            assert!(own.contains(&format!(r#""suspended_at":{place}"#)), "{own}");
        }
        std::fs::remove_file(path.join("packed.trace")).unwrap();
    }
}

/// Optimised code has the first activation in the ramp: what is told of it is the frame alone.
#[test]
fn a_suspension_that_is_the_first_is_told() {
    let line = TASK.lines().count() + 1;
    let at = format!("suspended at app.cpp:{line} on std::suspend_always");
    for (flags, [in_ramp, behind], told) in [
        (&["-g", "-O0"][..], [Some(0), Some(2)], &*at),
        (&["-O0"], [None, None], "suspended"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let source = "task inner() { co_return; }\nint main() { inner(); }\n";
        let program = Program::of_tasks(path, source, flags);
        let [main, ramp, inner] = program.places([" main", " _Z5innerv", "innerv.Frame.actor"]);
        let frames = [0x5581_0010, 0x5581_0090, 0x5581_0110];
        let mut process = program.process(&path.join("heddle.trace"));
        let mut thread = process.thread(4711, "app");
        thread.enter(0, main, 0, 900);
        for (time, frame) in [(10, frames[0]), (20, frames[1])] {
            thread
                .enter(time, ramp, main + 9, 800)
                .frame_made(time + 2, frame, 790)
                .exit(time + 4, ramp, main + 9, 800);
        }
        // This one's ramp calls its body.
        thread
            .enter(30, ramp, main + 9, 800)
            .frame_made(32, frames[2], 790)
            .capture(inner, frames[2], in_ramp)
            .enter(36, inner, ramp + 9, 700)
            .exit(38, inner, ramp + 9, 700)
            .exit(39, ramp, main + 9, 800);
        for (time, frame) in [(50, frames[0]), (70, frames[2])] {
            thread
                .capture(inner, frame, behind)
                .enter(time, inner, main + 9, 800)
                .exit(time + 5, inner, main + 9, 800);
        }
        thread.exit(100, main, 0, 900).finish().unwrap();
        process.finish().unwrap();
        let lines = |born: &str| {
            let (strands, _) = said(path, &["strands", "--json"]);
            let born = format!(r#""born_ns":{born},"#);
            let strand: serde_json::Value =
                serde_json::from_str(lines_with(&strands, &born)[0]).unwrap();
            let (tree, _) = said(path, &["tree", "--strand", &strand["strand"].to_string()]);
            let lines = lines_with(&tree, "    suspended").into_iter();
            lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
        };
        let resumed = |by: &[String]| by[0].starts_with(&format!("{told}, resumed by thread app"));
        let first = lines("12");
        assert!(
            resumed(&first) && first[0].ends_with("  36 ns"),
            "{first:?}"
        );
        assert_eq!(lines("22"), ["suspended, and not resumed  76 ns"]);
        let begun = lines("32");
        assert!(
            resumed(&begun) && begun[0].ends_with("  32 ns"),
            "{begun:?}"
        );
    }
}

/// `await_suspend` calls what resumes the other: each is suspended from then on until the other
/// resumes it, within that call.
#[test]
fn who_hands_over_by_a_function_is_suspended_meanwhile() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let source = "void give() {}\ntask ping() { co_return; }\ntask pong() { co_return; }\n\
                  int main() { ping(); pong(); give(); }\n";
    let program = Program::of_tasks(path, source, &["-O0"]);
    let [main, give, ping, pong] = program.places([
        " main",
        " _Z4givev",
        "pingv.Frame.actor",
        "pongv.Frame.actor",
    ]);
    let mut process = program.process(&path.join("heddle.trace"));
    let mut thread = process.thread(4711, "app");
    thread.enter(0, main, 0, 900);
    for (time, body, frame) in [(10, ping, 0x5581_0010), (30, pong, 0x5581_0090)] {
        thread
            .capture(body, frame, Some(0))
            .enter(time, body, main + 9, 800)
            .exit(time + 10, body, 0, 800);
    }
    thread
        .capture(ping, 0x5581_0010, Some(2))
        .enter(50, ping, main + 9, 800)
        .enter(60, give, ping + 9, 700)
        .capture(pong, 0x5581_0090, Some(2))
        .enter(70, pong, give + 9, 600)
        .enter(80, give, pong + 9, 500)
        .capture(ping, 0x5581_0010, Some(4))
        .enter(90, ping, give + 9, 400)
        .exit(110, ping, 0, 400)
        .exit(120, give, 0, 500)
        .exit(130, pong, 0, 600)
        .exit(140, give, 0, 700)
        .exit(150, ping, 0, 800)
        .exit(200, main, 0, 900)
        .finish()
        .unwrap();
    process.finish().unwrap();
    for filter in [&[][..], &["--hide", "give*"]] {
        let (tree, _) = said(path, &[&["tree", "--strand", "2"][..], filter].concat());
        let suspended = lines_with(&tree, "    suspended");
        assert_eq!(suspended.len(), 3, "{filter:?}: {tree}");
        assert!(
            suspended[1].contains(", resumed by coroutine pong() on thread app"),
            "{filter:?}: {tree}"
        );
        assert!(suspended[1].ends_with("  20 ns"), "{filter:?}: {tree}");
    }
    let expected = [(20, Some(50)), (70, Some(90)), (110, None)];
    assert_eq!(suspensions(path, 2), expected);
}

/// From when to when a strand is suspended, as tables have it.
fn suspensions(directory: &Path, strand: u64) -> Vec<(u64, Option<u64>)> {
    let (rows, _) = said(directory, &["export", "--format", "json", "-o", "-"]);
    let rows = json_lines(&rows);
    let of_it = rows.iter().filter(|row| {
        row["row"] == "pause" && row["why"] == "suspended" && row["strand"] == strand
    });
    let mut all: Vec<_> = of_it
        .map(|row| (row["from_ns"].as_u64().unwrap(), row["to_ns"].as_u64()))
        .collect();
    all.sort_unstable();
    all
}

/// Writes what a thread does within a call of `main`, at 100 ns; with the addresses of that and of
/// `a`, which fibers begin with.
fn fibers(directory: &Path, does: impl FnOnce(&mut ThreadWriter, u64, u64)) {
    let source = "void a() {}\nint main() { a(); }\n";
    let flags = ["-O0", "-g", "-finstrument-functions"];
    let program = Program::compile(directory, "app", source, &flags);
    program.trace(|thread, at| {
        let (main, a) = (at("main"), at("_Z1av"));
        thread
            .stack(0x7_0000, 0x8_0000)
            .enter(100, main, a + 5, 0x7_f000);
        does(thread, main, a);
    });
}

/// A thread that runs fibers is suspended in the function that switched, whoever called its own
/// outermost one; nobody ran it first, and it goes on to its end.
#[test]
fn a_thread_that_runs_fibers_is_suspended_in_a_function() {
    let directory = tempfile::tempdir().unwrap();
    fibers(directory.path(), |thread, main, a| {
        thread
            .stack_made(110, 0x5_0000..0x6_0000, 0x7_e000)
            .enter(120, a, LIBC + 0x500, 0x5_fff0)
            .exit(150, a, 0, 0x5_fff0)
            .exit(200, main, a + 5, 0x7_f000);
    });
    let (tree, _) = said(directory.path(), &["tree", "--strand", "1"]);
    let line = "suspended in main, resumed after fiber a() on thread abc";
    assert!(tree.contains(line), "{tree}");
    assert!(!tree.contains("first run"), "{tree}");
    let (strands, _) = said(directory.path(), &["strands", "--json"]);
    let own = lines_with(&strands, r#""strand":1,"#)[0];
    for unknown in [r#""resumer":null,"#, r#""suspended_at":null,"#] {
        assert!(own.contains(unknown), "{own}");
    }
}

/// A thread may go back to its own stack between two fibers, without a call: only that it ran the
/// one after the other is known.
#[test]
fn a_fiber_that_is_run_after_another_has_no_known_resumer() {
    let directory = tempfile::tempdir().unwrap();
    fibers(directory.path(), |thread, main, a| {
        thread
            .stack_made(110, 0x5_0000..0x6_0000, 0x7_e000)
            .stack_made(120, 0x6_0000..0x7_0000, 0x7_e000)
            .enter(130, a, LIBC + 0x500, 0x5_fff0)
            .enter(140, a, LIBC + 0x500, 0x6_fff0)
            .exit(150, a, 0, 0x6_fff0)
            .exit(160, a, 0, 0x5_fff0)
            .exit(200, main, a + 5, 0x7_f000);
    });
    let (tree, _) = said(directory.path(), &["tree", "--strand", "3"]);
    assert!(tree.contains("  first run after a() #2\n"), "{tree}");
    let (strands, _) = said(directory.path(), &["strands", "--json"]);
    let (rows, _) = said(directory.path(), &["export", "--format", "json", "-o", "-"]);
    let mut rows = json_lines(&rows);
    rows.retain(|row| row["row"] == "strand");
    for all in [json_lines(&strands), rows] {
        let resumer = |strand: u64| {
            let found = all.iter().find(|row| row["strand"] == strand);
            found.unwrap()["resumer"].as_u64()
        };
        assert_eq!((resumer(2), resumer(3)), (Some(1), None));
    }
}

/// What is destroyed by a call, and what returns from one, has not been handed over to.
#[test]
fn who_runs_another_may_be_awaited_by_a_third() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let source = r"
struct job {
  struct promise_type : task::promise_type {
    std::coroutine_handle<> next;
    struct last {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        return self.promise().next;
      }
      void await_resume() noexcept {}
    };
    job get_return_object() { return {}; }
    last final_suspend() noexcept { return {}; }
  };
};
job inner() { co_return; }
job middle() { co_return; }
job outer() { co_return; }
int main() { inner(); middle(); outer(); }
";
    // GCC 12 crashes where code with exceptions and hooks hands over by a jump.
    let flags = ["-O2", "-fno-ipa-icf", "-fno-exceptions"];
    let program = Program::of_tasks(path, source, &flags);
    let [main, inner, middle, outer, of_inner, of_middle] = program.places([
        " main",
        "innerv.Frame.actor",
        "middlev.Frame.actor",
        "outerv.Frame.actor",
        "innerv.Frame.destroy",
        "middlev.Frame.destroy",
    ]);
    let frames = [0x5581_0010, 0x5581_0090, 0x5581_0110];
    for (what, called) in [("destroyed", of_inner), ("resumed", inner)] {
        let mut process = program.process(&path.join(what));
        let mut thread = process.thread(4711, "app");
        thread
            .enter(0, main, 0, 900)
            .capture(outer, frames[0], Some(0))
            .enter(10, outer, main + 9, 800)
            .capture(middle, frames[1], Some(0))
            .enter(20, middle, outer + 9, 700)
            .capture(inner, frames[2], Some(0))
            .enter(30, inner, middle + 9, 600)
            .exit(31, inner, 0, 600)
            .exit(32, middle, 0, 700)
            .exit(33, outer, 0, 800)
            .capture(middle, frames[1], Some(2))
            .enter(40, middle, main + 9, 800)
            .capture(called, frames[2], Some(2))
            .enter(50, called, middle + 9, 700)
            .exit(55, called, 0, 700)
            .exit(60, middle, main + 9, 800)
            .capture(outer, frames[0], Some(2))
            .enter(61, outer, main + 9, 800)
            .capture(of_middle, frames[1], Some(4))
            .enter(70, of_middle, outer + 9, 700)
            .exit(75, of_middle, 0, 700)
            .exit(80, outer, main + 9, 800)
            .exit(100, main, 0, 900)
            .finish()
            .unwrap();
        process.finish().unwrap();
        let (tree, _) = said(path, &["tree", "--strand", "3", what]);
        assert!(
            tree.starts_with("coroutine middle() #3\n"),
            "{what}: {tree}"
        );
        assert!(
            tree.contains("  awaited by   outer() #2\n"),
            "{what}: {tree}"
        );
    }
}

/// A fiber that ends goes back to the strand that made it, which may be a scheduler.
#[test]
fn a_fiber_is_awaited_by_none() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|thread, at| {
        let (main, a, b) = (at("main"), at("_Z1Av"), at("_Z1Bv"));
        thread
            .stack(0x7_0000, 0x8_0000)
            .enter(100, main, LIBC + 5, 0x7_f000)
            .strand_made(110, 9)
            .strand_switch(120, 9)
            .enter(1_000, a, LIBC + 5, 0x4_f000)
            .strand_switch(1_010, 0)
            .enter(1_100, b, main + 5, 0x7_ef00)
            .exit(1_200, b, main + 5, 0x7_ef00)
            .strand_switch(1_900, 9)
            .exit(2_000, a, LIBC + 5, 0x4_f000)
            .strand_end(2_010, 9)
            .strand_switch(2_020, 0)
            .enter(3_100, b, main + 5, 0x7_ef00)
            .exit(3_200, b, main + 5, 0x7_ef00)
            .exit(7_000, main, LIBC + 5, 0x7_f000);
    });
    let (tree, _) = said(directory.path(), &["tree", "--strand", "2"]);
    assert!(tree.starts_with("fiber A() #2\n"), "{tree}");
    assert!(tree.contains("  made by      abc #1\n"), "{tree}");
    assert!(tree.contains("  died "), "{tree}");
    assert!(!tree.contains("awaited by"), "{tree}");
}

/// A coroutine that Asio's pump resumes right after another was suspended, within one call of the
/// pump, is awaited by that one; one that the pump's next call resumes is not.
#[test]
fn who_awaits_in_asio_is_who_was_suspended_before_in_one_pump() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let source = "
        namespace asio::detail {
        template <class Executor> struct awaitable_thread { void pump() {} };
        template struct awaitable_thread<int>;
        }
        task inner() { co_return; }
        task outer() { co_return; }
        int main() { inner(); outer(); }
        ";
    let program = Program::of_tasks(path, source, &["-g"]);
    let [main, pump, outer, inner] = program.places([
        " main",
        "awaitable_threadIiE4pumpEv",
        "outerv.Frame.actor",
        "innerv.Frame.actor",
    ]);
    let (of_outer, of_inner) = (0x5581_0010, 0x5581_0090);
    for pumps in [1, 2] {
        let directory = path.join(pumps.to_string());
        std::fs::create_dir(&directory).unwrap();
        let mut process = program.process(&directory.join("heddle.trace"));
        let mut thread = process.thread(4711, "app");
        thread
            .enter(0, main, 0, 900)
            .capture(outer, of_outer, Some(0))
            .enter(10, outer, main + 9, 800)
            .exit(20, outer, 0, 800)
            .enter(25, pump, main + 9, 850)
            .capture(outer, of_outer, Some(2))
            .enter(30, outer, pump + 1, 800)
            .capture(inner, of_inner, Some(0))
            .enter(32, inner, outer + 9, 700)
            .exit(34, inner, 0, 700)
            .exit(40, outer, 0, 800);
        if pumps == 2 {
            thread.exit(42, pump, 0, 850).enter(44, pump, main + 9, 850);
        }
        thread
            .capture(inner, of_inner, Some(2))
            .enter(50, inner, pump + 1, 800)
            .exit(60, inner, 0, 800)
            .capture(outer, of_outer, Some(4))
            .enter(61, outer, pump + 1, 800)
            .exit(70, outer, 0, 800)
            .exit(80, pump, 0, 850)
            .exit(100, main, 0, 900)
            .finish()
            .unwrap();
        process.finish().unwrap();
        let (tree, _) = said(&directory, &["tree", "--strand", "3"]);
        assert!(
            tree.starts_with("coroutine inner() #3\n  made by      outer() #2\n"),
            "{tree}"
        );
        let awaited = tree.contains("  awaited by   outer() #2\n");
        assert_eq!(awaited, pumps == 1, "{tree}");
        let (tree, _) = said(&directory, &["tree", "--strand", "2"]);
        assert!(tree.contains("coroutine outer() #2"), "{tree}");
        assert!(!tree.contains("awaited by"), "{tree}");
    }
}

#[test]
fn completions_know_every_command() {
    let directory = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let (text, _) = said(directory.path(), &["completions", shell]);
        for command in ["record", "graph", "fail-if-slower", "completions"] {
            assert!(text.contains(command), "{shell}: {command}");
        }
    }
    // The shell itself takes them.
    let (text, _) = said(directory.path(), &["completions", "bash"]);
    let script = format!(
        "{text}\nCOMP_WORDS=(heddle gra) COMP_CWORD=1; _heddle heddle gra heddle; echo \"${{COMPREPLY[@]}}\""
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "graph");
}
