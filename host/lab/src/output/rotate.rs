//! A finished run takes its place; the report that was there is kept, and so are those before it.

use super::places::{Found, KEPT, Places, is_empty, look, remove};
use crate::error::{Error, Result};
use std::path::Path;

/// Moves `<dir>.partial` to `<dir>`, and what is there to `<dir>.old`; what to tell the user.
///
/// # Errors
/// If something is in the way that is not ours, or cannot be renamed: then the run stays in
/// `<dir>.partial`.
pub(super) fn finish(places: &Places) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    if look(&places.dir)? == Found::Ours && !is_empty(&places.dir) {
        notes.extend(make_room(places)?);
        rename(&places.dir, &places.earlier(0))?;
        notes.push(format!(
            "the report that was in {} is kept in {}",
            places.dir.display(),
            places.earlier(0).display()
        ));
    }
    // An empty directory gives way to one that is renamed.
    rename(&places.partial(), &places.dir)?;
    Ok(notes)
}

/// Makes `<dir>.old` free: each earlier report gets the next number, and the oldest goes when all
/// numbers are taken.
fn make_room(places: &Places) -> Result<Option<String>> {
    let taken = |number: &usize| Ok::<bool, Error>(look(&places.earlier(*number))? == Found::Ours);
    let mut free = None;
    for number in 0..=KEPT {
        if !taken(&number)? {
            free = Some(number);
            break;
        }
    }
    let mut note = None;
    let free = match free {
        Some(number) => number,
        None => {
            let oldest = places.earlier(KEPT);
            if remove(&oldest)? {
                note = Some(format!("{}, the oldest, is removed", oldest.display()));
                KEPT
            } else {
                // There are files of the user's beside ours.
                let mut number = KEPT + 1;
                while std::fs::symlink_metadata(places.earlier(number)).is_ok() {
                    number += 1;
                }
                number
            }
        }
    };
    for number in (0..free).rev() {
        rename(&places.earlier(number), &places.earlier(number + 1))?;
    }
    Ok(note)
}

pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).map_err(Error::io(format!(
        "cannot rename {} to {}",
        from.display(),
        to.display()
    )))
}
