//! The statements of the sources, our questions and our goals, each with what was computed, what
//! was found and why.

use super::printed::{self, sign};
use super::{INDENT, Wide, line};
use anstyle::{AnsiColor, Style};
use heddle_results::{
    ClaimReport, Coefficient, ExperimentReport, Kind, Part, Report, Statement, Tally, Verdict,
    statements, tables,
};
use std::collections::BTreeSet;

/// Of a whole report: the statements of the sources by document, then questions, then goals.
pub fn all(text: &mut String, report: &Report, wide: Wide) {
    let found = statements(report);
    if !found.is_empty() {
        let all = found.iter().flat_map(|document| &document.statements);
        let tally = Tally::of_statements(all).phrases("statement");
        text.push_str(&format!("\nClaims: {}\n", tally.join(", ")));
    }
    for document in &found {
        let tally = Tally::of_statements(&document.statements).phrases("");
        let title = match document.document {
            "" => "No document is named",
            title => title,
        };
        let head = format!("{title}: {}", tally.join(", "));
        text.push('\n');
        line(text, &head, wide, 2);
        for one in &document.statements {
            statement(text, one, wide);
        }
    }
    let claims = || {
        let experiments = report.experiments.iter();
        experiments.flat_map(|experiment| &experiment.claims)
    };
    for kind in [Kind::Question, Kind::Goal] {
        head(text, claims(), kind);
        for claim in claims().filter(|claim| claim.kind == kind) {
            verdict(text, claim.verdict, kind, &found_of(claim), wide);
            quiet(text, &claim.words, wide);
            rest(text, claim, wide);
        }
    }
}

/// Of one experiment: its claims, questions and goals.
pub fn of(text: &mut String, experiment: &ExperimentReport, wide: Wide) {
    for kind in Kind::ALL {
        let claims = || experiment.claims.iter().filter(|claim| claim.kind == kind);
        head(text, claims(), kind);
        for claim in claims() {
            verdict(text, claim.verdict, kind, &found_of(claim), wide);
            match kind {
                Kind::Claim => quiet(text, &format!("\"{}\"", claim.words), wide),
                Kind::Question | Kind::Goal => quiet(text, &claim.words, wide),
            }
            quiet(text, &claim.reading, wide);
            rest(text, claim, wide);
            printed::print(text, &tables(&[Part { experiment, claim }]), wide);
        }
    }
}

/// `Questions: 2 yes, 1 no`, if there are any.
fn head<'a>(text: &mut String, claims: impl Iterator<Item = &'a ClaimReport>, kind: Kind) {
    let tally = Tally::of_claims(kind, claims);
    let counts = Verdict::ALL.map(|verdict| (tally.count(verdict), verdict.word(kind)));
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let title = match kind {
        Kind::Claim => "Claims",
        Kind::Question => "Questions",
        Kind::Goal => "Goals",
    };
    if !counts.is_empty() {
        text.push_str(&format!("\n{title}: {}\n", counts.join(", ")));
    }
}

/// A statement's words and how they were read, then what each of its parts found, and its tables.
fn statement(text: &mut String, statement: &Statement, wide: Wide) {
    let several = statement.parts.len() > 1;
    let partly = statement
        .partly()
        .map_or_else(String::new, |partly| format!(" ({partly})"));
    let words = format!("\"{}\"{partly}", statement.words);
    verdict(text, statement.verdict(), Kind::Claim, &words, wide);
    let readings: BTreeSet<&str> = statement
        .parts
        .iter()
        .map(|part| part.claim.reading.as_str())
        .collect();
    let alike = readings.len() == 1;
    for reading in readings.iter().filter(|_| alike) {
        quiet(text, reading, wide);
    }
    for Part { claim, .. } in &statement.parts {
        let found = found_of(claim);
        let found = if several {
            format!("{} {found}", sign(claim.verdict))
        } else {
            found
        };
        line(text, &under(&found), wide, INDENT);
        if !alike {
            quiet(text, &claim.reading, wide);
        }
        rest(text, claim, wide);
    }
    printed::print(text, &tables(&statement.parts), wide);
}

/// `e1.better: cooperative/asm ÷ concurrent: 0.612× (95 % 0.60–0.63); claimed ≤ 0.95`.
fn found_of(claim: &ClaimReport) -> String {
    let bound = match claim.kind {
        Kind::Claim => "claimed",
        Kind::Question => "asked",
        Kind::Goal => "wanted",
    };
    let found = if claim.ours.is_empty() {
        &claim.note
    } else {
        &claim.ours
    };
    format!(
        "{}: {}: {found}; {bound} {}",
        claim.id, claim.computed, claim.bound
    )
}

/// A verdict's word, and what it is the verdict on.
fn verdict(text: &mut String, verdict: Verdict, kind: Kind, what: &str, wide: Wide) {
    let (word, style) = (verdict.word(kind), style(verdict));
    let mut lines = String::new();
    line(&mut lines, &under(what), wide, INDENT);
    // The verdict stands where the first line is indented.
    text.push_str(&format!(
        "  {style}{word:<14}{style:#}  {}",
        &lines[INDENT..]
    ));
}

/// What was fitted, what would settle an open claim, and why it is so.
fn rest(text: &mut String, claim: &ClaimReport, wide: Wide) {
    if !claim.coefficients.is_empty() {
        let one = |term: &Coefficient| format!("{} {}", term.name, term.text);
        let terms: Vec<String> = claim.coefficients.iter().map(one).collect();
        line(text, &under(&terms.join(", ")), wide, INDENT);
    }
    let open = claim.verdict == Verdict::Inconclusive && !claim.ours.is_empty();
    if open && !claim.note.is_empty() {
        line(text, &under(&claim.note), wide, INDENT);
    }
    quiet(text, &claim.why, wide);
}

/// What a claim says, how it was read, why it came out so.
fn quiet(text: &mut String, words: &str, wide: Wide) {
    if words.is_empty() {
        return;
    }
    let quiet = Style::new().dimmed();
    let mut lines = String::new();
    line(&mut lines, &under(words), wide, INDENT);
    text.push_str(&format!("{quiet}{lines}{quiet:#}"));
}

fn under(text: &str) -> String {
    format!("{}{text}", " ".repeat(INDENT))
}

fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Reproduced => AnsiColor::Green.on_default(),
        Verdict::NotReproduced => AnsiColor::Red.on_default(),
        Verdict::Inconclusive => AnsiColor::Yellow.on_default(),
        Verdict::Skipped => Style::new().dimmed(),
    }
}
