//! `heddle tui` on a terminal of its own: what is on the screen, and how it leaves the terminal.

use crate::common::{LIBC, Program, heddle, not_ended};
use crate::off_processor::overlapping;
use crate::page_ends::child_that_returns;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What a terminal shows, as far as the command uses one.
#[derive(Default)]
struct Screen {
    cells: Vec<Vec<char>>,
    at: (usize, usize),
    /// An escape sequence that has begun.
    sequence: Option<String>,
    /// The other screen is shown, the cursor is hidden.
    other: bool,
    hidden: bool,
}

impl Screen {
    fn take(&mut self, text: &str) {
        for c in text.chars() {
            match (&mut self.sequence, c) {
                (Some(sequence), c) => {
                    sequence.push(c);
                    if sequence.len() > 1 && c.is_ascii_alphabetic() {
                        let sequence = self.sequence.take().unwrap();
                        self.control(&sequence);
                    }
                }
                (None, '\u{1b}') => self.sequence = Some(String::new()),
                (None, '\r') => self.at.0 = 0,
                (None, '\n') => self.at.1 += 1,
                (None, c) => {
                    let (x, y) = self.at;
                    if self.cells.len() <= y {
                        self.cells.resize(y + 1, Vec::new());
                    }
                    let row = &mut self.cells[y];
                    if row.len() <= x {
                        row.resize(x + 1, ' ');
                    }
                    row[x] = c;
                    self.at.0 += 1;
                }
            }
        }
    }

    fn control(&mut self, sequence: &str) {
        let numbers = sequence
            .trim_start_matches('[')
            .trim_end_matches(char::is_alphabetic);
        let mut numbers = numbers.split(';').map(|number| number.parse().unwrap_or(1));
        match (sequence, sequence.chars().next_back()) {
            ("[?1049h", _) => self.other = true,
            ("[?1049l", _) => self.other = false,
            ("[?25l", _) => self.hidden = true,
            ("[?25h", _) => self.hidden = false,
            (_, Some('H')) => {
                let (y, x): (usize, usize) = (numbers.next().unwrap(), numbers.next().unwrap_or(1));
                self.at = (x - 1, y - 1);
            }
            (_, Some('J')) => self.cells.clear(),
            _ => {}
        }
    }

    fn text(&self) -> String {
        let row = |row: &Vec<char>| row.iter().collect::<String>().trim_end().to_owned();
        self.cells.iter().map(row).collect::<Vec<_>>().join("\n")
    }
}

/// The command on a terminal.
struct Session {
    child: Child,
    /// Our side of it, and the program's.
    ours: File,
    theirs: OwnedFd,
    screen: Arc<Mutex<Screen>>,
    before: (u32, u32),
}

/// A machine that does other things, too, may be slow.
const LONG: Duration = Duration::from_secs(60);

