//! The lab: reads experiment files, runs their programs, and says what the samples mean.
//!
//! `docs/workloads.md` is the contract with experiment files and lab programs. No workload is known
//! by name here.

pub mod command;
mod compare;
mod error;
pub mod experiment;
mod file_lock;
pub mod judge;
pub mod merge;
pub mod models;
pub mod output;
pub mod run;
pub mod select;

pub use compare::{compare, exit_code, expected, nothing_ran};
pub use error::{Error, Result};
