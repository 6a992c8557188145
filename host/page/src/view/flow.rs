//! Where a line must not break: inside `(95 % 1.85–2.01)`, `47.1 ms` and `-O2`.

use crate::svg::escaped;
use minijinja::Value;

/// Units that stay with the number before them.
const UNITS: [&str; 13] = [
    "ns", "µs", "ms", "s", "bytes", "KB", "MB", "GB", "%", "/s", "k/s", "M/s", "G/s",
];
/// The longest text in parentheses that is kept together, in characters: longer ones would leave
/// holes in narrow columns.
const TOGETHER: usize = 26;

/// The template filter `flow`: the text, escaped, with such parts kept on one line. What a reader
/// sees and copies is unchanged.
pub(super) fn flow(text: String) -> Value {
    let words: Vec<&str> = text.split(' ').collect();
    let mut out = String::with_capacity(text.len() + 64);
    let mut at = 0;
    while at < words.len() {
        let length = together(&words[at..]);
        let part = escaped(&words[at..at + length].join(" "));
        if at > 0 {
            out.push(' ');
        }
        let breakable =
            length > 1 || (words[at].starts_with('-') && words[at].chars().count() <= TOGETHER);
        if breakable {
            out += &format!("<span class=\"w\">{part}</span>")
        } else {
            out += &part
        }
        at += length;
    }
    Value::from_safe_string(out)
}

/// How many words from the first on belong together; at least one.
fn together(words: &[&str]) -> usize {
    let Some(first) = words.first() else { return 1 };
    if first.starts_with('(') {
        let mut length = 0;
        for (number, word) in words.iter().enumerate() {
            length += word.chars().count() + 1;
            if length > TOGETHER {
                return 1;
            }
            if word.contains(')') {
                return number + 1;
            }
        }
        return 1;
    }
    let is_number = first.chars().next().is_some_and(|c| c.is_ascii_digit());
    let unit = words
        .get(1)
        .map(|next| next.trim_end_matches(|c: char| ",.;:)".contains(c)));
    if is_number && unit.is_some_and(|unit| UNITS.contains(&unit)) {
        2
    } else {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_units_and_flags_stay_together_and_the_words_are_the_same() {
        let flowed = |text: &str| {
            flow(text.into())
                .to_string()
                .replace("<span class=\"w\">", "[")
                .replace("</span>", "]")
        };
        assert_eq!(
            flowed("kv -O2: 1.45× (95 % 1.40–1.50) at 19.8 ms, -"),
            "kv [-O2:] 1.45× [(95 % 1.40–1.50)] at [19.8 ms,] [-]"
        );
        assert_eq!(
            flowed("(this one is much too long to be kept) 3 models ("),
            "(this one is much too long to be kept) 3 models ("
        );
        assert_eq!(flowed("  <b> & "), "  &lt;b&gt; &amp; ");
        assert_eq!(flowed(""), "");
    }
}
