//! Checks of what a recording needs: the compiler and its flags, the program's file, the recorder's
//! library.

pub mod compiler;
pub mod failure;
pub mod header;
pub mod library;
pub mod modules;
pub mod program;
