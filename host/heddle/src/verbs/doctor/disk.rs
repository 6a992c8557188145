//! How fast the disk takes a trace.

use super::finding::Finding;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes of an event, on average: docs/trace-format.md.
const EVENT: u64 = 12;
/// A program that calls much makes so many events a second in a thread.
const BUSY: u64 = 10_000_000;
const PIECE: usize = 1 << 20;
const MOST: usize = 128 << 20;
const LONGEST: Duration = Duration::from_secs(1);
/// Less room than this fills in a minute of [`BUSY`].
const ROOM: u64 = BUSY * EVENT * 60;

/// Writes to a nameless file in `directory`, and looks at the room there.
pub fn look(directory: &Path) -> Vec<Finding> {
    let shown = directory.display();
    let rate = tempfile::tempfile_in(directory).and_then(|file| rate(&file));
    let rate = match rate {
        Ok(rate) => speed(rate, &shown.to_string()),
        Err(error) => Finding::wrong(
            "disk",
            format!("{shown}: {error}"),
            Some(
                "name a directory for traces that can be written: heddle record -o DIR/heddle.trace",
            ),
        ),
    };
    let mut all = vec![rate];
    if let Ok(stat) = rustix::fs::statvfs(directory) {
        all.push(room(
            stat.f_bavail.saturating_mul(stat.f_frsize),
            &shown.to_string(),
        ));
    }
    all
}

/// Bytes a second, until they are on the disk.
fn rate(mut file: &File) -> io::Result<u64> {
    // No file system makes less of it.
    let piece: Vec<u8> = (0..PIECE as u32)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let (begin, mut written) = (Instant::now(), 0);
    while written < MOST && begin.elapsed() < LONGEST {
        file.write_all(&piece)?;
        written += PIECE;
    }
    file.sync_data()?;
    Ok((written as f64 / begin.elapsed().as_secs_f64()) as u64)
}

fn speed(rate: u64, shown: &str) -> Finding {
    let says = format!(
        "{shown} takes {} MB/s: {:.0} million events a second",
        rate / 1_000_000,
        rate as f64 / EVENT as f64 / 1e6
    );
    if rate >= BUSY * EVENT {
        return Finding::well("disk", says);
    }
    Finding::lacking(
        "disk",
        format!(
            "{says}; a thread that calls much makes {} million, and then waits for the disk",
            BUSY / 1_000_000
        ),
        "record on another disk (-o), or less (-F, -D, --min-time), or the latest events alone (--flight 64M)",
    )
}

fn room(bytes: u64, shown: &str) -> Finding {
    let says = format!("{shown} has {:.1} GB free", bytes as f64 / 1e9);
    if bytes >= ROOM {
        return Finding::well("room", says);
    }
    Finding::lacking(
        "room",
        format!(
            "{says}: a thread that calls much fills {:.1} GB a minute, and what has no room is dropped and counted",
            ROOM as f64 / 1e9
        ),
        "make room, record on another disk (-o), or the latest events alone (--flight 64M)",
    )
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn a_disk_is_judged_by_what_a_busy_thread_makes() {
        let slow = speed(60_000_000, "/mnt");
        assert_eq!(slow.state, State::Lacking);
        assert!(
            slow.says
                .starts_with("/mnt takes 60 MB/s: 5 million events a second; "),
            "{}",
            slow.says
        );
        assert!(slow.mend.unwrap().contains("--flight"));
        assert_eq!(speed(500_000_000, "/mnt").state, State::Well);
        assert_eq!(room(1 << 30, "/mnt").state, State::Lacking);
        assert_eq!(room(1 << 40, "/mnt").state, State::Well);
    }

    #[test]
    fn a_directory_that_is_not_there_is_wrong() {
        let found = look(Path::new("/nowhere/at/all"));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].state, State::Wrong);
        assert!(found[0].says.contains("/nowhere/at/all"));
    }
}
