//! Writing SVG, with every text escaped.

use std::fmt::{Display, Write};

/// Text that may stand in an element or an attribute of HTML or SVG. Control characters, which XML
/// forbids, become `�`.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            control if control.is_control() && control != '\n' && control != '\t' => {
                safe.push('\u{fffd}')
            }
            other => safe.push(other),
        }
    }
    safe
}

/// A coordinate, rounded to a tenth of a pixel, which is too little to be seen.
pub(crate) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_string()
}

/// The approximate width of a text at 12 px: while the page is written, no browser can be asked.
pub(crate) fn width_of(text: &str) -> f64 {
    text.chars()
        .map(|c| {
            if c.is_ascii_uppercase() || matches!(c, 'm' | 'w' | '…' | '÷') {
                8.6
            } else {
                6.7
            }
        })
        .sum()
}

/// A text cut to a width, with `…` where something is missing.
pub(crate) fn cut(text: &str, width: f64) -> String {
    if width_of(text) <= width {
        return text.to_string();
    }
    let mut short = String::new();
    for character in text.chars() {
        if width_of(&short) + 15.0 > width {
            break;
        }
        short.push(character);
    }
    short + "…"
}

/// Where a text is held.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// An SVG element in the making. Classes, sizes and paths are ours; what is called text or title
/// may be anybody's.
pub(crate) struct Svg {
    out: String,
}

impl Svg {
    /// `title` is what a screen reader says of the picture.
    pub(crate) fn new(class: &str, width: f64, height: f64, title: &str) -> Self {
        let (width, height, title) = (px(width), px(height), escaped(title));
        let out = format!(
            r#"<svg class="{class}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{title}">"#
        );
        Self { out }
    }

    /// Appends markup that is already safe.
    fn raw(&mut self, markup: impl Display) {
        // Writing into a String cannot fail.
        let _ = write!(self.out, "{markup}");
    }

    pub(crate) fn open(&mut self, class: &str) {
        self.raw(format_args!(r#"<g class="{class}">"#));
    }

    pub(crate) fn close(&mut self) {
        self.raw("</g>");
    }

    /// What a pointer that rests on the group just opened is told.
    pub(crate) fn tip(&mut self, text: &str) {
        self.raw(format_args!("<title>{}</title>", escaped(text)));
    }

    pub(crate) fn text(&mut self, class: &str, x: f64, y: f64, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        self.raw(format_args!(
            r#"<text class="{class}" x="{}" y="{}"{anchor}>{}</text>"#,
            px(x),
            px(y),
            escaped(text)
        ));
    }

    pub(crate) fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.raw(format_args!(
            r#"<path class="{class}" d="M{} {}L{} {}"/>"#,
            px(x1),
            px(y1),
            px(x2),
            px(y2)
        ));
    }

    pub(crate) fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        let path: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{} {}", px(*x), px(*y)))
            .collect();
        self.raw(format_args!(
            r#"<path class="{class}" d="M{}"/>"#,
            path.join("L")
        ));
    }

    /// Dots: strokes of no length with round caps, eight bytes each, in one path. They are wider
    /// than a pixel is, so that whole pixels do.
    pub(crate) fn dots(&mut self, class: &str, points: &[(f64, f64)]) {
        if !points.is_empty() {
            let path: String = points
                .iter()
                .map(|(x, y)| format!("M{x:.0} {y:.0}h0"))
                .collect();
            self.raw(format_args!(r#"<path class="{class}" d="{path}"/>"#));
        }
    }

    /// One of the page's shapes, by number.
    pub(crate) fn shape(&mut self, shape: usize, (x, y): (f64, f64)) {
        self.raw(format_args!(
            r##"<use href="#s{shape}" x="{}" y="{}"/>"##,
            px(x),
            px(y)
        ));
    }

    pub(crate) fn finish(mut self) -> String {
        self.out.push_str("</svg>");
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_place() {
        let mut svg = Svg::new("plot", 1.0, 1.0, "\"><script>alert(1)</script>");
        svg.text("t", 0.0, 0.0, Anchor::End, "</text><script>x\u{0}");
        svg.tip("<b>'");
        let out = svg.finish();
        assert!(
            !out.contains("<script") && !out.contains("<b>") && !out.contains('\u{0}'),
            "{out}"
        );
        assert_eq!(out.matches('"').count() % 2, 0);
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(
            (px(12.0), px(12.34), px(-0.04)),
            ("12".into(), "12.3".into(), "-0".into())
        );
    }

    #[test]
    fn long_texts_are_cut_where_they_end() {
        assert_eq!(cut("thread", 60.0), "thread");
        let short = cut(&"x".repeat(80), 60.0);
        assert!(short.ends_with('…') && width_of(&short) <= 61.0, "{short}");
    }
}
