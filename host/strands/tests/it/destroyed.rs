//! Coroutines that are destroyed on several threads at once.

use crate::log::{Log, Told};
use heddle_strands::{Analysis, Kind};
use heddle_symbols::Images;
use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use heddle_trace_file::{ModuleSymbols, Trace};

const CODE: u64 = 0x40_0000;
const RESUME: u64 = CODE;
const DESTROY: u64 = CODE + 0x100;
const CALLER: u64 = CODE + 0x210;

/// Destroyed by the other thread while one is between the two parts of a destruction.
const MEANWHILE: u64 = 200;

fn symbols() -> ModuleSymbols {
    ModuleSymbols {
        path: "/nowhere/app".into(),
        build_id: None,
        text: "symtab 1\n0 100 local _Z1fv.actor\n100 100 local _Z1fv.destroy\n\
               200 100 local _Z4mainv\n"
            .into(),
    }
}

/// An instance runs, and is destroyed by a function that jumps to the one that resumes.
struct Destruction<'a> {
    thread: &'a mut ThreadWriter,
    frame: u64,
    sp: u64,
}

impl Destruction<'_> {
    fn call(&mut self, time: u64, function: u64, index: u16) {
        self.thread
            .capture(function, self.frame, Some(index))
            .enter(time, function, CALLER, self.sp)
            .exit(time + 1, function, CALLER, self.sp);
    }

    fn begin(&mut self, time: u64) {
        self.call(time, RESUME, 0);
        self.call(time + 2, DESTROY, 2);
    }

    fn end(&mut self, time: u64) {
        self.call(time, RESUME, 3);
    }
}

#[test]
fn a_thread_may_wait_between_the_parts_of_a_destruction() {
    let directory = tempfile::tempdir().unwrap();
    let writer = TraceWriter::create(directory.path()).unwrap();
    let mut process = writer.process(4711, 1, "/nowhere/app").unwrap();
    process.module(CODE, CODE + 0x1000, CODE, None, "/nowhere/app");
    let mut waits = process.thread(4711, "waits");
    waits.stack(0x7fff_0000, 0x7fff_8000);
    let mut goes_on = process.thread(4712, "goes on");
    goes_on.stack(0x6fff_0000, 0x6fff_8000);
    let mut waiting = Destruction {
        thread: &mut waits,
        frame: 0x50_0000,
        sp: 0x7fff_7f80,
    };
    waiting.begin(10);
    for number in 0..MEANWHILE {
        let mut other = Destruction {
            thread: &mut goes_on,
            frame: 0x60_0000 + 0x40 * number,
            sp: 0x6fff_7f80,
        };
        other.begin(100 + 10 * number);
        other.end(106 + 10 * number);
    }
    waiting.end(200 + 10 * MEANWHILE);
    waits.finish().unwrap();
    goes_on.finish().unwrap();
    process.finish().unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    let analysis = Analysis::new(&trace, &mut Images::packed(&[symbols()]));
    let decoded = analysis.decode(|_| Log::default()).unwrap();
    let told = decoded.sinks.iter().flat_map(|(_, log)| &log.0);
    let born = |told: &&Told| matches!(told, Told::Strand("born", _, Kind::Coroutine, ..));
    let instances = told.filter(born).count() as u64;
    assert_eq!(instances, MEANWHILE + 1, "one is taken for another");
    assert_eq!(decoded.unresolved[0].parents, 0);
}
