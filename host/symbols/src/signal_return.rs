//! Where a signal's handler returns to: code that only calls rt_sigreturn(2), and by which
//! debuggers, too, know a handler's frame.

use object::{Object, ObjectSection, SectionKind};

/// `mov $15, %rax; syscall`, as glibc and musl have it on x86-64.
const CALL: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];

/// Its places in an ELF file, in the file's own address space; none where it cannot be read.
/// O(bytes of code).
pub fn signal_returns(bytes: &[u8]) -> Vec<u64> {
    let Ok(file) = object::File::parse(bytes) else {
        return Vec::new();
    };
    let code = file
        .sections()
        .filter(|section| section.kind() == SectionKind::Text);
    code.filter_map(|section| Some((section.address(), section.data().ok()?)))
        .flat_map(|(address, data)| {
            let places = memchr::memmem::find_iter(data, &CALL);
            places.map(move |at| address.wrapping_add(at as u64))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libc_has_one() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let libc = maps
            .lines()
            .filter_map(|line| line.split_whitespace().last())
            .find(|path| path.ends_with("/libc.so.6"));
        let Some(libc) = libc else {
            return; // a static build, or another C library
        };
        assert_eq!(signal_returns(&std::fs::read(libc).unwrap()).len(), 1);
    }

    #[test]
    fn what_is_no_file_has_none() {
        assert_eq!(signal_returns(b"not an ELF file"), Vec::<u64>::new());
    }
}
