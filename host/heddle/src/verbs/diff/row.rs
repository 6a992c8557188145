//! What became of a function from one run to another.

use super::crowd::Crowd;
use super::read::Calls;
use super::spread::{By, Change};
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
    /// Half of these calls took no longer; known to a sixteenth.
    pub median: [Option<Nanos>; 2],
    pub what: What,
}

/// In a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A call takes longer, or less.
    Slower,
    Faster,
    /// Most calls take longer and the average less, or the other way round: a few calls that take
    /// very long decide an average.
    Mixed,
    /// A call takes longer, or less, as those of the other functions do.
    AsOthers,
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
            What::Mixed => "mixed",
            What::AsOthers => "as others",
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
    fn new(
        function: &str,
        (before, after): (Option<&Calls>, Option<&Calls>),
        others: &Others,
    ) -> Self {
        let both = [before, after];
        let calls = both.map(|calls| calls.map_or(0, |calls| calls.calls));
        let each = both.map(|calls| calls?.spread.average());
        let what = match (before, after) {
            (None, _) => What::New,
            (_, None) => What::Gone,
            (Some(before), Some(after)) => match before.spread.change_to(&after.spread) {
                Change::Slower(by) if others.let_stand_out(before, after, by) => {
                    match each[1] >= each[0] {
                        true => What::Slower,
                        false => What::Mixed,
                    }
                }
                Change::Faster(by) if others.let_stand_out(before, after, by) => {
                    match each[1] <= each[0] {
                        true => What::Faster,
                        false => What::Mixed,
                    }
                }
                Change::Slower(_) | Change::Faster(_) if calls[0] == calls[1] => What::AsOthers,
                _ if calls[1] > calls[0] => What::More,
                _ if calls[1] < calls[0] => What::Fewer,
                Change::Few => What::Unknown,
                _ => What::Noise,
            },
        };
        Row {
            function: function.to_owned(),
            calls,
            own: both.map(|calls| calls.map_or(Nanos(0), |calls| calls.own)),
            each,
            median: both.map(|calls| calls?.spread.median()),
            what,
        }
    }

    /// By how much the time changed, in ns.
    pub fn change(&self) -> i128 {
        i128::from(self.own[1].0) - i128::from(self.own[0].0)
    }

    /// The same in percent of what it was.
    pub fn percent(&self) -> Option<f64> {
        percent(self.own)
    }

    /// By how much the average call changed, in percent of what it was.
    pub fn each_percent(&self) -> Option<f64> {
        let [before, after] = self.each;
        percent([before?, after?])
    }

    /// The change that is no noise and makes the program slower; a new function's is without
    /// bounds. Of a function that has more calls, it is their number: how long each took is noise,
    /// and may be that of the whole run. Of one whose calls take longer, it is the greater of the
    /// two changes that are printed.
    pub fn slower_by(&self) -> Option<SlowerBy> {
        match self.what {
            What::Slower => {
                let [all, each] = [self.percent(), self.each_percent()]
                    .map(|percent| percent.unwrap_or(f64::INFINITY));
                Some(match each >= all {
                    true => SlowerBy::Each(each),
                    false => SlowerBy::All(all),
                })
            }
            What::More => {
                let [before, after] = self.calls.map(|calls| calls as f64);
                Some(SlowerBy::Calls((after - before) * 100.0 / before))
            }
            What::New => Some(SlowerBy::All(f64::INFINITY)),
            _ => None,
        }
    }
}

/// What of a function makes the program slower, and by how much, in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlowerBy {
    /// The average call.
    Each(f64),
    /// The time of all calls.
    All(f64),
    /// The number of calls.
    Calls(f64),
}

impl SlowerBy {
    pub fn percent(self) -> f64 {
        match self {
            SlowerBy::Each(percent) | SlowerBy::All(percent) | SlowerBy::Calls(percent) => percent,
        }
    }
}

fn percent([before, after]: [Nanos; 2]) -> Option<f64> {
    let change = i128::from(after.0) - i128::from(before.0);
    (before.0 > 0).then(|| change as f64 * 100.0 / before.0 as f64)
}

/// How functions moved that are in both runs.
pub struct Others {
    ranks: Option<Crowd>,
    means: Option<Crowd>,
}

impl Others {
    fn new(before: &BTreeMap<String, Calls>, after: &BTreeMap<String, Calls>) -> Self {
        let crowd = |by: By| {
            let moved = before.iter().filter_map(|(name, before)| {
                let after = after.get(name)?;
                let are_steady = before.spread.is_steady() && after.spread.is_steady();
                are_steady.then(|| before.spread.moved_to(&after.spread, by))
            });
            Crowd::new(moved)
        };
        Others {
            ranks: crowd(By::Ranks),
            means: crowd(By::Means),
        }
    }

    /// Whether a function's calls changed by more than those of the others; so it is where the
    /// others are too few to tell.
    fn let_stand_out(&self, before: &Calls, after: &Calls, by: By) -> bool {
        let crowd = match by {
            By::Ranks => self.ranks,
            By::Means => self.means,
        };
        let moved = before.spread.moved_to(&after.spread, by);
        crowd.is_none_or(|crowd| crowd.lets_stand_out(moved))
    }

    /// How most calls of most functions moved, if there are enough to tell.
    pub fn most(&self) -> Option<Crowd> {
        self.ranks
    }
}

/// A row a function, those first whose time changed most; and how functions moved.
pub fn rows(
    before: &BTreeMap<String, Calls>,
    after: &BTreeMap<String, Calls>,
) -> (Vec<Row>, Others) {
    let others = Others::new(before, after);
    let new = after.keys().filter(|name| !before.contains_key(*name));
    let names = before.keys().chain(new);
    let mut rows: Vec<Row> = names
        .map(|name| Row::new(name, (before.get(name), after.get(name)), &others))
        .collect();
    rows.sort_by(|a, b| {
        let size = |row: &Row| row.change().unsigned_abs();
        size(b)
            .cmp(&size(a))
            .then_with(|| a.function.cmp(&b.function))
    });
    (rows, others)
}
