//! Where claims, statements and the samples of a cell stand in the page.
//!
//! An anchor that is folded up with an experiment begins with the experiment's and a `:` or `~`: so
//! the page's script knows what to open.

use super::{Link, slug};
use heddle_results::{ClaimReport, Compared, ExperimentReport, Kind, Place, Report, statements};
use std::collections::BTreeMap;

/// Where a claim's entry stands.
pub(super) fn anchor(claim: &ClaimReport, link: &Link) -> String {
    format!("{}:{}", link.anchor, slug(&claim.id))
}

/// Where the samples of a cell stand: by the numbers of its group, its series and its own.
pub(super) fn cell_anchor(link: &Link, [group, series, cell]: [usize; 3]) -> String {
    format!("{}~{group}.{series}.{cell}", link.anchor)
}

/// Where the samples of a model at a place stand, if it has a cell there.
pub(super) fn model_anchor(
    places: &Places,
    experiment: &ExperimentReport,
    place: Place,
    model: &str,
) -> Option<String> {
    let mut groups = experiment.groups.iter().enumerate();
    let (group, _) = groups.find(|(_, group)| std::ptr::eq(*group, place.group))?;
    let mut all = place.group.series.iter().enumerate();
    let (series, found) = all.find(|(_, series)| series.model == model)?;
    let cell = found
        .cells
        .iter()
        .position(|cell| cell.x == place.winner.x)?;
    Some(cell_anchor(places.link(experiment)?, [group, series, cell]))
}

/// Where the samples of the best model of a place stand.
pub(super) fn place_anchor(
    places: &Places,
    experiment: &ExperimentReport,
    place: Place,
) -> Option<String> {
    model_anchor(places, experiment, place, place.winner.models.first()?)
}

/// Where the samples of the cell with this name stand, if the experiment has it.
pub(super) fn compared_anchor(
    experiment: &ExperimentReport,
    link: &Link,
    name: &Compared,
) -> Option<String> {
    for (group, found) in experiment.groups.iter().enumerate() {
        for (series, found) in found.series.iter().enumerate() {
            let cells = &found.cells;
            let own = cells.iter().position(|cell| cell.point == name.point);
            if let (true, Some(cell)) = (found.model == name.model, own) {
                return Some(cell_anchor(link, [group, series, cell]));
            }
        }
    }
    None
}

/// Where the experiments of a report stand.
pub(super) struct Places<'a>(Vec<(&'a ExperimentReport, &'a Link)>);

impl<'a> Places<'a> {
    pub(super) fn new(report: &'a Report, links: &'a [Link]) -> Self {
        Self(report.experiments.iter().zip(links).collect())
    }

    /// The place of an experiment of this report.
    pub(super) fn link(&self, experiment: &ExperimentReport) -> Option<&'a Link> {
        let own = self
            .0
            .iter()
            .find(|(other, _)| std::ptr::eq(*other, experiment));
        own.map(|(_, link)| *link)
    }
}

/// Where statements stand: named by their first words, so that links stay valid from run to run.
pub(super) struct Anchors(BTreeMap<(String, String), String>);

/// So many words name a statement.
const NAMING: usize = 6;

impl Anchors {
    pub(super) fn new(report: &Report) -> Self {
        let mut anchors = BTreeMap::new();
        let mut used: BTreeMap<String, usize> = BTreeMap::new();
        let documents = statements(report);
        for statement in documents.iter().flat_map(|document| &document.statements) {
            let first: Vec<&str> = statement.words.split_whitespace().take(NAMING).collect();
            let name = format!("s-{}", slug(&first.join("-")).to_lowercase());
            let number = used
                .entry(name.clone())
                .and_modify(|number| *number += 1)
                .or_insert(1);
            let anchor = match number {
                1 => name,
                number => format!("{name}.{number}"),
            };
            anchors.insert(key(statement.document, statement.words), anchor);
        }
        Self(anchors)
    }

    /// The anchor of the statement that has these words.
    pub(super) fn of(&self, document: &str, words: &str) -> Option<String> {
        self.0.get(&key(document, words)).cloned()
    }

    /// Where the statement stands that a claim is a part of; nowhere if it is ours.
    pub(super) fn statement(&self, claim: &ClaimReport) -> Option<String> {
        let own = claim.kind == Kind::Claim;
        own.then(|| self.of(&claim.document, &claim.words))
            .flatten()
    }
}

/// White space does not tell words apart.
fn key(document: &str, words: &str) -> (String, String) {
    let words: Vec<&str> = words.split_whitespace().collect();
    (document.to_owned(), words.join(" "))
}
