//! Where a signal's handler returns to: code that only calls rt_sigreturn(2), and by which
//! debuggers, too, know a handler's frame.

use crate::images::with_file;
use heddle_trace_file::{Addr, Module};
use object::{Object, ObjectSection, SectionKind};
use std::sync::OnceLock;

/// `mov $15, %rax; syscall`, as glibc and musl have it on x86-64.
const CALL: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];

/// The places in a module that signals' handlers return to. Its code is searched when one of its
/// addresses is first asked for: of most modules, none is.
#[derive(Clone, Debug)]
pub struct SignalReturns {
    module: Module,
    found: OnceLock<Vec<u64>>,
}

impl SignalReturns {
    /// `carried`: those that a packed trace carries.
    pub(crate) fn of(module: &Module, carried: Option<Vec<u64>>) -> Self {
        SignalReturns {
            module: module.clone(),
            found: carried.map_or_else(OnceLock::new, OnceLock::from),
        }
    }

    /// All of them, in the file's own address space; none of a file that is gone, or is another
    /// now. The first call takes O(bytes of code).
    pub fn all(&self) -> &[u64] {
        let found = || with_file(&self.module, signal_returns);
        self.found.get_or_init(found)
    }

    /// Whether this address of the process is one.
    pub fn have(&self, address: Addr) -> bool {
        let place = address.0.wrapping_sub(self.module.bias);
        self.module.contains(address) && self.all().contains(&place)
    }
}

/// Its places in an ELF file, in the file's own address space; none where it cannot be read.
/// O(bytes of code).
fn signal_returns(bytes: &[u8]) -> Vec<u64> {
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
    use heddle_trace_file::Nanos;

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
        let found = signal_returns(&std::fs::read(libc).unwrap());
        let &[place] = found.as_slice() else {
            panic!("{found:x?}");
        };
        let bias = 0x7f00_0000_0000;
        let module = Module {
            path: libc.into(),
            start: Addr(bias),
            end: Addr(bias + place + 1),
            text: Addr(bias)..Addr(bias + place + 1),
            bias,
            build_id: None,
            loaded: Nanos(0),
            loaded_at: None,
            unloaded: None,
        };
        let returns = SignalReturns::of(&module, None);
        assert!(returns.have(Addr(bias + place)));
        assert!(!returns.have(Addr(bias + place - 1)));
        let elsewhere = Module {
            end: Addr(bias + place),
            ..module
        };
        assert!(!SignalReturns::of(&elsewhere, None).have(Addr(bias + place)));
        let carried = SignalReturns::of(&elsewhere, Some(vec![8]));
        assert!(carried.have(Addr(bias + 8)) && carried.all() == [8]);
    }

    #[test]
    fn what_is_no_file_has_none() {
        assert_eq!(signal_returns(b"not an ELF file"), Vec::<u64>::new());
    }
}
