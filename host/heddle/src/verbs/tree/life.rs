//! What one strand did: its calls, and between them how long it was suspended, at which `co_await`
//! or in which function, and who resumed it on which thread.

use super::awaited::{Awaited, is_pump};
use crate::aside::{Activation, Aside};
use crate::filter::{Filter, FilterArgs, Filterable, LeftOut, unwrap};
use crate::names::{Names, awaiter_of};
use crate::values::{Waiting, argument_list, result_text};
use crate::waits::is_wrapper;
use heddle_calls::{End, Growing, Node, Span, TreeError};
use heddle_strands::{
    Analysis, Call, Decoded, Kind, Sink, Strand, StrandId, StrandList, StrandSpan,
};
use heddle_symbols::coroutine_part;
use heddle_trace_file::{Addr, Callee, Error, Event, EventKind, Nanos, Process, Trace};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// What a line of a life is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// A call, with its values where they were recorded.
    Call(String),
    /// The strand did not run; where, and by whom it was resumed.
    Suspended(String),
}

/// A strand's calls and suspensions.
pub struct Life {
    pub labels: Vec<Label>,
    /// By indices of labels.
    pub calls: Vec<Node>,
    /// Who awaited it: the strand that it handed over to as it ended, or what its library's loop
    /// tells.
    pub awaited_by: Option<StrandId>,
    /// The number of calls that a filter left out, if there is one.
    pub left_out: Option<LeftOut>,
}

/// Reads the life of the strand with this id; `all` has the strands of the trace.
///
/// # Errors
/// What reading the trace gives, options that do not fit it, and calls that are nested too deeply.
pub fn read<'a>(
    trace: &'a Trace,
    names: Names<'a>,
    all: &'a StrandList,
    filter: &FilterArgs,
    id: StrandId,
) -> anyhow::Result<Life> {
    let mut names = names;
    let asked_until = filter.until();
    let filter = Filter::new(filter, trace, &mut names)?;
    let analysis = Analysis::new(trace, names.images());
    let names = Rc::new(RefCell::new(names));
    let found = all.find(id).map(|index| all.get(index));
    let kind = found.as_ref().map(|strand| strand.kind);
    let process = trace.processes().get(id.process());
    let last = process.and_then(Process::last).unwrap_or_default();
    let end = asked_until.map_or(last, |until| until.min(last));
    let make = |_| Living {
        trace,
        names: names.clone(),
        all,
        id,
        is_coroutine: kind == Some(Kind::Coroutine),
        waiting: Waiting::default(),
        labels: Vec::new(),
        numbers: HashMap::new(),
        growing: Growing::default(),
        open: Open::default(),
        on: 0,
        aside: Aside::default(),
        site: None,
        pause: None,
        goes_on: false,
        end,
        awaiter: None,
        wakes: HashMap::new(),
        waits: HashMap::new(),
        woken: HashMap::new(),
        thread: None,
        handed_over: None,
        runs_other: None,
        resumes: None,
        awaited: Awaited::default(),
        destroyed: false,
        failed: None,
    };
    let (decoded, left_out) = match filter {
        None => (
            analysis.stream(make, |_, _, living| living.failed.is_none())?,
            None,
        ),
        Some(filter) => {
            let (decoded, left_out) = filtered(&analysis, filter, make)?;
            (decoded, Some(left_out))
        }
    };
    let mut sinks = decoded.sinks.into_iter();
    let living = sinks.find(|(process, _)| *process == id.process());
    let Some((_, mut living)) = living else {
        return Ok(Life {
            labels: Vec::new(),
            calls: Vec::new(),
            awaited_by: None,
            left_out,
        });
    };
    if let Some(failed) = living.failed.take() {
        return Err(failed.into());
    }
    let died = found.as_ref().is_some_and(|strand| strand.died().is_some());
    // A strand that goes on behind this one's end, and did not make it, may have been resumed by
    // another.
    let maker = found.and_then(|strand| strand.maker());
    // A fiber that ends goes back to what ran it, as a scheduler's, which need not await it.
    let hands_over = died && kind == Some(Kind::Coroutine);
    let handed_over = living.handed_over.map(|(strand, _)| strand);
    let handed_over = handed_over.filter(|_| hands_over && handed_over == maker);
    Ok(Life {
        labels: living.labels,
        calls: living.growing.roots(),
        awaited_by: handed_over.or(living.awaited.by()),
        left_out,
    })
}

