//! The recorder, the compiler, and what the kernel and the C library give.

use super::finding::Finding;
use crate::preparing::compiler::{Compiler, FENTRY};
use crate::preparing::header;
use crate::preparing::library::{self, Library};
use std::ffi::CStr;
use std::fs;

/// The libraries that are loaded into a program.
pub fn recorder() -> Vec<Finding> {
    let calls = match library::find(Library::Calls) {
        Ok(path) => Finding::well("recorder", path.display().to_string()),
        Err(failure) => Finding::wrong("recorder", failure.message, None),
    };
    let more = [
        ("waits", "--sync", Library::Waits),
        ("allocation", "--alloc", Library::Allocation),
    ];
    let more = more.map(|(what, option, library)| match library::find(library) {
        Ok(path) => Finding::well(what, path.display().to_string()),
        Err(failure) => Finding::lacking(
            what,
            format!("heddle record {option} will not run: {}", failure.message),
            "install the whole package",
        ),
    });
    std::iter::once(calls).chain(more).collect()
}

/// What this compiler makes recordable.
pub fn compiler(command: &str) -> Vec<Finding> {
    let failed = |error: anyhow::Error, mend: &str| {
        vec![Finding::lacking("compiler", format!("{error:#}"), mend)]
    };
    let compiler = match Compiler::named(command) {
        Ok(compiler) => compiler,
        Err(error) => return failed(error, "name one: --compiler g++"),
    };
    let taken = match compiler.instrument_flags() {
        Ok(taken) => taken,
        Err(error) => {
            return failed(
                error,
                "a program that is built already can be recorded; to build one, install g++, or name another compiler: --compiler COMMAND",
            );
        }
    };
    let flags = taken.flags.join(" ");
    let first = match taken.note {
        None => Finding::well("compiler", format!("{command}: {flags}")),
        Some(note) => Finding::lacking(
            "compiler",
            note,
            &format!("{command} $(heddle flags --compiler '{command}') …"),
        ),
    };
    let header = match header::find() {
        Ok(header) => header,
        Err(error) => {
            let remedy = "the first way records as much without it, and more slowly";
            let lacking = Finding::lacking("second way", format!("{error:#}"), remedy);
            return vec![first, lacking];
        }
    };
    let second = match compiler.must_take(&FENTRY, Some(&header)) {
        Ok(()) => Finding::well("second way", format!("{command}: {}", FENTRY.join(" "))),
        Err(error) => Finding::lacking(
            "second way",
            format!("{error:#}"),
            "the first way records as much, and more slowly; or --compiler g++",
        ),
    };
    vec![first, second]
}

/// What times come from.
pub fn clock() -> Finding {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = info.lines().find(|line| line.starts_with("flags"));
    tsc(flags)
}

fn tsc(flags: Option<&str>) -> Finding {
    let Some(flags) = flags else {
        return Finding::well("clock", "the processor's counter");
    };
    let has = |flag: &str| flags.split_whitespace().any(|one| one == flag);
    match ["constant_tsc", "nonstop_tsc"]
        .into_iter()
        .find(|flag| !has(flag))
    {
        None => Finding::well("clock", "the time-stamp counter, at a constant rate"),
        Some(flag) => Finding::lacking(
            "clock",
            format!(
                "the processor does not say {flag}: times may be off where its frequency changes, or it sleeps"
            ),
            "compare times with another clock's, or take a machine whose /proc/cpuinfo says so",
        ),
    }
}

/// What the kernel and the C library give.
pub fn system() -> Vec<Finding> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let release = release.trim();
    // SAFETY: gives a string that stays.
    let libc = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
    let libc = libc.to_string_lossy();
    let kernel = Finding::well("system", format!("Linux {release}, glibc {libc}"));
    // SAFETY: without an area nothing is registered; the kernel says EINVAL if it knows the call.
    let rseq = unsafe { libc::syscall(libc::SYS_rseq, 0, 0, 0, 0) } == 0
        || std::io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS);
    let rseq = match rseq {
        true => Finding::well(
            "preemption",
            "the kernel tells the recorder where a thread was off its processor (rseq)",
        ),
        false => Finding::lacking(
            "preemption",
            "the kernel has no rseq, or forbids it: where a thread was off its processor is not recorded, and --clock sparse is less exact",
            "Linux 4.18 or newer; in a container, a seccomp profile that lets rseq through",
        ),
    };
    // SAFETY: no bytes are touched.
    let populate =
        unsafe { libc::madvise(std::ptr::null_mut(), 0, libc::MADV_POPULATE_WRITE) } == 0;
    let pages = match populate {
        true => Finding::well(
            "pages",
            "the kernel makes pages of buffers at once (Linux 5.14)",
        ),
        false => Finding::lacking(
            "pages",
            "the kernel is older than 5.14: each page of a new buffer costs the program a fault, some 1 µs in 340 events",
            "a newer kernel",
        ),
    };
    let perf = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    let perf = perf.ok().and_then(|text| text.trim().parse().ok());
    vec![kernel, rseq, pages, permission(perf)]
}

/// `perf_event_paranoid`, if the kernel has it.
fn permission(paranoid: Option<i64>) -> Finding {
    let needs_none = "recording needs no permission";
    Finding::well(
        "permission",
        match paranoid {
            None => format!("{needs_none}; the kernel has no perf events"),
            Some(level) if level <= 1 => {
                format!("{needs_none}; perf may be used beside it (perf_event_paranoid {level})")
            }
            Some(level) => format!(
                "{needs_none}; perf beside it sees {} (perf_event_paranoid {level}; sysctl kernel.perf_event_paranoid=1)",
                if level == 2 {
                    "user space alone"
                } else {
                    "nothing unless root runs it"
                }
            ),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn a_counter_whose_rate_changes_is_said() {
        assert_eq!(
            tsc(Some("flags\t: fpu tsc constant_tsc nonstop_tsc")).state,
            State::Well
        );
        let lacking = tsc(Some("flags\t: fpu tsc constant_tsc"));
        assert_eq!(lacking.state, State::Lacking);
        assert!(lacking.says.contains("nonstop_tsc"), "{}", lacking.says);
        assert_eq!(tsc(None).state, State::Well, "another processor");
    }

    #[test]
    fn permission_for_perf_is_told_by_its_level() {
        let says = |level| permission(level).says;
        assert!(says(Some(1)).contains("may be used"));
        assert!(says(Some(2)).contains("user space alone"));
        assert!(says(Some(3)).contains("nothing unless root"));
        assert!(says(None).contains("no perf events"));
    }

    #[test]
    fn a_compiler_that_is_not_there_is_said_with_what_to_do() {
        let found = compiler("no-such-compiler");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].state, State::Lacking);
        assert!(found[0].says.contains("no-such-compiler"), "{:?}", found[0]);
    }
}
