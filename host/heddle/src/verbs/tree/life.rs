//! What one strand did: its calls, and between them how long it was suspended, at which `co_await`
//! or in which function, and who resumed it on which thread.

use crate::filter::{Filter, FilterArgs, Filterable, LeftOut, unwrap};
use crate::names::{Names, printable};
use crate::values::{Waiting, argument_list, result_text};
use heddle_calls::{End, Growing, Node, Span, TreeError};
use heddle_strands::{
    Analysis, Call, Decoded, Kind, Sink, Strand, StrandId, StrandList, StrandSpan,
};
use heddle_symbols::{CoroutinePart, coroutine_part};
use heddle_trace_file::{Addr, Callee, Error, Event, EventKind, Nanos, Trace};
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
    /// The strand that it handed over to as it ended: who awaited it.
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
    let filter = Filter::new(filter, trace, &mut names)?;
    let analysis = Analysis::new(trace, names.images());
    let names = Rc::new(RefCell::new(names));
    let make = |_| Living {
        trace,
        names: names.clone(),
        all,
        id,
        waiting: Waiting::default(),
        labels: Vec::new(),
        numbers: HashMap::new(),
        growing: Growing::default(),
        open: Vec::new(),
        site: None,
        pause: None,
        handed_over: None,
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
    let found = all.find(id).map(|index| all.get(index));
    let died = found.is_some_and(|strand| strand.died().is_some());
    Ok(Life {
        labels: living.labels,
        calls: living.growing.roots(),
        awaited_by: living.handed_over.filter(|_| died),
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
}

/// Takes the events of the strand's process.
struct Living<'a> {
    trace: &'a Trace,
    names: Rc<RefCell<Names<'a>>>,
    all: &'a StrandList,
    id: StrandId,
    waiting: Waiting,
    labels: Vec<Label>,
    numbers: HashMap<Label, u32>,
    growing: Growing,
    /// Functions of the open calls, and when they were entered.
    open: Vec<(Addr, Nanos)>,
    /// The call site of the last call that the coroutine's own code made.
    site: Option<(Addr, Nanos)>,
    /// The latest suspension, until what follows it tells where it was.
    pause: Option<Pause>,
    /// Whom it resumed as it was suspended last.
    handed_over: Option<StrandId>,
    /// What runs it, destroys it.
    destroyed: bool,
    failed: Option<TreeError>,
}

impl Living<'_> {
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
        }) = self.pause.take()
        else {
            return;
        };
        let place = self.place(resumes, since);
        let by = self.resumer(by, thread);
        self.suspended(since, until, format!("suspended{place}{by}"));
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
            None => self.site,
        };
        if let Some((address, time)) = at
            && let Some(line) = names.line(process, address, time)
        {
            return format!(" at {line}");
        }
        match self.open.last() {
            Some(&(function, enter)) => {
                let location = names.function(process, function, enter);
                format!(" in {}", names.shown(&location))
            }
            None => String::new(),
        }
    }

    /// `, resumed by coroutine sums(long) on thread worker`.
    fn resumer(&self, by: Option<StrandId>, thread: usize) -> String {
        let threads = self.trace.processes()[self.id.process()].threads();
        let on = threads.get(thread).map(|thread| printable(thread.name()));
        let on = on.unwrap_or_else(|| "?".to_owned());
        let found = by
            .and_then(|by| self.all.find(by))
            .map(|index| self.all.get(index));
        match found {
            Some(strand) if strand.kind == Kind::Thread && strand.thread() == thread => {
                format!(", resumed by thread {on}")
            }
            Some(strand) => {
                let name = self.names.borrow_mut().strand(&strand);
                format!(", resumed by {} {name} on thread {on}", strand.kind.name())
            }
            None => format!(", resumed on thread {on}"),
        }
    }
}

impl Sink for Living<'_> {
    fn resumed(&mut self, strand: StrandId, by: Option<StrandId>, thread: usize, time: Nanos) {
        if strand == self.id {
            if let Some(pause) = &mut self.pause {
                pause.resumed = Some((by, thread, time));
            }
        } else if by == Some(self.id) && self.pause.is_some() && !self.destroyed {
            // Others may follow: what goes on then, may still be taken for run by it.
            self.handed_over.get_or_insert(strand);
        }
    }

    fn suspended(&mut self, strand: StrandId, _: usize, time: Nanos) {
        if strand == self.id {
            self.end_pause(None);
            self.pause = Some(Pause {
                since: time,
                resumed: None,
            });
        }
    }

    fn enter(&mut self, call: &Call) {
        let given = self.waiting.of_enter(call);
        if call.strand != self.id {
            return;
        }
        self.end_pause(Some(call).filter(|call| call.body));
        let names = self.names.clone();
        let names = &mut *names.borrow_mut();
        let process = call.strand.process();
        let location = names.function(process, call.function, call.enter);
        if call.body {
            let part = coroutine_part(&location.symbol).map(|(_, part, _)| part);
            let index = call.frame.and_then(|frame| frame.resume_index());
            self.destroyed |= part == Some(CoroutinePart::Destroy);
            // GCC's code destroys what has an odd index.
            self.destroyed |= index.is_some_and(|index| index % 2 == 1);
            if !self.destroyed {
                self.handed_over = None;
            }
            self.site = None;
            return;
        }
        if self.open.is_empty() && !call.inlined {
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
        self.open.push((call.function, call.enter));
        if let Err(error) = self.growing.enter(label) {
            self.failed.get_or_insert(error);
        }
    }

    fn leave(&mut self, span: &StrandSpan) {
        let result = self.waiting.of_leave(span);
        if span.strand != self.id {
            return;
        }
        self.end_pause(None);
        if span.body {
            return;
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
        self.open.pop();
        self.growing.leave(&span.span);
    }

    fn unmatched(&mut self, _: StrandId, thread: usize, _: Callee, _: Nanos) {
        self.waiting.clear(thread);
    }

    fn other(&mut self, _: StrandId, thread: usize, event: &Event<'_>) {
        if let EventKind::Values(values) = event.kind {
            self.waiting.take(thread, values);
        }
    }

    fn ended(&mut self, strand: &Strand) {
        if strand.id != self.id {
            return;
        }
        self.end_pause(None);
        if let Some(pause) = self.pause.take()
            && strand.died().is_none()
            && strand.kind != Kind::Thread
        {
            let until = strand.last.max(pause.since);
            self.suspended(pause.since, until, "suspended, and not resumed".to_owned());
        }
    }
}

impl Filterable for Living<'_> {}
