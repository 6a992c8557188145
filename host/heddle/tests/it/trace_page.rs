//! `heddle view`: its page, opened in Chromium and read as it is shown.

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../../page/tests/it/chromium/mod.rs"]
mod chromium;

use crate::common::{LIBC, Program, TASK, abc, heddle, not_ended};
use crate::viewing::handing_over;
use chromium::Browser;
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A page that is open.
pub struct Page {
    browser: Browser,
    path: PathBuf,
}

impl Page {
    /// Opens a page, and waits until it has unpacked its trace.
    pub fn open(path: &Path) -> Self {
        Self::open_as(path, 1400, "light")
    }

    fn open_as(path: &Path, width: u32, scheme: &str) -> Self {
        let mut browser = Browser::start();
        browser.open(path, width, scheme);
        let ready = "new Promise(done => { const look = () =>
            document.documentElement.dataset.ready
            ? done(document.documentElement.dataset.ready) : setTimeout(look, 10); look(); })";
        let ready = browser.evaluate(ready);
        assert_ne!(ready, "failed");
        let path = path.to_owned();
        Page { browser, path }
    }

    /// The text of an element, as it is shown.
    pub fn text(&mut self, id: &str) -> String {
        let text = format!("document.getElementById('{id}').innerText");
        self.browser.evaluate(&text).as_str().unwrap().to_owned()
    }

    /// Has a table be shown, and reads it.
    pub fn tab(&mut self, name: &str) -> String {
        let click = format!("document.querySelector('[data-tab={name}]').click()");
        self.browser.evaluate(&click);
        self.text("body")
    }

    /// The cells of a row of the table that is shown.
    fn row(&mut self, index: usize) -> Vec<String> {
        let cells = format!(
            "[...document.querySelectorAll('#body tbody tr')[{index}].cells].map(c => c.innerText)"
        );
        let cells = self.browser.evaluate(&cells);
        let cells = cells.as_array().unwrap().iter();
        cells
            .map(|cell| cell.as_str().unwrap().trim().to_owned())
            .collect()
    }

    /// The rows of a table, more than are shown at first: the cells of each, with plain spaces.
    pub fn rows(&mut self, name: &str) -> Vec<Vec<String>> {
        self.browser.evaluate("heddle.select(null)");
        self.tab(name);
        self.shown_rows()
    }

    /// The same of the table that is shown.
    pub fn shown_rows(&mut self) -> Vec<Vec<String>> {
        let more = "[...document.querySelectorAll('#body button')]
            .filter(button => / more$/.test(button.innerText)).forEach(button => button.click())";
        self.browser.evaluate(more);
        let rows = self.browser.evaluate(
            "[...document.querySelectorAll('#body tbody tr')]
                .map(row => [...row.cells].map(cell => cell.innerText))",
        );
        let plain = |cell: &Value| cell.as_str().unwrap().trim().replace('\u{202f}', " ");
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| row.as_array().unwrap().iter().map(plain).collect())
            .collect()
    }

    /// Clicks a button of the tables, or a row, by what it says.
    pub fn follow(&mut self, selector: &str, text: &str) {
        let follow = format!(
            "(() => {{ const all = [...document.querySelectorAll({})];
            all.find(one => one.innerText.includes({})).click(); }})()",
            Value::from(selector),
            Value::from(text)
        );
        self.browser.evaluate(&follow);
    }

    /// What is on the timeline, when that has rested.
    pub fn visible(&mut self) -> String {
        // What follows an action is drawn in the next frame, and written when nothing is drawn.
        let rest = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
            const look = () => {
                const text = document.getElementById('mirror').tBodies[0].textContent;
                if (heddle.timer || !text) setTimeout(look, 50);
                else done(text);
            };
            setTimeout(look, 400);
        })))";
        self.browser.evaluate(rest).as_str().unwrap().to_owned()
    }

    /// Nothing was complained about, and nothing asked for; the page is as wide as its window.
    pub fn is_clean(&mut self) {
        let beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(self.browser.evaluate(beyond), 0, "it scrolls sideways");
        assert_eq!(self.browser.complaints, Vec::<String>::new());
        assert_eq!(self.browser.requests_other_than(&self.path), [""; 0]);
    }
}

pub fn view(directory: &Path, arguments: &[&str]) -> PathBuf {
    let mut command = heddle(directory);
    command.arg("view").args(arguments).assert().success();
    directory.join("heddle.trace.html")
}

