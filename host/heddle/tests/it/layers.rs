//! The graph of `use`: which crate knows which, and which module within a crate. It has no circle,
//! and no arrow against its layers, so that each thing can be read without what stands on it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Rows of units, the lowest first. A unit knows only units of lower rows. It is a crate, or a
/// module with all below it but those that are units themselves; `""` is the root of a crate.
type Layers = &'static [&'static [&'static str]];

const CRATES: Layers = &[
    &["perfetto", "results", "trace-file", "tree", "view"],
    &["calls", "page", "stats", "symbols", "tui"],
    &["lab", "strands"],
    &["compare", "strand-truth"],
    &["heddle"],
    &["fuzz", "manual"],
];

const STRANDS: Layers = &[
    &[
        "address_map",
        "doubts",
        "frame_list",
        "inherited",
        "jump",
        "pipe",
        "short",
    ],
    &["strand", "unresolved"],
    &["kind_and_doubts"],
    &["brief"],
    &[
        "code",
        "entered",
        "frames",
        "list",
        "offsets",
        "shared_frames",
        "sink",
        "stacks",
        "threads",
    ],
    &["live", "lost", "sites", "stack_map"],
    &["survey"],
    &["answers"],
    &["evidence", "instances", "one_stack"],
    &["strands"],
    &["open_calls"],
    &["running"],
    &["announced", "made_stacks"],
    &["decoder"],
    &["analysis"],
    &[""],
];

const HEDDLE: Layers = &[
    &[
        "aside",
        "by_slot",
        "examples",
        "inherited",
        "memory",
        "number_arg",
        "patience",
        "progress",
        "usage",
    ],
    &[
        "cells",
        "cut_short",
        "embedded",
        "file_limit",
        "notes",
        "open_calls",
        "output",
    ],
    &[
        "names",
        "preparing",
        "screen",
        "strand_name",
        "trace_arg",
        "unnamed",
    ],
    &["left_open"],
    &["incomplete"],
    &["values"],
    &["filter"],
    &[
        "calls_of",
        "coroutine_calls",
        "paths",
        "strand_list",
        "strand_look",
    ],
    &["waits"],
    &["sched"],
    // No verb knows another.
    &[
        "verbs::advise",
        "verbs::check",
        "verbs::completions",
        "verbs::diff",
        "verbs::doctor",
        "verbs::export",
        "verbs::flags",
        "verbs::graph",
        "verbs::info",
        "verbs::new",
        "verbs::pack",
        "verbs::record",
        "verbs::recover",
        "verbs::replay",
        "verbs::report",
        "verbs::strands",
        "verbs::tree",
    ],
    &["verbs"],
    &["cli"],
    &[""],
    &["main"],
];

/// So many names may stand for one another.
const DEEPEST: usize = 8;

/// A path by the module and the name that stands for it there.
type Names = BTreeMap<(String, String), Vec<String>>;

/// Arrows by where they begin.
#[derive(Default)]
struct Graph(BTreeMap<String, BTreeSet<String>>);

impl Graph {
    fn add(&mut self, from: &str, to: &str) {
        let arrows = self.0.entry(from.to_owned()).or_default();
        if from != to {
            arrows.insert(to.to_owned());
        }
    }

    /// The names along a circle, if there is one; the first is the last, too.
    fn circle(&self) -> Option<Vec<String>> {
        let (mut done, mut path) = (BTreeSet::new(), Vec::new());
        self.0
            .keys()
            .find_map(|from| self.circle_through(from, &mut done, &mut path))
    }

    fn circle_through<'a>(
        &'a self,
        from: &'a str,
        done: &mut BTreeSet<&'a str>,
        path: &mut Vec<&'a str>,
    ) -> Option<Vec<String>> {
        if let Some(begin) = path.iter().position(|&on_path| on_path == from) {
            let names = path[begin..].iter().chain([&from]);
            return Some(names.map(|&name| name.to_owned()).collect());
        }
        if !done.insert(from) {
            return None;
        }
        path.push(from);
        let found = self.0.get(from).into_iter().flatten();
        let found = found
            .into_iter()
            .find_map(|to| self.circle_through(to, done, path));
        path.pop();
        found
    }

    /// What is wrong with the arrows between units.
    fn against(&self, layers: Layers) -> Vec<String> {
        let rows = || layers.iter().zip(0..);
        let unit = |name: &str| {
            let units =
                rows().flat_map(|(row, number)| row.iter().map(move |unit| (*unit, number)));
            units
                .filter(|(unit, _)| is_within(name, unit))
                .max_by_key(|(unit, _)| unit.len())
        };
        let there = |unit: &str| self.0.keys().any(|name| is_within(name, unit));
        let listed = layers.iter().flat_map(|row| row.iter());
        let mut wrong: Vec<String> = listed
            .filter(|unit| !there(unit))
            .map(|unit| format!("there is no {unit}"))
            .collect();
        for (from, targets) in &self.0 {
            let Some((from_unit, from_row)) = unit(from) else {
                wrong.push(format!("{from}: in which layer is it?"));
                continue;
            };
            for to in targets {
                let Some((to_unit, to_row)) = unit(to) else {
                    continue;
                };
                if from_unit != to_unit && to_row >= from_row {
                    wrong.push(format!("{from} may not know {to}"));
                }
            }
        }
        wrong
    }

    /// Prints the graph, which is seen if the test fails.
    fn assert_in_layers(&self, layers: Layers) {
        let arrows: usize = self.0.values().map(BTreeSet::len).sum();
        assert!(arrows > 15, "only {arrows} arrows were read");
        let mut wrong = self.against(layers);
        let circle = self.circle();
        wrong.extend(circle.map(|names| format!("a circle: {}", names.join(" → "))));
        println!("{self}");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (from, targets) in &self.0 {
            let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
            writeln!(f, "{from} → {}", targets.join(", "))?;
        }
        Ok(())
    }
}