impl Session {
    fn new(directory: &Path, words: &[&str], size: (u16, u16), editor: &str) -> Self {
        let (mut ours, mut theirs) = (0, 0);
        let size = window(size);
        // SAFETY: both descriptors are written, and ours from then on.
        let (ours, theirs) = unsafe {
            let (name, settings) = (std::ptr::null_mut(), std::ptr::null());
            let made = libc::openpty(
                &raw mut ours,
                &raw mut theirs,
                name,
                settings,
                &raw const size,
            );
            assert_eq!(made, 0, "there is no pseudo terminal");
            (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
        };
        let side = || Stdio::from(theirs.try_clone().unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
        command
            .args([&["tui"], words].concat())
            .current_dir(directory)
            .env("TERM", "xterm-256color")
            .env("NO_COLOR", "1")
            .env("EDITOR", editor)
            .env_remove("VISUAL")
            .env_remove("LD_PRELOAD")
            .stdin(side())
            .stdout(side())
            .stderr(side());
        // SAFETY: system calls alone, between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        let before = settings(&theirs);
        let child = command.spawn().unwrap();
        let screen = Arc::new(Mutex::new(Screen::default()));
        let (shown, mut from) = (screen.clone(), ours.try_clone().unwrap());
        std::thread::spawn(move || {
            let (mut bytes, mut rest) = ([0; 4096], Vec::new());
            while let Ok(read @ 1..) = from.read(&mut bytes) {
                rest.extend_from_slice(&bytes[..read]);
                // A character may have come in half.
                let whole = match std::str::from_utf8(&rest) {
                    Ok(_) => rest.len(),
                    Err(error) => error.valid_up_to(),
                };
                let text = String::from_utf8(rest.drain(..whole).collect()).unwrap();
                shown.lock().unwrap().take(&text);
            }
        });
        Session {
            child,
            ours,
            theirs,
            screen,
            before,
        }
    }

    fn press(&mut self, keys: &str) {
        self.ours.write_all(keys.as_bytes()).unwrap();
    }

    fn text(&self) -> String {
        self.screen.lock().unwrap().text()
    }

    /// Waits until the screen is as it should be.
    fn wait(&self, is: impl Fn(&str) -> bool) -> String {
        let since = Instant::now();
        loop {
            let text = self.text();
            if is(&text) {
                return text;
            }
            assert!(since.elapsed() < LONG, "not on the screen:\n{text}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn see(&self, part: &str) -> String {
        self.wait(|text| text.contains(part))
    }

    fn signal(&self, signal: libc::c_int) {
        // SAFETY: a child that has not been waited for.
        unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
    }

    /// Waits for the end; the terminal must be as it was.
    fn end(mut self) -> ExitStatus {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(since.elapsed() < LONG, "it does not end:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        };
        let since = Instant::now();
        while self.screen.lock().unwrap().other && since.elapsed() < LONG {
            std::thread::sleep(Duration::from_millis(20));
        }
        let screen = self.screen.lock().unwrap();
        assert!(
            !screen.other && !screen.hidden,
            "the screen is not given back"
        );
        assert_eq!(
            settings(&self.theirs),
            self.before,
            "the terminal is still raw"
        );
        status
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn window((columns, rows): (u16, u16)) -> libc::winsize {
    libc::winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

/// Whether lines are waited for, keys are shown and signals made, and the like.
fn settings(terminal: &OwnedFd) -> (u32, u32) {
    // SAFETY: zeros are valid, and are written over.
    unsafe {
        let mut settings: libc::termios = std::mem::zeroed();
        assert_eq!(libc::tcgetattr(terminal.as_raw_fd(), &raw mut settings), 0);
        (settings.c_lflag, settings.c_iflag)
    }
}

const SOURCE: &str = "void C() {}\nvoid B() { C(); }\nvoid A() { B(); }\nint main() { A(); }\n";

/// A program with debug information, and its trace.
fn abc() -> (tempfile::TempDir, Program) {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::compile(directory.path(), "abc", SOURCE, &["-O0", "-g"]);
    program.abc();
    (directory, program)
}

#[test]
fn the_views_are_shown_and_the_terminal_is_left_as_it_was() {
    let (directory, _program) = abc();
    let mut session = Session::new(directory.path(), &[], (80, 24), "true");
    let text = session.see("4 calls of 4 functions on 1 strand");
    // Functions are in the order of `heddle report`: C took most.
    let first = text.lines().nth(2).unwrap();
    assert!(
        first.contains("7.000 s") && first.ends_with("C()"),
        "{text}"
    );
    session.press("2");
    let row = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.trim_end().ends_with(name));
        line.map(|line| line.trim_end().chars().count() - name.len())
    };
    let text = session.wait(|text| text.contains("call\n") && row(text, "C()").is_some());
    assert_eq!(
        row(&text, "C()").unwrap() - row(&text, "A()").unwrap(),
        4,
        "{text}"
    );
    session.press("3");
    let text = session.see("thread #1");
    assert!(text.contains("thread #1 abc 4711 "), "{text}");
    session.press("\r");
    session.see("strand #1");
    let text = session.see("C()");
    assert!(text.contains("born"), "{text}");
    session.press("4");
    session.see("[main─");
    session.press("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn strands_of_a_process_that_became_another_program_were_ended_by_exec() {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::compile(directory.path(), "abc", SOURCE, &["-O0", "-g"]);
    let [main] = program.places([" main"]);
    let mut process = program.process(&directory.path().join("heddle.trace"));
    for (tid, last) in [(4711, 60_000_000), (4712, 20_000_000)] {
        let mut thread = process.thread(tid, "abc");
        thread.enter(1_000_000, main, LIBC, 0x7fff_7000);
        thread.mark(last, 0, "the last").finish().unwrap();
    }
    process.replaced().finish().unwrap();
    for tid in [4711, 4712] {
        not_ended(&directory.path().join("heddle.trace/4711/events"), tid);
    }
    let mut session = Session::new(directory.path(), &[], (80, 24), "true");
    session.see("2 calls of 1 function on 2 strands");
    session.press("3");
    let text = session.see("thread #1");
    assert_eq!(text.matches("  ended by exec").count(), 2, "{text}");
    session.press("4");
    let text = session.see("[main─");
    let row = text.lines().find(|line| line.contains("4712")).unwrap();
    // Nobody knows what it did up to exec, but exec ended it with the last event of all.
    assert_eq!(row.matches('?').count(), 39, "{text}");
    session.press("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn strands_of_a_process_that_ended_before_the_trace_did_not_live_on() {
    let directory = tempfile::tempdir().unwrap();
    child_that_returns(directory.path());
    let mut session = Session::new(directory.path(), &[], (80, 24), "true");
    session.see("3 calls of 2 functions on 3 strands");
    session.press("3");
    let text = session.see("thread #4712/1");
    let of = |what: &str| {
        let row = text.lines().find(|line| line.contains(what)).unwrap();
        row.contains("lived at the end")
    };
    let lived = ["#4711/1", "#4712/1"].map(of);
    // The trace ends with the exit of the first.
    assert_eq!(lived, [false, false], "{text}");
    session.press("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn a_further_row_s_strand_is_not_its_own_maker() {
    let directory = tempfile::tempdir().unwrap();
    overlapping(directory.path());
    let mut session = Session::new(directory.path(), &[], (120, 24), "true");
    session.see("on 3 strands");
    session.press("4");
    session.see("coroutine #3");
    session.press("G");
    let text = session.see("(meanwhile): elapsed");
    assert!(!text.contains("(meanwhile), made by"), "{text}");
    session.press("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn what_a_filter_leaves_out_is_in_no_view_and_the_last_line_says_so() {
    let (directory, _program) = abc();
    let words = ["-F", "B", "--depth", "1", "--time-range", "0.5ms.."];
    let mut session = Session::new(directory.path(), &words, (100, 24), "true");
    session.see("B()");
    // A key takes what is said away.
    session.press("j");
    let last = "--filter B --depth 1 --time-range 500µs..: 1 call of 1 function on 1 strand";
    let text = session.see(last);
    assert!(!text.contains("C()"), "{text}");
    session.press("2");
    let text = session.wait(|text| text.contains("call\n") && text.contains("B()"));
    assert!(!text.contains("A()") && !text.contains("C()"), "{text}");
    session.press("4");
    let text = session.see("[B()─");
    assert!(!text.contains("main"), "{text}");
    session.press("q");
    assert_eq!(session.end().code(), Some(0));
    assert!(!directory.path().join("heddle.trace/tui-index").exists());
}

#[test]
fn the_index_is_its_owner_s_alone_is_used_and_is_made_anew_where_the_trace_changed() {
    let (directory, program) = abc();
    let path = directory.path();
    let opened = |part: &str| {
        let mut session = Session::new(path, &[], (80, 24), "true");
        session.see(part);
        // A key takes what is said away; when all has been read, the last line counts it.
        session.press("j");
        session.see(" on 1 strand");
        session.press("q");
        assert_eq!(session.end().code(), Some(0));
    };
    opened("4 calls of 4 functions");
    let index = path.join("heddle.trace/tui-index");
    let about = index.metadata().unwrap();
    assert_eq!(about.permissions().mode() & 0o777, 0o600);
    let kept = fs::read(&index).unwrap();
    opened("4 calls of 4 functions");
    assert_eq!(fs::read(&index).unwrap(), kept);
    assert_eq!(
        index.metadata().unwrap().modified().unwrap(),
        about.modified().unwrap()
    );
    // One that is not to be trusted is not used, and replaced.
    fs::write(&index, "nonsense").unwrap();
    opened("is not used: it is cut short");
    assert_eq!(fs::read(&index).unwrap(), kept);
    // Another trace, in the same place.
    fs::remove_dir_all(path.join("heddle.trace")).unwrap();
    program.trace(|thread, at| {
        let main = at("main");
        thread
            .enter(10, main, LIBC + 5, 900)
            .exit(20, main, LIBC + 5, 900);
    });
    fs::write(&index, &kept).unwrap();
    opened("the trace has changed");
    opened("1 call of 1 function");
    // Other verbs take no notice of it.
    heddle(path).args(["report"]).assert().success();
    heddle(path).args(["pack"]).assert().success();
}

#[test]
fn a_directory_that_cannot_be_written_is_looked_at_without_an_index() {
    let (directory, _program) = abc();
    let trace = directory.path().join("heddle.trace");
    // A directory in the index's place cannot be replaced, not even by root.
    fs::create_dir_all(trace.join("tui-index/x")).unwrap();
    let mut session = Session::new(directory.path(), &[], (120, 24), "true");
    session.see("no index was written");
    session.press("j");
    session.see("4 calls of 4 functions");
    session.press("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn signals_end_it_and_the_terminal_is_left_as_it_was() {
    let (directory, _program) = abc();
    // A panic of the command ends it by SIGABRT.
    for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT, libc::SIGABRT] {
        let session = Session::new(directory.path(), &[], (80, 24), "true");
        session.see("4 calls of 4 functions");
        session.signal(signal);
        assert_eq!(session.end().signal(), Some(signal));
    }
}

#[test]
fn the_editor_opens_at_the_function_and_the_screen_is_whole_behind_it() {
    let (directory, _program) = abc();
    let editor = directory.path().join("editor");
    fs::write(
        &editor,
        "#!/bin/sh\nstty -a >settings\necho tearing\necho \"$@\" >edited\n",
    )
    .unwrap();
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    let editor = format!("{} --wait", editor.display());
    let mut session = Session::new(directory.path(), &[], (80, 24), &editor);
    session.see("4 calls of 4 functions");
    let before = session.text();
    session.press("je");
    let edited = directory.path().join("edited");
    let since = Instant::now();
    while !fs::read_to_string(&edited).is_ok_and(|text| text.ends_with('\n')) {
        assert!(since.elapsed() < LONG, "no editor:\n{}", session.text());
        std::thread::sleep(Duration::from_millis(20));
    }
    let words = fs::read_to_string(&edited).unwrap();
    // The function with the second longest self time is B, in line 2.
    assert!(words.starts_with("--wait +2 "), "{words}");
    assert!(words.ends_with("abc.cpp\n"), "{words}");
    let settings = fs::read_to_string(directory.path().join("settings")).unwrap();
    assert!(
        settings.contains(" icanon") && settings.contains(" echo "),
        "{settings}"
    );
    let shown = |text: &str| text.lines().nth(2) == before.lines().nth(2);
    session.wait(|text| !text.contains("tearing") && shown(text));
    session.press("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn the_picture_follows_the_size_of_the_terminal() {
    let (directory, _program) = abc();
    let mut session = Session::new(directory.path(), &[], (80, 24), "true");
    session.see("4 calls of 4 functions");
    session.screen.lock().unwrap().cells.clear();
    let size = window((160, 40));
    // SAFETY: the size lives as long as the call.
    unsafe { libc::ioctl(session.ours.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) };
    let text = session.wait(|text| text.lines().count() == 40 && text.contains("void B()"));
    // The source has room now.
    assert!(text.contains("abc.cpp:1"), "{text}");
    session.press("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn where_nothing_can_be_shown_it_names_what_can() {
    let (directory, _program) = abc();
    heddle(directory.path())
        .args(["tui"])
        .assert()
        .code(2)
        .stderr(predicates::str::contains(
            "standard output is no terminal; `heddle report`",
        ));
    let session = Session::new(directory.path(), &[], (30, 8), "true");
    let text = session.see("heddle report");
    assert!(text.contains("30 columns, 8 rows"), "{text}");
    assert_eq!(session.end().code(), Some(2));
    // A trace that is not there.
    let session = Session::new(directory.path(), &["no.trace"], (80, 24), "true");
    session.see("no.trace");
    assert_eq!(session.end().code(), Some(1));
    // A filter that leaves nothing.
    let session = Session::new(directory.path(), &["-F", "nothing_such"], (80, 24), "true");
    session.see("--filter nothing_such matches no function");
    assert_eq!(session.end().code(), Some(2));
}