#[test]
fn calls_are_on_the_timeline_and_in_the_tables() {
    let (directory, _program) = abc();
    let mut page = Page::open(&view(directory.path(), &[]));
    assert!(page.text("facts").contains("1 strand · 4 calls"));
    let visible = page.visible();
    for call in ["main 14.00 s", "A() 14.00 s", "B() 12.00 s", "C() 7.000 s"] {
        assert!(visible.contains(call), "{call} in {visible}");
    }
    page.tab("functions");
    assert_eq!(page.row(0)[..5], ["C()", "1", "7.000 s", "", "7.000 s"]);
    assert_eq!(page.row(1)[..5], ["B()", "1", "5.000 s", "", "12.00 s"]);
    // A click leads to the longest call.
    page.follow("#body tbody tr", "B()");
    let details = page.text("body");
    assert!(
        details.contains("B()") && details.contains("12.00 s"),
        "{details}"
    );
    assert!(
        details.contains("Within\n\nA()") || details.contains("Within\nA()"),
        "{details}"
    );
    page.is_clean();
}

#[test]
fn the_timeline_answers_to_the_mouse_and_to_keys() {
    let (directory, _program) = abc();
    let mut page = Page::open(&view(directory.path(), &[]));
    let place = "(() => { const t = heddle.timeline; const box = t.canvas.getBoundingClientRect();
        return [box.x + t.x(10e9), box.y + 22 + 7 + 3.5 * 15]; })()";
    let place = page.browser.evaluate(place);
    let [x, y] = [&place[0], &place[1]].map(|number| number.as_f64().unwrap());
    page.browser.click(x, y);
    assert!(page.text("body").starts_with("C()"));
    let shown = |page: &mut Page| {
        let span = page
            .browser
            .evaluate("heddle.timeline.to - heddle.timeline.from");
        span.as_f64().unwrap()
    };
    let before = shown(&mut page);
    page.browser.press("+");
    assert!(shown(&mut page) < 0.7 * before);
    page.browser.press("0");
    assert!(shown(&mut page) >= 0.99 * before);
    page.browser.press("j");
    assert!(page.text("body").contains("abc"), "the row's strand");
    page.browser.press("/B()");
    assert!(page.text("found").starts_with("1 match"));
    page.is_clean();
}

#[test]
fn names_of_any_kind_are_text() {
    let directory = tempfile::tempdir().unwrap();
    let evil = "<img src=x onerror=document.title=1>";
    let source = format!(
        "extern \"C\" void evil() __asm__(\"\\\"{evil}\\\"\");
        void evil() {{}}
        int main() {{ evil(); }}"
    );
    let program = Program::compile(directory.path(), "abc", &source, &["-O0"]);
    program.trace(|thread, at| {
        let (main, evil) = (at("main"), at(evil));
        thread
            .enter(100, main, LIBC + 5, 900)
            .enter(200, evil, main + 5, 800)
            .mark(250, 0, "</script><script>document.title = 2</script>")
            .exit(300, evil, main + 5, 800)
            .exit(400, main, LIBC + 5, 900);
    });
    let mut page = Page::open(&view(directory.path(), &["--names", "full"]));
    assert!(page.tab("functions").contains(evil));
    assert!(page.tab("flame").contains("main"));
    assert!(page.visible().contains(evil));
    let foreign = "document.title + document.querySelectorAll('img, #body script').length";
    assert_eq!(page.browser.evaluate(foreign), "heddle.trace · Heddle0");
    page.is_clean();
}

#[test]
fn a_trace_without_calls_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|_, _| {});
    let mut page = Page::open(&view(directory.path(), &[]));
    assert!(page.text("notes").contains("no calls"));
    for tab in ["details", "functions", "strands", "waits", "flame"] {
        page.tab(tab);
    }
    page.browser.press("jkg0+-n");
    page.is_clean();
}

#[test]
fn short_calls_are_summed_up_and_the_page_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    let calls: u64 = 300_000;
    program.trace(|thread, at| {
        let (main, a) = (at("main"), at("_Z1Av"));
        thread.enter(1000, main, LIBC + 0x29d68, 900);
        for call in 0..calls {
            let begin = 2000 + call * 3000;
            // A tenth of them is long.
            let took = if call % 10 == 0 {
                2000
            } else {
                100 + call % 50
            };
            thread
                .enter(begin, a, main + 5, 800)
                .exit(begin + took, a, main + 5, 800);
        }
        thread.exit(3000 + calls * 3000, main, LIBC + 0x29d68, 900);
    });
    let path = view(directory.path(), &[]);
    let mut page = Page::open(&path);
    let notes = page.text("notes");
    assert!(
        notes.contains("shorter than") && notes.contains("summed up by"),
        "{notes}"
    );
    page.tab("functions");
    // All calls of A count, whether they are drawn one by one or not.
    let rows = [page.row(0), page.row(1)];
    let a = rows.iter().find(|row| row[0] == "A()").unwrap();
    assert_eq!(a[1].replace('\u{202f}', ""), calls.to_string());
    let kept = page
        .browser
        .evaluate("heddle.trace.calls.rows")
        .as_u64()
        .unwrap();
    let summed = page
        .browser
        .evaluate("heddle.trace.held.calls.count")
        .as_u64()
        .unwrap();
    assert_eq!(kept + summed, calls + 1);
    assert!(kept <= 250_000);
    assert!(fs::metadata(&path).unwrap().len() < 4 << 20);
    page.is_clean();
}

