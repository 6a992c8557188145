//! What `heddle flags --way fentry` prints, compiled with. (The default way's flags are tested with
//! the other tracing verbs.)

use assert_cmd::Command;
use predicates::prelude::PredicateBooleanExt as _;
use predicates::str::contains;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../include")
        .canonicalize()
        .unwrap()
}

fn flags() -> Command {
    let mut command = Command::cargo_bin("heddle").unwrap();
    command
        .args(["flags", "--way", "fentry"])
        .env("HEDDLE_INCLUDE", include())
        .env("NO_COLOR", "1");
    command
}

fn printed(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

#[test]
fn both_hooks_are_called_and_defined_in_the_object() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("one.c");
    fs::write(&source, "int one(void) { return 1; }\n").unwrap();
    let flags = printed(&mut flags());
    let output = std::process::Command::new("gcc")
        .args(flags.split_whitespace())
        .args(["-S", "-o", "-"])
        .arg(&source)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let assembly = String::from_utf8(output.stdout).unwrap();
    for hook in ["__fentry__", "__return__"] {
        let calls = assembly
            .lines()
            .filter(|line| line.contains("call") && line.contains(hook))
            .count();
        assert_eq!(calls, 1, "{hook}");
        assert!(assembly.contains(&format!("{hook}:\n")), "{hook}");
    }
}

#[test]
fn every_build_system_gets_the_header_behind_its_option() {
    let header = include().join("heddle/return.h");
    let header = header.to_str().unwrap();
    for (system, pair) in [
        ("--cmake", format!("\"SHELL:-include {header}\"")),
        ("--make", format!("-include {header}\n")),
        ("--meson", format!("'-include', '{header}'")),
    ] {
        let snippet = printed(flags().arg(system));
        assert!(snippet.contains(&pair), "{system}: {snippet}");
        assert!(snippet.contains("-minstrument-return=call"), "{snippet}");
    }
}

#[test]
fn a_compiler_that_cannot_is_told_from_one_that_can() {
    let directory = tempfile::tempdir().unwrap();
    flags().args(["--compiler", "gcc"]).assert().success();
    let clang = directory.path().join("clang");
    fs::write(
        &clang,
        "#!/bin/sh\necho \"error: unknown argument: '-minstrument-return=call'\" >&2\nexit 1\n",
    )
    .unwrap();
    fs::set_permissions(&clang, fs::Permissions::from_mode(0o755)).unwrap();
    flags()
        .arg("--compiler")
        .arg(&clang)
        .assert()
        .code(1)
        .stdout("")
        .stderr(
            contains("unknown argument: '-minstrument-return=call'")
                .and(contains("only GCC on x86-64 can"))
                .and(contains("`heddle flags`")),
        );
    flags()
        .args(["--compiler", "/nowhere/cc"])
        .assert()
        .code(1)
        .stderr(contains("cannot run the compiler /nowhere/cc"));
}

/// A compiler that prints this on its standard error and fails, where the shell's `case` says so.
fn compiler(directory: &Path, name: &str, case: &str) -> PathBuf {
    let path = directory.join(name);
    let script = format!("#!/bin/sh\ncase \"$*\" in\n{case}\nesac\nexit 0\n");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_compiler_gets_the_flags_of_its_kind_and_what_its_defects_ask_for() {
    let directory = tempfile::tempdir().unwrap();
    let list = "-finstrument-functions-exclude-file-list=/include/c++/,-linux-gnu/c++/";
    let gcc = format!("-g -finstrument-functions {list}");
    let clang = "*exclude-file-list*) echo \"error: unknown argument\" >&2; exit 1 ;;";
    let crashes =
        "*\"-O2\"*) echo \"in.cpp:1: internal compiler error: in purge_dead_edges\" >&2; exit 1 ;;";
    let no_coroutines = "*\"-O2\"*) echo \"error: no <coroutine>\" >&2; exit 1 ;;";
    for (name, case, flags, said) in [
        (
            "clang",
            clang,
            "-g -finstrument-functions-after-inlining\n".to_owned(),
            "clang has no list of files to leave out",
        ),
        (
            "gcc-12",
            crashes,
            format!("{gcc} -fno-optimize-sibling-calls\n"),
            "gcc-12 crashes on coroutines",
        ),
        ("gcc-9", no_coroutines, format!("{gcc}\n"), ""),
        ("gcc-14", "", format!("{gcc}\n"), ""),
    ] {
        let compiler = compiler(directory.path(), name, case);
        let mut command = Command::cargo_bin("heddle").unwrap();
        let asked = command
            .args(["flags", "--compiler"])
            .arg(&compiler)
            .env("NO_COLOR", "1");
        let asked = asked.assert().success().stdout(flags);
        let printed = String::from_utf8(asked.get_output().stderr.clone()).unwrap();
        assert!(printed.contains(said), "{name}: {printed}");
        assert_eq!(printed.is_empty(), said.is_empty(), "{name}: {printed}");
    }
}

#[test]
fn a_header_that_is_not_there_or_cannot_be_named_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    flags()
        .env("HEDDLE_INCLUDE", directory.path())
        .assert()
        .code(1)
        .stdout("")
        .stderr(contains("heddle/return.h is no file"));
    let spaced = directory.path().join("a b/heddle");
    fs::create_dir_all(&spaced).unwrap();
    fs::write(spaced.join("return.h"), "").unwrap();
    flags()
        .env("HEDDLE_INCLUDE", directory.path().join("a b"))
        .assert()
        .code(1)
        .stdout("")
        .stderr(contains("copy the file elsewhere"));
}
