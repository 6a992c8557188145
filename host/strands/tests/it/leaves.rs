//! Whoever wants no single calls is told the same of strands as whoever does.

use crate::log::{Log, Told};
use heddle_strands::{Analysis, Kind, Sink, Strand};
use heddle_symbols::Images;
use heddle_trace_file::write::TraceWriter;
use heddle_trace_file::{ModuleSymbols, Trace};

/// Keeps what it is told of the ends of strands, and wants nothing else.
#[derive(Default)]
pub struct Ends(pub Log);

impl Sink for Ends {
    const LIVES: bool = false;

    fn ended(&mut self, strand: &Strand) {
        self.0.ended(strand);
    }
}

/// What one is told of ends.
pub fn ends(log: &[Told]) -> Vec<&Told> {
    let of_end = |told: &&Told| matches!(told, Told::Strand("ended", ..) | Told::Unsure(_));
    log.iter().filter(of_end).collect()
}

#[test]
fn a_coroutine_that_runs_when_the_trace_ends_has_run_until_then() {
    const CODE: u64 = 0x40_0000;
    let directory = tempfile::tempdir().unwrap();
    let writer = TraceWriter::create(directory.path()).unwrap();
    let mut process = writer.process(4711, 1, "/nowhere/app").unwrap();
    process.module(CODE, CODE + 0x1000, CODE, None, "/nowhere/app");
    let mut thread = process.thread(4711, "app");
    thread.stack(0x7fff_0000, 0x7fff_8000);
    thread
        .enter(10, CODE + 0x200, 0, 0x7fff_7f80)
        .capture(CODE, 0x50_0000, Some(0))
        .enter(20, CODE, CODE + 0x210, 0x7fff_7f00)
        .enter(30, CODE + 0x300, CODE + 0x10, 0x7fff_7e80)
        .exit(500, CODE + 0x300, CODE + 0x10, 0x7fff_7e80);
    thread.finish().unwrap();
    process.finish().unwrap();
    let text = "symtab 1\n0 100 local _Z1fv.actor\n\
                200 100 local _Z4mainv\n300 100 local _Z4workv\n";
    let symbols = ModuleSymbols {
        path: "/nowhere/app".into(),
        build_id: None,
        text: text.into(),
    };
    let trace = Trace::open(directory.path()).unwrap();
    let mut images = Images::packed(&[symbols]);
    let analysis = Analysis::new(&trace, &mut images);
    let all = analysis.decode(|_| Log::default()).unwrap();
    let only_ends = analysis.decode(|_| Ends::default()).unwrap();
    assert_eq!(ends(&all.sinks[0].1.0), ends(&only_ends.sinks[0].1.0.0));
    let ran = |told: &&Told| matches!(told, Told::Strand("ended", _, Kind::Coroutine, _, 2, 480));
    assert!(all.sinks[0].1.0.iter().any(|told| ran(&told)));
    assert_eq!(all.loose.open, only_ends.loose.open);
}
