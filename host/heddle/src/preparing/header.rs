//! Where heddle/return.h is.

use crate::embedded;
use std::env;
use std::path::{Path, PathBuf};

const NAME: &str = "heddle/return.h";

/// In the directory `$HEDDLE_INCLUDE`; else in `../include` (installed) and `../../include` (built
/// in the sources), as seen from the directory of this command; else a copy of what a command with
/// its own library holds.
///
/// # Errors
/// There is none, or its path holds what would need quoting: compilers' flags are separated by
/// spaces.
pub fn find() -> anyhow::Result<PathBuf> {
    let path = match env::var_os("HEDDLE_INCLUDE").filter(|path| !path.is_empty()) {
        Some(directory) => {
            let path = Path::new(&directory).join(NAME);
            file(&path).ok_or_else(|| {
                anyhow::anyhow!(
                    "HEDDLE_INCLUDE is set, but {} is no file: unset it or correct it",
                    path.display()
                )
            })?
        }
        None => beside_command()?,
    };
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"/._-+,@%".contains(b) || !b.is_ascii();
    if !path.as_os_str().as_encoded_bytes().iter().all(plain) {
        anyhow::bail!(
            "{}: a path with such characters would need quoting among the flags; copy the file elsewhere, to DIRECTORY/{NAME}, and set HEDDLE_INCLUDE to DIRECTORY",
            path.display()
        );
    }
    Ok(path)
}

fn beside_command() -> anyhow::Result<PathBuf> {
    let command = env::current_exe().map_err(|error| {
        anyhow::anyhow!(
            "cannot tell where heddle itself is: {error}; set HEDDLE_INCLUDE to the directory that holds {NAME}"
        )
    })?;
    let directory = command.parent().unwrap_or(Path::new("/"));
    let places = ["../include", "../../include"].map(|place| directory.join(place).join(NAME));
    if let Some(path) = places.iter().find_map(|place| file(place)) {
        return Ok(path);
    }
    if !embedded::LIBRARY.is_empty() {
        return embedded::file(NAME, embedded::RETURN_H);
    }
    anyhow::bail!(
        "{NAME} is neither {} nor {}: set HEDDLE_INCLUDE to the directory that holds it",
        places[0].display(),
        places[1].display()
    )
}

fn file(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_file())
}
