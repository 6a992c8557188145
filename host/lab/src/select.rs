//! Which experiments are meant: those that Heddle brings, those in the directories and files given,
//! and names among them.

use crate::command;
use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::models::{filter, hint};
use alphanumeric_sort::compare_str;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Where Heddle's own lab programs are: `HEDDLE_LAB`, or `../lab` seen from the command.
pub fn lab_dir() -> PathBuf {
    if let Some(dir) = std::env::var_os("HEDDLE_LAB").filter(|dir| !dir.is_empty()) {
        return std::path::absolute(&dir).unwrap_or_else(|_| dir.into());
    }
    let exe = std::env::current_exe().unwrap_or_default();
    exe.parent()
        .and_then(Path::parent)
        .unwrap_or(Path::new("."))
        .join("lab")
}

/// The script that builds what an experiment runs, as it is called from the working directory;
/// `None` where the lab is in no clone's build.
pub fn front_door() -> Option<String> {
    let lab = lab_dir();
    let door = lab.parent()?.parent()?.join("dev");
    if !door.is_file() {
        return None;
    }
    let door = door.to_string_lossy();
    let shown = command::from_here(&door);
    Some(match shown == door {
        true => shown.to_owned(),
        false => format!("./{shown}"),
    })
}

/// Whether a word is the path of a file or folder of experiments, whatever is there.
pub fn is_path(word: &str) -> bool {
    word.contains('/') || word.ends_with(".toml") || word == "." || word == ".."
}

/// Reads the experiments that `words` mean, in the order of their files; each word is
/// - a path, if it has a `/` or ends in `.toml`: a directory of experiments or one file;
/// - else the id or the workload of an experiment;
/// - else a directory here.
///
/// Paths add experiments. If there are only paths, all of theirs are meant; if there are names,
/// those are meant, from Heddle's own and from the paths. No word at all means all of Heddle's own
/// of the suite; a workload's name, too, means those of the suite, while an id is enough by itself.
///
/// # Errors
/// A name that nothing has (with the nearest and the list), a path that isn't there, two
/// experiments with one id, a file that isn't valid.
pub fn select(words: &[String], suite: Option<&str>, lab: &Path) -> Result<Vec<Experiment>> {
    let (paths, names): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| is_path(word));
    let mut added = Vec::new();
    for path in paths {
        added.extend(read_path(Path::new(path))?);
    }
    if names.is_empty() && !words.is_empty() {
        return distinct(added);
    }
    let own = lab.join("experiments");
    let mut all = match own.is_dir() && !files_in(&own)?.is_empty() {
        true => read_path(&own)?,
        false if names.is_empty() => return Err(no_lab(&own)),
        false => Vec::new(),
    };
    let have_own = !all.is_empty();
    if let Some(suite) = suite.filter(|suite| !all.iter().any(|own| in_suite(own, Some(suite)))) {
        return Err(no_suite(suite, &all));
    }
    all.extend(added);
    let mut wanted = Vec::new();
    for name in &names {
        let named = |experiment: &Experiment| {
            experiment.id == **name
                || (experiment.workload == **name && in_suite(experiment, suite))
        };
        if all.iter().any(named) {
            wanted.extend(
                all.iter()
                    .filter(|experiment| named(experiment))
                    .map(|experiment| experiment.path.clone()),
            );
        } else if Path::new(name).is_dir() {
            let more = read_path(Path::new(name))?;
            wanted.extend(more.iter().map(|experiment| experiment.path.clone()));
            all.extend(more);
        } else if !have_own {
            return Err(no_lab(&own));
        } else {
            return Err(unknown(name, &all));
        }
    }
    if names.is_empty() {
        all.retain(|experiment| in_suite(experiment, suite));
    } else {
        all.retain(|experiment| wanted.contains(&experiment.path));
    }
    distinct(all)
}

fn in_suite(experiment: &Experiment, suite: Option<&str>) -> bool {
    experiment.suite.as_deref() == suite
}

/// What these words mean as filters of models: each the model of that very name, and where there is
/// none, the family.
///
/// # Errors
/// A word that no experiment's model answers to.
pub fn filters(experiments: &[Experiment], words: &[String]) -> Result<Vec<String>> {
    let mut models: Vec<&str> = experiments.iter().flat_map(Experiment::models).collect();
    models.sort_unstable();
    models.dedup();
    let meant = words.iter().map(|word| {
        filter(word, models.iter().copied()).ok_or_else(|| {
            let hint = hint(word, models.iter().copied());
            let list = models.join(", ");
            Error::Usage(format!(
                "none of these experiments has a model `{word}`{hint}\nmodels: {list}"
            ))
        })
    });
    meant.collect()
}

