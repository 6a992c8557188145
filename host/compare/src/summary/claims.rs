//! CLAIMS: how many statements of the sources came out how, and the most telling ones in their
//! source's words; QUESTIONS of ours; GOALS.

use crate::layout::{Line, cut, length};
use anstyle::{AnsiColor, Style};
use heddle_results::{ClaimReport, Entry, Kind, Report, Tally, Verdict, statements, telling};
use std::collections::BTreeSet;

/// Claims that are quoted, at most.
const NOT_REPRODUCED: usize = 3;
const REPRODUCED: usize = 2;
/// More samples a cell than anybody takes.
const TOO_MANY: u64 = 1000;
/// Widest column of what was measured, and of ids.
const WIDEST_OURS: usize = 14;
const WIDEST_ID: usize = 24;
const WIDEST_BOUND: usize = 22;
/// Widest quote: beyond it the eye loses the line.
const WIDEST_WORDS: usize = 60;
/// From this width on there is a column for the bounds.
const ROOMY: usize = 100;

/// The section on the sources' statements, on our questions or on goals; empty if there are none.
pub fn lines(report: &Report, kind: Kind, width: usize) -> Vec<Line> {
    let documents = statements(report);
    let statements = || documents.iter().flat_map(|document| &document.statements);
    let claims = report
        .experiments
        .iter()
        .flat_map(|experiment| &experiment.claims)
        .filter(|claim| claim.kind == kind);
    let (tally, entries): (Tally, Vec<Entry>) = match kind {
        Kind::Claim => (
            Tally::of_statements(statements()),
            statements().filter_map(Entry::of_statement).collect(),
        ),
        Kind::Question => (Tally::of_claims(kind, claims), Vec::new()),
        Kind::Goal => (
            Tally::of_claims(kind, claims.clone()),
            claims.map(Entry::of_claim).collect(),
        ),
    };
    if tally.all() == 0 {
        return Vec::new();
    }
    let titled = documents
        .iter()
        .filter(|document| !document.document.is_empty());
    let mut lines = vec![head(kind, &tally, titled.count(), width)];
    lines.extend(quoted(&entries, kind, width));
    lines.extend(open(&entries));
    lines
}

/// The most telling entries, a line each.
fn quoted(entries: &[Entry], kind: Kind, width: usize) -> Vec<Line> {
    let chosen = [
        (Verdict::NotReproduced, NOT_REPRODUCED, "✗", AnsiColor::Red),
        (Verdict::Reproduced, REPRODUCED, "✓", AnsiColor::Green),
    ];
    let mut seen = BTreeSet::new();
    let quoted: Vec<(&ClaimReport, &str, Style)> = chosen
        .into_iter()
        .flat_map(|(verdict, most, sign, color)| {
            let chosen = telling(entries, verdict, most, &mut seen);
            chosen
                .into_iter()
                .map(move |claim| (claim, sign, color.on_default()))
        })
        .collect();
    let widest =
        |texts: &mut dyn Iterator<Item = usize>, most: usize| texts.max().unwrap_or(0).min(most);
    let ours_width = widest(
        &mut quoted.iter().map(|(claim, ..)| length(claim.value())),
        WIDEST_OURS,
    );
    let id_width = widest(
        &mut quoted.iter().map(|(claim, ..)| length(&claim.id)),
        WIDEST_ID,
    );
    let bound = |claim: &ClaimReport| {
        let word = match kind {
            Kind::Claim => "claimed",
            Kind::Question => "asked",
            Kind::Goal => "wanted",
        };
        format!("{word} {}", claim.bound)
    };
    // A wide terminal has room for what was claimed.
    let bound_width = match width {
        ROOMY.. => widest(
            &mut quoted.iter().map(|(claim, ..)| length(&bound(claim))),
            WIDEST_BOUND,
        ),
        _ => 0,
    };
    let bound_room = match bound_width {
        0 => 0,
        wide => wide + 2,
    };
    let words_width = width
        .saturating_sub(3 + 2 + 2 + ours_width + 2 + bound_room + id_width)
        .min(WIDEST_WORDS);
    let ours_at = 3 + words_width + 2 + 2;
    let bound_at = ours_at + ours_width + 2;
    let id_at = bound_at + bound_room;
    let quiet = Style::new().dimmed();
    let line = |(claim, sign, style): (&ClaimReport, &str, Style)| {
        let quote = format!("\"{}\"", cut(claim.brief().trim(), words_width));
        Line::default()
            .add(style, format!(" {sign} "))
            .add(Style::new(), quote)
            .pad(ours_at)
            .add(Style::new(), cut(claim.value(), ours_width))
            .pad(bound_at)
            .add(quiet, cut(&bound(claim), bound_width))
            .pad(id_at)
            .add(quiet, cut(&claim.id, id_width))
    };
    quoted.into_iter().map(line).collect()
}

