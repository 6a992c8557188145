//! `heddle flags`: docs/flags.md.

mod header;

use crate::{notes, output};
use anyhow::{Context as _, bail};
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};

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

/// These flags make a program recordable. GCC matches the list's entries anywhere in a file's path,
/// so the third flag leaves out the C++ standard library wherever it is installed (Debian keeps a
/// part of it apart, in x86_64-linux-gnu/c++): its small functions would be nearly all events, and
/// most of the run time.
const INSTRUMENT: [&str; 3] = [
    "-g",
    "-finstrument-functions",
    "-finstrument-functions-exclude-file-list=/include/c++/,-linux-gnu/c++/",
];

/// These flags make a program recordable with Clang, which has no such list. By the second flag
/// Clang puts the hooks in after it has inlined, when the standard library's small functions are
/// gone at -O2, and after it has made functions of a coroutine's parts, so that the function that
/// resumes a coroutine has hooks, too.
const CLANG: [&str; 2] = ["-g", "-finstrument-functions-after-inlining"];

/// This flag keeps GCC 12 from crashing on coroutines.
const NO_TAIL_CALLS: &str = "-fno-optimize-sibling-calls";

/// The same by the other way; the header belongs to it.
const FENTRY: [&str; 4] = ["-g", "-pg", "-mfentry", "-minstrument-return=call"];

/// Runs `heddle flags`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (mut flags, header) = match args.way {
        Way::Instrument => (INSTRUMENT.to_vec(), None),
        Way::Fentry => (FENTRY.to_vec(), Some(header::find()?)),
    };
    if let Some(compiler) = &args.compiler {
        let compiler = Compiler::named(compiler)?;
        match args.way {
            Way::Instrument => flags = compiler.instrument_flags()?,
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

/// A coroutine whose awaiter hands over to another one by what GCC makes a tail call, which may
/// throw.
const COROUTINE: &str = "
#include <coroutine>
struct task {
  struct promise_type {
    task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<>) { return handle; }
  void await_resume() {}
  std::coroutine_handle<promise_type> handle;
};
task ends() { co_return; }
task waits() { co_await ends(); }
";

/// The compiler that `--compiler` names.
struct Compiler<'a> {
    name: &'a str,
    program: &'a str,
    /// `ccache gcc` is two words.
    arguments: Vec<&'a str>,
}

impl<'a> Compiler<'a> {
    fn named(name: &'a str) -> anyhow::Result<Self> {
        let mut words = name.split_whitespace();
        let program = words
            .next()
            .context("--compiler names nothing; name a command, such as --compiler gcc")?;
        Ok(Self {
            name,
            program,
            arguments: words.collect(),
        })
    }

    /// The flags of the first way that the compiler takes: GCC's or Clang's, and those that its
    /// defects ask for.
    fn instrument_flags(&self) -> anyhow::Result<Vec<&'static str>> {
        let mut flags = INSTRUMENT.to_vec();
        if let Err(refused) = self.must_take(&flags, None) {
            if self.must_take(&CLANG, None).is_err() {
                return Err(refused);
            }
            notes::note(format_args!(
                "{} has no list of files to leave out: functions that it inlines have no hooks instead; what a coroutine runs before it is suspended first counts for its caller",
                self.name
            ));
            return Ok(CLANG.to_vec());
        }
        if self.crashes_on_coroutines(&flags)? {
            flags.push(NO_TAIL_CALLS);
            notes::note(format_args!(
                "{} crashes on coroutines with hooks at -O2; {NO_TAIL_CALLS} keeps it from that, and makes coroutines that hand over to each other use stack each time, as at -O0; `heddle flags --way fentry` is free of both",
                self.name
            ));
        }
        Ok(flags)
    }

    /// Fails where the compiler does not take the flags; the message quotes its first line.
    fn must_take(&self, flags: &[&str], header: Option<&Path>) -> anyhow::Result<()> {
        // -Werror, for clang only warns of a flag that it ignores.
        let mut arguments: Vec<&OsStr> = flags.iter().map(OsStr::new).collect();
        arguments.extend(["-Werror", "-fsyntax-only"].map(OsStr::new));
        if let Some(header) = header {
            arguments.extend([OsStr::new("-include"), header.as_os_str()]);
        }
        let answer = self.asked(&arguments, "c", "")?;
        if answer.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&answer.stderr);
        let said = said.lines().next().unwrap_or("nothing").trim();
        match header {
            Some(_) => bail!(
                "{} cannot do this, it says `{said}`: only GCC on x86-64 can; for other compilers use what `heddle flags` prints",
                self.name
            ),
            None => bail!(
                "{} does not take all of these, it says `{said}`; what each is for, and which can be left out, is in docs/flags.md",
                self.name
            ),
        }
    }

    /// Whether the compiler ends by an internal error, as GCC 12 does. A compiler without C++ does
    /// not.
    fn crashes_on_coroutines(&self, flags: &[&str]) -> anyhow::Result<bool> {
        let more = ["-std=c++20", "-O2", "-S", "-o", "/dev/null"];
        let arguments: Vec<&OsStr> = flags.iter().chain(&more).map(OsStr::new).collect();
        let answer = self.asked(&arguments, "c++", COROUTINE)?;
        let said = String::from_utf8_lossy(&answer.stderr);
        Ok(!answer.status.success() && said.contains("internal compiler error"))
    }

    /// The compiler's answer to a source text.
    fn asked(&self, flags: &[&OsStr], language: &str, source: &str) -> anyhow::Result<Output> {
        let run = || -> std::io::Result<Output> {
            let mut compiler = Command::new(self.program)
                .args(&self.arguments)
                .args(flags)
                .args(["-x", language, "-"])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()?;
            // A compiler that does not read its input says why.
            if let Some(mut input) = compiler.stdin.take() {
                let _ = input.write_all(source.as_bytes());
            }
            compiler.wait_with_output()
        };
        run().with_context(|| format!("cannot run the compiler {}", self.program))
    }
}