#[test]
fn what_a_program_says_of_its_waits_is_shown_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    let said = ["ready", "blocked: by rain"];
    program.trace(|thread, at| {
        let (main, a, b, c) = (at("main"), at("_Z1Av"), at("_Z1Bv"), at("_Z1Cv"));
        thread
            .stack(0x7_0000, 0x8_0000)
            .enter(100, main, LIBC + 5, 0x7_f000)
            .strand_made(115, 9)
            .strand_switch(120, 9)
            .enter(1_000, a, LIBC + 5, 0x4_f000);
        for (time, reason) in [(2_000, said[0]), (4_000, said[1])] {
            thread
                .strand_waits(time, 9, reason)
                .strand_switch(time + 10, 0)
                .enter(time + 100, c, main + 5, 0x7_ef00)
                .exit(time + 200, c, main + 5, 0x7_ef00)
                .strand_switch(time + 1_000, 9)
                .enter(time + 1_100, b, a + 5, 0x4_ef00)
                .exit(time + 1_200, b, a + 5, 0x4_ef00);
        }
        thread
            .exit(6_000, a, LIBC + 5, 0x4_f000)
            .strand_end(6_010, 9)
            .strand_switch(6_020, 0)
            .exit(7_000, main, LIBC + 5, 0x7_f000);
    });
    let mut page = Page::open(&view(directory.path(), &[]));
    let waits = page.tab("waits");
    for said in said {
        assert!(waits.contains(said), "{said} in {waits}");
    }
    page.is_clean();
}

#[test]
fn a_wait_that_a_destruction_ended_is_where_the_coroutine_was() {
    let line = TASK.lines().count() + 1;
    let in_source = format!("app.cpp:{line}");
    for (flags, place) in [(&["-g", "-O0"][..], &*in_source), (&["-O0"], "in inner()")] {
        let directory = tempfile::tempdir().unwrap();
        handing_over(directory.path(), flags);
        for hidden in [&[][..], &["--hide", "inner*destroy*"]] {
            let mut page = Page::open(&view(directory.path(), hidden));
            let waits = page.rows("waits");
            // Before it began, and from when it handed over until it was destroyed.
            let of_inner = waits.iter().filter(|row| row[3] == "coroutine inner()");
            let counted: Vec<_> = of_inner.map(|row| (&*row[2], &*row[4])).collect();
            assert!(counted.contains(&(place, "2")), "{hidden:?}: {waits:?}");
            let parts = |cell: &String| cell.contains("[destroy]") || cell.contains("[resume]");
            assert!(!waits.iter().flatten().any(parts), "{hidden:?}: {waits:?}");
            page.rows("strands");
            page.follow("#body tbody tr", "coroutine inner()");
            let life = page.text("body");
            assert!(life.contains("resumed by thread app"), "{life}");
            assert!(life.contains("destroyed by coroutine outer()"), "{life}");
            page.is_clean();
        }
    }
}

#[test]
fn a_threads_row_has_what_runs_within_what_it_runs() {
    let directory = tempfile::tempdir().unwrap();
    handing_over(directory.path(), &["-O0"]);
    let mut page = Page::open(&view(directory.path(), &[]));
    page.visible();
    let row = "[...document.querySelectorAll('#mirror tbody tr')]
        .map(row => row.textContent).find(text => text.startsWith('thread app'))";
    let row = page.browser.evaluate(row);
    let row = row.as_str().unwrap();
    for within in ["inner() [resume] 10 ns", "inner() [destroy] 3 ns"] {
        assert!(row.contains(within), "{within} in {row}");
    }
    page.is_clean();
}

