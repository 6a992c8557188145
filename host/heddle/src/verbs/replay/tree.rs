//! Calls as C writes them, `f() { … }`, with how long each took in front: a call that made no other
//! is one line.

use super::line::{Line, Style, What};
use crate::screen::{HEADING, Look};
use heddle_trace_file::Nanos;
use std::io::{self, Write};

/// As deep as lines are indented; the depth of what is deeper is printed.
const DEEPEST: usize = 50;

/// Prints lines. The latest enter waits until it is known whether the next event is its exit.
pub struct Tree {
    style: Style,
    look: Look,
    /// Columns of the line before the function's name.
    taken: usize,
    waiting: Option<(Line, String)>,
}

impl Tree {
    /// No event yet.
    pub fn new(style: Style, look: Look) -> Self {
        Tree {
            style,
            look,
            taken: 0,
            waiting: None,
        }
    }

    /// The columns.
    pub fn heading(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let heading = format!("{:>11}  thread or strand, call", "took");
        writeln!(out, "{}", self.look.paint(HEADING, heading))
    }

    /// Takes an enter or an exit.
    pub fn line(&mut self, out: &mut dyn Write, line: Line, label: &str) -> io::Result<()> {
        if line.what == What::Enter {
            self.finish(out)?;
            self.waiting = Some((line, label.to_owned()));
            return Ok(());
        }
        if let Some(enter) = self.leaf(&line, label) {
            self.begin(out, line.took, label, line.depth)?;
            self.call(out, &enter)?;
            if let Some(result) = &line.values {
                write!(out, " = {result}")?;
            }
            return writeln!(out, ";");
        }
        self.finish(out)?;
        self.begin(out, line.took, label, line.depth)?;
        out.write_all(b"}")?;
        if let Some(result) = &line.values {
            write!(out, " = {result}")?;
        }
        write!(out, " /* ")?;
        self.name(out, &line)?;
        if line.caller.is_none() {
            write!(out, ", whose enter was not recorded")?;
        }
        writeln!(out, " */")
    }

    /// Takes a call that is gone without an exit: how long it took is not known.
    pub fn gone(&mut self, out: &mut dyn Write, line: &Line, label: &str) -> io::Result<()> {
        const HOW: &str = "without an exit, by a jump or an exception";
        if let Some(enter) = self.leaf(line, label) {
            self.begin(out, None, label, line.depth)?;
            self.call(out, &enter)?;
            return writeln!(out, "; /* left {HOW} */");
        }
        self.finish(out)?;
        self.begin(out, None, label, line.depth)?;
        out.write_all(b"} /* ")?;
        self.name(out, line)?;
        writeln!(out, ", left {HOW} */")
    }

    /// The enter that waits, if its call ends by this line.
    fn leaf(&mut self, line: &Line, label: &str) -> Option<Line> {
        let address = |line: &Line| line.function.as_ref().map(|(address, _)| *address);
        let ends = |(enter, of): &mut (Line, String)| {
            of == label && enter.depth == line.depth && address(enter) == address(line)
        };
        self.waiting.take_if(ends).map(|(enter, _)| enter)
    }

    /// Takes another event.
    pub fn other(
        &mut self,
        out: &mut dyn Write,
        label: &str,
        depth: usize,
        said: &str,
    ) -> io::Result<()> {
        self.finish(out)?;
        self.begin(out, None, label, depth)?;
        writeln!(out, "/* {said} */")
    }

    /// Prints the enter that waits.
    pub fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let Some((line, label)) = self.waiting.take() else {
            return Ok(());
        };
        self.begin(out, None, &label, line.depth)?;
        self.call(out, &line)?;
        writeln!(out, " {{")
    }

    fn begin(
        &mut self,
        out: &mut dyn Write,
        took: Option<Nanos>,
        label: &str,
        depth: usize,
    ) -> io::Result<()> {
        match took {
            Some(took) => write!(out, "{took:>11}")?,
            None => write!(out, "{:>11}", "")?,
        }
        let indent = 2 * depth.min(DEEPEST);
        write!(out, "  {label}  {:indent$}", "")?;
        // The brace behind it is a part of the call.
        self.taken = 11 + 2 + label.chars().count() + 2 + indent + 2;
        match depth > DEEPEST {
            true => write!(out, "({depth}) "),
            false => Ok(()),
        }
    }

    /// The function, and what it was given.
    fn call(&self, out: &mut dyn Write, line: &Line) -> io::Result<()> {
        self.name(out, line)?;
        if let Some(frame) = line.frame {
            write!(out, " {{{frame}}}")?;
        }
        match &line.values {
            Some(arguments) => write!(out, " {{{arguments}}}"),
            None => Ok(()),
        }
    }

    fn name(&self, out: &mut dyn Write, line: &Line) -> io::Result<()> {
        let Some((address, location)) = &line.function else {
            return out.write_all(b"?");
        };
        let name = self.style.name(location);
        let name = self.look.fit(name, self.taken);
        out.write_all(name.as_bytes())?;
        // C's names are without brackets.
        if location.known && !name.contains('(') {
            out.write_all(b"()")?;
        }
        match self.style.addresses && !location.module.is_empty() {
            true => write!(out, " [{address}]"),
            false => Ok(()),
        }
    }
}
