//! Where the time of recorded samples went, on the page.

use crate::browser::OPEN_ALL;
use crate::chromium::Browser;
use heddle_results::{Report, ThreadTime, Traced};

/// The small report with a cell of which a sample was recorded, and one of which none could be.
fn traced() -> Report {
    let mut report = crate::common::small();
    let series = &mut report.experiments[0].groups[0].series;
    series[0].cells[0].traced = Some(Traced {
        time: Some(ThreadTime {
            running_ns: 40,
            processor_ns: 5,
            locks_ns: 50,
            not_known_ns: 5,
            total_ns: 100,
            ..ThreadTime::default()
        }),
        switching_ns: Some(10.0),
        cost: Some(1.25),
        cost_by: "wall_ns".into(),
        ..Traced::default()
    });
    series[1].cells[0].traced = Some(Traced {
        failed: Some("it is linked <statically>".into()),
        ..Traced::default()
    });
    report
}

fn rendered(report: &Report) -> String {
    heddle_page::render(report, &crate::common::jsonl(report)).unwrap()
}

#[test]
fn a_report_without_recordings_has_no_table_of_them() {
    assert!(!rendered(&crate::common::small()).contains("Where the time of all threads went"));
}

#[test]
fn a_recorded_cell_has_its_parts_its_bar_and_what_recording_cost() {
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("index.html");
    std::fs::write(&page, rendered(&traced())).unwrap();
    let mut browser = Browser::start();
    for width in [1400, 400] {
        browser.open(&page, width, "light");
        browser.evaluate("document.getElementById('all')?.click()");
        browser.evaluate(OPEN_ALL);
        let rows = browser.evaluate(
            "[...document.querySelectorAll('table.times tbody tr:not(.told)')].map(row =>
                [...row.cells].slice(-8).map(cell => cell.innerText.trim()).join('|'))",
        );
        let rows: Vec<String> = serde_json::from_value(rows).unwrap();
        // The best model comes first.
        assert_eq!(rows[1], "30|50|5|0|10|–|5|1.25×");
        let told = browser.evaluate("document.querySelector('table.times .told').innerText.trim()");
        assert_eq!(
            told,
            "locks (53 % of the time that other programs left, clear)"
        );
        assert!(
            rows[0].ends_with("not recorded: it is linked <statically>"),
            "{rows:?}"
        );
        // The bar's parts lie side by side and fill it.
        let bar = browser.evaluate(
            "[...document.querySelectorAll('table.times .bar rect')].map(part =>
                [part.x.baseVal.value, part.width.baseVal.value])",
        );
        let bar: Vec<[f64; 2]> = serde_json::from_value(bar).unwrap();
        let mut at = 0.0;
        for [from, wide] in bar {
            assert!((from - at).abs() < 0.1 && wide > 0.0, "{from} {at}");
            at = from + wide;
        }
        assert!((at - 100.0).abs() < 0.1, "{at}");
        let seen = browser.evaluate(
            "[...document.querySelectorAll('table.times .bar')].every(bar =>
                bar.getBoundingClientRect().width > 50 && bar.getBoundingClientRect().height > 5)
             && new Set([...document.querySelectorAll('table.times .bar rect')].map(part =>
                getComputedStyle(part).fill)).size === 5
             && document.documentElement.scrollWidth <= document.documentElement.clientWidth",
        );
        assert_eq!(seen, true, "at {width}");
    }
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}
