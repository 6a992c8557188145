//! Text in the cells of tables that programs read.

use std::borrow::Cow;

/// A field of comma-separated values (RFC 4180).
pub fn quote(text: &str) -> Cow<'_, str> {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}

/// Text without what Markdown or HTML would take for its own.
pub fn escape(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\`*_{}[]<>|&#".contains(character) {
            result.push('\\');
        }
        result.push(character);
    }
    result
}
