//! A trace's calls in the form that expected trees are compared with.

use crate::names::{Names, printable, process_name};
use heddle_calls::{Frame, Loose, Node, TreeError, trees};
use heddle_strands::Call as StrandCall;
use heddle_symbols::without_parameters;
use heddle_trace_file::{Addr, Nanos, Remarks, Trace};
use heddle_tree::{Call, Foreign, Process, Strand};
use std::collections::HashMap;

/// A trace's calls by thread, each as if it had one stack.
pub struct ThreadCalls {
    pub processes: Vec<Process>,
    pub loose: Loose,
    pub remarks: Remarks,
    /// Whether they may be those of fibers and coroutines.
    pub may_have_strands: bool,
}

/// Reads the whole trace, thread by thread.
///
/// # Errors
/// What reading the trace gives, and calls that are nested too deeply.
pub fn read(trace: &Trace) -> Result<ThreadCalls, TreeError> {
    let mut names = Names::new(trace);
    let mut read = ThreadCalls {
        processes: Vec::new(),
        loose: Loose::default(),
        remarks: Remarks::default(),
        may_have_strands: false,
    };
    for (index, process) in trace.processes().iter().enumerate() {
        let mut strands = Vec::new();
        for thread in process.threads() {
            let mut labels = Labels::new(index);
            let found = trees(thread, |frame, parent| {
                labels.of(
                    &mut names,
                    &frame.into(),
                    parent.map(|parent| parent.function),
                )
            })?;
            read.loose += found.loose;
            read.remarks += &found.remarks;
            read.may_have_strands |= found.may_have_strands;
            strands.push(Strand {
                name: printable(thread.name()),
                calls: labels.calls(found.roots),
                ..Strand::default()
            });
        }
        read.processes.push(Process {
            name: process_name(process),
            strands,
        });
    }
    Ok(read)
}

/// A call, as far as its label depends on it.
pub struct Called {
    function: Addr,
    caller: Addr,
    inlined: bool,
    time: Nanos,
}

impl From<&Frame> for Called {
    fn from(frame: &Frame) -> Self {
        Called {
            function: frame.function,
            caller: frame.caller,
            inlined: frame.inlined,
            time: frame.enter,
        }
    }
}

impl From<&StrandCall> for Called {
    fn from(call: &StrandCall) -> Self {
        Called {
            function: call.function,
            caller: call.caller,
            inlined: call.inlined,
            time: call.enter,
        }
    }
}

/// What tells one call from another: function, and the caller where it is not the call above.
type Label = (String, Option<Foreign>);

/// Numbers for labels.
pub struct Labels {
    process: usize,
    labels: Vec<Label>,
    numbers: HashMap<Label, u32>,
    /// By function, call site and the function above: most calls have been seen before.
    seen: HashMap<(Addr, Addr, bool, Option<Addr>), u32>,
}

impl Labels {
    pub fn new(process: usize) -> Self {
        Labels {
            process,
            labels: Vec::new(),
            numbers: HashMap::new(),
            seen: HashMap::new(),
        }
    }

    pub fn of(&mut self, names: &mut Names, frame: &Called, parent: Option<Addr>) -> u32 {
        let key = (frame.function, frame.caller, frame.inlined, parent);
        if let Some(&number) = self.seen.get(&key) {
            return number;
        }
        let time = frame.time;
        let name = names
            .function(self.process, frame.function, time)
            .name
            .clone();
        let label = (name, self.foreign(names, frame, parent, time));
        // Places in a module that have no name are one caller: they differ from build to build.
        let key_of_label = match &label {
            (name, Some((foreign, false))) => (
                name.clone(),
                Some(Foreign {
                    name: String::new(),
                    module: foreign.module.clone(),
                }),
            ),
            (name, foreign) => (
                name.clone(),
                foreign.as_ref().map(|(foreign, _)| foreign.clone()),
            ),
        };
        let label = (label.0, label.1.map(|(foreign, _)| foreign));
        let next = self.labels.len() as u32;
        let number = *self.numbers.entry(key_of_label).or_insert(next);
        if number == next {
            self.labels.push(label);
        }
        self.seen.insert(key, number);
        number
    }

    /// The caller and whether it has a name, where it lies in another module than the call above: code that is not traced came between.
    fn foreign(
        &self,
        names: &mut Names,
        frame: &Called,
        parent: Option<Addr>,
        time: Nanos,
    ) -> Option<(Foreign, bool)> {
        if frame.inlined {
            return None;
        }
        let caller = names.caller(self.process, frame.caller, time);
        let above = parent.map(|parent| names.function(self.process, parent, time).module.clone());
        (above.as_ref() != Some(&caller.module)).then(|| {
            (
                Foreign {
                    name: caller.name.clone(),
                    module: caller.module.clone(),
                },
                caller.known,
            )
        })
    }

    pub fn calls(&self, nodes: Vec<Node>) -> Vec<Call> {
        let call = |node: Node| {
            let (name, foreign) = self.labels[node.label as usize].clone();
            let short = without_parameters(&name);
            Call {
                name,
                short,
                foreign,
                calls: node.calls,
                min: node.min.0,
                max: node.max.0,
                open: node.open.0,
                children: self.calls(node.children),
            }
        };
        nodes.into_iter().map(call).collect()
    }
}