#[test]
fn times_are_cut_as_other_verbs_cut_them() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|thread, at| {
        let (main, a) = (at("main"), at("_Z1Av"));
        thread
            .enter(0, main, LIBC + 5, 900)
            .enter(100, a, main + 5, 800)
            .exit(2_099, a, main + 5, 800)
            .exit(46_697, main, LIBC + 5, 900);
    });
    let mut page = Page::open(&view(directory.path(), &[]));
    let functions = page.rows("functions").concat();
    for shown in ["46.69 µs", "44.69 µs", "1.999 µs"] {
        assert!(functions.iter().any(|cell| cell == shown), "{functions:?}");
    }
}

#[test]
fn what_had_not_ended_is_marked() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|thread, at| {
        let (main, a) = (at("main"), at("_Z1Av"));
        thread
            .enter(1000, main, LIBC + 0x29d68, 900)
            .enter(2000, a, main + 5, 800)
            .mark(9000, 0, "late");
    });
    let mut page = Page::open_as(&view(directory.path(), &[]), 400, "dark");
    page.tab("functions");
    page.follow("#body tbody tr", "A()");
    assert!(page.text("body").contains("not ended when the trace did"));
    let wide = page
        .browser
        .evaluate("document.documentElement.clientWidth");
    assert_eq!(wide, 400);
    page.is_clean();
}

/// Nanoseconds of a time as tables show it; `None` of `-`, 0 where there is none.
fn nanoseconds(shown: &str) -> Option<u64> {
    if shown.is_empty() {
        return Some(0);
    }
    let (number, unit) = shown.split_once(' ')?;
    let unit = ["ns", "µs"].iter().position(|&name| name == unit).unwrap();
    Some((number.parse::<f64>().unwrap() * [1.0, 1000.0][unit]).round() as u64)
}

/// The trace of a program that was killed has calls that did not return, some of them left by a
/// jump, and a wait that lasts beyond what is known of its call.
#[test]
fn functions_of_a_killed_program_are_those_of_the_report() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    let [main, a, b, c] = program.places([" main", "_Z1Av", "_Z1Bv", "_Z1Cv"]);
    let mut process = program.process(&directory.path().join("heddle.trace"));
    let mut thread = process.thread(4711, "waits");
    let mutex = (1, 0x5000, 1);
    thread
        .enter(1_000, main, 0, 900)
        .enter(2_000, a, main + 5, 800)
        .exit(5_000, a, main + 5, 800)
        // A jump leaves two calls.
        .enter(5_100, b, main + 5, 800)
        .enter(5_200, c, b + 5, 700)
        .enter(5_900, a, main + 5, 850)
        .object_met(6_000, mutex, a + 5)
        .wait(6_100, mutex, a + 5, (0, 0))
        .wait_ended(6_400, 0, 0)
        .wait(7_000, mutex, a + 5, (0, 0))
        .mark(7_500, 0, "its last event")
        .finish()
        .unwrap();
    let mut thread = process.thread(4712, "goes on");
    thread.enter(1_500, c, 0, 900).mark(90_000, 0, "the end");
    thread.finish().unwrap();
    process.killed().finish().unwrap();
    not_ended(&directory.path().join("heddle.trace/4711/events"), 4711);
    let mut command = heddle(directory.path());
    let report = command.args(["report", "--format", "csv"]).assert();
    let report = String::from_utf8(report.get_output().stdout.clone()).unwrap();
    let mut report: Vec<Vec<&str>> = report
        .lines()
        .skip(1)
        .map(|row| row.split(',').collect())
        .collect();
    report.sort_by_key(|row| row[6]);
    assert_eq!(report.len(), 4, "{report:?}");
    let number = |cell: &str| cell.parse::<u64>().ok();
    let mut page = Page::open(&view(directory.path(), &[]));
    // Once of the whole trace, once of what is selected: all of its time.
    for select in ["", "heddle.timeline.range = [0, heddle.trace.end]"] {
        page.browser.evaluate("heddle.select(null)");
        page.browser.evaluate(select);
        page.tab("functions");
        let mut rows: Vec<Vec<String>> = (0..4).map(|index| page.row(index)).collect();
        rows.sort_by(|a, b| a[0].cmp(&b[0]));
        for (row, of) in rows.iter().zip(&report) {
            let [own, waited, total, mean, longest] =
                [2, 3, 4, 5, 6].map(|cell| nanoseconds(&row[cell]));
            assert_eq!(row[0], of[6], "{select}");
            assert_eq!(row[1], of[0], "{select}: {row:?}");
            assert_eq!(total, number(of[1]), "{select}: {row:?} {of:?}");
            let own = own.zip(waited).map(|(own, waited)| own + waited);
            assert_eq!(own, number(of[2]), "{select}: {row:?} {of:?}");
            assert_eq!(mean, number(of[4]), "{select}: {row:?} {of:?}");
            assert_eq!(longest, number(of[5]), "{select}: {row:?} {of:?}");
        }
        // What is known of the call that waits: it returned once, and waited twice.
        assert_eq!(rows[0][..4], ["A()", "2", "3.800 µs", "800 ns"], "{select}");
        assert_eq!(rows[0][5..7], ["3.000 µs", "3.000 µs"], "{select}");
    }
    page.browser.evaluate("heddle.timeline.range = null");
    // In the flame graph, too, the call waits as long as it is timed, and the wait is within it.
    page.tab("flame");
    page.browser
        .evaluate("document.getElementById('flame-waits').click()");
    let flame = page
        .browser
        .evaluate("[...document.querySelectorAll('.frame')].map(frame => frame.title).join('\\n')");
    let flame = flame.as_str().unwrap();
    assert!(flame.contains("A(): "), "{flame}");
    assert!(flame.contains("self 3.800 µs, 2 calls"), "{flame}");
    // Its two waits last up to the end of the trace.
    assert!(flame.contains("83.30 µs"), "{flame}");
    // A thread's time is called elapsed: it may have waited meanwhile.
    let strands = page.tab("strands");
    assert!(
        strands.contains("Elapsed") && !strands.contains("Ran"),
        "{strands}"
    );
    page.follow("#body tbody tr", "waits");
    let strand = page.text("body");
    assert!(strand.contains("Elapsed\n"), "{strand}");
    page.is_clean();
}

