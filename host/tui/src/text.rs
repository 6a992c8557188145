//! Text that fits.

use heddle_trace_file::Nanos;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Columns that a character takes at most, after any other. Alone a control character has no width
/// and takes one, and a selector of emoji presentation widens what is before it.
fn most(c: char) -> usize {
    match c {
        '\u{fe0f}' => 1,
        c => c.width().unwrap_or(1),
    }
}

/// The text in at most so many columns: what is cut off leaves `…`.
pub fn fit(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    if columns == 0 {
        return String::new();
    }
    let mut taken = 0;
    let mut cut: String = text
        .chars()
        .take_while(|c| {
            taken += most(*c);
            taken < columns
        })
        .collect();
    cut.push('…');
    cut
}

/// The same, and spaces up to that many columns.
pub fn fill(text: &str, columns: usize) -> String {
    let mut text = fit(text, columns);
    text.extend(std::iter::repeat_n(
        ' ',
        columns.saturating_sub(text.width()),
    ));
    text
}

/// The text from this column on: a character that is cut by it leaves spaces.
pub fn from_column(text: &str, column: usize) -> String {
    let mut before = 0;
    let cut = text.char_indices().find(|(_, c)| {
        if before >= column {
            return true;
        }
        before += most(*c);
        false
    });
    let spaces = before.saturating_sub(column);
    let rest = cut.map_or("", |(at, _)| &text[at..]);
    format!("{:spaces$}{rest}", "")
}

/// The end of a text in at most so many columns: what is cut off in front leaves `…`.
pub fn fit_end(text: &str, columns: usize) -> String {
    if text.width() <= columns || columns == 0 {
        return fit(text, columns);
    }
    let mut taken = 0;
    let kept: Vec<char> = text
        .chars()
        .rev()
        .take_while(|c| {
            taken += most(*c);
            taken < columns
        })
        .collect();
    std::iter::once('…').chain(kept.into_iter().rev()).collect()
}

/// `1.234 ms`.
pub fn time(nanos: u64) -> String {
    Nanos(nanos).to_string()
}

/// The same, so that two times that are so far `apart` look different: `1.966412 ms`.
pub fn precise(nanos: u64, apart: u64) -> String {
    const UNITS: [(u64, usize, &str); 2] = [(1_000_000_000, 9, "s"), (1_000_000, 6, "ms")];
    let fits = UNITS.into_iter().find(|(unit, ..)| nanos >= *unit);
    let Some((unit, most, name)) = fits else {
        return time(nanos);
    };
    let coarse = |digits: &usize| unit / 10_u64.pow(*digits as u32) > apart;
    let digits = (3..most).find(|digits| !coarse(digits)).unwrap_or(most);
    let part = nanos % unit / 10_u64.pow((most - digits) as u32);
    format!("{}.{part:0digits$} {name}", nanos / unit)
}

/// `-`, if there is none.
pub fn some_time(nanos: Option<u64>) -> String {
    nanos.map_or_else(|| "-".to_owned(), time)
}

/// `12345678`; from 100 million on `123.4 M`, from 100 milliards on `123.4 G`.
pub fn count(number: u64) -> String {
    match number {
        0..100_000_000 => number.to_string(),
        100_000_000..100_000_000_000 => {
            format!("{}.{} M", number / 1_000_000, number / 100_000 % 10)
        }
        _ => format!("{}.{} G", number / 1_000_000_000, number / 100_000_000 % 10),
    }
}

/// `1 call`, `2 calls`.
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", count(number))
}

/// Whether a text holds a pattern; letters of either case are the same unless the pattern has
/// capitals.
pub fn matches(text: &str, pattern: &str) -> bool {
    match pattern.chars().any(char::is_uppercase) {
        true => text.contains(pattern),
        false => text.to_lowercase().contains(pattern),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_begins_at_a_column() {
        assert_eq!(from_column("abcd", 0), "abcd");
        assert_eq!(from_column("abcd", 2), "cd");
        assert_eq!(from_column("abcd", 9), "");
        assert_eq!(from_column("a\u{4e2d}b", 2), " b");
    }

    #[test]
    fn what_is_cut_off_leaves_a_mark() {
        assert_eq!(fit("abc", 3), "abc");
        assert_eq!(fit("abcd", 3), "ab…");
        assert_eq!(fit("abcd", 0), "");
        assert_eq!(fit_end("abcd", 3), "…cd");
        assert_eq!(fill("ab", 4), "ab  ");
        // A character that is two columns wide is not cut in half.
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(fill("日本語", 4), "日… ");
        assert_eq!(width(&fit("日本語", 5)), 5);
    }

    #[test]
    fn capitals_in_a_pattern_count() {
        assert!(matches("Serve::Accept", "accept"));
        assert!(matches("Serve::Accept", "Acc"));
        assert!(!matches("serve::accept", "Acc"));
    }

    proptest! {
        #[test]
        fn nothing_that_fits_is_wider(
            chars in prop::collection::vec(
                prop_oneof![
                    prop::sample::select(vec![
                        '\0', '\u{1b}', '\n', 'a', '日', '❤', '1', '\u{fe0f}', '\u{fe0e}',
                        '\u{20e3}', '\u{200d}', '\u{301}', '🏽', '👩', 'ل', 'ا',
                    ]),
                    any::<char>(),
                ],
                0..12,
            ),
            columns in 0usize..10,
        ) {
            let text: String = chars.into_iter().collect();
            prop_assert!(width(&fit(&text, columns)) <= columns);
            prop_assert!(width(&fit_end(&text, columns)) <= columns);
            prop_assert!(columns == 0 || width(&fill(&text, columns)) == columns);
        }
    }
}
