//! What is waited for, by number.

/// An object, by its process and its number there; by its address, if it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    Number(usize, u32),
    Address(usize, u64),
}
