//! `heddle doctor`: what it says of programs that will be recorded well, and of others.

use crate::common::{Program, TASK, heddle, idle_library};
use serde_json::Value;
use std::path::Path;

const HOOKS: &str = "-finstrument-functions";
const ABC: &str = "void C() {}\nvoid B() { C(); }\nint main() { B(); }\n";

/// The exit code, and what is found: state, what is said and what mends it, by what it is about.
fn doctor(directory: &Path, arguments: &[&str]) -> (i32, Vec<(String, String, String)>) {
    let library = idle_library(directory);
    for more in ["libheddle-sync.so", "libheddle-alloc.so"] {
        std::fs::copy(&library, directory.join(more)).unwrap();
    }
    let mut command = heddle(directory);
    command.env("HEDDLE_LIB", library).env_remove("CXX");
    let run = command.args(["doctor", "--json"]).args(arguments).assert();
    let output = run.get_output();
    let lines = std::str::from_utf8(&output.stdout).unwrap().lines();
    let found = lines.map(|line| {
        let object: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
        let says = format!("{} → {}", text("says"), text("mend"));
        (text("what"), text("state"), says)
    });
    (output.status.code().unwrap(), found.collect())
}

/// Checks what is found about something.
fn about(found: &[(String, String, String)], what: &str, state: &str, says: &str) {
    let of_it = found.iter().find(|(about, ..)| about == what);
    let (_, is, said) = of_it.unwrap_or_else(|| panic!("nothing about {what}: {found:?}"));
    assert!(is == state && said.contains(says), "{what}: {is}: {said}");
}

#[test]
fn a_program_with_hooks_names_and_debug_information_is_well() {
    let directory = tempfile::tempdir().unwrap();
    Program::compile(directory.path(), "app", ABC, &[HOOKS, "-g"]);
    let (code, found) = doctor(directory.path(), &["./app"]);
    assert_eq!(code, 0);
    about(&found, "hooks", "ok", "app: -finstrument-functions");
    about(&found, "names", "ok", "app: of all functions");
    about(&found, "debug", "ok", "app: source lines");
    assert!(
        found.iter().all(|(what, ..)| what != "coroutines"),
        "{found:?}"
    );
    for what in ["recorder", "waits", "allocation", "system", "permission"] {
        about(&found, what, "ok", "");
    }
    for what in [
        "compiler",
        "second way",
        "disk",
        "room",
        "clock",
        "preemption",
        "pages",
    ] {
        let of_it = found.iter().find(|(about, ..)| about == what);
        assert!(
            of_it.is_some_and(|(_, state, _)| state != "wrong"),
            "{what}: {found:?}"
        );
    }
}

#[test]
fn what_will_be_missing_is_said_with_what_mends_it() {
    let directory = tempfile::tempdir().unwrap();
    Program::compile(directory.path(), "app", ABC, &[HOOKS]);
    let (code, found) = doctor(directory.path(), &["./app"]);
    assert_eq!(code, 0, "it can be recorded");
    about(&found, "debug", "lacks", "no source lines, no --args");
    about(&found, "debug", "lacks", "→ compile with -g");
    crate::common::run("strip", &[directory.path().join("app").to_str().unwrap()]);
    let (code, found) = doctor(directory.path(), &["./app"]);
    assert_eq!(code, 0);
    about(&found, "names", "lacks", "app is stripped");
    about(&found, "hooks", "ok", "-finstrument-functions");
}

#[test]
fn a_program_of_which_nothing_would_be_recorded_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    Program::compile(directory.path(), "plain", ABC, &[]);
    let (code, found) = doctor(directory.path(), &["./plain"]);
    assert_eq!(code, 1);
    about(&found, "hooks", "wrong", "nothing would be recorded");
    about(
        &found,
        "hooks",
        "wrong",
        "→ compile with: c++ $(heddle flags)",
    );
    Program::compile(directory.path(), "static", ABC, &[HOOKS, "-static"]);
    let (code, found) = doctor(directory.path(), &["./static"]);
    assert_eq!(code, 1);
    about(&found, "program", "wrong", "statically linked");
    let (code, found) = doctor(directory.path(), &["no-such-program"]);
    assert_eq!(code, 1);
    about(&found, "program", "wrong", "not found in PATH");
    let (code, found) = doctor(directory.path(), &["-o", "nowhere"]);
    assert_eq!(code, 1);
    about(&found, "disk", "wrong", "nowhere: ");
}

#[test]
fn coroutines_are_said_to_be_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let source = format!("{TASK}\ntask f() {{ co_return; }}\nint main() {{ f(); }}\n");
    Program::compile(
        directory.path(),
        "app",
        &source,
        &["-std=c++20", HOOKS, "-g"],
    );
    let (_, found) = doctor(directory.path(), &["./app"]);
    about(&found, "coroutines", "ok", "app: told apart, each instance");
}

#[test]
fn lines_for_people_have_the_state_and_below_it_what_mends_it() {
    let directory = tempfile::tempdir().unwrap();
    Program::compile(directory.path(), "plain", ABC, &[]);
    let library = idle_library(directory.path());
    let mut command = heddle(directory.path());
    let run = command
        .env("HEDDLE_LIB", library)
        .args(["doctor", "./plain"])
        .assert()
        .code(1);
    let text = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    let hooks = text
        .lines()
        .position(|line| line.starts_with("hooks       wrong  no function"));
    let mend = text.lines().nth(hooks.unwrap() + 1).unwrap();
    assert!(
        mend.starts_with("                   → compile with: "),
        "{text}"
    );
}
