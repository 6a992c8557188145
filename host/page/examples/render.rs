//! Draws the page of a finished report again: `cargo run -p heddle-page --example render report
//! page.html`.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(from), Some(to)) = (arguments.next(), arguments.next()) else {
        return Err("usage: render REPORT_DIRECTORY PAGE".into());
    };
    let report = serde_json::from_str(&fs::read_to_string(from.join("report.json"))?)?;
    let raw = fs::read_to_string(from.join("results.jsonl"))?;
    fs::write(to, heddle_page::render(&report, &raw)?)?;
    Ok(())
}