/// A signal's handler makes calls while its thread waits: they are callees of the call that waits,
/// so their time is no part of what that waited itself.
#[test]
fn a_handlers_calls_within_a_wait_are_taken_off_self_once() {
    for fibers in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let program = Program::build(directory.path());
        let [main, a, b, c] = program.places([" main", "_Z1Av", "_Z1Bv", "_Z1Cv"]);
        let mut process = program.process(&directory.path().join("heddle.trace"));
        process.module(LIBC, LIBC + 0x10_0000, LIBC, None, "[libc.so.6]");
        let mut thread = process.thread(4711, "waits");
        thread.stack(0x7fff_0000, 0x7fff_8000);
        let (mutex, top) = ((1, 0x5000, 1), 0x7fff_7000);
        thread.enter(1_000, main, LIBC + 9, top);
        if fibers {
            // Another reader takes the thread then.
            let base = 0x6000_1f00;
            thread
                .stack_made(1_100, base - 0xf00..base + 0x100, top - 0x40)
                .enter(1_200, c, LIBC + 0x500, base)
                .exit(1_300, c, 0, base);
        }
        thread
            .enter(2_000, a, main + 5, top - 0x100)
            .object_met(2_000, mutex, a + 5)
            .wait(2_100, mutex, a + 5, (0, 0))
            .enter(2_200, b, LIBC + 0x600, top - 0x400)
            .enter(2_300, b, b + 5, top - 0x500)
            .exit(2_400, b, 0, top - 0x500)
            .exit(2_900, b, 0, top - 0x400)
            .wait_ended(3_000, 0, 0)
            .exit(3_500, a, 0, top - 0x100)
            .exit(4_000, main, 0, top);
        thread.finish().unwrap();
        process.finish().unwrap();
        let mut page = Page::open(&view(directory.path(), &[]));
        // Once of the whole trace, once of what is selected: all of its time.
        for select in ["", "heddle.timeline.range = [0, heddle.trace.end]"] {
            page.browser.evaluate("heddle.select(null)");
            page.browser.evaluate(select);
            page.tab("functions");
            let rows = (0..3 + usize::from(fibers)).map(|index| page.row(index));
            let row = rows.into_iter().find(|row| row[0] == "A()").unwrap();
            // 1500 ns, of which the handler takes 700, and the wait else 200.
            assert_eq!(row[1..5], ["1", "600 ns", "200 ns", "1.500 µs"], "{select}");
        }
        page.browser.evaluate("heddle.timeline.range = null");
        page.tab("flame");
        page.browser
            .evaluate("document.getElementById('flame-waits').click()");
        let flame = page.browser.evaluate(
            "[...document.querySelectorAll('.frame')].map(frame => frame.title).join('\\n')",
        );
        let flame = flame.as_str().unwrap();
        assert!(flame.contains("self 600 ns, 1 call"), "{flame}");
        assert!(flame.contains("self 200 ns, 1 wait"), "{flame}");
        page.is_clean();
    }
}

