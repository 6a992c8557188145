//! Recipes for values where a function is called in an unusual way, or its debug information says
//! less than it seems to.

use heddle_symbols::{FoundValues, Images, ValuesWanted};
use heddle_trace_file::write::TraceWriter;
use heddle_trace_file::{Missing, Of, Part, Source, Step, Trace, Type};
use std::path::Path;
use std::process::Command;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/values/conventions.c");

/// What defines the hooks.
const HOOKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include/heddle/return.h");

/// What is recorded of one function, compiled at this level with a hook at its entry: its
/// arguments first.
fn values(function: &str, level: &str) -> Vec<FoundValues> {
    let way = [
        "-pg",
        "-mfentry",
        "-minstrument-return=call",
        "-include",
        HOOKS,
    ];
    compiled(function, level, &way)
}

/// The same with a hook behind what the function begins with.
fn instrumented(function: &str, level: &str) -> Vec<FoundValues> {
    compiled(function, level, &["-finstrument-functions"])
}

fn compiled(function: &str, level: &str, way: &[&str]) -> Vec<FoundValues> {
    let directory = tempfile::tempdir().unwrap();
    let library = directory.path().join("library.so");
    let made = Command::new("gcc")
        .args(["-std=gnu11", "-shared", "-fPIC", "-g", "-w", level])
        .args(way)
        .args([Path::new(SOURCE), Path::new("-o"), &library])
        .output()
        .unwrap();
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let trace = directory.path().join("trace");
    let writer = TraceWriter::create(&trace).unwrap();
    let mut process = writer.process(1, 0, "/x").unwrap();
    process.module(0, 0x100_0000, 0, None, library.to_str().unwrap());
    process.finish().unwrap();
    let trace = Trace::open(&trace).unwrap();
    let mut images = Images::new();
    let module = trace.processes()[0].modules().iter().next().unwrap();
    let mut found = images.values(module, &mut |symbol| ValuesWanted {
        arguments: symbol == function,
        result: symbol == function,
    });
    found.sort_by_key(|values| values.of == Of::Result);
    found
}

const LEVELS: [&str; 2] = ["-O0", "-O2"];

#[test]
fn a_float_is_given_as_a_double_where_there_is_no_prototype() {
    for level in LEVELS {
        let of = |function| {
            let found = values(function, level);
            let kinds = found[0].fields.iter().map(|field| field.kind.clone());
            (kinds.collect::<Vec<Type>>(), found[0].steps.clone())
        };
        let float = |bytes| Type::Float { bytes };
        let character = Type::Character { bytes: 1 };
        let steps = |bytes| {
            [
                Step::Register(5, 0),
                Step::Put(1),
                Step::Vector(0, bytes),
                Step::Vector(1, 8),
            ]
        };
        let (kinds, found) = of("promoted");
        assert_eq!(kinds, [character.clone(), float(8), float(8)], "{level}");
        assert_eq!(found, steps(8), "{level}");
        let (kinds, found) = of("prototyped");
        assert_eq!(kinds, [character, float(4), float(8)], "{level}");
        assert_eq!(found, steps(4), "{level}");
    }
}

#[test]
fn nothing_is_known_of_a_function_that_is_called_by_another_abi() {
    for level in LEVELS {
        let found = values("foreign", level);
        let fields: Vec<_> = found.iter().flat_map(|values| &values.fields).collect();
        assert_eq!(fields.len(), 3, "{level}: two arguments and the result");
        for field in fields {
            let unknown = Source::Missing(Missing::NotKnown);
            assert_eq!(field.from, unknown, "{level}: {}", field.name);
        }
    }
}

#[test]
fn a_parameter_of_a_function_that_aligns_its_stack_is_where_the_abi_says() {
    let found = values("aligned", "-O0");
    let expected = [Step::Register(5, 0), Step::Put(4), Step::Vector(0, 8)];
    assert_eq!(found[0].steps, expected);
}

/// Where the arguments of a function that is compiled at `-O2` come from.
fn sources(function: &str) -> Vec<Source> {
    let mut found = instrumented(function, "-O2");
    let fields = found.remove(0).fields.into_iter();
    fields.map(|field| field.from).collect()
}

#[test]
fn what_a_later_statement_sets_is_not_what_was_given() {
    let given = Source::Recorded(vec![Part::Bytes(4)]);
    let gone = Source::Missing(Missing::OptimisedOut);
    assert_eq!(sources("settled"), [given, gone]);
}

#[test]
fn a_register_that_is_still_the_callers_is_no_half_of_a_parameter() {
    let given = Source::Recorded(vec![Part::Bytes(4)]);
    let low = Source::Recorded(vec![Part::Bytes(8), Part::Unknown(8)]);
    assert_eq!(sources("half"), [given, low]);
}

#[test]
fn a_location_that_cannot_be_read_costs_its_parameter_alone() {
    let unknown = Source::Missing(Missing::NotKnown);
    let given = Source::Recorded(vec![Part::Bytes(8)]);
    assert_eq!(sources("perhaps"), [unknown, given]);
}
