//! What was missing from a trace when it was packed: its files are not there any more, and what
//! could not be read of them was left out.

use super::write::Omitted;
use crate::error::renamed;
use crate::file::text_of;
use crate::{Damage, Damages, Error, Lack, Trace};
use std::fmt::Write;
use std::path::Path;

/// The file of a packed trace that says it.
pub const DAMAGE: &str = "damage";

/// What the file says.
#[derive(Debug, Default)]
pub struct Carried {
    /// In place of those that the reader of the packed trace finds itself.
    pub lacks: Vec<Lack>,
    /// By the names of the processes' directories.
    pub damages: Vec<(String, Damages)>,
}

/// The file's contents; nothing if nothing is missing.
pub fn text(trace: &Trace, omitted: &[Omitted]) -> String {
    // A path below the trace, as far as it is one.
    let name = |path: &Path| {
        let name = renamed(path, trace.path(), Path::new(""));
        let name = match name.is_absolute() {
            true => name.file_name().map(Path::new).unwrap_or(&name),
            false => &name,
        };
        line(&name.to_string_lossy()).replace(' ', "_")
    };
    let mut text = String::new();
    for Lack { path, what } in trace.lacking() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "lack {} {}", name(path), line(what));
    }
    for (process, omitted) in trace.processes().iter().zip(omitted) {
        let mut damages = process.damages().clone();
        damages += omitted;
        let Some(Damage { path, offset, what }) = &damages.first else {
            continue;
        };
        let (id, places, bytes) = (process.id(), damages.places, damages.bytes);
        let (name, what) = (name(path), line(what));
        let _ = writeln!(text, "damage {id} {places} {bytes} {name} {offset} {what}");
    }
    text
}

/// On one line, and such that a terminal only shows it.
fn line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

impl Carried {
    /// What the file in `directory` says, of a packed trace that is called `trace`.
    pub fn read(directory: &Path, trace: &Path) -> Result<Self, Error> {
        let text = text_of(&directory.join(DAMAGE))?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let mut all = Carried::default();
        for said in text.lines().map(line) {
            match said.split_once(' ') {
                Some(("lack", said)) => all.lacks.extend(lack(said, trace)),
                Some(("damage", said)) => all.damages.extend(damage(said, trace)),
                _ => {}
            }
        }
        Ok(all)
    }
}

fn lack(said: &str, trace: &Path) -> Option<Lack> {
    let (name, what) = said.split_once(' ')?;
    Some(Lack {
        path: trace.join(name),
        what: what.to_owned(),
    })
}

fn damage(said: &str, trace: &Path) -> Option<(String, Damages)> {
    let mut words = said.splitn(6, ' ');
    let process = words.next()?.to_owned();
    let mut number = || words.next()?.parse::<u64>().ok();
    let (places, bytes) = (number()?, number()?);
    let path = trace.join(words.next()?);
    let offset = words.next()?.parse().ok()?;
    let what = words.next()?.to_owned();
    let first = Some(Damage { path, offset, what });
    let damages = Damages {
        first,
        places,
        bytes,
    };
    Some((process, damages))
}
