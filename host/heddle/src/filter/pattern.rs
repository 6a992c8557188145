//! What the user says of functions' names.

use heddle_symbols::{short_name, short_path, without_parameters, without_return_type};
use heddle_tree::glob;
use regex::Regex;

/// A name, a glob or a regular expression. It is compared with the qualified name of a function,
/// without return type and parameters: readable names of template functions begin with their return
/// type, those of other C++ functions end with `)`; and with the same without template arguments,
/// as it is printed. One that has a bracket is compared with the parameters, too, so that overloads
/// can be told apart; one that is a function's whole printed name, `f(int)`, means that function,
/// though it may be an expression, and with or without its spaces.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    how: How,
    /// Whether it may mean parameters.
    brackets: bool,
    /// Whether it may be a printed name, parameters and all.
    printed: bool,
}

#[derive(Clone, Debug)]
enum How {
    /// The whole name.
    Name,
    /// After `glob:`, the whole name.
    Glob(String),
    /// After `re:`, or where a name has none of its characters: anywhere in the name.
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
        } else if let Some(expression) = text.strip_prefix("re:") {
            How::Regex(regex(expression)?)
        } else if text.contains(|c| SPECIAL.contains(c)) {
            match regex(text) {
                // `{lambda()#1}` is none, nor is `{lambda#1}`.
                Err(_) if is_printed(text) || text.contains("{lambda") => How::Name,
                expression => How::Regex(expression?),
            }
        } else if text.is_empty() {
            return Err("it is empty; for every function: '.*'".to_owned());
        } else {
            How::Name
        };
        let bracket = if matches!(how, How::Glob(_)) {
            "("
        } else {
            r"\("
        };
        Ok(Pattern {
            text: text.to_owned(),
            how,
            brackets: text.contains(bracket),
            printed: is_printed(text),
        })
    }

    /// The same, but that `*` and `?` alone make a glob: `boost::*`.
    ///
    /// # Errors
    /// The same.
    pub fn parse_glob(text: &str) -> Result<Self, String> {
        let is_special = |c| SPECIAL.contains(c) && c != '*' && c != '?';
        let is_glob = text.contains(['*', '?']) && !text.contains(is_special);
        let is_told = text.starts_with("re:") || text.starts_with("glob:");
        if !is_glob || is_told {
            return Self::parse(text);
        }
        let parsed = Self::parse(&format!("glob:{text}"))?;
        Ok(Pattern {
            text: text.to_owned(),
            ..parsed
        })
    }

    /// The pattern as it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The part of it that may be a name, for suggestions.
    pub fn words(&self) -> &str {
        if self.printed || matches!(self.how, How::Name) {
            return &self.text;
        }
        let text = self.text.strip_prefix("glob:");
        let text = text.or_else(|| self.text.strip_prefix("re:"));
        text.unwrap_or(&self.text)
            .trim_matches(|c| SPECIAL.contains(c))
    }

    /// Whether it means the function with this readable name.
    pub fn matches(&self, name: &str) -> bool {
        let is_meant = |name: &str| match &self.how {
            How::Name => name == self.text,
            How::Glob(pattern) => glob(pattern, name),
            How::Regex(regex) => regex.is_match(name),
        };
        is_meant(&without_parameters(name))
            || is_meant(&short_path(name))
            || self.brackets && is_meant(without_return_type(name))
            || self.printed && (is_same(&self.text, name) || is_same(&self.text, &short_name(name)))
    }
}

/// Whether two printed names are one: `f(int,int)` is `f(int, int)`.
fn is_same(one: &str, other: &str) -> bool {
    let solid = |text: &'_ str| text.chars().filter(|&c| c != ' ').collect::<String>();
    one == other || solid(one) == solid(other)
}

/// Whether a text may be what is printed of a function with parameters: `ns::f(int) const`,
/// `f() [resume]`.
fn is_printed(text: &str) -> bool {
    let count = |bracket: char| text.chars().filter(|&c| c == bracket).count();
    let ends = [")", ") const", ") [resume]", ") [destroy]", ") [cleanup]"];
    count('(') == count(')') && ends.iter().any(|end| text.ends_with(end))
}

fn regex(text: &str) -> Result<Regex, String> {
    Regex::new(text)
        .map_err(|error| format!("{error}; to take characters as they are, put \\ before them"))
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
            ("^std::", "void std::swap<int>(int&, int&)", true),
            ("sub$", "ns::sub(int)", true),
            ("sub$", "sub(int) [clone .llvm.1]", true),
            ("^int", "int pick<int>(int)", false),
            ("int", "f(int)", false),
            (r"f\(int", "void f<char>(int)", false),
            (r"f<char>\(int", "void f<char>(int)", true),
            ("re:sub", "ns::subtract(int)", true),
            ("re:^sub$", "sub(int)", true),
            (r"operator\(\)$", "A::operator()(int) const", true),
            ("glob:std::*", "void std::swap<int>(int&, int&)", true),
            ("glob:*::add(int*", "ns::add(int, int)", true),
            ("glob:*::add(int*", "ns::add(char)", false),
            ("glob:std::*", "std::terminate()", true),
            ("glob:*push", "std::push", true),
            ("glob:push", "std::push", false),
            ("glob:a.b", "a.b", true),
            ("glob:a.b", "acb", false),
            // A name may also be given as `heddle report` prints it.
            ("pick", "int pick<int>(int)", true),
            ("S::f", "ns::S<int>::f()", false),
            ("ns::S::f", "ns::S<int>::f()", true),
            ("run", "(anonymous namespace)::run()", true),
            ("f(int)", "f(int)", true),
            ("f(int)", "f(int, int)", false),
            ("f(int) [resume]", "f(int) [resume]", true),
            ("f(int) [resume]", "f(int)", false),
            ("ns::S::f(int)", "ns::S<char>::f(int)", true),
            ("pick(int)", "int pick<int>(int)", true),
            ("int pick<int>(int)", "int pick<int>(int)", true),
            (
                "main::{lambda(int)#1}::operator()(int) const",
                "main::{lambda(int)#1}::operator()(int) const",
                true,
            ),
            ("f(int,int)", "f(int, int)", true),
            ("f(int,int)", "f(int)", false),
            (
                "main::{lambda#1}",
                "main::{lambda(int)#1}::operator()(int) const",
                true,
            ),
            (
                "main::{lambda#1}",
                "main::{lambda(int)#2}::operator()(int) const",
                false,
            ),
            (
                "main::{lambda#1}(int)",
                "main::{lambda(int)#1}::operator()(int) const",
                true,
            ),
        ] {
            let parsed = Pattern::parse(pattern).unwrap();
            assert_eq!(parsed.matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn stars_alone_make_a_glob_where_that_is_asked_for() {
        let mine = "mine::f<boost::asio::ip::tcp>(int)";
        let theirs = "void boost::asio::post<int>(int)";
        for (pattern, theirs_too) in [("boost::*", true), ("re:boost::.*", true), ("post", false)] {
            let parsed = Pattern::parse_glob(pattern).unwrap();
            assert_eq!(parsed.matches(theirs), theirs_too, "{pattern}");
        }
        assert!(!Pattern::parse_glob("boost::*").unwrap().matches(mine));
        assert!(Pattern::parse("boost::*").unwrap().matches(mine));
        assert!(Pattern::parse_glob("^f.*g$").unwrap().matches("fog()"));
    }

    #[test]
    fn what_is_no_expression_says_so() {
        assert!(Pattern::parse("f(").unwrap_err().contains("unclosed group"));
        assert!(Pattern::parse("").unwrap_err().contains("empty"));
    }
}
