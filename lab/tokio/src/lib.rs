//! The harness of the lab's tokio programs, beside the C++ one of the others: one run of one
//! workload on tokio's current-thread runtime, printed as the line that docs/workloads.md
//! describes. `lab/workloads/<workload>/workload.hpp` says what each workload is.

mod arguments;
mod measure;
mod sample;

pub use arguments::{Arguments, Parameter};
pub use measure::{Region, kernel_threads, process_kilobytes};
pub use sample::Outcome;

use std::process::ExitCode;

/// A whole program: reads the command line, runs `body` inside the runtime, prints the sample.
///
/// Exit code 0: the line was printed, whatever its oracle says; 1: the run failed; 2: usage.
pub fn program<F>(
    workload: &str,
    declared: &[Parameter],
    body: impl FnOnce(Arguments) -> F,
) -> ExitCode
where
    F: Future<Output = std::io::Result<Outcome>>,
{
    let arguments = match Arguments::parse(std::env::args().skip(1), declared) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    let params = arguments.json();
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()?;
        runtime.block_on(body(arguments))
    };
    match run() {
        Ok(outcome) => {
            println!("{}", outcome.line(workload, &params));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
