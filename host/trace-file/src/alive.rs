//! Whether a process image still runs, and so may still write into its part of the trace.

use crate::Nanos;
use crate::file::open;
use crate::process::{Head, boot_id};
use std::os::fd::AsRawFd;
use std::path::Path;

/// Whether the process of `directory` still runs. `replaced`: a later image of the same process id
/// is in the trace.
///
/// It has its header mapped for writing as long as it runs, and no other process has it for long,
/// so a read lease on that file (fcntl(2), `F_SETLEASE`), which is granted only where no one can
/// write, answers exactly: whatever became of the process id, behind whatever namespace. Where the
/// file system has no leases, or the file is another user's, the process id must do.
pub(crate) fn alive(directory: &Path, head: &Head, replaced: bool) -> bool {
    if boot_id().is_some_and(|id| id != head.boot_id) {
        return false;
    }
    written_by_someone(&directory.join("process")).unwrap_or_else(|| !replaced && in_proc(head))
}

/// Whether any process can write the file; none where the file system does not say.
pub(crate) fn written_by_someone(path: &Path) -> Option<bool> {
    let file = open(path).ok()?;
    let lease = |kind: libc::c_int| {
        // SAFETY: F_SETLEASE takes a number.
        unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, kind) }
    };
    if lease(libc::F_RDLCK) == 0 {
        lease(libc::F_UNLCK);
        return Some(false);
    }
    match std::io::Error::last_os_error().raw_os_error() {
        Some(libc::EAGAIN) => Some(true),
        _ => None,
    }
}

/// How much later than its first event a process may seem to have begun: the kernel states it in
/// hundredths of a second, of another clock.
const SLACK: Nanos = Nanos(2_000_000_000);

/// Whether there is a process of that id, begun before the first event was recorded, with a thread
/// that runs.
fn in_proc(head: &Head) -> bool {
    let proc = format!("/proc/{}", head.pid);
    let runs = |stat: &str| {
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        !matches!(
            fields.split_ascii_whitespace().next(),
            None | Some("Z" | "X")
        )
    };
    let Ok(stat) = std::fs::read_to_string(format!("{proc}/stat")) else {
        return false;
    };
    if begun(&stat).is_some_and(|begun| begun > Nanos(head.first.realtime.0 + SLACK.0)) {
        return false;
    }
    // A main thread that left others running is a zombie until they end.
    let Ok(threads) = std::fs::read_dir(format!("{proc}/task")) else {
        return runs(&stat);
    };
    threads.flatten().any(|thread| {
        std::fs::read_to_string(thread.path().join("stat")).is_ok_and(|stat| runs(&stat))
    })
}

/// When a process began, since 1970, from the text of its /proc/PID/stat.
fn begun(stat: &str) -> Option<Nanos> {
    // Field 22; the second, the name, may hold blanks, and ends at the last parenthesis.
    let field = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?;
    let boot = std::fs::read_to_string("/proc/stat").ok()?;
    let boot = boot.lines().find_map(|line| line.strip_prefix("btime "))?;
    let (since_boot, boot): (u64, u64) = (field.parse().ok()?, boot.trim().parse().ok()?);
    // SAFETY: sysconf takes a number.
    let per_second = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok()?;
    let since_boot = since_boot
        .checked_mul(1_000_000_000)?
        .checked_div(per_second)?;
    Some(Nanos(
        boot.checked_mul(1_000_000_000)?.checked_add(since_boot)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_began_in_the_past_and_after_1970() {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        let now = std::time::SystemTime::now();
        let now = now.duration_since(std::time::UNIX_EPOCH).unwrap();
        let begun = begun(&stat).unwrap();
        assert!(begun.0 > 0 && u128::from(begun.0) < now.as_nanos() + 2_000_000_000);
    }

    #[expect(clippy::disallowed_macros, reason = "the test framework takes it")]
    #[test]
    fn a_file_is_written_by_someone_while_it_is_mapped_for_writing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("process");
        std::fs::write(&path, [0; 4096]).unwrap();
        if written_by_someone(&path).is_none() {
            eprintln!("passed over: no leases on this file system");
            return;
        }
        assert_eq!(written_by_someone(&path), Some(false));
        let file = std::fs::File::options()
            .read(true)
            .write(true)
            .open(&path)
            .unwrap();
        // SAFETY: no other process knows the file.
        let map = unsafe { memmap2::MmapMut::map_mut(&file) }.unwrap();
        drop(file);
        assert_eq!(written_by_someone(&path), Some(true));
        drop(map);
        assert_eq!(written_by_someone(&path), Some(false));
    }
}
