//! Strands in what the commands print: a written trace of a thread, two fibers and two instances of
//! a coroutine.

#[allow(dead_code, reason = "other tests use the rest")]
use crate::common::{BUILD_ID, LIBC, Program, TASK, heddle, json_lines};
use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use std::path::Path;

pub const SOURCE: &str = r"
void step() {}
task leaf(int) { step(); co_await std::suspend_always{}; }
void body() { step(); }
int main() { leaf(1).handle.destroy(); body(); }
";

/// Writes `heddle.trace`: main makes two instances of leaf(int), runs the first twice, destroys it,
/// and switches between two fibers that have body() as their outermost call.
pub fn written(path: &Path) {
    let program = Program::of_tasks(path, SOURCE, &["-g"]);
    let [main, ramp, step, body, actor, destroy] = program.places([
        " main",
        " _Z4leafi",
        " _Z4stepv",
        " _Z4bodyv",
        "leafi.Frame.actor",
        "leafi.Frame.destroy",
    ]);
    let mut process = program.process(&path.join("heddle.trace"));
    process.module(LIBC, LIBC + 0x10_0000, LIBC, None, "[libc.so.6]");
    let mut thread = process.thread(4711, "app");
    thread.stack(0x7fff_0000, 0x7fff_8000);
    let top = 0x7fff_7000;
    thread.enter(100, main, LIBC + 9, top);
    let mut time = 200;
    for frame in [0x5581_0010, 0x5581_0090] {
        thread
            .enter(time, ramp, main + 9, top - 0x100)
            .capture(actor, frame, Some(0))
            .enter(time + 10, actor, ramp + 9, top - 0x200)
            .exit(time + 20, actor, 0, top - 0x200)
            .exit(time + 30, ramp, 0, top - 0x100);
        time += 100;
    }
    thread
        .capture(actor, 0x5581_0010, Some(2))
        .enter(400, actor, main + 17, top - 0x100)
        .enter(410, step, actor + 9, top - 0x200)
        .exit(460, step, 0, top - 0x200)
        .exit(500, actor, 0, top - 0x100)
        .capture(destroy, 0x5581_0010, Some(4))
        .enter(600, destroy, main + 21, top - 0x100)
        .exit(610, destroy, 0, top - 0x100);
    // Two fibers on stacks of 4 KB that lie beside each other: each is left in body(), and gone on
    // with.
    let bases = [0x6000_1f00, 0x6000_2f00];
    for (base, time) in bases.into_iter().zip([700, 720]) {
        thread
            .stack_made(time, base - 0xf00..base + 0x100, top - 0x100)
            .enter(time, body, LIBC + 0x500, base)
            .enter(time + 5, step, body + 9, base - 0x40);
    }
    for (base, time) in bases.into_iter().zip([800, 820]) {
        thread
            .exit(time, step, 0, base - 0x40)
            .exit(time + 5, body, 0, base);
    }
    thread.exit(1000, main, 0, top).finish().unwrap();
    process.finish().unwrap();
}

fn trace() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    written(directory.path());
    directory
}

#[test]
fn strands_are_listed_with_their_times() {
    let directory = trace();
    let output = heddle(directory.path())
        .args(["strands", "--json"])
        .assert()
        .success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let strands = json_lines(&text);
    let column = |field: &str| -> Vec<String> {
        let text = |strand: &serde_json::Value| strand[field].to_string().replace('"', "");
        strands.iter().map(text).collect()
    };
    assert_eq!(
        column("kind"),
        ["thread", "coroutine", "coroutine", "fiber", "fiber"]
    );
    assert_eq!(
        column("name"),
        ["app", "leaf(int)", "leaf(int)", "body()", "body()"]
    );
    assert_eq!(column("parent")[..3], ["null", "1", "1"]);
    assert_eq!(column("activations")[1..], ["3", "1", "2", "2"]);
    assert_eq!(column("elapsed_ns")[1..3], ["120", "10"]);
    // The second one is suspended still.
    assert_eq!(column("suspended_ns")[1..3], ["280", "680"]);
    assert_eq!(column("died_ns")[1..3], ["610", "null"]);
    assert_eq!(column("calls"), ["3", "4", "1", "2", "2"]);
    heddle(directory.path())
        .args(["strands", "--kind", "fiber", "-n", "1"])
        .assert()
        .success()
        .stdout(is_match("(?m)^ +4  fiber .*  body\\(\\)$").and(contains("leaf").not()));
}

