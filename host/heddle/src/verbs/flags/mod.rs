//! `heddle flags`: docs/flags.md.

mod header;

use crate::output;
use anyhow::{Context as _, bail};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// Arguments of `heddle flags`.
#[derive(clap::Args)]
pub struct Args {
    /// How the program is to call the recorder
    #[arg(long, value_enum, default_value_t)]
    way: Way,
    /// Ask this compiler whether it knows the flags
    #[arg(long, value_name = "COMMAND")]
    compiler: Option<String>,
    #[command(flatten)]
    system: System,
}

#[derive(Clone, Copy, Default, clap::ValueEnum)]
enum Way {
    /// -finstrument-functions: GCC and clang; inlined functions, too
    #[default]
    Instrument,
    /// -mfentry and -minstrument-return: GCC on x86-64; the calls that the optimised program really
    /// makes
    Fentry,
}

#[derive(clap::Args)]
#[group(multiple = false)]
struct System {
    /// As lines for a CMakeLists.txt
    #[arg(long)]
    cmake: bool,
    /// As lines for a Makefile
    #[arg(long)]
    make: bool,
    /// As lines for a meson.build
    #[arg(long)]
    meson: bool,
}

/// What makes a program recordable. GCC matches the list's entries anywhere in a file's path, so
/// the third leaves out the C++ standard library wherever it is installed (Debian keeps a part of
/// it apart, in x86_64-linux-gnu/c++): its small functions would be nearly all events, and most of
/// the run time.
const INSTRUMENT: [&str; 3] = [
    "-g",
    "-finstrument-functions",
    "-finstrument-functions-exclude-file-list=/include/c++/,-linux-gnu/c++/",
];

/// The same by the other way; the header belongs to it.
const FENTRY: [&str; 4] = ["-g", "-pg", "-mfentry", "-minstrument-return=call"];

/// Runs `heddle flags`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (flags, header) = match args.way {
        Way::Instrument => (INSTRUMENT.as_slice(), None),
        Way::Fentry => (FENTRY.as_slice(), Some(header::find()?)),
    };
    if let Some(compiler) = &args.compiler {
        ask(compiler, flags, header.as_deref())?;
    }
    let mut words: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let pair = header.map(|path| ["-include".to_owned(), path.display().to_string()]);
    let text = if args.system.cmake {
        // In one word, for CMake takes a second -include out as a duplicate.
        words.extend(pair.map(|[option, path]| format!("\"SHELL:{option} {path}\"")));
        format!(
            "# Before the targets that are to be recorded:\nadd_compile_options({})\n",
            words.join(" ")
        )
    } else {
        words.extend(pair.into_iter().flatten());
        let all = words.join(" ");
        if args.system.make {
            format!("CFLAGS += {all}\nCXXFLAGS += {all}\n")
        } else if args.system.meson {
            format!(
                "# After project(), before the targets:\nadd_project_arguments('{}', language: ['c', 'cpp'])\n",
                words.join("', '")
            )
        } else {
            format!("{all}\n")
        }
    };
    output::print(|out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(ExitCode::SUCCESS)
}

/// Fails where the compiler does not take the flags; what it said is part of the message.
fn ask(compiler: &str, flags: &[&str], header: Option<&Path>) -> anyhow::Result<()> {
    // `ccache gcc` is two words.
    let mut words = compiler.split_whitespace();
    let program = words
        .next()
        .context("--compiler names nothing; name a command, such as --compiler gcc")?;
    let mut command = Command::new(program);
    // -Werror, for clang only warns of a flag that it ignores.
    command
        .args(words)
        .args(flags)
        .args(["-Werror", "-fsyntax-only"]);
    if let Some(header) = header {
        command.arg("-include").arg(header);
    }
    let answer = command
        .args(["-x", "c", "-"])
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run the compiler {program}"))?;
    if answer.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&answer.stderr);
    let said = said.lines().next().unwrap_or("nothing").trim();
    match header {
        Some(_) => bail!(
            "{compiler} cannot do this, it says `{said}`: only GCC on x86-64 can; for other compilers use what `heddle flags` prints"
        ),
        None => bail!(
            "{compiler} does not take all of these, it says `{said}`; what each is for, and which can be left out, is in docs/flags.md"
        ),
    }
}
