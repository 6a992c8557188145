//! `heddle check`: docs/check.md; the format is docs/expected-tree.md.

use crate::calls_of::{self, Calls};
use crate::filter::{FilterArgs, LeftOut};
use crate::incomplete;
use crate::strand_look::has_more_than_threads;
use crate::trace_arg::TraceArg;
use crate::{notes, output};
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Reset};
use anyhow::Context;
use heddle_trace_file::{Error, Trace};
use heddle_tree::{
    Call, Expected, Line, Mark, Process, StrandKind, compare, context, has_differences, hints,
    print,
};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `heddle check`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    trace: TraceArg,
    /// The expected tree; without it, the trace's own tree is printed
    expected: Option<PathBuf>,
    /// Write the trace's tree to the file instead; comments at its top stay
    #[arg(long, requires = "expected")]
    bless: bool,
    /// Put the times that were seen into the tree that is printed or written
    #[arg(long)]
    times: bool,
    /// Trees of threads, or of every strand: of fibers and coroutines, too. Without this, what the
    /// expected tree and the trace have decides
    #[arg(long, value_enum)]
    by: Option<By>,
    /// Print all that was compared, not only what is near a difference
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum By {
    Thread,
    Strand,
}

/// Deeper trees are not printed.
const DEEPEST: usize = 10_000;

/// In a difference, the indentation stops growing here, and the depth is printed instead.
const INDENTED: usize = 100;

/// Lines as expected that are shown around a difference.
const AROUND: usize = 3;

/// Runs `heddle check`: 0 as expected, 1 not so or not readable.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    calls_of::with_deep_stack(move || check(&args))
}

fn check(args: &Args) -> anyhow::Result<ExitCode> {
    // The expected tree first: a mistake in it should not wait for a large trace.
    let expected = match &args.expected {
        Some(path) if !args.bless => Some(read(path)?),
        _ => None,
    };
    let trace = open(args)?;
    let (found, by_strand) = calls(args, &trace, expected.as_ref())?;
    let got = found.processes;
    if by_strand {
        notes::unresolved(&found.unresolved);
    }
    let code = match (&args.expected, expected) {
        (Some(path), Some(expected)) => {
            let lines = compare(&expected, &got);
            let differs = has_differences(&lines);
            output::print(|out| show(out, &lines, differs, args, path))?;
            if differs {
                hints(&expected, &got).iter().for_each(notes::note);
            }
            ExitCode::from(u8::from(differs))
        }
        (Some(path), None) => {
            bless(path, &printed(&got, args.times)?)?;
            ExitCode::SUCCESS
        }
        (None, _) => {
            let tree = printed(&got, args.times)?;
            output::print(|out| Ok(out.write_all(tree.as_bytes())?))?;
            ExitCode::SUCCESS
        }
    };
    incomplete::tell(&trace, found.loose, &found.remarks);
    if !by_strand {
        notes::by_thread(found.loose);
    }
    found.left_out.iter().for_each(LeftOut::tell);
    Ok(code)
}

/// Opens the trace. A single argument that is some other file may be meant as the expected tree.
fn open(args: &Args) -> anyhow::Result<Trace> {
    let path = &args.trace.trace;
    args.trace.open().map_err(|error| match error {
        Error::NotOurs(_) if args.expected.is_none() && path.is_file() => anyhow::anyhow!(
            "{error}; an expected tree stands behind the trace: heddle check heddle.trace {}",
            path.display()
        ),
        _ => error.into(),
    })
}

