//! `heddle export --format firefox`: the profile has the form that samply's crate gives such
//! profiles, and says what happened.

use crate::common::{LIBC, Program, abc, heddle};
use fxprof_processed_profile::{
    CategoryHandle, CpuDelta, Frame, FrameFlags, FrameInfo, Profile, SamplingInterval, Timestamp,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::SystemTime;

fn exported(directory: &Path) -> Value {
    let mut command = heddle(directory);
    let output = command.args(["export", "--format", "firefox", "-o", "-"]);
    serde_json::from_slice(&output.assert().success().get_output().stdout).unwrap()
}

/// A profile of one thread with two functions.
fn reference() -> Value {
    let interval = SamplingInterval::from_millis(1);
    let mut profile = Profile::new("abc", SystemTime::now().into(), interval);
    let begin = Timestamp::from_millis_since_reference(0.0);
    let process = profile.add_process("abc", 4711, begin);
    let thread = profile.add_thread(process, 4711, begin, true);
    let frames = ["main", "A()"].map(|name| FrameInfo {
        frame: Frame::Label(profile.intern_string(name)),
        category_pair: CategoryHandle::OTHER.into(),
        flags: FrameFlags::empty(),
    });
    let stack = profile.intern_stack_frames(thread, frames.into_iter());
    for millis in [1.0, 2.0] {
        let time = Timestamp::from_millis_since_reference(millis);
        profile.add_sample(thread, time, stack, CpuDelta::ZERO, 1);
    }
    serde_json::to_value(&profile).unwrap()
}

/// The paths of all fields, an array's elements being `[]`, and the kinds of their values.
fn fields(value: &Value) -> BTreeMap<String, BTreeSet<&'static str>> {
    fn walk(value: &Value, path: &str, all: &mut BTreeMap<String, BTreeSet<&'static str>>) {
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "text",
            Value::Array(elements) => {
                let path = format!("{path}[]");
                elements.iter().for_each(|one| walk(one, &path, all));
                "array"
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    walk(field, &format!("{path}.{name}"), all);
                }
                "object"
            }
        };
        all.entry(path.to_owned()).or_default().insert(kind);
    }
    let mut all = BTreeMap::new();
    walk(value, "", &mut all);
    all
}

/// Where a value may be missing, or of another kind than in the reference.
const MAY_DIFFER: [&str; 7] = [
    ".threads[].frameTable.line[]",
    ".threads[].processShutdownTime",
    ".threads[].samples.stack[]",
    ".threads[].samples.threadCPUDelta[]",
    ".threads[].stackTable.prefix[]",
    ".threads[].tid",
    ".threads[].unregisterTime",
];

#[test]
fn a_profile_has_the_fields_that_the_profiler_knows_and_no_others() {
    let (directory, _program) = abc();
    let (ours, theirs) = (exported(directory.path()), reference());
    let version = "/meta/preprocessedProfileVersion";
    assert_eq!(ours.pointer(version), theirs.pointer(version));
    let (ours, theirs) = (fields(&ours), fields(&theirs));
    let names = |fields: &BTreeMap<String, _>| fields.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(names(&ours), names(&theirs));
    for (path, kinds) in &theirs {
        let same = kinds == &ours[path] || MAY_DIFFER.contains(&path.as_str());
        assert!(same, "{path}: {:?} rather than {kinds:?}", ours[path]);
    }
}

/// The samples of a thread: time in ms, stack outermost first, weight in ms.
fn samples(thread: &Value) -> Vec<(f64, String, f64)> {
    let column = |table: &str, column: &str| {
        let column = thread[table][column].as_array().unwrap();
        assert_eq!(
            column.len() as u64,
            thread[table]["length"].as_u64().unwrap()
        );
        column.clone()
    };
    let number = |value: &Value| value.as_u64().map(|number| number as usize);
    let (prefixes, frames) = (
        column("stackTable", "prefix"),
        column("stackTable", "frame"),
    );
    let (functions, names) = (column("frameTable", "func"), column("funcTable", "name"));
    let named = |mut stack: Option<usize>| {
        let mut all = Vec::new();
        while let Some(at) = stack {
            let function = number(&functions[number(&frames[at]).unwrap()]).unwrap();
            let name = number(&names[function]).unwrap();
            all.insert(0, thread["stringArray"][name].as_str().unwrap());
            stack = number(&prefixes[at]);
        }
        all.join(";")
    };
    let mut time = 0.0;
    let deltas = column("samples", "timeDeltas");
    let (stacks, weights) = (column("samples", "stack"), column("samples", "weight"));
    let rows = deltas.iter().zip(&stacks).zip(&weights);
    rows.map(|((delta, stack), weight)| {
        time += delta.as_f64().unwrap();
        (time, named(number(stack)), weight.as_f64().unwrap())
    })
    .collect()
}

