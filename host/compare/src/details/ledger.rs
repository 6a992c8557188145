//! The claims, each with what was computed, what was found and why.

use super::{Wide, line};
use anstyle::{AnsiColor, Style};
use heddle_results::{ClaimReport, Coefficient, Kind, Verdict};

/// The sections, and what stands in them.
pub const SECTIONS: [(&str, Kind); 3] = [
    ("Claims", Kind::Claim),
    ("Questions", Kind::Question),
    ("Goals", Kind::Goal),
];

/// How many claims, questions or goals came out how; then for each a line, what would settle it if it is open, and why it is so.
pub fn print<'a>(
    text: &mut String,
    claims: impl Iterator<Item = &'a ClaimReport>,
    title: &str,
    kind: Kind,
    wide: Wide,
) {
    let claims: Vec<&ClaimReport> = claims.filter(|claim| claim.kind == kind).collect();
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
        (count > 0).then(|| format!("{count} {}", verdict.word(kind)))
    });
    let counts = counts.collect::<Vec<_>>().join(", ");
    text.push_str(&format!("\n{title}: {counts}\n"));
    for claim in claims {
        let (word, style) = (claim.verdict.word(kind), style(claim.verdict));
        let bound = match kind {
            Kind::Claim => "claimed",
            Kind::Question => "asked",
            Kind::Goal => "wanted",
        };
        let found = if claim.ours.is_empty() {
            &claim.note
        } else {
            &claim.ours
        };
        let head = format!(
            "{}: {}: {found}; {bound} {}",
            claim.id, claim.computed, claim.bound
        );
        let mut lines = String::new();
        line(&mut lines, &under(&head), wide, INDENT);
        // The verdict stands where the first line is indented.
        text.push_str(&format!(
            "  {style}{word:<14}{style:#}  {}",
            &lines[INDENT..]
        ));
        if !claim.coefficients.is_empty() {
            let one = |term: &Coefficient| format!("{} {}", term.name, term.text);
            let terms: Vec<String> = claim.coefficients.iter().map(one).collect();
            line(text, &under(&terms.join(", ")), wide, INDENT);
        }
        if claim.verdict == Verdict::Inconclusive && !claim.ours.is_empty() {
            line(text, &under(&claim.note), wide, INDENT);
        }
        if !claim.why.is_empty() {
            let quiet = Style::new().dimmed();
            let mut lines = String::new();
            line(&mut lines, &under(&claim.why), wide, INDENT);
            text.push_str(&format!("{quiet}{lines}{quiet:#}"));
        }
    }
}

/// Under the claim's id.
const INDENT: usize = 18;

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