/// The trace's calls, and whether they are by strand. If `--by` does not say: by strand where the
/// expected tree has lines of fibers or coroutines; where the trace has fibers, whose calls do not
/// pair up by thread; and where it has coroutines and no tree to be compared with.
fn calls(args: &Args, trace: &Trace, expected: Option<&Expected>) -> anyhow::Result<(Calls, bool)> {
    let told = expected.is_some_and(Expected::tells_strands_apart);
    let filter = &args.filter;
    match args.by {
        Some(By::Thread) => return Ok((Calls::by_thread(trace, filter)?, false)),
        None if !told => {}
        _ => return Ok((Calls::by_strand(trace, filter)?, true)),
    }
    if has_more_than_threads(trace)? {
        let found = Calls::by_strand(trace, filter)?;
        let wanted = |kind| match kind {
            StrandKind::Thread => false,
            StrandKind::Fiber => true,
            StrandKind::Coroutine => expected.is_none(),
        };
        let mut strands = found.processes.iter().flat_map(|process| &process.strands);
        if strands.any(|strand| wanted(strand.kind)) {
            notes::goes_by_strand();
            return Ok((found, true));
        }
    }
    Ok((Calls::by_thread(trace, filter)?, false))
}

/// The tree as text, unless it is so deep that it would be hundreds of megabytes of indentation.
fn printed(got: &[Process], times: bool) -> anyhow::Result<String> {
    let strands = got.iter().flat_map(|process| &process.strands);
    let depth = strands.map(|strand| depth(&strand.calls)).max();
    anyhow::ensure!(
        depth.unwrap_or(0) <= DEEPEST,
        "calls are nested deeper than {DEEPEST}, too deep to print as a tree; write the part that matters and `...` below it, or see them with `heddle replay`"
    );
    Ok(print(got, times))
}

fn depth(calls: &[Call]) -> usize {
    calls
        .iter()
        .map(|call| 1 + depth(&call.children))
        .max()
        .unwrap_or(0)
}

fn read(path: &Path) -> anyhow::Result<Expected> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => anyhow::anyhow!(
            "{shown}: no such file; to write it from the trace: heddle check TRACE {shown} --bless"
        ),
        _ => anyhow::anyhow!("{shown}: {error}"),
    })?;
    // Both spellings of a string are one.
    Expected::parse(&heddle_symbols::abbreviate(&text))
        .with_context(|| format!("{shown}: no expected tree (its format: docs/expected-tree.md)"))
}

/// Writes `tree` to `path`, below the comments that begin the file that is there.
fn bless(path: &Path, tree: &str) -> anyhow::Result<()> {
    let shown = path.display();
    let old = std::fs::read_to_string(path).unwrap_or_default();
    let comments: String = old
        .split_inclusive('\n')
        .take_while(|line| line.starts_with('#'))
        .collect();
    std::fs::write(path, comments + tree).with_context(|| format!("cannot write {shown}"))?;
    notes::note(format_args!(
        "wrote {shown}; what need not be exactly so: docs/expected-tree.md"
    ));
    Ok(())
}

fn show(
    out: &mut dyn Write,
    lines: &[Line],
    differs: bool,
    args: &Args,
    path: &Path,
) -> anyhow::Result<()> {
    let colored = AutoStream::choice(&std::io::stdout()) != ColorChoice::Never;
    if !differs {
        writeln!(
            out,
            "as expected: {} is {}",
            args.trace.trace.display(),
            path.display()
        )?;
        if !args.full {
            return Ok(());
        }
    } else {
        writeln!(
            out,
            "- expected: {}\n+ got:      {}",
            path.display(),
            args.trace.trace.display()
        )?;
    }
    let near = if args.full {
        lines.to_vec()
    } else {
        context(lines, AROUND)
    };
    for line in near {
        let (mark, color) = match line.mark {
            Mark::Same => (' ', None),
            Mark::Gap => (' ', None),
            Mark::Expected => ('-', Some(AnsiColor::Red)),
            Mark::Got => ('+', Some(AnsiColor::Green)),
        };
        let (begin, end) =
            color
                .filter(|_| colored)
                .map_or((String::new(), String::new()), |color| {
                    (
                        color.on_default().render().to_string(),
                        Reset.render().to_string(),
                    )
                });
        let depth = if line.depth > INDENTED {
            format!("({}) ", line.depth)
        } else {
            String::new()
        };
        writeln!(
            out,
            "{begin}{mark} {:indent$}{depth}{}{end}",
            "",
            line.text,
            indent = 2 * line.depth.min(INDENTED)
        )?;
    }
    Ok(())
}