/// The table that a screen reader reads is as wide as its words, and the page is not.
#[test]
fn a_row_of_many_calls_does_not_widen_the_page() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.trace(|thread, at| {
        let (main, a) = (at("main"), at("_Z1Av"));
        thread.enter(1_000, main, LIBC + 5, 900);
        for begin in (2_000..100_000).step_by(2_000) {
            thread.enter(begin, a, main + 5, 800);
            thread.exit(begin + 1_000, a, main + 5, 800);
        }
        thread.exit(100_000, main, LIBC + 5, 900);
    });
    let mut page = Page::open(&view(directory.path(), &[]));
    let visible = page.visible();
    assert!(visible.matches("A() 1.000 µs").count() > 10, "{visible}");
    page.is_clean();
}

#[test]
fn filters_and_the_file_are_those_of_other_verbs() {
    let (directory, _program) = abc();
    let mut page = Page::open(&view(directory.path(), &["-F", "B"]));
    let functions = page.tab("functions");
    assert!(
        functions.contains("C()") && !functions.contains("A()"),
        "{functions}"
    );
    let mut command = heddle(directory.path());
    let output = command.args(["view", "-o", "-"]).assert().success();
    let out = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    assert!(out.starts_with("<!doctype html>") && out.contains("default-src 'none'"));
    let mut command = heddle(directory.path());
    let told = command.args(["view", "missing"]).assert().failure();
    told.stderr(contains("missing"));
}

/// The folder of the pages of what `tests/view/check-page` records.
fn recorded() -> PathBuf {
    PathBuf::from(std::env::var_os("HEDDLE_VIEW").unwrap())
}

#[test]
#[ignore = "tests/view/check-page runs it, with pages of programs that it has recorded"]
fn pages_of_recorded_programs_answer_three_questions() {
    let mut page = Page::open(&recorded().join("mixed.html"));
    // Which function is slow?
    page.tab("functions");
    let slow = page.row(0);
    assert_eq!(slow[..2], ["slow()", "1"], "{slow:?}");
    // What waits for it is not slow itself.
    let pays = "[...document.querySelectorAll('#body tbody tr')]
        .find(row => row.cells[0].innerText === 'pay()').cells[3].innerText";
    let waited = page.browser.evaluate(pays);
    assert!(waited.as_str().unwrap().ends_with(" ms"), "pay() waited");
    // Which strand waited longest, and for what?
    page.tab("strands");
    let longest = page.row(0);
    assert!(
        longest[0].starts_with("coroutine fetch(int)"),
        "{longest:?}"
    );
    assert!(longest[6].starts_with("answer "), "{longest:?}");
    // Who started this coroutine, where was it suspended, and who resumed it on which thread?
    page.follow("#body tbody tr", "coroutine fetch(int)");
    let life = page.text("body");
    assert!(life.contains("Made by\nthread mixed"), "{life}");
    let other = page.row(1);
    assert!(other[4].starts_with("mixed.cpp:"), "{other:?}");
    assert!(
        other[6].starts_with("thread mixed") && other[5] == format!("resumed by {}", other[6]),
        "{other:?}"
    );
    // Who had the lock? One click from the wait.
    page.browser.press("\u{1b}");
    page.browser.evaluate("heddle.select(null)");
    page.tab("waits");
    page.follow("#body tbody tr", "ledger");
    let wait = page.text("body");
    assert!(
        wait.contains("waits for a lock") && wait.contains("Held by"),
        "{wait}"
    );
    let holder = "[...document.querySelectorAll('#body dt')].find(dt => dt.innerText === 'Held by')
        .nextSibling.querySelector('button').click()";
    page.browser.evaluate(holder);
    let holder = page.text("body");
    let calls = "heddle.trace.callsOf[heddle.timeline.selected.i + 1]
        - heddle.trace.callsOf[heddle.timeline.selected.i]";
    assert!(page.browser.evaluate(calls).as_u64().unwrap() > 0);
    assert!(holder.starts_with("thread mixed"), "{holder}");
    let visible = page.visible();
    for what in ["book()", "::ledger", "suspended answer", "fiber cook()"] {
        assert!(visible.contains(what), "{what} in {visible}");
    }
    page.is_clean();
}

