//! What a comparison found, as text.

mod table;

use anstyle::{AnsiColor, Style};
use heddle_lab::experiment::{Experiment, Mode};
use heddle_results::text::wait;
use heddle_results::{ClaimReport, Coefficient, Report, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// Prints results; a reader who has closed the pipe has read enough.
pub fn print(text: &str) -> anyhow::Result<()> {
    use anyhow::Context;
    use std::io::Write;
    let mut stdout = anstream::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// What was left out, what went wrong, the claims, and last, where a terminal shows them, the verdict sentences.
pub fn of(report: &Report) -> String {
    let mut text = String::new();
    for note in &report.notes {
        line(&mut text, note);
    }
    let skipped = skipped(report);
    section(
        &mut text,
        "Skipped:",
        skipped
            .iter()
            .map(|(reason, who)| format!("{who}: {reason}")),
    );
    let troubles = report
        .experiments
        .iter()
        .flat_map(|experiment| experiment.troubles.iter().cloned());
    section(&mut text, "Trouble:", troubles);
    for experiment in &report.experiments {
        table::print(&mut text, experiment);
    }
    ledger(&mut text, report, "Claims", false);
    ledger(&mut text, report, "Goals", true);
    let verdicts = report
        .experiments
        .iter()
        .flat_map(|experiment| experiment.verdicts.iter().cloned());
    section(&mut text, "Verdicts:", verdicts);
    text.push('\n');
    text
}

/// The experiments, one a paragraph.
pub fn list(experiments: &[Experiment], mode: Mode) -> String {
    let mut text = String::new();
    let bold = Style::new().bold();
    for experiment in experiments {
        let (points, models) = (
            experiment.points(mode).len(),
            experiment.models().collect::<Vec<_>>(),
        );
        let cells = points * models.len();
        let takes = experiment
            .plan(mode)
            .expected_s
            .map_or_else(String::new, |seconds| {
                format!(", about {}", wait(Duration::from_secs_f64(seconds)))
            });
        line(
            &mut text,
            &format!(
                "{bold}{}{bold:#}  {}workload {}, {cells} cells{takes}: {}",
                experiment.id,
                suite(experiment),
                experiment.workload,
                experiment.title
            ),
        );
        line(&mut text, &format!("    {}", models.join(", ")));
    }
    text
}

fn suite(experiment: &Experiment) -> String {
    let suite = experiment.suite.as_ref();
    suite.map_or_else(String::new, |suite| format!("suite {suite}, "))
}

/// How many claims, or goals, came out how; then for each a line, what would settle it if it is open, and why it is so.
fn ledger(text: &mut String, report: &Report, title: &str, goal: bool) {
    let claims: Vec<&ClaimReport> = report
        .experiments
        .iter()
        .flat_map(|experiment| &experiment.claims)
        .filter(|claim| claim.goal == goal)
        .collect();
    if claims.is_empty() {
        return;
    }
    let all = [
        Verdict::Reproduced,
        Verdict::NotReproduced,
        Verdict::Inconclusive,
        Verdict::Skipped,
    ];
    let counts = all.iter().filter_map(|verdict| {
        let count = claims
            .iter()
            .filter(|claim| claim.verdict == *verdict)
            .count();
        (count > 0).then(|| format!("{count} {}", verdict.word(goal)))
    });
    line(
        text,
        &format!("\n{title}: {}", counts.collect::<Vec<_>>().join(", ")),
    );
    for claim in claims {
        let (word, style) = (claim.verdict.word(goal), style(claim.verdict));
        let bound = if goal { "wanted" } else { "claimed" };
        let found = if claim.ours.is_empty() {
            &claim.note
        } else {
            &claim.ours
        };
        line(
            text,
            &format!(
                "  {style}{word:<14}{style:#}  {}: {}: {found}; {bound} {}",
                claim.id, claim.computed, claim.bound
            ),
        );
        if !claim.coefficients.is_empty() {
            let one = |term: &Coefficient| format!("{} {}", term.name, term.text);
            let terms: Vec<String> = claim.coefficients.iter().map(one).collect();
            line(text, &format!("{INDENT}{}", terms.join(", ")));
        }
        if claim.verdict == Verdict::Inconclusive && !claim.ours.is_empty() {
            line(text, &format!("{INDENT}{}", claim.note));
        }
        if !claim.why.is_empty() {
            let quiet = Style::new().dimmed();
            line(text, &format!("{INDENT}{quiet}{}{quiet:#}", claim.why));
        }
    }
}

/// Under the claim's id.
const INDENT: &str = "                  ";

fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Reproduced => AnsiColor::Green.on_default(),
        Verdict::NotReproduced => AnsiColor::Red.on_default(),
        Verdict::Inconclusive => AnsiColor::Yellow.on_default(),
        Verdict::Skipped => Style::new().dimmed(),
    }
}

/// Reasons with who was left out for them; what the user left out needs no telling.
fn skipped(report: &Report) -> BTreeMap<String, String> {
    let mut reasons: BTreeMap<String, String> = BTreeMap::new();
    for experiment in &report.experiments {
        for skipped in experiment
            .skipped
            .iter()
            .filter(|skipped| skipped.reason != "left out by --model")
        {
            let who = reasons.entry(skipped.reason.clone()).or_default();
            let comma = if who.is_empty() { "" } else { ", " };
            let _ = write!(who, "{comma}{} in {}", skipped.model, experiment.id);
        }
    }
    reasons
}

fn section(text: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        line(text, &format!("\n{title}"));
        lines.for_each(|one| line(text, &format!("  {one}")));
    }
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
