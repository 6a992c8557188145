//! What would end the command in the middle: files that another program cuts short while they are
//! read, and memory that cannot be had. A page of a mapping behind the file's end, or one that the
//! disk cannot give any more, is a SIGBUS, which says nothing; without memory, and where there is a
//! mistake of ours, Rust aborts.

use crate::{memory, patience};
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr};

/// What we exit with.
static CODE: AtomicI32 = AtomicI32::new(1);
/// One thread tells; others may meet the same meanwhile.
static TOLD: AtomicBool = AtomicBool::new(false);

/// What is to be done before anything is said; a function.
static BEFORE: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Has `first` done before the error is said. It must be async-signal-safe.
pub fn after(first: fn()) {
    BEFORE.store(first as *mut (), Relaxed);
}

/// What gives the code to exit with, where we have to wait for somebody first; a function.
static ENDS_WITH: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
/// The command that collects what we do not collect any more; whoever set `ENDS_WITH` has set it
/// before.
static RECOVER: OnceLock<String> = OnceLock::new();

/// From here on the command does not end before `code` says with what: with what it gives, or, if
/// that is nothing, as else. It must be async-signal-safe. Then `recover` is the command to run.
pub fn ends_with(code: fn() -> Option<i32>, recover: String) {
    let _ = RECOVER.set(recover);
    ENDS_WITH.store(code as *mut (), Release);
    // A panic ends us in every profile. Without memory a backtrace would wait for itself.
    std::panic::set_hook(Box::new(|panic| {
        let _ = writeln!(std::io::stderr(), "{panic}");
        std::process::abort();
    }));
}

