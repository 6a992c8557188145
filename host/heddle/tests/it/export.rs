//! `heddle export` on traces written here; Perfetto's own message definitions read what it writes
//! in `tests/export`.

#[allow(dead_code, reason = "other tests use the rest")]
use crate::common::{LIBC, Program, abc, heddle, json_lines};
use heddle_trace_file::Why;
use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Fields that are messages, by their paths from `perfetto.protos.Trace`.
const MESSAGES: [&str; 14] = [
    "1", "1.6", "1.6.1", "1.11", "1.11.4", "1.12", "1.12.1", "1.12.2", "1.12.3", "1.12.4", "1.59",
    "1.59.11", "1.60", "1.60.3",
];
/// Where the header of a process has the time of day, ns since 1970.
const REALTIME: usize = 48;
const THREAD: &str = "1.60.4";

/// The fields of a message: `8=30 10=2 11{9=1 10=16}`.
fn fields(path: &str, mut bytes: &[u8]) -> String {
    let mut text = String::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let (field, kind) = (key >> 3, key & 7);
        let path = if path.is_empty() {
            field.to_string()
        } else {
            format!("{path}.{field}")
        };
        match kind {
            0 => write!(text, "{field}={} ", varint(&mut bytes)).unwrap(),
            1 => {
                let (value, rest) = bytes.split_first_chunk().unwrap();
                write!(text, "{field}={} ", u64::from_le_bytes(*value)).unwrap();
                bytes = rest;
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                if path == "1" {
                    writeln!(text, "{}", fields(&path, value)).unwrap();
                } else if path == THREAD || MESSAGES.contains(&path.as_str()) {
                    write!(text, "{field}{{{}}} ", fields(&path, value)).unwrap();
                } else {
                    write!(text, "{field}={:?} ", std::str::from_utf8(value).unwrap()).unwrap();
                }
            }
            _ => panic!("wire type {kind} at {path}"),
        }
    }
    text.truncate(text.trim_end_matches(' ').len());
    text
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}

fn exported(directory: &Path, arguments: &[&str]) -> Vec<u8> {
    let mut command = heddle(directory);
    let output = command.arg("export").args(arguments).args(["-o", "-"]);
    output.assert().success().get_output().stdout.clone()
}

/// main runs A on a stack of its own, which B leaves for a while, and ends within C.
fn fiber(program: &Program) {
    program.trace(|thread, at| {
        let (main, a, b, c) = (at("main"), at("_Z1Av"), at("_Z1Bv"), at("_Z1Cv"));
        let from_libc = LIBC + 0x29d68;
        thread.stack(0x7_0000, 0x8_0000);
        thread
            .enter(100, main, from_libc, 0x7_f000)
            .mark(110, 0, "it begins")
            // No instrumented code calls it, far from the thread's stack.
            .strand_made(115, 9)
            .strand_name(115, 9, "worker")
            .strand_switch(120, 9)
            .enter(130, a, LIBC + 5, 0x4_f000)
            .enter(140, b, a + 5, 0x4_ef00)
            .strand_waits(150, 9, "the door")
            .strand_switch(160, 0)
            .enter(200, c, main + 5, 0x7_ef00)
            .exit(210, c, main + 5, 0x7_ef00)
            .strand_switch(220, 9)
            .exit(230, b, a + 5, 0x4_ef00)
            .exit(240, a, LIBC + 5, 0x4_f000)
            .strand_end(245, 9)
            .strand_switch(248, 0)
            .gap(250, Why::Dropped, Some(3))
            .enter(260, c, main + 5, 0x7_ef00);
    });
}

#[test]
fn a_fiber_has_a_track_on_which_its_suspension_and_its_resumptions_lie() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    fiber(&program);
    let text = fields("", &exported(directory.path(), &[]));
    let path = directory.path().to_str().unwrap();
    insta::assert_snapshot!(text.replace(path, "HERE"));
}

