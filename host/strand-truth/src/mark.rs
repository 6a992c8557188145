//! What a program says in a mark: which strand runs, and the calls that are open on it.

use std::fmt;
use std::str::SplitAsciiWhitespace;

/// What a strand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A kernel thread.
    Thread,
    /// A fiber, of whatever library.
    Fiber,
    /// An instance of a C++20 coroutine.
    Coroutine,
}

/// A mark of `tests/strands/truth.hpp`: `truth 3 fiber body/work`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth<'a> {
    /// The strand's number: never another's.
    pub strand: u64,
    /// What it is.
    pub kind: Kind,
    path: &'a str,
}

impl<'a> Truth<'a> {
    /// `None`: it is not such a mark.
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        let mut words: SplitAsciiWhitespace =
            std::str::from_utf8(text).ok()?.split_ascii_whitespace();
        if words.next() != Some("truth") {
            return None;
        }
        let strand = words.next()?.parse().ok()?;
        let kind = match words.next()? {
            "thread" => Kind::Thread,
            "fiber" => Kind::Fiber,
            "coroutine" => Kind::Coroutine,
            _ => return None,
        };
        let path = words.next()?;
        Some(Truth { strand, kind, path }).filter(|_| words.next().is_none())
    }

    /// The open calls' functions, outermost first.
    pub fn path(&self) -> impl DoubleEndedIterator<Item = &'a str> {
        self.path.split('/')
    }
}

/// `truth made 3 by 1`: the numbers of a strand and of the one that made it.
pub fn made(text: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(text).ok()?;
    let (strand, maker) = text.strip_prefix("truth made ")?.split_once(" by ")?;
    Some((strand.parse().ok()?, maker.parse().ok()?))
}

impl fmt::Display for Truth<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} in {}", self.kind, self.strand, self.path)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Thread => "thread",
            Kind::Fiber => "fiber",
            Kind::Coroutine => "coroutine",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_says_strand_kind_and_path() {
        let truth = Truth::parse(b"truth 12 coroutine sums/work").unwrap();
        assert_eq!((truth.strand, truth.kind), (12, Kind::Coroutine));
        assert_eq!(truth.path().collect::<Vec<_>>(), ["sums", "work"]);
        assert_eq!(truth.to_string(), "coroutine 12 in sums/work");
        for other in [
            "request 3",
            "truth x fiber a",
            "truth 1 rope a",
            "truth 1 fiber",
            "truth 1 fiber a b",
            "truth made 3 by 1",
        ] {
            assert_eq!(Truth::parse(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn another_says_who_made_a_strand() {
        assert_eq!(made(b"truth made 3 by 1"), Some((3, 1)));
        assert_eq!(made(b"truth 3 fiber body"), None);
    }
}
