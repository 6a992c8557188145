//! A trace in memory.

use heddle_trace_file::Why;
use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

const PAGE: usize = 4096;
pub const OWN_EVENTS: &str = "42/events-1";

/// The files of a trace, by their paths in it.
#[derive(Clone)]
pub struct Input {
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Input {
    /// What the fuzzer begins with, made at `path`: collected and not, killed in between, with
    /// every record there is.
    pub fn seeds(path: &Path) -> Vec<Input> {
        let states: [Option<&[u32]>; 5] =
            [None, Some(&[]), Some(&[2]), Some(&[2, 3]), Some(&[4, 0])];
        let mut seeds = Vec::new();
        for (number, states) in states.iter().enumerate() {
            let path = path.join(number.to_string());
            write(&path, *states, number as u64);
            seeds.push(Input::load(&path));
        }
        // Written by the thread itself.
        let mut own = seeds[2].clone();
        let events = own.files.remove("42/events");
        own.files
            .extend(events.map(|events| (OWN_EVENTS.to_owned(), events)));
        seeds.push(own);
        seeds
    }

    fn load(path: &Path) -> Self {
        let mut files = BTreeMap::new();
        for name in [
            "heddle",
            "42/process",
            "42/modules",
            "42/events",
            OWN_EVENTS,
            "42/buffer-2",
        ] {
            if let Ok(bytes) = fs::read(path.join(name)) {
                files.insert(name.to_owned(), bytes);
            }
        }
        Input { files }
    }

    /// Writes it, and nothing else, to `path`.
    pub fn store(&self, path: &Path) {
        let _ = fs::remove_dir_all(path);
        fs::create_dir_all(path.join("42")).unwrap();
        for (name, bytes) in &self.files {
            let file = fs::File::create(path.join(name)).unwrap();
            file.set_len(bytes.len() as u64).unwrap();
            // Most of a buffer is empty.
            for (page, bytes) in bytes.chunks(PAGE).enumerate() {
                if bytes.iter().any(|&byte| byte != 0) {
                    file.write_all_at(bytes, (page * PAGE) as u64).unwrap();
                }
            }
        }
    }

    /// Bytes of all files.
    pub fn size(&self) -> usize {
        self.files.values().map(Vec::len).sum()
    }
}

fn every_record(thread: &mut ThreadWriter) {
    thread
        .enter(10, 0x5555_0000_1010, 0x7fff_8000_1500, 0x7000)
        .untimed()
        .entry(0, 0x5555_0000_1020, 0x5555_0000_1015, 0x6ff8)
        .untimed()
        .leave(0, 0x6ff8)
        .preempted()
        .exit(30, 0x5555_0000_1010, 0x1500, 0x7000)
        .mark(31, 3, "here")
        .next_run()
        .gap(32, Why::Dropped, Some(5))
        .gap(33, Why::Paused, None)
        .strand_switch(34, 9)
        .strand_name(34, 9, "nine")
        .strand_waits(35, 9, "rain")
        .strand_end(36, 9)
        .capture(0x5555_0000_1010, 0x6000_0000_0010, Some(2))
        .capture(0x5555_0000_1020, 0x6000_0000_0020, None)
        .entry(37, 0x5555_0000_1020, 0x5555_0000_1015, 0x6ff0)
        .enter(1 << 40, 0x5555_0000_1010, 0x7fff_8000_1500, 0x7000)
        .wide(true)
        .exit((1 << 40) + 1, 0x1010, 0x1500, 0x7000)
        .leave((1 << 40) + 2, 0x6ff8)
        .capture(0x1010, 0x6000_0000_0030, Some(0))
        .next_run()
        .enter((1 << 40) + 3, 0x1010, 0x1500, 0x7000);
}

fn write(path: &Path, states: Option<&[u32]>, number: u64) {
    let trace = TraceWriter::create(path).unwrap();
    let mut process = trace.process(42, 1, "/bin/app").unwrap();
    process
        .module(
            0x5555_0000_1000,
            0x5555_0000_9000,
            0x5555_0000_0000,
            Some("abcd"),
            "/bin/app",
        )
        .module(0x7fff_8000_0000, 0x7fff_8010_0000, 0, None, "/lib/libc.so")
        .module_line("unload 1000035 7fff80000000")
        .module_line(
            "load 1000035 7eff80000000 7eff80100000 7eff80000000 7eff80010000 0 - /lib/other.so",
        );
    process.mode(if number == 3 { 1 << 20 } else { 0 }, 64);
    let mut stored = process.thread(42, "app");
    every_record(&mut stored);
    stored.finish().unwrap();
    let mut buffered = process.thread(43, "worker");
    every_record(&mut buffered);
    if let Some(states) = states {
        buffered.dropped(number).in_buffer(states);
    }
    buffered.finish().unwrap();
    process.finish().unwrap();
}
