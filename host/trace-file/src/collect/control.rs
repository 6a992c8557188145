//! The file `control`: the bell, and the lock that says that a process is collecting.

mod claim;

pub use claim::{Claim, is_begun};

use crate::file::open_own;
use crate::layout::{CONTROL_MAGIC, ControlHeader};
use crate::{Error, LostCounts};
use memmap2::MmapMut;
use std::fs::File;
use std::mem::offset_of;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// The mapped file; the lock lasts as long as it does.
#[derive(Debug)]
pub struct Control {
    map: MmapMut,
    claim: Claim,
}

impl Control {
    /// Makes the file in the trace at `trace`, or takes over the one that a killed `heddle record`
    /// has left.
    pub fn hold(trace: &Path) -> Result<Self, Error> {
        Self::of(Claim::of(trace)?)
    }

    /// Makes it ready in a trace that is ours.
    pub fn of(claim: Claim) -> Result<Self, Error> {
        let (path, file) = (claim.path(), claim.file());
        // Room on the disk, so that storing into the mapping cannot fail.
        // SAFETY: posix_fallocate takes no pointer.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, SIZE as i64) } {
            0 => {}
            error => return Err(Error::io(path)(std::io::Error::from_raw_os_error(error))),
        }
        let map = map(file, path)?;
        let control = Control { map, claim };
        let directory = control.claim.path().parent();
        let inode = directory.and_then(|directory| directory.metadata().ok());
        let inode = inode.map_or(0, |metadata| metadata.ino());
        control
            .word64(offset_of!(ControlHeader, inode))
            .store(inode, Ordering::Relaxed);
        let version = word(&control.map, offset_of!(ControlHeader, version));
        version.store(crate::VERSION, Ordering::Relaxed);
        let magic = control.map.as_ptr().cast::<AtomicU64>();
        // SAFETY: the mapping is page-aligned and a header long, and outlives the reference; others
        // store to it atomically too.
        unsafe { &*magic }.store(u64::from_ne_bytes(CONTROL_MAGIC), Ordering::Release);
        Ok(control)
    }

    fn bell(&self) -> &AtomicU32 {
        word(&self.map, offset_of!(ControlHeader, bell))
    }

    /// Makes the next [`Control::wait`] wait for blocks that become full from here on. Returns
    /// whether a thread has said since the last answer that one is full.
    pub fn answer(&self) -> bool {
        self.bell().swap(0, Ordering::AcqRel) != 0
    }

    /// Tells threads that wait for a free block whether the latest try to copy has failed.
    pub fn set_stuck(&self, stuck: bool) {
        let word = word(&self.map, offset_of!(ControlHeader, stuck));
        word.store(stuck.into(), Ordering::Relaxed);
    }

    /// Waits until a thread says that a block is full, at most this long.
    pub fn wait(&self, at_most: Duration) {
        wait(self.bell(), 0, at_most);
    }

    /// What ends a wait from another thread.
    pub fn waker(&self) -> Result<impl Fn() + Send + 'static + use<>, Error> {
        let map = open(self.claim.path())?;
        Ok(move || {
            let bell = word(&map, offset_of!(ControlHeader, bell));
            bell.store(1, Ordering::Release);
            wake_all(bell);
        })
    }

    /// Whether the file is what it was made: else another program has written there, and its counts
    /// are nobody's.
    pub fn is_intact(&self) -> bool {
        let magic = u64::from_ne_bytes(CONTROL_MAGIC);
        let version = word(&self.map, offset_of!(ControlHeader, version));
        self.number(offset_of!(ControlHeader, magic)) == magic
            && version.load(Ordering::Relaxed) == crate::VERSION
    }

    /// The events of processes that could record nothing, and why, an error number, if there were
    /// any.
    pub fn lost(&self) -> (u64, Option<i32>) {
        let lost = self.number(offset_of!(ControlHeader, lost));
        (lost, self.error(offset_of!(ControlHeader, trouble)))
    }

    fn error(&self, offset: usize) -> Option<i32> {
        let number = word(&self.map, offset).load(Ordering::Relaxed);
        i32::try_from(number).ok().filter(|&error| error != 0)
    }

    /// What such processes could not count beside events.
    pub fn lost_counts(&self) -> LostCounts {
        LostCounts {
            operations: self.number(offset_of!(ControlHeader, uncounted_operations)),
            allocations: self.number(offset_of!(ControlHeader, uncounted_allocations)),
            why: self.lost().1,
            programs: word(&self.map, offset_of!(ControlHeader, barred))
                .load(Ordering::Relaxed)
                .into(),
            why_barred: self.error(offset_of!(ControlHeader, barred_reason)),
        }
    }

    fn number(&self, offset: usize) -> u64 {
        self.word64(offset).load(Ordering::Relaxed)
    }

    fn word64(&self, offset: usize) -> &AtomicU64 {
        let at = self.map.as_ptr();
        // SAFETY: the mapping is page-aligned and a header long, and outlives the reference; others
        // store to it atomically too.
        unsafe { &*at.add(offset).cast::<AtomicU64>() }
    }

    /// See [`Claim::is_removed`].
    pub fn is_removed(&self) -> bool {
        self.claim.is_removed()
    }

    /// Removes the file: a process that still runs collects for itself.
    pub fn remove(self) {
        self.into_claim().release();
    }

    /// Ends the use of the bell, and keeps the trace. What a process forks later, which has the
    /// file still, looks whether another recording has the directory's name.
    pub fn into_claim(self) -> Claim {
        let ended = word(&self.map, offset_of!(ControlHeader, ended));
        ended.store(1, Ordering::Relaxed);
        self.claim
    }
}

/// Maps the file that a collector holds.
pub fn open(path: &Path) -> Result<MmapMut, Error> {
    map(&open_own(path, libc::O_RDWR)?, path)
}

fn map(file: &File, path: &Path) -> Result<MmapMut, Error> {
    // SAFETY: the collector that holds the file gave it its room, and it never shrinks.
    let map = unsafe { MmapMut::map_mut(file) }.map_err(Error::io(path))?;
    if map.len() < SIZE {
        return Err(Error::damaged(path, map.len() as u64, "it was cut short"));
    }
    Ok(map)
}

/// Waits, at most this long, while the word has this value.
pub fn wait(futex: &AtomicU32, value: u32, at_most: Duration) {
    let time = libc::timespec {
        tv_sec: at_most.as_secs() as libc::time_t,
        tv_nsec: at_most.subsec_nanos().into(),
    };
    // SAFETY: the futex word and the timespec are valid; shared between processes, so not
    // FUTEX_PRIVATE.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            futex.as_ptr(),
            libc::FUTEX_WAIT,
            value,
            &time,
        )
    };
}

/// Wakes all who wait for another value of the word.
pub fn wake_all(futex: &AtomicU32) {
    // SAFETY: the futex word is valid.
    unsafe { libc::syscall(libc::SYS_futex, futex.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// A word of the mapped header, by its offset there.
pub fn word(map: &MmapMut, offset: usize) -> &AtomicU32 {
    // SAFETY: the mapping is page-aligned and a header long; offsets are those of aligned fields of
    // it; others store to it atomically too.
    unsafe { &*map.as_ptr().add(offset).cast::<AtomicU32>() }
}

const SIZE: usize = size_of::<ControlHeader>();
