//! A recipe is right where the program itself says which coroutine it is: at every level of
//! optimisation.

use heddle_symbols::{CoroutinePart, Images, SymbolTable, coroutine_part};
use heddle_trace_file::write::TraceWriter;
use heddle_trace_file::{FramePlace, FrameRegister, Recipe, Trace};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/recipes");

fn run(program: &str, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

/// The program with its hooks, compiled with these flags.
fn program(directory: &Path, flags: &[&str]) -> PathBuf {
    let [hooks, program] = ["libhooks.so", "program"].map(|name| directory.join(name));
    let [hooks, path] = [&hooks, &program].map(|path| path.to_str().unwrap());
    let sources = ["hooks.c", "coroutines.cpp"].map(|name| format!("{SOURCES}/{name}"));
    run(
        "gcc",
        &["-O1", "-fPIC", "-shared", &sources[0], "-o", hooks],
    );
    let fixed = ["-std=c++20", "-fPIE", "-pie", "-finstrument-functions"];
    let except = ["-finstrument-functions-exclude-file-list=/include/c++/"];
    let mut arguments = [&fixed[..], &except, &[&sources[1], hooks, "-o", path]].concat();
    arguments.push("-Wl,-rpath,$ORIGIN");
    arguments.extend(flags);
    run("g++", &arguments);
    program
}

/// What is said of it, and the warnings.
fn recipes(program: &Path) -> (Vec<(Range<u64>, Recipe)>, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let writer = TraceWriter::create(directory.path()).unwrap();
    let mut process = writer.process(1, 0, "/x").unwrap();
    process.module(0, 0x100_0000, 0, None, program.to_str().unwrap());
    process.finish().unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    let mut images = Images::new();
    let modules = trace.processes()[0].modules();
    let mut module = modules.iter().next().unwrap().clone();
    // As `heddle record` asks, while the program runs.
    module.loaded_at = None;
    let found = images.recipes(&module);
    let warnings = images
        .take_warnings()
        .iter()
        .map(ToString::to_string)
        .collect();
    (found, warnings)
}

/// What `hooks.c` writes of an enter.
struct Record<'a>(&'a [u8]);

impl Record<'_> {
    const SIZE: usize = 8 * (9 + 1 + 64 + 128) + 256;

    fn word(&self, index: usize) -> u64 {
        u64::from_le_bytes(self.0[index * 8..][..8].try_into().unwrap())
    }

    fn at(&self, place: FramePlace) -> u64 {
        match place {
            FramePlace::Register(FrameRegister::Rdi) => panic!("rdi is the hook's"),
            FramePlace::Register(register) => self.word(1 + register as usize),
            FramePlace::BelowRbp(k) => self.word(10 + usize::from(k)),
            FramePlace::AboveSp(k) => self.word(74 + usize::from(k)),
            FramePlace::Anywhere => panic!("its debug information says where"),
        }
    }

    fn resume_index(&self, offset: u32) -> u16 {
        let frame = &self.0[8 * 202..];
        u16::from_le_bytes(frame[offset as usize..][..2].try_into().unwrap())
    }
}

/// What makes GCC inline these functions into their callers, as it may at -O2.
const INLINED: [&str; 4] = [
    "-O3",
    "--param=max-inline-insns-auto=10000",
    "--param=early-inlining-insns=10000",
    "--param=inline-min-speedup=1",
];

/// Counts of the enters of a coroutine's functions.
#[derive(Default)]
struct Count {
    enters: u32,
    known: u32,
    /// Those whose function was inlined where it was entered.
    inlined: u32,
}

/// Compares every enter of a coroutine's function.
fn compare(program: &Path, what: &str) -> Count {
    let table = SymbolTable::parse(&std::fs::read(program).unwrap()).unwrap();
    let (recipes, warnings) = recipes(program);
    assert!(warnings.is_empty(), "{what}: {warnings:?}");
    for pair in recipes.windows(2) {
        assert!(pair[0].0.end <= pair[1].0.start, "{what}: {pair:x?}");
    }
    let output = run(program.to_str().unwrap(), &[]);
    assert!(output.len() % Record::SIZE == 0 && !output.is_empty());
    let mut count = Count::default();
    let mut destroyed = 0;
    for record in output.chunks(Record::SIZE).map(Record) {
        let (function, returns_to, frame) = (record.word(0), record.word(1), record.word(9));
        let symbol = table.find(function).unwrap();
        let index = recipes.partition_point(|(range, _)| range.start <= returns_to);
        let recipe = index.checked_sub(1).map(|index| &recipes[index]);
        let recipe = recipe.filter(|(range, _)| range.contains(&returns_to));
        let Some((_, part, _)) = coroutine_part(symbol) else {
            assert!(
                recipe.is_none(),
                "{what}: a recipe for {symbol} at {returns_to:#x}"
            );
            continue;
        };
        let here = format!("{what}: {symbol}, hook returns to {returns_to:#x}, {recipe:x?}");
        count.enters += 1;
        count.inlined += u32::from(table.find(returns_to) != Some(symbol));
        let (_, recipe) = recipe.expect(&here);
        if let Some(place) = recipe.place {
            assert_eq!(record.at(place), frame, "{here}");
            count.known += 1;
        }
        let resume_index = record.resume_index(recipe.resume_index.expect(&here));
        assert_eq!(
            resume_index % 2 == 1,
            part == CoroutinePart::Resume && destroyed == frame,
            "{here}: {resume_index}"
        );
        destroyed = if part == CoroutinePart::Destroy {
            frame
        } else {
            0
        };
    }
    count
}