/// `CLAIMS of 5 sources   27 of 45 statements reproduced · 9 not · 6 inconclusive`: as much of it
/// as fits.
fn head(kind: Kind, tally: &Tally, sources: usize, width: usize) -> Line {
    let title = match kind {
        Kind::Claim => "CLAIMS",
        Kind::Question => "QUESTIONS",
        Kind::Goal => "GOALS",
    };
    let sources = match (kind, sources) {
        (Kind::Question, _) => " of ours".into(),
        (Kind::Goal, _) | (Kind::Claim, 0) => String::new(),
        (Kind::Claim, 1) => " of 1 source".into(),
        (Kind::Claim, count) => format!(" of {count} sources"),
    };
    let form = |sources: &str, noun: &str, most: usize| {
        let mut phrases = tally.phrases(noun);
        phrases.truncate(most);
        Line::default()
            .add(Style::new().bold(), title)
            .add(Style::new(), format!("{sources}   {}", phrases.join(" · ")))
    };
    // What was skipped is last and is left out first: it is the rest of all, and beside SKIPPED.
    let (all, judged) = (usize::MAX, 3);
    let forms = [
        form(&sources, "statement", all),
        form("", "statement", all),
        form("", "", all),
        form(&sources, "statement", judged),
        form("", "statement", judged),
    ];
    let fitting = forms.into_iter().find(|form| form.length() <= width);
    fitting.unwrap_or_else(|| form("", "", judged))
}

/// ` ? 25 inconclusive: about 30 samples a cell would settle most (-n 30)`.
fn open(entries: &[Entry]) -> Option<Line> {
    let mut needed: Vec<u64> = entries
        .iter()
        .filter(|entry| entry.verdict == Verdict::Inconclusive)
        .map(|entry| entry.needed)
        .collect();
    needed.sort_unstable();
    let most = match needed.len() {
        0 => return None,
        1 => "it",
        _ => "most",
    };
    let text = match usual(&needed) {
        Some(samples) => {
            format!("about {samples} samples a cell would settle {most} (-n {samples})")
        }
        None if needed.get(needed.len() / 2) == Some(&u64::MAX) => {
            let they = if needed.len() == 1 {
                "it lies on its bound"
            } else {
                "most lie on their bounds"
            };
            format!("{they}, and no number of samples would settle that")
        }
        None => format!("more than {TOO_MANY} samples a cell would be needed for {most}"),
    };
    let yellow = AnsiColor::Yellow.on_default();
    Some(Line::default().add(yellow, " ? ").add(
        Style::new(),
        format!("{} inconclusive: {text}", needed.len()),
    ))
}

/// The number of samples a cell that would settle more than half of these, rounded up to one that
/// people type.
pub fn usual(needed: &[u64]) -> Option<u64> {
    let samples = *needed.get(needed.len() / 2)?;
    let step = match samples {
        0..=9 => 1,
        10..=99 => 10,
        _ => 100,
    };
    (samples <= TOO_MANY).then(|| samples.div_ceil(step) * step)
}
