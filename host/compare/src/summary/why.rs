//! WHY: the counter in which the best and another model differ most.

use crate::layout::{Line, length};
use anstyle::Style;
use heddle_results::{Report, family, rows};

/// `WHY  HTTP: 1.03 kernel switches a request (thread), 0.044 (cooperative/asm)`.
pub fn line(report: &Report, width: usize) -> Option<Line> {
    let rows = rows(report);
    let mut found = None;
    for (row, contrast) in rows.iter().filter_map(|row| Some((row, row.because()?))) {
        let more = |(_, other): &(_, heddle_results::Contrast)| contrast.factor > other.factor;
        if found.as_ref().is_none_or(more) {
            found = Some((row, contrast));
        }
    }
    let (row, contrast) = found?;
    // The table says at which point.
    let label = row.label.split(',').next().unwrap_or(&row.label);
    let whole = contrast.text(str::to_owned);
    let short = contrast.text(|model| family(model).to_owned());
    let text = |text: &str| format!("  {label}: {text}");
    let fits = 3 + length(&text(&whole)) <= width;
    Some(
        Line::default()
            .add(Style::new().bold(), "WHY")
            .add(Style::new(), text(if fits { &whole } else { &short })),
    )
}
