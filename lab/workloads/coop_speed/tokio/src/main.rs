//! The rows of coop-speed on tokio's current-thread runtime. `../workload.hpp` says what is
//! measured.

mod arguments;
mod rows;
mod sample;

use arguments::Arguments;
use rows::Work;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> std::io::Result<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    if arguments.warmup && arguments.row != rows::Row::Idle {
        let small = Work::new(arguments.row, 10, 100);
        runtime.block_on(small.run())?;
    }
    let work = Work::new(arguments.row, arguments.strands, arguments.count);
    let measured = runtime.block_on(work.run())?;
    Ok(sample::line(arguments, &measured))
}
