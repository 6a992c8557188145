//! Where libheddle.so is.

use super::failure::Failure;
use crate::embedded;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The library that records, and the one that records waits, too.
const NAMES: [&str; 2] = ["libheddle.so", "libheddle-sync.so"];

/// Where the library is installed, as seen from the directory of this command: beside `bin` in a
/// directory that the system's kind decides, or, in a build, beside the command.
const PLACES: [&str; 4] = ["../lib", MULTIARCH, "../lib64", "."];

#[cfg(target_arch = "x86_64")]
const MULTIARCH: &str = "../lib/x86_64-linux-gnu";
#[cfg(not(target_arch = "x86_64"))]
const MULTIARCH: &str = "../lib";

/// `$HEDDLE_LIB`, or for waits its neighbour; else the first of [`PLACES`] that has it; else the
/// one that is in this command, if it was built so.
pub fn find(waits: bool) -> Result<PathBuf, Failure> {
    let name = NAMES[usize::from(waits)];
    if let Some(path) = env::var_os("HEDDLE_LIB").filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        let path = match waits {
            true => path.with_file_name(name),
            false => path,
        };
        return absolute(&path).ok_or_else(|| {
            let what = match waits {
                true => "is set, and --sync needs its file's neighbour",
                false => "names",
            };
            Failure::ours(format!(
                "HEDDLE_LIB {what} {}, which is no file: unset it or correct it",
                path.display()
            ))
        });
    }
    let command = env::current_exe().map_err(|error| {
        Failure::ours(format!(
            "cannot tell where heddle itself is: {error}; set HEDDLE_LIB to {}",
            NAMES[0]
        ))
    })?;
    let directory = command.parent().unwrap_or(Path::new("/"));
    let installed = PLACES
        .iter()
        .find_map(|place| absolute(&directory.join(place).join(name)));
    match installed {
        Some(path) => Ok(path),
        None if embedded(waits).is_empty() => Err(Failure::ours(format!(
            "{name} is not in {}: install the whole package, build it with `./dev build`, or set HEDDLE_LIB to {}",
            PLACES
                .map(|place| directory.join(place).display().to_string())
                .join(", "),
            NAMES[0]
        ))),
        None => embedded::file(name, embedded(waits)).map_err(|error| {
            Failure::ours(format!("{error:#}; or set HEDDLE_LIB to a {}", NAMES[0]))
        }),
    }
}

fn embedded(waits: bool) -> &'static [u8] {
    match waits {
        true => embedded::WAITS_LIBRARY,
        false => embedded::LIBRARY,
    }
}

/// The value of ASAN_OPTIONS: AddressSanitizer's library refuses to run where another was loaded
/// before it. Ours wraps nothing that it wraps too, so it may come first. What the user says counts
/// more.
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
