//! Whose source a function is in: one's own, or a library's.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Where systems keep the headers and sources that are not one's own.
const SYSTEM: [&str; 2] = ["/usr", "/opt"];

/// Which source files are one's own.
#[derive(Debug)]
pub(super) struct Mine {
    /// Those below one of these; without any, those that are not the system's.
    below: Vec<PathBuf>,
}

/// What was found of functions' sources.
#[derive(Debug, Default)]
pub(super) struct Sources {
    mine: u64,
    known: u64,
    /// One that is not one's own.
    other: Option<PathBuf>,
}

impl Mine {
    /// From the option's values, of which an empty one names no path; `None` without any.
    pub fn new(paths: &[OsString]) -> Option<Self> {
        let named = paths.iter().filter(|path| !path.is_empty());
        let absolute = |path: &OsString| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
            plain(&path)
        };
        (!paths.is_empty()).then(|| Mine {
            below: named.map(absolute).collect(),
        })
    }

    fn has(&self, source: &Path) -> bool {
        match self.below.is_empty() {
            true => !SYSTEM.iter().any(|system| source.starts_with(system)),
            false => self.below.iter().any(|path| source.starts_with(path)),
        }
    }
}

impl Sources {
    /// Whether a function is one's own that is in this file; where it is, is not known of one
    /// without debug information.
    pub fn is_mine(&mut self, mine: &Mine, source: Option<String>) -> bool {
        let Some(source) = source else { return false };
        let source = plain(Path::new(&source));
        self.known += 1;
        let is_mine = mine.has(&source);
        self.mine += u64::from(is_mine);
        if !is_mine {
            self.other.get_or_insert(source);
        }
        is_mine
    }

    /// Why no function is one's own, if none is.
    pub fn trouble(&self, mine: &Mine) -> Option<String> {
        if self.mine > 0 {
            return None;
        }
        if self.known == 0 {
            return Some(
                "--mine: no function's source is known: compile with -g, and keep the program where it was"
                    .to_owned(),
            );
        }
        let other = self.other.as_deref().unwrap_or(Path::new("?"));
        let below = mine.below.first().map_or_else(
            || "outside /usr and /opt".to_owned(),
            |path| format!("below {}", path.display()),
        );
        Some(format!(
            "--mine: no function's source is {below}; one is {}",
            other.display()
        ))
    }
}

/// The path without `.` and `..`: a compiler may have been started anywhere.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_sources_are_not_ones_own() {
        let mut sources = Sources::default();
        let mine = Mine::new(&[OsString::new()]).unwrap();
        for (source, expected) in [
            (Some("/usr/include/c++/12/bits/stl_algo.h"), false),
            (Some("/home/me/../../usr/include/boost/asio.hpp"), false),
            (Some("/home/me/app.cpp"), true),
            (Some("/usr2/app.cpp"), true),
            (None, false),
        ] {
            let found = sources.is_mine(&mine, source.map(str::to_owned));
            assert_eq!(found, expected, "{source:?}");
        }
        assert_eq!(sources.trouble(&mine), None);
        assert!(Mine::new(&[]).is_none());
    }

    #[test]
    fn a_path_tells_what_is_ones_own_and_where_nothing_is_it_says_so() {
        let mine = Mine::new(&["/src/app/./core".into()]).unwrap();
        let mut sources = Sources::default();
        let said = sources.trouble(&mine).unwrap();
        assert!(said.contains("compile with -g"), "{said}");
        assert!(!sources.is_mine(&mine, Some("/src/app/lib/a.cpp".into())));
        let said = sources.trouble(&mine).unwrap();
        assert!(
            said.ends_with("below /src/app/core; one is /src/app/lib/a.cpp"),
            "{said}"
        );
        assert!(sources.is_mine(&mine, Some("/src/app/build/../core/a.cpp".into())));
        assert_eq!(sources.trouble(&mine), None);
    }
}
