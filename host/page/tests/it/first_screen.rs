//! What the page promises before anything is opened, and what it keeps folded.

use crate::chromium::Browser;
use serde_json::json;
use std::path::PathBuf;

/// So many nodes, texts among them, may a page have before anything is opened.
const NODES: u64 = 5000;

/// A page of a report in a file of its own.
struct Page {
    _directory: tempfile::TempDir,
    path: PathBuf,
    browser: Browser,
}

impl Page {
    fn of(report: &heddle_results::Report) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("index.html");
        let text = heddle_page::render(report, &crate::common::jsonl(report)).unwrap();
        std::fs::write(&path, text).unwrap();
        let browser = Browser::start();
        Self {
            _directory: directory,
            path,
            browser,
        }
    }

    fn open(&mut self, width: u32) {
        self.browser.open(&self.path, width, "light");
    }
}

#[test]
fn the_first_screen_has_an_answer_for_each_use_and_what_the_sources_say() {
    let mut page = Page::of(&crate::common::rich());
    page.open(1400);
    let above = "(selector) => [...document.querySelectorAll(selector)]
        .filter(it => {
            const place = it.getBoundingClientRect();
            return place.width && place.bottom <= 900;
        })
        .map(it => (it.innerText ?? '').replace(/\\s+/g, ' ').trim())";
    let mut texts = |selector: &str| page.browser.evaluate(&format!("({above})('{selector}')"));
    assert_eq!(texts("h1"), json!(["What are you building?"]));
    assert_eq!(
        texts(".answers tbody th a"),
        json!([
            "Matrices",
            "Shared counters under locks",
            "Small messages between two",
            "A producer and a consumer"
        ])
    );
    assert_eq!(
        texts(".answers thead .kind"),
        json!(["thread", "goroutine", "fiber", "coroutine"])
    );
    // The best and its ties with the value, how far each kind is behind with its interval, why.
    let rows = texts(".answers tbody tr");
    let row = rows[2].as_str().unwrap();
    for part in [
        "stackless",
        "fiber/asm",
        "1.89 ns a switch",
        "785×",
        "735–812",
        "tie",
        "best",
    ] {
        assert!(row.contains(part), "{part}: {row}");
    }
    assert!(
        row.contains("493 voluntary kernel switches (thread), 1 (stackless)"),
        "{row}"
    );
    assert_eq!(texts(".answers svg.bar").as_array().unwrap().len(), 10);
    assert_eq!(texts(".busy"), json!(["Busy: others used 23 %"]));
    assert_eq!(
        texts("#told .counts li"),
        json!([
            "4 reproduced",
            "5 not reproduced",
            "1 inconclusive",
            "1 skipped"
        ])
    );
    assert_eq!(texts("#told .quoted li").as_array().unwrap().len(), 4);
    assert_eq!(
        texts("#told .open"),
        json!(["Inconclusive: about 34 samples a cell would settle it (-n 34)."])
    );
    assert_eq!(texts("#contents .chapter").as_array().unwrap().len(), 5);
    // They stay beside what is read.
    page.browser.evaluate("scrollTo(0, 2000)");
    let top = page
        .browser
        .evaluate("document.querySelector('.contents').getBoundingClientRect().top");
    assert_eq!(top, 0);
}

#[test]
fn a_large_page_is_small_until_it_is_opened_and_then_complete() {
    let report = crate::common::large();
    let mut page = Page::of(&report);
    page.open(1400);
    let nodes = "(() => { const walk = document.createTreeWalker(document); let nodes = 0;\
        while (walk.nextNode()) nodes++; return nodes; })()";
    let before = page.browser.evaluate(nodes).as_u64().unwrap();
    assert!(before <= NODES, "{before} nodes before anything is opened");
    page.browser
        .evaluate("document.getElementById('all').click()");
    let after = page.browser.evaluate(nodes).as_u64().unwrap();
    assert!(after > 4 * before, "{after} nodes");
    let sentences = report.experiments.iter().flat_map(crate::common::sentences);
    let wanted = serde_json::to_string(&sentences.collect::<Vec<_>>()).unwrap();
    let unseen = page.browser.evaluate(&format!(
        "(() => {{ const all = document.body.innerText; return {wanted}.filter(it => !all.includes(it)); }})()"
    ));
    assert_eq!(unseen, json!([]));
    let empty = page.browser.evaluate(
        "[...document.querySelectorAll('details.experiment')].filter(it => !it.querySelector('.plot, .quiet')).length",
    );
    assert_eq!(empty, 0);
}

