//! Compiles the recorder's readers (trace/) into this crate, for the target `recorder`.

use std::env;
use std::path::Path;

/// Those that read what others may have written, and what they call.
const SOURCES: [&str; 10] = [
    "arch/x86_64_code.cpp",
    "build_id.cpp",
    "environment.cpp",
    "load.cpp",
    "note.cpp",
    "plan.cpp",
    "proc_text.cpp",
    "seccomp_filter.cpp",
    "sys.cpp",
    "unrecorded.cpp",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() != Ok("x86_64") {
        return; // there is no recorder
    }
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../trace");
    println!("cargo::rerun-if-changed={}", trace.display());
    let compiled = |name: &str| {
        let mut build = cc::Build::new();
        build.cpp(true).std("gnu++20").opt_level(2);
        build.flag("-fno-exceptions").flag("-fno-rtti");
        println!("cargo::rerun-if-changed=src/{name}.cpp");
        build.file(format!("src/{name}.cpp"));
        build
    };
    let mut recorder = compiled("recorder");
    recorder.files(SOURCES.map(|source| trace.join(source)));
    // What the language leaves undefined ends the process, as reading what is not there does.
    recorder
        .flag("-fsanitize=undefined")
        .flag("-fsanitize-undefined-trap-on-error");
    if env::var_os("CARGO_FEATURE_GUIDED").is_some() {
        recorder.flag("-fsanitize-coverage=trace-pc,trace-cmp");
        compiled("edges").compile("edges");
        println!("cargo::rustc-link-arg-bins=-Wl,--wrap=__sanitizer_cov_trace_pc");
    }
    recorder.compile("recorder");
}
