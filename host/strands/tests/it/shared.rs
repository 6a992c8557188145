//! Fibers that share a stack: what is suspended is copied elsewhere, and back.

use crate::log::{Log, Told};
use heddle_strands::{Analysis, Kind, StrandId};
use heddle_symbols::Images;
use heddle_trace_file::Trace;
use heddle_trace_file::write::TraceWriter;
use std::collections::HashSet;

const CODE: u64 = 0x40_0000;
const BODY: u64 = CODE;
const WAIT: u64 = CODE + 0x100;
const LIBRARY: u64 = 0x7f00_8000_0000;
const BASE: u64 = 0x6000_1f80;
/// Where fibers run that share nothing.
const OTHER: u64 = 0x6100_1f80;

#[test]
fn fibers_that_share_a_stack_are_not_sure() {
    let directory = tempfile::tempdir().unwrap();
    let writer = TraceWriter::create(directory.path()).unwrap();
    let mut process = writer.process(4711, 1, "/nowhere/app").unwrap();
    process.module(CODE, CODE + 0x1000, CODE, None, "/nowhere/app");
    process.module(LIBRARY, LIBRARY + 0x1000, LIBRARY, None, "[library]");
    let mut thread = process.thread(4711, "app");
    thread.stack(0x7fff_0000, 0x7fff_8000);
    let mut time = 0;
    let mut next = || {
        time += 10;
        time
    };
    for _ in 0..10 {
        // Two are suspended in turn, and go on in turn; then one runs alone.
        for _ in 0..2 {
            thread.enter(next(), BODY, LIBRARY + 0x20, BASE).enter(
                next(),
                WAIT,
                BODY + 0x20,
                BASE - 0x80,
            );
        }
        for _ in 0..2 {
            thread
                .exit(next(), WAIT, 0, BASE - 0x80)
                .exit(next(), BODY, 0, BASE);
        }
        thread
            .enter(next(), BODY, LIBRARY + 0x20, OTHER)
            .exit(next(), BODY, 0, OTHER);
    }
    thread.finish().unwrap();
    process.finish().unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    let analysis = Analysis::new(&trace, &mut Images::packed(&[]));
    let decoded = analysis.decode(|_| Log::default()).unwrap();
    let (mut fibers, mut unsure) = (HashSet::new(), HashSet::new());
    let mut alone: HashSet<StrandId> = HashSet::new();
    for told in decoded.sinks.iter().flat_map(|(_, log)| &log.0) {
        match told {
            Told::Strand("born", strand, Kind::Fiber, ..) => _ = fibers.insert(*strand),
            Told::Strand("ended", strand, Kind::Fiber, _, 1, _) => _ = alone.insert(*strand),
            Told::Unsure(strand) => _ = unsure.insert(*strand),
            _ => {}
        }
    }
    assert_eq!(alone.len(), 10);
    assert!(alone.is_disjoint(&unsure), "those share nothing");
    assert!(fibers.len() >= 20, "{} fibers", fibers.len());
    let all_others: HashSet<StrandId> = fibers.difference(&alone).copied().collect();
    assert_eq!(unsure, all_others);
}
