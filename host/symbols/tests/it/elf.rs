//! Real files of the compiler at hand: what has a name gets it, what has none gets none.

use heddle_symbols::{Images, Resolver, SymbolTable};
use heddle_trace_file::write::TraceWriter;
use heddle_trace_file::{Addr, Nanos, Trace};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = r#"
extern "C" void exported() {}
static __attribute__((noinline, used)) void hidden() {}
__attribute__((noinline)) int add(int a, int b) { return a + b; }
extern "C" void __quiet_alias() __attribute__((alias("exported")));
extern "C" void weak_alias() __attribute__((weak, alias("exported")));
asm(".text\n.globl sizeless\nsizeless: nop; nop\n.globl typeless\ntypeless: nop; nop\n.size typeless, 2\nnop\nnop\nnop");
int main() { exported(); hidden(); return add(1, 2) - 3; }
"#;

fn run(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

const BUILD_ID: &str = "5eed";

/// Compiles [`SOURCE`] with these flags and returns the program's path.
fn program(directory: &Path, flags: &[&str]) -> PathBuf {
    let source = directory.join("program.cpp");
    std::fs::write(&source, SOURCE).unwrap();
    let program = directory.join("program");
    let mut arguments = vec![
        "-O1",
        "-Wl,--build-id=0x5eed",
        source.to_str().unwrap(),
        "-o",
        program.to_str().unwrap(),
    ];
    arguments.extend(flags);
    run("g++", &arguments);
    program
}

/// Addresses by name as `nm` sees them.
fn address(program: &Path, name: &str) -> u64 {
    let output = Command::new("nm").arg(program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text
        .lines()
        .find(|line| line.split(' ').nth(2) == Some(name))
        .unwrap();
    u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
}

/// A trace whose process has the program mapped at `bias`.
fn mapped(program: &Path, build_id: Option<&str>, bias: u64) -> Trace {
    let directory = tempfile::tempdir().unwrap();
    let writer = TraceWriter::create(directory.path()).unwrap();
    let mut process = writer.process(1, 0, "/x").unwrap();
    process.module(
        bias,
        bias + 0x100_0000,
        bias,
        build_id,
        program.to_str().unwrap(),
    );
    process.finish().unwrap();
    Trace::open(directory.path()).unwrap()
}

/// The names that the program gets when mapped at `bias`, and the warnings.
fn names(
    program: &Path,
    build_id: Option<&str>,
    bias: u64,
    addresses: &[u64],
) -> (Vec<String>, Vec<String>) {
    let trace = mapped(program, build_id, bias);
    let mut images = Images::new();
    let mut resolver = Resolver::new(trace.processes()[0].modules());
    let names = addresses
        .iter()
        .map(|&address| {
            resolver
                .function(&mut images, Addr(bias + address), Nanos(0))
                .name
                .clone()
        })
        .collect();
    (
        names,
        images
            .take_warnings()
            .iter()
            .map(ToString::to_string)
            .collect(),
    )
}

#[test]
fn a_file_without_hooks_has_no_hooked_table_and_one_that_may_be_another_is_warned_of() {
    let hooks = ["-finstrument-functions"];
    for (flags, build_id, has_table, warns) in [
        (&[][..], Some(BUILD_ID), false, false),
        (&hooks[..], Some(BUILD_ID), true, false),
        (&[][..], Some("beef"), false, true),
        (&hooks[..], Some("beef"), false, true),
        // The program was written since the trace began.
        (&[][..], None, false, true),
        (&hooks[..], None, true, true),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let program = program(directory.path(), flags);
        let trace = mapped(&program, build_id, 0);
        let module = trace.processes()[0].modules().iter().next().unwrap();
        let mut images = Images::new();
        let table = images.hooked_table(module);
        assert_eq!(table.is_some(), has_table, "{flags:?} {build_id:?}");
        let warnings = images.take_warnings();
        assert_eq!(!warnings.is_empty(), warns, "{flags:?} {build_id:?}");
    }
}

#[test]
fn static_functions_and_pie_have_names_without_rdynamic() {
    let directory = tempfile::tempdir().unwrap();
    for flags in [["-pie", "-fPIE"], ["-no-pie", "-fno-PIE"]] {
        let program = program(directory.path(), &flags);
        let table = SymbolTable::parse(&std::fs::read(&program).unwrap()).unwrap();
        let at = |name: &str| table.find(address(&program, name));
        assert_eq!(at("_ZL6hiddenv"), Some("_ZL6hiddenv"));
        assert_eq!(at("_Z3addii"), Some("_Z3addii"));
    }
}

#[test]
fn stretches_are_in_order_without_overlaps_and_named_as_by_address() {
    let directory = tempfile::tempdir().unwrap();
    let file = std::fs::read(program(directory.path(), &[])).unwrap();
    let table = SymbolTable::parse(&file).unwrap();
    assert!(!table.calls_hooks());
    let mut end = 0;
    let mut named = Vec::new();
    for (start, size, name) in table.stretches() {
        assert!(start >= end && size > 0, "{name}");
        end = start + size;
        for address in [start, end - 1] {
            assert_eq!(table.find(address), Some(name));
        }
        named.push(name.to_owned());
    }
    for name in ["main", "exported", "sizeless", "_Z3addii"] {
        assert!(named.iter().any(|other| other == name), "{name}");
    }
    let hooked = program(directory.path(), &["-finstrument-functions"]);
    let hooked = SymbolTable::parse(&std::fs::read(hooked).unwrap()).unwrap();
    assert!(hooked.calls_hooks());
}

#[test]
fn of_several_names_the_global_plain_one_is_taken() {
    let directory = tempfile::tempdir().unwrap();
    let program = program(directory.path(), &[]);
    let table = SymbolTable::parse(&std::fs::read(&program).unwrap()).unwrap();
    assert_eq!(
        table.find(address(&program, "weak_alias")),
        Some("exported")
    );
}

#[test]
fn an_address_outside_every_symbol_is_module_and_offset() {
    let directory = tempfile::tempdir().unwrap();
    let program = program(directory.path(), &[]);
    let [sizeless, typeless] = ["sizeless", "typeless"].map(|name| address(&program, name));
    let asked = [sizeless, sizeless + 1, typeless, typeless + 1, typeless + 2];
    let (names, warnings) = names(&program, Some(BUILD_ID), 0x5555_0000_0000, &asked);
    let gap = |address: u64| format!("program+{address:#x}");
    assert_eq!(
        names,
        [
            "sizeless".to_owned(),
            gap(sizeless + 1),
            "typeless".to_owned(),
            "typeless".to_owned(),
            gap(typeless + 2)
        ]
    );
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn a_rebuilt_file_is_not_believed_and_named_once() {
    let directory = tempfile::tempdir().unwrap();
    let program = program(directory.path(), &[]);
    let add = address(&program, "_Z3addii");
    let (names, warnings) = names(&program, Some("00ff"), 0x1_0000_0000, &[add, add]);
    assert_eq!(
        names,
        [format!("program+{add:#x}"), format!("program+{add:#x}")]
    );
    let [warning] = warnings.as_slice() else {
        panic!("one warning, not {warnings:?}")
    };
    assert!(
        warning.contains("program") && warning.contains("00ff") && warning.contains("record again"),
        "{warning}"
    );
}

/// Traces here are older than files.
#[test]
fn names_of_a_file_without_build_id_that_is_newer_are_doubted() {
    let directory = tempfile::tempdir().unwrap();
    let program = program(directory.path(), &["-Wl,--build-id=none"]);
    let add = address(&program, "_Z3addii");
    let (names, warnings) = names(&program, None, 0x1_0000_0000, &[add, add]);
    assert_eq!(names, ["add(int, int)", "add(int, int)"]);
    let [warning] = warnings.as_slice() else {
        panic!("one warning, not {warnings:?}")
    };
    assert!(
        warning.contains("program: written, moved or copied since it was recorded"),
        "{warning}"
    );
}

#[test]
fn a_stripped_file_gets_its_names_from_the_debug_file_beside_it() {
    let directory = tempfile::tempdir().unwrap();
    let program = program(directory.path(), &[]);
    let hidden = address(&program, "_ZL6hiddenv");
    let debug = directory.path().join("program.debug");
    let (program_name, debug_name) = (program.to_str().unwrap(), debug.to_str().unwrap());
    run("objcopy", &["--only-keep-debug", program_name, debug_name]);
    run("strip", &[program_name]);
    let (without, warnings) = names(&program, Some(BUILD_ID), 0x1000_0000, &[hidden, hidden + 1]);
    assert_eq!(
        without,
        [
            format!("program+{hidden:#x}"),
            format!("program+{:#x}", hidden + 1)
        ]
    );
    let [warning] = warnings.as_slice() else {
        panic!("one warning, not {warnings:?}")
    };
    assert!(
        warning.starts_with("program has no symbol table (it is stripped)"),
        "{warning}"
    );
    run(
        "objcopy",
        &[&format!("--add-gnu-debuglink={debug_name}"), program_name],
    );
    let found = names(&program, Some(BUILD_ID), 0x1000_0000, &[hidden]);
    assert_eq!(found, (vec!["hidden()".to_owned()], vec![]));
}

#[test]
fn a_file_that_is_gone_is_a_warning() {
    let (names, warnings) = names("/nowhere/lib.so".as_ref(), None, 0x1000_0000, &[0x10]);
    assert_eq!(names, ["lib.so+0x10"]);
    assert!(
        warnings.len() == 1 && warnings[0].contains("/nowhere/lib.so"),
        "{warnings:?}"
    );
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(
        at in 0usize..20_000,
        bytes in prop::collection::vec(any::<u8>(), 1..64),
        cut in 0usize..20_000,
        address in any::<u64>(),
    ) {
        // The test's own program is the file at hand; its first pages hold the headers.
        let mut content = std::fs::read("/proc/self/exe").unwrap();
        content.truncate(30_000);
        let at = at.min(content.len() - bytes.len());
        content[at..at + bytes.len()].copy_from_slice(&bytes);
        content.truncate(cut.max(64));
        if let Ok(table) = SymbolTable::parse(&content) {
            table.find(address);
        }
        let _ = SymbolTable::parse(&bytes);
    }
}
