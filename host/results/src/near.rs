//! The measured places whose work is like what is asked, and what they say together. Nothing is
//! said of work beyond the smallest and the largest that was measured.

use crate::text::{count, interval, quantity, times};
use crate::{ExperimentReport, Like, Place, Report, WaitsOn, kind};

/// At most so many places are named.
pub const MOST_NEAR: usize = 3;
/// Others than the nearest are named where they are at most so many times as far away, as ratios.
pub const AS_NEAR: f64 = 4.0;

/// A nearest place that is farther away than this says nothing: it lies between what was measured,
/// but nothing was measured near.
pub const FARTHEST: f64 = 10.0;

/// What the work is like that a model is looked for.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Work {
    /// What its strands wait for.
    pub waits_on: WaitsOn,
    /// How many are alive.
    pub alive: f64,
    /// Processor time that one works between two waits, ns.
    pub work_ns: f64,
}

/// A measured place, and how far it is from what is asked.
#[derive(Clone, Copy)]
pub struct Near<'a> {
    /// Where it was measured.
    pub experiment: &'a ExperimentReport,
    /// Its place there.
    pub place: Place<'a>,
    /// What the work is like there.
    pub like: Like,
    /// How many times more or fewer are alive there, times how many times longer or shorter they
    /// work.
    pub factor: f64,
}

/// A respect in which the work lies beyond what was measured.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Beyond {
    /// `alive` or `work_ns`.
    pub respect: &'static str,
    /// What was asked.
    pub asked: f64,
    /// The smallest that was measured.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

/// What the report says of the work.
#[derive(Default)]
pub struct Found<'a> {
    /// By time: the nearest places, the nearest first. Empty where the work is beyond them.
    pub time: Vec<Near<'a>>,
    /// The kinds that are at the front at all of them.
    pub kinds: Vec<&'a str>,
    /// By memory: the nearest place.
    pub memory: Option<Near<'a>>,
    /// Why nothing is said of time.
    pub beyond: Vec<Beyond>,
    /// Whether any place with such waits was measured.
    pub any: bool,
}

/// Looks for the work in a report.
pub fn find_near<'a>(report: &'a Report, work: Work) -> Found<'a> {
    let alike = known_places(report).filter(|near| near.like.waits_on == work.waits_on);
    let (times, others): (Vec<Near>, Vec<Near>) =
        alike.partition(|near| near.like.work_ns.is_some());
    let any = !times.is_empty() || !others.is_empty();
    let alive = |near: &Near| near.like.alive;
    let work_ns = |near: &Near| near.like.work_ns.unwrap_or(f64::NAN);

    let sizes = others
        .into_iter()
        .filter(|near| near.experiment.metric.unit == "bytes");
    let sizes: Vec<Near> = sizes.collect();
    let memory = match beyond("alive", work.alive, sizes.iter().map(alive)) {
        None => nearest(sizes, |near| apart(near.like.alive, work.alive))
            .into_iter()
            .next(),
        Some(_) => None,
    };
    let beyond: Vec<Beyond> = [
        beyond("alive", work.alive, times.iter().map(alive)),
        beyond("work_ns", work.work_ns, times.iter().map(work_ns)),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !beyond.is_empty() {
        return Found {
            memory,
            beyond,
            any,
            ..Found::default()
        };
    }
    let mut time = nearest(times, |near| {
        apart(near.like.alive, work.alive) * apart(work_ns(near), work.work_ns)
    });
    let farthest = time.first().map_or(1.0, |near| near.factor * AS_NEAR);
    time.retain(|near| near.factor <= farthest);
    time.truncate(MOST_NEAR);
    let near_enough = time.first().filter(|near| near.factor <= FARTHEST);
    let mut kinds: Vec<&str> = near_enough.map_or(Vec::new(), Near::front);
    kinds.retain(|own| time.iter().all(|near| near.front().contains(own)));
    Found {
        time,
        kinds,
        memory,
        beyond,
        any,
    }
}

