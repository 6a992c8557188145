//! The command line: which verb, and what its end means to the shell.

use crate::usage::Usage;
use crate::{cut_short, examples, file_limit, notes, progress, verbs};
use clap::{Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

/// Shows which concurrency model a workload wants, and why; traces every call of every thread.
#[derive(Parser)]
#[command(name = "heddle", version, arg_required_else_help = true)]
struct Cli {
    /// Colours: on a terminal without NO_COLOR, always, or never
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    color: Color,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// What is printed from now on follows it.
    fn apply(self) {
        match self {
            Color::Auto => {}
            Color::Always => anstream::ColorChoice::AlwaysAnsi.write_global(),
            Color::Never => anstream::ColorChoice::Never.write_global(),
        }
    }
}

#[derive(Subcommand)]
enum Verb {
    /// Run the experiments and write a report
    Compare(heddle_compare::Args),
    /// Choose a model by what your work is like, from the last report
    Choose(heddle_compare::ChooseArgs),
    /// Write a folder with a workload of your own to begin with
    New(verbs::new::Args),
    /// Run a program and record its calls
    Record(verbs::record::Args),
    /// Collect what a killed recording has left in its buffers
    Recover(verbs::recover::Args),
    /// Make one self-contained file of a trace
    Pack(verbs::pack::Args),
    /// Print a trace, one line an event
    Replay(verbs::replay::Args),
    /// Print calls and times by function
    Report(verbs::report::Args),
    /// Print calls and times by the calls that they are in: the call graph
    Graph(verbs::graph::Args),
    /// Compare the calls of two traces by function
    Diff(verbs::diff::Args),
    /// List the threads, fibers and coroutines of a trace
    Strands(verbs::strands::Args),
    /// Print who made which strand: the asynchronous call tree
    Tree(verbs::tree::Args),
    /// Look at a trace in the terminal: functions, call graph, strands, timeline, source
    Tui(verbs::tui::Args),
    /// Write a page to look at a trace: a timeline of threads and strands, in one file
    View(verbs::view::Args),
    /// Write a trace as another program's file: Perfetto's, Chrome's, a flame graph
    Export(verbs::export::Args),
    /// Compare a trace with an expected call tree
    Check(verbs::check::Args),
    /// Say what waits tell about locks: what they can cost, and which a scheduler could replace
    Advise(verbs::advise::Args),
    /// Print what a trace holds
    Info(verbs::info::Args),
    /// Print the compiler flags that make a program recordable
    Flags(verbs::flags::Args),
    /// Say what keeps a program from being recorded well, and what to do
    Doctor(verbs::doctor::Args),
    /// Print what completes this command's words in a shell
    Completions(verbs::completions::Args),
}

/// The command line as clap describes it, for manual pages and completions.
pub fn command() -> Command {
    examples::show(Cli::command())
}

/// Runs the verb. 0 ok, 1 failed, 2 usage, 3 wrong result or regression; `record` passes the
/// program's code through and uses 125–127 for its own failures.
pub fn run() -> ExitCode {
    cut_short::is_an_error(1);
    let parsed = Cli::from_arg_matches(&command().get_matches());
    let Cli { color, verb } = parsed.unwrap_or_else(|error| error.format(&mut command()).exit());
    color.apply();
    // The comparison's children would inherit it; `record` gives its own child what it had.
    if !matches!(verb, Verb::Compare(_)) {
        file_limit::is_an_error();
    }
    cut_short::is_an_error(if matches!(verb, Verb::Record(_)) {
        125
    } else {
        1
    });
    let result = match verb {
        Verb::Compare(args) => heddle_compare::run(args),
        Verb::Choose(args) => heddle_compare::choose(&args),
        Verb::New(args) => verbs::new::run(args),
        Verb::Record(args) => verbs::record::run(args),
        Verb::Recover(args) => verbs::recover::run(args),
        Verb::Pack(args) => verbs::pack::run(args),
        Verb::Replay(args) => verbs::replay::run(args),
        Verb::Report(args) => verbs::report::run(args),
        Verb::Graph(args) => verbs::graph::run(args),
        Verb::Diff(args) => verbs::diff::run(args),
        Verb::Strands(args) => verbs::strands::run(args),
        Verb::Tree(args) => verbs::tree::run(args),
        Verb::Tui(args) => verbs::tui::run(args),
        Verb::View(args) => verbs::view::run(args),
        Verb::Export(args) => verbs::export::run(args),
        Verb::Check(args) => verbs::check::run(args),
        Verb::Advise(args) => verbs::advise::run(args),
        Verb::Info(args) => verbs::info::run(args),
        Verb::Flags(args) => verbs::flags::run(args),
        Verb::Doctor(args) => verbs::doctor::run(&args),
        Verb::Completions(args) => verbs::completions::run(&args, command()),
    };
    progress::end();
    result.unwrap_or_else(|error| {
        notes::error(format_args!("{error:#}"));
        ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
    })
}
