//! Why a trace is not as expected, where the lines alone do not say it: names that nothing in the
//! trace has, and a file that speaks of fewer threads or processes than there are.

use crate::expected::Pattern;
use crate::glob::glob;
use crate::line::without_values;
use crate::{Call, CallPattern, Expected, Item, Process, Strand, StrandKind};
use std::collections::{BTreeMap, BTreeSet};

/// More hints than this are of no help: the expected tree is another program's.
const MOST: usize = 10;

/// What to tell the user beside the differences: a sentence each.
pub fn hints(expected: &Expected, got: &[Process]) -> Vec<String> {
    let mut hints = left_out(expected, got);
    let strands: Vec<&Strand> = got.iter().flat_map(|process| &process.strands).collect();
    let patterns = expected.processes.iter().flat_map(|p| &p.strands);
    for pattern in patterns.filter(|pattern| pattern.count.low > 0) {
        if !strands.iter().any(|thread| pattern.names(thread)) {
            let alike = strands.iter().filter(|strand| strand.kind == pattern.kind);
            hints.push(format!(
                "no {0} in the trace is named `{1}`; there {2}",
                pattern.kind.word(),
                pattern.name,
                listed(alike.map(|strand| &*strand.name))
            ));
        }
    }
    hints.extend(unknown(expected, &strands));
    hints.dedup();
    let more = hints.len().saturating_sub(MOST);
    hints.truncate(MOST);
    if more > 0 {
        hints.push(format!("… and {more} more of the kind"));
    }
    hints
}

/// Processes and threads that a file without such lines leaves out.
fn left_out(expected: &Expected, got: &[Process]) -> Vec<String> {
    let mut hints = Vec::new();
    let implicit = |text: &str| text.is_empty();
    if got.len() > 1 && expected.processes.iter().any(|p| implicit(&p.text)) {
        let names = got.iter().map(|process| process.name.as_str());
        hints.push(format!(
            "a tree without `process` lines is about one process, and the trace has {}: write `process NAME` lines; there {}",
            got.len(),
            listed(names)
        ));
    }
    for pattern in &expected.processes {
        if !pattern.strands.iter().any(|thread| implicit(&thread.text)) {
            continue;
        }
        let found = got
            .iter()
            .find(|process| pattern.names(process) && threads(process).count() > 1);
        if let Some(process) = found {
            let names = threads(process).map(|thread| &*thread.name);
            hints.push(format!(
                "a tree without `thread` lines is about one thread, and the trace has {}: write `thread NAME` lines; there {}",
                threads(process).count(),
                listed(names)
            ));
        }
    }
    hints
}

fn threads(process: &Process) -> impl Iterator<Item = &Strand> {
    let strands = process.strands.iter();
    strands.filter(|strand| strand.kind == StrandKind::Thread)
}

/// Each name once, with its number.
fn listed<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let mut names: BTreeMap<&str, u64> = BTreeMap::new();
    all.for_each(|name| *names.entry(name).or_default() += 1);
    let shown: Vec<String> = names
        .iter()
        .take(5)
        .map(|(name, number)| match number {
            1 => format!("`{name}`"),
            _ => format!("`{name}` x{number}"),
        })
        .collect();
    let more = if names.len() > shown.len() {
        ", …"
    } else {
        ""
    };
    let verb = if names.values().sum::<u64>() == 1 {
        "is"
    } else {
        "are"
    };
    format!("{verb} {}{more}", shown.join(", "))
}

/// Functions that must be called, and that no call in the trace is named like.
fn unknown(expected: &Expected, strands: &[&Strand]) -> Vec<String> {
    let mut names = BTreeSet::new();
    for thread in strands {
        gather(&thread.calls, &mut names);
    }
    let mut patterns = Vec::new();
    let of_threads = expected.processes.iter().flat_map(|p| &p.strands);
    of_threads.for_each(|thread| required(&thread.calls, &mut patterns));
    let mut hints: Vec<String> = Vec::new();
    for pattern in patterns {
        let wanted = without_values(&pattern.name);
        let named = |&(name, short): &(&str, &str)| glob(wanted, name) || glob(wanted, short);
        if names.iter().any(named) {
            continue;
        }
        let meant = nearest(wanted, &names)
            .map_or(String::new(), |name| format!("; did you mean `{name}`?"));
        let hint = format!("no call in the trace is named `{wanted}`{meant}");
        if !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    hints
}

fn gather<'a>(calls: &'a [Call], names: &mut BTreeSet<(&'a str, &'a str)>) {
    for call in calls {
        names.insert((&call.name, &call.short));
        gather(&call.children, names);
    }
}

fn required<'a>(items: &'a [Item], patterns: &mut Vec<&'a CallPattern>) {
    for item in items {
        match item {
            Item::Call(pattern) => {
                if pattern.count.low > 0 {
                    patterns.push(pattern);
                }
                required(&pattern.children, patterns);
            }
            Item::Loop(pattern) if pattern.count.low > 0 => required(&pattern.body, patterns),
            Item::Loop(_) | Item::Anything => {}
        }
    }
}

/// The name in the trace that was probably meant: one that this is the end of (`risky` of
/// `app::risky`), or else any, in each case the one that the fewest slips of the keys make of it;
/// of the latter, if these are few. Parameters count only where the pattern has some, and spaces do
/// not; `names` are with and without parameters.
pub fn nearest<'a>(pattern: &str, names: &BTreeSet<(&'a str, &'a str)>) -> Option<&'a str> {
    let pattern = pattern.strip_prefix("::").unwrap_or(pattern);
    let bare = pattern.split('(').next().unwrap_or(pattern);
    let comparable = |&(name, short): &(&'a str, &'a str)| match pattern.contains('(') {
        true => name,
        false => short,
    };
    let inner = |(_, short): &&(&str, &str)| {
        let before = short.strip_suffix(bare);
        !bare.is_empty() && before.is_some_and(|before| before.is_empty() || before.ends_with("::"))
    };
    let solid = |text: &str| text.to_lowercase().replace(' ', "");
    let typed = solid(pattern);
    let slips = |name: &&str| strsim::osa_distance(&typed, &solid(name));
    let ends = names.iter().filter(inner).map(comparable);
    if let Some(found) = ends.min_by_key(slips) {
        return Some(found);
    }
    let best = names.iter().map(comparable).min_by_key(slips)?;
    (slips(&best) <= (pattern.chars().count() / 3).max(1)).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn of_names_that_end_alike_the_nearest_is_meant() {
        let names = [
            ("a::S::leaf(int)", "a::S::leaf"),
            ("a::leaf(int)", "a::leaf"),
            ("leaf(double)", "leaf"),
            ("leaf(int)", "leaf"),
            ("leaf(int, int)", "leaf"),
            ("b::c::once()", "b::c::once"),
            ("b::once()", "b::once"),
        ];
        for (pattern, meant) in [
            ("::leaf(int)", Some("leaf(int)")),
            ("leaf(int,int)", Some("leaf(int, int)")),
            ("leaf(int,long)", Some("leaf(int, int)")),
            ("S::leaf(long)", Some("a::S::leaf(int)")),
            ("once", Some("b::once")),
            ("laef", Some("leaf")),
            ("nothing", None),
        ] {
            let found = nearest(pattern, &names.into());
            assert_eq!(found, meant, "{pattern}");
        }
    }
}
