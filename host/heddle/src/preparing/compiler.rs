//! Compilers, and the flags by which they make a program recordable.

use anyhow::{Context as _, bail};
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// These flags make a program recordable. GCC matches the list's entries anywhere in a file's path,
/// so the third flag leaves out the C++ standard library wherever it is installed (Debian keeps a
/// part of it apart, in x86_64-linux-gnu/c++): its small functions would be nearly all events, and
/// most of the run time.
pub const INSTRUMENT: [&str; 3] = [
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
pub const FENTRY: [&str; 4] = ["-g", "-pg", "-mfentry", "-minstrument-return=call"];

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

/// What a compiler takes of the first way's flags.
pub struct Taken {
    /// The flags.
    pub flags: Vec<&'static str>,
    /// What is to be known about them.
    pub note: Option<String>,
}

/// A compiler, as its user calls it.
pub struct Compiler<'a> {
    name: &'a str,
    program: &'a str,
    /// `ccache gcc` is two words.
    arguments: Vec<&'a str>,
}

impl<'a> Compiler<'a> {
    /// From a command, which may be several words.
    pub fn named(name: &'a str) -> anyhow::Result<Self> {
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
    pub fn instrument_flags(&self) -> anyhow::Result<Taken> {
        let mut flags = INSTRUMENT.to_vec();
        if let Err(refused) = self.must_take(&flags, None) {
            if self.must_take(&CLANG, None).is_err() {
                return Err(refused);
            }
            return Ok(Taken {
                flags: CLANG.to_vec(),
                note: Some(format!(
                    "{} has no list of files to leave out: functions that it inlines have no hooks instead; what a coroutine runs before it is suspended first counts for its caller",
                    self.name
                )),
            });
        }
        let note = self.crashes_on_coroutines(&flags)?.then(|| {
            flags.push(NO_TAIL_CALLS);
            format!(
                "{} crashes on coroutines with hooks at -O2; {NO_TAIL_CALLS} keeps it from that, and makes coroutines that hand over to each other use stack each time, as at -O0; `heddle flags --way fentry` is free of both",
                self.name
            )
        });
        Ok(Taken { flags, note })
    }

    /// Fails where the compiler does not take the flags; the message quotes its first line.
    pub fn must_take(&self, flags: &[&str], header: Option<&Path>) -> anyhow::Result<()> {
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
