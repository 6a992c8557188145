//! CLAIMS: how many came out how, and the most telling ones in their source's words.

use crate::layout::{Line, cut, length};
use anstyle::{AnsiColor, Style};
use heddle_results::{ClaimReport, Kind, NEEDS_FULL, Report, Verdict};
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

/// The section on claims, on questions or on goals; empty if there are none.
pub fn lines(report: &Report, kind: Kind, width: usize) -> Vec<Line> {
    let claims: Vec<&ClaimReport> = report
        .experiments
        .iter()
        .flat_map(|experiment| &experiment.claims)
        .filter(|claim| claim.kind == kind)
        .collect();
    if claims.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![head(report, &claims, kind)];
    let quoted = [
        (Verdict::NotReproduced, NOT_REPRODUCED, "✗", AnsiColor::Red),
        (Verdict::Reproduced, REPRODUCED, "✓", AnsiColor::Green),
    ];
    let mut seen = BTreeSet::new();
    let quoted: Vec<(&ClaimReport, &str, Style)> = quoted
        .into_iter()
        .flat_map(|(verdict, most, sign, color)| {
            let chosen = telling(&claims, verdict, most, &mut seen);
            chosen
                .into_iter()
                .map(move |claim| (claim, sign, color.on_default()))
        })
        .collect();
    let widest =
        |texts: &mut dyn Iterator<Item = usize>, most: usize| texts.max().unwrap_or(0).min(most);
    let ours_width = widest(
        &mut quoted.iter().map(|(claim, ..)| length(ours(claim))),
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
    for (claim, sign, style) in quoted {
        let quote = format!("\"{}\"", cut(words(claim).trim(), words_width));
        lines.push(
            Line::default()
                .add(style, format!(" {sign} "))
                .add(Style::new(), quote)
                .pad(ours_at)
                .add(Style::new(), cut(ours(claim), ours_width))
                .pad(bound_at)
                .add(quiet, cut(&bound(claim), bound_width))
                .pad(id_at)
                .add(quiet, cut(&claim.id, id_width)),
        );
    }
    lines.extend(open(&claims));
    lines
}

/// `CLAIMS of 5 sources   31 reproduced · 24 not · 28 inconclusive · 10 need --full`.
fn head(report: &Report, claims: &[&ClaimReport], kind: Kind) -> Line {
    let with_claims = report
        .experiments
        .iter()
        .filter(|experiment| experiment.claims.iter().any(|claim| claim.kind == kind));
    let documents: BTreeSet<&str> = with_claims
        .filter_map(|experiment| Some(experiment.source.as_ref()?.document.as_str()))
        .filter(|document| !document.is_empty())
        .collect();
    let sources = match documents.len() {
        _ if kind != Kind::Claim => String::new(),
        0 => String::new(),
        1 => " of 1 source".into(),
        count => format!(" of {count} sources"),
    };
    let needs_full = |claim: &&&ClaimReport| claim.note.starts_with(NEEDS_FULL);
    let count = |verdict: Verdict| {
        claims
            .iter()
            .filter(|claim| claim.verdict == verdict)
            .count()
    };
    let full = claims
        .iter()
        .filter(|claim| claim.verdict == Verdict::Skipped)
        .filter(needs_full)
        .count();
    let not = match kind {
        Kind::Question => Verdict::NotReproduced.word(kind),
        Kind::Claim | Kind::Goal => "not",
    };
    let counts = [
        (count(Verdict::Reproduced), Verdict::Reproduced.word(kind)),
        (count(Verdict::NotReproduced), not),
        (
            count(Verdict::Inconclusive),
            Verdict::Inconclusive.word(kind),
        ),
        (
            full,
            if full == 1 {
                "needs --full"
            } else {
                "need --full"
            },
        ),
        (count(Verdict::Skipped) - full, "skipped"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    // `24 not` needs a word before it.
    let counts = counts.join(" · ");
    let counts = match counts.strip_suffix(" not") {
        Some(_) if !counts.contains('·') => {
            format!("{counts} {}", Verdict::Reproduced.word(kind))
        }
        _ => counts,
    };
    let bold = Style::new().bold();
    let title = match kind {
        Kind::Claim => "CLAIMS",
        Kind::Question => "QUESTIONS",
        Kind::Goal => "GOALS",
    };
    Line::default()
        .add(bold, title)
        .add(Style::new(), format!("{sources}   {counts}"))
}

/// The claims of a verdict that say most, no words twice: of what was not reproduced the farthest outside its bound, of what
/// was the boldest figure.
fn telling<'a>(
    claims: &[&'a ClaimReport],
    verdict: Verdict,
    most: usize,
    seen: &mut BTreeSet<&'a str>,
) -> Vec<&'a ClaimReport> {
    let mut found: Vec<(f64, &ClaimReport)> = claims
        .iter()
        .filter(|claim| claim.verdict == verdict)
        .map(|claim| {
            let weight = match verdict {
                Verdict::NotReproduced => outside(claim),
                _ => boldness(claim),
            };
            (weight, *claim)
        })
        .collect();
    found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let fresh = found
        .into_iter()
        .filter(|(_, claim)| seen.insert(words(claim)));
    fresh
        .into_iter()
        .take(most)
        .map(|(_, claim)| claim)
        .collect()
}

/// How far the estimate is from the bound, as the logarithm of a factor, or for what may be negative as a distance.
fn outside(claim: &ClaimReport) -> f64 {
    let Some(value) = claim.estimate.map(|estimate| estimate.value) else {
        return 0.0;
    };
    let distance = |end: f64| {
        if value > 0.0 && end > 0.0 {
            (value / end).ln().abs()
        } else {
            (value - end).abs()
        }
    };
    let below = claim.within.min.filter(|min| value < *min);
    let above = claim.within.max.filter(|max| value > *max);
    let found = below.or(above).map_or(0.0, distance);
    if found.is_finite() { found } else { 0.0 }
}

/// How much a ratio differs from 1; a ratio for which the source prints a figure comes before all others.
fn boldness(claim: &ClaimReport) -> f64 {
    let value = claim.estimate.map_or(1.0, |estimate| estimate.value);
    if !ours(claim).ends_with('×') || value <= 0.0 || !value.is_finite() {
        return 0.0;
    }
    let printed = if claim.figure.is_some() { 1000.0 } else { 0.0 };
    printed + value.ln().abs()
}

fn words(claim: &ClaimReport) -> &str {
    if claim.short.is_empty() {
        &claim.words
    } else {
        &claim.short
    }
}

/// What was measured, without its interval.
fn ours(claim: &ClaimReport) -> &str {
    let (value, _) = claim.ours.split_once(" (95 %").unwrap_or((&claim.ours, ""));
    value
}

/// ` ? 25 inconclusive: about 30 samples a cell would settle most (-n 30)`.
fn open(claims: &[&ClaimReport]) -> Option<Line> {
    let mut needed: Vec<u64> = claims
        .iter()
        .filter(|claim| claim.verdict == Verdict::Inconclusive)
        .map(|claim| claim.needed.unwrap_or(u64::MAX))
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

/// The number of samples a cell that would settle more than half of these, rounded up to one that people type.
pub fn usual(needed: &[u64]) -> Option<u64> {
    let samples = *needed.get(needed.len() / 2)?;
    let step = match samples {
        0..=9 => 1,
        10..=99 => 10,
        _ => 100,
    };
    (samples <= TOO_MANY).then(|| samples.div_ceil(step) * step)
}
