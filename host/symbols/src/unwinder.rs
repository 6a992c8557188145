//! The unwinder, which Rust's library and libstdc++ want, linked in instead of libgcc_s.so.
//!
//! It is linked whole, as the linker meets it before those who want it; what is not called is left
//! out again.
#![cfg(all(target_arch = "x86_64", target_env = "gnu"))]

use std::ffi::{c_int, c_void};

#[link(name = "gcc_eh", kind = "static", modifiers = "+whole-archive,-bundle")]
unsafe extern "C" {}

/// glibc's `struct dl_find_object` for x86-64.
#[repr(C)]
struct Found {
    flags: u64,
    map_start: usize,
    map_end: usize,
    link_map: *mut c_void,
    eh_frame: usize,
    reserved: [u64; 7],
}

struct Search {
    address: usize,
    found: Option<Found>,
}

#[used]
static KEEP: unsafe extern "C" fn(usize, *mut Found) -> c_int = _dl_find_object;

/// Where the unwinding table of the module at an address is: 0 if there is one. GCC's unwinder
/// calls this function of glibc 2.35; with ours in its place the command runs with glibc 2.34, too,
/// which is in RHEL 9 and its kin.
///
/// # Safety
/// `found` can be written to.
#[unsafe(no_mangle)]
unsafe extern "C" fn _dl_find_object(address: usize, found: *mut Found) -> c_int {
    let mut search = Search {
        address,
        found: None,
    };
    // SAFETY: the callback gets the search, which lives through the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    let Some(module) = search.found else {
        return -1;
    };
    // SAFETY: by contract.
    unsafe { found.write(module) };
    0
}

unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    search: *mut c_void,
) -> c_int {
    // SAFETY: glibc passes a module, and what dl_iterate_phdr was given.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
    // SAFETY: so many headers lie there.
    let headers =
        unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let begin = |header: &libc::Elf64_Phdr| (info.dlpi_addr + header.p_vaddr) as usize;
    let holds = |header: &&libc::Elf64_Phdr| {
        header.p_type == libc::PT_LOAD
            && (begin(header)..begin(header) + header.p_memsz as usize).contains(&search.address)
    };
    let Some(segment) = headers.iter().find(holds) else {
        return 0;
    };
    let table = headers
        .iter()
        .find(|header| header.p_type == libc::PT_GNU_EH_FRAME);
    search.found = table.map(|table| Found {
        flags: 0,
        map_start: begin(segment),
        map_end: begin(segment) + segment.p_memsz as usize,
        link_map: std::ptr::null_mut(),
        eh_frame: begin(table),
        reserved: [0; 7],
    });
    1
}

#[cfg(test)]
mod tests {
    #[test]
    fn panics_unwind() {
        let caught = std::panic::catch_unwind(|| std::panic::resume_unwind(Box::new(7)));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&7));
    }

    #[inline(never)]
    fn captures() -> String {
        std::backtrace::Backtrace::force_capture().to_string()
    }

    #[test]
    fn backtraces_reach_main() {
        let frames = captures();
        assert!(frames.contains("tests::captures"), "{frames}");
        assert!(frames.contains("run_test"), "{frames}");
    }
}
