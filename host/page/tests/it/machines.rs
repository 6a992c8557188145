//! The page that puts machines side by side.

use crate::chromium::Browser;
use heddle_page::Side;
use heddle_results::{Report, Verdict};

/// A machine where all is otherwise: another is best, and a claim came out otherwise.
fn other(report: &Report) -> Report {
    let mut other = report.clone();
    other.machine.host = "<i>other</i>".into();
    other.notes = vec!["Partial: shard 2/2 is missing, and `--x` & <b>more</b>.".into()];
    for experiment in &mut other.experiments {
        for claim in &mut experiment.claims {
            claim.verdict = match claim.verdict {
                Verdict::Reproduced => Verdict::NotReproduced,
                _ => Verdict::Reproduced,
            };
        }
    }
    other.experiments.truncate(1);
    other
}

#[test]
fn machines_are_columns_that_a_reader_can_follow_to_their_own_pages() {
    let report = crate::common::rich();
    let other = other(&report);
    let sides =
        [(&report, "machine-1.html"), (&other, "machine-2.html")].map(|(report, page)| Side {
            name: &report.machine.host,
            report,
            page,
        });
    let text = heddle_page::render_machines(&sides).unwrap();
    assert!(!text.contains("<i>other"), "a host's name is no markup");
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("index.html");
    std::fs::write(&page, text).unwrap();

    let mut browser = Browser::start();
    for width in [1400, 400] {
        for scheme in ["light", "dark"] {
            browser.open(&page, width, scheme);
            let wide = "document.documentElement.scrollWidth";
            assert_eq!(browser.evaluate(wide), width, "nothing is clipped");
            if let Some(pictures) = std::env::var_os("HEDDLE_SCREENSHOTS") {
                let name = format!("machines-{width}-{scheme}.png");
                let picture = browser.picture(None);
                std::fs::write(std::path::Path::new(&pictures).join(name), picture).unwrap();
            }
        }
    }
    let seen = browser.evaluate("document.body.innerText");
    let seen = seen.as_str().unwrap();
    for words in [
        "2 machines, a column each",
        "machines differ",
        "not measured",
        "<i>other</i>",
    ] {
        assert!(seen.contains(words), "{words}: {seen}");
    }
    let columns = browser.evaluate(
        "[...document.querySelectorAll('#answers thead a')].map(it => it.getAttribute('href')).join()",
    );
    assert_eq!(columns, "machine-1.html,machine-2.html");
    // What scrolls can be reached by keyboard.
    let reach =
        "[...document.querySelectorAll('.scroll')].every(it => it.tabIndex === 0 && it.ariaLabel)";
    assert_eq!(browser.evaluate(reach), true);
    assert_eq!(browser.complaints, [] as [String; 0]);
    assert_eq!(browser.requests_other_than(&page), [] as [String; 0]);
}