#[test]
fn an_inlined_call_s_caller_is_the_function_that_it_was_inlined_into() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|thread, at| {
        let (main, a, b) = (at("main"), at("_Z1Av"), at("_Z1Bv"));
        thread
            .stack(0x7_0000, 0x8_0000)
            .enter(100, main, LIBC + 5, 0x7_f000)
            .enter(110, a, main + 5, 0x7_ef00)
            // It has the stack pointer and the call site of A(), which it is a part of.
            .enter(120, b, main + 5, 0x7_ef00)
            .exit(130, b, main + 5, 0x7_ef00)
            .exit(140, a, main + 5, 0x7_ef00)
            .exit(150, main, LIBC + 5, 0x7_f000);
    });
    let rows = exported(directory.path(), &["--format", "json"]);
    let rows = json_lines(std::str::from_utf8(&rows).unwrap());
    let call = |function: &str| rows.iter().find(|row| row["function"] == function).unwrap();
    let inlined = call("B()");
    assert_eq!(inlined["inlined"], true, "{inlined}");
    assert_eq!(inlined["caller"], "A()", "{inlined}");
    assert_eq!(inlined["line"], serde_json::Value::Null, "{inlined}");
    assert_eq!(call("A()")["caller"], "main");
}

#[test]
fn chrome_s_events_are_those_of_perfetto_s_file() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    fiber(&program);
    let bytes = exported(directory.path(), &["--format", "chrome"]);
    let text = String::from_utf8(bytes).unwrap();
    let read: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read["displayTimeUnit"], "ns");
    let version = env!("CARGO_PKG_VERSION");
    insta::assert_snapshot!(text.replace(version, "VERSION"));
}

