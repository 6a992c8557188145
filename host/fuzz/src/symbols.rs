//! Files of programs and libraries: their tables of sections and symbols, code and DWARF.

use crate::{scratch, write};
use heddle_symbols::{Images, SymbolTable, ValuesWanted};
use heddle_trace_file::{Addr, Module, Nanos};

/// So many functions and variables of an input are asked about.
const MOST_FUNCTIONS: usize = 64;

/// The library has room for so many words of values in a record (trace/values.hpp).
const MOST_WORDS: usize = 77;

/// Where the module is mapped.
const BIAS: u64 = 0x5555_0000_0000;

/// Asks all that a command may ask of the file that a module was mapped from.
pub fn read(input: &[u8]) {
    let directory = scratch();
    let path = directory.path().join("module");
    write(&path, input);
    let Ok(table) = SymbolTable::parse(input) else {
        return;
    };
    let module = Module {
        path,
        start: Addr(BIAS),
        end: Addr(BIAS + (1 << 30)),
        text: Addr(BIAS)..Addr(BIAS + (1 << 30)),
        bias: BIAS,
        build_id: table.build_id().map(str::to_owned),
        loaded: Nanos(0),
        loaded_at: None,
        unloaded: None,
    };
    let mut images = Images::new();
    images.may_call_hooks(&module);
    in_order(images.recipes(&module).into_iter().map(|(range, _)| range));
    in_order(
        images
            .frame_code(&module)
            .into_iter()
            .map(|(range, _)| range),
    );
    let all = ValuesWanted {
        arguments: true,
        result: true,
    };
    let values = images.values(&module, &mut |_| all);
    in_order(values.iter().map(|site| site.address..site.address));
    for site in &values {
        let words = site.steps.iter().map(|step| step.most_words());
        assert!(words.sum::<usize>() <= MOST_WORDS, "a record without room");
    }
    images.signal_returns(&module).all();
    images.tail_jumps(&module);
    let _ = images.enter_calls(&module).places();
    let functions: Vec<u64> = table
        .stretches()
        .map(|(start, ..)| start)
        .take(MOST_FUNCTIONS)
        .collect();
    for &function in &functions {
        let address = Addr(function.wrapping_add(BIAS));
        images.line(&module, address);
        for index in [2, 4] {
            images.suspension(&module, address, index);
        }
    }
    let variables = SymbolTable::variables(input).unwrap_or_default();
    let variables = variables.stretches().take(MOST_FUNCTIONS);
    let objects: Vec<(u64, u64)> = variables
        .flat_map(|(at, ..)| {
            [
                (at, 4),
                (at, 40),
                (at.wrapping_add(8), 4),
                (at.wrapping_add(40), 40),
            ]
        })
        .collect();
    for &(address, bytes) in &objects {
        let address = Addr(address.wrapping_add(BIAS));
        images.variable(&module, address, bytes);
    }
    let text = images.excerpt(&module, functions.iter().copied(), objects);
    let packed = [heddle_trace_file::ModuleSymbols {
        path: module.path.to_string_lossy().into_owned(),
        build_id: module.build_id.clone(),
        text: text.unwrap_or_default(),
    }];
    carried(&packed, &module, &table, &functions);
    for warning in images.take_warnings() {
        assert!(!warning.to_string().is_empty());
    }
}

/// What a packed trace carries is what the file says.
fn carried(
    packed: &[heddle_trace_file::ModuleSymbols],
    module: &Module,
    table: &SymbolTable,
    functions: &[u64],
) {
    let mut images = Images::packed(packed);
    let Some(carried) = images.table(module) else {
        return;
    };
    for &function in functions {
        let name = table.find(function);
        if name.is_some_and(|name| !name.contains(['\n', '\r'])) {
            assert_eq!(carried.find(function), name, "at {function:x}");
        }
        images.line(module, Addr(function.wrapping_add(BIAS)));
    }
}

/// That ranges are in order and do not overlap.
fn in_order(ranges: impl Iterator<Item = std::ops::Range<u64>>) {
    let mut behind = 0;
    for range in ranges {
        assert!(
            range.start >= behind && range.end >= range.start,
            "{range:x?} behind {behind:x}"
        );
        behind = range.end;
    }
}
