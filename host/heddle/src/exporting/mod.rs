//! Traces in other programs' formats: a folder a format.

pub mod perfetto;
pub mod selection;
pub mod spill;
