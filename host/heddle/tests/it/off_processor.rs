//! Whose a time off the processor is, where a thread runs coroutines.

#[allow(dead_code, reason = "other tests use the rest")]
use crate::common::Program;
use crate::trace_page::{Page, view};
use crate::viewing::{lines_with, said};
use heddle_trace_file::write::TraceWriter;
use heddle_trace_file::{Nanos, Switch, SwitchKind};
use std::collections::BTreeMap;
use std::path::Path;

/// `main` runs a coroutine and sleeps, has it destroyed and sleeps, and returns late.
fn sleeping(directory: &Path) {
    let source = "task co() { co_return; }\nint main() { co(); }\n";
    let program = Program::of_tasks(directory, source, &["-O0", "-g"]);
    let places = [" main", "cov.Frame.actor", "cov.Frame.destroy"];
    let [main, co, destroy] = program.places(places);
    let path = directory.join("heddle.trace");
    let mut process = program.process(&path);
    process
        .thread(4711, "app")
        .enter(0, main, 0, 900)
        .capture(co, 0x5581_0010, Some(0))
        .enter(10, co, main + 9, 800)
        .exit(20, co, 0, 800)
        .long_call(130, 30, "usleep")
        .capture(co, 0x5581_0010, Some(2))
        .enter(140, co, main + 9, 800)
        .long_call(250, 150, "read 0 pipe:[1]")
        .exit(260, co, 0, 800)
        .capture(destroy, 0x5581_0010, Some(4))
        .enter(270, destroy, main + 9, 800)
        .exit(280, destroy, 0, 800)
        .long_call(390, 290, "usleep")
        .exit(500, main, 0, 900)
        .finish()
        .unwrap();
    process.finish().unwrap();
    let off = [(35, 125), (155, 245), (295, 385), (400, 490)];
    were_off(&path, &off.map(|(from, to)| (4711, from, to)));
}

/// Threads of the trace were off their processors from and to these times.
fn were_off(path: &Path, off: &[(u32, u64, u64)]) {
    let all = off.iter().flat_map(|&(tid, from, to)| {
        let switch = |time, kind| Switch {
            time: Nanos(time),
            pid: 4711,
            tid,
            cpu: 0,
            kind,
        };
        [
            switch(from, SwitchKind::Blocks),
            switch(to, SwitchKind::Runs),
        ]
    });
    let trace = TraceWriter::create(path).unwrap();
    trace.switches(&all.collect::<Vec<_>>(), Some(600)).unwrap();
}

/// Two threads run one coroutine at once: the first has not returned from where it was suspended.
/// Each sleeps in nap(), and the first also behind it.
pub fn overlapping(directory: &Path) {
    let source = "void nap() {}\ntask co() { nap(); co_return; }\nint main() { co(); }\n";
    let program = Program::of_tasks(directory, source, &["-O0", "-g"]);
    let [main, co, nap] = program.places([" main", "cov.Frame.actor", " _Z3napv"]);
    let path = directory.join("heddle.trace");
    let mut process = program.process(&path);
    for (tid, base, index, [begin, naps, wakes, end]) in [
        (4711, 0x7000, 0, [10, 20, 90, 200]),
        (4712, 0x9000, 2, [40, 100, 250, 260]),
    ] {
        process
            .thread(tid, "app")
            .enter(5, main, 0, base + 900)
            .capture(co, 0x5581_0010, Some(index))
            .enter(begin, co, main + 9, base + 800)
            .enter(naps, nap, co + 9, base + 700)
            .mark(wakes - 5, 0, "awake")
            .exit(wakes, nap, 0, base + 700)
            .exit(end, co, 0, base + 800)
            .exit(300, main, 0, base + 900)
            .finish()
            .unwrap();
    }
    process.finish().unwrap();
    were_off(&path, &[(4711, 30, 80), (4712, 105, 240), (4711, 110, 180)]);
}

#[test]
fn a_sleep_behind_what_a_filter_keeps_is_on_no_other_activation_s_track() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    overlapping(path);
    for filter in [
        &[][..],
        &["-F", "nap"],
        &["-N", "main"],
        &["--hide", "main"],
    ] {
        let chrome = ["export", "--format", "chrome", "-o", "-"];
        let (out, _) = said(path, &[&chrome[..], filter].concat());
        let read: serde_json::Value = serde_json::from_str(&out).unwrap();
        // By track: its open slices, and when its latest event was.
        let mut tracks: BTreeMap<String, (Vec<&serde_json::Value>, u64)> = BTreeMap::new();
        let mut slept = Vec::new();
        for event in read["traceEvents"].as_array().unwrap() {
            let begins = match event["ph"].as_str() {
                Some("B") => true,
                Some("E") => false,
                _ => continue,
            };
            let time = (event["ts"].as_f64().unwrap() * 1000.0).round() as u64;
            let (open, latest) = tracks.entry(event["tid"].to_string()).or_default();
            assert!(*latest <= time, "{filter:?}: {out}");
            *latest = time;
            if begins {
                open.push(event);
                continue;
            }
            let begun = open.pop().unwrap();
            let within_nap = open.last().is_some_and(|outer| outer["name"] == "nap()");
            if begun["name"] == "blocked" && within_nap {
                slept.push(time - (begun["ts"].as_f64().unwrap() * 1000.0).round() as u64);
            }
        }
        let expected: &[u64] = match filter {
            ["-N", _] => &[],
            _ => &[50, 135],
        };
        // The two activations are open at once, whatever is kept of them.
        let is_empty = filter.first() == Some(&"-N");
        assert_eq!(out.contains("(meanwhile)"), !is_empty, "{filter:?}: {out}");
        assert_eq!(slept, expected, "{filter:?}");
    }
}

