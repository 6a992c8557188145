//! The calls in which a process was forked: a child begins inside them.
//!
//! They are open on the stack of its parent's thread that called `fork`. When that was is not
//! recorded, but the thread recorded nothing as long as `fork` took, the child's first call was
//! made by the innermost of the calls, and the child's exits that end no call of its own end them,
//! from the innermost one on. So the parent's latest state for which all of this holds is taken.

use crate::code::Code;
use heddle_calls::{Frame, Stack, Step};
use heddle_trace_file::{
    Addr, Callee, Error, Event, EventKind, Modules, Nanos, Process, Thread, Trace, Way,
};
use std::collections::{BTreeMap, VecDeque};

/// `fork` takes longer.
const SHORTEST: Nanos = Nanos(10_000);

/// The number of the latest such pauses that are remembered. The child may come to its first event
/// late.
const PAUSES: usize = 64;

/// Deeper stacks are not remembered.
const DEEPEST: usize = 4096;

/// The number of a child's events that are looked at for exits, and of exits that are compared.
const LOOK: usize = 1 << 16;
const EXITS: usize = 64;

/// For each process, the enters of the calls that were open when it was forked, at the time of its
/// first event: to be taken before that by its first thread.
///
/// # Errors
/// What reading the trace gives.
pub(super) fn enters(trace: &Trace, codes: &[Code]) -> Result<Vec<Vec<Event<'static>>>, Error> {
    let processes = trace.processes();
    let mut enters = vec![Vec::new(); processes.len()];
    let mut families: BTreeMap<(Nanos, usize, usize), Vec<Child>> = BTreeMap::new();
    for (index, process) in processes.iter().enumerate() {
        if let Some(child) = Child::of(process, index)?
            && let Some((parent, thread)) = child.forked_by(trace)
        {
            let first = processes[parent].threads()[thread].first();
            families
                .entry((first, parent, thread))
                .or_default()
                .push(child);
        }
    }
    // A parent that is a child itself has begun after its own parent.
    for ((_, parent, thread), mut children) in families {
        children.sort_by_key(|child| child.time);
        let process = &processes[parent];
        let family = Parent {
            code: &codes[parent],
            modules: process.modules(),
            thread: &process.threads()[thread],
        };
        let before = match thread {
            0 => enters[parent].clone(),
            _ => Vec::new(),
        };
        family.walk(&before, &children, &mut enters)?;
    }
    Ok(enters)
}

/// A process that may have been forked, and what its events say of the calls around them.
struct Child {
    /// Its index in the trace.
    index: usize,
    /// The time of its first event.
    time: Nanos,
    /// Call site, stack pointer and way of its first event, if that is an enter.
    enter: Option<(Addr, Addr, Way)>,
    /// Its exits that end no call of its own.
    exits: Vec<(Callee, Addr, Way)>,
}

impl Child {
    /// The evidence of a process's first thread; `None` if that is not the one that was forked.
    fn of(process: &Process, index: usize) -> Result<Option<Child>, Error> {
        let thread = process.threads().first();
        let Some(thread) = thread.filter(|thread| thread.tid() == process.pid()) else {
            return Ok(None);
        };
        if process.image() > 0 {
            return Ok(None);
        }
        let mut child = Child {
            index,
            time: Nanos(0),
            enter: None,
            exits: Vec::new(),
        };
        let mut stack = Stack::of(thread);
        let mut calls = 0;
        for event in thread.events().take(LOOK) {
            let event = event?;
            let step = stack.feed(event, |_, _| {});
            if step == Step::Other {
                continue;
            }
            match event.kind {
                EventKind::Enter { caller, sp, .. } if calls == 0 => {
                    child.enter = Some((caller, sp, event.way));
                }
                EventKind::Exit { function, sp } if matches!(step, Step::Unmatched(_)) => {
                    child.exits.push((function, sp, event.way));
                }
                _ => {}
            }
            if calls == 0 {
                child.time = event.time;
            }
            calls += 1;
            if child.exits.len() == EXITS {
                break;
            }
        }
        Ok((calls > 0).then_some(child))
    }

