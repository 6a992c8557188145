//! libstdc++'s demangler, within bounds of memory and time.
//!
//! A mangled name refers back to parts of itself, so a name of 270 bytes can stand for a text of
//! gigabytes, and a few letters more for hours of work that print nothing. Names whose text may be
//! long by a cheap estimate are therefore demangled in a forked child, which can be ended at any
//! point; the demangler itself cannot. Of 154 804 names of LLVM, Clang and Boost these are 0.7 %.

use std::ffi::{CString, c_char, c_int, c_void};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::atomic::{AtomicU32, Ordering};

// Linked in, so that the command needs libc alone: it starts faster, and runs where there is no
// libstdc++.
#[link(name = "stdc++", kind = "static", modifiers = "-bundle")]
unsafe extern "C" {
    fn __gcclibcxx_demangle_callback(
        mangled: *const c_char,
        callback: unsafe extern "C" fn(*const c_char, usize, *mut c_void),
        opaque: *mut c_void,
    ) -> c_int;
}

/// Longer names than any compiler makes are left alone.
const LONGEST: usize = 1 << 16;

/// Bytes of the longest text that is shown for a name; a longer one is of no use to a reader.
const LONGEST_TEXT: usize = 1 << 16;

/// Parts of a name up to which the demangler needs some milliseconds at most.
const MANY_PARTS: f64 = 1e6;

/// Seconds of processor time that a child may take.
const CHILD_SECONDS: libc::rlim_t = 1;

/// Children that may run out of their time. A file made to be slow has more such names than
/// anybody would wait for.
const MOST_EXHAUSTED: u32 = 4;

static EXHAUSTED: AtomicU32 = AtomicU32::new(0);

/// The text that a mangled name stands for. `None` if it is not one, or its text too long.
pub fn demangle(mangled: &str) -> Option<String> {
    if mangled.len() > LONGEST {
        return None;
    }
    let name = CString::new(mangled).ok()?;
    if most_parts(mangled) <= MANY_PARTS {
        demangle_here(&name)
    } else {
        demangle_in_child(&name)
    }
}

fn demangle_here(name: &CString) -> Option<String> {
    struct Text {
        bytes: Vec<u8>,
        whole: bool,
    }
    unsafe extern "C" fn append(from: *const c_char, length: usize, to: *mut c_void) {
        // SAFETY: the demangler passes its text, and the pointer below.
        let (text, to) = unsafe {
            let from = std::slice::from_raw_parts(from.cast::<u8>(), length);
            (from, &mut *to.cast::<Text>())
        };
        to.whole &= to.bytes.len() + text.len() <= LONGEST_TEXT;
        if to.whole {
            to.bytes.extend(text);
        }
    }
    let mut text = Text {
        bytes: Vec::new(),
        whole: true,
    };
    // SAFETY: the name is zero-terminated, and the text outlives the call.
    let failed =
        unsafe { __gcclibcxx_demangle_callback(name.as_ptr(), append, (&raw mut text).cast()) };
    (failed == 0 && text.whole).then(|| String::from_utf8_lossy(&text.bytes).into_owned())
}

/// What the child writes behind a text that is whole. No text has a zero.
const WHOLE: u8 = 0;

fn demangle_in_child(name: &CString) -> Option<String> {
    if EXHAUSTED.load(Ordering::Relaxed) >= MOST_EXHAUSTED {
        return None;
    }
    let mut ends = [0; 2];
    // SAFETY: room for both.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return None;
    }
    // SAFETY: the ends are open, and nobody else's.
    let [reader, writer] = ends.map(|end| unsafe { File::from_raw_fd(end) });
    // SAFETY: of a process with threads, the child calls what neither locks nor allocates: system
    // calls, and the demangler, whose variant with a callback has its memory on the stack.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: as above; it does not return.
        unsafe { serve(name, writer.as_raw_fd()) }
    }
    drop(writer);
    if child < 0 {
        return None;
    }
    let mut text = Vec::new();
    // A child that was ended has written no WHOLE, so an error need not be looked at.
    let _ = reader.take(LONGEST_TEXT as u64 + 2).read_to_end(&mut text);
    let mut status = 0;
    // SAFETY: the status is written.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    if ended == child && libc::WIFSIGNALED(status) {
        EXHAUSTED.fetch_add(1, Ordering::Relaxed);
    }
    let text = text.strip_suffix(&[WHOLE])?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Where the child writes, and how much it may still write.
struct Outlet {
    to: c_int,
    room: usize,
}

unsafe fn serve(name: &CString, to: c_int) -> ! {
    unsafe extern "C" fn send(from: *const c_char, length: usize, outlet: *mut c_void) {
        // SAFETY: the demangler passes its text, and the pointer below.
        unsafe {
            let outlet = &mut *outlet.cast::<Outlet>();
            if length > outlet.room || !write_all(outlet.to, from.cast(), length) {
                libc::_exit(1);
            }
            outlet.room -= length;
        }
    }
    let mut outlet = Outlet {
        to,
        room: LONGEST_TEXT,
    };
    let limit = |most| libc::rlimit {
        rlim_cur: most,
        rlim_max: most,
    };
    // SAFETY: the name is zero-terminated, and the outlet outlives the call.
    unsafe {
        // Its end is neither the user's business nor worth a core file.
        libc::setrlimit(libc::RLIMIT_CORE, &limit(0));
        libc::setrlimit(libc::RLIMIT_CPU, &limit(CHILD_SECONDS));
        let failed = __gcclibcxx_demangle_callback(name.as_ptr(), send, (&raw mut outlet).cast());
        if failed == 0 {
            write_all(to, &WHOLE, 1);
        }
        libc::_exit(failed.clamp(0, 1))
    }
}

