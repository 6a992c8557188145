//! The judge is not content with a trace that tells nothing.

#![allow(clippy::unwrap_used)]

use heddle_trace_file::write::TraceWriter;
use std::process::Command;

#[test]
fn a_trace_without_marks_is_not_right() {
    let trace = tempfile::tempdir().unwrap();
    let writer = TraceWriter::create(trace.path()).unwrap();
    writer.process(1, 0, "/x").unwrap().finish().unwrap();
    let judge = Command::new(env!("CARGO_BIN_EXE_heddle-strand-truth"))
        .arg(trace.path())
        .output()
        .unwrap();
    assert_eq!(judge.status.code(), Some(1), "{judge:?}");
}
