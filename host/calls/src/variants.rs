//! Functions of which a module has several: what is summed by function is summed for all of them.

use crate::Key;
use heddle_trace_file::{Addr, Modules};
use std::ops::Range;
use std::sync::Arc;

/// One of several functions of a module that are one to whoever wrote it: a destructor that frees
/// the object is one, and calls another that does not; so are an optimiser's clones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its code, by addresses of the file.
    pub code: Range<u64>,
    /// Where the first of them begins, which stands for all.
    pub first: u64,
}

/// The [`Variant`]s of a process's modules.
#[derive(Clone, Debug)]
pub struct Variants {
    modules: Vec<Arc<[Variant]>>,
}

impl Variants {
    /// No function has any.
    pub fn none() -> &'static Self {
        static NONE: Variants = Variants {
            modules: Vec::new(),
        };
        &NONE
    }

    /// `modules` has the variants of each module, by the module's index, in order of addresses.
    pub fn new(modules: Vec<Arc<[Variant]>>) -> Self {
        Variants { modules }
    }

    /// The function that stands for this one: itself, unless it is a variant. O(log n).
    pub fn first(&self, modules: &Modules, key: Key) -> Key {
        self.address(modules, key)
            .map_or(key, |address| Key { address, ..key })
    }

    fn address(&self, modules: &Modules, key: Key) -> Option<Addr> {
        if self.modules.is_empty() {
            return None;
        }
        let time = modules.time_of(key.address, key.generation);
        let index = modules.find(key.address, time)?;
        let variants = self.modules.get(index)?;
        let bias = modules.get(index)?.bias;
        let place = key.address.0.wrapping_sub(bias);
        let after = variants.partition_point(|variant| variant.code.start <= place);
        let variant = variants[..after].last()?;
        let within = variant.code.contains(&place);
        within.then(|| Addr(variant.first.wrapping_add(bias)))
    }
}
