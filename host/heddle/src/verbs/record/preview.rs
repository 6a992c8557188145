//! `heddle record --dry-run`: the functions that the patterns mean, without a run.

use super::failure::Failure;
use super::filtering::{Options, Search};
use super::program;
use crate::names::printable;
use crate::notes::{counted, note, quoted, warning};
use crate::output;
use heddle_symbols::Images;
use heddle_trace_file::{Addr, Module, Nanos};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Prints the functions of `program`, and of the libraries that the loader would load with it, that
/// the patterns of `options` match.
pub fn print(program: &Path, options: &Options) -> Result<(), Failure> {
    if options.patterns().next().is_none() {
        return Err(Failure {
            code: 2,
            message: "--dry-run prints what patterns match, and there is none: add -F, -N, --start-at or --stop-at (-F with the PATTERN of --args or --retval prints what that matches)".to_owned(),
        });
    }
    let failed = |error: anyhow::Error| Failure::ours(format!("{error:#}"));
    let mut search = Search::new(options);
    let mut found = vec![Vec::new(); options.patterns().count()];
    let mut images = Images::new();
    for module in modules(program)? {
        if !images.may_call_hooks(&module) {
            continue;
        }
        let table = images.table(&module);
        let Some(table) = table.filter(|table| table.calls_hooks()) else {
            continue;
        };
        for (pattern, name) in search.names_in_table(&table) {
            found[pattern].push((name, module.path.clone()));
        }
    }
    output::print(|out| {
        for ((_, option, pattern), functions) in options.patterns().zip(&found) {
            let number = counted(functions.len() as u64, "function");
            writeln!(
                out,
                "{option} {}: {number}",
                quoted(pattern.text().as_ref())
            )?;
            for (name, path) in functions {
                let file = path.file_name().unwrap_or(path.as_os_str());
                let file = file.to_string_lossy();
                writeln!(out, "    {}  ({})", printable(name), printable(&file))?;
            }
        }
        Ok(())
    })
    .map_err(failed)?;
    search.unmatched().iter().for_each(warning);
    let warnings = images.take_warnings();
    warnings
        .iter()
        .for_each(|each| warning(printable(&each.to_string())));
    note("nothing was run; what the program opens while it runs (dlopen) is not among these");
    Ok(())
}

/// The program's file, and those of its libraries.
fn modules(program: &Path) -> Result<Vec<Module>, Failure> {
    let shown = program.display();
    let absolute = program
        .canonicalize()
        .map_err(|error| Failure::ours(format!("{shown}: {error}")))?;
    let Some(loader) = program::interpreter(&absolute) else {
        return Err(Failure::ours(format!(
            "{shown} is a script, or not readable: --dry-run reads the names of a program; give it the one that {shown} runs"
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
