//! `heddle record --dry-run`: the functions that the patterns mean, without a run.

use super::filtering::{Options, Search};
use super::planning;
use crate::names::printable;
use crate::notes::{counted, note, quoted, warning};
use crate::output;
use crate::preparing::failure::Failure;
use crate::preparing::modules::modules;
use heddle_symbols::Images;
use std::path::Path;

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
    let warnings = images.take_warnings();
    if let Some(starved) = planning::starved(&warnings) {
        return Err(Failure::ours(printable(&starved)));
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
    warnings
        .iter()
        .for_each(|each| warning(printable(&each.to_string())));
    note("nothing was run; what the program opens while it runs (dlopen) is not among these");
    Ok(())
}