#[test]
fn the_tree_merges_siblings_and_expands_one() {
    let directory = trace();
    let merged = is_match("(?m)  thread #1 app 4711$")
        .and(is_match("(?m)    coroutine ×2 leaf\\(int\\)$"))
        .and(is_match("(?m)    fiber ×2.* body\\(\\)$"));
    heddle(directory.path())
        .arg("tree")
        .assert()
        .success()
        .stdout(merged);
    heddle(directory.path())
        .args(["tree", "--strand", "2"])
        .assert()
        .success()
        .stdout(
            contains("coroutine leaf(int) #2\n  made by      app #1\n")
                .and(contains("    step()  50 ns\n"))
                .and(contains("3 times on 1 thread")),
        );
    heddle(directory.path())
        .args(["tree", "--strand", "99"])
        .assert()
        .code(2)
        .stderr(contains("no strand 99; `heddle strands` lists"));
}

#[test]
fn the_maker_of_a_thread_is_not_known_and_its_time_is_elapsed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let trace = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    let mut process = trace.process(4711, 1, "/app").unwrap();
    for (tid, name) in [(4711, "app"), (4712, "worker")] {
        let mut thread = process.thread(tid, name);
        thread.enter(10, 0x1000, 0, 900).exit(60, 0x1000, 0, 900);
        thread.finish().unwrap();
    }
    process.finish().unwrap();
    let threads = is_match("(?m)^ +1  thread +-  .* app 4711$")
        .and(is_match("(?m)^ +2  thread +not known  .* worker 4712$"));
    heddle(path)
        .arg("strands")
        .assert()
        .success()
        .stdout(threads.and(contains("elapsed").and(contains("running").not())));
    heddle(path)
        .arg("tree")
        .assert()
        .success()
        .stdout(contains("elapsed in children"));
    let made_by = |strand| {
        heddle(path)
            .args(["tree", "--strand", strand])
            .assert()
            .success()
    };
    made_by("1").stdout(contains("made by").not());
    made_by("2").stdout(contains("  made by      not known\n"));
}

/// Writes `heddle.trace` of one thread: with calls of step() and body(), and as a flight recorder
/// does, if it is of a `flight`.
fn written_of_fibers(path: &Path, flight: bool, calls: impl FnOnce(&mut ThreadWriter, u64, u64)) {
    let program = Program::compile(
        path,
        "app",
        &format!("{TASK}{SOURCE}"),
        &["-std=c++20", "-g"],
    );
    let [step, body] = program.places([" _Z4stepv", " _Z4bodyv"]);
    let program = program.path();
    let trace = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    let mut process = trace.process(4711, 1, program).unwrap();
    if flight {
        process.mode(1 << 20, 0);
    }
    process.module(0, 0x100_0000, 0, Some(BUILD_ID), program);
    process.module(LIBC, LIBC + 0x10_0000, LIBC, None, "[libc.so.6]");
    let mut thread = process.thread(4711, "app");
    thread.stack(0x7fff_0000, 0x7fff_8000);
    calls(&mut thread, step, body);
    thread.finish().unwrap();
    process.finish().unwrap();
}

/// The recording begins inside a fiber's call of body(), and forty fibers follow on the same stack.
fn written_from_the_middle(path: &Path) {
    let base = 0x6000_1f00;
    written_of_fibers(path, true, |thread, step, body| {
        thread
            .enter(100, step, body + 9, base - 0x40)
            .exit(110, step, 0, base - 0x40)
            .exit(120, body, 0, base);
        for time in (200..4200).step_by(100) {
            thread
                .enter(time, body, LIBC + 0x500, base)
                .enter(time + 10, step, body + 9, base - 0x40)
                .exit(time + 20, step, 0, base - 0x40)
                .exit(time + 30, body, 0, base);
        }
    });
}

