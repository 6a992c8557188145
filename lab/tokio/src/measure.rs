use std::fs::{read_dir, read_to_string};
use std::io::{Error, Result};
use std::time::Instant;

/// A stretch that is measured: by the clock on the wall, and the processor time of this thread, on
/// which all tasks run.
pub struct Region {
    wall: Instant,
    cpu_ns: u64,
}

impl Region {
    /// Begins one.
    ///
    /// # Errors
    /// If the kernel does not say this thread's processor time.
    pub fn begin() -> Result<Self> {
        let cpu_ns = cpu_ns()?;
        Ok(Self {
            wall: Instant::now(),
            cpu_ns,
        })
    }

    /// Its length so far: wall and processor time, ns.
    ///
    /// # Errors
    /// The same as begin()'s.
    pub fn elapsed(&self) -> Result<(u64, u64)> {
        let wall = self.wall.elapsed().as_nanos();
        Ok((wall as u64, cpu_ns()? - self.cpu_ns))
    }
}

// The first number of schedstat.
fn cpu_ns() -> Result<u64> {
    let text = read_to_string("/proc/thread-self/schedstat")?;
    let first = text.split_whitespace().next();
    let value = first.and_then(|word| word.parse().ok());
    value.ok_or_else(|| Error::other(format!("/proc/thread-self/schedstat says `{text}`")))
}

/// Number of kernel threads that the process has.
///
/// # Errors
/// If /proc cannot be read.
pub fn kernel_threads() -> Result<usize> {
    Ok(read_dir("/proc/self/task")?.count())
}

/// A size of the process as /proc/self/status says it (`VmRSS`, `VmPTE`, `VmSize`), KB.
///
/// # Errors
/// If it does not say that.
pub fn process_kilobytes(name: &str) -> Result<u64> {
    let status = read_to_string("/proc/self/status")?;
    let value = status.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?.strip_prefix(':')?;
        rest.split_whitespace().next()?.parse().ok()
    });
    value.ok_or_else(|| Error::other(format!("/proc/self/status does not say {name}")))
}
