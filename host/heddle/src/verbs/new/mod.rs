//! `heddle new`: docs/new.md.

mod files;

use crate::output;
use anyhow::{Context as _, bail};
use files::{Language, Starter};
use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `heddle new`.
#[derive(clap::Args)]
pub struct Args {
    /// A folder that does not exist yet; its last part names the workload
    #[arg(value_name = "NAME", value_parser = Folder::parse)]
    folder: Folder,
    /// What the program is written in
    #[arg(long, value_enum, default_value_t)]
    lang: Language,
}

/// Where the folder is to be, and the workload's name.
#[derive(Clone)]
struct Folder {
    path: PathBuf,
    name: String,
}

impl Folder {
    /// The folder's last part has to do as the name of a crate, a Go module, an experiment and a
    /// line of the summary.
    fn parse(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.unwrap_or_default().to_owned();
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let taken = ["build", "core", "main", "std", "test"].contains(&name.as_str());
        if taken {
            return Err(format!("`{name}` is taken: call it something else"));
        }
        if name.len() > LONGEST
            || !name.starts_with(|c: char| c.is_ascii_lowercase())
            || !name.chars().all(plain)
        {
            return Err(format!(
                "its last part names the workload: at most {LONGEST} lower-case letters, digits and `-`, a letter first; `my-work`, say"
            ));
        }
        Ok(Self { path, name })
    }
}

/// As long may a line's label in the summary of `heddle compare` be.
const LONGEST: usize = 22;

/// Runs `heddle new`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Folder { path, name } = args.folder;
    if heddle_compare::is_own_experiment(&name) {
        bail!(
            "`{name}` is the id of one of Heddle's own experiments, so the two could not be compared at once: call it something else"
        );
    }
    let starter = args.lang.starter();
    write(&path, &name, &starter)?;
    let folder = shell_word(&path);
    output::print(|out| {
        writeln!(
            out,
            "wrote {folder}: {} is the work, {name}.toml what is compared\n\n  {folder}/build\n  heddle compare {folder}",
            starter.source
        )?;
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

fn write(folder: &Path, name: &str, starter: &Starter) -> anyhow::Result<()> {
    if let Err(error) = fs::create_dir(folder) {
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            bail!(
                "{} exists: nothing in it was changed; name another folder, or remove that one",
                folder.display()
            );
        }
        return Err(error).with_context(|| format!("cannot make the folder {}", folder.display()));
    }
    let written = starter.files(name).into_iter().try_for_each(|file| {
        let path = folder.join(file.path);
        write_file(&path, &file.text, file.runs)
            .with_context(|| format!("cannot write {}", path.display()))
    });
    // What was written is ours alone, as the folder was.
    written.inspect_err(|_| drop(fs::remove_dir_all(folder)))
}

fn write_file(path: &Path, text: &str, runs: bool) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut file = File::create_new(path)?;
    file.write_all(text.as_bytes())?;
    if runs {
        let mode = file.metadata()?.permissions().mode();
        // Who may read it may run it.
        file.set_permissions(Permissions::from_mode(mode | (mode & 0o444) >> 2))?;
    }
    Ok(())
}

/// The path as a shell takes it, and never an option.
fn shell_word(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = if path.is_absolute() || text.starts_with("./") || text.starts_with("../") {
        text.into_owned()
    } else {
        format!("./{text}")
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
