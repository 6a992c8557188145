//! The files that the loader would put into a program's process.

use super::failure::Failure;
use super::program;
use heddle_trace_file::{Addr, Module, Nanos};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program's file, and those of its libraries.
pub fn modules(program: &Path) -> Result<Vec<Module>, Failure> {
    let shown = program.display();
    let absolute = program
        .canonicalize()
        .map_err(|error| Failure::ours(format!("{shown}: {error}")))?;
    let Some(loader) = program::interpreter(&absolute) else {
        return Err(Failure::ours(format!(
            "{shown} is a script, or not readable, and has no functions itself; give the program that {shown} runs"
        )));
    };
    // The loader itself is run, and not the program: `ldd` asks it in the same way.
    let listed = Command::new(&loader).arg("--list").arg(&absolute).output();
    let text = listed.as_ref().map_or_else(
        |_| "".into(),
        |listed| String::from_utf8_lossy(&listed.stdout),
    );
    let libraries = text.lines().filter_map(library);
    Ok(std::iter::once(absolute)
        .chain(libraries)
        .map(module)
        .collect())
}

/// The path in a line of the loader's list: `libm.so.6 => /lib/libm.so.6 (0x7f…)`.
fn library(line: &str) -> Option<PathBuf> {
    let path = line.split_once("=> ").map_or(line.trim(), |(_, path)| path);
    let (path, _) = path.rsplit_once(" (0x")?;
    Path::new(path).canonicalize().ok()
}

fn module(path: PathBuf) -> Module {
    Module {
        path,
        start: Addr(0),
        end: Addr(0),
        text: Addr(0)..Addr(0),
        bias: 0,
        build_id: None,
        loaded: Nanos(0),
        loaded_at: None,
        unloaded: None,
    }
}

#[cfg(test)]
mod tests {
    use super::library;
    use std::path::Path;

    #[test]
    fn the_loaders_list_names_the_libraries_that_are_there() {
        let expected = Path::new("/").canonicalize().ok();
        assert_eq!(library("\tlib c.so => / (0x00007f0000000000)"), expected);
        assert_eq!(library("\t/ (0x00007f0000000000)"), expected);
        assert_eq!(library("\tlinux-vdso.so.1 (0x00007ffd00000000)"), None);
        assert_eq!(library("\tlibnone.so => not found"), None);
    }
}
