//! A trace directory.

use crate::clock::TimeLine;
use crate::file::{open, unborn};
use crate::process::{Head, Process, rate};
use crate::{Error, Merged, Nanos, Rate, VERSION};
use std::io::Read;
use std::path::{Path, PathBuf};

/// What the file `heddle` in a trace directory begins with; the version follows, then a newline.
pub const MARKER: &str = "heddle trace ";

/// A recorded run: one or more processes on one time line.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    processes: Vec<Process>,
    epoch: Nanos,
    rate: Rate,
}

impl Trace {
    /// Opens the trace at `path`. Costs nothing per event: records are read when they are asked for.
    ///
    /// # Errors
    /// Any [`Error`]: the directory is missing, not ours, newer, empty or damaged.
    pub fn open(path: &Path) -> Result<Self, Error> {
        verify_marker(path)?;
        let mut found = Vec::new();
        for entry in std::fs::read_dir(path).map_err(Error::io(path))? {
            let name = entry.map_err(Error::io(path))?.file_name();
            if let Some(image) = name.to_str().and_then(image_of) {
                let directory = path.join(name);
                // The recorder makes the directory, then the file, then fills it: a process that died in between has recorded nothing.
                let file = directory.join("process");
                if file.exists() && !unborn(&file)? {
                    found.push((Head::read(&directory, image)?, directory));
                }
            }
        }
        found.sort_by_key(|(head, _)| (head.first.ticks, head.pid, head.image));
        let heads: Vec<Head> = found.iter().map(|(head, _)| head.clone()).collect();
        let Some(first) = heads.first() else {
            return Err(Error::Empty(path.to_owned()));
        };
        if let Some((other, directory)) = found.iter().find(|(head, _)| head.clock != first.clock) {
            let what = format!(
                "clock {:?}, but the trace's first process has {:?}",
                other.clock, first.clock
            );
            return Err(Error::damaged(&directory.join("process"), 24, what));
        }
        let rate = rate(&heads, first).ok_or_else(|| {
            Error::damaged(
                &found[0].1.join("process"),
                32,
                "neither the stamps nor ticks_per_second say how fast the clock runs",
            )
        })?;
        let line = TimeLine {
            start: first.first.ticks,
            rate,
        };
        let epoch = first.first.realtime;
        let processes = found
            .into_iter()
            .map(|(head, directory)| Process::read(&directory, head, line))
            .collect::<Result<_, _>>()?;
        Ok(Trace {
            path: path.to_owned(),
            processes,
            epoch,
            rate,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its processes, in order of their first event. At least one.
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// The wall-clock time of the first stamp, ns since 1970: add an event's time to it.
    pub fn epoch(&self) -> Nanos {
        self.epoch
    }

    /// How fast the clock ran.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// The events of all threads of all processes, in order of time.
    pub fn merged(&self) -> Merged<'_> {
        Merged::new(self)
    }
}

/// Whether `path` is a directory that heddle made, of whatever version.
pub fn is_trace(path: &Path) -> bool {
    !matches!(
        verify_marker(path),
        Err(Error::Missing(_) | Error::NotOurs(_) | Error::Io { .. })
    )
}

fn verify_marker(path: &Path) -> Result<(), Error> {
    let marker = path.join("heddle");
    match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::Missing(path.to_owned()));
        }
        Err(error) => return Err(Error::io(path)(error)),
        Ok(metadata) if !metadata.is_dir() => return Err(Error::NotOurs(path.to_owned())),
        Ok(_) => {}
    }
    // 64 bytes hold the marker and any version; more is not ours.
    let mut bytes = Vec::new();
    match open(&marker) {
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::NotOurs(path.to_owned()));
        }
        Err(Error::Damaged { .. }) => return Err(Error::NotOurs(path.to_owned())),
        Err(error) => return Err(error),
        Ok(file) => file
            .take(64)
            .read_to_end(&mut bytes)
            .map_err(Error::io(&marker))?,
    };
    let version = std::str::from_utf8(&bytes).ok().and_then(|text| {
        text.strip_prefix(MARKER)?
            .strip_suffix('\n')?
            .parse::<u64>()
            .ok()
    });
    match version {
        Some(version) if version == u64::from(VERSION) => Ok(()),
        Some(found) if found > u64::from(VERSION) => Err(Error::Newer {
            path: marker,
            found,
        }),
        _ => Err(Error::NotOurs(path.to_owned())),
    }
}

/// `4711` is image 0 of that pid, `4711.2` the image after its second exec; anything else is not a process.
fn image_of(name: &str) -> Option<u32> {
    let (pid, image) = name.split_once('.').unwrap_or((name, "0"));
    pid.parse::<u32>().ok()?;
    image.parse().ok()
}