/// Without debug information, the code in front of the hook says it, and never wrongly.
#[test]
fn code_says_where_the_frame_is() {
    for level in ["-O0", "-O1", "-O2", "-Os"] {
        let directory = tempfile::tempdir().unwrap();
        let program = program(directory.path(), &[level]);
        let table = SymbolTable::parse(&std::fs::read(&program).unwrap()).unwrap();
        let (recipes, _) = recipes(&program);
        let output = run(program.to_str().unwrap(), &[]);
        let (mut enters, mut known) = (0, 0);
        for record in output.chunks(Record::SIZE).map(Record) {
            let (function, returns_to) = (record.word(0), record.word(1));
            if coroutine_part(table.find(function).unwrap()).is_none() {
                continue;
            }
            enters += 1;
            let here = recipes
                .iter()
                .find(|(range, _)| range.contains(&returns_to));
            let place = here.and_then(|(_, recipe)| recipe.place);
            let Some(place) = place.filter(|&place| place != FramePlace::Anywhere) else {
                continue;
            };
            known += 1;
            assert_eq!(record.at(place), record.word(9), "{level}: {returns_to:#x}");
        }
        println!("{level}: {known} of {enters}");
        assert!(2 * known > enters, "{level}: {known} of {enters}");
    }
}

/// Clang makes no `.destroy` of a coroutine whose frames all lie in their callers', and may inline
/// any other part.
#[test]
fn one_part_of_a_coroutine_is_enough_to_look_for_its_frame() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let [source, program] = ["part.c", "part"].map(|name| path.join(name));
    let [from, to] = [&source, &program].map(|path| path.to_str().unwrap());
    for (part, is_sought) in [
        ("resume", true),
        ("cleanup", true),
        ("destroy", true),
        ("cold", false),
    ] {
        let symbol = format!("_Z1av.{part}");
        let text = format!("void a() asm(\"{symbol}\"); void a() {{}} int main() {{ a(); }}");
        std::fs::write(&source, text).unwrap();
        run("gcc", &["-finstrument-functions", from, "-o", to]);
        let table = SymbolTable::parse(&std::fs::read(&program).unwrap()).unwrap();
        let all = table.stretches();
        let named = all.filter(|&(_, _, name)| is_sought && name == symbol);
        let expected: Vec<_> = named.map(|(start, size, _)| start..start + size).collect();
        let (found, warnings) = recipes(&program);
        // In pieces, where its code says something.
        let ends = found.first().zip(found.last());
        let found: Vec<_> = ends
            .map(|((first, _), (last, _))| first.start..last.end)
            .into_iter()
            .collect();
        assert_eq!((found, warnings), (expected, Vec::new()), "{symbol}");
    }
}

