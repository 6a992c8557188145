//! What became of a function from one run to another.

use super::read::Calls;
use super::spread::Change;
use heddle_trace_file::Nanos;
use std::collections::BTreeMap;

/// A function in both runs.
#[derive(Clone, Debug)]
pub struct Row {
    pub function: String,
    pub calls: [u64; 2],
    /// Time without callees.
    pub own: [Nanos; 2],
    /// The average of that, of calls that returned.
    pub each: [Option<Nanos>; 2],
    pub what: What,
}

/// In a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A call takes longer, or less.
    Slower,
    Faster,
    /// A call takes as long as before, as far as its calls tell; there are more, or fewer.
    More,
    Fewer,
    Noise,
    /// Too few calls to tell.
    Unknown,
    New,
    Gone,
}

impl What {
    /// The word that is printed for it.
    pub fn word(self) -> &'static str {
        match self {
            What::Slower => "slower",
            What::Faster => "faster",
            What::More => "more calls",
            What::Fewer => "fewer calls",
            What::Noise => "noise",
            What::Unknown => "few calls",
            What::New => "new",
            What::Gone => "gone",
        }
    }
}

impl Row {
    fn new(function: &str, before: Option<&Calls>, after: Option<&Calls>) -> Self {
        let both = [before, after];
        let calls = both.map(|calls| calls.map_or(0, |calls| calls.calls));
        let what = match (before, after) {
            (None, _) => What::New,
            (_, None) => What::Gone,
            (Some(before), Some(after)) => match before.spread.change_to(&after.spread) {
                Change::Slower => What::Slower,
                Change::Faster => What::Faster,
                _ if calls[1] > calls[0] => What::More,
                _ if calls[1] < calls[0] => What::Fewer,
                Change::Noise => What::Noise,
                Change::Few => What::Unknown,
            },
        };
        Row {
            function: function.to_owned(),
            calls,
            own: both.map(|calls| calls.map_or(Nanos(0), |calls| calls.own)),
            each: both.map(|calls| calls?.spread.mean().map(|mean| Nanos(mean.round() as u64))),
            what,
        }
    }

    /// By how much the time changed, in ns.
    pub fn change(&self) -> i128 {
        i128::from(self.own[1].0) - i128::from(self.own[0].0)
    }

    /// The same in percent of what it was.
    pub fn percent(&self) -> Option<f64> {
        (self.own[0].0 > 0).then(|| self.change() as f64 * 100.0 / self.own[0].0 as f64)
    }

    /// The change that is no noise and makes the program slower, in percent; a new function's is
    /// without bounds. Of a function that has more calls, it is their number: how long each took is
    /// noise, and may be that of the whole run.
    pub fn slower_by(&self) -> Option<f64> {
        match self.what {
            What::Slower if self.change() > 0 => Some(self.percent().unwrap_or(f64::INFINITY)),
            What::More => {
                let [before, after] = self.calls.map(|calls| calls as f64);
                Some((after - before) * 100.0 / before)
            }
            What::New => Some(f64::INFINITY),
            _ => None,
        }
    }
}

/// A row a function, those first whose time changed most.
pub fn rows(before: &BTreeMap<String, Calls>, after: &BTreeMap<String, Calls>) -> Vec<Row> {
    let new = after.keys().filter(|name| !before.contains_key(*name));
    let names = before.keys().chain(new);
    let mut rows: Vec<Row> = names
        .map(|name| Row::new(name, before.get(name), after.get(name)))
        .collect();
    rows.sort_by(|a, b| {
        let size = |row: &Row| row.change().unsigned_abs();
        size(b)
            .cmp(&size(a))
            .then_with(|| a.function.cmp(&b.function))
    });
    rows
}
