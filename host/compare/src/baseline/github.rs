//! Texts that tell GitHub what has changed: annotations, which its runner reads from the output,
//! and a summary in Markdown, which it shows on the page of the run.

use super::judge::Comparison;
use super::text::{against, factor, noise, place, same, since, values};
use crate::details::cell;
use anyhow::Context;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Annotations of a kind that GitHub shows for a step.
const MOST: usize = 10;

/// Whether GitHub's runner reads what is printed.
pub fn is_here() -> bool {
    std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true")
}

/// Where it wants the summary.
pub fn summary_file() -> Option<PathBuf> {
    let file = std::env::var_os("GITHUB_STEP_SUMMARY")?;
    (!file.is_empty()).then(|| file.into())
}

/// An error for each cell that has become worse.
pub fn annotations(comparison: &Comparison) -> String {
    let line = |change| {
        let message = format!("{}: {}, {}", place(change), factor(change), values(change));
        format!("::error title=heddle compare::{}\n", escaped(&message))
    };
    comparison.worse().take(MOST).map(line).collect()
}

/// The text of a workflow command.
fn escaped(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The comparison in Markdown.
pub fn summary(name: &str, comparison: &Comparison) -> String {
    let mut text = format!("### heddle compare against {}\n\n", cell(name));
    let told: Vec<_> = comparison.worse().chain(comparison.better()).collect();
    if !told.is_empty() {
        text.push_str("| cell | change | median |\n|---|---|---|\n");
        for change in told {
            let columns = [place(change), factor(change), values(change)];
            let columns = columns.map(|column| cell(&column));
            let _ = writeln!(text, "| {} |", columns.join(" | "));
        }
        text.push('\n');
    }
    for step in &comparison.steps {
        let _ = writeln!(text, "- {}", cell(&since(step)));
    }
    for sentence in [
        same(comparison),
        noise(comparison),
        against(name, comparison),
    ] {
        let _ = writeln!(text, "- {}", cell(&sentence));
    }
    text
}

/// Adds a summary to those that other commands of the step have written.
pub fn append(file: &Path, summary: &str) -> anyhow::Result<()> {
    let write = || {
        let mut file = OpenOptions::new().append(true).create(true).open(file)?;
        file.write_all(format!("{summary}\n").as_bytes())
    };
    let written: std::io::Result<()> = write();
    written.with_context(|| format!("cannot write GITHUB_STEP_SUMMARY, {}", file.display()))
}
