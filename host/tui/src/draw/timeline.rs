//! What happened when.

use super::frame::Screen;
use super::look::{BOLD, FAINT, PLAIN, RUNS, SUBJECT, bar, wait};
use super::strands::kind;
use super::{not_yet, ruler};
use crate::model::{Model, StrandKey};
use crate::state::{DETAILS, State};
use crate::text::{count, counted, fill, fit, precise, time, width};
use crate::timeline::{
    Line, Rows, Strip, Timeline, Under, What, calls_on, lives_until, strip, summed_on,
    summed_within, under,
};
use heddle_view::{Call, Data, Strand, StrandKind, Why};

pub fn draw(screen: &mut Screen<'_>, model: &Model, state: &State) {
    let (Some(data), Some(timeline)) = (&model.timeline, &state.timeline) else {
        return not_yet(screen, model, state, "the timeline");
    };
    let picture = Picture {
        model,
        data,
        timeline,
        left: state.label_columns(),
        columns: state.time_columns(),
    };
    picture.ruler(screen);
    let short = picture.threads_are_short();
    let lines = &timeline.lines;
    let list = timeline.list;
    let shown = lines.iter().enumerate().skip(list.top).take(state.page());
    for (y, (index, line)) in (2..).zip(shown) {
        let selected = index == list.selected;
        picture.label(screen, y, line, (selected, short));
        picture.line(screen, y, line.what);
        if selected && let Some(column) = timeline.column_of(timeline.cursor, picture.columns) {
            screen.select(picture.left + column as u16, y, 1);
        }
    }
    let y = state.layout().height + 1 - DETAILS;
    let what = timeline.selected();
    picture.details(screen, y, state.layout().width, what);
}

struct Picture<'a> {
    model: &'a Model,
    data: &'a Data,
    timeline: &'a Timeline,
    /// Columns of names.
    left: u16,
    columns: usize,
}

