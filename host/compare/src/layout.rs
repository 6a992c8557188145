//! Lines of a terminal: parts with styles, cut and padded by what is seen of them.

use anstyle::Style;
use std::io;
use std::os::fd::AsFd;

/// Widths between which the summary is written; a pipe gets [`PIPE`].
const NARROWEST: usize = 60;
const WIDEST: usize = 120;
const PIPE: usize = 80;

/// How wide a line on standard output may be, and whether a terminal shows it.
pub fn width() -> (usize, bool) {
    match columns(io::stdout()) {
        Some(columns) => (columns.clamp(NARROWEST, WIDEST), true),
        None => (PIPE, false),
    }
}

/// The columns of the terminal behind a descriptor; none if there is no terminal. One that does not
/// tell has [`PIPE`].
pub fn columns(descriptor: impl AsFd) -> Option<usize> {
    if !rustix::termios::isatty(&descriptor) {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(descriptor).ok();
    let columns = size.map_or(0, |size| size.ws_col);
    Some(if columns > 0 { columns.into() } else { PIPE })
}

/// Characters that are seen.
pub fn length(text: &str) -> usize {
    text.chars().count()
}

/// At most `width` characters: cut after a word, with `…`.
pub fn cut(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    let Some(room) = width.checked_sub(1) else {
        return String::new();
    };
    let head: String = text.chars().take(room + 1).collect();
    let whole = match head.rfind(' ') {
        Some(end) if end > 0 => head[..end].to_owned(),
        _ => text.chars().take(room).collect(),
    };
    let whole = whole.trim_end_matches([' ', ',', ';', ':', '·', '…']);
    format!("{whole}…")
}

/// Lines of at most `width` characters, broken between words, but not between a number and its
/// unit; all but the first begin with `indent` spaces.
pub fn wrap(text: &str, width: usize, indent: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let begin = text.len() - text.trim_start().len();
    line.push_str(&text[..begin]);
    let mut empty = true;
    // Digits in groups have a space between them at which no line breaks.
    let mut words = text.split_ascii_whitespace().peekable();
    while let Some(word) = words.next() {
        let gap = usize::from(!empty);
        let unit = words.peek().filter(|next| is_number(word) && is_unit(next));
        let needed = length(word) + unit.map_or(0, |unit| 1 + length(unit));
        if !empty && length(&line) + gap + needed > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    lines.push(line);
    lines
}

/// Whether a word is a number, or a range of two: `17.9`, `(95`, `1.10–1.16`.
fn is_number(word: &str) -> bool {
    let word = word.trim_start_matches('(');
    let digit = |c: char| c.is_ascii_digit();
    word.contains(digit) && word.chars().all(|c| digit(c) || ".–−\u{202f}".contains(c))
}

/// Whether a word is a unit in which values are printed, with or without what ends a clause.
fn is_unit(word: &str) -> bool {
    matches!(
        word.trim_end_matches([',', ';', ':', '.', ')']),
        "%" | "ns" | "µs" | "ms" | "s" | "min" | "h" | "bytes" | "KB" | "MB" | "GB" | "TB"
    )
}

/// A line, made of parts.
#[derive(Clone, Debug, Default)]
pub struct Line {
    parts: Vec<(Style, String)>,
}

impl Line {
    /// One part without a style.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::default().add(Style::new(), text)
    }

    /// Appends a part. Line ends and what moves a cursor become spaces: texts are those of users'
    /// files.
    #[must_use]
    pub fn add(mut self, style: Style, text: impl Into<String>) -> Self {
        let text: String = text
            .into()
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        self.parts.push((style, text));
        self
    }

    /// Appends another line's parts.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self
    }

    /// Appends spaces up to a column.
    #[must_use]
    pub fn pad(self, column: usize) -> Self {
        let missing = column.saturating_sub(self.length());
        self.add(Style::new(), " ".repeat(missing))
    }

    /// Characters that are seen.
    pub fn length(&self) -> usize {
        self.parts.iter().map(|(_, text)| length(text)).sum()
    }

    /// With its styles, at most `width` characters, without spaces at the end.
    pub fn render(&self, width: usize) -> String {
        let mut room = width;
        let mut text = String::new();
        for (index, (style, part)) in self.parts.iter().enumerate() {
            let after: usize = self.parts[index + 1..]
                .iter()
                .map(|(_, part)| part.trim().len())
                .sum();
            let mut part = if after == 0 { part.trim_end() } else { part }.to_owned();
            // What is cut says so; where nothing more fits, a part that fitted is the end.
            if length(&part) > room {
                part = cut(&part, room);
            }
            room -= length(&part).min(room);
            if part.is_empty() {
                continue;
            }
            if *style == Style::new() {
                text.push_str(&part);
            } else {
                text.push_str(&format!("{style}{part}{style:#}"));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_words() {
        for (text, width, cut_text) in [
            ("70 times lower", 14, "70 times lower"),
            ("70 times lower", 13, "70 times…"),
            ("70 times lower", 9, "70 times…"),
            ("70 times lower", 8, "70…"),
            ("seventy", 4, "sev…"),
            ("seventy", 1, "…"),
            ("seventy", 0, ""),
            ("thread, goroutine", 10, "thread…"),
        ] {
            assert_eq!(cut(text, width), cut_text, "{text} {width}");
            assert!(length(&cut(text, width)) <= width);
        }
    }

    #[test]
    fn a_text_is_wrapped_between_words() {
        assert_eq!(
            wrap("  a sentence of words", 12, 4),
            ["  a sentence", "    of words"]
        );
        assert_eq!(wrap("short", 80, 4), ["short"]);
        assert_eq!(wrap("", 80, 4), [""]);
    }

    #[test]
    fn a_unit_stays_with_its_number() {
        assert_eq!(
            wrap("worse (95 % 1.10–1.16), 15.8 ms → 17.9 ms", 40, 2),
            ["worse (95 % 1.10–1.16), 15.8 ms →", "  17.9 ms"]
        );
        assert_eq!(wrap("by 3 (95 %), so", 8, 0), ["by 3", "(95 %),", "so"]);
        assert_eq!(wrap("12 cells", 4, 0), ["12", "cells"]);
        // Both are too long for a line together.
        assert_eq!(wrap("a 17.95 bytes", 9, 0), ["a", "17.95", "bytes"]);
    }

    #[test]
    fn a_line_is_as_wide_as_what_is_seen() {
        let bold = Style::new().bold();
        let line = Line::default()
            .add(bold, "thread")
            .pad(10)
            .add(bold, "1.35×");
        assert_eq!(line.length(), 15);
        assert_eq!(
            line.render(80),
            format!("{bold}thread{bold:#}    {bold}1.35×{bold:#}")
        );
        assert_eq!(Line::plain("a\x1b[2Jb\n").render(80), "a [2Jb");
        assert_eq!(Line::plain("one two").pad(20).render(5), "one…");
    }
}
