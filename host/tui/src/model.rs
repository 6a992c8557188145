//! What the trace says. Times are nanoseconds.

use heddle_view::{Data, Head, StrandKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything that is shown; a part is `None` until it has been read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Model {
    /// The whole trace.
    pub head: Head,
    /// What is in front of strands' numbers of each process: `4711`, `4711.1`.
    pub processes: Vec<String>,
    /// Every function.
    pub functions: Option<Vec<Function>>,
    /// The calls within one another.
    pub graph: Option<Graph>,
    /// The strands, each below its maker.
    pub strands: Option<Strands>,
    /// The longest calls, pauses and runs, and sums of the others.
    pub timeline: Option<Data>,
    /// The options by which calls are left out; empty: none is.
    #[serde(skip)]
    pub filter: String,
    /// Changes with the functions.
    #[serde(skip)]
    pub version: u32,
    /// What is being read now; `None`: nothing more.
    #[serde(skip)]
    pub reading: Option<Reading>,
    /// The life of the strand that was asked for last.
    #[serde(skip)]
    pub life: Option<Life>,
    /// Source files by path; `None`: there is none that can be read.
    #[serde(skip)]
    pub sources: BTreeMap<String, Option<Arc<Vec<String>>>>,
}

/// How far reading is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// What is being read: `functions`.
    pub what: String,
    /// How much of it.
    pub percent: u8,
}

/// A function's calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// The readable name, of the length that was asked for.
    pub name: String,
    /// File name of its module.
    pub module: String,
    /// How many calls.
    pub calls: u64,
    /// As in `heddle report`.
    pub total: u64,
    /// See [`Function::total`].
    pub own: u64,
    /// The shortest call that returned; `None` while there is none.
    pub min: Option<u64>,
    /// See [`Function::min`].
    pub avg: Option<u64>,
    /// See [`Function::min`].
    pub max: Option<u64>,
    /// Where it begins, if debug information tells.
    pub place: Option<Place>,
}

/// A line of a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The path, as the compiler was given it.
    pub file: String,
    /// From 1.
    pub line: u32,
}

/// The call graph: rows in order of a walk from each strand down, the longest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    /// Names of functions and strands.
    pub names: Vec<String>,
    /// See [`Graph`].
    pub rows: Vec<GraphRow>,
}

/// Calls of a function within the same calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphRow {
    /// Rows around it.
    pub depth: u32,
    /// Index of the name.
    pub name: u32,
    /// Calls, or strands.
    pub calls: u64,
    /// With callees.
    pub total: u64,
    /// Without them.
    pub own: u64,
    /// How many rows this one stands for that had no room; 0: it is a row itself.
    pub others: u64,
}

/// The strands: rows in order of a walk from each strand to those that it made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strands {
    /// Names, and what strands wait for.
    pub texts: Vec<String>,
    /// See [`Strands`].
    pub rows: Vec<StrandRow>,
    /// Strands that had no room for a row of their own; their groups' sums have them.
    pub unlisted: u64,
}

/// A strand, or several of one maker, kind and name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrandRow {
    /// Rows around it.
    pub depth: u32,
    /// What it is.
    pub kind: StrandKind,
    /// Index of its name.
    pub name: u32,
    /// Which it is; of a group, its first one.
    pub key: StrandKey,
    /// How many strands; more than 1: a group.
    pub count: u64,
    /// How many of them have ended.
    pub died: u64,
    /// Who made it, if that is known.
    pub parent: Option<u64>,
    /// When it was made.
    pub born: u64,
    /// When it ended, or was seen last.
    pub last: u64,
    /// How long it ran.
    pub running: u64,
    /// How long strands ran that it had resumed.
    pub children: u64,
    /// How long it was suspended.
    pub suspended: u64,
    /// How often it began or went on to run.
    pub runs: u64,
    /// Its calls.
    pub calls: u64,
    /// Index of what it does at the end of the trace: where it is suspended, what it waits for;
    /// [`LIVED`]: it has ended, or nothing is known.
    pub waits: u32,
}

/// Stands for the text of a strand that waits for nothing.
pub const LIVED: u32 = u32::MAX;

/// Which strand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StrandKey {
    /// Index of the process.
    pub process: u32,
    /// Its number there, from 1.
    pub number: u64,
}

/// What one strand did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Life {
    /// Whose.
    pub key: StrandKey,
    /// `None`: it is being read.
    pub rows: Option<Vec<LifeRow>>,
    /// How much has been read of what it is in.
    pub percent: u8,
}

/// A line of a life.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LifeRow {
    /// Columns before the text.
    pub indent: u16,
    /// How often, what, how long.
    pub text: String,
    /// The strand did not run.
    pub waits: bool,
}

impl LifeRow {
    /// The line on a screen of so many columns, which may have no room for all of it.
    pub fn line(&self, columns: usize) -> String {
        let indent = usize::from(self.indent).min(columns / 2);
        format!("{:indent$}{}", "", self.text)
    }

    /// How many columns that takes.
    pub fn width(&self, columns: usize) -> usize {
        usize::from(self.indent).min(columns / 2) + crate::text::width(&self.text)
    }
}

impl Model {
    /// What is to be seen of a strand's number: `12`, or `4711/12` where there are several
    /// processes.
    pub fn label(&self, key: StrandKey) -> String {
        match self.processes.get(key.process as usize) {
            Some(process) if self.processes.len() > 1 => format!("{process}/{}", key.number),
            _ => key.number.to_string(),
        }
    }

    /// Whether everything has been read.
    pub fn is_whole(&self) -> bool {
        self.functions.is_some()
            && self.graph.is_some()
            && self.strands.is_some()
            && self.timeline.is_some()
    }

    /// The function of this name; in this module, if it is given. O(functions).
    pub fn function(&self, name: &str, module: Option<&str>) -> Option<&Function> {
        let mut all = self.functions.iter().flatten();
        all.find(|function| {
            function.name == name && module.is_none_or(|module| function.module == module)
        })
    }
}