#[test]
fn what_debug_information_does_not_say_is_looked_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let program = program(path, &["-g", "-O2"]);
    let [name, debug, stripped, undescribed] = ["", ".debug", ".stripped", ".undescribed"]
        .map(|suffix| format!("{}{suffix}", program.display()));
    let (known, _) = recipes(&program);
    let sought = |recipe: &Recipe| recipe.place == Some(FramePlace::Anywhere);
    assert!(
        !known.iter().any(|(_, recipe)| sought(recipe)),
        "{known:x?}"
    );

    // By name.
    run("objcopy", &["--strip-debug", &name, &undescribed]);
    let (by_name, _) = recipes(undescribed.as_ref());
    let in_code = by_name.iter().filter(|(_, recipe)| !sought(recipe));
    assert!(in_code.clone().count() > 0);
    assert!(
        in_code
            .clone()
            .all(|(sites, _)| sites.end - sites.start == 1)
    );
    let table = SymbolTable::parse(&std::fs::read(&program).unwrap()).unwrap();
    for (start, size, symbol) in table.stretches() {
        let holds = |at: u64| by_name.iter().any(|(range, _)| range.contains(&at));
        let within = holds(start) && holds(start + size - 1);
        assert_eq!(within, coroutine_part(symbol).is_some(), "{symbol}");
    }

    // In all of its code.
    run("strip", &["-o", &stripped, &name]);
    let (everywhere, _) = recipes(stripped.as_ref());
    assert_eq!(
        everywhere,
        [(
            0..0x100_0000,
            Recipe {
                place: Some(FramePlace::Anywhere),
                resume_index: None
            }
        )]
    );

    // In the file that its debug information was put into.
    run("objcopy", &["--only-keep-debug", &name, &debug]);
    run(
        "objcopy",
        &[&format!("--add-gnu-debuglink={debug}"), &stripped],
    );
    assert_eq!(recipes(stripped.as_ref()), (known, vec![]));

    // Damaged: a warning, and by name.
    let mut bytes = std::fs::read(&program).unwrap();
    let at = section(&program, ".debug_abbrev").start;
    bytes[at..at + 64].fill(0xff);
    std::fs::write(&program, bytes).unwrap();
    let (found, warnings) = recipes(&program);
    assert_eq!(found, by_name);
    assert!(
        warnings.len() == 1 && warnings[0].contains("damaged debug information"),
        "{warnings:?}"
    );
}

#[test]
fn recipes_are_right_at_every_level() {
    let directory = tempfile::tempdir().unwrap();
    let all = [
        &["-O0"][..],
        &INLINED,
        &["-O1"],
        &["-O2"],
        &["-O3"],
        &["-Os"],
        &["-O2", "-gdwarf-4", "-gz", "-fno-omit-frame-pointer"],
        &["-O2", "-flto"],
    ];
    // `./dev test` takes two levels, `./dev test --all` every one.
    let quick = std::env::var_os("HEDDLE_TEST_QUICK").is_some();
    for flags in &all[..if quick { 2 } else { all.len() }] {
        let what = flags.join(" ");
        let program = program(directory.path(), &[&["-g"], *flags].concat());
        let count = compare(&program, &what);
        let Count {
            enters,
            known,
            inlined,
        } = count;
        println!("{what}: {known} of {enters} places known, {inlined} inlined");
        assert!(enters > 100, "{what}: {enters} enters of coroutines");
        assert_eq!(known, enters, "{what}");
        assert!(
            inlined > 0 || *flags != INLINED,
            "{what}: nothing was inlined"
        );
    }
}

/// Where a section is in the file.
fn section(program: &Path, name: &str) -> Range<usize> {
    let listed = run("readelf", &["-SW", program.to_str().unwrap()]);
    let listed = String::from_utf8(listed).unwrap();
    let line = listed
        .lines()
        .find(|line| line.contains(&format!(" {name} ")))
        .unwrap();
    let after = line.split(name).nth(1).unwrap();
    let number =
        |index| usize::from_str_radix(after.split_whitespace().nth(index).unwrap(), 16).unwrap();
    number(2)..number(2) + number(3)
}

#[test]
fn damaged_debug_information_is_survived() {
    let directory = tempfile::tempdir().unwrap();
    let program = program(directory.path(), &["-g", "-O1"]);
    let sound = std::fs::read(&program).unwrap();
    let sections = [
        ".debug_info",
        ".debug_abbrev",
        ".debug_loclists",
        ".debug_rnglists",
        ".debug_str",
        ".eh_frame",
        ".eh_frame_hdr",
    ]
    .map(|name| section(&program, name));
    let damage = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        prop_oneof![
            prop::collection::vec(any::<u8>(), 1..16),
            prop::collection::vec(Just(0xff), 1..16),
        ],
    );
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        ..Config::default()
    });
    let (found, refused) = (Cell::new(0), Cell::new(0));
    let damages = prop::collection::vec(damage, 1..8);
    let result = runner.run(&damages, |damages| {
        let mut bytes = sound.clone();
        for (section, at, new) in damages {
            let section = section.get(&sections);
            let at = section.start + at.index(section.len() - new.len());
            bytes[at..at + new.len()].copy_from_slice(&new);
        }
        std::fs::write(&program, bytes).unwrap();
        let (ranges, warnings) = recipes(&program);
        prop_assert!(
            ranges
                .windows(2)
                .all(|pair| pair[0].0.end <= pair[1].0.start)
        );
        prop_assert!(ranges.iter().all(|(range, _)| range.start < range.end));
        let answer = if warnings.is_empty() {
            &found
        } else {
            &refused
        };
        answer.set(answer.get() + 1);
        Ok(())
    });
    result.unwrap();
    let (found, refused) = (found.get(), refused.get());
    println!("{found} read, {refused} refused");
    assert!(found > 0 && refused > 0);
}
