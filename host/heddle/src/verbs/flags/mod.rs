//! `heddle flags`: docs/flags.md.

use crate::preparing::compiler::{Compiler, FENTRY, INSTRUMENT};
use crate::preparing::header;
use crate::{notes, output};
use std::process::ExitCode;

/// Arguments of `heddle flags`.
#[derive(clap::Args)]
pub struct Args {
    /// How the program is to call the recorder
    #[arg(long, value_enum, default_value_t)]
    way: Way,
    /// Print the flags that this compiler takes: it is run to find out
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

/// Runs `heddle flags`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (mut flags, header) = match args.way {
        Way::Instrument => (INSTRUMENT.to_vec(), None),
        Way::Fentry => (FENTRY.to_vec(), Some(header::find()?)),
    };
    if let Some(compiler) = &args.compiler {
        let compiler = Compiler::named(compiler)?;
        match args.way {
            Way::Instrument => {
                let taken = compiler.instrument_flags()?;
                if let Some(note) = taken.note {
                    notes::note(note);
                }
                flags = taken.flags;
            }
            Way::Fentry => compiler.must_take(&flags, header.as_deref())?,
        }
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