fn filtered<'a>(
    analysis: &Analysis<'_>,
    mut filter: Filter<'_>,
    make: impl Fn(usize) -> Living<'a>,
) -> Result<(Decoded<Living<'a>>, LeftOut), Error> {
    if filter.must_learn() {
        let learned = analysis.stream(|process| filter.learning(process), |_, _, _| true)?;
        filter.learn(learned.sinks.into_iter().collect());
    }
    let over = |process| filter.over(process, make(process));
    let decoded = analysis.stream(over, |_, _, filtered| filtered.inner().failed.is_none())?;
    Ok(unwrap(decoded))
}

/// The strand does not run.
struct Pause {
    since: Nanos,
    /// Who resumed it, on which thread, when.
    resumed: Option<(Option<StrandId>, usize, Nanos)>,
    /// The wake-up by which that thread came to do so.
    woken: Option<Wake>,
}

/// A thread wakes others that wait (`heddle record --sync`).
#[derive(Clone, Copy)]
struct Wake {
    time: Nanos,
    by: StrandId,
}

/// Takes the events of the strand's process.
struct Living<'a> {
    trace: &'a Trace,
    names: Rc<RefCell<Names<'a>>>,
    all: &'a StrandList,
    id: StrandId,
    is_coroutine: bool,
    waiting: Waiting,
    labels: Vec<Label>,
    numbers: HashMap<Label, u32>,
    growing: Growing,
    /// The open calls of the activation that is looked at, its thread, and other ones.
    open: Open,
    on: u32,
    aside: Aside<Open>,
    /// The call site of the last call that the coroutine's own code made.
    site: Option<(Addr, Nanos)>,
    /// The latest suspension, until what follows it tells where it was.
    pause: Option<Pause>,
    /// An activation of it has begun, whose call was not told yet.
    goes_on: bool,
    /// When its process did something last, or before that the time ends that is asked for.
    end: Nanos,
    /// The type of what it awaits, by the last call that its own code made.
    awaiter: Option<String>,
    /// The latest wake-ups, by the number of the object that was waited for.
    wakes: HashMap<u32, Wake>,
    /// Since when each thread waits for which object in its own code, and, when it waits no more,
    /// who woke it.
    waits: HashMap<usize, (u32, Nanos)>,
    woken: HashMap<usize, Wake>,
    /// The thread that runs it, or ran it last.
    thread: Option<usize>,
    /// The strand that it resumed when it was last suspended, and whether it did so by a call,
    /// which may have returned.
    handed_over: Option<(StrandId, bool)>,
    /// The strand that it runs, and since when, until that returns. If this strand is resumed
    /// meanwhile, it was suspended and had handed over by a call.
    runs_other: Option<(StrandId, Nanos)>,
    /// The strand that this one has resumed, and that runs within its call.
    resumes: Option<StrandId>,
    awaited: Awaited,
    /// What runs it or ran it last, destroys it.
    destroyed: bool,
    failed: Option<TreeError>,
}

/// The open calls of an activation.
#[derive(Default)]
struct Open {
    /// How many of them run the coroutine.
    bodies: usize,
    /// The functions of the others, and when they were entered.
    calls: Vec<(Addr, Nanos)>,
}

impl Activation for Open {
    fn runs(&self) -> bool {
        self.bodies > 0 || !self.calls.is_empty()
    }
}

