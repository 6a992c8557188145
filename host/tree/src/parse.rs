//! From text to an expected tree.

use crate::line::{LOOP, Parts, parts, slip, without_comment};
use crate::{
    CallPattern, Count, Expected, Item, LoopPattern, ProcessPattern, StrandKind, StrandPattern,
    Times,
};

/// What is wrong with an expected tree.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ParseError {
    /// Line number, from 1.
    pub line: usize,
    /// What was expected, and what is there.
    pub what: String,
}

/// Calls nested deeper than this are refused: they are walked recursively.
const DEEPEST: usize = 100_000;

struct Source<'a> {
    number: usize,
    indent: usize,
    text: &'a str,
}

impl Expected {
    /// Reads the format of `docs/expected-tree.md`.
    ///
    /// # Errors
    /// The first line that is not of that format, with its number.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let lines = significant(text)?;
        let mut expected = Expected {
            processes: Vec::new(),
        };
        let mut rest = lines.as_slice();
        while let Some(first) = rest.first() {
            if first.indent > 0 {
                return Err(
                    first.wrong("indented, but there is nothing above it that it could belong to")
                );
            }
            // A block is a line and what is indented below it.
            let end = 1 + rest[1..].iter().take_while(|line| line.indent > 0).count();
            let (block, after) = rest.split_at(end);
            rest = after;
            if let Some(name) = first.text.strip_prefix("process ") {
                let Header { name, count, .. } = header(first, name, false)?;
                let text = first.text.to_owned();
                expected.processes.push(ProcessPattern {
                    name,
                    count,
                    strands: strands(&block[1..])?,
                    text,
                });
                continue;
            }
            let process = expected.implicit_process(first)?;
            if StrandKind::of_line(first.text).is_some() {
                process.strands.push(strand(block)?);
            } else {
                implicit_thread(process, first)?
                    .calls
                    .append(&mut items(block, 0)?);
            }
        }
        Ok(expected)
    }

    /// The process that a file without `process` lines is about.
    fn implicit_process(&mut self, line: &Source<'_>) -> Result<&mut ProcessPattern, ParseError> {
        if self
            .processes
            .iter()
            .any(|process| !process.text.is_empty())
        {
            return Err(line.wrong("outside every process; indent it below its `process` line"));
        }
        if self.processes.is_empty() {
            self.processes.push(ProcessPattern {
                name: "*".into(),
                count: Count::ONE,
                strands: Vec::new(),
                text: String::new(),
            });
        }
        Ok(&mut self.processes[0])
    }
}

/// The thread that a file without `thread` lines is about.
fn implicit_thread<'a>(
    process: &'a mut ProcessPattern,
    line: &Source<'_>,
) -> Result<&'a mut StrandPattern, ParseError> {
    if process.strands.iter().any(|thread| !thread.text.is_empty()) {
        return Err(line.wrong("outside every thread; indent it below its `thread` line"));
    }
    if process.strands.is_empty() {
        process.strands.push(StrandPattern::implicit(Vec::new()));
    }
    Ok(&mut process.strands[0])
}

impl Source<'_> {
    fn wrong(&self, what: impl Into<String>) -> ParseError {
        ParseError {
            line: self.number,
            what: format!("`{}`: {}", self.text, what.into()),
        }
    }
}

/// Lines without comments and blank lines.
fn significant(text: &str) -> Result<Vec<Source<'_>>, ParseError> {
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = without_comment(line);
        let text = line.trim_start_matches(' ');
        let source = Source {
            number: index + 1,
            indent: line.len() - text.len(),
            text,
        };
        if text.starts_with('\t') {
            return Err(source.wrong("indented by a tab; use spaces"));
        }
        if !text.is_empty() {
            lines.push(source);
        }
    }
    Ok(lines)
}

struct Header {
    name: String,
    count: Count,
    parent: Option<String>,
}

fn header(line: &Source<'_>, rest: &str, may_have_parent: bool) -> Result<Header, ParseError> {
    let Parts {
        name,
        count,
        times,
        caller,
    } = parts(rest.trim()).map_err(|what| line.wrong(what))?;
    if times != Times::ANY || (caller.is_some() && !may_have_parent) {
        return Err(line.wrong("only calls have times and callers"));
    }
    Ok(Header {
        name: name.to_owned(),
        count,
        parent: caller.map(str::to_owned),
    })
}

