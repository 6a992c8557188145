//! A manual page for `heddle` and for each of its commands: what clap knows of the command, and its
//! examples.

use anyhow::Context as _;
use clap::Command;
use clap_mangen::Man;
use roff::{Roff, bold, roman};

/// File names and contents, in the order of the commands.
pub fn all(mut command: Command) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    command = command.disable_help_subcommand(true);
    command.build();
    let verbs: Vec<Command> = command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set())
        .cloned()
        .collect();
    let names: Vec<String> = verbs.iter().map(page_name).collect();
    let mut pages = vec![("heddle.1".to_owned(), page(&command, &names)?)];
    for verb in verbs {
        let name = page_name(&verb);
        pages.push((format!("{name}.1"), page(&verb, &["heddle".to_owned()])?));
    }
    Ok(pages)
}

/// `heddle-record` of `heddle record`.
fn page_name(verb: &Command) -> String {
    verb.get_display_name()
        .unwrap_or(verb.get_name())
        .to_owned()
}

fn page(command: &Command, see: &[String]) -> anyhow::Result<Vec<u8>> {
    let verb = command.get_name();
    let examples = heddle::examples(verb).with_context(|| format!("{verb} has no example"))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_examples() {
        let pages = all(heddle::command()).expect("pages");
        let verbs = heddle::command().get_subcommands().count();
        assert_eq!(pages.len(), verbs + 1);
        for (name, text) in pages {
            let text = String::from_utf8(text).expect("text");
            assert!(text.contains(".SH EXAMPLES\n"), "{name}: {text}");
        }
    }
}