#[test]
fn what_a_coroutine_s_calls_wait_is_no_self_time_of_theirs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    overlapping(path);
    let mut page = Page::open(&view(path, &[]));
    let nap = |rows: Vec<Vec<String>>| {
        let nap = rows.into_iter().find(|row| row[0] == "nap()");
        nap.unwrap()[1..5].to_vec()
    };
    let whole = nap(page.rows("functions"));
    assert_eq!(whole, ["2", "35 ns", "185 ns", "220 ns"]);
    page.rows("strands");
    page.follow("#body tbody tr", "coroutine co()");
    page.tab("functions");
    assert_eq!(nap(page.shown_rows()), whole);
    // Behind nap() it is no more where that was called.
    let waits = page.rows("waits");
    let kernel = waits.iter().filter(|row| row[0].contains("kernel"));
    let mut places: Vec<[&str; 2]> = kernel.map(|row| [&*row[5], &*row[2]]).collect();
    places.sort_unstable();
    let called = "app.cpp:14";
    assert_eq!(
        places,
        [["135 ns", called], ["50 ns", called], ["70 ns", "in co()"]]
    );
}

/// The page's waits in the kernel, each with its time and its place; and the row of nap(), with
/// calls, self, waited and total.
fn slept(path: &Path, filter: &[&str]) -> (Vec<[String; 2]>, Vec<String>) {
    let mut page = Page::open(&view(path, filter));
    let waits = page.rows("waits");
    let kernel = waits.iter().filter(|row| row[0].contains("kernel"));
    let cells = kernel.map(|row| [5, 2].map(|at| row[at].clone()));
    let mut places: Vec<[String; 2]> = cells.collect();
    places.sort_unstable();
    let functions = page.rows("functions");
    let nap = functions.iter().find(|row| row[0] == "nap()").unwrap();
    (places, nap[1..5].to_vec())
}

#[test]
fn a_filter_leaves_the_sleeps_of_activations_at_once_where_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    overlapping(path);
    let called = "app.cpp:14";
    for (filter, places, nap) in [
        (
            // It begins while the first activation is in nap(), and ends while the second one is.
            &["--time-range", "60ns..190ns"][..],
            &[["20 ns", called], ["70 ns", "in co()"], ["85 ns", called]][..],
            ["2", "15 ns", "105 ns", "120 ns"],
        ),
        (
            // The second activation has begun, and the first one's nap() has not returned.
            &["--time-range", "85ns..230ns"],
            &[["125 ns", called], ["70 ns", "in co()"]],
            ["2", "10 ns", "125 ns", "135 ns"],
        ),
        (
            &["-F", "nap"],
            &[["135 ns", called], ["50 ns", called], ["70 ns", ""]],
            ["2", "35 ns", "185 ns", "220 ns"],
        ),
        (
            &["--thread", "4712"],
            &[["135 ns", called]],
            ["1", "15 ns", "135 ns", "150 ns"],
        ),
    ] {
        let (found, found_nap) = slept(path, filter);
        assert_eq!(found, places, "{filter:?}");
        assert_eq!(found_nap, nap, "{filter:?}");
    }
}

/// A coroutine runs another one, and is resumed elsewhere before that has returned: its calls on
/// the two threads are on a row each.
#[test]
fn what_handed_over_by_a_call_and_goes_on_elsewhere_has_a_row_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let source =
        "task kid() { co_return; }\ntask co() { kid(); co_return; }\nint main() { co(); }\n";
    let program = Program::of_tasks(directory.path(), source, &["-O0", "-g"]);
    let [main, co, kid] = program.places([" main", "2cov.Frame.actor", "3kidv.Frame.actor"]);
    let mut process = program.process(&directory.path().join("heddle.trace"));
    process
        .thread(4711, "app")
        .enter(5, main, 0, 0x7900)
        .capture(co, 0x5581_0010, Some(0))
        .enter(10, co, main + 9, 0x7800)
        .capture(kid, 0x5581_0090, Some(0))
        .enter(20, kid, co + 9, 0x7700)
        .exit(80, kid, 0, 0x7700)
        .exit(90, co, 0, 0x7800)
        .exit(300, main, 0, 0x7900)
        .finish()
        .unwrap();
    process
        .thread(4712, "app")
        .enter(6, main, 0, 0x9900)
        .capture(co, 0x5581_0010, Some(2))
        .enter(40, co, main + 9, 0x9800)
        .exit(60, co, 0, 0x9800)
        .exit(300, main, 0, 0x9900)
        .finish()
        .unwrap();
    process.finish().unwrap();
    let mut page = Page::open(&view(directory.path(), &[]));
    assert!(
        page.visible().contains("co() (meanwhile)"),
        "{}",
        page.visible()
    );
    let chrome = ["export", "--format", "chrome", "-o", "-"];
    assert!(
        said(directory.path(), &chrome)
            .0
            .contains("co() (meanwhile)")
    );
}

