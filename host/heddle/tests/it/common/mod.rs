//! Traces written by tests, and the command that reads them.

use assert_cmd::Command;
use heddle_trace_file::write::{ProcessWriter, ThreadWriter, TraceWriter};
use std::fs;
use std::path::{Path, PathBuf};

/// The command, in this directory.
pub fn heddle(directory: &Path) -> Command {
    let mut command = Command::cargo_bin("heddle").unwrap();
    command
        .current_dir(directory)
        .env_remove("HEDDLE_LIB")
        .env_remove("LD_PRELOAD")
        .env("NO_COLOR", "1");
    command
}

/// What a program prints that must succeed.
pub fn run(program: &str, arguments: &[&str]) -> String {
    let output = std::process::Command::new(program)
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// What a command prints as JSON, a value a line.
pub fn json_lines(text: &str) -> Vec<serde_json::Value> {
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

/// The beginning of a program with coroutines.
pub const TASK: &str = r"
#include <coroutine>
struct task {
  struct promise_type {
    task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};
";

/// A program that was built where the test runs.
pub struct Program {
    pub path: PathBuf,
    /// What `nm` prints of it.
    symbols: String,
}

pub const BIAS: u64 = 0x5555_0000_0000;
/// Where the traces say that libc is; not where the program is modulo 4 GiB, so that short records
/// do.
pub const LIBC: u64 = 0x7f00_8000_0000;

/// The build id of every program here. Without one, a warning says that the traces are older.
pub const BUILD_ID: &str = "5eed";

impl Program {
    /// Compiles `source` as the program `name` there.
    pub fn compile(directory: &Path, name: &str, source: &str, flags: &[&str]) -> Self {
        let path = directory.join(name);
        let file = path.with_extension("cpp");
        fs::write(&file, source).unwrap();
        let [from, to] = [&file, &path].map(|path| path.to_str().unwrap());
        let build_id = format!("-Wl,--build-id=0x{BUILD_ID}");
        run("g++", &[flags, &[from, "-o", to, &build_id]].concat());
        let symbols = run("nm", &[to]);
        Program { path, symbols }
    }

    /// A program of the source document's shape.
    pub fn build(directory: &Path) -> Self {
        let source = "void C() {}\nvoid B() { C(); }\nvoid A() { B(); }\nint main() { A(); }\n";
        Self::compile(directory, "abc", source, &["-O0"])
    }

    /// A program of coroutines, with hooks: `source` behind [`TASK`].
    pub fn of_tasks(directory: &Path, source: &str, flags: &[&str]) -> Self {
        let hooks = ["-std=c++20", "-finstrument-functions"];
        let source = format!("{TASK}{source}");
        Self::compile(directory, "app", &source, &[&hooks, flags].concat())
    }

    pub fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }

    /// Where the symbol that ends so is in the file.
    pub fn place(&self, symbol: &str) -> u64 {
        let mut lines = self.symbols.lines();
        let line = lines.find(|line| line.ends_with(symbol)).unwrap();
        u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
    }

    /// The same of several.
    pub fn places<const N: usize>(&self, symbols: [&str; N]) -> [u64; N] {
        symbols.map(|symbol| self.place(symbol))
    }

    /// Where the call in one function of another returns to, the first one. The linker puts code
    /// into the file where it is in memory.
    pub fn return_address(&self, function: u64, callee: u64) -> u64 {
        const CALL: u8 = 0xe8;
        let bytes = fs::read(&self.path).unwrap();
        let mut ends = (function + 5)..(function + 0x1000);
        let returns = |&end: &u64| {
            let call = &bytes[end as usize - 5..end as usize];
            let distance = i32::from_le_bytes(*call.last_chunk().unwrap());
            call[0] == CALL && end.wrapping_add_signed(distance.into()) == callee
        };
        ends.find(returns).unwrap()
    }

    /// Begins a trace of one process of the program, which is loaded where its file says.
    pub fn process(&self, trace: &Path) -> ProcessWriter {
        let trace = TraceWriter::create(trace).unwrap();
        let mut process = trace.process(4711, 1, self.path()).unwrap();
        process.module(0, 0x100_0000, 0, Some(BUILD_ID), self.path());
        process
    }

    /// Where a symbol is in the traces that [`Program::trace`] writes.
    pub fn at(&self, symbol: &str) -> u64 {
        BIAS + self.place(&format!(" {symbol}"))
    }

    /// Writes `heddle.trace` beside the program.
    pub fn trace(&self, write: impl FnOnce(&mut ThreadWriter, &dyn Fn(&str) -> u64)) {
        let trace = TraceWriter::create(&self.path.with_file_name("heddle.trace")).unwrap();
        let mut process = trace.process(4711, 1, self.path()).unwrap();
        process.module(BIAS, BIAS + 0x10_0000, BIAS, Some(BUILD_ID), self.path());
        process.module(LIBC, LIBC + 0x10_0000, LIBC, None, "[libc.so.6]");
        let mut thread = process.thread(4711, "abc");
        write(&mut thread, &|symbol| self.at(symbol));
        thread.finish().unwrap();
        process.finish().unwrap();
    }

    /// main → A → B → C, in 32 µs, 2 s, 5 s and 7 s.
    pub fn abc(&self) {
        let (from_libc, s) = (LIBC + 0x29d68, 1_000_000_000);
        self.trace(|thread, at| {
            let (main, a, b, c) = (at("main"), at("_Z1Av"), at("_Z1Bv"), at("_Z1Cv"));
            thread
                .enter(10_000, main, from_libc, 900)
                .enter(32_000, a, main + 5, 800)
                .enter(2 * s, b, a + 5, 700)
                .enter(7 * s, c, b + 5, 600);
            thread
                .exit(14 * s, c, b + 5, 600)
                .exit(14 * s + 48_000, b, a + 5, 700)
                .exit(14 * s + 67_000, a, main + 5, 800);
            thread.exit(14 * s + 80_000, main, from_libc, 900);
        });
    }
}

/// A directory with the program and its trace.
pub fn abc() -> (tempfile::TempDir, Program) {
    let directory = tempfile::tempdir().unwrap();
    let program = Program::build(directory.path());
    program.abc();
    (directory, program)
}

/// A library that can be preloaded and records nothing.
pub fn idle_library(directory: &Path) -> PathBuf {
    let (source, library) = (directory.join("idle.c"), directory.join("idle.so"));
    fs::write(&source, "int idle;\n").unwrap();
    run(
        "gcc",
        &[
            "-shared",
            "-fPIC",
            source.to_str().unwrap(),
            "-o",
            library.to_str().unwrap(),
        ],
    );
    library
}

/// Has a thread of a trace not end: its number is followed by whether it ended.
pub fn not_ended(events: &Path, tid: u32) {
    let mut bytes = fs::read(events).unwrap();
    let ended = [tid.to_le_bytes(), 1u32.to_le_bytes()].concat();
    let at = bytes.windows(8).position(|bytes| bytes == ended).unwrap();
    bytes[at + 4] = 0;
    fs::write(events, bytes).unwrap();
}
