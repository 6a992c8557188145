//! What axe-core finds that would keep somebody from reading the page: nothing.
//!
//! `HEDDLE_AXE` names its script (`axe.min.js` of the npm package axe-core); tests/page/check-axe
//! installs it and runs this. With `HEDDLE_PAGE=FILE` of that page instead of the made-up ones.

use crate::browser::OPEN_ALL;
use crate::chromium::Browser;
use heddle_page::{Side, render, render_machines};
use std::path::PathBuf;

/// What each rule found, a line an element.
const RUN: &str = "axe.run(document, { resultTypes: ['violations'] }).then(found => found.violations.flatMap(
    rule => rule.nodes.map(node => `${rule.id}: ${node.html.slice(0, 160)} (${node.failureSummary.split('\\n')[1]})`)))";

#[test]
#[ignore = "it needs a package of npm: tests/page/check-axe"]
fn axe_finds_nothing_on_the_pages_folded_or_open_light_or_dark_wide_or_narrow() {
    let axe = std::env::var_os("HEDDLE_AXE").expect("HEDDLE_AXE names axe.min.js");
    let axe = std::fs::read_to_string(axe).unwrap();
    let report = crate::choose::report();
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| -> PathBuf {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let side = |name| Side {
        name,
        report: &report,
        page: "index.html",
    };
    let pages = match std::env::var_os("HEDDLE_PAGE") {
        Some(page) => vec![PathBuf::from(page)],
        None => vec![
            file(
                "one.html",
                render(&report, &crate::common::jsonl(&report)).unwrap(),
            ),
            file(
                "two.html",
                render_machines(&[side("one"), side("other")]).unwrap(),
            ),
        ],
    };
    let mut browser = Browser::start();
    let mut all: Vec<String> = Vec::new();
    for page in &pages {
        for (width, scheme) in [(1400, "light"), (1400, "dark"), (400, "light")] {
            browser.open(page, width, scheme);
            browser.evaluate(&format!("{axe};0"));
            for open in [false, true] {
                if open {
                    browser.evaluate(OPEN_ALL);
                    browser.evaluate("(() => { const form = document.querySelector('#choose form'); if (form) { form.alive.value = 20; form.work.value = 3; form.alive.dispatchEvent(new Event('input', { bubbles: true })); } })()");
                }
                let found: Vec<String> = serde_json::from_value(browser.evaluate(RUN)).unwrap();
                let place = format!("{} {width} {scheme}, open: {open}: ", page.display());
                all.extend(found.into_iter().map(|it| format!("{place}{it}")));
            }
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
    // It does look: a picture without words is found.
    browser.evaluate("document.querySelector('main').append(document.createElement('img'))");
    let found = browser.evaluate(RUN).to_string();
    assert!(found.contains("image-alt"), "{found}");
}
