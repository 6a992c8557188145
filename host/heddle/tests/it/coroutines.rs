//! Coroutines' frames, as a trace has them, in what the commands print.

use crate::common::{Program, heddle, json_lines};
use heddle_trace_file::write::ThreadWriter;
use predicates::prelude::*;
use predicates::str::contains;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The program, and where `main`, the body and what destroys it are.
fn compiled(directory: &Path) -> (Program, [u64; 3]) {
    let source = "task leaf(int) { co_await std::suspend_always{}; }\n\
                  int main() { leaf(1).handle.destroy(); }\n";
    let program = Program::of_tasks(directory, source, &[]);
    let places = program.places([" main", "leafi.Frame.actor", "leafi.Frame.destroy"]);
    (program, places)
}

#[test]
fn captured_frames_are_shown_and_counted_and_stay_in_a_packed_trace() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let (program, [main, actor, destroy]) = compiled(path);
    let mut process = program.process(&path.join("heddle.trace"));
    let mut thread = process.thread(4711, "tasks");
    thread
        // By its name it is none.
        .capture(main, 0x5581_0990, None)
        .enter(0, main, 0, 900)
        .capture(actor, 0x5581_0010, Some(0))
        .enter(10, actor, main + 9, 800)
        .exit(20, actor, 0, 800)
        .capture(actor, 0x5581_0010, None)
        .enter(30, actor, main + 9, 800)
        .exit(40, actor, 0, 800)
        .enter(50, destroy, main + 9, 800)
        .exit(60, destroy, 0, 800)
        .finish()
        .unwrap();
    process.finish().unwrap();
    heddle(path).arg("pack").assert().success();
    for trace in ["heddle.trace", "heddle.trace.packed"] {
        let replayed = contains("leaf(int) [resume] {frame 0x55810010, resume 0}  <- main\n")
            .and(contains("leaf(int) [resume] {frame 0x55810010}  <- main\n"))
            .and(contains("leaf(int) [destroy]  <- main\n"))
            .and(contains("Enter main  <- "));
        heddle(path)
            .args(["replay", trace])
            .assert()
            .success()
            .stdout(replayed);
        let counted = contains("coroutines 2 frames captured of 1 coroutine function\n")
            .and(contains("           1 without: leaf(int) [destroy]\n"));
        heddle(path)
            .args(["info", trace])
            .assert()
            .success()
            .stdout(counted);
    }
}

/// `destroy` may end with a jump to the body, which then comes after it; without debug information
/// no resume index tells.
#[test]
fn a_destruction_that_goes_on_by_a_tail_call_makes_no_second_instance() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let (program, [main, actor, destroy]) = compiled(path);
    // The body is entered at the frame's old address after `destroy` has returned. If the call
    // comes from elsewhere, a new coroutine is there.
    for (caller, instances) in [(main + 9, 1), (main + 13, 2)] {
        let directory = path.join(format!("{instances}.trace"));
        let mut process = program.process(&directory);
        process
            .thread(4711, "tasks")
            .enter(0, main, 0, 900)
            .capture(actor, 0x5581_0010, None)
            .enter(10, actor, main + 5, 800)
            .exit(20, actor, 0, 800)
            .capture(destroy, 0x5581_0010, None)
            .enter(30, destroy, main + 9, 800)
            .exit(40, destroy, 0, 800)
            .capture(actor, 0x5581_0010, None)
            .enter(50, actor, caller, 800)
            .exit(60, actor, 0, 800)
            .exit(70, main, 0, 900)
            .finish()
            .unwrap();
        process.finish().unwrap();
        let listed = heddle(path)
            .args(["strands", "--json", "--kind", "coroutine"])
            .arg(&directory)
            .assert()
            .success();
        let list = String::from_utf8(listed.get_output().stdout.clone()).unwrap();
        assert_eq!(list.lines().count(), instances, "{list}");
    }
}