/// Whether a module is this one or below it.
fn is_within(name: &str, module: &str) -> bool {
    name.strip_prefix(module)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The modules of a crate by name, each with its text: comments, strings and tests are left out.
struct Sources(BTreeMap<String, String>);

impl Sources {
    /// From files: paths below `src`, and what they hold.
    fn new(files: impl IntoIterator<Item = (PathBuf, String)>) -> Self {
        let files = files.into_iter();
        Sources(
            files
                .map(|(path, text)| (module_name(&path), code(&text)))
                .collect(),
        )
    }

    fn read(src: &Path) -> Self {
        let (mut files, mut folders) = (Vec::new(), vec![src.to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = fs::read_to_string(&path).unwrap();
                    files.push((path.strip_prefix(src).unwrap().to_owned(), text));
                }
            }
        }
        Self::new(files)
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        let names = self.names();
        for (module, text) in &self.0 {
            graph.add(module, module);
            for path in paths(text) {
                if let Some(to) = self.resolve(module, &path, &names, 0) {
                    graph.add(module, &to);
                }
            }
        }
        graph
    }

    /// What each `use` brings into the scope of its module: the path, by module and name.
    fn names(&self) -> Names {
        let mut names = Names::new();
        for (module, text) in &self.0 {
            for path in statements(text).iter().flat_map(|text| expanded(text)) {
                if let Some(name) = path.last() {
                    names.insert((module.clone(), name.clone()), path.clone());
                }
            }
        }
        names
    }

    /// The module that defines what `path` names in `module`, whichever others it was brought
    /// through; `None` if that is another crate, or a type.
    fn resolve(
        &self,
        module: &str,
        path: &[String],
        names: &Names,
        depth: usize,
    ) -> Option<String> {
        let mut at = module.to_owned();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => {
                at.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    at.truncate(at.rfind("::").unwrap_or(0));
                    rest = &rest[1..];
                }
            }
            child if self.0.contains_key(&below(module, child)) => {}
            name => {
                let brought = names.get(&(module.to_owned(), name.to_owned()));
                let brought = brought.filter(|_| depth < DEEPEST)?;
                let whole: Vec<String> = brought.iter().chain(&rest[1..]).cloned().collect();
                return self.resolve(module, &whole, names, depth + 1);
            }
        }
        for part in rest {
            let child = below(&at, part);
            if self.0.contains_key(&child) {
                at = child;
                continue;
            }
            let brought = names.get(&(at.clone(), part.clone()));
            let brought = brought.filter(|_| depth < DEEPEST);
            return brought
                .and_then(|path| self.resolve(&at, path, names, depth + 1))
                .or(Some(at));
        }
        Some(at)
    }
}

fn below(module: &str, child: &str) -> String {
    match module {
        "" => child.to_owned(),
        _ => format!("{module}::{child}"),
    }
}

/// `a/b.rs` and `a/b/mod.rs` are `a::b`; `lib.rs` is the root.
fn module_name(path: &Path) -> String {
    let mut parts: Vec<_> = path
        .with_extension("")
        .iter()
        .map(|part| part.to_str().unwrap().to_owned())
        .collect();
    if parts.last().is_some_and(|last| last == "mod") || parts == ["lib"] {
        parts.pop();
    }
    parts.join("::")
}

/// The text without comments, strings and the unit tests at its end.
fn code(text: &str) -> String {
    let text = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or(text);
    let mut lines = String::new();
    for line in text.lines() {
        let bare = line.split("//").next().unwrap_or(line);
        lines.extend(bare.split('"').step_by(2));
        lines.push('\n');
    }
    lines
}

/// What stands between each `use` and its semicolon.
fn statements(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        let line = line.trim_start();
        // Behind `pub` or `pub(super)`, too.
        let visible = line.strip_prefix("pub");
        let line = visible.map_or(line, |rest| {
            rest.split_once(' ').map_or("", |(_, rest)| rest)
        });
        let Some(first) = line.strip_prefix("use ") else {
            continue;
        };
        let mut statement = first.to_owned();
        while !statement.contains(';') {
            statement.push_str(lines.next().unwrap_or(";").trim());
        }
        found.push(statement.replace([' ', ';'], ""));
    }
    found
}

