//! The measured places whose work is like what is asked, and what they say together. Nothing is
//! said of work beyond the smallest and the largest that was measured.

use super::args::Work;
use heddle_results::{ExperimentReport, Like, Place, Report, kind};

/// At most so many places are named.
const MOST: usize = 3;
/// Others than the nearest are named where they are at most so many times as far away, as ratios.
const AS_NEAR: f64 = 4.0;

/// A nearest place that is farther away than this says nothing: it lies between what was measured,
/// but nothing was measured near.
pub const FARTHEST: f64 = 10.0;

/// A measured place, and how far it is from what is asked.
#[derive(Clone, Copy)]
pub struct Near<'a> {
    pub experiment: &'a ExperimentReport,
    pub place: Place<'a>,
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
    pub asked: f64,
    pub least: f64,
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
pub fn find<'a>(report: &'a Report, work: Work) -> Found<'a> {
    let places: Vec<Near> = report.experiments.iter().flat_map(places).collect();
    let alike = places
        .into_iter()
        .filter(|near| near.like.waits_on == work.waits_on);
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
    time.truncate(MOST);
    let near_enough = time.first().filter(|near| near.factor <= FARTHEST);
    let mut kinds: Vec<&str> = near_enough.map_or(Vec::new(), front);
    kinds.retain(|own| time.iter().all(|near| front(near).contains(own)));
    Found {
        time,
        kinds,
        memory,
        beyond,
        any,
    }
}

/// The kinds at the front of a place, the best first.
pub fn front<'a>(near: &Near<'a>) -> Vec<&'a str> {
    let mut kinds: Vec<&str> = Vec::new();
    for model in &near.place.winner.models {
        let own = kind(model);
        if !kinds.contains(&own) {
            kinds.push(own);
        }
    }
    kinds
}

/// The places of an experiment that say what the work is like, and at which something was found.
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
