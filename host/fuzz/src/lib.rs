//! Everything that reads bytes which others may have written, as functions of those bytes.
//!
//! A [`Target`] gives one reader an input, in every way in which a command would use it;
//! `recorder` gives it to one of the readers in the traced process. Whatever the input is, the
//! reader ends in a result or an error: without a panic, and within the memory of
//! [`MOST_MEMORY`]. `tests/fuzz` lets libFuzzer choose inputs, guided by the edges that a reader
//! takes; the inputs in `corpora` are read by the ordinary tests.

mod experiments;
mod files;
mod filters;
mod index;
mod memory;
mod pack;
mod plan;
#[cfg(target_arch = "x86_64")]
mod recorder;
mod results;
mod symbols;
mod trace;

pub use files::Files;
pub use index::origin as index_origin;
pub use pack::{Part, assemble};

/// Bytes that a reader may take at a time, whatever its input is.
pub const MOST_MEMORY: usize = 256 << 20;

/// A reader, and what it is given.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name, which is that of its corpus, too.
    pub name: &'static str,
    read: fn(&[u8]),
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target {
        name: "experiments",
        read: experiments::read,
    },
    Target {
        name: "filters",
        read: filters::read,
    },
    Target {
        name: "pack",
        read: pack::read,
    },
    Target {
        name: "plan",
        read: plan::read,
    },
    #[cfg(target_arch = "x86_64")]
    Target {
        name: "recorder",
        read: recorder::read,
    },
    Target {
        name: "results",
        read: results::read,
    },
    Target {
        name: "symbols",
        read: symbols::read,
    },
    Target {
        name: "trace",
        read: trace::read,
    },
    Target {
        name: "tui-index",
        read: index::read,
    },
];

impl Target {
    /// The one with this name.
    pub fn named(name: &str) -> Option<Target> {
        TARGETS.iter().copied().find(|target| target.name == name)
    }

    /// Reads an input.
    ///
    /// # Panics
    /// If the reader does, or takes more memory than [`MOST_MEMORY`].
    pub fn run(self, input: &[u8]) {
        let before = memory::begin();
        (self.read)(input);
        let used = memory::most_since(before);
        assert!(
            used <= MOST_MEMORY,
            "{}: {used} bytes of memory for an input of {} bytes",
            self.name,
            input.len()
        );
    }
}

/// A directory for the files of one input, which goes with it.
fn scratch() -> tempfile::TempDir {
    // In memory, where there is such a file system.
    let made = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    made.unwrap_or_else(|error| panic!("no directory for an input's files: {error}"))
}

/// Writes a file of an input.
fn write(path: &std::path::Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
