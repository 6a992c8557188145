//! Who made what: forked processes go on inside their parent's calls, and threads have creators.

#[allow(dead_code, reason = "other tests use the rest")]
use crate::common::{heddle, json_lines};
use heddle_trace_file::Made;
use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use predicates::prelude::*;
use predicates::str::contains;
use std::path::Path;

const MAIN: u64 = 0x1000;
const DIVIDE: u64 = 0x2010;
const AFTER: u64 = 0x3020;
const BODY: u64 = 0x4030;
/// In code that is not recorded.
const ELSEWHERE: u64 = 0x9000;

/// Stack pointers of the thread's own stack, and of a fiber's.
const OWN: u64 = 0x7fff_7000;
const FIBER: u64 = 0x6000_1f00;

fn on_own_stack(thread: &mut ThreadWriter) -> &mut ThreadWriter {
    thread.stack(OWN - 0x7000, OWN + 0x1000)
}

/// A process that forks within main and divide, on a fiber's stack if there is one, and its child,
/// which ends all calls that it began inside. `known`: the child says who forked it.
fn forked(path: &Path, on_fiber: bool, known: bool) {
    let trace = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    let stack = if on_fiber { FIBER } else { OWN - 0x100 };
    let site = if on_fiber { ELSEWHERE } else { MAIN + 9 };
    let mut parent = trace.process(4711, 1, "/app").unwrap();
    let mut thread = parent.thread(4711, "app");
    on_own_stack(&mut thread)
        .enter(100, MAIN, ELSEWHERE, OWN)
        .enter(200, DIVIDE, site, stack)
        .makes(250, Made::Process, 7)
        .enter(260, AFTER, DIVIDE + 9, stack - 0x100)
        .exit(270, AFTER, 0, stack - 0x100)
        .exit(400, DIVIDE, 0, stack)
        .exit(500, MAIN, 0, OWN);
    thread.finish().unwrap();
    parent.finish().unwrap();
    let mut child = trace.process(4712, 4711, "/app").unwrap();
    let mut thread = child.thread(4712, "app");
    on_own_stack(&mut thread)
        .first(300)
        .enter(310, AFTER, DIVIDE + 9, stack - 0x100)
        .exit(320, AFTER, 0, stack - 0x100)
        .exit(330, DIVIDE, 0, stack)
        .exit(340, MAIN, 0, OWN);
    thread.finish().unwrap();
    if known {
        child.forked_by(4711, 1, 7);
    }
    child.finish().unwrap();
}

#[test]
fn a_forked_child_ends_the_calls_that_it_began_inside() {
    for on_fiber in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        forked(path, on_fiber, true);
        for command in [
            &["report"][..],
            &["strands"],
            &["info"],
            &["tree"],
            &["replay"],
            &["replay", "--by", "strand"],
            &["export", "-o", "app.pftrace"],
        ] {
            heddle(path)
                .args(command)
                .assert()
                .success()
                .stdout(contains("without enter").not())
                .stderr(contains("no enter").not());
        }
        heddle(path)
            .args(["report", "--format", "csv"])
            .assert()
            .success()
            .stdout(is_match("(?m)^2,440,"));
    }
}

#[test]
fn its_own_calls_are_as_deep_as_those() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    forked(path, false, true);
    heddle(path)
        .args(["replay", "--by", "thread"])
        .assert()
        .success()
        .stdout(is_match("(?m)4712/app.* Enter     0x3020  <- "));
    heddle(path)
        .args(["check", "heddle.trace"])
        .assert()
        .success()
        .stdout(contains(
            "process app x2\n  thread app\n    0x1000\n      0x2010\n        0x3020\n",
        ));
}

#[test]
fn where_no_maker_is_recorded_exits_without_an_enter_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    forked(path, false, false);
    heddle(path)
        .arg("info")
        .assert()
        .success()
        .stdout(contains("2 without enter"))
        .stderr(contains("2 exits have no enter"));
    heddle(path)
        .arg("report")
        .assert()
        .success()
        .stderr(contains("2 exits have no enter"));
}

/// A thread that creates one from its own stack and one from a fiber's, which creates another.
fn creating(path: &Path) {
    let trace = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    let mut process = trace.process(4711, 1, "/app").unwrap();
    let mut main = process.thread(4711, "app");
    on_own_stack(&mut main)
        .enter(100, MAIN, ELSEWHERE, OWN)
        .makes(110, Made::Thread, 1)
        .enter(200, BODY, ELSEWHERE, FIBER)
        .makes(210, Made::Thread, 2)
        .exit(300, BODY, 0, FIBER)
        .exit(900, MAIN, 0, OWN)
        .finish()
        .unwrap();
    let mut other = |tid, name, making, above| {
        let mut thread = process.thread(tid, name);
        let top = 0x5000_0000 + 0x10_0000 * u64::from(tid);
        thread
            .stack(top - 0x8000, top)
            .first(400)
            .made_by(making)
            .enter(400, AFTER, ELSEWHERE, top - 0x100);
        if above != 0 {
            thread.makes(450, Made::Thread, above);
        }
        thread.exit(500, AFTER, 0, top - 0x100).finish().unwrap();
    };
    other(4712, "first", 1, 0);
    other(4713, "second", 2, 3);
    other(4714, "third", 3, 0);
    // Made by libc, and by what is not in the trace.
    other(4715, "timer", 0, 0);
    other(4716, "lost", 99, 0);
    process.finish().unwrap();
}