#[test]
fn json_has_a_row_for_each_call_pause_and_event() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    fiber(&program);
    let rows = |arguments: &[&str]| {
        let all = [&["--format", "json"], arguments].concat();
        String::from_utf8(exported(directory.path(), &all)).unwrap()
    };
    let text = rows(&[]);
    assert!(json_lines(&text).iter().all(|row| row["row"].is_string()));
    let here = directory.path().to_str().unwrap();
    insta::assert_snapshot!(text.replace(here, "HERE"));
    let of_one = rows(&["--strand", "2"]);
    assert!(of_one.contains(r#""for":"the door""#), "{of_one}");
    assert!(!of_one.contains(r#""strand":1,"#), "{of_one}");
    // A call that is left out is no row, and its time is that of the call around it.
    let without = rows(&["-N", "B"]);
    assert!(!without.contains(r#""function":"B()""#), "{without}");
    assert!(without.contains(r#""function":"A()""#), "{without}");
}

/// The files of a data set, by their paths, and their contents.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(one) = folders.pop() {
        for entry in one.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            found.insert(name, fs::read(path).unwrap());
        }
    }
    found
}

/// DuckDB and Spark read what is in the files: `tests/export`.
#[test]
fn parquet_is_a_folder_to_which_each_run_adds_files_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    fiber(&program);
    let (path, traces) = (directory.path(), directory.path().join("traces"));
    let export = |trace: &str| {
        let arguments = ["export", trace, "--format", "parquet", "-o", "traces"];
        heddle(path).args(arguments).assert()
    };
    let next = contains("exported 5 calls of 2 strands to traces; next: ask it: duckdb");
    export("heddle.trace").success().stderr(next);
    let first = files(&traces);
    let names: Vec<&str> = first.keys().map(String::as_str).collect();
    let tables = [
        "arguments",
        "events",
        "functions",
        "processes",
        "spans",
        "strands",
        "waits",
    ];
    let partition = names[0].strip_prefix("arguments/").unwrap();
    assert_eq!(names, tables.map(|table| format!("{table}/{partition}")));
    assert!(partition.starts_with("host=") && partition.ends_with("Z-4711/part-0.parquet"));
    assert!(first.values().all(|bytes| bytes.ends_with(b"PAR1")));

    // The same run takes its own place, also from a packed trace, and nothing temporary is left.
    heddle(path).arg("pack").assert().success();
    fs::write(traces.join(names[4]), "not whole").unwrap();
    export("heddle.trace.packed").success();
    assert!(files(&traces) == first);

    // A run of another time is one more.
    let process = path.join("heddle.trace/4711/process");
    let mut head = fs::read(&process).unwrap();
    head[REALTIME] ^= 0xff;
    fs::write(&process, head).unwrap();
    export("heddle.trace").success();
    assert_eq!(files(&traces).len(), 2 * tables.len());

    let usage = ["export", "--format", "parquet", "-o", "-"];
    let usage = heddle(path).args(usage).assert().code(2);
    usage.stderr(contains("parquet is a folder of files"));
}

/// The rows of a table: the values of each, by its columns.
fn rows(traces: &Path, table: &str) -> Vec<Vec<parquet::record::Field>> {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let files = files(traces);
    let file = files.keys().find(|name| name.starts_with(table)).unwrap();
    let reader = SerializedFileReader::new(fs::File::open(traces.join(file)).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    let fields = |row: parquet::record::Row| row.into_columns().into_iter().map(|(_, field)| field);
    rows.map(|row| fields(row.unwrap()).collect()).collect()
}

/// Calls in the row groups that are encoded while the trace is still being read; some are in the
/// last of a thread, which is not full.
const MANY: u64 = 200_000;

#[test]
fn parquet_has_each_call_once_however_many_there_are_before_strands_are_known() {
    use parquet::record::Field::{Long, Str};
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    let path = directory.path();
    let mut process = program.process(&path.join("heddle.trace"));
    let [a, b, c] = ["A", "B", "C"].map(|name| program.place(&format!(" _Z1{name}v")));
    for tid in [4711, 4712] {
        let mut thread = process.thread(tid, "worker");
        thread.stack(0x7_0000, 0x8_0000);
        // The decoder meets B only after it has handed over groups, which do not know its name.
        for call in 0..MANY {
            let function = if call < MANY / 2 { a } else { b };
            thread.enter(100 * call, function, LIBC, 0x7_f000);
            thread.exit(100 * call + 30, function, LIBC, 0x7_f000);
        }
        // By this the decoder learns that the second does not stay on its stack, and begins anew.
        if tid == 4712 {
            let end = 100 * MANY;
            thread.strand_made(end, 9).strand_switch(end + 1, 9);
            thread.enter(end + 2, c, LIBC, 0x4_f000);
            thread.exit(end + 12, c, LIBC, 0x4_f000);
        }
        thread.finish().unwrap();
    }
    process.finish().unwrap();
    let arguments = ["export", "--format", "parquet", "-o", "traces"];
    let export = || heddle(path).args(arguments).assert();
    let told = format!("exported {} calls of 3 strands", 2 * MANY + 1);
    export().success().stderr(contains(told));
    let traces = path.join("traces");
    let first = files(&traces);

    let mut enters = BTreeMap::<i64, Vec<i64>>::new();
    for row in rows(&traces, "spans") {
        let [
            _,
            _,
            Long(strand),
            _,
            Str(function),
            ..,
            Long(enter),
            Long(exit),
            Long(own),
            _,
            _,
            _,
        ] = row.as_slice()
        else {
            panic!("{row:?}");
        };
        let took = if *strand == 3 { 10 } else { 30 };
        assert_eq!((exit - enter, *own), (took, took), "{row:?}");
        let expected = match *enter < 50 * MANY as i64 {
            true => "A()",
            false if *strand == 3 => "C()",
            false => "B()",
        };
        assert_eq!(function, expected, "{row:?}");
        enters.entry(*strand).or_default().push(*enter);
    }
    let all: Vec<i64> = (0..MANY as i64).map(|call| 100 * call).collect();
    assert_eq!(enters.len(), 3);
    // In the order in which they end.
    assert!(
        enters[&1] == all && enters[&2] == all,
        "{:?}",
        enters.keys()
    );
    let functions = rows(&traces, "functions");
    let calls = functions
        .iter()
        .map(|row| (row[2].to_string(), row[5].to_string()));
    let calls: Vec<(String, String)> = calls.collect();
    let many = MANY.to_string();
    let expected = [("A()", many.as_str()), ("B()", &many), ("C()", "1")];
    let expected = expected.map(|(name, calls)| (format!("{name:?}"), calls.to_owned()));
    assert_eq!(calls, expected);

    // What is written does not depend on who was faster.
    export().success();
    assert!(files(&traces) == first);
}

#[test]
fn a_data_set_is_left_as_it_was_by_an_export_that_fails_and_its_links_are_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    fiber(&program);
    let path = directory.path();
    let ends = |code, folder: &str, arguments: &[&str], what: &str| {
        let mut command = heddle(path);
        let command = command.args(["export", "--format", "parquet", "-o", folder]);
        let run = command.args(arguments).assert().code(code);
        run.stderr(contains(what));
    };
    let fails = |folder: &str, arguments: &[&str], what: &str| ends(1, folder, arguments, what);
    ends(
        2,
        "new",
        &["--strand", "99"],
        "none of these strands is there",
    );
    assert!(!path.join("new").exists());
    fails("nowhere/new", &[], "error: nowhere/new: No such file");
    fs::write(path.join("file"), "mine").unwrap();
    fails("file", &[], "file: not a folder");
    // A link in the place of a table's folder, of a file, and of the data set.
    let elsewhere = path.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::create_dir(path.join("linked")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, path.join("linked/spans")).unwrap();
    fails("linked", &[], "linked/spans: not a folder, and links");
    assert_eq!(elsewhere.read_dir().unwrap().count(), 0);
    std::os::unix::fs::symlink("traces", path.join("link")).unwrap();
    fs::create_dir(path.join("traces")).unwrap();
    let export = ["export", "--format", "parquet", "-o", "link"];
    heddle(path).args(export).assert().success();
    let traces = path.join("traces");
    let (name, whole) = files(&traces).pop_first().unwrap();
    fs::remove_file(traces.join(&name)).unwrap();
    std::os::unix::fs::symlink(path.join("file"), traces.join(&name)).unwrap();
    heddle(path).args(export).assert().success();
    assert!(files(&traces)[&name] == whole);
    assert!(traces.join(&name).symlink_metadata().unwrap().is_file());
    assert_eq!(fs::read(path.join("file")).unwrap(), b"mine");
}

#[test]
fn folded_stacks_have_the_time_on_top_of_them_and_are_drawn() {
    let (directory, _program) = abc();
    let path = directory.path();
    let folded = |arguments: &[&str]| {
        let all = [&["--format", "folded"], arguments].concat();
        String::from_utf8(exported(path, &all)).unwrap()
    };
    assert_eq!(
        folded(&[]),
        "thread abc;main 35000\n\
         thread abc;main;A() 1999987000\n\
         thread abc;main;A();B() 5000048000\n\
         thread abc;main;A();B();C() 7000000000\n"
    );
    // What a filter leaves out is its caller's time.
    assert_eq!(
        folded(&["-N", "B", "-N", "C"]),
        "thread abc;main 35000\nthread abc;main;A() 14000035000\n"
    );
    let svg = String::from_utf8(exported(path, &["--format", "svg"])).unwrap();
    assert!(
        svg.contains("<title>C() (7,000,000,000 ns, 50.00%)</title>"),
        "{svg}"
    );
    assert!(
        svg.contains("<title>A() (14,000,035,000 ns, 100.00%)</title>"),
        "{svg}"
    );
    let run = heddle(path)
        .args(["export", "--format", "svg"])
        .assert()
        .success();
    run.stderr(contains(
        "exported 4 calls of 1 strand to heddle.trace.svg; next: ",
    ));
    assert!(path.join("heddle.trace.svg").exists());
    let one = ["export", "--format", "folded", "--strand", "1"];
    let usage = heddle(path).args(one).assert().code(2);
    usage.stderr(contains("--strand: folded and svg add all strands up"));
    let nothing = [
        "export",
        "--format",
        "svg",
        "-F",
        "C",
        "--time-range",
        "..1us",
    ];
    heddle(path)
        .args(nothing)
        .assert()
        .code(1)
        .stderr(contains("nothing to draw"));
}

#[test]
fn names_are_whole_but_in_flame_graphs_unless_it_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let source = "template <class T> int f(T t) { return t; }\nint main() { return f(0L); }\n";
    let program = Program::compile(directory.path(), "abc", source, &["-O0"]);
    program.trace(|thread, at| {
        let f = at("_Z1fIlEiT_");
        thread
            .enter(100, f, LIBC + 5, 0x7_f000)
            .exit(200, f, LIBC + 5, 0x7_f000);
    });
    let has = |arguments: &[&str], name: &str| {
        let bytes = exported(directory.path(), arguments);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(text.contains(name), "{arguments:?}: {text}");
    };
    for format in ["perfetto", "chrome"] {
        has(&["--format", format], "int f<long>(long)");
        has(&["--format", format, "--names", "short"], "f(long)");
    }
    has(&["--format", "folded"], ";f(long) 100");
    has(
        &["--format", "folded", "--names", "full"],
        ";int f<long>(long) 100",
    );
    has(&["--format", "svg"], "<title>f(long) (100 ns");
    has(
        &["--format", "svg", "--names", "full"],
        "<title>int f&lt;long&gt;(long) (100 ns",
    );
}

#[test]
fn the_file_is_the_same_from_a_packed_trace_and_beside_the_trace_by_default() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    fiber(&program);
    let path = directory.path();
    heddle(path).arg("pack").assert().success();
    let next = contains("exported 5 calls of 2 strands to heddle.trace.perfetto-trace; next: ");
    let run = heddle(path).arg("export").assert().success();
    run.stdout(is_empty()).stderr(next);
    let file = fs::read(path.join("heddle.trace.perfetto-trace")).unwrap();
    assert!(file == exported(path, &["heddle.trace"]));
    assert!(file == exported(path, &["heddle.trace.packed"]));
    let names = path.read_dir().unwrap();
    let left = names.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with(".heddle")
    });
    assert_eq!(left.count(), 0, "nothing temporary is left");
}

