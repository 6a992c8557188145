//! What is code is set as code, and a line does not break inside `(95 % 1.85–2.01)` and `47.1 ms`.

use crate::svg::escaped;
use minijinja::Value;
use std::collections::BTreeSet;

/// Units that stay with the number before them.
const UNITS: [&str; 13] = [
    "ns", "µs", "ms", "s", "bytes", "KB", "MB", "GB", "%", "/s", "k/s", "M/s", "G/s",
];
/// The longest text in parentheses that is kept together, in characters: longer ones would leave
/// holes in narrow columns.
const TOGETHER: usize = 26;
/// A word of more characters may break where it has a slash.
const LONG: usize = 16;

/// The template filter `flow`: the text, escaped, with such parts kept on one line, and flags,
/// settings, the names of models and what stands between backticks as code. A reader sees and
/// copies the same words.
pub(super) fn flow(text: &str, models: &BTreeSet<String>) -> Value {
    let mut out = String::with_capacity(text.len() + 64);
    let mut parts = text.split('`').peekable();
    let mut code = false;
    while let Some(part) = parts.next() {
        match (code, parts.peek()) {
            (true, Some(_)) => out += &format!("<code>{}</code>", escaped(part)),
            // A backtick that nothing closes.
            (true, None) => {
                out.push('`');
                words(&mut out, part, models);
            }
            (false, _) => words(&mut out, part, models),
        }
        code = !code;
    }
    Value::from_safe_string(out)
}

/// A text without backticks.
fn words(out: &mut String, text: &str, models: &BTreeSet<String>) {
    let words: Vec<&str> = text.split(' ').collect();
    let mut at = 0;
    while at < words.len() {
        let length = together(&words[at..]);
        let part = words[at..at + length].join(" ");
        if at > 0 {
            out.push(' ');
        }
        let bare = part.trim_end_matches([',', '.', ';', ':', ')']);
        if length > 1 {
            *out += &format!("<span class=\"w\">{}</span>", escaped(&part));
        } else if is_code(bare, models) {
            let rest = escaped(&part[bare.len()..]);
            *out += &format!("<code>{}</code>{rest}", escaped(bare));
        } else {
            *out += &breakable(&part);
        }
        at += length;
    }
}

/// A word, escaped; a long one may break behind its slashes: `(cooperative/stackless)`.
fn breakable(word: &str) -> String {
    if word.chars().count() <= LONG {
        return escaped(word);
    }
    let parts: Vec<String> = word.split('/').map(escaped).collect();
    parts.join("/<wbr>")
}

/// `-O2`, `--full`, `n=160`, `fiber/asm`: what is typed, or stands in a file.
fn is_code(word: &str, models: &BTreeSet<String>) -> bool {
    let short = word.chars().count() <= TOGETHER;
    let letter = |at: usize| {
        word.chars()
            .nth(at)
            .is_some_and(|c| c.is_ascii_alphabetic())
    };
    let flag = word.starts_with("--") && letter(2) || word.starts_with('-') && letter(1);
    let setting = word.split_once('=').is_some_and(|(name, value)| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        !name.is_empty()
            && letter(0)
            && !value.is_empty()
            && (name.chars().chain(value.chars())).all(plain)
    });
    short && (flag || setting || word.contains('/') && models.contains(word))
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
    fn intervals_and_units_stay_together_code_is_code_and_the_words_are_the_same() {
        let models = BTreeSet::from(["fiber/asm".to_owned(), "thread".to_owned()]);
        let flowed = |text: &str| {
            flow(text, &models)
                .to_string()
                .replace("<span class=\"w\">", "[")
                .replace("</span>", "]")
        };
        assert_eq!(
            flowed("kv -O2: 1.45× (95 % 1.40–1.50) at 19.8 ms, -"),
            "kv <code>-O2</code>: 1.45× [(95 % 1.40–1.50)] at [19.8 ms,] -"
        );
        assert_eq!(
            flowed("(this one is much too long to be kept) 3 models ("),
            "(this one is much too long to be kept) 3 models ("
        );
        assert_eq!(
            flowed("thread or fiber/asm, a/b at n=64: `apt-get <x>`, `open"),
            "thread or <code>fiber/asm</code>, a/b at <code>n=64</code>: \
             <code>apt-get &lt;x&gt;</code>, `open"
        );
        assert_eq!(flowed("  <b> & "), "  &lt;b&gt; &amp; ");
        assert_eq!(flowed(""), "");
        assert_eq!(
            flowed("0 (cooperative/stackless), none (a/<b>), 2 (thread/futex)"),
            "0 (cooperative/<wbr>stackless), none (a/&lt;b&gt;), 2 (thread/futex)"
        );
    }
}
