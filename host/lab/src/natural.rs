//! The order in which people count: `a2` before `a10`, `a1-matrix` before `a1-matrix-large`.

/// A name as parts that compare as people count; `names.sort_by_cached_key(|name| key(name))`. Digits come before letters.
pub fn key(name: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let digits = first.is_ascii_digit();
        let end = rest
            .find(|c: char| c.is_ascii_digit() != digits)
            .unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        parts.push(match part.parse() {
            Ok(number) if digits => Part::Number(number),
            _ => Part::Text(part.to_owned()),
        });
        rest = after;
    }
    parts
}

/// A run of digits, or of anything else.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Digits, as long as they are a number.
    Number(u64),
    /// Anything else.
    Text(String),
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn names_are_in_the_order_of_counting() {
        let expected = [
            "a1-matrix",
            "a1-matrix-large",
            "a2-kv",
            "a10-x",
            "b1",
            "s9",
            "s10-io",
            "s10-io-2",
        ];
        let mut names = expected;
        names.reverse();
        names.sort_by_cached_key(|name| key(name));
        assert_eq!(names, expected);
    }

    #[test]
    fn what_is_too_long_for_a_number_is_text() {
        let long = "9".repeat(40);
        assert!(key("x1") < key("x22"));
        assert!(key(&format!("x{long}")) > key("x1"));
    }
}