impl StrandPattern {
    /// The thread that a file without such lines is about.
    fn implicit(calls: Vec<Item>) -> Self {
        StrandPattern {
            kind: StrandKind::Thread,
            name: "*".into(),
            parent: None,
            count: Count::ONE,
            calls,
            text: String::new(),
        }
    }
}

/// The strands below a `process` line; without such lines, the calls of its only thread.
fn strands(lines: &[Source<'_>]) -> Result<Vec<StrandPattern>, ParseError> {
    let Some(first) = lines.first() else {
        return Ok(Vec::new());
    };
    if StrandKind::of_line(first.text).is_none() {
        return Ok(vec![StrandPattern::implicit(items(lines, 0)?)]);
    }
    children(lines)?.into_iter().map(strand).collect()
}

fn strand(block: &[Source<'_>]) -> Result<StrandPattern, ParseError> {
    let [first, below @ ..] = block else {
        return Err(ParseError {
            line: 0,
            what: "an empty block".into(),
        });
    };
    let Some((kind, name)) = StrandKind::of_line(first.text) else {
        return Err(first.wrong("expected `thread NAME` beside the other threads"));
    };
    let Header {
        name,
        count,
        parent,
    } = header(first, name, kind != StrandKind::Thread)?;
    Ok(StrandPattern {
        kind,
        name,
        parent,
        count,
        calls: items(below, 0)?,
        text: first.text.to_owned(),
    })
}

/// Cuts lines into blocks: a line and what is indented deeper below it. All first lines have the
/// same indentation.
fn children<'a, 'b>(lines: &'a [Source<'b>]) -> Result<Vec<&'a [Source<'b>]>, ParseError> {
    let mut blocks = Vec::new();
    let mut rest = lines;
    while let Some(first) = rest.first() {
        if first.indent != lines[0].indent {
            return Err(first.wrong(format!(
                "indented by {}, its neighbours by {}",
                first.indent, lines[0].indent
            )));
        }
        let end = 1 + rest[1..]
            .iter()
            .take_while(|line| line.indent > first.indent)
            .count();
        let (block, after) = rest.split_at(end);
        blocks.push(block);
        rest = after;
    }
    Ok(blocks)
}

fn items(lines: &[Source<'_>], depth: usize) -> Result<Vec<Item>, ParseError> {
    let mut items: Vec<Item> = Vec::new();
    for block in children(lines)? {
        let [first, below @ ..] = block else { continue };
        if depth > DEEPEST {
            return Err(first.wrong(format!("nested deeper than {DEEPEST} calls")));
        }
        if first.text == "..." {
            if let Some(child) = below.first() {
                return Err(child.wrong("`...` has nothing below it"));
            }
            items.push(Item::Anything);
            continue;
        }
        let Parts {
            name,
            count,
            times,
            caller,
        } = parts(first.text).map_err(|what| first.wrong(what))?;
        if name == LOOP {
            if times != Times::ANY || caller.is_some() {
                return Err(first.wrong("only calls have times and callers"));
            }
            if below.is_empty() {
                return Err(first.wrong("a loop has the calls of a round below it"));
            }
            items.push(Item::Loop(LoopPattern {
                count,
                body: items_below(below, depth)?,
                text: first.text.to_owned(),
            }));
            continue;
        }
        if let Some(what) = slip(name) {
            return Err(first.wrong(what));
        }
        let call = CallPattern {
            name: name.to_owned(),
            caller: caller.map(str::to_owned),
            count,
            times,
            children: items_below(below, depth)?,
            text: first.text.to_owned(),
        };
        match items.last_mut() {
            // `f` and again `f` is `f x2`: neighbours that are alike are merged in the trace too.
            Some(Item::Call(last)) if alike(last, &call) => last.add(&call),
            _ => items.push(Item::Call(call)),
        }
    }
    Ok(items)
}

fn items_below(lines: &[Source<'_>], depth: usize) -> Result<Vec<Item>, ParseError> {
    if lines.is_empty() {
        Ok(Vec::new())
    } else {
        items(lines, depth + 1)
    }
}

fn alike(a: &CallPattern, b: &CallPattern) -> bool {
    (&a.name, &a.caller, a.times, &a.children) == (&b.name, &b.caller, b.times, &b.children)
}

impl CallPattern {
    fn add(&mut self, other: &CallPattern) {
        self.count.low = self.count.low.saturating_add(other.count.low);
        self.count.high = self.count.high.saturating_add(other.count.high);
        self.text = format!(
            "{}{}",
            self.name,
            crate::print::suffix(self.count, self.times, self.caller.as_deref())
        );
    }
}
