//! What the user says of functions' names.

use heddle_symbols::without_parameters;
use heddle_tree::glob;
use regex::Regex;

/// A name, a glob or a regular expression.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    how: How,
}

#[derive(Clone, Debug)]
enum How {
    /// The whole name without parameters.
    Name,
    /// After `glob:`.
    Glob(String),
    Regex(Regex),
}

/// A pattern with one of these characters is a regular expression.
const SPECIAL: &str = r".*+?()[]{}|^$\";

impl Pattern {
    /// Reads a pattern as it is on the command line.
    ///
    /// # Errors
    /// It is no regular expression; in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let how = if let Some(glob) = text.strip_prefix("glob:") {
            How::Glob(glob.to_owned())
        } else if text.contains(|c| SPECIAL.contains(c)) {
            How::Regex(Regex::new(text).map_err(|error| {
                format!("{error}; to take characters as they are, put \\ before them")
            })?)
        } else if text.is_empty() {
            return Err("it is empty; for every function: '.*'".to_owned());
        } else {
            How::Name
        };
        Ok(Pattern {
            text: text.to_owned(),
            how,
        })
    }

    /// The pattern as it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it means the function with this readable name.
    pub fn matches(&self, name: &str) -> bool {
        match &self.how {
            How::Name => name == self.text || without_parameters(name) == self.text,
            How::Glob(pattern) => glob(pattern, name) || glob(pattern, &without_parameters(name)),
            How::Regex(regex) => regex.is_match(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn names_are_whole_globs_too_and_expressions_match_anywhere() {
        for (pattern, name, expected) in [
            ("fib", "fib(int)", true),
            ("fib", "fib", true),
            ("fib", "fibo(int)", false),
            ("fib", "ns::fib(int)", false),
            ("ns::fib", "ns::fib(int)", true),
            ("fib(int)", "fibint", true), // an expression with a group
            (r"^fib\(int\)$", "fib(int)", true),
            ("pick<int>", "int pick<int>(int)", true),
            ("^std::", "std::vector<int>::size() const", true),
            ("^std::", "f(std::string)", false),
            (
                "vector.*push",
                "std::vector<int>::push_back(int const&)",
                true,
            ),
            ("glob:std::*", "std::terminate()", true),
            ("glob:*push", "std::push", true),
            ("glob:push", "std::push", false),
            ("glob:a.b", "a.b", true),
            ("glob:a.b", "acb", false),
        ] {
            let parsed = Pattern::parse(pattern).unwrap();
            assert_eq!(parsed.matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn what_is_no_expression_says_so() {
        assert!(Pattern::parse("f(").unwrap_err().contains("unclosed group"));
        assert!(Pattern::parse("").unwrap_err().contains("empty"));
    }
}
