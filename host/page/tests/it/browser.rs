//! The page as a browser sees it: what is asserted here is what a reader gets, without a network.
//!
//! `HEDDLE_SCREENSHOTS=DIR` also leaves pictures there, light and dark, wide and narrow; with
//! `HEDDLE_PAGE=FILE` of that page instead of the made-up one (`examples/render.rs` draws a
//! finished report's).

use crate::chromium::Browser;
use heddle_results::{CellReport, Limits, Verdict};
use std::path::{Path, PathBuf};

/// Asks the page itself: which of these texts can be seen? Returns those that cannot.
fn invisible(browser: &mut Browser, texts: &[&str]) -> Vec<String> {
    let wanted = serde_json::to_string(texts).unwrap();
    let found = browser.evaluate(&format!("(() => {{ const all = document.body.innerText; return {wanted}.filter(text => !all.includes(text)); }})()"));
    serde_json::from_value(found).unwrap()
}

/// Opens every fold, and what is folded in it; how many are left, after the page has heard of it.
pub const OPEN_ALL: &str = "(async () => {
    for (let turn = 0; turn < 5; turn++) {
        document.querySelectorAll('details:not([open])').forEach(it => it.open = true);
        await new Promise(done => setTimeout(done, 50));
    }
    return document.querySelectorAll('details:not([open])').length;
})()";

/// Presses the button; the text of the file that it offers.
fn saved(browser: &mut Browser) -> String {
    let text = browser.evaluate(
        "new Promise(resolve => {
            const made = URL.createObjectURL;
            URL.createObjectURL = blob => {
                blob.text().then(resolve);
                return made.call(URL, blob);
            };
            document.getElementById('save').click();
        })",
    );
    text.as_str().unwrap().to_owned()
}

#[test]
fn a_reader_sees_every_verdict_and_nothing_is_fetched_or_complained_of() {
    let report = crate::common::rich();
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("index.html");
    std::fs::write(
        &page,
        heddle_page::render(&report, &crate::common::jsonl(&report)).unwrap(),
    )
    .unwrap();

    let mut browser = Browser::start();
    browser.open(&page, 1200, "light");
    browser.evaluate("document.getElementById('all').click()");
    let every_fold = OPEN_ALL;
    browser.evaluate(every_fold);
    let verdicts: Vec<&str> = report
        .experiments
        .iter()
        .flat_map(crate::common::sentences)
        .collect();
    let claims: Vec<&str> = report
        .experiments
        .iter()
        .flat_map(|experiment| &experiment.claims)
        .map(|claim| claim.words.as_str())
        .collect();
    assert!(verdicts.len() >= 6 && claims.len() >= 6);
    assert_eq!(
        invisible(&mut browser, &verdicts),
        [] as [&str; 0],
        "verdict sentences that a reader does not see"
    );
    assert_eq!(
        invisible(&mut browser, &claims),
        [] as [&str; 0],
        "claims that a reader does not see"
    );

    assert_eq!(
        browser.evaluate("document.querySelectorAll('svg.plot').length > 6"),
        true
    );
    assert_eq!(
        browser.evaluate("document.getElementById('save').offsetHeight > 0"),
        true,
        "the button is offered"
    );
    assert_eq!(
        saved(&mut browser),
        crate::common::jsonl(&report),
        "what the button saves is results.jsonl"
    );

    for (width, scheme) in [
        (1200, "light"),
        (1200, "dark"),
        (400, "light"),
        (400, "dark"),
    ] {
        browser.open(&page, width, scheme);
        for folds in ["0", every_fold] {
            browser.evaluate(folds);
            let beyond = browser.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth",
            );
            assert_eq!(beyond, 0, "the page is wider than its window at {width} px");
        }
    }
    assert_eq!(browser.complaints, [] as [String; 0]);
    assert_eq!(browser.requests_other_than(&page), [] as [String; 0]);
}

/// For those who hear the page, or move through it by its headings and tables.
#[test]
fn headings_tables_and_signs_can_be_heard() {
    let report = crate::common::rich();
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("index.html");
    let text = heddle_page::render(&report, &crate::common::jsonl(&report)).unwrap();
    std::fs::write(&page, text).unwrap();
    let mut browser = Browser::start();
    browser.open(&page, 400, "light");
    assert_eq!(browser.evaluate(OPEN_ALL), 0, "folds that stay closed");
    for (faults, what) in [
        (
            "[...document.querySelectorAll('th:not([scope])')]",
            "heads without a scope",
        ),
        (
            "[...document.querySelectorAll('table:not(:has(thead)):not(.single)')]",
            "tables without a head",
        ),
        (
            "[...document.querySelectorAll('[role=img]')].filter(it => !it.getAttribute('aria-label'))",
            "signs without a name",
        ),
        (
            "[...document.querySelectorAll('.scroll')].filter(it => it.scrollWidth > it.clientWidth && it.tabIndex < 0)",
            "what scrolls and cannot be reached by a key",
        ),
        (
            "[...document.querySelectorAll('h1, h2, h3, h4')].filter((it, at, all) => at > 0 && +it.tagName[1] > +all[at - 1].tagName[1] + 1)",
            "headings that skip a level",
        ),
        (
            "[...document.querySelectorAll('a[href^=\"#\"]')].filter(it => !document.getElementById(it.getAttribute('href').slice(1)))",
            "links that lead nowhere",
        ),
        (
            "[...document.querySelectorAll('[id]')].filter(it => document.querySelectorAll(`[id=\"${it.id}\"]`).length > 1)",
            "anchors that stand twice",
        ),
        (
            "[...document.querySelectorAll('#claims li > div, #claims p')].filter(it => it.getBoundingClientRect().right > innerWidth)",
            "text beyond the window",
        ),
    ] {
        let found = browser.evaluate(&format!("{faults}.map(it => it.outerHTML.slice(0, 200))"));
        assert_eq!(found, serde_json::json!([]), "{what}");
    }
}

