//! The rows of the table that `heddle report` prints.

use crate::names::Length;
use heddle_calls::Stats;
use heddle_strands::Kind;
use heddle_symbols::without_return_type;
use heddle_trace_file::{Addr, ImageId, Nanos};
use std::collections::{BTreeSet, HashMap};

/// One row: a function, or a function on one thread.
#[derive(Clone, Debug)]
pub struct Row {
    /// The readable name.
    pub function: String,
    /// The same as people look at it.
    pub short: String,
    /// File name of its module.
    pub module: String,
    /// On which thread or strands, where rows are by them.
    pub group: Option<Group>,
    /// What its calls were given and gave back, where rows are by that.
    pub values: Option<Shown>,
    /// Who called, or from which source line, where rows are by that.
    pub from: Option<String>,
    /// Its calls.
    pub stats: Stats,
    /// One of its addresses, where that was kept: process, address, and when that meant it.
    pub place: Option<(usize, Addr, Nanos)>,
}

/// Arguments and result of calls, as text; `None`: they were not recorded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shown {
    pub arguments: Option<String>,
    pub result: Option<String>,
}

/// Whose calls are rows of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub process: ImageId,
    pub name: String,
    /// The text that stands for the group in the report.
    pub label: String,
    pub who: Who,
}

/// What a group is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The thread with this id.
    Thread(u32),
    /// So many strands of this kind and one name.
    Strands(Kind, u64),
}

/// What rows of calls are by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum By {
    Function,
    Thread,
    Strand,
    /// Arguments and results, where they were recorded
    Args,
    /// The function, and who called it
    Caller,
    /// The function, and the source line that called it
    Line,
    /// The module that functions are in
    Module,
}

impl By {
    /// What `csv` and `json` call [`Row::from`].
    pub fn from(self) -> Option<&'static str> {
        match self {
            By::Caller => Some("caller"),
            By::Line => Some("line"),
            _ => None,
        }
    }
}

/// The numbers, in the order of the columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Column {
    Calls,
    Total,
    #[value(name = "self")]
    Own,
    Min,
    Avg,
    Max,
    Function,
}

/// Columns that hold a time, with their names.
pub const TIMES: [(&str, Column); 5] = [
    ("total", Column::Total),
    ("self", Column::Own),
    ("min", Column::Min),
    ("avg", Column::Avg),
    ("max", Column::Max),
];

impl Row {
    /// The time in a column, if there is one: a function of which no call returned has no shortest.
    pub fn time(&self, column: Column) -> Option<Nanos> {
        match column {
            Column::Total => Some(self.stats.total),
            Column::Own => Some(self.stats.own),
            Column::Min => self.stats.min(),
            Column::Avg => self.stats.avg(),
            Column::Max => self.stats.max(),
            Column::Calls | Column::Function => None,
        }
    }

    /// The function with its values, if rows are by them.
    pub fn title(&self, length: Length) -> String {
        let mut title = match length {
            Length::Short => self.short.clone(),
            Length::Full => self.function.clone(),
        };
        if let Some(from) = &self.from {
            title += &format!("  <- {from}");
        }
        let Some(values) = &self.values else {
            return title;
        };
        if let Some(arguments) = &values.arguments {
            title += &format!(" {{{arguments}}}");
        }
        if let Some(result) = &values.result {
            title += &format!(" = {result}");
        }
        title
    }

    /// The same for people.
    pub fn shown(&self, column: Column) -> String {
        self.time(column)
            .map_or_else(|| "-".to_owned(), |time| time.to_string())
    }
}

/// Gives rows that would look the same in their group their whole names, but for the return type.
pub fn tell_apart(rows: &mut [Row]) {
    let mut names: HashMap<(Option<String>, String), BTreeSet<String>> = HashMap::new();
    let key = |row: &Row| {
        (
            row.group.as_ref().map(|group| group.label.clone()),
            row.short.clone(),
        )
    };
    for row in rows.iter() {
        names
            .entry(key(row))
            .or_default()
            .insert(row.function.clone());
    }
    for row in rows {
        if names.get(&key(row)).is_some_and(|all| all.len() > 1) {
            row.short = without_return_type(&row.function).to_owned();
        }
    }
}

/// Largest first, what has no such time last; functions by name. Equal rows stay in order of name.
pub fn sort(rows: &mut [Row], column: Column) {
    rows.sort_by(|a, b| {
        let by_number = match column {
            Column::Function => std::cmp::Ordering::Equal,
            Column::Calls => b.stats.calls.cmp(&a.stats.calls),
            time => b.time(time).cmp(&a.time(time)),
        };
        let name = |row: &Row| {
            let row = row.clone();
            (row.function, row.module, row.from, row.values)
        };
        by_number.then_with(|| name(a).cmp(&name(b)))
    });
}
