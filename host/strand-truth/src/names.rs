//! Functions' names as truth tells them: the last word, without namespaces, parameters and template
//! arguments.

use heddle_symbols::{Images, Resolver};
use heddle_trace_file::{Addr, Nanos, Process};
use std::collections::HashMap;

/// A function's name: equal where the names are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

/// The names of one process's functions.
pub struct Names<'a> {
    images: Images,
    resolver: Resolver<'a>,
    of_text: HashMap<String, Name>,
    of_address: HashMap<Addr, Name>,
}

impl<'a> Names<'a> {
    /// Those of `process`.
    pub fn new(process: &'a Process) -> Self {
        Names {
            images: Images::new(),
            resolver: Resolver::new(process.modules()),
            of_text: HashMap::new(),
            of_address: HashMap::new(),
        }
    }

    /// A name that truth told.
    pub fn told(&mut self, text: &str) -> Name {
        if let Some(&name) = self.of_text.get(text) {
            return name;
        }
        let name = Name(self.of_text.len() as u32);
        self.of_text.insert(text.to_owned(), name);
        name
    }

    /// The name of the function at `address`. None of the programs closes a library, so that an
    /// address is one function's.
    pub fn function(&mut self, address: Addr, time: Nanos) -> Name {
        if let Some(&name) = self.of_address.get(&address) {
            return name;
        }
        let location = self.resolver.function(&mut self.images, address, time);
        let name = self.told(&last_word(&location.name));
        self.of_address.insert(address, name);
        name
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> &str {
        self.of_text
            .iter()
            .find(|(_, number)| **number == name)
            .map_or("?", |(text, _)| text)
    }
}

/// `sums` of `(anonymous namespace)::task object::sums<int>(long) const [resume]`; `lambda` of a
/// lambda's.
fn last_word(readable: &str) -> String {
    if readable.contains("}::operator()(") {
        return "lambda".to_owned();
    }
    let mut depth = 0usize;
    let mut outside = String::new();
    for c in readable.chars() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => outside.push(c),
            _ => {}
        }
    }
    let qualifiers = ["const", "volatile", "&", "&&"];
    let word = outside
        .split_ascii_whitespace()
        .rfind(|word| !qualifiers.contains(word))
        .unwrap_or(readable);
    word.rsplit("::").next().unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_what_the_programmer_calls_it() {
        for (readable, word) in [
            ("main", "main"),
            ("calls::work(unsigned int)", "work"),
            (
                "(anonymous namespace)::task (anonymous namespace)::tree<int>(int) [resume]",
                "tree",
            ),
            (
                "(anonymous namespace)::object::member(long) const [destroy]",
                "member",
            ),
            (
                "round()::{lambda(long)#1}::operator()(long) const [resume]",
                "lambda",
            ),
            (
                "library::fleet<library::(anonymous namespace)::ucontext>::schedule()",
                "schedule",
            ),
            ("guard::~guard()", "~guard"),
            ("libc.so.6+0x29d68", "libc.so.6+0x29d68"),
        ] {
            assert_eq!(last_word(readable), word);
        }
    }
}
