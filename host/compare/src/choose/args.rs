//! The command line of `heddle choose`, and what is asked where it says too little.

use anyhow::Context;
use heddle_lab::Error;
use heddle_results::{WaitsOn, Work};
use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;

/// Arguments of `heddle choose`.
#[derive(clap::Args)]
pub struct Args {
    /// What the strands wait for: `io` (devices, sockets, other machines), `locks` (each other:
    /// locks, semaphores, messages) or `nothing` (they compute)
    #[arg(long, value_name = "WHAT", value_parser = waits_on)]
    pub waits_on: Option<WaitsOn>,

    /// How many strands (connections, tasks, requests) are alive at once
    #[arg(long, value_name = "N", value_parser = positive)]
    pub alive: Option<f64>,

    /// Processor time that one works between two waits, in µs
    #[arg(long, value_name = "T", value_parser = positive)]
    pub work_us: Option<f64>,

    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,

    /// Where the report is [default: report]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

impl Args {
    /// All of it: what is missing is asked, if somebody can be asked.
    pub fn work(&self) -> anyhow::Result<Work> {
        Ok(Work {
            waits_on: given(
                self.waits_on,
                "--waits-on",
                "What do they wait for (io, locks, nothing)?",
                waits_on,
            )?,
            alive: given(
                self.alive,
                "--alive",
                "How many are alive at once?",
                positive,
            )?,
            work_ns: 1e3
                * given(
                    self.work_us,
                    "--work-us",
                    "How many µs does one work between two waits?",
                    positive,
                )?,
        })
    }
}

fn given<T>(
    value: Option<T>,
    option: &str,
    question: &str,
    read: fn(&str) -> Result<T, String>,
) -> anyhow::Result<T> {
    if let Some(value) = value {
        return Ok(value);
    }
    let (input, mut ask) = (std::io::stdin(), std::io::stderr());
    if !input.is_terminal() {
        return Err(Error::Usage(format!(
            "what is the work like? `{option}` is missing, and nobody can be asked: \
             `heddle choose --waits-on io --alive 1000 --work-us 20`"
        ))
        .into());
    }
    loop {
        write!(ask, "{question} ").context("cannot ask")?;
        ask.flush().context("cannot ask")?;
        let mut line = String::new();
        if input
            .lock()
            .read_line(&mut line)
            .context("cannot read the answer")?
            == 0
        {
            return Err(Error::Usage(format!("`{option}` is missing")).into());
        }
        match read(line.trim()) {
            Ok(value) => return Ok(value),
            Err(message) => writeln!(ask, "{message}").context("cannot ask")?,
        }
    }
}

fn waits_on(text: &str) -> Result<WaitsOn, String> {
    match text {
        "io" => Ok(WaitsOn::Io),
        "locks" => Ok(WaitsOn::Locks),
        "nothing" => Ok(WaitsOn::Nothing),
        _ => Err("expected io, locks or nothing".into()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && value <= 1e12 => Ok(value),
        _ => Err("expected a number above 0, such as 0.5 or 10000".into()),
    }
}
