//! The side of `control` where processes ask which functions a filter's patterns match.

use super::control::word;
use crate::Error;
use crate::layout::ControlHeader;
use memmap2::MmapMut;
use std::fs::File;
use std::mem::offset_of;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The mapped file.
#[derive(Debug)]
pub struct Requests {
    map: MmapMut,
}

impl Requests {
    /// The requests of the trace at `trace`, whose `control` a collector holds.
    pub fn open(trace: &Path) -> Result<Self, Error> {
        let path = trace.join("control");
        let file = File::options()
            .read(true)
            .write(true)
            .open(&path)
            .map_err(Error::io(&path))?;
        // SAFETY: the collector that holds the file gave it its room, and it never shrinks.
        let map = unsafe { MmapMut::map_mut(&file) }.map_err(Error::io(&path))?;
        if map.len() < size_of::<ControlHeader>() {
            return Err(Error::damaged(&path, map.len() as u64, "it was cut short"));
        }
        Ok(Requests { map })
    }

    fn asked(&self) -> &AtomicU32 {
        word(&self.map, offset_of!(ControlHeader, requests))
    }

    fn answers(&self) -> &AtomicU32 {
        word(&self.map, offset_of!(ControlHeader, answers))
    }

    /// How many times anybody has asked.
    pub fn count(&self) -> u32 {
        self.asked().load(Ordering::Acquire)
    }

    /// Waits, at most this long, until there have been more than `seen` requests.
    pub fn wait(&self, seen: u32, at_most: Duration) {
        let time = libc::timespec {
            tv_sec: at_most.as_secs() as libc::time_t,
            tv_nsec: at_most.subsec_nanos().into(),
        };
        // SAFETY: the futex word and the timespec are valid; shared between processes, so not FUTEX_PRIVATE.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.asked().as_ptr(),
                libc::FUTEX_WAIT,
                seen,
                &time,
            )
        };
    }

    /// Ends a wait of ours.
    pub fn wake(&self) {
        self.asked().fetch_add(1, Ordering::AcqRel);
        wake_all(self.asked());
    }

    /// Lets all who wait look for their plans.
    pub fn answer(&self) {
        self.answers().fetch_add(1, Ordering::AcqRel);
        wake_all(self.answers());
    }

    /// Tells all who wait, and who will, that no plan comes any more.
    pub fn refuse(&self) {
        self.answers().store(u32::MAX, Ordering::Release);
        wake_all(self.answers());
    }
}

fn wake_all(futex: &AtomicU32) {
    // SAFETY: the futex word is valid.
    unsafe { libc::syscall(libc::SYS_futex, futex.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}
