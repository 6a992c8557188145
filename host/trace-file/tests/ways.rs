//! Events of both ways in.

#![allow(clippy::unwrap_used)]

use heddle_trace_file::write::{TraceWriter, WITHIN};
use heddle_trace_file::{Addr, Event, EventKind, Nanos, Trace, Way};

#[test]
fn an_event_says_which_way_it_came_and_its_address_is_clean() {
    let directory = tempfile::tempdir().unwrap();
    let trace = TraceWriter::create(directory.path(), 1).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    process
        .thread(42, "app")
        .enter(10, 0x1010, 0x1500, 0x7000)
        .enter(20, 0x2015 | WITHIN, 0x1020, 0x6ff8)
        .exit(30, 0x2044 | WITHIN, 0x1020, 0x6ff8)
        .finish()
        .unwrap();
    process.finish().unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    let events: Vec<Event> = trace.processes()[0].threads()[0]
        .events()
        .map(Result::unwrap)
        .collect();
    let enter = |time, way, function, caller, sp| Event {
        time: Nanos(time),
        way,
        kind: EventKind::Enter {
            function: Addr(function),
            caller: Addr(caller),
            sp: Addr(sp),
        },
    };
    let exit = Event {
        time: Nanos(30),
        way: Way::Entry,
        kind: EventKind::Exit {
            function: Addr(0x2044),
            sp: Addr(0x6ff8),
        },
    };
    assert_eq!(
        events,
        [
            enter(10, Way::Instrumented, 0x1010, 0x1500, 0x7000),
            enter(20, Way::Entry, 0x2015, 0x1020, 0x6ff8),
            exit
        ]
    );
}
