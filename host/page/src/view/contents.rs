//! The experiments by use: the page's contents, and the order in which they stand in it.

use super::answers::capital;
use heddle_results::Report;

/// Experiments that share a use.
pub(super) struct Chapter {
    /// Empty where experiments name no use and there are no others.
    pub(super) title: String,
    /// Their numbers in the report.
    pub(super) members: Vec<usize>,
}

/// The chapters in the order of their first answers, then as the experiments come. Within one, what
/// answers comes first.
pub(super) fn chapters(report: &Report) -> Vec<Chapter> {
    let order = |number: usize| {
        let answers = &report.experiments[number].answers;
        let first = answers
            .iter()
            .map(|answer| answer.order.unwrap_or(u32::MAX));
        (answers.is_empty(), first.min().unwrap_or(u32::MAX), number)
    };
    let mut chapters: Vec<Chapter> = Vec::new();
    let mut numbers: Vec<usize> = (0..report.experiments.len()).collect();
    numbers.sort_by_key(|number| order(*number));
    for number in numbers {
        let title = capital(&report.experiments[number].usage);
        match chapters.iter_mut().find(|chapter| chapter.title == title) {
            Some(chapter) => chapter.members.push(number),
            None => chapters.push(Chapter {
                title,
                members: vec![number],
            }),
        }
    }
    // What names no use comes last.
    chapters.sort_by_key(|chapter| chapter.title.is_empty());
    if chapters.len() > 1 {
        for chapter in chapters
            .iter_mut()
            .filter(|chapter| chapter.title.is_empty())
        {
            chapter.title = "Others".into();
        }
    }
    chapters
}
