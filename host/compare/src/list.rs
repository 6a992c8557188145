//! `--list`: what there is.

use super::layout::wrap;
use anstyle::Style;
use heddle_lab::experiment::{Experiment, Mode};
use heddle_results::text::wait;
use std::time::Duration;

/// The experiments, one a paragraph.
pub fn text(experiments: &[Experiment], mode: Mode, width: Option<usize>) -> String {
    let mut text = String::new();
    let main = experiments
        .iter()
        .filter(|experiment| experiment.is_main())
        .count();
    if main > 0 && main < experiments.len() {
        let hint = format!(
            "{main} of {} are main: they run when none is named.",
            experiments.len()
        );
        text.push_str(&broken(&hint, width, 0));
    }
    let bold = Style::new().bold();
    for experiment in experiments {
        let (points, models) = (
            experiment.points(mode).len(),
            experiment.models().collect::<Vec<_>>(),
        );
        let cells = points * models.len();
        let takes = experiment
            .extent(mode)
            .expected_s
            .map_or_else(String::new, |seconds| {
                format!(", about {}", wait(Duration::from_secs_f64(seconds)))
            });
        let main = if experiment.is_main() { "main, " } else { "" };
        let head = format!(
            "{}  {main}{}workload {}, {cells} cells{takes}: {}",
            experiment.id,
            suite(experiment),
            experiment.workload,
            experiment.title
        );
        let head = broken(&head, width, 2);
        let id = format!("{bold}{}{bold:#}", experiment.id);
        text.push_str(&head.replacen(&experiment.id, &id, 1));
        text.push_str(&broken(&format!("    {}", models.join(", ")), width, 4));
    }
    text
}

fn suite(experiment: &Experiment) -> String {
    let suite = experiment.suite.as_ref();
    suite.map_or_else(String::new, |suite| format!("suite {suite}, "))
}

/// A line, or on a terminal as many as it takes.
fn broken(line: &str, width: Option<usize>, indent: usize) -> String {
    match width {
        Some(width) => wrap(line, width, indent).join("\n") + "\n",
        None => format!("{line}\n"),
    }
}