/// What Clang makes of a coroutine `a`: its ramp, and what resumes it. The hooks of this file are
/// called by another function alone, unless Clang put them in last.
const AS_CLANG: &str = "
void ramp() asm(\"_Z1av\");
void resume() asm(\"_Z1av.resume\");
void ramp() {}
__attribute__((no_instrument_function)) void resume() {}
int main() { ramp(); resume(); }
";

#[test]
fn coroutines_that_clang_hid_are_named_unless_one_was_seen() {
    let directory = tempfile::tempdir().unwrap();
    let flags = ["-O0", "-finstrument-functions"];
    let program = Program::compile(directory.path(), "clang", AS_CLANG, &flags);
    let info = || heddle(directory.path()).arg("info").assert().success();
    let hidden = "clang: what resumes its coroutines has no hook (1 coroutine function, compiled by Clang): they are not told apart";
    for (called, warned) in [
        (&["_Z1av"][..], true),
        (&["_Z1av", "_Z1av.resume"], false),
        (&["main"], false),
    ] {
        program.trace(|thread, at| {
            for (time, symbol) in (1..).zip(called) {
                thread.enter(2 * time, at(symbol), 0, 900);
                thread.exit(2 * time + 1, at(symbol), 0, 900);
            }
        });
        let said = info().get_output().stdout.clone();
        let said = String::from_utf8(said).unwrap();
        assert_eq!(said.contains(hidden), warned, "{called:?}: {said}");
    }
}

/// A coroutine goes on on another thread before the call returns by which it was suspended: what
/// either thread runs then is its own.
#[test]
fn a_thread_runs_what_it_resumes_though_another_has_gone_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let (program, [main, actor, _]) = compiled(path);
    let mut process = program.process(&path.join("heddle.trace"));
    let (first, second) = (0x5581_0010, 0x5581_0090);
    let mut thread = process.thread(4711, "one");
    thread
        .enter(0, main, 0, 900)
        .capture(actor, first, Some(0))
        .enter(1000, actor, main + 9, 800)
        .exit(2000, actor, 0, 800)
        .capture(actor, second, Some(0))
        .enter(3000, actor, main + 9, 800)
        .exit(4000, actor, 0, 800)
        .capture(actor, first, Some(2))
        .enter(10_000, actor, main + 9, 800)
        // The other thread runs it since 15 µs.
        .exit(20_000, actor, 0, 800)
        .capture(actor, second, Some(2))
        .enter(50_000, actor, main + 9, 800)
        .exit(90_000, actor, 0, 800)
        .exit(100_000, main, 0, 900)
        .finish()
        .unwrap();
    let mut thread = process.thread(4712, "other");
    thread
        .enter(5000, main, 0, 0x1_0900)
        .capture(actor, first, Some(4))
        .enter(15_000, actor, main + 9, 0x1_0800)
        .exit(70_000, actor, 0, 0x1_0800)
        .exit(100_000, main, 0, 0x1_0900)
        .finish()
        .unwrap();
    process.finish().unwrap();

    let exported = |format| {
        let mut command = heddle(path);
        let output = command.args(["export", "--format", format, "-o", "-"]);
        let bytes = output.assert().success().get_output().stdout.clone();
        String::from_utf8(bytes).unwrap()
    };
    let chrome: serde_json::Value = serde_json::from_str(&exported("chrome")).unwrap();
    let mut open = std::collections::HashMap::new();
    let mut ran = Vec::new();
    for event in chrome["traceEvents"].as_array().unwrap() {
        let track: &mut Vec<_> = open.entry(event["tid"].to_string()).or_default();
        let time = event["ts"].as_f64();
        match event["ph"].as_str().unwrap() {
            "B" => track.push((event["name"].as_str().unwrap(), time.unwrap())),
            "E" => {
                let (name, since) = track.pop().unwrap();
                if name.starts_with("coroutine ") {
                    ran.push((event["tid"].to_string(), since, time.unwrap()));
                }
            }
            _ => {}
        }
    }
    // 1 and 2 are the threads.
    let of = |tid: &str| {
        let own = ran.iter().filter(|(track, ..)| track == tid);
        own.map(|&(_, since, to)| (since.round(), to.round()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of("1"),
        [(1.0, 2.0), (3.0, 4.0), (10.0, 20.0), (50.0, 90.0)]
    );
    assert_eq!(of("2"), [(15.0, 70.0)]);
    // It does not rest while the other thread runs it.
    let rows = json_lines(&exported("json"));
    let pauses = rows
        .iter()
        .filter(|row| row["row"] == "pause" && row["strand"] == 3);
    let pauses = pauses.map(|row| (row["from_ns"].as_u64(), row["to_ns"].as_u64()));
    let pauses: Vec<_> = pauses.collect();
    let [rested, left] = [(2000, Some(10_000)), (70_000, None)];
    assert_eq!(pauses, [rested, left].map(|(from, to)| (Some(from), to)));
}

/// A coroutine's life: what its thread and another thread do within `main`, and the facts that all
/// verbs must tell then: how often it ran, when it died, and its pauses.
struct Life {
    what: &'static str,
    does: fn(&mut ThreadWriter, &Places),
    other: fn(&mut ThreadWriter, &Places),
    runs: u64,
    died: Option<u64>,
    pauses: &'static [(u64, Option<u64>)],
    /// The last line of its life.
    line: &'static str,
}

struct Places {
    main: u64,
    ramp: u64,
    actor: u64,
    destroy: u64,
}

const FRAME: u64 = 0x5581_0010;
/// When the process does something last.
const LAST: u64 = 90_000;

/// The ramp makes the frame, and does this before it returns.
fn ramp(thread: &mut ThreadWriter, places: &Places, does: impl FnOnce(&mut ThreadWriter)) {
    thread
        .enter(1000, places.ramp, places.main + 9, 800)
        .frame_made(1200, FRAME, 780);
    does(thread);
    thread.exit(4000, places.ramp, 0, 800);
}

/// The body begins, as its ramp goes on to run it.
fn begins(thread: &mut ThreadWriter, places: &Places) {
    ramp(thread, places, |thread| {
        body(thread, places, (0, 2000), Some(3000));
    });
}

/// The body runs, until then if it returns.
fn body(thread: &mut ThreadWriter, places: &Places, (index, from): (u16, u64), to: Option<u64>) {
    let (caller, sp) = match index {
        0 => (places.ramp + 9, 700),
        _ => (places.main + 19, 800),
    };
    thread
        .capture(places.actor, FRAME, Some(index))
        .enter(from, places.actor, caller, sp);
    if let Some(to) = to {
        thread.exit(to, places.actor, 0, sp);
    }
}

const LIVES: [Life; 7] = [
    Life {
        what: "begins at once, and is suspended still",
        does: |thread, places| {
            begins(thread, places);
            body(thread, places, (2, 10_000), Some(11_000));
        },
        other: |_, _| (),
        runs: 2,
        died: None,
        pauses: &[(3000, Some(10_000)), (11_000, None)],
        line: ", and not resumed  79.000 µs",
    },
    Life {
        what: "begins as a part of its ramp",
        does: |thread, places| {
            ramp(thread, places, |_| ());
            body(thread, places, (2, 10_000), Some(11_000));
        },
        other: |_, _| (),
        runs: 1,
        died: None,
        pauses: &[(4000, Some(10_000)), (11_000, None)],
        line: ", and not resumed  79.000 µs",
    },
    Life {
        what: "is never resumed",
        does: |thread, places| ramp(thread, places, |_| ()),
        other: |_, _| (),
        runs: 0,
        died: None,
        pauses: &[(4000, None)],
        line: ", and not resumed  86.000 µs",
    },
    Life {
        what: "ends on another thread before the call returns that suspended it",
        does: |thread, places| {
            ramp(thread, places, |_| ());
            body(thread, places, (2, 10_000), Some(40_000));
        },
        other: |thread, places| {
            thread
                .capture(places.actor, FRAME, Some(4))
                .enter(15_000, places.actor, places.main + 9, 0x1_0800)
                .frame_freed(19_000, FRAME, places.destroy)
                .exit(20_000, places.actor, 0, 0x1_0800);
        },
        runs: 2,
        died: Some(20_000),
        pauses: &[(4000, Some(10_000))],
        line: ", resumed by thread other, in main  0 ns",
    },
    Life {
        what: "has its frame freed behind its end",
        does: |thread, places| {
            begins(thread, places);
            body(thread, places, (2, 10_000), Some(11_000));
            thread.frame_freed(11_500, FRAME, places.destroy);
        },
        other: |_, _| (),
        runs: 2,
        died: Some(11_000),
        pauses: &[(3000, Some(10_000))],
        line: ", resumed by thread one, in main  ",
    },
    Life {
        what: "is destroyed by a function that jumps to the body",
        does: |thread, places| {
            begins(thread, places);
            thread
                .capture(places.destroy, FRAME, Some(3))
                .enter(10_000, places.destroy, places.main + 19, 800)
                .exit(10_500, places.destroy, 0, 800);
            body(thread, places, (3, 10_700), None);
            thread
                .frame_freed(10_900, FRAME, places.destroy)
                .exit(11_000, places.actor, 0, 800);
        },
        other: |_, _| (),
        runs: 2,
        died: Some(11_000),
        pauses: &[(3000, Some(10_000))],
        line: ", destroyed by thread one, in main  ",
    },
    Life {
        what: "destroys itself as it is suspended",
        does: |thread, places| {
            begins(thread, places);
            body(thread, places, (2, 10_000), None);
            thread
                .capture(places.destroy, FRAME, Some(5))
                .enter(10_500, places.destroy, places.actor + 9, 700)
                .frame_freed(10_600, FRAME, places.destroy)
                .exit(10_700, places.destroy, 0, 700)
                .exit(11_000, places.actor, 0, 800);
        },
        other: |_, _| (),
        runs: 2,
        died: Some(11_000),
        pauses: &[(3000, Some(10_000))],
        line: ", destroyed by coroutine leaf(int) on thread one",
    },
];

#[test]
fn a_coroutine_is_suspended_between_its_ramp_and_its_end_and_all_tell_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let (program, [main, actor, destroy]) = compiled(path);
    let ramp = program.place("_Z4leafi");
    let places = Places {
        main,
        ramp,
        actor,
        destroy,
    };
    for (number, life) in LIVES.iter().enumerate() {
        let trace = format!("{number}.trace");
        let mut process = program.process(&path.join(&trace));
        let mut thread = process.thread(4711, "one");
        thread.enter(0, main, 0, 900);
        (life.does)(&mut thread, &places);
        thread.exit(60_000, main, 0, 900).finish().unwrap();
        let mut thread = process.thread(4712, "other");
        thread.enter(5000, main, 0, 0x1_0900);
        (life.other)(&mut thread, &places);
        thread.exit(LAST, main, 0, 0x1_0900).finish().unwrap();
        process.finish().unwrap();

        let printed = |words: &[&str]| {
            let output = heddle(path).args(words).arg(&trace).assert().success();
            String::from_utf8(output.get_output().stdout.clone()).unwrap()
        };
        let strand = json_lines(&printed(&["strands", "--json", "--kind", "coroutine"])).remove(0);
        let suspended = life.pauses.iter();
        let suspended = suspended.map(|&(from, to)| to.unwrap_or(LAST) - from);
        let told = ["activations", "died_ns", "suspended_ns"].map(|fact| strand[fact].as_u64());
        let expected = [Some(life.runs), life.died, Some(suspended.sum())];
        assert_eq!(told, expected, "{}", life.what);
        let exported = json_lines(&printed(&["export", "--format", "json", "-o", "-"]));
        let pauses = exported
            .iter()
            .filter(|row| row["row"] == "pause" && row["strand"] == 3);
        let pauses = pauses.map(|row| (row["from_ns"].as_u64().unwrap(), row["to_ns"].as_u64()));
        assert_eq!(pauses.collect::<Vec<_>>(), life.pauses, "{}", life.what);
        let lived = printed(&["tree", "--strand", "3"]);
        let last = lived.lines().rfind(|line| line.contains("suspended"));
        assert!(
            last.is_some_and(|line| line.contains(life.line)),
            "{}: {lived}",
            life.what
        );
    }
}

/// A thread goes on with a coroutine while the call has not returned by which another one gave it
/// away, and waits: what it calls is not within that call, whichever thread ends first.
#[test]
fn a_coroutine_that_goes_on_elsewhere_calls_within_its_new_activation() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let source = "task leaf(int) { co_await std::suspend_always{}; }\n\
                  void step() {}\n\
                  int main() { leaf(1); step(); }\n";
    let program = Program::of_tasks(path, source, &[]);
    let [main, actor, step] = program.places([" main", "leafi.Frame.actor", "_Z4stepv"]);
    let mutex = (1, 0x5000, 1);
    for (trace, calls, [returns, ends]) in [
        ("within.trace", 200, [500, 600]),
        ("behind.trace", 200, [1500, 1600]),
        ("meanwhile.trace", 350, [500, 600]),
    ] {
        let mut process = program.process(&path.join(trace));
        let mut thread = process.thread(4711, "app");
        thread
            .enter(0, main, 0, 900)
            .capture(actor, FRAME, Some(2))
            .enter(100, actor, main + 9, 800)
            .enter(calls, step, actor + 9, 700)
            .object_met(calls + 10, mutex, step + 5)
            .wait(calls + 50, mutex, step + 5, (0, 0))
            .wait_ended(850, 0, 0)
            .exit(900, step, 0, 700)
            .exit(1000, actor, 0, 800)
            .exit(2000, main, 0, 900)
            .finish()
            .unwrap();
        let mut thread = process.thread(4712, "other");
        thread
            .enter(0, main, 0, 0x1_0900)
            .capture(actor, FRAME, Some(4))
            .enter(300, actor, main + 9, 0x1_0800)
            .enter(400, step, actor + 9, 0x1_0700)
            .exit(returns, step, 0, 0x1_0700)
            .exit(ends, actor, 0, 0x1_0800)
            .exit(2000, main, 0, 0x1_0900)
            .finish()
            .unwrap();
        process.finish().unwrap();

        let (inner, outer) = (900 - calls + returns - 400, 900 + ends - 300);
        let printed = |words: &[&str]| {
            let output = heddle(path).args(words).arg(trace).assert().success();
            String::from_utf8(output.get_output().stdout.clone()).unwrap()
        };
        // Calls, total and self time.
        let reported = |words: &[&str], function: &str| {
            let text = printed(&[&["report", "--format", "csv"], words].concat());
            let column = |name| {
                text.lines()
                    .next()
                    .unwrap()
                    .split(',')
                    .position(|of| of == name)
            };
            let columns = ["calls", "total_ns", "self_ns"].map(|name| column(name).unwrap());
            let mut rows = text.lines().filter(|row| row.contains(function));
            let row = rows.find(|row| words[1] != "strand" || row.contains("coroutine"));
            let row = row.unwrap_or_else(|| panic!("{trace}: {text}"));
            let cells: Vec<&str> = row.split(',').collect();
            columns.map(|column| cells[column].parse::<u64>().unwrap())
        };
        for words in [
            &["--by", "strand"][..],
            &["--by", "caller"],
            &["--by", "line"],
            &["--by", "strand", "-F", "step()"],
        ] {
            let expected = [2, inner, inner];
            assert_eq!(reported(words, "step()"), expected, "{trace}: {words:?}");
        }
        let without = &["--by", "strand", "-N", "step()"];
        assert_eq!(reported(without, "[resume]"), [2, outer, outer], "{trace}");

        let graph = serde_json::from_str(&printed(&["graph", "--format", "json"]));
        let strands: Vec<serde_json::Value> = graph.unwrap();
        let mut of = strands
            .iter()
            .find(|of| of["name"].as_str().unwrap().starts_with("coroutine"));
        for total in [outer, inner] {
            of = of.and_then(|of| of["callees"].as_array()?.first());
            let sums = ["calls", "total_ns"].map(|sum| of.unwrap()[sum].as_u64().unwrap());
            assert_eq!(sums, [2, total], "{trace}");
        }

        let tree = printed(&["check"]);
        assert!(tree.contains("\n  step() x2\n"), "{trace}: {tree}");

        let chrome = serde_json::from_str(&printed(&["export", "--format", "chrome", "-o", "-"]));
        let mut lasted = slices(&chrome.unwrap(), &["suspended"]);
        lasted.sort();
        let mut expected = [
            ("step()".to_owned(), 900 - calls),
            ("leaf(int) [resume]".to_owned(), 900),
            ("step()".to_owned(), returns - 400),
            ("leaf(int) [resume]".to_owned(), ends - 300),
            ("waits: mutex 0x5000".to_owned(), 800 - calls),
        ];
        expected.sort();
        assert_eq!(lasted, expected, "{trace}");

        let json = printed(&["export", "--format", "json", "-o", "-"]);
        let rows = json_lines(&json).into_iter();
        let waits: Vec<serde_json::Value> = rows
            .filter(|row| row["row"] == "pause" && row["why"] == "waits")
            .collect();
        let waits = waits
            .iter()
            .map(|row| ["tid", "from_ns", "to_ns"].map(|field| row[field].as_u64().unwrap()));
        assert_eq!(
            waits.collect::<Vec<_>>(),
            [[4711, calls + 50, 850]],
            "{trace}"
        );
    }
}

/// Names and durations of the slices of coroutines, in ns; these are left without an end.
fn slices(chrome: &serde_json::Value, left: &[&str]) -> Vec<(String, u64)> {
    let (mut open, mut lasted) = (HashMap::new(), Vec::new());
    let mut coroutines = HashSet::new();
    for event in chrome["traceEvents"].as_array().unwrap() {
        let track = event["tid"].to_string();
        let name = event["name"].as_str().unwrap_or_default().to_owned();
        let time = || (event["ts"].as_f64().unwrap() * 1e3).round() as u64;
        let open: &mut Vec<_> = open.entry(track.clone()).or_default();
        match event["ph"].as_str().unwrap() {
            "M" if event["args"]["name"].to_string().contains("coroutine") => {
                coroutines.insert(track);
            }
            "B" => open.push((name, time())),
            "E" => {
                let (begun, since) = open.pop().unwrap();
                assert_eq!(begun, name);
                if coroutines.contains(&track) {
                    lasted.push((begun, time() - since));
                }
            }
            _ => {}
        }
    }
    let open: Vec<_> = open
        .values()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(open, left);
    lasted
}

/// A coroutine hands over to another by a call, and is destroyed by that: what goes on then is not
/// the first, though its call has not returned.
#[test]
fn a_coroutine_that_was_destroyed_within_its_own_call_runs_no_more() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let (program, [main, actor, destroy]) = compiled(path);
    let mut process = program.process(&path.join("heddle.trace"));
    let mut thread = process.thread(4711, "app");
    thread
        .enter(0, main, 0, 900)
        .capture(actor, FRAME, Some(2))
        .enter(1000, actor, main + 9, 800)
        .capture(actor, FRAME + 0x100, Some(2))
        .enter(2000, actor, actor + 9, 700)
        .capture(destroy, FRAME, Some(3))
        .enter(3000, destroy, actor + 9, 600)
        .frame_freed(3100, FRAME, destroy)
        .exit(3200, destroy, 0, 600)
        .exit(9000, actor, 0, 700)
        .exit(9100, actor, 0, 800)
        .exit(9200, main, 0, 900)
        .finish()
        .unwrap();
    process.finish().unwrap();
    let chrome = ["export", "--format", "chrome", "--strand", "2", "-o", "-"];
    let chrome = heddle(path).args(chrome).assert().success();
    let chrome = serde_json::from_slice(&chrome.get_output().stdout).unwrap();
    let lasted = slices(&chrome, &[]);
    let of_other = lasted.iter().filter(|(name, _)| name == "coroutine 3");
    let lasted: Vec<u64> = of_other.map(|(_, lasted)| *lasted).collect();
    assert_eq!(lasted, [1000, 5800]);
}
