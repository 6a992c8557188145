//! From a program's calls to text in the format.

use crate::line::{LOOP, Parts, parts, slip, without_comment};
use crate::loops::{Folder, Seen, Shown, What};
use crate::{Call, Count, Process, Strand, Times};
use std::borrow::Cow;
use std::fmt::Write;

/// The tree of these processes: what `heddle check` prints, and what it writes to be edited. It
/// matches what it was made from. `times`: whether calls get the range of times that was seen.
pub fn print(processes: &[Process], times: bool) -> String {
    let mut text = String::new();
    let several = processes.len() > 1;
    for process in merged(processes, several) {
        let (process, count) = process;
        let indent = if several { 2 } else { 0 };
        if several {
            // Writing to a String cannot fail, here and below.
            let _ = writeln!(
                text,
                "process {}{}",
                word(&process.name),
                count_suffix(count)
            );
        }
        for (strand, count) in merged(&process.strands, true) {
            let _ = writeln!(text, "{:indent$}{}", "", strand_line(strand, count));
            let shown = Folder::default().fold(&strand.calls);
            calls(&mut text, &shown, indent + 2, times, true);
        }
    }
    text
}

/// So many strands as a line.
pub fn strand_line(strand: &Strand, count: u64) -> String {
    let parent = strand.parent.as_deref().map(word);
    let count = Count {
        low: count,
        high: count,
    };
    let suffix = suffix(count, Times::ANY, parent.as_deref());
    format!("{} {}{suffix}", strand.kind.word(), word(&strand.name))
}

/// Equal neighbours, counted.
fn merged<T: Shape>(all: &[T], merge: bool) -> Vec<(&T, u64)> {
    let mut result: Vec<(&T, u64)> = Vec::new();
    for one in all {
        match result.last_mut() {
            Some((last, count)) if merge && last.same(one) => *count += 1,
            _ => result.push((one, 1)),
        }
    }
    result
}

/// Equal but for times.
trait Shape {
    fn same(&self, other: &Self) -> bool;
}

impl Shape for Process {
    fn same(&self, other: &Self) -> bool {
        self.name == other.name && same_all(&self.strands, &other.strands)
    }
}

impl Shape for Strand {
    fn same(&self, other: &Self) -> bool {
        (self.kind, &self.name, &self.parent) == (other.kind, &other.name, &other.parent)
            && same_all(&self.calls, &other.calls)
    }
}

impl Shape for Call {
    fn same(&self, other: &Self) -> bool {
        (&self.name, &self.values, &self.foreign, self.calls)
            == (&other.name, &other.values, &other.foreign, other.calls)
            && same_all(&self.children, &other.children)
    }
}

fn same_all<T: Shape>(a: &[T], b: &[T]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
}

fn calls(text: &mut String, all: &[Shown<'_>], indent: usize, times: bool, roots: bool) {
    for one in all {
        let (line, roots) = match one.what {
            What::Calls(call, seen) => (line(call, times.then_some(seen), roots), false),
            What::Loop(rounds) => (format!("{LOOP}{}", count_suffix(rounds)), roots),
        };
        let _ = writeln!(text, "{:indent$}{line}", "");
        calls(text, &one.below, indent + 2, times, roots);
    }
}

/// One call as a line.
pub fn call_line(call: &Call, times: bool, root: bool) -> String {
    line(call, times.then(|| Seen::of(call)), root)
}

/// Calls as a line, with these times. The caller of a thread's first function is the C library
/// everywhere, and not worth a word.
fn line(call: &Call, seen: Option<Seen>, root: bool) -> String {
    let module = call.foreign.as_ref().filter(|_| !root).map(|foreign| {
        if foreign.module.is_empty() {
            &foreign.name
        } else {
            &foreign.module
        }
    });
    format!(
        "{}{}",
        function(&call.name, &call.values),
        suffix(
            Count {
                low: call.calls,
                high: call.calls
            },
            seen.map_or(Times::ANY, range),
            module.map(|module| word(module)).as_deref()
        )
    )
}

/// The times of the calls that returned, without an upper bound where one that did not has lasted
/// longer already.
fn range(seen: Seen) -> Times {
    if seen.max < seen.min {
        return Times::ANY;
    }
    Times {
        low: seen.min,
        high: if seen.open > seen.max {
            u64::MAX
        } else {
            seen.max
        },
    }
}

/// What follows a name: what goes without saying is left out.
pub fn suffix(count: Count, times: Times, caller: Option<&str>) -> String {
    let mut text = match count {
        Count {
            low: 0,
            high: u64::MAX,
        } => " x*".to_owned(),
        Count {
            low,
            high: u64::MAX,
        } => format!(" x{low}.."),
        Count { low, high } if low == high => count_suffix(low),
        Count { low, high } => format!(" x{low}..{high}"),
    };
    match times {
        Times::ANY => {}
        Times {
            low,
            high: u64::MAX,
        } => _ = write!(text, " [{}..]", shown(low)),
        Times { low, high } => _ = write!(text, " [{}..{}]", shown(low), shown(high)),
    }
    if let Some(caller) = caller {
        let _ = write!(text, " <- {caller}");
    }
    text
}

/// A function's name and values as the format takes them.
fn function<'a>(name: &'a str, values: &str) -> Cow<'a, str> {
    let shown = match slip(name) {
        Some(_) => covered(name),
        None => word(name),
    };
    if values.is_empty() {
        return shown;
    }
    let whole = format!("{name}{values}");
    if shown == name && is_plain(&whole) {
        return whole.into();
    }
    // What the values begin with stays, as it tells them from the name. A star in front of the rest
    // keeps it from being read as a count: a constant may be named `x2`.
    let kept = [" {", " = "]
        .into_iter()
        .find(|kept| values.starts_with(kept));
    let (kept, rest) = values.split_at(kept.map_or(0, str::len));
    format!("{shown}{kept}*{}", without_spaces(rest)).into()
}

/// A name as the format takes it. What would be read as something else (a thread may be named `a #1
/// x2`, or nothing at all) is covered by stars.
fn word(name: &str) -> Cow<'_, str> {
    if is_plain(name) {
        name.into()
    } else {
        covered(name)
    }
}

/// Whether the format reads this text as the name that it is.
fn is_plain(name: &str) -> bool {
    let reads_back = || {
        let Parts {
            name: read,
            count,
            times,
            caller,
        } = parts(name).ok()?;
        Some(read == name && (count, times, caller) == (Count::ONE, Times::ANY, None))
    };
    name == without_comment(name)
        && name != LOOP
        && name.trim() == name
        && name != "..."
        && !name.contains(char::is_control)
        && reads_back() == Some(true)
}

fn covered(name: &str) -> Cow<'_, str> {
    let covered = without_spaces(name);
    match covered.as_str() {
        "" | ".." | "..." | "...." | "…" | LOOP => "*".into(),
        _ => covered.into(),
    }
}

/// The text with stars for what parts a line of the format.
fn without_spaces(text: &str) -> String {
    text.replace(
        |c: char| c.is_whitespace() || c.is_control() || c == '#',
        "*",
    )
}

fn count_suffix(count: u64) -> String {
    if count == 1 {
        String::new()
    } else {
        format!(" x{count}")
    }
}

/// Without loss, in the largest unit that needs no more than three decimals.
fn shown(nanos: u64) -> String {
    for (unit, scale) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)] {
        if nanos >= scale && nanos % (scale / 1_000) == 0 {
            return format!("{}{unit}", nanos as f64 / scale as f64);
        }
    }
    format!("{nanos}ns")
}