/// Makes it an error that names the file and the offset, or says how much memory is missing; the
/// command ends with `code`.
pub fn is_an_error(code: i32) {
    CODE.store(code, Relaxed);
    for (signal, handler) in [
        (libc::SIGBUS, on_fault as *const ()),
        (libc::SIGABRT, on_abort as *const ()),
    ] {
        // SAFETY: a sigaction of zeros is valid; the handler calls what is async-signal-safe.
        // Threads of Rust's have a stack for handlers.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

extern "C" fn on_fault(_: libc::c_int, about: *mut libc::siginfo_t, _: *mut libc::c_void) {
    begin();
    // SAFETY: the kernel passes what it knows.
    if !unsafe { name((*about).si_addr() as u64) } {
        say(b"a file");
    }
    end(
        b": cut short while it was read, or its disk has failed: when nobody writes it any more, run this again\n",
        b": cut short while it was written, or its disk has failed",
    );
}

extern "C" fn on_abort(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    match memory::lacked() {
        Some(bytes) => {
            begin();
            say(b"out of memory: ");
            say_number(bytes as u64);
            end(
                b" bytes more cannot be had; raise the limit (ulimit -v unlimited, ulimit -d unlimited), or run this where there is more\n",
                b" bytes more cannot be had",
            );
        }
        None if !ENDS_WITH.load(Acquire).is_null() => {
            begin();
            end(b"", b"heddle record has failed, as said above");
        }
        // A mistake of ours, or someone else's signal: we end as if nobody had caught it, when
        // this returns.
        // SAFETY: system calls.
        None => unsafe {
            libc::signal(libc::SIGABRT, libc::SIG_DFL);
            libc::raise(libc::SIGABRT);
        },
    }
}

/// Begins an error. A second thread that meets one does not get beyond this, but gives up what
/// others wait for it to do.
fn begin() {
    if TOLD.swap(true, Relaxed) {
        let ends_with = ENDS_WITH.load(Acquire);
        if !ends_with.is_null() {
            // SAFETY: `ends_with` has stored such a function.
            unsafe { std::mem::transmute::<*mut (), fn() -> Option<i32>>(ends_with)() };
        }
        loop {
            // SAFETY: a system call.
            unsafe { libc::pause() };
        }
    }
    let first = BEFORE.load(Relaxed);
    if !first.is_null() {
        // SAFETY: `after` has stored such a function.
        unsafe { std::mem::transmute::<*mut (), fn()>(first)() };
    }
    say(b"error: ");
}

/// Ends the error and the command: with `why`, or with `why_recording` and the program's code.
fn end(why: &[u8], why_recording: &[u8]) -> ! {
    let ends_with = ENDS_WITH.load(Acquire);
    let mut code = None;
    if ends_with.is_null() {
        say(why);
    } else {
        say(why_recording);
        say(b": nothing more is collected; when the program has ended: ");
        say(RECOVER.get().map_or(b"heddle recover", |it| it.as_bytes()));
        say(b"\n");
        // SAFETY: `ends_with` has stored such a function.
        code = unsafe { std::mem::transmute::<*mut (), fn() -> Option<i32>>(ends_with)() };
    }
    // SAFETY: a system call.
    unsafe { libc::_exit(code.unwrap_or(CODE.load(Relaxed))) }
}

fn say(text: &[u8]) {
    // Whose end is waited for must not have its exit code withheld.
    if !ENDS_WITH.load(Relaxed).is_null() && !patience::has_room(0) {
        return;
    }
    // SAFETY: so many bytes lie there. One that cannot be written is lost.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}

/// Says which file is mapped at an address, and where in it that is; false if this is not known.
unsafe fn name(address: u64) -> bool {
    let mut found = false;
    // SAFETY: system calls with memory of ours; the line is on the handler's stack, and short.
    unsafe {
        let maps = libc::open(
            c"/proc/self/maps".as_ptr(),
            libc::O_RDONLY | libc::O_CLOEXEC,
        );
        let mut line = Line::default();
        let mut bytes = [0; 256];
        while !found && maps >= 0 {
            let read = libc::read(maps, bytes.as_mut_ptr().cast(), bytes.len());
            let Ok(read @ 1..) = usize::try_from(read) else {
                break;
            };
            found = bytes[..read].iter().any(|&byte| line.take(byte, address));
        }
    }
    found
}

/// A line of /proc/self/maps, as far as it is needed: `from-to rights offset device inode path`.
struct Line {
    text: [u8; 1024],
    length: usize,
}

impl Default for Line {
    fn default() -> Self {
        Line {
            text: [0; 1024],
            length: 0,
        }
    }
}

impl Line {
    /// Adds a byte; true if it ends the line that is about the address, and that has been said.
    fn take(&mut self, byte: u8, address: u64) -> bool {
        if byte != b'\n' {
            if let Some(room) = self.text.get_mut(self.length) {
                *room = byte;
                self.length += 1;
            }
            return false;
        }
        let line = &self.text[..std::mem::take(&mut self.length)];
        let Some((path, offset)) = mapped(line, address) else {
            return false;
        };
        say(path);
        say(b": at offset ");
        say_number(offset);
        true
    }
}

fn say_number(number: u64) {
    let (mut digits, mut rest) = ([0; 20], number);
    let mut begin = digits.len();
    while begin == digits.len() || rest > 0 {
        begin -= 1;
        digits[begin] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    say(&digits[begin..]);
}

/// The file, and the offset in it, that such a line maps to an address.
fn mapped(line: &[u8], address: u64) -> Option<(&[u8], u64)> {
    let mut fields = line.splitn(6, |&byte| byte == b' ');
    let mut ends = fields.next()?.splitn(2, |&byte| byte == b'-');
    let (from, to) = (hexadecimal(ends.next()?)?, hexadecimal(ends.next()?)?);
    if !(from..to).contains(&address) {
        return None;
    }
    let offset = hexadecimal(fields.nth(1)?)?;
    let path = fields.nth(2)?.trim_ascii_start();
    (path.first() == Some(&b'/')).then_some((path, offset + (address - from)))
}

fn hexadecimal(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |number, &digit| {
        Some(number << 4 | u64::from((digit as char).to_digit(16)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_mapping_is_read() {
        let line = b"7f00a000-7f00c000 r--s 00001000 08:01 4711       /a b/events";
        assert_eq!(
            mapped(line, 0x7f00_a010),
            Some((&b"/a b/events"[..], 0x1010))
        );
        assert_eq!(mapped(line, 0x7f00_c000), None);
        assert_eq!(mapped(b"10-20 rw-p 00000000 00:00 0 ", 0x10), None);
        assert_eq!(mapped(b"10-20 rw-p 00000000 00:00 0   [heap]", 0x10), None);
        assert_eq!(mapped(b"nonsense", 0), None);
    }
}
