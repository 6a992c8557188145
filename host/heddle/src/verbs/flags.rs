//! `heddle flags`: docs/flags.md.

use crate::output;
use std::process::ExitCode;

/// Arguments of `heddle flags`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    system: System,
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

/// What makes a program recordable. GCC matches the list's entries anywhere in a file's path, so the third leaves out the C++ standard library wherever
/// it is installed (Debian keeps a part of it apart, in x86_64-linux-gnu/c++): its small functions would be nearly all events, and most of the run time.
const FLAGS: [&str; 3] = [
    "-g",
    "-finstrument-functions",
    "-finstrument-functions-exclude-file-list=/include/c++/,-linux-gnu/c++/",
];

/// Runs `heddle flags`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let all = FLAGS.join(" ");
    let text = if args.system.cmake {
        format!("# Before the targets that are to be recorded:\nadd_compile_options({all})\n")
    } else if args.system.make {
        format!("CFLAGS += {all}\nCXXFLAGS += {all}\n")
    } else if args.system.meson {
        let list = FLAGS.map(|flag| format!("'{flag}'")).join(", ");
        format!(
            "# After project(), before the targets:\nadd_project_arguments({list}, language: ['c', 'cpp'])\n"
        )
    } else {
        format!("{all}\n")
    };
    output::print(|out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(ExitCode::SUCCESS)
}
