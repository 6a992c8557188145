//! The report page: one HTML file that opens from disk, without a network, and can be read without
//! scripts.
//!
//! [`render`] turns what a comparison found into text, tables and plots. Text from experiments and
//! lab programs is a user's input: templates escape it by themselves, and everything that goes into
//! a plot passes through [`svg`]. A content security policy in the page forbids every request as a
//! second wall.

mod palette;
mod plot;

mod raw;
mod scale;
mod svg;
mod ticks;
mod view;

use heddle_results::Report;

/// Why no page could be made. The report's contents never cause this.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A template does not compile, or asks for something that its context does not have.
    #[error("the report page's template failed: {0:#}")]
    Template(#[from] minijinja::Error),
    /// The raw data could not be compressed.
    #[error("the raw data could not be compressed: {0}")]
    Raw(#[from] std::io::Error),
}

/// The page for a report, with `raw_jsonl` (the contents of `results.jsonl`) embedded (gzip,
/// base64) so that the page alone is enough to compute everything again.
///
/// Time and size are linear in the number of samples.
///
/// # Errors
/// Only if a template is defective.
pub fn render(report: &Report, raw_jsonl: &str) -> Result<String, Error> {
    view::page(report, raw_jsonl)
}

/// One of several machines.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// What it is called.
    pub name: &'a str,
    /// What was found there.
    pub report: &'a Report,
    /// Where its own page is, seen from the common one.
    pub page: &'a str,
}

/// The page that puts machines side by side, a column each; their samples are in their own pages.
///
/// # Errors
/// Only if a template is defective.
pub fn render_machines(sides: &[Side]) -> Result<String, Error> {
    view::of_machines(sides)
}
