//! The form that asks what the work is like: it answers as `heddle choose` does.

use crate::chromium::Browser;
use heddle_results::{Like, Report, WaitsOn, Work, find_near};
use std::path::Path;

/// The made-up report, where every place says what its work is like.
pub fn report() -> Report {
    let mut report = crate::common::rich();
    let mut number = 0;
    for experiment in &mut report.experiments {
        let winners = experiment.groups.iter_mut().flat_map(|it| &mut it.winners);
        for winner in winners {
            number += 1;
            let waits_on = [WaitsOn::Io, WaitsOn::Locks][number % 2];
            winner.like = Some(Like {
                waits_on,
                alive: 2.0 * 3_f64.powi((number % 7) as i32),
                work_ns: (number % 5 > 0).then(|| 500.0 * 7_f64.powi((number % 4) as i32)),
            });
        }
        if experiment.id.starts_with("a1") {
            experiment.metric.unit = "bytes".into();
        }
    }
    report
}

/// Fills the form in; the answer's first line, and where its links lead.
fn ask(browser: &mut Browser, waits_on: &str, alive: f64, work_us: f64) -> (String, Vec<String>) {
    let answer = browser.evaluate(&format!(
        "(() => {{
            const form = document.querySelector('#choose form');
            form.waits_on.value = '{waits_on}';
            form.alive.value = '{alive}';
            form.work.value = '{work_us}';
            form.alive.dispatchEvent(new Event('input', {{ bubbles: true }}));
            const output = document.querySelector('#choose output');
            return [output.querySelector('p')?.textContent ?? '',
                [...output.querySelectorAll('li a')].map(it => it.textContent)];
        }})()"
    ));
    serde_json::from_value(answer).unwrap()
}

fn page(directory: &Path, report: &Report) -> std::path::PathBuf {
    let page = directory.join("index.html");
    let text = heddle_page::render(report, &crate::common::jsonl(report)).unwrap();
    std::fs::write(&page, text).unwrap();
    page
}

#[test]
fn the_form_answers_as_the_command_does() {
    let report = report();
    let directory = tempfile::tempdir().unwrap();
    let page = page(directory.path(), &report);
    let mut browser = Browser::start();
    browser.open(&page, 1400, "light");
    let (mut surely, mut nothing, mut beyond) = (0, 0, 0);
    for (waits_on, word) in [(WaitsOn::Io, "io"), (WaitsOn::Locks, "locks")] {
        for alive in [1.0, 2.0, 5.0, 18.0, 60.0, 700.0, 1458.0, 9000.0] {
            for work_us in [0.1, 0.5, 1.7, 3.5, 12.0, 171.5, 900.0] {
                let work = Work {
                    waits_on,
                    alive,
                    work_ns: 1e3 * work_us,
                };
                let found = find_near(&report, work);
                let (line, places) = ask(&mut browser, word, alive, work_us);
                let expected: Vec<String> = (found.time.iter().chain(&found.memory))
                    .map(|near| near.name())
                    .collect();
                assert_eq!(places, expected, "{work:?}: {line}");
                let kinds = match &found.kinds[..] {
                    [] => "Nothing".to_owned(),
                    [one] => format!("{one}: at the front in"),
                    [most @ .., last] => format!("{} or {last}: these", most.join(", ")),
                };
                assert!(
                    line.starts_with(&kinds),
                    "{work:?}: {line} instead of {kinds}"
                );
                surely += usize::from(!found.kinds.is_empty());
                nothing += usize::from(found.kinds.is_empty() && found.beyond.is_empty());
                beyond += usize::from(!found.beyond.is_empty());
            }
        }
    }
    assert!(
        surely > 4 && nothing > 9 && beyond > 9,
        "all kinds of answer: {surely} {nothing} {beyond}"
    );
    // Beyond what was measured it says what was.
    let (line, _) = ask(&mut browser, "io", 5e6, 2.0);
    assert!(
        line.starts_with("Nothing: nothing like it was measured, but 2 to 1")
            && line.contains("458 alive."),
        "{line}"
    );
    // What is half filled in has no answer, and no number is none.
    for (alive, work) in [(0.0, 2.0), (-3.0, 2.0), (5.0, 0.0)] {
        assert_eq!(
            ask(&mut browser, "io", alive, work),
            (String::new(), vec![])
        );
    }
    assert_eq!(browser.complaints, [] as [String; 0]);
    assert_eq!(browser.requests_other_than(&page), [] as [String; 0]);
}