unsafe fn write_all(to: c_int, mut from: *const u8, mut length: usize) -> bool {
    while length > 0 {
        // SAFETY: so many bytes lie there, by contract.
        let written = unsafe { libc::write(to, from.cast(), length) };
        match usize::try_from(written) {
            Ok(written) => {
                // SAFETY: within what was to be written.
                from = unsafe { from.add(written) };
                length -= written;
            }
            Err(_) => return false,
        }
    }
    true
}

/// No fewer parts than the demangler looks at to print a name; often many more.
///
/// Every byte is a part, and a back-reference (`S_`, `S0_` …) has those of what it refers to. That
/// is complete before the first reference to it or to a later one, so it has at most the parts up
/// to there. A template's parameter (`T_` …) stands for an argument, which has no more than all
/// parts together; an argument may hold parameters of the template around, as often as functions
/// (`Z`) or conversions (`cv`) are nested. What is expanded from a pack (`Dp`, `sp`) is there once
/// for each of its elements. All this is looked for everywhere, in identifiers, too.
fn most_parts(name: &str) -> f64 {
    let bytes = name.as_bytes();
    let (mut parts, mut parameters) = (0.0, 0.0);
    let (mut nested, mut packs) = (0, 0);
    let mut referred: Vec<(f64, f64)> = Vec::new();
    for (at, &byte) in bytes.iter().enumerate() {
        parts += 1.0;
        let rest = &bytes[at + 1..];
        match (byte, rest.first()) {
            (b'Z', _) if at > 1 => nested += 1,
            (b'c', Some(b'v')) => nested += 1,
            (b'D' | b's', Some(b'p')) => packs += 1,
            (b'T', _) if is_parameter(rest) => parameters += 1.0,
            (b'S', _) => {
                // There are fewer candidates than bytes.
                if let Some(index) = sequence_id(rest).filter(|&index| index < bytes.len()) {
                    if referred.len() <= index {
                        referred.resize(index + 1, (parts, parameters));
                    }
                    parts += referred[index].0;
                    parameters += referred[index].1;
                }
            }
            _ => {}
        }
    }
    let arguments = f64::powi(1.0 + parameters, 1 + nested);
    parts * arguments * f64::powi(bytes.len() as f64, packs)
}

/// Whether these follow the `T` of a template's parameter: `_`, `0_`, `L0__`.
fn is_parameter(rest: &[u8]) -> bool {
    let digits = rest.strip_prefix(b"L").unwrap_or(rest);
    digits.iter().find(|byte| !byte.is_ascii_digit()) == Some(&b'_')
}

/// The number of a back-reference, whose `S` these follow: in base 36, `_` is 0 and `0_` is 1.
fn sequence_id(rest: &[u8]) -> Option<usize> {
    let end = rest.iter().position(|&byte| byte == b'_')?;
    let mut number = 0_usize;
    for &byte in &rest[..end] {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'A'..=b'Z' => byte - b'A' + 10,
            _ => return None,
        };
        number = number.checked_mul(36)?.checked_add(digit.into())?;
    }
    if end == 0 {
        Some(0)
    } else {
        number.checked_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// `S_`, `S0_` …
    fn reference(number: usize) -> String {
        let Some(mut rest) = number.checked_sub(1) else {
            return "S_".into();
        };
        let mut digits = Vec::new();
        loop {
            digits.push(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[rest % 36] as char);
            rest /= 36;
            if rest == 0 {
                break;
            }
        }
        format!("S{}_", digits.iter().rev().collect::<String>())
    }

    /// Parameters of a function, each of them twice the one before.
    fn doublings(times: usize) -> String {
        let doubled = (1..=times).map(|number| {
            let last = reference(number);
            format!("S_I{last}{last}E")
        });
        format!("1aIiiE{}", doubled.collect::<String>())
    }

    #[test]
    fn a_short_name_of_a_long_text_is_left_as_it_is() {
        let begun = Instant::now();
        for times in [14, 26, 60, 400] {
            let name = format!("_Z1f{}", doublings(times));
            assert_eq!(crate::demangle(&name), name);
        }
        // A pack is sought in all of the type, which takes hours, before anything is printed.
        let mut nested = "S_IiiE".to_owned();
        for level in 1..60 {
            nested = format!("S_I{nested}{}E", reference(level));
        }
        let name = format!("_Z1fDp{}", nested.replacen("S_", "1a", 1));
        for _ in 0..2 * MOST_EXHAUSTED {
            assert_eq!(crate::demangle(&name), name);
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn the_child_demangles_as_we_do() {
        let many = "ZNSt4pairIKNSt10filesystem7__cxx114pathES_ImiEEC2IJRS3_EJLm0EEJEJEEERSt5tupleIJDpT_EERS8_IJDpT1_EESt12_Index_tupleIJXspT0_EEESH_IJXspT2_EEE";
        for (name, suspicious) in [
            (format!("_{many}"), true),
            (format!("_Z1f{}", doublings(9)), false),
            ("_Znonsense".into(), false),
        ] {
            assert_eq!(most_parts(&name) > MANY_PARTS, suspicious, "{name}");
            let name = CString::new(name).unwrap();
            assert_eq!(demangle_in_child(&name), demangle_here(&name));
        }
    }
}
