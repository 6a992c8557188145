//! perf_event_open(2), as far as switches of threads go.

use heddle_trace_file::{Nanos, Switch, SwitchKind};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// `struct perf_event_attr` up to PERF_ATTR_SIZE_VER5 (linux/perf_event.h), which is as far as its
/// fields are used here.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clock: i32,
    sample_regs_intr: u64,
    aux_watermark: u32,
    sample_max_stack: u16,
    reserved: u16,
}

const _: () = assert!(size_of::<Attributes>() == 112);

const PERF_TYPE_SOFTWARE: u32 = 1;
/// Counts nothing: only the records beside the counts are wanted.
const PERF_COUNT_SW_DUMMY: u64 = 9;

const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_TIME: u64 = 1 << 2;
const SAMPLE_CPU: u64 = 1 << 7;

/// Bits of `flags`, in the order of the structure's bit fields.
mod flag {
    pub const DISABLED: u64 = 1;
    pub const INHERIT: u64 = 1 << 1;
    /// What the kernel does is not looked at, which everybody may have.
    pub const EXCLUDE_KERNEL: u64 = 1 << 5;
    pub const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
    pub const ENABLE_ON_EXEC: u64 = 1 << 12;
    pub const TASK: u64 = 1 << 13;
    pub const WATERMARK: u64 = 1 << 14;
    pub const SAMPLE_ID_ALL: u64 = 1 << 18;
    pub const USE_CLOCK: u64 = 1 << 25;
    pub const CONTEXT_SWITCH: u64 = 1 << 26;
}

const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 8;

/// Types of records.
mod record {
    pub const LOST: u32 = 2;
    pub const EXIT: u32 = 4;
    pub const SWITCH: u32 = 14;
}

/// Bits of a record's `misc`: the thread leaves, and could have run on.
const SWITCH_OUT: u16 = 1 << 13;
const SWITCH_OUT_PREEMPT: u16 = 1 << 14;

/// Bytes that an unprivileged user may have of all rings of a processor together
/// (kernel.perf_event_mlock_kb is 516 by default: this and one page), and the least that is tried.
const MOST: usize = 512 << 10;
const LEAST: usize = 16 << 10;

/// Where the kernel's position is in the first page of a ring, and ours behind that.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// The event of one processor, and its ring.
pub struct Event {
    file: File,
    /// One page, then the records.
    ring: *mut u8,
    page: usize,
    bytes: usize,
}

// SAFETY: the ring is shared with the kernel alone, and one thread of ours takes its records.
unsafe impl Send for Event {}

/// Opens an event on each processor for what the calling thread starts.
pub fn open_all() -> io::Result<Vec<Event>> {
    // SAFETY: sysconf takes a number.
    let processors = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    let mut events = Vec::new();
    for processor in 0..i32::try_from(processors).unwrap_or(1).max(1) {
        match open(processor) {
            Ok(event) => events.push(event),
            // It is there and switched off.
            Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
            Err(error) => return Err(error),
        }
    }
    match events.is_empty() {
        true => Err(io::Error::from_raw_os_error(libc::ENODEV)),
        false => Ok(events),
    }
}

fn open(processor: i32) -> io::Result<Event> {
    let attributes = Attributes {
        kind: PERF_TYPE_SOFTWARE,
        size: size_of::<Attributes>() as u32,
        config: PERF_COUNT_SW_DUMMY,
        sample_period: 1,
        sample_type: SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU,
        flags: flag::DISABLED
            | flag::INHERIT
            | flag::EXCLUDE_KERNEL
            | flag::EXCLUDE_HYPERVISOR
            | flag::ENABLE_ON_EXEC
            | flag::TASK
            | flag::WATERMARK
            | flag::SAMPLE_ID_ALL
            | flag::USE_CLOCK
            | flag::CONTEXT_SWITCH,
        // We are woken when a ring is half full.
        wakeup: 0,
        clock: libc::CLOCK_MONOTONIC_RAW,
        ..Attributes::default()
    };
    let none: libc::c_int = -1;
    // SAFETY: a structure that says its size.
    let file = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            0,
            processor,
            none,
            PERF_FLAG_FD_CLOEXEC,
        )
    };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was just opened, and is nobody else's.
    let file = unsafe { File::from_raw_fd(file as i32) };
    // SAFETY: sysconf takes a number.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    let mut bytes = MOST;
    loop {
        // SAFETY: a new mapping, wherever there is room.
        let ring = unsafe {
            libc::mmap(
                ptr::null_mut(),
                page + bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if ring != libc::MAP_FAILED {
            let ring = ring.cast();
            return Ok(Event {
                file,
                ring,
                page,
                bytes,
            });
        }
        // Others' rings count, too.
        if bytes == LEAST {
            return Err(io::Error::last_os_error());
        }
        bytes /= 2;
    }
}

impl Event {
    pub fn file(&self) -> i32 {
        self.file.as_raw_fd()
    }

    /// Takes all records out of the ring.
    pub fn take(&self, switches: &mut Vec<Switch>) {
        // SAFETY: both words are in the ring's first page, aligned.
        let (head, tail) = unsafe {
            (
                &*self.ring.add(HEAD).cast::<AtomicU64>(),
                &*self.ring.add(TAIL).cast::<AtomicU64>(),
            )
        };
        // What is in front of the head was written before it.
        let end = head.load(Ordering::Acquire);
        let mut at = tail.load(Ordering::Relaxed);
        while at < end {
            let first = self.word(at);
            let size = u64::from((first >> 48) as u16);
            if size < 8 {
                at = end;
                break;
            }
            switches.extend(self.switch(at, size, first));
            at += size;
        }
        tail.store(at, Ordering::Release);
    }

    /// Records are multiples of eight bytes, and may go on at the ring's beginning.
    fn word(&self, at: u64) -> u64 {
        let place = at as usize % self.bytes;
        // SAFETY: within the ring, whose size is a multiple of eight, as `at` is.
        unsafe { self.ring.add(self.page + place).cast::<u64>().read() }
    }

    fn switch(&self, at: u64, size: u64, first: u64) -> Option<Switch> {
        let misc = (first >> 32) as u16;
        // Each record ends with thread, time and processor (sample_id_all).
        if size < 32 {
            return None;
        }
        let thread = self.word(at + size - 24);
        let mut switch = Switch {
            time: Nanos(self.word(at + size - 16)),
            pid: thread as u32,
            tid: (thread >> 32) as u32,
            cpu: self.word(at + size - 8) as u32,
            kind: SwitchKind::Runs,
        };
        match first as u32 {
            record::SWITCH if misc & SWITCH_OUT == 0 => {}
            record::SWITCH if misc & SWITCH_OUT_PREEMPT != 0 => {
                switch.kind = SwitchKind::Preempted;
            }
            record::SWITCH => switch.kind = SwitchKind::Blocks,
            record::EXIT => {
                // Process and its parent, thread and its creator.
                switch.kind = SwitchKind::Ended;
                switch.tid = self.word(at + 16) as u32;
            }
            record::LOST => {
                switch.kind = SwitchKind::Lost;
                // The event's number, then how many.
                switch.tid = u32::try_from(self.word(at + 16)).unwrap_or(u32::MAX);
            }
            _ => return None,
        }
        Some(switch)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the mapping that was made with the event.
        unsafe { libc::munmap(self.ring.cast(), self.page + self.bytes) };
    }
}

/// `kernel.perf_event_paranoid`.
pub fn paranoid() -> Option<i32> {
    let text = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?;
    text.trim().parse().ok()
}