#[test]
fn what_is_not_sure_is_not_known() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    written_from_the_middle(path);
    let said =
        "98.7 % of calls are sure to be where they are shown; 1 fiber is not known, with 1 call";
    heddle(path)
        .arg("info")
        .assert()
        .success()
        .stdout(contains("1 thread, 41 fibers").and(contains(said)));
    let last = format!("heddle: {said}\n");
    let tree =
        is_match("(?m)  fiber #2.* not known").and(is_match("(?m)    fiber ×40.* body\\(\\)$"));
    heddle(path)
        .arg("tree")
        .assert()
        .success()
        .stdout(tree)
        .stderr(predicates::str::ends_with(last.as_str()));
    heddle(path)
        .args(["tree", "--strand", "2"])
        .assert()
        .success()
        .stdout(
            contains("fiber not known #2\n  made by      not known\n").and(contains(
                "  not sure     its first recorded call was made inside others, which were not recorded\n",
            )),
        );
    for (format, name) in [
        ("json", "\"name\":\"not known\""),
        ("chrome", "\"name\":\"fiber not known\""),
        ("firefox", "fiber 2 not known"),
    ] {
        heddle(path)
            .args(["export", "--format", format, "-o", "-"])
            .assert()
            .success()
            .stdout(contains(name));
    }
    heddle(path)
        .args(["report", "--by", "strand"])
        .assert()
        .success()
        .stdout(contains("fiber not known").and(contains("fiber body() ×40")))
        .stderr(predicates::str::ends_with(last.as_str()));
    heddle(path)
        .args(["strands", "--json"])
        .assert()
        .success()
        .stdout(
            contains("\"sure\":true")
                .count(41)
                .and(contains("\"sure\":false").count(1)),
        );
    // Where all are, nothing is said.
    let sure = trace();
    for verb in ["info", "tree", "report", "strands"] {
        let shown = heddle(sure.path()).arg(verb).assert().success();
        shown
            .stdout(contains("sure").not().and(contains("not known").not()))
            .stderr(contains("sure").not());
    }
}

#[test]
fn replay_names_no_fiber_that_is_doubted_later() {
    let directory = tempfile::tempdir().unwrap();
    let base = 0x6000_1f00;
    // Another begins where it has calls open, which end after those of the other.
    written_of_fibers(directory.path(), false, |thread, step, body| {
        for time in [100, 200] {
            thread.enter(time, body, LIBC + 0x500, base).enter(
                time + 10,
                step,
                body + 9,
                base - 0x40,
            );
        }
        for time in [300, 400] {
            thread
                .exit(time, step, 0, base - 0x40)
                .exit(time + 10, body, 0, base);
        }
    });
    heddle(directory.path())
        .args(["replay", "--by", "strand"])
        .assert()
        .success()
        .stdout(is_match("2 not known +Enter body").and(contains("2 body()").not()));
}

#[test]
fn other_commands_go_by_strand() {
    let directory = trace();
    let path = directory.path();
    heddle(path)
        .args(["replay", "--by", "strand"])
        .assert()
        .success()
        .stdout(is_match("2 leaf\\(int\\) +Enter   step\\(\\)"));
    heddle(path)
        .args(["report", "--by", "strand", "--format", "csv"])
        .assert()
        .success()
        .stdout(
            contains("4711,0,fiber,2,body(),2,")
                .and(contains("4711,0,coroutine,2,leaf(int),1,50,50")),
        );
    heddle(path).arg("info").assert().success().stdout(contains(
        "strands    1 thread, 2 fibers, 2 coroutines; 0 of 24 events",
    ));
    // Without being told to, too: two fibers in body() do not pair up by thread.
    let note = contains("told apart by strand; `--by thread`");
    heddle(path)
        .arg("replay")
        .assert()
        .success()
        .stdout(is_match("2 leaf\\(int\\) +Enter   step\\(\\)"))
        .stderr(note.clone());
    heddle(path)
        .args(["report", "--format", "csv"])
        .assert()
        .success()
        .stdout(is_match("(?m)^2,210,.*,body\\(\\),app$"))
        .stderr(note.clone());
    heddle(path)
        .args(["check", "heddle.trace"])
        .assert()
        .success()
        .stdout(contains("fiber body() x2 <- app"))
        .stderr(note.clone());
    for forced in [
        &["replay", "--by", "thread"][..],
        &["report", "--by", "thread"],
        &["check", "heddle.trace", "--by", "thread"],
    ] {
        heddle(path)
            .args(forced)
            .assert()
            .success()
            .stdout(is_match("fiber|2 leaf").not())
            .stderr(note.clone().not());
    }
    let tree = "thread app\n  main\n    leaf x2\nfiber body x2\n  body\n    step\ncoroutine leaf <- app\n  step\ncoroutine leaf(int) <- app\n";
    fs::write(path.join("app.tree"), tree).unwrap();
    heddle(path)
        .args(["check", "heddle.trace", "app.tree"])
        .assert()
        .success();
    fs::write(path.join("app.tree"), tree.replace("body x2", "body x3")).unwrap();
    heddle(path)
        .args(["check", "heddle.trace", "app.tree"])
        .assert()
        .code(1)
        .stdout(contains("- fiber body x3").and(contains("+ fiber body x2")));
    // What is written fits what it was made from.
    heddle(path)
        .args([
            "check",
            "heddle.trace",
            "blessed.tree",
            "--by",
            "strand",
            "--bless",
        ])
        .assert()
        .success();
    heddle(path)
        .args(["check", "heddle.trace", "blessed.tree"])
        .assert()
        .success();
}

