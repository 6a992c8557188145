//! A library that was closed, and another one that was opened at its place: a written trace.

use crate::common::{LIBC, Program, heddle};
use heddle_trace_file::write::{START, TraceWriter};
use predicates::prelude::*;
use predicates::str::contains;

/// The place of both.
const PLACE: u64 = 0x5555_0000_0000;

#[test]
fn functions_are_named_by_the_library_of_the_time() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let flags = ["-shared", "-fPIC", "-O0", "-finstrument-functions"];
    let source = |outer: &str, inner: &str| {
        format!("static void {inner}() {{}}\nvoid {outer}() {{ {inner}(); }}\n")
    };
    let first = Program::compile(path, "first", &source("first", "help"), &flags);
    let second = Program::compile(path, "second", &source("second", "help_more"), &flags);
    let outer = PLACE + first.place(" _Z5firstv");
    let inner = PLACE + first.place("4helpv");
    assert_eq!(outer, PLACE + second.place(" _Z6secondv"));
    assert_eq!(inner, PLACE + second.place("9help_morev"));

    let trace = TraceWriter::create(&path.join("heddle.trace")).unwrap();
    let mut process = trace.process(4711, 1, "/app").unwrap();
    process.module(LIBC, LIBC + 0x10_0000, LIBC, None, "[libc.so.6]");
    for (library, loaded) in [(&first, 0), (&second, 200)] {
        let (end, loaded, file) = (PLACE + 0x10_0000, START + loaded, library.path());
        process.module_line(&format!(
            "load {loaded} {PLACE:x} {end:x} {PLACE:x} {end:x} {PLACE:x} - {file}"
        ));
        process.module_line(&format!("unload {} {PLACE:x}", loaded + 100));
    }
    let mut thread = process.thread(4711, "app");
    for time in [10, 40, 210] {
        thread
            .enter(time, outer, LIBC + 9, 0x900)
            .enter(time + 1, inner, outer + 9, 0x800)
            .exit(time + 2, inner, outer + 9, 0x800)
            .exit(time + 3, outer, LIBC + 9, 0x900);
    }
    thread.finish().unwrap();
    process.finish().unwrap();

    for by in ["thread", "strand"] {
        heddle(path)
            .args(["check", "heddle.trace", "--by", by])
            .assert()
            .success()
            .stdout(contains("    help()\n").and(contains("    help_more()\n")));
    }
    heddle(path)
        .args(["tree", "--strand", "1"])
        .assert()
        .success()
        .stdout(contains("  help()").and(contains("  help_more()")));
}
