//! Options of `heddle record` that choose how the library records. What they say goes to it in the
//! environment.

use crate::preparing::library::Library;
use crate::trace_arg::size;
use std::process::Command;

/// Which clock, what is kept, and since when.
#[derive(clap::Args)]
pub struct Modes {
    /// tsc: every event reads the clock; sparse: one in some does, the others' times lie between,
    /// and every answer says how well they are known
    #[arg(long, value_enum, default_value_t = Clock::Tsc, help_heading = HEADING)]
    clock: Clock,
    /// Keep only the latest events of each thread, in this much room for a process: 64M (K, M and G
    /// are powers of 1024)
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = HEADING)]
    flight: Option<u64>,
    /// With --flight: on this signal, keep what is there now as a trace of its own, snapshot-1,
    /// snapshot-2 … in the trace: USR2, or a number
    #[arg(long, value_name = "SIGNAL", value_parser = signal, requires = "flight", help_heading = HEADING)]
    snapshot_signal: Option<i32>,
    /// Tell the instances of C++20 coroutines apart; auto: by debug information and symbols, scan:
    /// by looking at registers and stack alone
    #[arg(long, value_enum, default_value_t = Coroutines::Auto, help_heading = HEADING)]
    coroutines: Coroutines,
    /// Record waits for mutexes, conditions, semaphores and their like, too, and count all
    /// operations on these
    #[arg(long, help_heading = HEADING)]
    sync: bool,
    /// Record when threads are off their processors, too: whether others had these, or what was
    /// waited for; has all that --sync has
    #[arg(long, conflicts_with = "flight", help_heading = HEADING)]
    sched: bool,
    /// Count and time calls of malloc and its like by thread, too; has all that --sync has
    #[arg(long, help_heading = HEADING)]
    alloc: bool,
    /// Record nothing until the program calls heddle_start() (heddle/trace.h)
    #[arg(long, help_heading = HEADING)]
    paused: bool,
    /// Keep the arguments of the program, and of the programs that it starts, out of the trace: a
    /// command line may hold a password
    #[arg(long, help_heading = HEADING)]
    redact_arguments: bool,
}

const HEADING: &str = "Recording otherwise";

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Clock {
    Tsc,
    Sparse,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Coroutines {
    Off,
    Auto,
    Scan,
}

impl Modes {
    /// Whether the library asks where coroutines have their frames.
    pub fn plans_coroutines(&self) -> bool {
        self.coroutines == Coroutines::Auto
    }

    /// The library that records what is asked for.
    pub fn library(&self) -> Library {
        if self.alloc {
            Library::Allocation
        } else if self.sync || self.sched {
            Library::Waits
        } else {
            Library::Calls
        }
    }

    /// Whether it is recorded when threads are off their processors.
    pub fn switches(&self) -> bool {
        self.sched
    }

    /// Whether no event is given up.
    pub fn keep_everything(&self) -> bool {
        self.flight.is_none()
    }

    /// Tells the library in the program that `command` runs, and in its children.
    pub fn tell(&self, command: &mut Command) {
        if self.clock == Clock::Sparse {
            command.env("HEDDLE_CLOCK", "sparse");
        }
        // What is in our own environment is another recording's.
        command.env_remove("HEDDLE_COROUTINES");
        match self.coroutines {
            Coroutines::Off => {}
            Coroutines::Auto => _ = command.env("HEDDLE_COROUTINES", "auto"),
            Coroutines::Scan => _ = command.env("HEDDLE_COROUTINES", "scan"),
        }
        if let Some(bytes) = self.flight {
            command.env("HEDDLE_FLIGHT", bytes.to_string());
        }
        if let Some(signal) = self.snapshot_signal {
            command.env("HEDDLE_SNAPSHOT_SIGNAL", signal.to_string());
        }
        if self.paused {
            command.env("HEDDLE_PAUSED", "1");
        }
        // Likewise.
        command.env_remove("HEDDLE_SCHED");
        if self.sched {
            command.env("HEDDLE_SCHED", "1");
        }
        if self.redact_arguments {
            command.env("HEDDLE_REDACT", "1");
        }
    }
}

/// A signal's number, from it or from its name.
fn signal(text: &str) -> Result<i32, String> {
    let upper = text.to_ascii_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    let number = match name {
        "HUP" => libc::SIGHUP,
        "USR1" => libc::SIGUSR1,
        "USR2" => libc::SIGUSR2,
        "ALRM" => libc::SIGALRM,
        "TERM" => libc::SIGTERM,
        "WINCH" => libc::SIGWINCH,
        "URG" => libc::SIGURG,
        other => other.parse().unwrap_or(0),
    };
    let catchable = |number: i32| number != libc::SIGKILL && number != libc::SIGSTOP;
    Some(number)
        .filter(|&number| (1..=64).contains(&number) && catchable(number))
        .ok_or_else(|| {
            "expected a signal that can be caught, such as USR2, or its number".to_owned()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_read_as_people_write_them() {
        assert_eq!(
            ["USR2", "sigusr2", "12"].map(signal),
            [Ok(12), Ok(12), Ok(12)]
        );
        for wrong in ["", "KILL", "9", "19", "65", "-1", "nothing"] {
            assert!(signal(wrong).is_err(), "{wrong}");
        }
    }
}
