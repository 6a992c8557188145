//! The index of a trace: where it is, and whether it is of the trace as it is now.

use crate::names::Length;
use anyhow::Context;
use heddle_tui::Model;
use heddle_tui::index::{self, Origin, Refusal};
use std::path::{Path, PathBuf};

/// Where a model is kept.
pub struct Kept {
    trace: PathBuf,
    path: PathBuf,
    made_by: String,
    origin: Origin,
}

/// Its name in a trace's directory; behind a packed trace's name, with a point between.
const NAME: &str = "tui-index";

impl Kept {
    /// The index of this trace, with names of this length.
    pub fn new(trace: &Path, length: Length) -> anyhow::Result<Self> {
        let path = match trace.is_dir() {
            true => trace.join(NAME),
            false => {
                let mut name = trace.as_os_str().to_owned();
                name.push(".");
                name.push(NAME);
                name.into()
            }
        };
        let made_by = format!("{} {length:?}", env!("CARGO_PKG_VERSION"));
        let origin = Origin::of(trace, made_by.clone(), &path);
        Ok(Kept {
            origin: origin.with_context(|| trace.display().to_string())?,
            trace: trace.to_owned(),
            path,
            made_by,
        })
    }

    /// The model; or why there is none, if that is worth a word.
    pub fn read(&self) -> Result<Box<Model>, Option<String>> {
        index::read(&self.path, &self.origin)
            .map(Box::new)
            .map_err(|refusal| match refusal {
                Refusal::Missing => None,
                Refusal::Stale => Some("the trace has changed: its index is made anew".to_owned()),
                Refusal::Wrong(why) => {
                    let path = self.path.display();
                    Some(format!("{path} is not used: {why}; it is made anew"))
                }
            })
    }

    /// Keeps a model; what is to be said, if it could not be kept.
    pub fn write(&self, model: &Model) -> Option<String> {
        let now = Origin::of(&self.trace, self.made_by.clone(), &self.path);
        if now.ok().as_ref() != Some(&self.origin) {
            return Some("the trace changed while it was read: no index was written".to_owned());
        }
        let written = index::write(&self.path, &self.origin, model);
        let error = written.err()?;
        Some(format!(
            "no index was written ({error}): the next opening reads the trace again"
        ))
    }
}
