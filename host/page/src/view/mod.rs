//! What the templates are given, and the page that they make of it. A file here for each part of
//! the page, with a template of the same name.

mod anchors;
mod answers;
mod choose;
mod claim;
mod contents;
mod environment;
mod experiment;
mod flow;
mod head;
mod kinds;
mod ledger;
mod machines;
mod map;
mod open;
mod time;
mod told;
mod winners;
mod words;

pub(crate) use machines::page as of_machines;

use crate::palette::{self, Look, Palette};
use crate::{Error, raw};
use heddle_results::Report;
use minijinja::{Environment, UndefinedBehavior, context};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A model's name and how it looks.
#[derive(Serialize)]
struct Model {
    name: String,
    look: Look,
}

impl Model {
    fn new(name: &str, palette: &Palette) -> Self {
        Self {
            name: name.to_string(),
            look: palette.look(name),
        }
    }

    /// A model at the front, or all variants of a family: `cooperative/*`.
    fn of_front(name: &str, palette: &Palette) -> Self {
        match name.strip_suffix("/*") {
            Some(family) => Self {
                name: name.to_owned(),
                look: palette.look_of_family(family),
            },
            None => Self::new(name, palette),
        }
    }
}

/// An experiment's place in the page.
#[derive(Clone, Serialize)]
struct Link {
    id: String,
    title: String,
    anchor: String,
}

/// The whole page.
pub(crate) fn page(report: &Report, raw_jsonl: &str) -> Result<String, Error> {
    let palette = Palette::assign(models(report));
    let links = links(report);
    let places = anchors::Places::new(report, &links);
    let anchors = anchors::Anchors::new(report);
    let section = |number: usize| {
        let (experiment, link) = (report.experiments.get(number)?, links.get(number)?);
        Some(experiment::Section::new(
            experiment, link, &anchors, &palette,
        ))
    };
    let chapters: Vec<_> = contents::chapters(report)
        .into_iter()
        .enumerate()
        .map(|(number, chapter)| Chapter {
            anchor: format!("use-{}", number + 1),
            title: chapter.title,
            experiments: chapter.members.into_iter().filter_map(section).collect(),
        })
        .collect();
    let families = palette.families().map(|family| Model {
        name: family.to_owned(),
        look: palette.look_of_family(family),
    });
    let page = environment(models(report).map(str::to_owned).collect())?
        .get_template("page.html")?
        .render(context! {
            head => head::Head::new(report),
            answers => answers::Answers::new(report, &places, &palette),
            choose => choose::Choose::new(report, &places).map_err(std::io::Error::from)?,
            told => told::quoted(report, &anchors),
            open => open::Open::of_statements(report, &anchors),
            ledger => ledger::Ledger::new(report, &links, &anchors),
            families => families.collect::<Vec<_>>(),
            chapters => chapters,
            environment => environment::Environment::new(report),
            raw => raw::for_script(raw_jsonl)?,
            raw_lines => raw_jsonl.lines().filter(|line| !line.trim().is_empty()).count(),
            words => words::words(models(report).collect::<Vec<_>>().into_iter()),
            shapes => palette::SHAPES,
            palette => palette::css(),
        })?;
    Ok(page)
}

/// Experiments of one use.
#[derive(Serialize)]
struct Chapter {
    anchor: String,
    title: String,
    experiments: Vec<experiment::Section>,
}

/// The templates and the files that they include.
const FILES: [(&str, &str); 26] = [
    ("page.html", include_str!("../../templates/page.html")),
    ("macros.html", include_str!("../../templates/macros.html")),
    ("shapes.html", include_str!("../../templates/shapes.html")),
    (
        "machines.html",
        include_str!("../../templates/machines.html"),
    ),
    ("machines.css", include_str!("../../templates/machines.css")),
    (
        "contents.html",
        include_str!("../../templates/contents.html"),
    ),
    ("head.html", include_str!("../../templates/head.html")),
    ("answers.html", include_str!("../../templates/answers.html")),
    ("choose.html", include_str!("../../templates/choose.html")),
    ("choose.js", include_str!("../../templates/choose.js")),
    ("told.html", include_str!("../../templates/told.html")),
    ("winners.html", include_str!("../../templates/winners.html")),
    ("map.html", include_str!("../../templates/map.html")),
    ("words.html", include_str!("../../templates/words.html")),
    ("ledger.html", include_str!("../../templates/ledger.html")),
    ("claims.html", include_str!("../../templates/claims.html")),
    (
        "experiment.html",
        include_str!("../../templates/experiment.html"),
    ),
    ("numbers.html", include_str!("../../templates/numbers.html")),
    ("times.html", include_str!("../../templates/times.html")),
    (
        "environment.html",
        include_str!("../../templates/environment.html"),
    ),
    ("style.css", include_str!("../../templates/style.css")),
    ("first.css", include_str!("../../templates/first.css")),
    ("print.css", include_str!("../../templates/print.css")),
    ("fold.js", include_str!("../../templates/fold.js")),
    ("filter.js", include_str!("../../templates/filter.js")),
    ("samples.js", include_str!("../../templates/samples.js")),
];

fn environment(models: BTreeSet<String>) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.add_filter("flow", move |text: String| flow::flow(&text, &models));
    for (name, source) in FILES {
        environment.add_template(name, source)?;
    }
    Ok(environment)
}

/// Verdict sentences as they stand beside the experiment's title: without its id, `-O2: threads win
/// …`.
fn sentences(experiment: &heddle_results::ExperimentReport) -> Vec<String> {
    let short = |verdict: &String| {
        let rest = verdict.strip_prefix(&experiment.id);
        let rest = rest.and_then(|rest| rest.strip_prefix(": ").or(rest.strip_prefix(", ")));
        rest.unwrap_or(verdict).to_owned()
    };
    experiment.verdicts.iter().map(short).collect()
}

/// Every model that is named anywhere.
fn models(report: &Report) -> impl Iterator<Item = &str> {
    report.experiments.iter().flat_map(|experiment| {
        let series = experiment
            .groups
            .iter()
            .flat_map(|group| &group.series)
            .map(|series| series.model.as_str());
        series
            .chain(
                experiment
                    .skipped
                    .iter()
                    .map(|skipped| skipped.model.as_str()),
            )
            .chain(experiment.commands.keys().map(String::as_str))
    })
}

/// Titles and anchors; an anchor is the id, so that links stay valid from run to run, and no two
/// are equal.
fn links(report: &Report) -> Vec<Link> {
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    let link = |experiment: &heddle_results::ExperimentReport| {
        let slug = slug(&experiment.id);
        let number = used
            .entry(slug.clone())
            .and_modify(|number| *number += 1)
            .or_insert(1);
        let anchor = if *number == 1 {
            format!("e-{slug}")
        } else {
            format!("e-{slug}.{number}")
        };
        let title = if experiment.title.is_empty() {
            experiment.id.clone()
        } else {
            experiment.title.clone()
        };
        Link {
            id: experiment.id.clone(),
            title,
            anchor,
        }
    };
    report.experiments.iter().map(link).collect()
}

/// An id as a part of an anchor.
fn slug(id: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    id.chars().map(|c| if plain(c) { c } else { '_' }).collect()
}
