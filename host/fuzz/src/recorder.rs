//! What the recorder reads inside the traced process (trace/): its readers are compiled in, and
//! given what they would get from a file.

use crate::scratch;
use std::ffi::{CStr, CString, c_char};
use std::os::unix::ffi::OsStrExt;

unsafe extern "C" {
    /// The first byte says which reader; the rest is for it. Null, or what was wrong with its
    /// answer.
    fn heddle_fuzz_recorder(
        directory: *const c_char,
        input: *const u8,
        bytes: usize,
    ) -> *const c_char;
}

/// Plans, programs that are started, seccomp filters, code, modules' notes, and the kernel's texts.
pub fn read(input: &[u8]) {
    let directory = scratch();
    let path = CString::new(directory.path().as_os_str().as_bytes());
    let path = path.unwrap_or_else(|error| panic!("{error}"));
    // SAFETY: both are there while it runs, and it keeps neither.
    let wrong = unsafe { heddle_fuzz_recorder(path.as_ptr(), input.as_ptr(), input.len()) };
    if !wrong.is_null() {
        // SAFETY: it is a constant of recorder.cpp.
        let wrong = unsafe { CStr::from_ptr(wrong) };
        panic!("{}", wrong.to_string_lossy());
    }
}
