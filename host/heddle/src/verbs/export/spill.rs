//! Bytes that come in several streams at once and leave one stream after the other, without lying
//! in memory meanwhile.
//!
//! All streams of a [`Spill`] share one nameless file, which is gone whatever becomes of us. What a
//! stream wrote that is dropped stays in it, and is never read.

use anyhow::Context;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The file.
pub struct Spill {
    file: File,
    directory: PathBuf,
    end: AtomicU64,
}

/// Bytes that are collected before they go to the file: one write in tens of microseconds.
const FULL: usize = 64 << 10;
/// What a stream may keep when it is done: there may be a stream for each of ten thousand threads.
const FEW: usize = 4 << 10;

impl Spill {
    /// With its file in `directory`.
    pub fn new(directory: &Path) -> anyhow::Result<Self> {
        let file = tempfile::tempfile_in(directory).with_context(|| told(directory))?;
        Ok(Spill {
            file,
            directory: directory.to_owned(),
            end: AtomicU64::new(0),
        })
    }

    /// A stream without bytes.
    pub fn stream(&self) -> Stream<'_> {
        self.stream_of(FULL)
    }

    /// A stream whose bytes go to the file when there are so many.
    pub fn stream_of(&self, full: usize) -> Stream<'_> {
        Stream {
            spill: self,
            full,
            pending: Vec::new(),
            extents: Vec::new(),
            failed: None,
        }
    }
}

fn told(directory: &Path) -> String {
    format!(
        "a temporary file in {}, as large as the result",
        directory.display()
    )
}

/// Where bytes are in the file, and how many.
pub type Extent = (u64, usize);

/// Bytes in order.
pub struct Stream<'a> {
    spill: &'a Spill,
    /// Bytes that are collected at most.
    full: usize,
    pending: Vec<u8>,
    /// Where in the file, and how many.
    extents: Vec<Extent>,
    /// Why the file did not take some; from then on none are kept.
    failed: Option<io::Error>,
}

impl Stream<'_> {
    /// Has `write` append a record. Records stay whole: [`Stream::read`] gives no part of one.
    #[inline]
    pub fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.pending);
        if self.pending.len() >= self.full {
            self.spill();
        }
    }

    /// What was appended so far, as a stream of its own.
    pub fn take(&mut self) -> Self {
        std::mem::replace(self, self.spill.stream_of(self.full))
    }

    /// The bytes that are not in the file.
    pub fn pending(&self) -> &[u8] {
        &self.pending
    }

    /// Takes them out of the stream; there is room for as many again.
    pub fn take_pending(&mut self) -> Vec<u8> {
        let room = Vec::with_capacity(self.pending.capacity());
        std::mem::replace(&mut self.pending, room)
    }

    /// Nothing will be appended for long, or ever.
    pub fn rest(&mut self) {
        if self.pending.len() > FEW {
            self.spill();
        }
        self.pending.shrink_to_fit();
    }

    #[cold]
    fn spill(&mut self) {
        let length = self.pending.len();
        if self.failed.is_none() {
            let at = self.spill.end.fetch_add(length as u64, Ordering::Relaxed);
            match self.spill.file.write_all_at(&self.pending, at) {
                Ok(()) => self.extents.push((at, length)),
                Err(error) => self.failed = Some(error),
            }
        }
        self.pending.clear();
    }

    /// Gives all bytes to `take`, some records at a time.
    pub fn read(mut self, take: impl FnMut(&[u8]) -> anyhow::Result<()>) -> anyhow::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error).with_context(|| told(&self.spill.directory));
        }
        self.each(take)
    }

    /// The same, of a stream that will be read again.
    pub fn each(&self, mut take: impl FnMut(&[u8]) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let mut bytes = Vec::new();
        for &piece in &self.extents {
            self.piece(piece, &mut bytes)?;
            take(&bytes)?;
        }
        self.whole()?;
        take(&self.pending)
    }

    /// The pieces of the stream that are in the file, for who reads them with others at once. What
    /// is not there is [`Stream::pending`].
    pub fn pieces(&self) -> &[Extent] {
        &self.extents
    }

    /// Reads one of these.
    pub fn piece(&self, (at, length): Extent, bytes: &mut Vec<u8>) -> anyhow::Result<()> {
        self.whole()?;
        bytes.resize(length, 0);
        let read = self.spill.file.read_exact_at(bytes, at);
        read.with_context(|| told(&self.spill.directory))
    }

    /// Whether the file took all.
    fn whole(&self) -> anyhow::Result<()> {
        match &self.failed {
            Some(error) => {
                let told = || told(&self.spill.directory);
                Err(anyhow::anyhow!("{error}")).with_context(told)
            }
            None => Ok(()),
        }
    }

    /// Writes all bytes to `out`.
    pub fn copy(self, out: &mut dyn Write) -> anyhow::Result<()> {
        self.read(|bytes| Ok(out.write_all(bytes)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_were_written_at_once_are_read_one_after_the_other() {
        let directory = tempfile::tempdir().unwrap();
        let spill = Spill::new(directory.path()).unwrap();
        let record = |number: u32| [number.to_le_bytes(); 100].concat();
        let mut streams = [spill.stream(), spill.stream()];
        std::thread::scope(|scope| {
            for (number, stream) in streams.iter_mut().enumerate() {
                scope.spawn(move || {
                    for index in 0..1000 {
                        let record = record(1000 * number as u32 + index);
                        stream.append(|bytes| bytes.extend(record));
                    }
                    stream.rest();
                });
            }
        });
        let mut all = Vec::new();
        for stream in streams {
            assert!(stream.extents.len() > 5, "{}", stream.extents.len());
            stream
                .read(|bytes| {
                    assert_eq!(bytes.len() % 400, 0, "a record is whole");
                    all.extend_from_slice(bytes);
                    Ok(())
                })
                .unwrap();
        }
        assert_eq!(all, (0..2000).flat_map(record).collect::<Vec<u8>>());
        assert_eq!(directory.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn what_the_disk_does_not_take_is_an_error_that_names_the_directory() {
        let directory = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(directory.path()).unwrap();
        // A file that cannot be written.
        spill.file = File::open("/proc/self/exe").unwrap();
        let mut stream = spill.stream();
        stream.append(|bytes| bytes.resize(FULL, 1));
        let error = stream.copy(&mut io::sink()).unwrap_err();
        let expected = told(directory.path());
        assert!(format!("{error:#}").starts_with(&expected), "{error:#}");
    }
}
