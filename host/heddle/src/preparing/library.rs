//! Where libheddle.so is.

use super::failure::Failure;
use crate::embedded;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Each of the libraries records all that the one before it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// It records calls.
    Calls,
    /// It records waits, too.
    Waits,
    /// It counts and times allocation, too.
    Allocation,
}

impl Library {
    fn name(self) -> &'static str {
        match self {
            Library::Calls => "libheddle.so",
            Library::Waits => "libheddle-sync.so",
            Library::Allocation => "libheddle-alloc.so",
        }
    }

    /// The command or option that asks for this library.
    fn option(self) -> &'static str {
        match self {
            Library::Calls => "heddle record",
            Library::Waits => "--sync",
            Library::Allocation => "--alloc",
        }
    }

    fn embedded(self) -> &'static [u8] {
        match self {
            Library::Calls => embedded::LIBRARY,
            Library::Waits => embedded::WAITS_LIBRARY,
            Library::Allocation => embedded::ALLOCATION_LIBRARY,
        }
    }
}

/// Where the library is installed, as seen from the directory of this command: beside `bin` in a
/// directory that the system's kind decides, or, in a build, beside the command.
const PLACES: [&str; 4] = ["../lib", MULTIARCH, "../lib64", "."];

#[cfg(target_arch = "x86_64")]
const MULTIARCH: &str = "../lib/x86_64-linux-gnu";
#[cfg(not(target_arch = "x86_64"))]
const MULTIARCH: &str = "../lib";

/// `$HEDDLE_LIB`, or for more than calls its neighbour; else the first of [`PLACES`] that has it;
/// else the one that is in this command, if it was built so.
pub fn find(library: Library) -> Result<PathBuf, Failure> {
    let name = library.name();
    if let Some(path) = env::var_os("HEDDLE_LIB").filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        let path = match library {
            Library::Calls => path,
            _ => path.with_file_name(name),
        };
        return absolute(&path).ok_or_else(|| {
            let what = match library {
                Library::Calls => "names".to_owned(),
                _ => format!(
                    "is set, and {} needs its file's neighbour",
                    library.option()
                ),
            };
            Failure::ours(format!(
                "HEDDLE_LIB {what} {}, which is no file: unset it or correct it",
                path.display()
            ))
        });
    }
    let plain = Library::Calls.name();
    let command = env::current_exe().map_err(|error| {
        Failure::ours(format!(
            "cannot tell where heddle itself is: {error}; set HEDDLE_LIB to {plain}"
        ))
    })?;
    let directory = command.parent().unwrap_or(Path::new("/"));
    let installed = PLACES
        .iter()
        .find_map(|place| absolute(&directory.join(place).join(name)));
    match installed {
        Some(path) => Ok(path),
        None if library.embedded().is_empty() => Err(Failure::ours(format!(
            "{name} is not in {}: install the whole package, build it with `./dev build`, or set HEDDLE_LIB to {plain}",
            PLACES
                .map(|place| directory.join(place).display().to_string())
                .join(", "),
        ))),
        None => embedded::file(name, library.embedded())
            .map_err(|error| Failure::ours(format!("{error:#}; or set HEDDLE_LIB to a {plain}"))),
    }
}

/// The value of ASAN_OPTIONS: AddressSanitizer's library refuses to run where another was loaded
/// before it. Ours may come first: what both wrap, malloc and its like, we pass on to it. What the
/// user says counts more.
pub fn sanitizer_options() -> OsString {
    let mut value = OsString::from("verify_asan_link_order=0");
    if let Some(theirs) = env::var_os("ASAN_OPTIONS").filter(|theirs| !theirs.is_empty()) {
        value.push(":");
        value.push(theirs);
    }
    value
}

fn absolute(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_file())
}

/// The value of LD_PRELOAD: our library first, then the user's own.
pub fn preload(library: &Path) -> Result<OsString, Failure> {
    // The loader separates by both, and knows no quoting.
    if library
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .any(|b| b" :".contains(b))
    {
        return Err(Failure::ours(format!(
            "{}: a path with a space or a colon cannot be preloaded; copy it elsewhere and set HEDDLE_LIB to it",
            library.display()
        )));
    }
    let mut value = library.as_os_str().to_owned();
    if let Some(theirs) = env::var_os("LD_PRELOAD").filter(|theirs| !theirs.is_empty()) {
        value.push(":");
        value.push(theirs);
    }
    Ok(value)
}
