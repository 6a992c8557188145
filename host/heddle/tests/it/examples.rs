//! Examples of the verbs: they are in front of every help, are accepted by the command, and begin
//! the pages in docs/.

use crate::common::heddle;
use std::fs;
use std::path::Path;

fn names() -> Vec<String> {
    let command = heddle::command();
    let verbs = command.get_subcommands();
    let verbs = verbs.filter(|verb| verb.get_name() != "help");
    verbs.map(|verb| verb.get_name().to_owned()).collect()
}

/// What the help of these words prints.
fn help(words: &[&str]) -> String {
    let run = heddle(Path::new("/")).args(words).assert().success();
    String::from_utf8(run.get_output().stdout.clone()).unwrap()
}

#[test]
fn every_help_begins_with_examples() {
    let verbs = names();
    let verbs = verbs.iter().map(String::as_str);
    for name in ["heddle"].into_iter().chain(verbs) {
        let words = [name, "--help"];
        let words = if name == "heddle" {
            &words[1..]
        } else {
            &words[..]
        };
        let text = help(words);
        let examples = heddle::examples(name).expect(name);
        let lines = examples.lines().map(|line| format!("  {line}\n"));
        let expected = format!(
            "\n\nExamples:\n{}\nUsage: heddle",
            lines.collect::<String>()
        );
        assert!(text.contains(&expected), "{name}: {text}");
        let short = [&words[..words.len() - 1], &["-h"]].concat();
        assert!(help(&short).contains(&expected), "{name}");
        assert_eq!(text.matches("Examples:").count(), 1, "{name}: {text}");
        // A template would take it for a tag of its own.
        assert!(!examples.contains('{'), "{name}");
    }
    assert_eq!(help(&["help", "graph"]), help(&["graph", "--help"]));
}

/// The words of a line as a shell takes them, as far as examples go, without its comment.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '#') if word.is_empty() => break,
            (None, ' ') if word.is_empty() => {}
            (None, ' ') => words.push(std::mem::take(&mut word)),
            (_, c) => word.push(c),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    let end = words.iter().position(|word| word == ">");
    words.truncate(end.unwrap_or(words.len()));
    words
}

#[test]
fn the_command_takes_its_examples() {
    for name in names() {
        let examples = heddle::examples(&name).unwrap();
        let mut of_verb = 0;
        for line in examples.lines().filter(|line| line.starts_with("heddle ")) {
            let words = words(line);
            of_verb += usize::from(words[1] == name);
            let parsed = heddle::command().try_get_matches_from(&words);
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
        assert!(of_verb > 0, "{name}: {examples}");
    }
}

#[test]
fn a_page_begins_with_the_examples_of_its_verb() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for name in names() {
        let page = fs::read_to_string(docs.join(format!("{name}.md"))).unwrap();
        let (_, block) = page.split_once("```sh\n").expect(&name);
        let (block, _) = block.split_once("```").unwrap();
        let examples = heddle::examples(&name).unwrap();
        assert_eq!(
            block, examples,
            "docs/{name}.md differs from host/heddle/src/examples.rs"
        );
    }
}
