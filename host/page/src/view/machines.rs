//! Runs of several machines side by side: a column each. Nothing is computed from values of two
//! machines.

use super::answers::{capital, percent};
use super::claim::Word;
use super::environment::facts;
use super::{Model, environment};
use crate::palette::{self, Palette};
use crate::{Error, Side};
use heddle_results::text::{interval, measured, times};
use heddle_results::{
    ClaimReport, Entry, Kind, Report, Row, Statement, family, rows_side_by_side,
    statements_side_by_side,
};
use minijinja::context;
use serde::Serialize;
use std::collections::BTreeSet;

/// Families behind the best that are named in a cell.
const NAMED: usize = 3;

/// A machine at the head of its column.
#[derive(Serialize)]
struct Head {
    name: String,
    page: String,
    facts: Vec<(&'static str, String)>,
    /// The share of the processors that others used; empty: too little to tell.
    busy: String,
    notes: Vec<String>,
}

/// A use, or a place of a sweep.
#[derive(Serialize)]
struct Line {
    title: String,
    label: String,
    /// What the machines have in common, or that they have nothing.
    everywhere: String,
    cells: Vec<Cell>,
}

/// The answer of one machine.
#[derive(Serialize)]
struct Cell {
    front: Vec<Model>,
    value: String,
    each: String,
    others: Vec<Other>,
    /// Why there is no best.
    nothing: &'static str,
}

/// The best of a family that is behind.
#[derive(Serialize)]
struct Other {
    model: Model,
    times: String,
    interval: String,
}

/// A statement or a question with each machine's verdict.
#[derive(Serialize)]
struct Judged {
    words: String,
    /// Where it was said; of a question, its experiment.
    place: String,
    /// Not all machines that judged it have one verdict.
    differs: bool,
    verdicts: Vec<Option<Verdict>>,
}

#[derive(Serialize)]
struct Verdict {
    word: Word,
    value: String,
}

pub(crate) fn page(sides: &[Side]) -> Result<String, Error> {
    let models = sides.iter().flat_map(|side| super::models(side.report));
    let models: BTreeSet<String> = models.map(str::to_owned).collect();
    let palette = Palette::assign(models.iter().map(String::as_str));
    let head = |side: &Side| Head {
        name: side.name.to_owned(),
        page: side.page.to_owned(),
        facts: facts(side.report),
        busy: side.report.busy.map(percent).unwrap_or_default(),
        notes: side.report.notes.clone(),
    };
    let version = sides.first().map(|side| side.report.version.as_str());
    let page = environment(models)?
        .get_template("machines.html")?
        .render(context! {
            machines => sides.iter().map(head).collect::<Vec<_>>(),
            lines => lines(sides, &palette),
            statements => of_sources(sides),
            questions => of_ours(sides),
            version => version.unwrap_or_default(),
            shapes => palette::SHAPES,
            palette => palette::css(),
        })?;
    Ok(page)
}

fn lines(sides: &[Side], palette: &Palette) -> Vec<Line> {
    let reports: Vec<&Report> = sides.iter().map(|side| side.report).collect();
    let line = |own: Vec<Option<Row>>| {
        let first = own.iter().flatten().next()?;
        let usage = capital(&first.experiment.usage);
        let (title, label) = match usage.is_empty() {
            true => (first.label.clone(), String::new()),
            false => (usage, first.label.clone()),
        };
        Some(Line {
            title,
            label,
            everywhere: everywhere(&own),
            cells: own.iter().map(|row| cell(row.as_ref(), palette)).collect(),
        })
    };
    let all = rows_side_by_side(&reports).into_iter();
    all.filter_map(line).collect()
}

/// The families that no machine can tell from its best.
fn everywhere(own: &[Option<Row>]) -> String {
    let places = own.iter().flatten().filter_map(|row| row.place);
    let fronts: Vec<BTreeSet<&str>> = places
        .map(|place| place.winner.models.iter().map(|it| family(it)).collect())
        .filter(|front: &BTreeSet<&str>| !front.is_empty())
        .collect();
    let Some((first, others)) = fronts.split_first() else {
        return String::new();
    };
    if others.is_empty() {
        return String::new();
    }
    let common = first
        .iter()
        .filter(|name| others.iter().all(|it| it.contains(*name)));
    match common.copied().collect::<Vec<_>>().join(", ") {
        names if names.is_empty() => "no family is best on all".into(),
        names => format!("best on all: {names}"),
    }
}

fn cell(row: Option<&Row>, palette: &Palette) -> Cell {
    let mut cell = Cell {
        front: Vec::new(),
        value: String::new(),
        each: String::new(),
        others: Vec::new(),
        nothing: "not measured",
    };
    let Some((row, place)) = row.and_then(|row| Some((row, row.place?))) else {
        return cell;
    };
    cell.nothing = "no sound result, or too few samples";
    let Some(best) = place.winner.models.first() else {
        return cell;
    };
    let metric = &row.experiment.metric;
    let median = place.cell(best).and_then(|cell| cell.median);
    let other = |(_, model, _): (&str, &str, f64)| {
        let (ratio, _) = place.behind(model)?;
        Some(Other {
            model: Model::new(model, palette),
            times: times(ratio.value),
            interval: interval(ratio.low, ratio.high, ""),
        })
    };
    let front = place.front();
    Cell {
        front: front
            .iter()
            .map(|name| Model::of_front(name, palette))
            .collect(),
        value: median.map_or_else(String::new, |it| measured(it, &metric.unit)),
        each: metric.short(),
        others: place
            .others()
            .into_iter()
            .take(NAMED)
            .filter_map(other)
            .collect(),
        nothing: "",
    }
}

/// The statements that any machine could judge, with the verdicts of all.
fn of_sources(sides: &[Side]) -> Vec<Judged> {
    let reports: Vec<&Report> = sides.iter().map(|side| side.report).collect();
    let all = statements_side_by_side(&reports).into_iter();
    let judged = all.filter_map(|own| {
        let first = own.iter().flatten().next()?;
        let verdict = |statement: &Option<Statement>| {
            let entry = Entry::of_statement(statement.as_ref()?)?;
            Verdict::new(entry.verdict, Kind::Claim, entry.claim.value())
        };
        let verdicts = own.iter().map(verdict).collect();
        Some(Judged::new(first.words, first.document, verdicts))
    });
    sorted(judged)
}

/// The same of our questions.
fn of_ours(sides: &[Side]) -> Vec<Judged> {
    let mut all: Vec<(&str, &ClaimReport)> = Vec::new();
    let every = sides.iter().flat_map(|side| claims(side.report));
    for (id, claim) in every.filter(|(_, claim)| claim.kind == Kind::Question) {
        let same = |other: &&(&str, &ClaimReport)| other.0 == id && other.1.id == claim.id;
        if !all.iter().any(|other| same(&other)) {
            all.push((id, claim));
        }
    }
    let judged = all.into_iter().map(|(id, claim)| {
        let verdict = |side: &Side| {
            let mut own = claims(side.report);
            let (_, own) = own.find(|own| own.0 == id && own.1.id == claim.id)?;
            Verdict::new(own.verdict, own.kind, own.value())
        };
        Judged::new(&claim.words, id, sides.iter().map(verdict).collect())
    });
    sorted(judged)
}

/// All claims with their experiments' ids.
fn claims(report: &Report) -> impl Iterator<Item = (&str, &ClaimReport)> {
    report.experiments.iter().flat_map(|experiment| {
        let claims = experiment.claims.iter();
        claims.map(move |claim| (experiment.id.as_str(), claim))
    })
}

/// Where machines differ, there is something to learn of them: that comes first. What none could
/// judge is left out.
fn sorted(judged: impl Iterator<Item = Judged>) -> Vec<Judged> {
    let any = |it: &Judged| it.verdicts.iter().any(Option::is_some);
    let mut judged: Vec<Judged> = judged.filter(any).collect();
    judged.sort_by_key(|it| !it.differs);
    judged
}

impl Judged {
    fn new(words: &str, place: &str, verdicts: Vec<Option<Verdict>>) -> Self {
        let known: BTreeSet<&str> = verdicts.iter().flatten().map(|it| it.word.word()).collect();
        Self {
            words: words.to_owned(),
            place: place.to_owned(),
            differs: known.len() > 1,
            verdicts,
        }
    }
}

impl Verdict {
    fn new(verdict: heddle_results::Verdict, kind: Kind, value: &str) -> Option<Self> {
        (verdict != heddle_results::Verdict::Skipped).then(|| Self {
            word: Word::new(verdict, kind),
            value: value.to_owned(),
        })
    }
}
