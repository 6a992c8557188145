//! Members of variables are what the program itself calls them, however it was compiled.

use heddle_symbols::{Images, SymbolTable, demangle};
use heddle_trace_file::{Addr, Module, Nanos};
use object::{Object, ObjectSection};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/variables");

fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The program, each unit compiled by itself with these flags.
fn program(directory: &Path, flags: &[&str]) -> PathBuf {
    let program = directory.join("program");
    let objects = ["members", "other"].map(|name| {
        let (source, object) = (format!("{SOURCES}/{name}.cpp"), directory.join(name));
        let object = object.with_extension("o").to_str().unwrap().to_owned();
        let fixed = ["-std=c++20", "-fno-pie", "-w", "-c", &source, "-o", &object];
        run("g++", &[&fixed[..], flags].concat());
        object
    });
    let path = program.to_str().unwrap();
    let fixed = ["-no-pie", &objects[0], &objects[1], "-o", path];
    run("g++", &[&fixed[..], flags].concat());
    program
}

fn module(path: PathBuf) -> Module {
    let all = Addr(0)..Addr(1 << 40);
    Module {
        path,
        start: all.start,
        end: all.end,
        text: all,
        bias: 0,
        build_id: None,
        loaded: Nanos(0),
        loaded_at: None,
        unloaded: None,
    }
}

/// The objects of the program: address, size, what it calls them, and what the symbols and the
/// debug information do.
fn objects(program: &Path) -> Vec<(u64, u64, String, String)> {
    let module = module(program.to_owned());
    let mut images = Images::new();
    let mut objects = Vec::new();
    for line in run(program.to_str().unwrap(), &[]).lines() {
        let mut words = line.splitn(3, ' ');
        let mut hex = || u64::from_str_radix(words.next()?.trim_start_matches("0x"), 16).ok();
        let (address, bytes) = (hex().unwrap(), hex().unwrap());
        let expected = words.next().unwrap().to_owned();
        let found = shown(&mut images, &module, (address, bytes));
        objects.push((address, bytes, expected, found));
    }
    objects
}

fn shown(images: &mut Images, module: &Module, (address, bytes): (u64, u64)) -> String {
    let variable = images.variable(module, Addr(address), bytes).unwrap();
    let name = demangle(&variable.symbol) + &variable.member;
    let name = name.replace("(anonymous namespace)::", "");
    let name = name.replace("local_static()::", "");
    match variable.offset {
        0 => name,
        offset => format!("{name}+{offset:#x}"),
    }
}

/// Those of which another name is found than the program's.
fn wrong(objects: &[(u64, u64, String, String)]) -> Vec<(&str, &str)> {
    let names = objects.iter();
    let names = names.map(|(_, _, expected, found)| (&**expected, &**found));
    names
        .filter(|(expected, found)| expected != found)
        .collect()
}

#[test]
fn members_of_variables_are_what_the_program_calls_them() {
    for flags in [
        &["-g", "-O0"][..],
        &["-g", "-O2"],
        &["-g", "-O2", "-gdwarf-4"],
        &["-g", "-O2", "-gz"],
        &["-g", "-O2", "-flto"],
        &["-g", "-O0", "-fdebug-types-section"],
    ] {
        let directory = tempfile::tempdir().unwrap();
        let objects = objects(&program(directory.path(), flags));
        assert!(objects.len() > 40, "{flags:?}");
        assert_eq!(wrong(&objects), [], "{flags:?}");
    }
}

/// Without debug information, or with one that is in other files, nothing is guessed.
#[test]
fn a_member_of_which_nothing_is_known_is_an_offset() {
    for flags in [
        &["-g0"][..],
        &["-g", "-gsplit-dwarf"],
        &["-gdwarf-2", "-gstrict-dwarf"],
        &["-g", "-fdebug-types-section", "-gdwarf-4"],
    ] {
        let directory = tempfile::tempdir().unwrap();
        let objects = objects(&program(directory.path(), flags));
        for (_, _, expected, found) in &objects {
            let variable = expected.split(['.', '[', '+']).next().unwrap();
            let begins = found.strip_prefix(variable);
            let begins = begins.or_else(|| found.strip_prefix("Holder<int>::shared"));
            let is_offset = |rest: &str| rest.is_empty() || rest.starts_with("+0x");
            assert!(
                expected == found || begins.is_some_and(is_offset),
                "{flags:?}: {expected} is {found}"
            );
        }
        assert!(!wrong(&objects).is_empty(), "{flags:?}");
    }
}

/// A packed trace carries the members.
#[test]
fn a_packed_trace_names_the_same_members() {
    let directory = tempfile::tempdir().unwrap();
    let program = program(directory.path(), &["-g", "-O0"]);
    let objects = objects(&program);
    let module = module(program);
    let places = || objects.iter().map(|&(address, bytes, ..)| (address, bytes));
    let addresses = places().map(|(address, _)| address);
    let text = Images::new().excerpt(&module, addresses, places()).unwrap();
    let packed = [heddle_trace_file::ModuleSymbols {
        path: module.path.to_string_lossy().into_owned(),
        build_id: None,
        text,
    }];
    let mut images = Images::packed(&packed);
    for (address, bytes, _, found) in &objects {
        assert_eq!(shown(&mut images, &module, (*address, *bytes)), *found);
    }
}

#[test]
fn a_variable_whose_address_is_a_number_in_a_table_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("indexed");
    let (source, path) = (format!("{SOURCES}/indexed.s"), program.to_str().unwrap());
    run("gcc", &["-nostdlib", "-no-pie", &source, "-o", path]);
    let bytes = std::fs::read(&program).unwrap();
    let table = SymbolTable::variables(&bytes).unwrap();
    let (module, mut images) = (module(program), Images::new());
    for name in ["first", "second"] {
        let at = table.address_of(name).unwrap() + 8;
        let found = shown(&mut images, &module, (at, 4));
        assert_eq!(found, format!("{name}.word"));
        let found = shown(&mut images, &module, (at + 4, 4));
        assert_eq!(found, format!("{name}+0xc"));
    }
}

/// Whatever the bytes of debug information are, an answer comes, and soon.
#[test]
fn damaged_debug_information_gives_other_names_at_worst() {
    let directory = tempfile::tempdir().unwrap();
    let program = program(directory.path(), &["-g", "-O0"]);
    let objects = objects(&program);
    let bytes = std::fs::read(&program).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let range = |name| {
        let section = file.section_by_name(name).unwrap();
        let (start, size) = section.file_range().unwrap();
        start as usize..(start + size) as usize
    };
    let parts = [".debug_info", ".debug_abbrev", ".debug_str"].map(range);
    let damaged = directory.path().join("damaged");
    let config = Config {
        cases: 60,
        ..Config::default()
    };
    let damage = prop::collection::vec(
        (0..3usize, any::<prop::sample::Index>(), any::<u8>()),
        1..40,
    );
    TestRunner::new(config)
        .run(&damage, |damage| {
            let mut bytes = bytes.clone();
            for (part, at, byte) in damage {
                let part = parts[part].clone();
                bytes[part.start + at.index(part.len())] = byte;
            }
            std::fs::write(&damaged, bytes).unwrap();
            let (module, mut images) = (module(damaged.clone()), Images::new());
            for &(address, bytes, ..) in &objects {
                shown(&mut images, &module, (address, bytes));
            }
            Ok(())
        })
        .unwrap();
}
