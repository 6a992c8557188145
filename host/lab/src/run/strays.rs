//! What a sample left behind after leaving its group (`setsid`, a daemon): it would run beside the
//! samples that follow.

use std::sync::atomic::{AtomicBool, Ordering};

static ADOPTING: AtomicBool = AtomicBool::new(false);

/// Makes us the parent of processes whose own has ended, from now on, so that [`end`] finds them.
/// For a process that has no other children than samples.
pub fn adopt() {
    // SAFETY: plain system call.
    let done = unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } == 0;
    ADOPTING.store(done, Ordering::Relaxed);
}

/// Kills and collects every child that we have, if we adopt; to be called while no sample runs.
pub(super) fn end() {
    // Children of an ended child become ours only then: again, until there are none.
    while ADOPTING.load(Ordering::Relaxed) {
        let mut any = false;
        for child in children() {
            // SAFETY: plain system calls; until it is waited for, no other process has a child's
            // id.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                any |= libc::waitpid(child, std::ptr::null_mut(), 0) == child;
            }
        }
        if !any {
            return;
        }
    }
}

/// Our children; none where the kernel does not tell (CONFIG_PROC_CHILDREN).
fn children() -> Vec<libc::pid_t> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let lists = threads
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok());
    lists
        .flat_map(|list| {
            let ids = list.split_whitespace().filter_map(|id| id.parse().ok());
            ids.collect::<Vec<_>>()
        })
        .collect()
}