#[test]
fn the_form_is_filled_in_by_keyboard_leads_to_samples_and_fits_a_phone() {
    let report = report();
    let directory = tempfile::tempdir().unwrap();
    let page = page(directory.path(), &report);
    let mut browser = Browser::start();
    for width in [1400, 400] {
        browser.open(&page, width, if width == 400 { "dark" } else { "light" });
        let (line, places) = ask(&mut browser, "io", 20.0, 3.0);
        assert!(!line.is_empty() && !places.is_empty());
        let wide = "document.documentElement.scrollWidth";
        assert_eq!(browser.evaluate(wide), width, "nothing is clipped");
        let cut = "[...document.querySelectorAll('#choose *')].filter(it => it.getBoundingClientRect().right > innerWidth + 1).length";
        assert_eq!(browser.evaluate(cut), 0);
        if let Some(pictures) = std::env::var_os("HEDDLE_SCREENSHOTS") {
            let picture = browser.picture(Some(900));
            let name = format!("choose-{width}.png");
            std::fs::write(Path::new(&pictures).join(name), picture).unwrap();
        }
    }
    // Every field has a name, and is a stop in the order of the page.
    let fields = browser.evaluate(
        "[...document.querySelectorAll('#choose :is(select, input)')].map(it => [it.labels.length, it.tabIndex, it.offsetParent !== null])",
    );
    assert_eq!(
        fields,
        serde_json::json!([[1, 0, true], [1, 0, true], [1, 0, true]])
    );
    // A place leads to its samples, which open.
    let led = browser.evaluate(
        "(async () => {
            document.querySelector('#choose output a').click();
            await new Promise(done => setTimeout(done, 100));
            const it = document.getElementById(decodeURIComponent(location.hash.slice(1)));
            return it !== null && it.closest('details').open && it.getClientRects().length > 0;
        })()",
    );
    assert_eq!(led, true);
    // Submitting does not leave the page.
    let stays = "(() => { document.querySelector('#choose form').requestSubmit(); return location.protocol; })()";
    assert_eq!(browser.evaluate(stays), "file:");
    assert_eq!(browser.complaints, [] as [String; 0]);
}

#[test]
fn without_scripts_the_form_names_the_command_and_without_such_work_there_is_none() {
    let report = report();
    let directory = tempfile::tempdir().unwrap();
    let path = page(directory.path(), &report);
    let mut browser = Browser::start();
    browser.without_scripts();
    browser.open(&path, 1400, "light");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("<form hidden>") && text.contains("<code>heddle choose</code>"));
    let plain = heddle_page::render(&crate::common::rich(), "").unwrap();
    assert!(!plain.contains("id=\"choose\""));
}

#[test]
fn no_text_of_an_experiment_ends_the_forms_data() {
    let mut report = report();
    report.experiments[0].id = "</script><b>x".into();
    let text = heddle_page::render(&report, "").unwrap();
    assert!(!text.contains("</script><b>x") && text.contains("\\u003c/script>"));
}

#[test]
fn on_paper_the_form_stands_only_with_an_answer() {
    let directory = tempfile::tempdir().unwrap();
    let page = page(directory.path(), &report());
    let mut browser = Browser::start();
    browser.open(&page, 1000, "light");
    browser.print_media();
    let shown = "document.querySelector('#choose').getClientRects().length > 0";
    assert_eq!(browser.evaluate(shown), false);
    ask(&mut browser, "io", 18.0, 3.5);
    assert_eq!(browser.evaluate(shown), true);
}