impl Picture<'_> {
    /// Which rows these are, and the time that is shown.
    fn ruler(&self, screen: &mut Screen<'_>) {
        let rows = match self.timeline.rows {
            Rows::Both => "threads, strands",
            Rows::Threads => "threads",
            Rows::Strands => "strands",
        };
        screen.row(0, 1, self.left, rows, BOLD);
        ruler::draw(screen, self.timeline, self.left, self.columns);
    }

    /// Whether a thread's name has no room for what it is: then none of them says it.
    fn threads_are_short(&self) -> bool {
        let indent = usize::from(self.timeline.rows == Rows::Strands);
        let room = usize::from(self.left.saturating_sub(1)).saturating_sub(indent);
        let strands = self.data.strands.iter().zip(0..);
        let mut threads = strands.filter(|((strand, _), _)| strand.tid.is_some());
        threads.any(|(_, index)| 1 + width(&self.strand(index)) > room)
    }

    fn label(&self, screen: &mut Screen<'_>, y: u16, line: &Line, (selected, short): (bool, bool)) {
        let mark = match self.timeline.is_open(line.what) {
            true => "▾",
            false => "▸",
        };
        let room = usize::from(self.left.saturating_sub(1));
        let indent = usize::from(line.depth).min(room);
        let text = match line.what {
            What::Strand(index) => {
                let (strand, _) = &self.data.strands[index as usize];
                let whole = format!("{mark}{}", self.strand(index));
                match strand.tid {
                    // Threads of one name are told apart by what is behind it.
                    Some(tid) if short => {
                        let number = self.number(strand);
                        let tid = format!(" {tid}");
                        let left = (room - indent).saturating_sub(width(&tid));
                        fit(&format!("{mark}{number} {}", strand.name), left) + &tid
                    }
                    _ => whole,
                }
            }
            What::Group(index) => {
                let group = &self.data.groups[index as usize];
                format!(
                    "{mark}{} ×{} {}",
                    kind(group.kind),
                    count(group.strands),
                    group.name
                )
            }
            What::Calls(_, 0) => "calls".to_owned(),
            What::Calls(_, depth) => format!("within {depth}"),
            What::Deeper(_, depths) => format!("… {depths} depths more"),
            What::Unlisted(_, strands) => format!("… {} strands more", count(strands)),
        };
        let text = format!("{:indent$}{}", "", fill(&text, room - indent));
        let look = match line.what {
            What::Strand(_) | What::Group(_) => SUBJECT,
            _ => FAINT,
        };
        let look = if selected { look.selected() } else { look };
        screen.text(0, y, room as u16, &text, look);
    }

    fn line(&self, screen: &mut Screen<'_>, y: u16, what: What) {
        match what {
            What::Strand(strand) => {
                let column = |column| self.timeline.column(column, self.columns);
                let strip = strip(
                    self.data,
                    &self.timeline.known,
                    strand,
                    self.columns,
                    column,
                );
                for (x, state) in (self.left..).zip(strip) {
                    let (letter, look) = match state {
                        Strip::Nothing => continue,
                        Strip::Runs => ('█', RUNS),
                        Strip::NotKnown => ('?', FAINT),
                        Strip::Waits(why) => wait(why),
                    };
                    screen.text(x, y, 1, letter.encode_utf8(&mut [0; 4]), look);
                }
            }
            What::Group(group) => self.group(screen, y, group),
            What::Calls(strand, depth) => self.calls(screen, y, strand, depth),
            What::Deeper(..) | What::Unlisted(..) => {}
        }
    }

    /// How many of a group's listed strands live.
    fn group(&self, screen: &mut Screen<'_>, y: u16, group: u32) {
        let mut changes = vec![0_i64; self.columns + 1];
        let &Timeline { from, span, .. } = self.timeline;
        let last = from.saturating_add(span);
        let members = self.timeline.members.get(group as usize);
        for &index in members.into_iter().flatten() {
            let of = index as usize;
            let strand = self.data.strands.get(of).map(|(strand, _)| strand);
            let Some((strand, known)) = strand.zip(self.timeline.known.get(of)) else {
                continue;
            };
            let died = lives_until(self.data, index, known);
            if died < from || strand.born > last {
                continue;
            }
            let column = |time: u64| {
                let time = time.clamp(from, last);
                self.timeline.column_of(time, self.columns).unwrap_or(0)
            };
            changes[column(strand.born)] += 1;
            changes[column(died) + 1] -= 1;
        }
        let mut alive = 0;
        let counts: Vec<i64> = (0..self.columns)
            .map(|column| {
                alive += changes[column];
                alive
            })
            .collect();
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        for (x, count) in (self.left..).zip(counts) {
            if count > 0 {
                let part = (count * 8 / most).max(1);
                screen.text(x, y, 1, height(part as u64), RUNS);
            }
        }
    }

    /// Calls that have a column or more, in brackets with their names; of the others, how much of
    /// the time they take.
    fn calls(&self, screen: &mut Screen<'_>, y: u16, strand: u32, depth: u32) {
        let (data, timeline) = (self.data, self.timeline);
        let mut taken = vec![(0_u64, None::<u32>); self.columns];
        let end = timeline.from.saturating_add(timeline.span);
        let calls = calls_on(data, strand, Some(depth));
        let calls = &calls[..calls.partition_point(|call| call.enter < end)];
        let mut bars: Vec<(usize, usize, &Call)> = Vec::new();
        // Calls of one depth follow one another; what began before may still be open.
        let first = calls.partition_point(|call| call.exit < timeline.from);
        for call in &calls[first..] {
            let begin = timeline.column_of(call.enter.max(timeline.from), self.columns);
            let last = timeline.column_of(call.exit.min(end), self.columns);
            let (Some(begin), Some(last)) = (begin, last) else {
                continue;
            };
            if last > begin {
                bars.push((begin, last, call));
            } else if let Some(column) = taken.get_mut(begin) {
                column.0 += call.exit - call.enter;
                column.1 = Some(call.function);
            }
        }
        let cells = summed_on(data, strand, Some(depth));
        for (index, column) in taken.iter_mut().enumerate() {
            let (from, to) = timeline.column(index, self.columns);
            if let Some(sum) = summed_within(cells, data.calls.shift, from, to) {
                column.0 += sum.time;
                column.1.get_or_insert(sum.function);
            }
            if let Some(function) = column.1 {
                let part = (u128::from(column.0) * 8 / u128::from(to - from)).clamp(1, 8);
                let mut look = bar(function);
                (look.color, look.background) = (look.background, None);
                screen.text(self.left + index as u16, y, 1, height(part as u64), look);
            }
        }
        let width = self.columns;
        let mut next = 0;
        for (begin, last, call) in bars {
            // Two bars may meet in one column: it is the first one's.
            let begin = begin.max(next);
            let open_left = call.enter < timeline.from;
            let open_right = call.exit > end || call.open && last + 1 >= width;
            let columns = (last + 1).saturating_sub(begin);
            next = last + 1;
            if columns == 0 {
                continue;
            }
            let text = self.bar(call, columns, (open_left, open_right));
            screen.text(
                self.left + begin as u16,
                y,
                columns as u16,
                &text,
                bar(call.function),
            );
        }
    }

    /// `[name────]`; at the edge of the picture, without a bracket.
    fn bar(&self, call: &Call, columns: usize, (left, right): (bool, bool)) -> String {
        let name = self.function(call.function);
        match columns {
            1 => "|".to_owned(),
            2 => "[]".to_owned(),
            _ => {
                let name = fit(name, columns - 2);
                let line = columns - 2 - width(&name);
                format!(
                    "{}{name}{}{}",
                    if left { '‹' } else { '[' },
                    "─".repeat(line),
                    if right { '›' } else { ']' },
                )
            }
        }
    }

    fn function(&self, index: u32) -> &str {
        let function = self.data.functions.get(index as usize);
        function.map_or("?", |(function, _)| &function.name)
    }

    fn text(&self, index: u32) -> &str {
        self.data
            .texts
            .get(index as usize)
            .map_or("", String::as_str)
    }

    /// `#12`, or `#4711/12` where there are several processes.
    fn number(&self, strand: &Strand) -> String {
        let key = StrandKey {
            process: strand.process as u32,
            number: strand.own_number(),
        };
        format!("#{}", self.model.label(key))
    }

    fn strand(&self, index: u32) -> String {
        match self.data.strands.get(index as usize) {
            Some((strand, _)) => {
                let number = self.number(strand);
                format!("{} {number} {}", kind(strand.kind), named(strand))
            }
            None => "a strand that is not listed".to_owned(),
        }
    }

    /// What is at the cursor.
    fn details(&self, screen: &mut Screen<'_>, y: u16, width: u16, what: Option<What>) {
        let bar = "─".repeat(usize::from(width));
        screen.text(0, y, width, &bar, FAINT);
        let step = self.timeline.apart(self.columns, 1);
        let at = format!(" {} ", precise(self.timeline.cursor, step));
        screen.text(2, y, width, &at, BOLD);
        let Some(what) = what else { return };
        let said = match under(
            self.data,
            &self.timeline.known,
            what,
            self.timeline.cursor,
            step,
        ) {
            Under::Call(call) => self.call(call),
            Under::Summed(sum) => [
                format!(
                    "about {}, {} in all",
                    counted(sum.calls, "short call"),
                    time(sum.time)
                ),
                format!("most of that in {}", self.function(sum.function)),
                format!(
                    "calls below {} are summed up",
                    time(self.data.calls.threshold)
                ),
            ],
            Under::Pause(pause) => self.pause(pause),
            Under::Runs => ["runs".to_owned(), self.of_row(what), String::new()],
            Under::NotKnown(until) => [
                format!("nothing is known after its last event, at {}", time(until)),
                self.of_row(what),
                String::new(),
            ],
            Under::Nothing => [self.of_row(what), String::new(), String::new()],
        };
        for (y, text) in (y + 1..).zip(said) {
            screen.text(1, y, width - 1, &text, PLAIN);
        }
    }

    fn call(&self, call: &Call) -> [String; 3] {
        let open = if call.open { ", and had not ended" } else { "" };
        let site = match self.text(call.site) {
            "" => String::new(),
            site => format!(", called at {site}"),
        };
        [
            self.function(call.function).to_owned(),
            format!(
                "took {}, self {}, from {}{open}",
                time(call.exit - call.enter),
                time(call.own),
                time(call.enter),
            ),
            format!("on {}{site}", self.strand(call.thread)),
        ]
    }

    fn pause(&self, pause: &heddle_view::Pause) -> [String; 3] {
        let why = match pause.why {
            Why::Suspended => "suspended",
            Why::Lock => "waits for a lock",
            Why::Condition => "waits",
            Why::Kernel => "in the kernel",
            Why::Ready => "ready, without a processor",
        };
        let some = |before: &str, text: &str| match text {
            "" => String::new(),
            text => format!("{before}{text}"),
        };
        let open = if pause.open { ", and not resumed" } else { "" };
        let by = pause.by.map_or(String::new(), |by| {
            format!(
                " {} {}",
                self.by_or_after(pause.strand, by),
                self.strand(by)
            )
        });
        let on = pause.thread.map_or(String::new(), |thread| {
            format!(" on {}", self.strand(thread))
        });
        let holder = pause.holder.map_or(String::new(), |holder| {
            format!("; held by {}", self.strand(holder))
        });
        [
            format!(
                "{why} for {}{open}{}",
                time(pause.to - pause.from),
                some(": ", self.text(pause.reason))
            ),
            some("at ", self.text(pause.place)),
            match (pause.open, pause.destroyed) {
                (true, _) => holder.trim_start_matches("; ").to_owned(),
                (false, true) => format!("destroyed{by}{on}{holder}"),
                (false, false) => format!("went on{by}{on}{holder}"),
            },
        ]
    }

    /// How the strand that ran before another one went on is said to have done that. A fiber may
    /// have switched to another stack in between, which nothing tells.
    fn by_or_after(&self, own: u32, before: u32) -> &'static str {
        let kind = |index: u32| {
            let strand = self.data.strands.get(index as usize);
            strand.map(|(strand, _)| strand.kind)
        };
        match kind(own) {
            Some(StrandKind::Coroutine) => "by",
            _ if kind(before).is_some_and(|kind| kind != StrandKind::Fiber) => "by",
            _ => "after",
        }
    }

    fn of_row(&self, what: What) -> String {
        match what {
            What::Strand(index) | What::Calls(index, _) => {
                let (strand, _) = &self.data.strands[index as usize];
                // A further row's strand is its own.
                let maker = strand.parent.filter(|_| !strand.is_further());
                let parent = maker.map_or(String::new(), |parent| {
                    let key = StrandKey {
                        process: strand.process as u32,
                        number: parent,
                    };
                    format!(", made by #{}", self.model.label(key))
                });
                format!(
                    "{}{parent}: elapsed {}, suspended {}, {}",
                    self.strand(index),
                    time(strand.running),
                    time(strand.suspended),
                    counted(strand.calls, "call"),
                )
            }
            What::Group(index) => {
                let group = &self.data.groups[index as usize];
                format!(
                    "{} {} {}: elapsed {}, suspended {}, {}; {} of them are listed",
                    count(group.strands),
                    kind(group.kind),
                    group.name,
                    time(group.running),
                    time(group.suspended),
                    counted(group.calls, "call"),
                    count(group.listed),
                )
            }
            What::Deeper(..) => "deeper calls are in the graph (2)".to_owned(),
            What::Unlisted(..) => "these are in their group's sums alone".to_owned(),
        }
    }
}

/// Its name; of a thread, with the kernel's number behind it, as `heddle replay` prints it.
fn named(strand: &Strand) -> String {
    match strand.tid {
        Some(tid) => format!("{} {tid}", strand.name),
        None => strand.name.clone(),
    }
}

/// An eighth of a column's height, or more.
fn height(eighths: u64) -> &'static str {
    const HEIGHTS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
    HEIGHTS[(eighths.clamp(1, 8) - 1) as usize]
}