#[test]
fn a_damaged_trace_is_read_around_the_damage() {
    let directory = trace();
    let path = directory.path();
    let events = path.join("heddle.trace/4711/events");
    let mut bytes = fs::read(&events).unwrap();
    // The last record: main is left.
    let at = bytes.len() - 8;
    bytes[at..].fill(0);
    fs::write(&events, bytes).unwrap();
    let said = format!("4711/events: at offset {at}: expected a record");
    let said = || contains(said.as_str()).and(contains("8 bytes of events are passed over"));
    heddle(path).arg("pack").assert().success().stderr(said());
    for trace in ["heddle.trace", "heddle.trace.packed"] {
        for verb in ["strands", "tree", "report", "replay", "info"] {
            heddle(path)
                .args([verb, trace])
                .assert()
                .success()
                .stdout(contains("leaf(int)").or(contains("2 coroutines")))
                .stderr(said().and(contains(format!("warning: {trace}/4711/events"))));
        }
    }
}

/// Text in which the pattern is found. (The crate predicates has one of its own, with all of
/// Unicode's tables, and would have the crate regex compiled a second time for the tests.)
fn is_match(pattern: &str) -> impl predicates::Predicate<str> {
    let regex = regex::Regex::new(pattern).unwrap();
    predicates::function::function(move |text: &str| regex.is_match(text))
}

#[test]
fn fibers_whose_makers_are_not_known_are_all_in_the_tree() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = Program::of_tasks(path, SOURCE, &["-g"]);
    let [main, step, body] = program.places([" main", " _Z4stepv", " _Z4bodyv"]);
    let mut process = program.process(&path.join("heddle.trace"));
    process.module(LIBC, LIBC + 0x10_0000, LIBC, None, "[libc.so.6]");
    let mut thread = process.thread(4711, "app");
    thread.stack(0x7fff_0000, 0x7fff_8000);
    thread.enter(100, main, LIBC + 9, 0x7fff_7000);
    let [ended, left, last] = [0x6000_1f00, 0x6001_1f00, 0x6002_1f00];
    thread
        .enter(200, body, LIBC + 0x500, ended)
        .exit(210, body, 0, ended)
        // Who runs this one first is not known: what ran before has ended.
        .enter(300, body, LIBC + 0x500, left)
        .enter(400, body, LIBC + 0x500, last)
        .enter(500, step, body + 9, left - 0x40)
        .exit(510, step, 0, left - 0x40)
        .exit(520, body, 0, left)
        .exit(530, body, 0, last)
        .exit(600, main, 0, 0x7fff_7000)
        .finish()
        .unwrap();
    process.finish().unwrap();
    let note = contains("3 fibers were made unseen");
    heddle(path)
        .arg("tree")
        .assert()
        .success()
        .stdout(is_match("thread #1 app \\d+\n.*  fiber ×3.* body\\(\\)"))
        .stderr(note);
}