#[test]
fn hostile_text_is_shown_and_not_run() {
    let hostile = "</script></style></title><script>window.broken = 1</script><img src=http://example.invalid/x onerror='window.broken = 1'>";
    let mut report = crate::common::small();
    let experiment = &mut report.experiments[0];
    for text in [
        &mut experiment.id,
        &mut experiment.title,
        &mut experiment.question,
        &mut experiment.metric.label,
        &mut experiment.metric.unit,
    ] {
        *text = hostile.into();
    }
    experiment.verdicts = vec![hostile.into()];
    experiment.groups[0].label = hostile.into();
    experiment.groups[0].series[0].model = hostile.into();
    experiment.groups[0].series[0].cells[0].counters = [(hostile.to_string(), 1.0)].into();
    experiment.figures[0].label = hostile.into();
    experiment.troubles = vec![hostile.into()];
    let claim = &mut experiment.claims[0];
    for text in [
        &mut claim.id,
        &mut claim.words,
        &mut claim.document,
        &mut claim.part,
        &mut claim.reading,
        &mut claim.bound,
        &mut claim.ours,
        &mut claim.note,
    ] {
        *text = hostile.into();
    }
    claim.cells = vec![CellReport {
        place: hostile.into(),
        at: [(hostile.to_string(), hostile.into())].into(),
        computed: hostile.into(),
        figure: hostile.into(),
        percent: true,
        bound: hostile.into(),
        within: Limits::default(),
        ours: hostile.into(),
        estimate: None,
        verdict: Verdict::Skipped,
        note: hostile.into(),
    }];
    experiment.commands.insert(hostile.into(), hostile.into());
    report.notes = vec![hostile.into()];
    report.machine.host = hostile.into();
    report.builds = vec![[(hostile.to_string(), hostile.to_string())].into()];
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("index.html");
    let raw = format!("{}\n", serde_json::json!({ "model": hostile }));
    std::fs::write(&page, heddle_page::render(&report, &raw).unwrap()).unwrap();

    let mut browser = Browser::start();
    browser.open(&page, 1200, "light");
    assert_eq!(invisible(&mut browser, &[hostile]), [] as [&str; 0]);
    assert_eq!(browser.evaluate("typeof window.broken"), "undefined");
    assert_eq!(
        browser.evaluate("document.querySelectorAll('img').length"),
        0
    );
    assert_eq!(saved(&mut browser), raw, "the raw data are the same");
    assert_eq!(browser.complaints, [] as [String; 0]);
    assert_eq!(browser.requests_other_than(&page), [] as [String; 0]);
}

/// The two assertions above can fail: a page that logs, throws and fetches is caught.
#[test]
fn a_page_that_complains_and_fetches_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("index.html");
    let text = "<!doctype html><img src='http://127.0.0.1:9/x.png'><script>console.error('ouch'); throw new Error('bang')</script>";
    std::fs::write(&page, text).unwrap();
    let mut browser = Browser::start();
    browser.open(&page, 1200, "light");
    assert!(
        browser
            .complaints
            .iter()
            .any(|complaint| complaint.contains("ouch")),
        "{:?}",
        browser.complaints
    );
    assert!(
        browser
            .complaints
            .iter()
            .any(|complaint| complaint.contains("bang")),
        "{:?}",
        browser.complaints
    );
    assert_eq!(
        browser.requests_other_than(&page),
        ["http://127.0.0.1:9/x.png"]
    );
}

/// Pictures for people. Without a directory for them there is one throw-away picture, to see that
/// taking it works.
#[test]
fn a_picture_can_be_taken() {
    let directory = tempfile::tempdir().unwrap();
    let target = std::env::var_os("HEDDLE_SCREENSHOTS").map(PathBuf::from);
    let page = std::env::var_os("HEDDLE_PAGE")
        .map(PathBuf::from)
        .unwrap_or_else(|| {
            let page = directory.path().join("index.html");
            let report = crate::common::rich();
            std::fs::write(
                &page,
                heddle_page::render(&report, &crate::common::jsonl(&report)).unwrap(),
            )
            .unwrap();
            page
        });
    let page = page.canonicalize().unwrap();
    let mut browser = Browser::start();
    let Some(target) = target else {
        browser.open(&page, 1200, "light");
        assert!(browser.picture(Some(700)).starts_with(b"\x89PNG"));
        return;
    };
    std::fs::create_dir_all(&target).unwrap();
    std::fs::copy(&page, target.join("page.html")).unwrap();
    let save = |name: &str, picture: Vec<u8>| {
        let path: &Path = &target.join(name);
        std::fs::write(path, picture).unwrap();
        println!("wrote {}", path.display());
    };
    for (width, scheme) in [
        (1200, "light"),
        (1200, "dark"),
        (400, "light"),
        (400, "dark"),
    ] {
        browser.open(&page, width, scheme);
        save(&format!("{scheme}-{width}.png"), browser.picture(None));
    }
    // For a README: the first screen.
    browser.open(&page, 1280, "light");
    let rectangle = browser.evaluate(
        "(() => { const last = document.querySelector('#told .quoted') ?? document.querySelector('.answers');
            return { x: 0, y: 0, width: innerWidth, height: last.getBoundingClientRect().bottom + 12, scale: 1 }; })()",
    );
    save("readme.png", browser.picture_of(rectangle));
}
