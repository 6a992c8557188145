//! The command as a user meets it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod answers;
mod common;
mod coroutines;
mod diff;
mod disturbed;
mod doctor;
mod examples;
mod export;
mod filters;
mod firefox;
mod flags;
mod graph;
mod layers;
mod leaving;
mod makers;
mod new;
mod off_processor;
mod page_ends;
mod reopened;
mod self_time;
mod strands;
mod terminal;
mod trace_page;
mod tracing;
mod tui;
mod unknown;
mod usage;
mod viewing;
