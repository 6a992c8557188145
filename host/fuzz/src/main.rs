//! libFuzzer with one of the targets, which `HEDDLE_FUZZ_TARGET` names: see `tests/fuzz`.

#![no_main]

use heddle_fuzz::{TARGETS, Target};
use std::sync::LazyLock;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("HEDDLE_FUZZ_TARGET").unwrap_or_default();
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let names = names.join(", ");
    Target::named(&name)
        .unwrap_or_else(|| panic!("HEDDLE_FUZZ_TARGET={name} names no target: there are {names}"))
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| TARGET.run(input));
