//! The part of a lab program that is the same in each: it reads the command line, runs one model,
//! has the result checked, and prints the one JSON line that `heddle compare` reads. Linux.
#![allow(dead_code)] // not every program has figures of its own

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

/// What a model finds: its answer or a checksum of it, which is the same for all models, and
/// figures of its own.
#[derive(Default)]
pub struct Found {
    pub result: String,
    /// Figures, with their units in their names (`_ns`, `_bytes`, `_per_s`).
    pub metrics: Vec<(&'static str, f64)>,
    /// Counts that say why: `p_operations`, `allocations` …
    pub counters: Vec<(&'static str, f64)>,
}

/// A model that lacks something on this machine ends with what is missing, and what would help:
/// `heddle compare` skips it and prints that.
pub struct CannotRun(pub String);

type Body<'a> = Box<dyn FnOnce() -> Result<Found, CannotRun> + 'a>;

/// A lab program. Declare its parameters and models, then return [`Lab::run`] from `main`.
pub struct Lab<'a> {
    workload: &'static str,
    given: Vec<(String, String)>,
    params: Vec<(&'static str, u64)>,
    models: Vec<(&'static str, Body<'a>)>,
}

impl<'a> Lab<'a> {
    /// Reads the command line; a wrong one ends the program.
    pub fn new(workload: &'static str) -> Self {
        let given = std::env::args().skip(1).map(|argument| {
            let named = argument.strip_prefix("--");
            match named.and_then(|named| named.split_once('=')) {
                Some((name, value)) => (name.to_owned(), value.to_owned()),
                None if argument == "--list" => ("list".to_owned(), String::new()),
                None => fail(&format!("`{argument}`: expected --NAME=VALUE")),
            }
        });
        Self {
            workload,
            given: given.collect(),
            params: Vec::new(),
            models: Vec::new(),
        }
    }

    /// The value of `--NAME=…`, or `fallback`. One outside of `least` … `most` ends the program.
    pub fn parameter(&mut self, name: &'static str, fallback: u64, least: u64, most: u64) -> u64 {
        let value = match self.taken(name) {
            None => fallback,
            Some(text) => match text.parse() {
                Ok(value) if (least..=most).contains(&value) => value,
                _ => fail(&format!("--{name}={text}: expected {least} … {most}")),
            },
        };
        self.params.push((name, value));
        value
    }

    /// Declares a model; `body` is what is measured, all of it.
    pub fn model(
        &mut self,
        name: &'static str,
        body: impl FnOnce() -> Result<Found, CannotRun> + 'a,
    ) {
        self.models.push((name, Box::new(body)));
    }

    /// Runs the model that the command line names, has `oracle` say whether its result is right and
    /// what it compared, and prints the line.
    pub fn run(mut self, oracle: impl FnOnce(&Found) -> (bool, String)) -> ExitCode {
        let names: Vec<&str> = self.models.iter().map(|(name, _)| *name).collect();
        if self.taken("list").is_some() {
            println!("{}", names.join("\n"));
            return ExitCode::SUCCESS;
        }
        let wanted = self.taken("model").unwrap_or_default();
        if let Some((name, _)) = self.given.first() {
            fail(&format!("unknown parameter --{name}"));
        }
        let Some(at) = names.iter().position(|name| *name == wanted) else {
            fail(&format!(
                "unknown model `{wanted}`; there are: {}",
                names.join(" ")
            ));
        };
        let (name, body) = self.models.swap_remove(at);
        let (cpu_start, start) = (cpu_ns(), Instant::now());
        let found = match body() {
            Ok(found) => found,
            Err(CannotRun(why)) => {
                eprintln!("error: {why}");
                return ExitCode::from(77);
            }
        };
        let wall = start.elapsed().as_nanos() as f64;
        let cpu = cpu_ns() - cpu_start;
        let (ok, checked) = oracle(&found);
        let metrics = [("wall_ns", wall), ("cpu_ns", cpu)];
        let metrics: Vec<_> = metrics.into_iter().chain(found.metrics).collect();
        let params: Vec<_> = self.params.iter().map(|(k, v)| (*k, *v as f64)).collect();
        let line = format!(
            "{{\"workload\":{},\"model\":{},\"params\":{{{}}},\"oracle\":{{\"ok\":{ok},\"checked\":{}}},\
             \"result\":{},\"metrics\":{{{}}},\"counters\":{{{}}}}}",
            quoted(self.workload),
            quoted(name),
            numbers(&params),
            quoted(&checked),
            quoted(&found.result),
            numbers(&metrics),
            numbers(&found.counters),
        );
        match writeln!(std::io::stdout(), "{line}") {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        }
    }

    fn taken(&mut self, name: &str) -> Option<String> {
        let at = self.given.iter().position(|(key, _)| key == name)?;
        Some(self.given.remove(at).1)
    }
}

/// Processor time of all threads of this process.
fn cpu_ns() -> f64 {
    #[repr(C)]
    struct Timespec {
        seconds: std::ffi::c_long,
        nanoseconds: std::ffi::c_long,
    }
    extern "C" {
        fn clock_gettime(clock: std::ffi::c_int, time: *mut Timespec) -> std::ffi::c_int;
    }
    const CLOCK_PROCESS_CPUTIME_ID: std::ffi::c_int = 2;
    let mut now = Timespec {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: `now` is a `struct timespec` of 64-bit Linux, which the C library fills.
    unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut now) };
    now.seconds as f64 * 1e9 + now.nanoseconds as f64
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push(' '),
            c => out.push(c),
        }
    }
    out + "\""
}

/// JSON has finite numbers alone.
fn numbers(all: &[(&str, f64)]) -> String {
    let mut out = String::new();
    for (name, value) in all.iter().filter(|(_, value)| value.is_finite()) {
        let comma = if out.is_empty() { "" } else { "," };
        let _ = write!(out, "{comma}{}:{value}", quoted(name));
    }
    out
}

fn fail(why: &str) -> ! {
    let program = std::env::args().next().unwrap_or_default();
    eprintln!("error: {why}\nusage: {program} --model=MODEL [--NAME=VALUE …], or --list");
    std::process::exit(2)
}
