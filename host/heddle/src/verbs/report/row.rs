//! The rows of the table that `heddle report` prints.

use heddle_calls::Stats;
use heddle_strands::Kind;
use heddle_trace_file::Nanos;

/// One row: a function, or a function on one thread.
#[derive(Clone, Debug)]
pub struct Row {
    /// The readable name.
    pub function: String,
    /// File name of its module.
    pub module: String,
    /// On which thread or strands, where rows are by them.
    pub group: Option<Group>,
    /// What its calls were given and gave back, where rows are by that.
    pub values: Option<Shown>,
    /// Its calls.
    pub stats: Stats,
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
    pub pid: u32,
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
    pub fn title(&self) -> String {
        let mut title = self.function.clone();
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

/// Largest first, what has no such time last; functions by name. Equal rows stay in order of name.
pub fn sort(rows: &mut [Row], column: Column) {
    rows.sort_by(|a, b| {
        let by_number = match column {
            Column::Function => std::cmp::Ordering::Equal,
            Column::Calls => b.stats.calls.cmp(&a.stats.calls),
            time => b.time(time).cmp(&a.time(time)),
        };
        let name = |row: &Row| (row.function.clone(), row.module.clone(), row.values.clone());
        by_number.then_with(|| name(a).cmp(&name(b)))
    });
}
