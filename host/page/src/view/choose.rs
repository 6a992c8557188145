//! The form that asks what the work is like: the measured places, for the page's script, which
//! chooses among them as [`heddle_results::find_near`] does.

use super::anchors::{Places, place_anchor};
use heddle_results::text::{count, quantity};
use heddle_results::{AS_NEAR, FARTHEST, MOST_NEAR, Near, Report, WaitsOn, known_places};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Choose {
    /// What strands wait for anywhere in the report; empty: no place says what its work is like.
    waits: Vec<Waits>,
    /// The places and the rule's numbers, as JSON without `<`.
    data: String,
}

#[derive(Serialize)]
struct Waits {
    value: WaitsOn,
    words: &'static str,
}

#[derive(Serialize)]
struct Data<'a> {
    most: usize,
    as_near: f64,
    farthest: f64,
    places: Vec<Measured<'a>>,
}

/// A place and what is said of it.
#[derive(Serialize)]
struct Measured<'a> {
    waits_on: WaitsOn,
    alive: f64,
    /// None: it says nothing of time.
    work_ns: Option<f64>,
    /// Its metric is a size.
    bytes: bool,
    kinds: Vec<&'a str>,
    name: String,
    ahead: String,
    behind: String,
    /// Both numbers, for people.
    said: [String; 2],
    anchor: String,
}

impl Choose {
    pub(super) fn new(report: &Report, places: &Places) -> serde_json::Result<Self> {
        let all: Vec<Near> = known_places(report).collect();
        let data = Data {
            most: MOST_NEAR,
            as_near: AS_NEAR,
            farthest: FARTHEST,
            places: all.iter().map(|near| Measured::new(near, places)).collect(),
        };
        let waits = [
            (WaitsOn::Io, "I/O: devices, sockets, other machines"),
            (WaitsOn::Locks, "each other: locks, semaphores, messages"),
            (WaitsOn::Nothing, "nothing: they compute"),
        ];
        let met =
            |(value, _): &(WaitsOn, &str)| all.iter().any(|near| near.like.waits_on == *value);
        Ok(Self {
            waits: (waits.into_iter().filter(met))
                .map(|(value, words)| Waits { value, words })
                .collect(),
            data: serde_json::to_string(&data)?.replace('<', "\\u003c"),
        })
    }
}

impl<'a> Measured<'a> {
    fn new(near: &Near<'a>, places: &Places) -> Self {
        let work = near.like.work_ns;
        Self {
            waits_on: near.like.waits_on,
            alive: near.like.alive,
            work_ns: work,
            bytes: near.experiment.metric.unit == "bytes",
            kinds: near.front(),
            name: near.name(),
            ahead: near.ahead(),
            behind: near.behind(),
            said: [
                count(near.like.alive),
                work.map_or_else(String::new, |work| quantity(work, "ns")),
            ],
            anchor: place_anchor(places, near.experiment, near.place).unwrap_or_default(),
        }
    }
}
