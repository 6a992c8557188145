//! The side of `control` where processes ask which functions a filter's patterns match.

use super::control::{self, wake_all, word};
use crate::Error;
use crate::layout::ControlHeader;
use memmap2::MmapMut;
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
        let map = control::open(&trace.join("control"))?;
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
        control::wait(self.asked(), seen, at_most);
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

    /// Tells all who wait, and who will, that no plan comes any more, and why, an error number; 0:
    /// that is not said.
    pub fn refuse(&self, why: i32) {
        let refusal: &AtomicU32 = word(&self.map, offset_of!(ControlHeader, refusal));
        refusal.store(u32::try_from(why).unwrap_or(0), Ordering::Relaxed);
        self.answers().store(u32::MAX, Ordering::Release);
        wake_all(self.answers());
    }
}
