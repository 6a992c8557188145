//! What will be recorded of a program, and what not.

use super::finding::Finding;
use crate::names::printable;
use crate::preparing::modules::modules;
use crate::preparing::{library, program};
use heddle_symbols::{Hooks, Images, SymbolTable};
use heddle_trace_file::{Addr, Module};
use std::ffi::OsStr;
use std::path::Path;

/// Functions of which one has a source line, where there are lines.
const ENOUGH: usize = 200;

/// The program of this name, as the shell would find it, and its libraries.
pub fn look(name: &OsStr) -> Vec<Finding> {
    let path = match program::find(name) {
        Ok(path) => path,
        Err(failure) => return vec![Finding::wrong("program", failure.message, None)],
    };
    if let Ok(library) = library::find(library::Library::Calls)
        && let Err(failure) = program::verify(&path, &library)
    {
        return vec![Finding::wrong("program", failure.message, None)];
    }
    let shown = printable(&path.display().to_string());
    if program::interpreter(&path).is_none() {
        return vec![Finding::lacking(
            "program",
            format!("{shown} is a script, or not readable: what it runs is recorded"),
            "heddle doctor PROGRAM, with the program that it runs",
        )];
    }
    let modules = match modules(&path) {
        Ok(modules) => modules,
        Err(failure) => return vec![Finding::wrong("program", failure.message, None)],
    };
    let mut all = vec![Finding::well("program", shown)];
    let mut images = Images::new();
    let hooked: Vec<(&Module, Hooks)> = modules
        .iter()
        .map(|module| (module, images.hooks(module)))
        .filter(|(_, hooks)| *hooks != Hooks::default())
        .collect();
    all.push(ways(&hooked, modules.len()));
    for (module, hooks) in hooked {
        if let Some(table) = images.table(module) {
            all.extend(of_module(&mut images, module, hooks, &table));
        }
    }
    all
}

fn file_name(module: &Module) -> String {
    let path: &Path = &module.path;
    printable(
        &path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy(),
    )
}

/// By which ways in which files call hooks.
fn ways(hooked: &[(&Module, Hooks)], files: usize) -> Finding {
    if hooked.is_empty() {
        return Finding::wrong(
            "hooks",
            format!(
                "no function of it, nor of its {} libraries, calls a hook: nothing would be recorded; it was compiled without the flags, or what calls hooks is opened while it runs (dlopen)",
                files - 1
            ),
            Some(
                "compile with: c++ $(heddle flags) …; for the calls of the optimised program: --way fentry",
            ),
        );
    }
    let way = |hooks: &Hooks| match (hooks.functions, hooks.entry) {
        (true, true) => "both ways in",
        (true, false) => "-finstrument-functions",
        _ => "-mfentry",
    };
    let each = hooked
        .iter()
        .map(|(module, hooks)| format!("{}: {}", file_name(module), way(hooks)));
    Finding::well("hooks", each.collect::<Vec<_>>().join(", "))
}

fn of_module(
    images: &mut Images,
    module: &Module,
    hooks: Hooks,
    table: &SymbolTable,
) -> Vec<Finding> {
    let file = file_name(module);
    let names = match table.has_symtab() {
        true => Finding::well("names", format!("{file}: of all functions")),
        false => Finding::lacking(
            "names",
            format!(
                "{file} is stripped: exported functions have names, others are printed as {file}+0x1234"
            ),
            "link without -s and do not strip it, or install its debug file",
        ),
    };
    let described = table.stretches().take(ENOUGH).any(|(start, ..)| {
        images
            .line(module, Addr(start.wrapping_add(module.bias)))
            .is_some()
    });
    let debug = match described {
        true => Finding::well(
            "debug",
            format!("{file}: source lines, arguments and results"),
        ),
        false => Finding::lacking(
            "debug",
            format!(
                "{file} has no debug information: no source lines, no --args and --retval, coroutines are told apart by looking at registers and stack"
            ),
            "compile with -g, or install its debug file",
        ),
    };
    let mut all = vec![names, debug];
    all.extend(coroutines(images, module, hooks, table));
    all
}

/// Whether coroutines will be told apart, if there are any.
fn coroutines(
    images: &mut Images,
    module: &Module,
    hooks: Hooks,
    table: &SymbolTable,
) -> Option<Finding> {
    let file = file_name(module);
    if !table.has_symtab() && table.uses_cpp_heap() {
        return Some(Finding::well(
            "coroutines",
            format!("{file}: looked for at run time, if there are any"),
        ));
    }
    if !table.has_coroutines() {
        return None;
    }
    let clang = table.clang_coroutines();
    if !clang.is_empty() && hooks.functions && !resumes_by_hooks(images, module, table) {
        return Some(Finding::lacking(
            "coroutines",
            format!(
                "{file}: Clang gave no hook to what resumes its coroutines, so they are not told apart, and what they call counts for who resumed them"
            ),
            "compile with: clang++ $(heddle flags --compiler clang++) …",
        ));
    }
    Some(Finding::well(
        "coroutines",
        match images.recipes(module).len() {
            0 => format!("{file}: told apart by looking at registers and stack"),
            _ => format!("{file}: told apart, each instance"),
        },
    ))
}

/// Whether a function that resumes a coroutine calls a hook.
fn resumes_by_hooks(images: &mut Images, module: &Module, table: &SymbolTable) -> bool {
    let calls = images.enter_calls(module);
    let places = calls.places();
    table.stretches().any(|(start, size, name)| {
        let first = places.partition_point(|&place| place < start);
        name.ends_with(".resume") && places.get(first).is_some_and(|&place| place < start + size)
    })
}