/// The name of each strand, with its maker.
fn parents(path: &Path) -> Vec<String> {
    let list = heddle(path).args(["strands", "--json"]).assert().success();
    let text = String::from_utf8(list.get_output().stdout.clone()).unwrap();
    json_lines(&text)
        .iter()
        .map(|strand| format!("{} {}", strand["name"].as_str().unwrap(), strand["parent"]))
        .collect()
}

#[test]
fn a_thread_stands_below_the_strand_that_created_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    creating(path);
    let parents = parents(path);
    let fiber = parents.iter().position(|line| line.starts_with("0x4030"));
    let fiber = fiber.unwrap() + 1;
    let expected = [
        "app null".to_owned(),
        "first 1".to_owned(),
        format!("second {fiber}"),
        "third 3".to_owned(),
        "timer null".to_owned(),
        "lost null".to_owned(),
    ];
    assert_eq!(parents[..6], expected);
    let nested = is_match("(?m)  thread #1 app 4711$")
        .and(is_match("(?m)    thread #2 first 4712$"))
        .and(is_match("(?m)    fiber #7.* 0x4030$"))
        .and(is_match("(?m)      thread #3 second 4713$"))
        .and(is_match("(?m)        thread #4 third 4714$"))
        .and(is_match("(?m)\\d  thread #5 timer 4715$"))
        .and(is_match("(?m)\\d  thread #6 lost 4716$"));
    heddle(path).arg("tree").assert().success().stdout(nested);
    heddle(path)
        .arg("strands")
        .assert()
        .success()
        .stdout(is_match("(?m)^ +5  thread +not known "));
    for (strand, maker) in [("2", "app #1"), ("4", "second #3"), ("6", "not known")] {
        heddle(path)
            .args(["tree", "--strand", strand])
            .assert()
            .success()
            .stdout(contains(format!("  made by      {maker}\n")));
    }
    heddle(path)
        .args(["export", "-o", "app.pftrace"])
        .assert()
        .success();
    let exported = std::fs::read(path.join("app.pftrace")).unwrap();
    let exported = String::from_utf8_lossy(&exported);
    for text in ["thread 4, made by strand 3", "makes thread 4"] {
        assert!(exported.contains(text), "{text}");
    }
}

#[test]
fn programs_that_could_not_be_recorded_are_listed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    forked(path, false, true);
    let lines = "started static ./tool\nstarted rights /bin/su\nstarted static ./tool\nstarted static a b\nfailed static a b\nopened namespace /x/plug.so\nstarted static ./cut";
    std::fs::write(path.join("heddle.trace/unrecorded"), lines).unwrap();
    let listed = || {
        contains("\nunrecorded 2 starts of ./tool: it is statically linked\n")
            .and(contains("\nunrecorded 1 start of /bin/su: it has rights"))
            .and(contains(
                "\nunrecorded /x/plug.so: it is in a link namespace of its own",
            ))
            .and(contains("a b").not())
            .and(contains("cut").not())
    };
    heddle(path).arg("pack").assert().success();
    for trace in ["heddle.trace", "heddle.trace.packed"] {
        heddle(path)
            .args(["info", trace])
            .assert()
            .success()
            .stdout(listed())
            .stderr(contains(
                "warning: calls of /x/plug.so are missing: it is in",
            ));
    }
}

/// Text in which the pattern is found.
fn is_match(pattern: &str) -> impl predicates::Predicate<str> {
    let regex = regex::Regex::new(pattern).unwrap();
    predicates::function::function(move |text: &str| regex.is_match(text))
}

/// A thread goes back from a fiber to code without hooks, on its own stack, or to another fiber of
/// which nothing is known, and creates others there.
#[test]
fn a_thread_is_made_by_who_has_the_stack_pointer() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let trace = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    let mut process = trace.process(4711, 1, "/app").unwrap();
    let mut main = process.thread(4711, "app");
    on_own_stack(&mut main)
        .enter(100, MAIN, ELSEWHERE, OWN)
        .exit(110, MAIN, 0, OWN);
    main.enter(200, BODY, ELSEWHERE, FIBER)
        .makes_by(210, Made::Thread, 1, OWN - 0x40)
        .makes_by(220, Made::Thread, 2, FIBER - 0x40)
        .makes_by(230, Made::Thread, 3, 0x5f00_0000)
        .exit(300, BODY, 0, FIBER)
        .finish()
        .unwrap();
    for (tid, name, making) in [(4712, "own", 1), (4713, "inside", 2), (4714, "lost", 3)] {
        let mut thread = process.thread(tid, name);
        let top = 0x5000_0000 + 0x10_0000 * u64::from(tid);
        thread
            .stack(top - 0x8000, top)
            .first(400)
            .made_by(making)
            .enter(400, AFTER, ELSEWHERE, top - 0x100)
            .exit(500, AFTER, 0, top - 0x100)
            .finish()
            .unwrap();
    }
    process.finish().unwrap();
    let parents = parents(path);
    let fiber = parents.iter().position(|line| line.starts_with("0x4030"));
    let fiber = fiber.unwrap() + 1;
    let expected = ["app null", "own 1", &format!("inside {fiber}"), "lost null"];
    assert_eq!(parents[..4], expected);
}