fn no_lab(own: &Path) -> Error {
    Error::Usage(format!(
        "there are no experiments at {}\nname a directory of your own, `heddle compare ./my-experiments` (docs/workloads.md); Heddle's own are built by `./dev compare` in a clone of it, and HEDDLE_LAB may name the `lab` directory of that build",
        own.display()
    ))
}

fn no_suite(suite: &str, all: &[Experiment]) -> Error {
    let mut suites: Vec<&str> = all
        .iter()
        .filter_map(|experiment| experiment.suite.as_deref())
        .collect();
    suites.sort_unstable();
    suites.dedup();
    let hint = hint(suite, suites.iter().copied());
    let list = suites.join(", ");
    Error::Usage(format!("unknown suite `{suite}`{hint}\nsuites: {list}"))
}

fn unknown(name: &str, all: &[Experiment]) -> Error {
    let ids = all.iter().map(|experiment| experiment.id.as_str());
    let hint = hint(
        name,
        ids.clone()
            .chain(all.iter().map(|experiment| experiment.workload.as_str())),
    );
    let list = ids.collect::<Vec<_>>().join(", ");
    Error::Usage(format!(
        "unknown experiment `{name}`{hint}\nexperiments: {list} (`heddle compare --list` says more)"
    ))
}

/// The experiments of a directory, by file name, or of one file.
///
/// # Errors
/// If there is none, or a file is not valid.
pub fn read_path(path: &Path) -> Result<Vec<Experiment>> {
    if !path.is_dir() {
        if !path.exists() {
            return Err(Error::Usage(format!(
                "{} does not exist: expected a directory of experiments or a .toml file",
                path.display()
            )));
        }
        return Ok(vec![Experiment::read(path)?]);
    }
    let files = files_in(path)?;
    if files.is_empty() {
        return Err(Error::Usage(format!(
            "there is no experiment (*.toml) in {}",
            path.display()
        )));
    }
    files.iter().map(|file| Experiment::read(file)).collect()
}

/// These files in the folder of a program are other tools', by names that are theirs alone.
const NO_EXPERIMENTS: [&str; 6] = [
    "Cargo.toml",
    "clippy.toml",
    "pyproject.toml",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "uv.toml",
];

/// The experiments' files of a directory, by name, as people count.
fn files_in(path: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        std::fs::read_dir(path).map_err(Error::io(format!("cannot read {}", path.display())))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == "toml"))
        .filter(|path| NO_EXPERIMENTS.iter().all(|name| !path.ends_with(name)))
        .collect();
    files.sort_by(|a, b| compare_str(stem(a), stem(b)));
    Ok(files)
}

fn stem(file: &Path) -> Cow<'_, str> {
    file.file_stem().unwrap_or_default().to_string_lossy()
}

/// Drops a file that was named twice; refuses two files with one id.
fn distinct(experiments: Vec<Experiment>) -> Result<Vec<Experiment>> {
    let mut kept: Vec<Experiment> = Vec::new();
    for experiment in experiments {
        match kept.iter().find(|other| other.id == experiment.id) {
            None => kept.push(experiment),
            Some(other) if other.path == experiment.path => {}
            Some(other) => {
                let (id, a, b) = (
                    &experiment.id,
                    other.path.display(),
                    experiment.path.display(),
                );
                return Err(Error::Usage(format!(
                    "two experiments have the id `{id}`: {a} and {b}; rename one"
                )));
            }
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::files_in;
    use std::path::Path;

    /// The names in `dir`, in the order in which their experiments run.
    fn sorted(dir: &Path) -> Vec<String> {
        let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
        files_in(dir)
            .unwrap()
            .iter()
            .map(|path| name(path))
            .collect()
    }

    #[test]
    fn names_are_in_the_order_of_counting() {
        let long = format!("x{}", "9".repeat(40));
        let expected = [
            "a1-matrix",
            "a1-matrix-large",
            "a2-kv",
            "a10-x",
            "b1",
            "s9",
            "s10-io",
            "s10-io-2",
            "x1",
            "x22",
            &long,
        ];
        let dir = tempfile::tempdir().unwrap();
        for name in expected {
            std::fs::write(dir.path().join(format!("{name}.toml")), "").unwrap();
        }
        assert_eq!(sorted(dir.path()), expected);
    }
}