impl Living<'_> {
    /// What the strand calls next belongs to its activation on this thread, which `begins` or is
    /// open.
    fn turn_to(&mut self, thread: usize, begins: bool) {
        let now = (&mut self.on, &mut self.open);
        self.aside.turn_to(0, now, thread, begins);
        self.growing.turn_to(thread, begins);
    }

    fn number(&mut self, label: Label) -> u32 {
        let next = self.labels.len() as u32;
        let number = *self.numbers.entry(label.clone()).or_insert(next);
        if number == next {
            self.labels.push(label);
        }
        number
    }

    /// Adds the suspension that has ended; `resumes`: the call that goes on behind it.
    fn end_pause(&mut self, resumes: Option<&Call>) {
        if self
            .pause
            .as_ref()
            .is_none_or(|pause| pause.resumed.is_none())
        {
            return;
        }
        let Some(Pause {
            since,
            resumed: Some((by, thread, until)),
            woken,
        }) = self.pause.take()
        else {
            return;
        };
        let place = self.place(resumes, since);
        let on = self.awaits(resumes);
        let resumed = self.resumer(by, thread);
        let from = self.resumed_from(by, resumes);
        let Some(wake) = woken.filter(|wake| wake.time < until) else {
            return self.suspended(since, until, format!("suspended{place}{on}{resumed}{from}"));
        };
        let ready = wake.time.max(since);
        let by = self.strand(wake.by);
        self.suspended(
            since,
            ready,
            format!("suspended{place}{on}, until {by} woke its thread"),
        );
        self.suspended(ready, until, format!("then{resumed}{from}"));
    }

    /// ` on Elsewhere`: the type of what was awaited, by the code at the resume index that the call
    /// behind it has, else by the last call before.
    fn awaits(&mut self, resumes: Option<&Call>) -> String {
        let names = &mut *self.names.borrow_mut();
        let told = resumes.and_then(|call| {
            let index = call.frame?.resume_index()? & !1;
            names.awaiter(self.id.process(), call.function, index, call.enter)
        });
        let called = self.awaiter.take();
        let kind = told.map(|kind| kind.to_string()).or(called);
        kind.map_or(String::new(), |kind| format!(" on {kind}"))
    }

    /// `, in loop() at echo.cpp:80`: where the resumer was. A coroutine that hands over to another
    /// as it is suspended itself has no call of that.
    fn resumed_from(&self, by: Option<StrandId>, resumes: Option<&Call>) -> String {
        let Some(call) = resumes else {
            return String::new();
        };
        let names = &mut *self.names.borrow_mut();
        let process = self.id.process();
        let by = by.and_then(|by| self.all.find(by));
        let by_coroutine = by.is_some_and(|by| self.all.get(by).kind == Kind::Coroutine);
        let site = names.caller(process, call.caller, call.enter);
        if by_coroutine && coroutine_part(&site.symbol).is_none() {
            return String::new();
        }
        let line = names.own_line(process, call.caller, call.enter);
        let line = line.map_or(String::new(), |line| format!(" at {line}"));
        let around = call.around.filter(|_| !by_coroutine);
        let around = around.map(|around| names.function(process, around, call.enter));
        let around = around.filter(|around| !is_wrapper(&around.symbol));
        match around {
            Some(around) => format!(", in {}{line}", names.shown(&around)),
            None => line,
        }
    }

    /// A coroutine is run or destroyed by this call.
    fn body(&mut self, call: &Call) {
        if call.strand != self.id {
            if self.resumes == Some(call.strand) {
                self.calls_to_hand_over(call);
            }
            return;
        }
        self.runs_other = None;
        let activates = std::mem::take(&mut self.goes_on);
        if call.destroys && !activates && !self.destroyed && self.pause.is_none() {
            // By itself, in what it calls as it is suspended.
            self.pause = Some(Pause {
                since: call.enter,
                resumed: Some((Some(self.id), call.thread, call.enter)),
                woken: None,
            });
        }
        self.destroyed |= call.destroys;
        self.end_pause(Some(call));
        if !self.destroyed {
            self.handed_over = None;
        }
        self.site = None;
        self.awaiter = None;
    }

    /// Without optimisation, code that hands over calls where it would jump: what it calls is
    /// another coroutine's body, and no function that resumes or destroys one.
    fn calls_to_hand_over(&mut self, call: &Call) {
        let names = &mut *self.names.borrow_mut();
        let site = names.caller(call.strand.process(), call.caller, call.enter);
        if self.open.calls.is_empty() && !call.destroys && coroutine_part(&site.symbol).is_some() {
            self.handed_over = Some((call.strand, true));
        }
    }

    /// ` at echo.cpp:12`: where a strand is suspended that is not resumed, as `left at` says it.
    fn left_place(&self, id: StrandId) -> String {
        let strand = self.all.find(id).map(|index| self.all.get(index));
        let Some((kind, Some((address, time)))) =
            strand.map(|strand| (strand.kind, strand.suspended_at()))
        else {
            return String::new();
        };
        let names = &mut *self.names.borrow_mut();
        let is_line = kind == Kind::Coroutine && names.line(id.process(), address, time).is_some();
        let place = names.suspended_at(id.process(), kind, address, time);
        format!(" {} {place}", if is_line { "at" } else { "in" })
    }

    /// `coroutine sums(long)`, `thread app`.
    fn strand(&self, id: StrandId) -> String {
        let found = self.all.find(id).map(|index| self.all.get(index));
        match found {
            Some(strand) => {
                let names = &mut *self.names.borrow_mut();
                let name = match strand.kind {
                    Kind::Thread => names.thread(self.trace, id.process(), strand.thread()),
                    _ => names.strand(&strand),
                };
                format!("{} {name}", strand.kind.name())
            }
            None => "another strand".to_owned(),
        }
    }

    /// Nothing more will be heard of it: adds the suspension that has not ended.
    fn is_left(&mut self) {
        let found = self.all.find(self.id).map(|index| self.all.get(index));
        if let Some(pause) = self.pause.take()
            && let Some(strand) = found
            && strand.died().is_none()
            && strand.kind != Kind::Thread
        {
            let until = self.end.max(pause.since);
            let left = self.names.borrow_mut().left_on(&strand);
            let on = match left.map(|kind| kind.to_string()).or(self.awaiter.take()) {
                Some(kind) => format!(" on {kind}"),
                None => String::new(),
            };
            let place = self.left_place(strand.id);
            self.suspended(
                pause.since,
                until,
                format!("suspended{place}{on}, and not resumed"),
            );
        }
    }

    fn suspended(&mut self, since: Nanos, until: Nanos, text: String) {
        let label = self.number(Label::Suspended(text));
        let span = Span {
            function: Addr(0),
            caller: Addr(0),
            inlined: false,
            depth: 0,
            enter: since,
            exit: until,
            callees: Nanos(0),
            end: End::Returned,
        };
        match self.growing.enter(label) {
            Ok(()) => self.growing.leave(&span),
            Err(error) => {
                self.failed.get_or_insert(error);
            }
        }
    }

    /// ` at echo.cpp:12`: of a coroutine the line of the `co_await`, by the resume index that the
    /// call behind it has, else that of its last call; of another strand the function that it is
    /// in.
    fn place(&self, resumes: Option<&Call>, time: Nanos) -> String {
        let names = &mut *self.names.borrow_mut();
        let process = self.id.process();
        let indexed = resumes.and_then(|call| {
            let index = call.frame?.resume_index()? & !1;
            names.suspension(process, call.function, index, call.enter)
        });
        let at = match indexed {
            Some(exact) => exact.map(|address| (address, time)),
            None => self.site.filter(|_| self.is_coroutine),
        };
        if let Some((address, time)) = at
            && let Some(line) = names.line(process, address, time)
        {
            return format!(" at {line}");
        }
        match self.open.calls.last() {
            Some(&(function, enter)) => {
                let location = names.function(process, function, enter);
                format!(" in {}", names.shown(&location))
            }
            None => String::new(),
        }
    }

    /// `, resumed by coroutine sums(long) on thread worker`, or destroyed.
    fn resumer(&self, by: Option<StrandId>, thread: usize) -> String {
        let process = self.id.process();
        let on = self.names.borrow_mut().thread(self.trace, process, thread);
        let found = by
            .and_then(|by| self.all.find(by))
            .map(|index| self.all.get(index));
        let how = match self.destroyed {
            true => "destroyed",
            false => "resumed",
        };
        match found {
            Some(strand) if strand.kind == Kind::Thread && strand.thread() == thread => {
                format!(", {how} by thread {on}")
            }
            Some(strand) => {
                let name = self.names.borrow_mut().strand(&strand);
                let own = self.all.find(self.id).map(|index| self.all.get(index).kind);
                let by = by_or_after(own, strand.kind);
                let kind = strand.kind.name();
                format!(", {how} {by} {kind} {name} on thread {on}")
            }
            None => format!(", {how} on thread {on}"),
        }
    }
}

