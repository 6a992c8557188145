//! The page, as text and in a browser.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod axe;
mod browser;
mod choose;
#[allow(dead_code, reason = "the tests of `heddle view` use the rest")]
mod chromium;
mod common;
mod first_screen;
mod machines;
mod page;
mod times;