impl<'a> Near<'a> {
    /// The kinds at the front, the best first.
    pub fn front(&self) -> Vec<&'a str> {
        let mut kinds: Vec<&str> = Vec::new();
        for model in &self.place.winner.models {
            let own = kind(model);
            if !kinds.contains(&own) {
                kinds.push(own);
            }
        }
        kinds
    }

    /// `b4-http, back-ends=4, connections=256: 256 alive, 4.01 µs between two waits`.
    pub fn name(&self) -> String {
        let mut parts = vec![self.experiment.id.clone()];
        if !self.place.group.label.is_empty() {
            parts.push(self.place.group.label.clone());
        }
        if let (Some(axis), Some(x)) = (&self.experiment.axis, self.place.winner.x) {
            parts.push(format!("{axis}={x}"));
        }
        let alive = count(self.like.alive);
        let work = self.like.work_ns.map_or_else(String::new, |work| {
            format!(", {} between two waits", quantity(work, "ns"))
        });
        format!("{}: {alive} alive{work}", parts.join(", "))
    }

    /// `best: event-loop/single 8.03 µs a request (95 % 7.91–8.12 µs), cooperative/*`.
    pub fn ahead(&self) -> String {
        let metric = &self.experiment.metric;
        let models = &self.place.winner.models;
        let median = models
            .first()
            .and_then(|best| self.place.cell(best)?.median);
        let value = median.map_or_else(String::new, |it| {
            let ends = interval(it.low, it.high, &metric.unit);
            format!(" {} (95 % {ends})", metric.reading(it.value))
        });
        let front = self.place.front();
        let (best, ties) = front
            .split_first()
            .map_or(("", &[][..]), |(best, ties)| (best.as_str(), ties));
        let ties: String = ties.iter().map(|tie| format!(", {tie}")).collect();
        format!("best: {best}{value}{ties}")
    }

    /// `behind: thread 2.93× (95 % 2.80–3.05), goroutine 1.52× (95 % 1.49–1.55)`; empty where
    /// nothing is.
    pub fn behind(&self) -> String {
        let one = |(name, model, _): (&str, &str, f64)| {
            let (ratio, _) = self.place.behind(model)?;
            let ends = interval(ratio.low, ratio.high, "");
            Some(format!("{name} {} (95 % {ends})", times(ratio.value)))
        };
        let all: Vec<String> = self.place.others().into_iter().filter_map(one).collect();
        match all.is_empty() {
            true => String::new(),
            false => format!("behind: {}", all.join(", ")),
        }
    }
}

/// The places of a report that say what the work is like, and at which something was found.
pub fn known_places(report: &Report) -> impl Iterator<Item = Near<'_>> {
    report.experiments.iter().flat_map(places)
}

fn places(experiment: &ExperimentReport) -> impl Iterator<Item = Near<'_>> {
    experiment.groups.iter().flat_map(move |group| {
        let winners = group
            .winners
            .iter()
            .filter(|winner| !winner.models.is_empty());
        winners.filter_map(move |winner| {
            Some(Near {
                experiment,
                place: Place { group, winner },
                like: winner.like?,
                factor: 1.0,
            })
        })
    })
}

fn nearest<'a>(mut places: Vec<Near<'a>>, factor: impl Fn(&Near) -> f64) -> Vec<Near<'a>> {
    for near in &mut places {
        near.factor = factor(near);
    }
    places.sort_by(|a, b| a.factor.total_cmp(&b.factor));
    places
}

/// How many times one is the other, at least 1.
fn apart(a: f64, b: f64) -> f64 {
    (a / b).max(b / a)
}

/// Whether what is asked lies outside of what was measured; not where nothing was.
fn beyond(
    respect: &'static str,
    asked: f64,
    measured: impl Iterator<Item = f64>,
) -> Option<Beyond> {
    let (least, most) = measured.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), one| {
        (least.min(one), most.max(one))
    });
    let outside = least <= most && !(least..=most).contains(&asked);
    outside.then_some(Beyond {
        respect,
        asked,
        least,
        most,
    })
}
