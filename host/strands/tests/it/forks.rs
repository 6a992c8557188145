//! Processes that are forked within a fiber's calls.

use crate::log::{Log, Told};
use heddle_strands::{Analysis, Kind};
use heddle_symbols::Images;
use heddle_trace_file::write::TraceWriter;
use heddle_trace_file::{Made, ModuleSymbols, Trace};
use std::path::Path;

const CODE: u64 = 0x40_0000;
const MAIN: u64 = CODE;
const BODY: u64 = CODE + 0x100;
/// The function that is not traced, and makes the fibers' outermost calls.
const FIRST: u64 = CODE + 0x200;
const OWN: u64 = 0x7fff_7000;
const FIBER: u64 = 0x6000_3f80;

/// A fiber, for which a stack was made, forks and ends, in both processes.
fn written(path: &Path) -> Trace {
    let writer = TraceWriter::create(path).unwrap();
    for (pid, parent) in [(4711, 1), (4712, 4711)] {
        let mut process = writer.process(pid, parent, "/nowhere/app").unwrap();
        if parent == 4711 {
            process.forked_by(4711, 1, 1);
        }
        process.module(CODE, CODE + 0x1000, CODE, None, "/nowhere/app");
        let mut thread = process.thread(pid, "app");
        thread.stack(0x7fff_0000, 0x7fff_8000);
        if parent == 1 {
            thread
                .enter(10, MAIN, FIRST + 0x80, OWN)
                .stack_made(20, 0x6000_0000..0x6000_4000, OWN - 0x100)
                .enter(30, BODY, FIRST + 0x20, FIBER)
                .makes(40, Made::Process, 1);
        }
        thread.exit(50, BODY, 0, FIBER).exit(60, MAIN, 0, OWN);
        thread.finish().unwrap();
        process.finish().unwrap();
    }
    Trace::open(path).unwrap()
}

#[test]
fn the_fiber_that_forked_is_as_sure_in_the_child_and_its_calls_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path());
    let symbols = ModuleSymbols {
        path: "/nowhere/app".into(),
        build_id: None,
        text: "symtab 1\n0 100 local main\n100 100 local body\n200 100 local first\n".into(),
    };
    let analysis = Analysis::new(&trace, &mut Images::packed(&[symbols]));
    let decoded = analysis.decode(|_| Log::default()).unwrap();
    for (process, log) in &decoded.sinks {
        let ended = log.0.iter().filter_map(|told| match told {
            Told::Strand("ended", _, kind, _, calls, _) => Some((*kind, *calls)),
            Told::Unsure(id) => panic!("process {process}: {id:?} is not sure"),
            _ => None,
        });
        let mut ended: Vec<(Kind, u64)> = ended.collect();
        ended.sort();
        assert_eq!(ended, [(Kind::Thread, 1), (Kind::Fiber, 1)], "{process}");
    }
    let calls = decoded.unresolved.iter().map(|of_one| of_one.calls);
    assert_eq!(calls.collect::<Vec<u64>>(), [2, 2]);
}
