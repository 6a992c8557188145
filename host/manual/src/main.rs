//! `heddle-manual DIRECTORY`: writes the manual pages and the shells' completions of `heddle` into
//! a `share` directory. Only packages need it.

mod pages;

use anyhow::Context as _;
use clap_complete::{Shell, generate};
use std::fs;
use std::path::{Path, PathBuf};

/// Where each shell looks for its completions of `heddle`.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions/heddle"),
    (Shell::Fish, "fish/vendor_completions.d/heddle.fish"),
    (Shell::Zsh, "zsh/site-functions/_heddle"),
];

fn main() -> anyhow::Result<()> {
    let share: PathBuf = std::env::args_os()
        .nth(1)
        .context("usage: heddle-manual DIRECTORY")?
        .into();
    for (name, text) in pages::all(heddle::command())? {
        write(&share.join("man/man1").join(name), &text)?;
    }
    for (shell, place) in COMPLETIONS {
        let mut text = Vec::new();
        generate(shell, &mut heddle::command(), "heddle", &mut text);
        write(&share.join(place), &text)?;
    }
    Ok(())
}

fn write(file: &Path, text: &[u8]) -> anyhow::Result<()> {
    let directory = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)
        .and_then(|()| fs::write(file, text))
        .with_context(|| format!("cannot write {}", file.display()))
}