    /// The process and thread that forked it: the thread has its stack where the child has it, and
    /// the program is at the same place.
    fn forked_by(&self, trace: &Trace) -> Option<(usize, usize)> {
        let process = &trace.processes()[self.index];
        let sp = self.enter.map(|(_, sp, _)| sp);
        let sp = sp.or_else(|| self.exits.first().map(|(_, sp, _)| *sp))?;
        let is_same_program = |parent: &Process| {
            let place = |process: &Process| {
                let mut modules = process.modules().iter();
                let program =
                    modules.find(|module| module.path.as_os_str() == process.executable());
                program.map(|program| (program.path.clone(), program.start))
            };
            parent.pid() == process.parent() && place(process) == place(parent)
        };
        let parents = trace.processes().iter().enumerate();
        let parents =
            parents.filter(|(index, parent)| *index != self.index && is_same_program(parent));
        let threads = parents.flat_map(|(index, parent)| {
            let threads = parent.threads().iter().enumerate();
            threads.map(move |(number, thread)| (index, number, thread))
        });
        let may_fork = threads.filter(|(.., thread)| {
            let on_stack = thread.stack().is_some_and(|stack| stack.contains(&sp));
            on_stack && thread.first() <= self.time
        });
        // Several threads may have had their stacks there, one after the other.
        let latest = may_fork.max_by_key(|(.., thread)| thread.first())?;
        Some((latest.0, latest.1))
    }
}

/// A thread that has forked.
struct Parent<'a> {
    code: &'a Code,
    modules: &'a Modules,
    thread: &'a Thread,
}

impl Parent<'_> {
    /// Finds the calls in which the children were made, which are in order of time; `before`: those
    /// in which the thread itself was.
    fn walk(
        &self,
        before: &[Event<'static>],
        children: &[Child],
        enters: &mut [Vec<Event<'static>>],
    ) -> Result<(), Error> {
        let mut stack = Stack::of(self.thread);
        for enter in before {
            stack.feed(*enter, |_, _| {});
        }
        let mut pauses: VecDeque<Vec<Frame>> = VecDeque::new();
        let mut children = children.iter().peekable();
        let mut decide = |child: &Child, pauses: &VecDeque<Vec<Frame>>, now: &[Frame]| {
            let earlier = pauses.iter().rev().map(Vec::as_slice);
            let mut states = std::iter::once(now).chain(earlier);
            if let Some(open) = states.find(|open| self.fits(child, open)) {
                let open = open.iter().map(|frame| enter(frame, child.time));
                enters[child.index] = open.collect();
            }
        };
        let mut latest = Nanos(0);
        for event in self.thread.events() {
            let event = event?;
            while let Some(child) = children.next_if(|child| child.time <= event.time) {
                decide(child, &pauses, stack.open());
            }
            if children.peek().is_none() {
                return Ok(());
            }
            if event.time - latest >= SHORTEST && stack.open().len() <= DEEPEST {
                pauses.push_back(stack.open().to_vec());
                if pauses.len() > PAUSES {
                    pauses.pop_front();
                }
            }
            latest = event.time;
            stack.feed(event, |_, _| {});
        }
        for child in children {
            decide(child, &pauses, stack.open());
        }
        Ok(())
    }

    /// Whether the child may have begun inside these calls.
    fn fits(&self, child: &Child, open: &[Frame]) -> bool {
        let made = child.enter.is_none_or(|enter| self.is_made_by(enter, open));
        made && child.exits.len() <= open.len()
            && child
                .exits
                .iter()
                .zip(open.iter().rev())
                .all(|(&(function, sp, way), frame)| match way {
                    Way::Entry => frame.way == way && frame.sp == sp,
                    Way::Instrumented => frame.way == way && function.may_be(frame.function),
                })
    }

    /// Whether the innermost of these calls may have made a call from this site, with this stack
    /// pointer.
    fn is_made_by(&self, (site, sp, way): (Addr, Addr, Way), open: &[Frame]) -> bool {
        let Some(top) = open.last() else {
            return true;
        };
        let is_inlined = way == Way::Instrumented && top.caller == site;
        if top.sp < sp || (top.sp == sp && !is_inlined) {
            return false;
        }
        let function = |address, time| self.code.function(self.modules, address, time);
        let holder = function(Addr(site.0.wrapping_sub(1)), top.enter);
        let body = open.iter().rev().find(|frame| !frame.inlined);
        let body = body.and_then(|frame| function(frame.function, frame.enter));
        is_inlined || holder.is_none() || body.is_none() || holder == body
    }
}

/// The enter of an open call, at another time.
fn enter(frame: &Frame, time: Nanos) -> Event<'static> {
    Event {
        time,
        way: frame.way,
        kind: EventKind::Enter {
            function: frame.function,
            caller: frame.caller,
            sp: frame.sp,
            frame: None,
        },
    }
}
