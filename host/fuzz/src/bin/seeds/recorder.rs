//! What the recorder's readers get: each input begins with the reader's letter.

use super::Corpus;
use std::fs;

/// An input for each of them, and more where there are several ways.
pub fn write(corpus: &Corpus) {
    let add = |name: &str, parts: &[&[u8]]| corpus.add(name, &parts.concat());
    let (one, two) = (
        plan(&[(0x40_1000, 64)]),
        plan(&[(0x40_1000, 8), (0x40_2000, 64)]),
    );
    for flags in 0..4_u8 {
        let length = (one.len() as u16).to_le_bytes();
        add(
            &format!("plans-{flags}"),
            &[b"p", &[flags], &length, &one, &two],
        );
    }
    let program = fs::read("/proc/self/exe").unwrap_or_default();
    add("program", &[b"s", &program[..1024]]);
    let mut fixed = program[..1024].to_vec();
    let segments = 64..64 + 56 * usize::from(fixed[56]);
    fixed[segments]
        .chunks_mut(56)
        .for_each(|segment| segment[0] = 1);
    add("program-static", &[b"s", &fixed]);
    add("script", &[b"s", b"#! /bin/sh -e\necho\n"]);
    add("filter", &[b"f", &[0; 28], &filter()]);
    for (name, code) in CODE {
        for place in [3, 16, 17] {
            add(
                &format!("code-{name}-{place}"),
                &[b"c", &[place, 0xe8], code],
            );
        }
    }
    add("note", &[b"n", &[1], &words(&[0, 36]), &[4], &note()]);
    let stat = fs::read("/proc/self/stat").unwrap_or_default();
    add("stat", &[b"t", &[0; 10], &stat]);
    let maps = b"55d0c0000000-55d0c0002000 r--p 00000000 08:01 1234 /usr/bin/true\n\
        7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]\n";
    add(
        "maps",
        &[b"t", &words(&[0x7ffc_0000_1000]), &[200, 0], maps],
    );
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A plan (docs/trace-format.md, Plans) with a module for each start, and a function of each size.
fn plan(modules: &[(u64, u32)]) -> Vec<u8> {
    let count = modules.len() as u64;
    let mut plan = b"HEDLPLAN".to_vec();
    plan.extend(words(&[count << 32 | 3, 1, 0]));
    for (number, &(start, _)) in (0..).zip(modules) {
        plan.extend(words(&[start, start + 0x1000, number, 1]));
    }
    for &(start, size) in modules {
        // A function that matches, where a coroutine's frame is, and one that destroys it.
        plan.extend(words(&[start, 0x0010_0131 << 32 | u64::from(size)]));
    }
    plan
}

/// Allows what is not one system call, after some arithmetic.
fn filter() -> Vec<u8> {
    const STEPS: [(u16, u8, u8, u32); 9] = [
        (0x20, 0, 0, 4),           // load the architecture
        (0x15, 0, 5, 0xc000_003e), // go on if it is this one
        (0x20, 0, 0, 0),           // load the number
        (0x54, 0, 0, 0x3fff_ffff), // and
        (0x02, 0, 0, 1),           // store
        (0x61, 0, 0, 1),           // load it into the other register
        (0x25, 1, 0, 300),         // jump if it is greater
        (0x06, 0, 0, 0x7fff_0000), // allow
        (0x06, 0, 0, 0x8000_0000), // kill
    ];
    let step = |&(code, yes, no, operand): &(u16, u8, u8, u32)| {
        let mut bytes = code.to_le_bytes().to_vec();
        bytes.extend([yes, no]);
        bytes.extend(operand.to_le_bytes());
        bytes
    };
    STEPS.iter().flat_map(step).collect()
}

/// What compilers put behind a hook's call where a coroutine's function begins.
const CODE: [(&str, &[u8]); 4] = [
    ("word", b"\x48\x8b\x45\xe8\x0f\xb7\x40\x20"),
    ("register", b"\x48\x89\xdf\x31\xc0\x66\x83\x7b\x20\x02"),
    (
        "push",
        b"\x55\x48\x89\xe5\x48\x83\xec\x20\x48\x8b\x44\x24\x10\x80\x78\x21\x00",
    ),
    (
        "canary",
        b"\x64\x48\x8b\x04\x25\x28\x00\x00\x00\x48\x89\x45\xf8\x48\x8b\x03",
    ),
];

/// A GNU build id of 20 bytes.
fn note() -> Vec<u8> {
    let mut note = Vec::new();
    for word in [4_u32, 20, 3] {
        note.extend(word.to_le_bytes());
    }
    note.extend(b"GNU\0");
    note.extend([0xab; 20]);
    note
}