/// A fiber runs a coroutine, and goes on on another thread, within that; before and after its
/// first thread is seen to have left it.
#[test]
fn a_coroutine_sleeps_on_the_thread_that_its_fiber_has_moved_to() {
    let directory = tempfile::tempdir().unwrap();
    let source = "void nap() {}\ntask co() { nap(); co_return; }\n\
                  void work() { co(); }\nint main() { work(); }\n";
    let program = Program::of_tasks(directory.path(), source, &["-O0", "-g"]);
    let [main, work, co, nap] =
        program.places([" main", "_Z4workv", "cov.Frame.actor", " _Z3napv"]);
    let path = directory.path().join("heddle.trace");
    for leaves in [30, 95] {
        let mut process = program.process(&path);
        process
            .thread(4711, "app")
            .stack(0x7000, 0x8000)
            .enter(5, main, 0, 0x7900)
            .enter(10, work, 0, 0x2_0900)
            .capture(co, 0x5581_0010, Some(0))
            .enter(20, co, work + 9, 0x2_0800)
            .exit(leaves, main, 0, 0x7900)
            .finish()
            .unwrap();
        process
            .thread(4712, "app")
            .stack(0x9000, 0xa000)
            .enter(6, main, 0, 0x9900)
            .enter(40, nap, co + 9, 0x2_0700)
            .exit(90, nap, 0, 0x2_0700)
            .exit(100, co, 0, 0x2_0800)
            .exit(110, work, 0, 0x2_0900)
            .exit(300, main, 0, 0x9900)
            .finish()
            .unwrap();
        process.finish().unwrap();
        were_off(&path, &[(4712, 50, 80)]);
        let (places, nap) = slept(directory.path(), &[]);
        assert_eq!(places, [["30 ns", "app.cpp:14"]], "{leaves}");
        assert_eq!(nap, ["1", "20 ns", "30 ns", "50 ns"], "{leaves}");
    }
}

#[test]
fn replay_tells_of_an_event_in_the_activation_that_it_was_in() {
    let directory = tempfile::tempdir().unwrap();
    overlapping(directory.path());
    let (out, _) = said(directory.path(), &["replay", "--by", "strand"]);
    let lines: Vec<&str> = out.lines().collect();
    let depth = |line: &str, what: &str| {
        let (_, rest) = line.split_once(what).unwrap();
        rest.len() - rest.trim_start().len()
    };
    let marks = lines.windows(2).filter(|lines| lines[0].contains("awake"));
    let depths: Vec<usize> = marks
        .map(|lines| {
            assert!(lines[1].contains("nap()"), "{out}");
            depth(lines[0], "Mark") - depth(lines[1], "Exit")
        })
        .collect();
    assert_eq!(depths, [2, 2], "{out}");
}

#[test]
fn a_thread_s_sleep_is_not_the_coroutine_s_that_it_ran_before() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    sleeping(path);
    for filter in [&[][..], &["--hide", "co()*"], &["-N", "co()*"]] {
        let mut page = Page::open(&view(path, filter));
        let waits = page.rows("waits");
        let mut kernel: Vec<_> = waits
            .iter()
            .filter(|row| row[0].contains("kernel"))
            .map(|row| [&*row[1], &*row[3], &*row[4], &*row[5]])
            .collect();
        kernel.sort_unstable();
        let expected = [
            ["", "thread app", "1", "90 ns"],
            ["read 0 pipe:[1]", "coroutine co()", "1", "90 ns"],
            ["usleep", "thread app", "2", "180 ns"],
        ];
        // A coroutine without calls is not on the page.
        let expected = expected
            .iter()
            .filter(|row| filter.is_empty() || row[1] == "thread app");
        assert!(kernel.iter().eq(expected), "{filter:?}: {waits:?}");
    }
    // `report --by sched` tells the same.
    let (report, _) = said(path, &["report", "--by", "sched", "--format", "csv"]);
    let sleeps = lines_with(&report, "usleep");
    assert!(sleeps[0].contains("thread"), "{report}");
    assert_eq!(sleeps.len(), 1, "{report}");
}

#[test]
fn a_thread_has_one_name_wherever_it_stands_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    sleeping(path);
    for (verb, name) in [
        (&["report", "--by", "sched"][..], "  thread #1 app 4711\n"),
        (&["tree"], "  thread #1 app 4711\n"),
        (&["tree", "--strand", "1"], "thread app 4711 #1\n"),
        (&["strands"], "  app 4711\n"),
        (&["report", "--by", "thread"], "thread app 4711\n"),
        (&["replay", "--by", "thread"], " app 4711  Enter "),
    ] {
        let (out, _) = said(path, verb);
        assert!(out.contains(name), "{verb:?}: {out}");
    }
}
