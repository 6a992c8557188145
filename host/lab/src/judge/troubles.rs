//! What went wrong with samples, a sentence for each way in which it did.

use super::cells::{Judged, label};
use super::sentences::list;
use crate::experiment::Experiment;
use heddle_results::{Sample, Status};

/// One way in which samples of one cell went wrong.
struct Trouble<'a> {
    model: &'a str,
    /// Where in the sweep; empty if nothing is swept.
    place: String,
    verb: &'static str,
    failed: usize,
    taken: usize,
    detail: &'a str,
    given_up: bool,
}

impl Trouble<'_> {
    /// Whether one sentence does for both.
    fn like(&self, other: &Self) -> bool {
        (self.verb, self.given_up) == (other.verb, other.given_up)
            && gist(self.detail).eq(gist(other.detail))
    }
}

/// How it ended, to the letter; of what it wrote then only the words that name no file and no
/// number: a file of its own, an address or a time makes no other trouble.
fn gist(detail: &str) -> impl Iterator<Item = &str> {
    let (end, written) = detail.split_once("; stderr:").unwrap_or((detail, ""));
    let general = |word: &&str| !word.contains(|c: char| c == '/' || c.is_ascii_digit());
    std::iter::once(end).chain(written.split_whitespace().filter(general))
}

/// The sentences of an experiment. Cells in which the same happened share one: `thread ×12, first
/// at n=2: 36 of 36 samples crashed: …`.
pub fn troubles(experiment: &Experiment, cells: &[Judged]) -> Vec<String> {
    let mut groups: Vec<Vec<Trouble>> = Vec::new();
    for trouble in cells.iter().flat_map(of_cell) {
        match groups.iter_mut().find(|group| group[0].like(&trouble)) {
            Some(group) => group.push(trouble),
            None => groups.push(vec![trouble]),
        }
    }
    let id = &experiment.id;
    let mut sentences: Vec<String> = groups
        .iter()
        .map(|group| format!("{id}: {}", sentence(group)))
        .collect();
    sentences.extend(without_ratio(experiment, cells));
    sentences
}

fn of_cell<'a>(judged: &Judged<'a>) -> Vec<Trouble<'a>> {
    let cell = judged.cell;
    let trouble = |(status, verb)| {
        let bad = |sample: &&Sample| sample.status == status;
        let first = cell.samples.iter().find(bad)?;
        Some(Trouble {
            model: &cell.model,
            place: label(&cell.point),
            verb,
            failed: cell.samples.iter().filter(bad).count(),
            taken: cell.samples.len(),
            detail: first.detail.as_deref().unwrap_or("no detail"),
            given_up: cell.given_up(),
        })
    };
    [
        (Status::Wrong, "had a wrong result"),
        (Status::Hung, "hung"),
        (Status::Crashed, "crashed"),
        (Status::Garbage, "printed garbage"),
    ]
    .into_iter()
    .filter_map(trouble)
    .collect()
}

/// `thread at n=2: 3 of 3 samples crashed: …; no more were taken`.
fn sentence(group: &[Trouble]) -> String {
    let Some(first) = group.first() else {
        return String::new();
    };
    let at = match (group.len(), first.place.is_empty()) {
        (_, true) => String::new(),
        (1, false) => format!(" at {}", first.place),
        (_, false) => format!(", first at {}", first.place),
    };
    let mut models: Vec<(&str, usize)> = Vec::new();
    for trouble in group {
        match models.iter_mut().find(|(model, _)| *model == trouble.model) {
            Some((_, cells)) => *cells += 1,
            None => models.push((trouble.model, 1)),
        }
    }
    let who: Vec<String> = models
        .iter()
        .map(|(model, cells)| match cells {
            1 => (*model).to_owned(),
            cells => format!("{model} ×{cells}"),
        })
        .collect();
    let sum = |count: fn(&Trouble) -> usize| group.iter().map(count).sum::<usize>();
    let given_up = if first.given_up {
        "; no more were taken"
    } else {
        ""
    };
    format!(
        "{}{at}: {} of {} samples {}: {}{given_up}",
        list(&who),
        sum(|trouble| trouble.failed),
        sum(|trouble| trouble.taken),
        first.verb,
        first.detail
    )
}

/// Cells whose samples were good and say nothing that could be compared.
fn without_ratio(experiment: &Experiment, cells: &[Judged]) -> Vec<String> {
    let (id, metric) = (&experiment.id, &experiment.metric.name);
    let sentence = |judged: &Judged| {
        let at = match label(&judged.cell.point) {
            place if place.is_empty() => place,
            place => format!(" at {place}"),
        };
        let model = &judged.cell.model;
        format!(
            "{id}: {model}{at}: {metric} is not above 0 in every sample, so there is no ratio to other models"
        )
    };
    cells
        .iter()
        .filter(|judged| judged.sound().is_some_and(|found| !found.positive))
        .map(sentence)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crash(model: &'static str, place: &str, detail: &'static str) -> Trouble<'static> {
        Trouble {
            model,
            place: place.into(),
            verb: "crashed",
            failed: 3,
            taken: 3,
            detail,
            given_up: true,
        }
    }

    #[test]
    fn cells_in_which_the_same_happened_share_a_sentence() {
        let one = crash("thread", "n=2", "killed by SIGSEGV");
        let text = "thread at n=2: 3 of 3 samples crashed: killed by SIGSEGV; no more were taken";
        assert_eq!(sentence(&[one]), text);

        let several = ["n=2", "n=4"].map(|place| crash("thread", place, "exit code 1"));
        let mut several = Vec::from(several);
        several.push(crash("fiber/asm", "n=4", "exit code 1"));
        assert_eq!(
            sentence(&several),
            "thread ×2 and fiber/asm, first at n=2: 9 of 9 samples crashed: exit code 1; no more were taken"
        );
        assert!(several[0].like(&several[2]));
        assert!(!several[0].like(&crash("thread", "n=2", "exit code 2")));
        let of_file = |file| crash("thread", "n=2", file);
        let (one, other) = (
            of_file("exit code 1; stderr: error: /tmp/a.x1: No such file"),
            of_file("exit code 1; stderr: error: /tmp/b.x2: No such file"),
        );
        assert!(one.like(&other));
        assert!(!one.like(&of_file(
            "exit code 1; stderr: error: /tmp/a.x1: Is a directory"
        )));
    }
}
