//! Calls that a program makes by either way in.

use heddle_trace_file::Way;
use heddle_trace_file::write::ThreadWriter;

/// The thread enters a call of a function: its address, the call site, and the stack pointer.
pub fn enter(way: Way, thread: &mut ThreadWriter, time: u64, call: (u64, u64, u64)) {
    let (function, site, sp) = call;
    match way {
        Way::Instrumented => thread.enter(time, function, site, sp),
        Way::Entry => thread.entry(time, function + 4, site, sp),
    };
}

/// The thread leaves a call of `function` with this stack pointer.
pub fn exit(way: Way, thread: &mut ThreadWriter, time: u64, function: u64, sp: u64) {
    match way {
        Way::Instrumented => thread.exit(time, function, 0, sp),
        Way::Entry => thread.leave(time, sp),
    };
}
