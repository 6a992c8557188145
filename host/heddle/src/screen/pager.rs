//! The program that shows long text on a terminal: `HEDDLE_PAGER`, `PAGER` or `less`.

use std::env;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

/// A pager, which is started when there is something to show: until then Ctrl-C ends us, from then
/// on the pager has it.
pub struct Pager {
    command: String,
    state: State,
}

enum State {
    NotYet,
    Runs(Child),
    /// It cannot be started: text goes to the terminal itself.
    Missing,
}

impl Pager {
    /// The user's; `None` if no pager is wanted (an empty one, or `cat`), or the terminal is a dumb
    /// one.
    pub fn from_environment() -> Option<Self> {
        let text = |name| env::var(name).ok();
        text("TERM").filter(|name| name != "dumb" && !name.is_empty())?;
        let command = text("HEDDLE_PAGER")
            .or_else(|| text("PAGER"))
            .unwrap_or_else(|| "less".to_owned());
        let command = command.trim();
        (!command.is_empty() && command != "cat").then(|| Pager {
            command: command.to_owned(),
            state: State::NotYet,
        })
    }

    fn start(&mut self) {
        let mut command = if self.command.contains(char::is_whitespace) {
            let mut shell = Command::new("sh");
            shell.args(["-c", &self.command]);
            shell
        } else {
            Command::new(&self.command)
        };
        // One screen is printed and that is all; colours stay; long lines are cut, and → shows
        // the rest.
        if env::var_os("LESS").is_none() {
            command.env("LESS", "FRSX");
        }
        self.state = match command.stdin(Stdio::piped()).spawn() {
            Ok(child) => {
                on_interrupt(libc::SIG_IGN);
                State::Runs(child)
            }
            Err(_) => State::Missing,
        };
    }

    /// Waits until the user has seen enough.
    ///
    /// # Errors
    /// The pager cannot be waited for.
    pub fn finish(&mut self) -> io::Result<()> {
        if let State::Runs(child) = &mut self.state {
            drop(child.stdin.take());
            let ended = child.wait();
            on_interrupt(libc::SIG_DFL);
            ended?;
        }
        Ok(())
    }
}

fn on_interrupt(handler: libc::sighandler_t) {
    // SAFETY: neither runs code of ours.
    unsafe {
        libc::signal(libc::SIGINT, handler);
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if matches!(self.state, State::NotYet) {
            self.start();
        }
        match &mut self.state {
            State::Runs(child) => match &mut child.stdin {
                Some(pipe) => pipe.write(bytes),
                None => Err(io::ErrorKind::BrokenPipe.into()),
            },
            State::NotYet | State::Missing => io::stdout().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.state {
            State::Runs(child) => child.stdin.as_mut().map_or(Ok(()), Write::flush),
            State::NotYet => Ok(()),
            State::Missing => io::stdout().flush(),
        }
    }
}
