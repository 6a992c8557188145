//! The events of a process's threads, each thread taken for one stack: its calls are those of one
//! strand, whatever it runs.

use crate::sink::{Call, Sink, StrandSpan};
use crate::{Strand, StrandId};
use heddle_calls::{Frame, FunctionId, Functions, Key, Loose, Span, Stack, Step};
use heddle_trace_file::{Event, EventKind, Modules, Process};

/// The open calls of a process's threads.
pub(crate) struct OneStack<'a, S> {
    modules: &'a Modules,
    threads: Vec<Open>,
    functions: Functions,
    pub sink: S,
}

/// A thread.
struct Open {
    stack: Stack,
    strand: Strand,
    /// Functions of the open calls, outermost first.
    functions: Vec<FunctionId>,
}

impl<'a, S: Sink> OneStack<'a, S> {
    /// Reads the threads of `process`, which has the index `number` in the trace.
    pub fn new(process: &'a Process, number: usize, mut sink: S) -> Self {
        let threads = process.threads().iter().enumerate();
        let threads = threads.map(|(index, thread)| Open {
            stack: Stack::of(thread),
            strand: Strand::of_thread(StrandId::new(number, index), index, thread, index as u32),
            functions: Vec::new(),
        });
        let threads: Vec<Open> = threads.collect();
        threads.iter().for_each(|thread| sink.born(&thread.strand));
        OneStack {
            modules: process.modules(),
            threads,
            functions: Functions::default(),
            sink,
        }
    }

    /// Takes the next event of the thread with this index.
    pub fn feed(&mut self, thread: usize, event: &Event<'_>) {
        let open = &mut self.threads[thread];
        open.strand.last = event.time;
        let (strand, slot) = (open.strand.id, open.strand.slot);
        let (functions, sink) = (&mut open.functions, &mut self.sink);
        let step = open.stack.feed(*event, |span, around| {
            let number = functions.pop().map_or(0, |id| id.0);
            sink.leave(&ended(&open.strand, thread, number, span, around));
        });
        match step {
            Step::Entered => {
                let [below @ .., top] = open.stack.open() else {
                    return;
                };
                let id = self.functions.id(Key {
                    address: top.function,
                    generation: self.modules.generation(top.enter),
                });
                open.functions.push(id);
                open.strand.calls += 1;
                open.strand.begins_with(top.function);
                let frame = match event.kind {
                    EventKind::Enter { frame, .. } => frame,
                    _ => None,
                };
                self.sink.enter(&Call {
                    strand,
                    slot,
                    thread,
                    function: top.function,
                    number: id.0,
                    caller: top.caller,
                    inlined: top.inlined,
                    around: below.last().map(|outer| outer.function),
                    body: false,
                    depth: below.len(),
                    enter: top.enter,
                    frame,
                });
            }
            Step::Unmatched(function) => self.sink.unmatched(strand, thread, function, event.time),
            Step::Other => self.sink.other(strand, thread, event),
            Step::Left(_) => {}
        }
    }

    /// Ends all that is open: there are no more events. Gives the sink, and what did not pair up.
    pub fn finish(mut self, process: &Process) -> (S, Loose) {
        let mut loose = Loose::default();
        for (index, mut open) in self.threads.into_iter().enumerate() {
            let (functions, sink) = (&mut open.functions, &mut self.sink);
            open.stack.finish(|span, around| {
                let number = functions.pop().map_or(0, |id| id.0);
                sink.leave(&ended(&open.strand, index, number, span, around));
            });
            loose += open.stack.loose();
            let last = open.strand.last;
            open.strand
                .ran_alone(last, process.threads()[index].ended());
            self.sink.ended(&open.strand);
        }
        (self.sink, loose)
    }
}

fn ended(
    strand: &Strand,
    thread: usize,
    number: u32,
    span: Span,
    around: Option<&Frame>,
) -> StrandSpan {
    StrandSpan {
        strand: strand.id,
        slot: strand.slot,
        thread,
        number,
        span,
        around: around.map(|outer| outer.function),
        body: false,
    }
}
