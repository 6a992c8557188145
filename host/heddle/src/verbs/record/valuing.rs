//! `--args` and `--retval`: which functions' arguments and results are recorded, and the shapes of
//! these in the trace.

use crate::filter::Pattern;
use crate::notes::quoted;
use heddle_symbols::{FoundValues, ValuesWanted, demangle};
use heddle_trace_file::{Error, Field, Of, Shape, Shapes, ValueSite};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whose arguments and results are recorded: docs/record.md.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Recording more")]
pub struct ValueOptions {
    /// Record what functions of this name are called with; a name, a regular expression or
    /// glob:GLOB
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    args: Vec<Pattern>,
    /// Record what functions of this name return
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    retval: Vec<Pattern>,
}

impl ValueOptions {
    /// Whether anything is wanted.
    pub fn is_any(&self) -> bool {
        !self.args.is_empty() || !self.retval.is_empty()
    }

    /// Tells the library in the program that `command` runs, and in its children.
    pub fn tell(&self, command: &mut Command) {
        // What is in our own environment is another recording's.
        command.env_remove("HEDDLE_VALUES");
        if self.is_any() {
            command.env("HEDDLE_VALUES", "1");
        }
    }
}

/// Looks for the patterns in symbols, and numbers shapes.
pub struct Valuing<'a> {
    trace: PathBuf,
    patterns: Vec<(&'static str, &'a Pattern, bool)>,
    shapes: HashMap<(Of, Vec<Field>), u32>,
}

impl<'a> Valuing<'a> {
    /// For these patterns; shapes are written into `trace`.
    pub fn new(trace: &Path, options: &'a ValueOptions) -> Self {
        let args = options.args.iter().map(|pattern| (ARGS, pattern, false));
        let retval = options
            .retval
            .iter()
            .map(|pattern| (RETVAL, pattern, false));
        Valuing {
            trace: trace.to_owned(),
            patterns: args.chain(retval).collect(),
            shapes: HashMap::new(),
        }
    }

    /// Whether there are patterns.
    pub fn is_any(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// What is wanted of the function with this symbol.
    pub fn wanted(&mut self, symbol: &str) -> ValuesWanted {
        let name = demangle(symbol);
        let mut wanted = ValuesWanted::default();
        for (option, pattern, matched) in &mut self.patterns {
            if pattern.matches(&name) {
                *matched = true;
                wanted.arguments |= *option == ARGS;
                wanted.result |= *option == RETVAL;
            }
        }
        wanted
    }

    /// The same with the shapes' numbers; new ones are written into the trace first.
    ///
    /// # Errors
    /// The trace cannot be written.
    pub fn numbered(&mut self, found: Vec<FoundValues>) -> Result<Vec<ValueSite>, Error> {
        let (mut sites, mut fresh) = (Vec::with_capacity(found.len()), Vec::new());
        for values in found {
            let next = self.shapes.len() as u32 + 1;
            let key = (values.of, values.fields);
            let shape = *self.shapes.entry(key).or_insert_with_key(|(of, fields)| {
                fresh.push(Shape {
                    shape: next,
                    of: *of,
                    fields: fields.clone(),
                });
                next
            });
            sites.push(ValueSite {
                address: values.address,
                function: values.function,
                shape,
                steps: values.steps,
            });
        }
        Shapes::append(&self.trace, &fresh)?;
        Ok(sites)
    }

    /// A warning for each pattern that matched nothing.
    pub fn unmatched(&self) -> Vec<String> {
        let idle = self.patterns.iter().filter(|(.., matched)| !matched);
        idle.map(|(option, pattern, _)| {
            format!(
                "{option} {} matched no function that could be recorded; `nm -C PROGRAM` prints their names",
                quoted(pattern.text().as_ref())
            )
        })
        .collect()
    }
}

const ARGS: &str = "--args";
const RETVAL: &str = "--retval";