#[test]
#[ignore = "tests/view/check-page runs it, with pages of programs that it has recorded"]
fn pages_of_recorded_programs_of_many_strands_pan() {
    let path = recorded().join("fibers.html");
    assert!(fs::metadata(&path).unwrap().len() < 10 << 20);
    let mut page = Page::open(&path);
    page.browser.press("jj\r");
    let rows = page
        .browser
        .evaluate("heddle.rows.rows.length")
        .as_u64()
        .unwrap();
    assert!(rows > 10_000, "{rows}");
    let frames = "(async () => { const t = heddle.timeline; const all = []; t.zoom(0.3);
        for (let i = 0, last = performance.now(); i < 120; i++) {
          await new Promise(requestAnimationFrame);
          const now = performance.now(); all.push(now - last); last = now;
          t.move(t.from + (t.to - t.from) * 0.01); t.scroll(t.top + 20); }
        all.sort((a, b) => a - b);
        return `ready after ${document.documentElement.dataset.ready} ms; frames while panning: ` +
          `median ${all[60].toFixed(1)} ms, of 100 the 95th ${all[114].toFixed(1)} ms`; })()";
    println!("{}", page.browser.evaluate(frames).as_str().unwrap());
    page.is_clean();
}

/// What a recorded program did, whatever its times: all of it is to be read on its page.
struct Did {
    /// The page's name, and that of the program's source in `tests/view`.
    program: &'static str,
    /// What is said at the top: strands and calls.
    counts: &'static str,
    /// What is said above the timeline.
    notes: &'static str,
    /// What is on the timeline as it opens.
    visible: &'static [&'static str],
    /// Functions, and how often each was called.
    calls: &'static [(&'static str, &'static str)],
    /// How names of strands begin, how many there are, and who made them.
    strands: &'static [(&'static str, usize, &'static str)],
    /// Waits: why, for what, where, whose, how often.
    waits: &'static [(&'static str, &'static str, At, &'static str, &'static str)],
    /// Calls that had not ended.
    open: &'static [&'static str],
}

