//! From a program's command with placeholders to what is executed.

use crate::experiment::Program;
use heddle_results::{Value, Values};
use std::path::{Path, PathBuf};

/// What a command is filled in with.
pub struct Fill<'a> {
    /// The model.
    pub model: &'a str,
    /// All parameters.
    pub params: &'a Values,
    /// Number of the sample in its cell.
    pub sample: u32,
    /// Seed of the run.
    pub seed: u64,
    /// Where Heddle's own lab programs are.
    pub lab: &'a Path,
    /// The experiment's directory.
    pub dir: &'a Path,
}

/// The names in `{…}`, in order.
pub fn placeholders(word: &str) -> impl Iterator<Item = &str> {
    word.split('{').skip(1).filter_map(|rest| {
        let name = rest.split_once('}')?.0;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        (!name.is_empty() && name.chars().all(plain)).then_some(name)
    })
}

/// Fills the placeholders in; appends `--model=…` and `--NAME=…` for the parameters that the
/// command doesn't use.
pub fn fill(program: &Program, fill: &Fill) -> Vec<String> {
    let used: Vec<&str> = program
        .command
        .iter()
        .flat_map(|word| placeholders(word))
        .collect();
    let mut words: Vec<String> = program
        .command
        .iter()
        .map(|word| fill_word(word, fill))
        .collect();
    if !used.contains(&"model") {
        words.push(format!("--model={}", fill.model));
    }
    for (name, value) in fill
        .params
        .iter()
        .filter(|(name, _)| !used.contains(&name.as_str()))
    {
        words.push(format!("--{name}={}", plain(value)));
    }
    if let Some(first) = words.first_mut() {
        *first = executable(first, fill);
    }
    words
}

/// A word that names an executable: a relative one with a `/` is meant from the experiment's
/// directory.
pub fn executable(word: &str, fill: &Fill) -> String {
    if word.contains('/') && !Path::new(word).is_absolute() {
        return fill.dir.join(word).to_string_lossy().into_owned();
    }
    word.to_owned()
}

/// A word with its placeholders filled in.
pub fn fill_word(word: &str, fill: &Fill) -> String {
    let mut text = word.to_owned();
    for name in placeholders(word) {
        if let Some(value) = value(fill, name) {
            text = text.replace(&format!("{{{name}}}"), &value);
        }
    }
    text
}

fn value(fill: &Fill, name: &str) -> Option<String> {
    Some(match name {
        "model" => fill.model.to_owned(),
        "sample" => fill.sample.to_string(),
        "seed" => fill.seed.to_string(),
        "lab" => fill.lab.to_string_lossy().into_owned(),
        "dir" => fill.dir.to_string_lossy().into_owned(),
        name => plain(fill.params.get(name)?),
    })
}

/// A parameter's value without quotes.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(word) => word.clone(),
        other => other.to_string(),
    }
}

/// The executable that the first word names: itself if it has a `/`, else looked up in `PATH`.
/// `Err` says what is missing.
pub fn locate(first: &str) -> Result<PathBuf, String> {
    use std::os::unix::fs::PermissionsExt;
    let state = |path: &Path| {
        std::fs::metadata(path)
            .ok()
            .map(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    if first.contains('/') {
        return match state(Path::new(first)) {
            Some(true) => Ok(first.into()),
            Some(false) => Err(format!("{} is not an executable file", from_here(first))),
            None => Err(format!("{} does not exist", from_here(first))),
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|dir| dir.join(first))
        .find(|path| state(path) == Some(true))
        .ok_or_else(|| format!("`{first}` is not in PATH"))
}

/// The path from the working directory, if it is below it: a report is read elsewhere, too.
pub fn from_here(path: &str) -> &str {
    let below = |here: PathBuf| Path::new(path).strip_prefix(here).ok();
    let shorter = std::env::current_dir().ok().and_then(below);
    shorter.and_then(Path::to_str).unwrap_or(path)
}

/// The words as one line for a shell.
pub fn quote(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%^".contains(c);
    let quoted = words.iter().map(|word| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn filled(command: &[&str]) -> Vec<String> {
        let text = serde_json::json!({"command": command, "models": ["m"]});
        let program: Program = serde_json::from_value(text).unwrap();
        let params = Values::from([("n".into(), json!(8)), ("opt".into(), json!("O2"))]);
        let (lab, dir) = (Path::new("/lab"), Path::new("/here"));
        fill(
            &program,
            &Fill {
                model: "fiber/asm",
                params: &params,
                sample: 3,
                seed: 9,
                lab,
                dir,
            },
        )
    }

    #[test]
    fn what_is_not_used_is_appended() {
        assert_eq!(
            filled(&["{lab}/matrix-{opt}"]),
            ["/lab/matrix-O2", "--model=fiber/asm", "--n=8"]
        );
        assert_eq!(
            filled(&[
                "python3",
                "{dir}/x.py",
                "{n}",
                "{n}{n}",
                "{model}",
                "{sample}",
                "{seed}"
            ]),
            [
                "python3",
                "/here/x.py",
                "8",
                "88",
                "fiber/asm",
                "3",
                "9",
                "--opt=O2"
            ]
        );
        assert_eq!(
            filled(&["bin/x", "{}", "{un known}"])[..3],
            ["/here/bin/x", "{}", "{un known}"]
        );
    }

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        let words: Vec<String> = ["printf", "%s|", "a b", "it's", "", "$HOME", "*"]
            .map(String::from)
            .to_vec();
        let output = std::process::Command::new("sh")
            .args(["-c", &quote(&words)])
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "a b|it's||$HOME|*|"
        );
    }

    #[test]
    fn a_missing_command_is_named() {
        assert!(locate("sh").is_ok() && locate("/bin/sh").is_ok());
        assert_eq!(
            locate("/nowhere/x"),
            Err("/nowhere/x does not exist".into())
        );
        let below = std::env::current_dir().unwrap().join("lab/x");
        assert_eq!(
            locate(&below.to_string_lossy()),
            Err("lab/x does not exist".into())
        );
        assert!(locate("no-such-command-anywhere").is_err_and(|text| text.contains("PATH")));
        assert!(locate("/tmp").is_err_and(|text| text.contains("not an executable")));
    }
}
