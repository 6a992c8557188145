//! Lab programs that are shell scripts: values are computed from the sample's number, so no timing
//! decides a test.

use assert_cmd::Command;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use tempfile::TempDir;

/// A lab whose experiments are `b1-switch` and `a1-matrix` in name only and not built, and, outside
/// of it, `own/` with an experiment of the user's and the script that it runs.
pub struct House {
    pub home: TempDir,
}

/// `$m` is the model, `$n` a parameter, `$s` the sample's number; `line VALUE` prints a good line.
const PREAMBLE: &str = r#"#!/bin/sh
n=1 ok=true
for a; do case $a in --model=*) m=${a#*=};; --n=*) n=${a#*=};; esac; done
s=$HEDDLE_SAMPLE
noise=$(( (s * 7) % 13 ))
line() {
    echo "{\"workload\":\"fifth\",\"model\":\"$m\",\"oracle\":{\"ok\":$ok,\"checked\":\"the sum\"},\"metrics\":{\"wall_ns\":$1},\"counters\":{\"strand_switches\":$n}}"
}
"#;

const EXPERIMENT: &str = r#"
title = "A fifth workload"
workload = "fifth"
metric = { name = "wall_ns", label = "time per item", unit = "ns" }
quick = { timeout_s = 20 }
source = { document = "A fifth article" }
"#;

impl House {
    pub fn new() -> Self {
        let house = Self {
            home: tempfile::tempdir().unwrap(),
        };
        for (id, workload) in [("b1-switch", "switch"), ("a1-matrix", "matrix")] {
            let text = EXPERIMENT.replace("\"fifth\"", &format!("\"{workload}\""));
            let text = format!(
                "id = \"{id}\"\n{text}{}",
                program("'{lab}/not-built'", "'serial'")
            );
            house.write(&format!("lab/experiments/{id}.toml"), &text);
        }
        house
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// An experiment `mine` that runs a script as the given models.
    pub fn mine(&self, script: &str, models: &str, more: &str) {
        let text = format!(
            "id = \"mine\"\n{EXPERIMENT}{}{more}",
            program("'./prog'", models)
        );
        self.write("own/mine.toml", &text);
        self.write("own/prog", &format!("{PREAMBLE}{script}"));
        std::fs::set_permissions(self.path("own/prog"), PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// Changes the text of that experiment.
    pub fn edit(&self, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.path("own/mine.toml")).unwrap();
        assert!(text.contains(from), "{from} is in {text}");
        self.write("own/mine.toml", &text.replace(from, to));
    }

    pub fn compare(&self, arguments: &[&str]) -> Command {
        let mut command = self.unseeded(arguments);
        command.args(["--seed", "1"]);
        command
    }

    /// One whose seed is drawn, or known already.
    pub fn unseeded(&self, arguments: &[&str]) -> Command {
        let mut command =
            std::process::Command::new(assert_cmd::cargo::cargo_bin("heddle-compare"));
        // A shell that starts the tests in the background ignores some of these, and they would
        // stay so.
        let set = || {
            for signal in [libc::SIGINT, libc::SIGHUP, libc::SIGTERM] {
                // SAFETY: signal is async-signal-safe.
                unsafe { libc::signal(signal, libc::SIG_DFL) };
            }
            Ok(())
        };
        // SAFETY: between fork and exec only `signal` is called.
        unsafe { std::os::unix::process::CommandExt::pre_exec(&mut command, set) };
        let mut command = Command::from_std(command);
        command
            .args(arguments)
            .current_dir(self.home.path())
            .env("HEDDLE_LAB", self.path("lab"));
        command
    }

    /// One that prints every claim and sentence, too.
    pub fn verbose(&self, arguments: &[&str]) -> Command {
        let mut command = self.compare(arguments);
        command.arg("--verbose");
        command
    }

    /// The page's text, without its markup.
    pub fn page(&self) -> String {
        self.page_in("report")
    }

    /// The same of another directory's.
    pub fn page_in(&self, dir: &str) -> String {
        let html = std::fs::read_to_string(self.path(dir).join("index.html")).unwrap();
        html.split('<')
            .filter_map(|part| part.split_once('>'))
            .map(|(_, text)| text)
            .collect()
    }

    pub fn samples(&self) -> Vec<serde_json::Value> {
        self.samples_in("report")
    }

    /// The same of another directory's.
    pub fn samples_in(&self, dir: &str) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.path(dir).join("results.jsonl")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    pub fn count(&self, field: &str, value: &str) -> usize {
        self.samples()
            .iter()
            .filter(|sample| sample[field] == value)
            .count()
    }
}

pub fn program(command: &str, models: &str) -> String {
    format!(
        "\n[[program]]\ncommand = [{command}]\nmodels = [{models}]\nmissing = 'it is not built here'\n"
    )
}

pub const TWICE: &str = "b=1000; [ $m = slow ] && b=2000; line $(( b + noise ))\n";

pub const RATIO: &str = r#"
[[claim]]
id = "twice"
words = "half as fast"
reading = "half as fast is twice the time, give or take a tenth"
says = "difference"
form = "ratio"
numerator = "slow"
denominator = "fast"
bound = { min = 1.8, max = 2.2 }
why = ["strand_switches"]
[[claim]]
id = "same"
words = "no difference"
reading = "none is within a quarter"
says = "sameness"
form = "ratio"
numerator = "slow"
denominator = "fast"
bound = { min = 0.8, max = 1.25 }
"#;

/// Text in which the pattern is found. (The crate predicates has one of its own, with all of
/// Unicode's tables, and would have the crate regex compiled a second time for the tests.)
pub fn is_match(pattern: &str) -> impl predicates::Predicate<str> {
    let regex = regex::Regex::new(pattern).unwrap();
    predicates::function::function(move |text: &str| regex.is_match(text))
}