/// Where a strand waits.
enum At {
    /// At the line of the program's source with this text.
    Line(&'static str),
    /// Not at a line: where this text says.
    Says(&'static str),
}

const ECHO: &str = "coroutine echo(boost::asio::basic_stream_socket)";
const AWAITS: &str = "boost::asio::awaitable";

const DID: [Did; 5] = [
    Did {
        program: "threads",
        counts: "4 strands · 44 calls",
        notes: "",
        visible: &["thread threads ", "thread spinner-2 ", "weave(int) "],
        calls: &[("twist()", "30"), ("beat()", "4"), ("spin(int)", "2")],
        strands: &[
            ("thread threads ", 1, ""),
            ("thread spinner-1 ", 1, "thread threads "),
            ("thread spinner-2 ", 1, "thread threads "),
            ("thread weaver ", 1, "thread threads "),
        ],
        waits: &[],
        open: &[],
    },
    // Asio makes a coroutine of its own for each of 136 operations that are awaited (7 are put into
    // the queue, 3 accepted, 3 connected, 60 sent, 63 received, of which 3 find that the client has
    // gone), and for each of 7 that are spawned.
    Did {
        program: "asio_server",
        counts: "151 strands",
        notes: "",
        visible: &["coroutine listen(boost::asio::basic_socket_acceptor&) #2"],
        calls: &[("count_answer()", "30"), ("main", "1")],
        strands: &[
            ("thread asio_server ", 1, ""),
            ("coroutine listen(", 1, "thread asio_server "),
            ("coroutine ask(", 3, "thread asio_server "),
            ("coroutine echo(", 3, "coroutine listen("),
            (
                "coroutine boost::asio::async_result::initiate(",
                136,
                "coroutine ",
            ),
            (
                "coroutine boost::asio::detail::co_spawn_entry_point(",
                7,
                "",
            ),
        ],
        waits: &[
            (
                "suspended",
                AWAITS,
                At::Line("async_read(socket, echoed"),
                ECHO,
                "33",
            ),
            (
                "suspended",
                AWAITS,
                At::Line("async_write(socket, echoed"),
                ECHO,
                "30",
            ),
            (
                "suspended",
                AWAITS,
                At::Line("async_connect("),
                "coroutine ask(…)",
                "3",
            ),
        ],
        open: &[],
    },
    Did {
        program: "pool",
        counts: "44 strands · 1 650 calls",
        notes: "",
        visible: &["thread pool ", "job(int): 40 coroutines"],
        calls: &[
            ("calculate(int)", "200"),
            ("job(int) [resume]", "240"),
            ("work()", "3"),
        ],
        strands: &[
            ("thread pool ", 4, ""),
            ("coroutine job(int) ", 40, "thread pool "),
        ],
        waits: &[(
            "suspended",
            "turn",
            At::Line("co_await turn"),
            "coroutine job(int)",
            "about 200",
        )],
        open: &[],
    },
    // More strands than are listed; all of them count.
    Did {
        program: "fibers",
        counts: "100 001 strands · 1 700 003 calls",
        notes: "of strands that are not listed",
        visible: &["work(int): 100 000 fibers"],
        calls: &[
            ("work(int)", "100 000"),
            ("step(long)", "400 000"),
            ("leaf(long)", "1 200 000"),
        ],
        strands: &[],
        waits: &[],
        open: &[],
    },
    Did {
        program: "killed",
        counts: "3 strands · ",
        notes: "was killed",
        visible: &[
            "thread killed ",
            "book() ",
            "coroutine fetch() #3",
            "::ledger ",
        ],
        calls: &[("pay()", "1"), ("book()", "1"), ("fetch() [resume]", "1")],
        strands: &[
            ("thread killed ", 2, ""),
            ("coroutine fetch() ", 1, "thread killed "),
        ],
        waits: &[
            (
                "lock",
                "mutex (anonymous namespace)::ledger",
                At::Says("in pay()"),
                "thread killed",
                "1",
            ),
            (
                "suspended",
                "",
                At::Line("co_await answer"),
                "coroutine fetch()",
                "1",
            ),
        ],
        open: &["main", "pay()", "book()"],
    },
];

/// Whether the page has this count. A coroutine that another thread resumes before the one that it
/// leaves is out of it has not been away, so of those there may be a few less.
fn is(expected: &str, shown: &str) -> bool {
    let Some(most) = expected.strip_prefix("about ") else {
        return shown == expected;
    };
    let (most, shown) = (most.parse::<u32>(), shown.parse::<u32>());
    most.is_ok_and(|most| shown.is_ok_and(|shown| (most - most / 20..=most).contains(&shown)))
}

impl Did {
    fn is_on(&self, page: &mut Page) {
        let program = self.program;
        let facts = page.text("facts").replace('\u{202f}', " ");
        assert!(facts.contains(self.counts), "{program}: {facts}");
        let notes = page.text("notes");
        assert!(notes.contains(self.notes), "{program}: {notes}");
        let visible = page.visible().replace('\u{202f}', " ");
        for what in self.visible {
            assert!(visible.contains(what), "{program}: {what} in {visible}");
        }
        let functions = page.rows("functions");
        for (function, calls) in self.calls {
            let row = functions.iter().find(|row| row[0] == *function);
            let counted = row.map(|row| row[1].as_str());
            assert_eq!(counted, Some(*calls), "{program}: {function}");
        }
        let strands = page.rows("strands");
        for (name, count, maker) in self.strands {
            let named = strands.iter().filter(|row| row[0].starts_with(name));
            let made = named.clone().filter(|row| row[1].starts_with(maker));
            assert_eq!(
                (named.count(), made.count()),
                (*count, *count),
                "{program}: {name}"
            );
        }
        let waits = page.rows("waits");
        for (why, what, at, who, count) in self.waits {
            let place = match at {
                At::Line(text) => line_of(program, text),
                At::Says(place) => (*place).to_owned(),
            };
            let expected = [*why, what, &place, who];
            let found = waits
                .iter()
                .any(|row| row[..4] == expected && is(count, &row[4]));
            assert!(found, "{program}: {expected:?} {count} in {waits:#?}");
        }
        for function in self.open {
            page.rows("functions");
            page.browser.evaluate(&format!(
                "[...document.querySelectorAll('#body tbody tr')]
                    .find(row => row.cells[0].innerText === '{function}').click()"
            ));
            let call = page.text("body");
            assert!(
                call.contains("not ended when the trace did"),
                "{function}: {call}"
            );
        }
        page.is_clean();
    }
}

/// `FILE:LINE` of the first line with this text in the source of a program of `tests/view`.
fn line_of(program: &str, text: &str) -> String {
    let file = format!("{program}.cpp");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/view");
    let source = fs::read_to_string(path.join(&file)).unwrap();
    let line = source.lines().position(|line| line.contains(text));
    format!("{file}:{}", line.unwrap() + 1)
}

#[test]
#[ignore = "tests/view/check-page runs it, with pages of programs that it has recorded"]
fn pages_of_recorded_programs_show_what_they_did() {
    for did in &DID {
        let path = recorded().join(did.program).with_extension("html");
        // Boost is not everywhere.
        if did.program == "asio_server" && !path.exists() {
            println!("{} is not there: Boost was not found", path.display());
            continue;
        }
        did.is_on(&mut Page::open(&path));
    }
}
