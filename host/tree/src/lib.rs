//! Expected call trees: the format of `docs/expected-tree.md`, and how a program's calls compare
//! with one.
//!
//! ```
//! use heddle_tree::{Call, Expected, Process, Strand, compare, has_differences};
//!
//! let expected = Expected::parse("thread app\n  main\n    step x2..\n").unwrap();
//! let mut main = Call::new("main()", "main");
//! main.children.push(Call { calls: 3, ..Call::new("step(int)", "step") });
//! let strand = Strand { name: "app".into(), calls: vec![main], ..Strand::default() };
//! let got = [Process { name: "app".into(), strands: vec![strand] }];
//! assert!(!has_differences(&compare(&expected, &got)));
//! ```

mod actual;
mod compare;
mod diff;
mod expected;
mod glob;
mod hints;
mod line;
mod loops;
mod parse;
mod print;
mod rows;
mod siblings;

pub use actual::{Call, Foreign, Process, Strand, StrandKind};
pub use compare::compare;
pub use diff::{Line, Mark, context, has_differences};
pub use expected::{
    CallPattern, Count, Expected, Item, LoopPattern, Pattern, ProcessPattern, StrandPattern, Times,
};
pub use glob::glob;
pub use hints::{hints, nearest};
pub use parse::ParseError;
pub use print::print;
pub use rows::fold_rows;

/// A number of ns, as `10ms`, `1.5s`, `200us`, `200µs` or `30ns`.
pub(crate) fn duration(text: &str) -> Option<u64> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale: u64 = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    // Times beyond 2⁵³ ns (104 days) have no use; a larger number is cut to the largest.
    Some((number * scale as f64).round() as u64)
}