/// The markers of a thread: name, times, phase.
fn markers(thread: &Value) -> Vec<(String, f64, Option<f64>, u64)> {
    let table = &thread["markers"];
    let rows = 0..table["length"].as_u64().unwrap() as usize;
    rows.map(|row| {
        let name = table["name"][row].as_u64().unwrap() as usize;
        (
            thread["stringArray"][name].as_str().unwrap().to_owned(),
            table["startTime"][row].as_f64().unwrap(),
            table["endTime"][row].as_f64(),
            table["phase"][row].as_u64().unwrap(),
        )
    })
    .collect()
}

#[test]
fn a_sample_counts_for_the_time_until_the_stack_changes() {
    let (directory, _program) = abc();
    let profile = exported(directory.path());
    let thread = &profile["threads"][0];
    assert_eq!(thread["name"], "abc 4711");
    assert_eq!(thread["isMainThread"], true);
    let own = |stack: &str| -> f64 {
        let all = samples(thread);
        let of_stack = all.iter().filter(|(_, known, _)| known == stack);
        of_stack.map(|(_, _, weight)| weight).sum()
    };
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found}");
    close(own("main"), 0.035);
    close(own("main;A()"), 1_999.987);
    close(own("main;A();B()"), 5_000.048);
    close(own("main;A();B();C()"), 7_000.0);
    let all = samples(thread);
    close(all[0].0, 0.01);
    close(all.last().unwrap().0, 14_000.08);
    assert_eq!(all.last().unwrap().1, "");
}

#[test]
fn what_is_suspended_has_a_marker_and_no_stack() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|thread, at| {
        let (main, a, c) = (at("main"), at("_Z1Av"), at("_Z1Cv"));
        thread.stack(0x7_0000, 0x8_0000);
        thread
            .enter(1_000, main, LIBC + 5, 0x7_f000)
            .strand_made(1_500, 9)
            .strand_switch(2_000, 9)
            .enter(2_000, a, LIBC + 5, 0x4_f000)
            .strand_waits(3_000, 9, "the \"door\"")
            .strand_switch(3_000, 0)
            .enter(3_500, c, main + 5, 0x7_ef00)
            .mark(3_600, 0, "here")
            .exit(3_700, c, main + 5, 0x7_ef00)
            .strand_switch(4_000, 9)
            .exit(5_000, a, LIBC + 5, 0x4_f000)
            .strand_end(5_000, 9)
            .strand_switch(5_000, 0)
            .exit(6_000, main, LIBC + 5, 0x7_f000);
    });
    let profile = exported(directory.path());
    let threads = profile["threads"].as_array().unwrap();
    let names: Vec<_> = threads
        .iter()
        .map(|thread| thread["name"].as_str())
        .collect();
    assert_eq!(names, [Some("abc 4711"), Some("fiber 2 A()")]);
    let fiber: Vec<_> = samples(&threads[1])
        .into_iter()
        .map(|(_, stack, _)| stack)
        .collect();
    assert_eq!(fiber, ["A()", "", "A()", ""]);
    let waits = markers(&threads[1]).into_iter();
    let waits: Vec<_> = waits.filter(|one| one.0.starts_with("waits")).collect();
    assert_eq!(
        waits,
        [("waits: the \"door\"".to_owned(), 0.003_5, Some(0.005), 1)]
    );
    let main = markers(&threads[0]);
    assert!(
        main.contains(&("here".to_owned(), 0.003_6, None, 0)),
        "{main:?}"
    );
    let hosts = main.iter().filter(|(name, ..)| name == "fiber 2");
    assert_eq!(hosts.count(), 2, "{main:?}");
}

#[test]
fn strands_for_which_the_profiler_has_no_room_are_counted() {
    const FIBERS: u64 = 5_002;
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|thread, at| {
        let (main, a) = (at("main"), at("_Z1Av"));
        thread.stack(0x7_0000, 0x8_0000);
        thread.enter(1_000, main, LIBC + 5, 0x7_f000);
        for fiber in 0..FIBERS {
            let (time, number) = (2_000 + fiber * 10, fiber + 9);
            thread
                .strand_made(time, number)
                .strand_switch(time, number)
                .enter(time + 1, a, LIBC + 5, 0x4_f000)
                .exit(time + 5, a, LIBC + 5, 0x4_f000)
                .strand_end(time + 6, number)
                .strand_switch(time + 6, 0);
        }
        thread.exit(90_000, main, LIBC + 5, 0x7_f000);
    });
    let mut command = heddle(directory.path());
    let output = command.args(["export", "--format", "firefox", "-o", "-"]);
    let output = output.assert().success().get_output().clone();
    let profile: Value = serde_json::from_slice(&output.stdout).unwrap();
    // The thread is one of them.
    assert_eq!(profile["threads"].as_array().unwrap().len(), 5_000);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("3 strands were left out"), "{said}");
}