#[test]
fn calls_that_are_too_deep_for_perfetto_are_left_out_and_counted() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|thread, at| {
        let a = at("_Z1Av");
        let sp = |depth: u64| 0x10_0000 - 64 * depth;
        thread.stack(0, 0x10_0000);
        thread.enter(1, at("main"), LIBC + 5, sp(1));
        for depth in 2..=600 {
            thread.enter(depth, a, a + 5, sp(depth));
        }
        for depth in (2..=600).rev() {
            thread.exit(2000 - depth, a, a + 5, sp(depth));
        }
        thread.exit(2000, at("main"), LIBC + 5, sp(1));
    });
    let mut command = heddle(directory.path());
    let run = command.args(["export", "-o", "-"]).assert().success();
    let output = run.stderr(contains(
        "warning: 100 calls were left out, within 500 others",
    ));
    let text = fields("", &output.get_output().stdout);
    let slices = |kind: &str| text.lines().filter(|line| line.contains(kind)).count();
    assert_eq!((slices(" 11{9=1 "), slices(" 11{9=2")), (500, 500));
    assert!(
        text.ends_with("8=2 10=2 11{9=2}\n"),
        "the outermost ends last"
    );
}

#[test]
fn only_the_strands_that_are_asked_for_are_exported() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    fiber(&program);
    let path = directory.path();
    for number in ["2", "4711/2"] {
        let text = fields("", &exported(path, &["--strand", number]));
        assert!(text.contains("2=\"worker 2\""), "{text}");
        assert!(!text.contains("it begins"), "{text}");
        assert!(!text.contains(" 47="), "no flow leads out of it: {text}");
        assert!(!text.contains(" 48="), "no flow leads into it: {text}");
    }
    heddle(path)
        .args(["export", "--strand", "99"])
        .assert()
        .code(2)
        .stderr(contains("none of these strands is there").and(contains("heddle strands")));
    assert!(!path.join("heddle.trace.perfetto-trace").exists());
    for format in ["perfetto", "chrome", "firefox", "json"] {
        let to_stdout = ["--strand", "99", "--format", format, "-o", "-"];
        let mut command = heddle(path);
        let run = command.arg("export").args(to_stdout).assert().code(2);
        run.stdout(is_empty());
    }
    let usage = heddle(path)
        .args(["export", "--strand", "main"])
        .assert()
        .code(2);
    usage.stderr(contains("not a strand's number"));
}

#[test]
fn an_export_that_cannot_be_written_says_so_and_leaves_what_was_there() {
    let (directory, _program) = abc();
    let path = directory.path();
    let fails = |output: &str, what: &str| {
        let mut command = heddle(path);
        let run = command.args(["export", "-o", output]).assert().code(1);
        run.stderr(starts_with(format!("error: {output}: ")).and(contains(what)));
    };
    fails("/dev/full", "No space left on device");
    fails("nowhere/file", "there is no directory nowhere; make it, or");
    fs::create_dir(path.join("taken")).unwrap();
    fails("taken", "it is a directory; name a file in it with -o FILE");
    // Not by the name of the file that is written first.
    fails("/proc/file", "cannot write in /proc: ");
    fs::write(path.join("before"), "before").unwrap();
    fs::write(path.join("heddle.trace/4711/events"), [1; 8192]).unwrap();
    let run = heddle(path)
        .args(["export", "-o", "before"])
        .assert()
        .code(1);
    run.stderr(contains("4711/events"));
    assert_eq!(fs::read(path.join("before")).unwrap(), b"before");
}