/// How `other`, which a thread ran before a strand of the kind `own`, is said to have resumed that.
/// A coroutine is resumed by a call. A fiber may have switched to another stack first, which then
/// went on here: without a call in between, nothing tells.
fn by_or_after(own: Option<Kind>, other: Kind) -> &'static str {
    match other {
        Kind::Fiber if own != Some(Kind::Coroutine) => "after",
        _ => "by",
    }
}

impl Sink for Living<'_> {
    fn rests(&mut self, strand: StrandId, since: Nanos) {
        // Optimised code has the first activation in the ramp, so of that nothing else is told.
        if strand == self.id {
            self.pause = Some(Pause {
                since,
                resumed: None,
                woken: None,
            });
        }
    }

    fn resumed(&mut self, strand: StrandId, by: Option<StrandId>, thread: usize, time: Nanos) {
        // Whatever the thread runs first is what it was woken for.
        let woken = self.woken.remove(&thread);
        let maker = || self.all.get(self.all.find(strand)?).maker();
        let maker = (strand == self.id).then(maker).flatten();
        self.awaited.resumed(thread, maker);
        // What runs does not resume itself: its thread has, and nothing of that was recorded.
        let by = by.filter(|&by| by != strand);
        if strand == self.id {
            self.goes_on = true;
            // Another thread may go on with a coroutine before the call of await_suspend returns by
            // which it was given away: then the end of that activation comes too late.
            let elsewhere = self.thread.replace(thread).is_some_and(|on| on != thread);
            // What is resumed was suspended before, so it had handed over to what it still calls.
            let since = self.runs_other.take().map(|(_, since)| since);
            let since = since.or(elsewhere.then_some(time));
            if let (None, false, Some(since)) = (&self.pause, self.destroyed, since) {
                self.pause = Some(Pause {
                    since,
                    resumed: None,
                    woken: None,
                });
            }
            if let Some(pause) = &mut self.pause {
                pause.resumed = Some((by, thread, time));
                pause.woken = woken;
            }
        } else if by == Some(self.id) && self.pause.is_some() && !self.destroyed {
            // Others may follow: what goes on then, may still be taken for run by it.
            if self.handed_over.is_none_or(|(_, is_called)| is_called) {
                self.handed_over = Some((strand, false));
            }
        }
        let runs = self.pause.is_none() && !self.destroyed;
        self.resumes = Some(strand).filter(|_| runs && by == Some(self.id));
        if self.is_coroutine && self.resumes.is_some() {
            self.runs_other = Some((strand, time));
        }
    }

    fn suspended(&mut self, strand: StrandId, thread: usize, time: Nanos) {
        self.awaited.suspended(strand, thread);
        if self.runs_other.is_some_and(|(other, _)| other == strand) {
            self.runs_other = None;
        }
        if strand == self.id && self.thread.is_none_or(|on| on == thread) {
            self.end_pause(None);
            // An activation that handed over by a call ends later than what it called, and says
            // nothing new. What is destroyed does not wait: optimised code destroys by a jump to
            // the body, which is another activation.
            if self.pause.is_none() && !self.destroyed {
                self.pause = Some(Pause {
                    since: time,
                    resumed: None,
                    woken: None,
                });
            }
        }
    }

    fn enter(&mut self, call: &Call) {
        let given = self.waiting.of_enter(call);
        let process = call.strand.process();
        self.awaited.enter(call, || {
            let mut names = self.names.borrow_mut();
            is_pump(&names.function(process, call.function, call.enter).name)
        });
        if call.strand == self.id {
            self.turn_to(call.thread, call.depth == 0);
            if call.body {
                self.open.bodies += 1;
                self.growing.enter_body();
            }
        }
        if call.body {
            return self.body(call);
        }
        if call.strand != self.id {
            return;
        }
        self.runs_other = None;
        self.end_pause(None);
        let names = self.names.clone();
        let names = &mut *names.borrow_mut();
        let location = names.function(process, call.function, call.enter);
        if !self.destroyed {
            self.handed_over = None;
        }
        if self.open.calls.is_empty() {
            self.awaiter = awaiter_of(names.shown(&location)).map(str::to_owned);
        }
        if self.open.calls.is_empty() && !call.inlined {
            self.site = Some((call.caller, call.enter)).filter(|(site, _)| site.0 != 0);
        }
        let mut text = names.shown(&location).to_owned();
        if let Some(given) = given {
            let mut named = |address| names.function_at(process, Addr(address), call.enter);
            text += &format!(
                " {{{}}}",
                argument_list(&given, self.trace.shapes(), &mut named)
            );
        }
        let label = self.number(Label::Call(text));
        self.open.calls.push((call.function, call.enter));
        if let Err(error) = self.growing.enter(label) {
            self.failed.get_or_insert(error);
        }
    }

    fn leave(&mut self, span: &StrandSpan) {
        let result = self.waiting.of_leave(span);
        self.awaited.leave(span);
        if span.strand != self.id {
            return;
        }
        self.turn_to(span.thread, false);
        self.end_pause(None);
        if span.span.end == End::Open {
            // It lies within the calls that are open, and not behind them.
            self.is_left();
        }
        if span.body {
            self.open.bodies = self.open.bodies.saturating_sub(1);
            return self.growing.leave_body();
        }
        let names = self.names.clone();
        let names = &mut *names.borrow_mut();
        let (process, time) = (span.strand.process(), span.span.exit);
        let mut named = |address| names.function_at(process, Addr(address), time);
        let shapes = self.trace.shapes();
        let result = result.and_then(|result| result_text(&result, shapes, &mut named));
        let before = self.labels.get(self.growing.label() as usize);
        if let (Some(result), Some(Label::Call(before))) = (result, before) {
            let label = Label::Call(format!("{before} = {result}"));
            let label = self.number(label);
            self.growing.relabel(label);
        }
        self.open.calls.pop();
        self.growing.leave(&span.span);
    }

    fn unmatched(&mut self, _: StrandId, thread: usize, _: Callee, _: Nanos) {
        self.waiting.clear(thread);
        self.awaited.doubt(thread);
    }

    fn other(&mut self, strand: StrandId, thread: usize, event: &Event<'_>) {
        let time = event.time;
        match event.kind {
            EventKind::Values(values) => self.waiting.take(thread, values),
            EventKind::Wake { number, .. } => {
                self.wakes.insert(number, Wake { time, by: strand });
            }
            EventKind::Wait(wait) => {
                self.woken.remove(&thread);
                self.waits.remove(&thread);
                // A strand that blocks its thread is woken for itself, and so is one that waits for
                // a lock: the others that this thread runs may have been ready before.
                let own =
                    strand == StrandId::of_thread(strand.process(), thread) && !wait.kind.is_held();
                let number = wait.number().filter(|_| own);
                number.map(|number| self.waits.insert(thread, (number, time)));
            }
            EventKind::WaitEnded { .. } => {
                let waited = self.waits.remove(&thread);
                let woken = waited.and_then(|(number, since)| {
                    let wake = self.wakes.get(&number);
                    wake.filter(|wake| wake.time >= since).copied()
                });
                woken.map(|wake| self.woken.insert(thread, wake));
            }
            _ => {}
        }
    }

    fn ended(&mut self, strand: &Strand) {
        if strand.id != self.id {
            return;
        }
        self.end_pause(None);
        self.is_left();
    }
}

impl Filterable for Living<'_> {
    /// It tells all the same where the coroutine was, and whether it is destroyed.
    fn body_left_out(&mut self, call: &Call) {
        self.body(call);
    }
}
