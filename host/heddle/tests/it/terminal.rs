//! What a user sees on a terminal, which `script` makes: it has 80 columns, for nobody tells it
//! otherwise.

use crate::common::{LIBC, Program, TASK, abc};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs `heddle` with these words on a terminal.
fn on_terminal(directory: &Path, words: &str, pager: Option<&str>) -> (i32, String) {
    let heddle = env!("CARGO_BIN_EXE_heddle");
    shell_on_terminal(directory, &format!("{heddle} {words}"), pager)
}

/// Runs a shell's command there.
fn shell_on_terminal(directory: &Path, line: &str, pager: Option<&str>) -> (i32, String) {
    let mut script = Command::new("script");
    script
        .args(["-qec", line, "/dev/null"])
        .current_dir(directory)
        .stdin(Stdio::null())
        .env("TERM", "xterm")
        .env("NO_COLOR", "1");
    for name in ["PAGER", "LESS", "HEDDLE_PAGER", "HEDDLE_LIB", "LD_PRELOAD"] {
        script.env_remove(name);
    }
    if let Some(pager) = pager {
        script.env("HEDDLE_PAGER", pager);
    }
    let Output { status, stdout, .. } = script.output().unwrap();
    let text = String::from_utf8_lossy(&stdout).replace("\r\n", "\n");
    (status.code().unwrap(), text)
}

/// A pager that notes in `paged` what it is given, and `LESS`.
fn noting(directory: &Path) -> String {
    let path = directory.join("pager");
    fs::write(
        &path,
        "#!/bin/sh\necho \"LESS=$LESS\" >paged\ntee -a paged\n",
    )
    .unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_pager_shows_results_on_a_terminal_and_nowhere_else() {
    let (directory, _program) = abc();
    let path = directory.path();
    let pager = noting(path);
    let (code, text) = on_terminal(path, "report", Some(&pager));
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("B()"), "{text}");
    let paged = fs::read_to_string(path.join("paged")).unwrap();
    // One screen is printed and that is all: F, and X keeps it on the screen.
    assert!(paged.starts_with("LESS=FRSX\n"), "{paged}");
    assert!(paged.contains("B()"), "{paged}");
    for words in ["report | cat", "report >file", "report --format json"] {
        fs::remove_file(path.join("paged")).unwrap();
        let (code, text) = on_terminal(path, words, Some(&pager));
        assert_eq!(code, 0, "{words}: {text}");
        assert!(!path.join("paged").exists(), "{words}");
        fs::write(path.join("paged"), "").unwrap();
    }
}

#[test]
fn the_exit_code_is_the_command_s_own_whatever_becomes_of_the_pager() {
    let (directory, program) = abc();
    let path = directory.path();
    let diff = "diff heddle.trace later.trace --fail-if-slower 0";
    fs::rename(path.join("heddle.trace"), path.join("later.trace")).unwrap();
    // The later run calls functions that this one does not.
    program.trace(|thread, at| {
        let main = at("main");
        thread
            .enter(10, main, LIBC + 5, 900)
            .exit(20, main, LIBC + 5, 900);
    });
    let noting = noting(path);
    for pager in [
        Some(noting.as_str()),
        Some("head -n 1"),
        Some("false"),
        Some("/no/such/pager"),
        Some("cat"),
        None,
    ] {
        let (code, text) = on_terminal(path, diff, pager);
        assert_eq!(code, 3, "{pager:?}: {text}");
        assert!(!text.contains("Broken pipe"), "{pager:?}: {text}");
        assert!(
            text.contains("slower by more than 0 %"),
            "{pager:?}: {text}"
        );
        let (code, text) = on_terminal(path, "report", pager);
        assert_eq!(code, 0, "{pager:?}: {text}");
        assert!(
            pager == Some("false") || text.contains("calls"),
            "{pager:?}: {text}"
        );
    }
}

#[test]
fn which_part_of_a_coroutine_a_function_is_stays_in_a_line_of_80_columns() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let long = "waits_for_".repeat(9);
    let source =
        format!("{TASK}\ntask {long}(int) {{ co_return; }}\nint main() {{ {long}(1); }}\n");
    let program = Program::compile(path, "abc", &source, &["-O0", "-std=c++20"]);
    let bias = program.at("main") - program.place(" main");
    let actor = bias + program.place(".actor");
    program.trace(|thread, at| {
        let main = at("main");
        thread
            .enter(100, main, LIBC + 5, 900)
            .enter(200, actor, main + 5, 800)
            .exit(300, actor, main + 5, 800)
            .exit(400, main, LIBC + 5, 900);
    });
    for words in ["report", "graph", "replay --format tree"] {
        let (code, text) = on_terminal(path, words, Some("cat"));
        assert_eq!(code, 0, "{words}: {text}");
        let of_it = |line: &&str| line.contains("waits_for_");
        let line = text
            .lines()
            .find(of_it)
            .unwrap_or_else(|| panic!("{words}: {text}"));
        assert!(line.contains("… [resume]"), "{words}: {line}");
        assert!(line.chars().count() <= 80, "{words}: {line}");
    }
    // Where no width bounds it, it is whole.
    let (_, text) = on_terminal(path, "report | cat", None);
    assert!(text.contains(&format!("{long}(int) [resume]")), "{text}");
}

#[test]
fn long_work_shows_how_far_it_is_on_a_terminal_and_nowhere_else() {
    let (directory, _program) = abc();
    let path = directory.path();
    let reading = "\r\u{1b}[Kheddle: reading heddle.trace: 0 %";
    let now = |words: &str| {
        let heddle = env!("CARGO_BIN_EXE_heddle");
        let words = words.replace("heddle ", &format!("HEDDLE_PROGRESS=now {heddle} "));
        let (code, text) = shell_on_terminal(path, &words, Some("cat"));
        assert_eq!(code, 0, "{words}: {text}");
        text
    };
    // It is gone before anything else is said, on either stream.
    for words in [
        "heddle report",
        "heddle replay",
        "heddle replay >file",
        "heddle export",
    ] {
        let text = now(words);
        assert!(
            text.starts_with(&format!("{reading}\r\u{1b}[K")),
            "{words}: {text:?}"
        );
        assert_eq!(text.matches("reading").count(), 1, "{words}: {text:?}");
    }
    assert!(
        !fs::read_to_string(path.join("file"))
            .unwrap()
            .contains("reading")
    );
    for words in [
        "heddle report 2>said",
        "heddle replay | cat",
        "heddle replay | tail -n 1",
    ] {
        assert!(!now(words).contains("reading"), "{words}");
    }
    assert!(
        !fs::read_to_string(path.join("said"))
            .unwrap()
            .contains("reading")
    );
    // Nobody waits a second for this.
    let (_, text) = on_terminal(path, "report", Some("cat"));
    assert!(!text.contains("reading"), "{text:?}");
}
