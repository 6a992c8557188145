//! `heddle doctor`: docs/doctor.md.

mod disk;
mod finding;
mod machine;
mod program;

use crate::output;
use crate::screen::{self, BETTER, Look, WAITING, WORSE};
use finding::{Finding, State};
use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `heddle doctor`.
#[derive(clap::Args)]
pub struct Args {
    /// A program that is to be recorded: what will be seen of it, and what not
    program: Option<OsString>,
    /// The compiler to ask; without this, the command in $CXX, or c++
    #[arg(long, value_name = "COMMAND")]
    compiler: Option<String>,
    /// Where traces are to be written
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    output: PathBuf,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// Runs `heddle doctor`: 1 if something keeps a program from being recorded.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut all = machine::recorder();
    if let Some(name) = &args.program {
        all.extend(program::look(name));
    }
    let compiler = args.compiler.clone().or_else(|| env::var("CXX").ok());
    let compiler = compiler.filter(|command| !command.trim().is_empty());
    all.extend(machine::compiler(compiler.as_deref().unwrap_or("c++")));
    all.extend(disk::look(&args.output));
    all.push(machine::clock());
    all.extend(machine::system());
    if args.json {
        output::print(|out| {
            for finding in &all {
                writeln!(out, "{}", finding.object())?;
            }
            Ok(())
        })?;
    } else {
        screen::show(|out, look| Ok(table(out, look, &all)?))?;
    }
    let wrong = all.iter().any(|finding| finding.state == State::Wrong);
    Ok(ExitCode::from(u8::from(wrong)))
}

/// Three columns; what mends something is a line of its own.
fn table(out: &mut dyn Write, look: &Look, all: &[Finding]) -> io::Result<()> {
    let what = all
        .iter()
        .map(|finding| finding.what.len())
        .max()
        .unwrap_or(0);
    for finding in all {
        let style = match finding.state {
            State::Well => BETTER,
            State::Lacking => WAITING,
            State::Wrong => WORSE,
        };
        let state = format!("{:<5}", finding.state.name());
        let indent = what + 2 + 5 + 2;
        let width = look
            .width()
            .map_or(usize::MAX, |width| width.saturating_sub(indent).max(40));
        let mut lines = folded(&finding.says, width).into_iter();
        let first = lines.next().unwrap_or_default();
        writeln!(
            out,
            "{:<what$}  {}  {first}",
            finding.what,
            look.paint(style, state)
        )?;
        for line in lines {
            writeln!(out, "{:indent$}{line}", "")?;
        }
        for (at, line) in finding
            .mend
            .iter()
            .flat_map(|mend| folded(mend, width - 3))
            .enumerate()
        {
            let arrow = if at == 0 { "→" } else { " " };
            writeln!(out, "{:indent$}{arrow} {line}", "")?;
        }
    }
    Ok(())
}

/// Lines of at most so many characters, as far as words allow.
fn folded(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn lines_end_between_words() {
        assert_eq!(folded("a bcd ef", 5), ["a bcd", "ef"]);
        assert_eq!(folded("abcdefgh i", 3), ["abcdefgh", "i"]);
        assert_eq!(folded("", 3), Vec::<String>::new());
    }
}
