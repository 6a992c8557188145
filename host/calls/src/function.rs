//! Small numbers for functions, so that what is kept by function lies in an array.

use crate::Variants;
use heddle_trace_file::{Addr, Modules};
use std::collections::HashMap;

/// A function of one process: its address, and the generation of the process's modules
/// ([`Modules::generation`](heddle_trace_file::Modules::generation)), since `dlclose` and `dlopen`
/// may put another function there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Address of the function.
    pub address: Addr,
    /// When that address meant it.
    pub generation: u32,
}

/// An index into [`Functions::keys`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// Functions in the order in which they were met.
#[derive(Clone, Debug)]
pub struct Functions<'a> {
    /// The variants that get one number, and the modules that they are in.
    variants: Option<(&'a Modules, &'a Variants)>,
    keys: Vec<Key>,
    ids: HashMap<Key, u32>,
    /// Direct-mapped, in front of the map: most events come from a few functions.
    recent: Vec<(Key, u32)>,
}

const RECENT: usize = 1024;
const NO_KEY: Key = Key {
    address: Addr(u64::MAX),
    generation: u32::MAX,
};

impl Default for Functions<'_> {
    fn default() -> Self {
        Functions {
            variants: None,
            keys: Vec::new(),
            ids: HashMap::new(),
            recent: vec![(NO_KEY, 0); RECENT],
        }
    }
}

impl<'a> Functions<'a> {
    /// None yet, of a process with these modules; of variants, the first is met.
    pub fn merging(modules: &'a Modules, variants: &'a Variants) -> Self {
        Functions {
            variants: Some((modules, variants)),
            ..Functions::default()
        }
    }

    /// The id of a function, a new one if it was never met.
    #[inline]
    pub fn id(&mut self, key: Key) -> FunctionId {
        let slot = ((key.address.0 ^ (key.address.0 >> 12)) >> 2) as usize % RECENT;
        let (known, id) = self.recent[slot];
        if known == key {
            return FunctionId(id);
        }
        let id = match self.ids.get(&key) {
            Some(&id) => id,
            None => self.new_id(key),
        };
        self.recent[slot] = (key, id);
        FunctionId(id)
    }

    #[cold]
    fn new_id(&mut self, key: Key) -> u32 {
        let first = match self.variants {
            Some((modules, variants)) => variants.first(modules, key),
            None => key,
        };
        let next = self.keys.len() as u32;
        let id = *self.ids.entry(first).or_insert(next);
        if id == next {
            self.keys.push(first);
        }
        self.ids.insert(key, id);
        id
    }

    /// All functions met.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }
}
