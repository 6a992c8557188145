//! A manual page for `heddle` and for each of its commands: what clap knows of the command, and the
//! examples of its page in docs/.

use anyhow::Context as _;
use clap::Command;
use clap_mangen::Man;
use roff::{Roff, bold, roman};
use std::fs;
use std::path::Path;

/// Examples of `heddle` itself.
const OVERVIEW: &str = "\
g++ -g -O2 $(heddle flags) app.cpp -o app   # compile a program so that it can be recorded
heddle record -- ./app                      # run it; heddle.trace is what it called
heddle report                               # calls and times by function
heddle compare ~/my-experiments             # compare concurrency models on a workload of your own
";

/// File names and contents, in the order of the commands.
pub fn all(mut command: Command, docs: &Path) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    command = command.disable_help_subcommand(true);
    command.build();
    let verbs: Vec<Command> = command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set())
        .cloned()
        .collect();
    let names: Vec<String> = verbs.iter().map(page_name).collect();
    let mut pages = vec![("heddle.1".to_owned(), page(&command, OVERVIEW, &names)?)];
    for verb in verbs {
        let file = docs.join(format!("{}.md", verb.get_name()));
        let text =
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let examples =
            first_block(&text).with_context(|| format!("{} has no example", file.display()))?;
        let name = page_name(&verb);
        pages.push((
            format!("{name}.1"),
            page(&verb, examples, &["heddle".to_owned()])?,
        ));
    }
    Ok(pages)
}

/// `heddle-record` of `heddle record`.
fn page_name(verb: &Command) -> String {
    verb.get_display_name()
        .unwrap_or(verb.get_name())
        .to_owned()
}

fn page(command: &Command, examples: &str, see: &[String]) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    Man::new(command.clone())
        .manual("Heddle")
        .source(format!("Heddle {}", env!("CARGO_PKG_VERSION")))
        .render(&mut text)?;
    let mut roff = Roff::new();
    roff.control("SH", ["EXAMPLES"]);
    roff.control("nf", []);
    for line in examples.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff.control("SH", ["SEE ALSO"]);
    let last = see.len().saturating_sub(1);
    for (index, name) in see.iter().enumerate() {
        let end = if index == last { "(1)" } else { "(1)," };
        roff.text([bold(name.as_str()), roman(end)]);
    }
    roff.to_writer(&mut text)?;
    Ok(text)
}

/// The lines of a page's first block: commands, or a command and what it prints.
fn first_block(markdown: &str) -> Option<&str> {
    let (_, after) = markdown.split_once("```")?;
    let (_, after) = after.split_once('\n')?;
    let (block, _) = after.split_once("```")?;
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_examples() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let pages = all(heddle::command(), &docs).expect("pages");
        let verbs = heddle::command().get_subcommands().count();
        assert_eq!(pages.len(), verbs + 1);
        for (name, text) in pages {
            let text = String::from_utf8(text).expect("text");
            assert!(text.contains(".SH EXAMPLES\n"), "{name}: {text}");
        }
    }
}
