//! The examples of `docs/expected-tree.md` are what it says.

use heddle_tree::{Call, Expected, Foreign, Process, Strand, compare, has_differences};
use std::sync::Arc;

/// What stands between "```tree" and "```".
fn examples() -> Vec<&'static str> {
    let document = include_str!("../../../../docs/expected-tree.md");
    document
        .split("```tree\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect()
}

fn call(name: &str, calls: u64, children: Vec<Call>) -> Call {
    Call {
        calls,
        children,
        ..Call::new(&format!("{name}(int, char const*)"), name)
    }
}

fn weaver(twists: u64) -> [Process; 1] {
    let mut compare = call("compare", 23, vec![]);
    compare.foreign = Some(Arc::new(Foreign {
        name: "libc.so.6+0x3d5a2".into(),
        module: "libc.so.6".into(),
    }));
    let mut calls = vec![
        call("setup", 1, vec![]),
        call("log", 7, vec![call("write", 1, vec![])]),
    ];
    calls.push(call("weave", 11, vec![call("beat", 3, vec![])]));
    calls.push(call("weave", 2, vec![]));
    calls.push(call("sort", 1, vec![compare]));
    let spinner = |name: &str| Strand {
        name: name.into(),
        calls: vec![call("spin", 1, vec![call("twist", twists, vec![])])],
        ..Strand::default()
    };
    let main = Strand {
        name: "weaver".into(),
        calls: vec![call("main", 1, calls)],
        ..Strand::default()
    };
    [Process {
        name: "weaver".into(),
        strands: vec![spinner("spinner-1"), main, spinner("spinner-2")],
    }]
}

#[test]
fn every_example_is_a_tree() {
    assert_eq!(examples().len(), 5);
    for example in examples() {
        Expected::parse(example).unwrap();
    }
}

#[test]
fn the_first_example_takes_what_it_describes_and_nothing_else() {
    let expected = Expected::parse(examples()[0]).unwrap();
    assert!(!has_differences(&compare(&expected, &weaver(1000))));
    assert!(has_differences(&compare(&expected, &weaver(999))));
}