#[test]
fn every_number_of_the_first_screen_leads_to_its_samples() {
    let mut page = Page::of(&crate::common::rich());
    page.open(1400);
    let wrong = page.browser.evaluate(
        "(async () => {
            const wrong = [];
            const links = [...document.querySelectorAll('.answers a.number')];
            for (const link of links) {
                link.click();
                const row = document.getElementById(link.hash.slice(1));
                const count = Number(row.querySelector('a').textContent);
                let items = [];
                for (let turn = 0; turn < 200 && items.length !== count; turn++) {
                    await new Promise(done => setTimeout(done, 25));
                    items = row.nextElementSibling.querySelectorAll('.samples li');
                }
                const first = row.closest('table').rows[0].cells[0].textContent;
                const median = row.cells[first === 'model' ? 1 : 2].textContent;
                const values = [...items].map(it => Number(it.textContent)).sort((a, b) => a - b);
                const near = values[values.length >> 1] / parseFloat(median);
                const place = row.getBoundingClientRect();
                const seen = place.height > 0 && place.top >= 0 && place.bottom <= innerHeight;
                if (!seen || items.length !== count || !(Math.abs(near - 1) < 0.01)) {
                    wrong.push([link.textContent, median, items.length, values, place.top]);
                }
            }
            return links.length ? wrong : 'no numbers';
        })()",
    );
    assert_eq!(wrong, json!([]));
    // And those of claims.
    let samples = page.browser.evaluate(
        "(() => { const links = [...document.querySelectorAll('.ledger dd a[href*=\"~\"]')];
            return links.length > 3 && links.every(it => document.getElementById(it.hash.slice(1)).matches('tr')); })()",
    );
    assert_eq!(samples, true);
    assert_eq!(page.browser.complaints, [] as [String; 0]);
}

#[test]
fn nothing_is_clipped_on_a_phone() {
    let mut page = Page::of(&crate::common::rich());
    page.open(400);
    page.browser.evaluate(super::browser::OPEN_ALL);
    let clipped = page.browser.evaluate(
        "[...document.querySelectorAll('main *, nav *')]
            .filter(it => !it.closest('.scroll, svg, .hidden, .answers thead'))
            .filter(it => it.getClientRects().length)
            .filter(it => {
                const place = it.getBoundingClientRect();
                const cut = it.scrollWidth > it.clientWidth + 1 &&
                    getComputedStyle(it).overflowX === 'hidden';
                return cut || place.right > innerWidth + 0.5 || place.left < -0.5;
            })
            .map(it => it.outerHTML.slice(0, 120))",
    );
    assert_eq!(clipped, json!([]));
    let columns = page.browser.evaluate(
        "[...document.querySelectorAll('.answers .kind[data-kind]')].every(it => getComputedStyle(it, '::before').content === JSON.stringify(it.dataset.kind))",
    );
    assert_eq!(columns, true, "each ratio says which kind it is of");
}

#[test]
fn on_paper_stands_the_summary_and_what_was_opened() {
    let mut page = Page::of(&crate::common::large());
    page.open(1000);
    page.browser.print_media();
    let seen = "(() => [...document.querySelectorAll('section, details.experiment, nav')].filter(it => it.getClientRects().length).map(it => it.id))()";
    assert_eq!(
        page.browser.evaluate(seen),
        json!(["answers", "told", "environment"])
    );
    page.browser
        .evaluate("const fold = document.getElementById('e-a2-kv'); fold.open = true;");
    assert_eq!(
        page.browser.evaluate(seen),
        json!(["answers", "told", "winners", "e-a2-kv", "environment"])
    );
}

#[test]
fn the_filter_looks_into_folds_and_the_counts_choose_verdicts() {
    let mut page = Page::of(&crate::common::rich());
    page.open(1400);
    let seen = "(selector) => [...document.querySelectorAll(selector)].filter(it => it.getClientRects().length).map(it => it.id)";
    let mut seen = |action: &str, selector: &str| {
        page.browser
            .evaluate(&format!("{action}; ({seen})('{selector}')"))
    };
    let typed = |text: &str| {
        format!(
            "document.getElementById('filter').value = '{text}'; document.getElementById('filter').dispatchEvent(new Event('input'))"
        )
    };
    // What only the folded text says.
    assert_eq!(
        seen(&typed("libboost-context-dev"), ".experiment"),
        json!(["e-b1-switch"])
    );
    assert_eq!(
        seen("0", "#contents a[href=\"#e-b1-switch\"]")
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(seen("0", "#contents a[href=\"#e-a2-kv\"]"), json!([]));
    assert_eq!(seen(&typed("nowhere-at-all"), ".experiment"), json!([]));
    assert_eq!(seen(&typed(""), ".experiment").as_array().unwrap().len(), 9);
    let chosen = "document.querySelector('#told a[data-show=refuted]').click()";
    assert_eq!(
        seen(chosen, ".statements > li").as_array().unwrap().len(),
        5
    );
    let all = "document.querySelector('#claims input[value=all]').click()";
    assert_eq!(seen(all, ".statements > li").as_array().unwrap().len(), 11);
}

#[test]
fn without_scripts_everything_is_there() {
    let report = crate::common::rich();
    let mut page = Page::of(&report);
    page.browser.without_scripts();
    page.open(1400);
    let plots = page
        .browser
        .evaluate("document.querySelectorAll('svg.plot').length > 6");
    assert_eq!(plots, true);
    let dead = page.browser.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"]')].filter(it => !document.getElementById(it.hash.slice(1))).length",
    );
    assert_eq!(dead, 0, "links that lead nowhere");
    assert_eq!(
        page.browser
            .evaluate("document.getElementById('filter').hidden"),
        true
    );
}
