//! Whoever wants no single calls is told the same of strands as whoever does.

use crate::log::{Log, Told};
use heddle_strands::{Sink, Strand};

/// Keeps what it is told of the ends of strands, and wants nothing else.
#[derive(Default)]
pub struct Ends(pub Log);

impl Sink for Ends {
    const LIVES: bool = false;

    fn ended(&mut self, strand: &Strand) {
        self.0.ended(strand);
    }
}

/// What one is told of ends.
pub fn ends(log: &[Told]) -> Vec<&Told> {
    let of_end = |told: &&Told| matches!(told, Told::Strand("ended", ..) | Told::Unsure(_));
    log.iter().filter(of_end).collect()
}
