//! The numbered files in which the recorder counts what a process does. How many of them it made
//! is in the process's header.

use crate::buffer::numbers;
use crate::file::unborn;
use crate::{Error, Lack};
use std::path::Path;

/// More files than a recorder makes: a larger number is damage.
const MOST: u32 = 64;

/// Gives `add` the files `<prefix>1` … that hold anything, in order of their numbers. Tells of
/// those that are missing or empty though the recorder has made them, or one behind them, and of
/// those that `add` finds damaged; `follows` says what is not known then.
pub fn read(
    directory: &Path,
    (prefix, made): (&str, u32),
    follows: &str,
    lacks: &mut Vec<Lack>,
    mut add: impl FnMut(&Path) -> Result<(), Error>,
) -> Result<(), Error> {
    let found = numbers(directory, prefix)?;
    let made = made.max(found.last().copied().unwrap_or(0).saturating_sub(1));
    let missing = (1..=made.min(MOST)).filter(|number| !found.contains(number));
    let all = found.iter().copied().chain(missing);
    let mut all: Vec<u32> = all.collect();
    all.sort_unstable();
    for number in all {
        let path = directory.join(format!("{prefix}{number}"));
        let what = if !found.contains(&number) {
            "is missing"
        } else {
            match unborn(&path) {
                // The recorder may have died as it made the last one.
                Ok(true) if number > made => continue,
                Ok(true) => "is empty",
                Ok(false) => match add(&path) {
                    Ok(()) => continue,
                    Err(error) => {
                        lacks.push(error.lack(follows)?);
                        continue;
                    }
                },
                Err(error) => {
                    lacks.push(error.lack(follows)?);
                    continue;
                }
            }
        };
        let what = format!("{what}: {follows}");
        lacks.push(Lack { path, what });
    }
    Ok(())
}