/// The paths that a `use` names: `a::{b, c::d}` names two.
fn expanded(statement: &str) -> Vec<Vec<String>> {
    let Some((prefix, rest)) = statement.split_once('{') else {
        let parts = statement.split("::").filter(|part| !part.is_empty());
        return vec![parts.map(str::to_owned).collect()];
    };
    let rest = rest.strip_suffix('}').unwrap_or(rest);
    let (mut depth, mut items) = (0, vec![String::new()]);
    for c in rest.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(item) = items.last_mut() {
            item.push(c);
        }
    }
    let items = items.iter().filter(|item| !item.is_empty());
    items
        .flat_map(|item| expanded(&format!("{prefix}{item}")))
        .map(|mut path| {
            // `a::{self, b}`: the first is `a`.
            if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
                path.pop();
            }
            path
        })
        .collect()
}

/// All paths of more than one part that a module names, in `use` and elsewhere.
fn paths(code: &str) -> Vec<Vec<String>> {
    let uses = statements(code);
    let mut found: Vec<Vec<String>> = uses.iter().flat_map(|text| expanded(text)).collect();
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = code.split(|c: char| !is_part(c));
    let words = words.filter(|word| word.contains("::") && !word.ends_with(':'));
    found.extend(words.flat_map(expanded));
    found
}

/// The crates of the workspace at `host`, and what their Cargo.toml says of each other.
fn crates(host: &Path) -> Graph {
    let mut graph = Graph::default();
    for entry in fs::read_dir(host).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(folder.join("Cargo.toml")) else {
            continue;
        };
        let name = folder.file_name().unwrap().to_str().unwrap();
        graph.add(name, name);
        for line in text.lines() {
            let known = line.split_once(".workspace").map(|(known, _)| known);
            match known {
                Some("heddle") => graph.add(name, "heddle"),
                Some(other) => other
                    .strip_prefix("heddle-")
                    .into_iter()
                    .for_each(|other| graph.add(name, other)),
                None => {}
            }
        }
    }
    graph
}

fn host() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn crates_know_only_those_below_them() {
    crates(&host()).assert_in_layers(CRATES);
}

#[test]
fn modules_of_strands_know_only_those_below_them() {
    let graph = Sources::read(&host().join("strands/src")).graph();
    graph.assert_in_layers(STRANDS);
}

#[test]
fn modules_of_the_command_know_only_those_below_them() {
    let graph = Sources::read(&host().join("heddle/src")).graph();
    graph.assert_in_layers(HEDDLE);
}

fn made_up(files: &[(&str, &str)]) -> Graph {
    let files = files.iter();
    Sources::new(files.map(|&(path, text)| (path.into(), text.into()))).graph()
}

#[test]
fn a_circle_is_found_through_exports_folders_and_plain_paths() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\nmod c;\npub use c::{D, d::E};\n"),
        (
            "a.rs",
            "use crate::{\n    b::{B, self},\n};\nfn g() -> crate::b::C {}\n",
        ),
        ("b.rs", "use std::fmt;\nuse super::D;\n"),
        ("c/mod.rs", "mod d;\npub(crate) use d::D;\n"),
        ("c/d.rs", "use crate::a;\nfn f() {\n    a::g();\n}\n"),
    ];
    let graph = made_up(&files);
    assert_eq!(
        graph.to_string(),
        " → c, c::d\na → b\nb → c::d\nc → c::d\nc::d → a\n".replace(" → c, c::d\na", " → c::d\na")
    );
    let circle = graph.circle().unwrap();
    assert_eq!(circle, ["c::d", "a", "b", "c::d"].map(str::to_owned));
}

#[test]
fn comments_strings_and_tests_are_no_arrows() {
    let text = "// crate::b::x\nconst B: &str = \"crate::b\";\n\
                #[cfg(test)]\nmod tests {\n    use crate::b::B;\n}\n";
    let graph = made_up(&[("lib.rs", ""), ("a.rs", text), ("b.rs", "")]);
    assert_eq!(graph.circle(), None);
    assert_eq!(graph.to_string(), " → \na → \nb → \n");
}

#[test]
fn an_arrow_against_its_layer_is_found() {
    const LAYERS: Layers = &[&["low"], &["high", "other"], &[""]];
    let files = [
        ("lib.rs", "mod low;\nmod high;\nmod other;\n"),
        ("low.rs", "use crate::high::part::X;\n"),
        ("high/mod.rs", "mod part;\nuse crate::other::Y;\n"),
        ("high/part.rs", "use crate::low;\n"),
        ("other.rs", "fn f() {}\n"),
    ];
    let wrong = made_up(&files).against(LAYERS);
    assert_eq!(
        wrong,
        ["high may not know other", "low may not know high::part"]
    );
}
