//! What became of a process's marks.

use std::fmt;

/// The most differences of one kind that are told in full.
const TOLD: usize = 5;

/// What became of the marks of a process.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Marks compared.
    pub marks: u64,
    /// Which are not right behind the enter of the function that they name: the program is wrong, not the decoder.
    pub misplaced: u64,
    details: Vec<String>,
}

impl Verdict {
    /// A mark that is not right behind the enter of its innermost call.
    pub fn misplaced(&mut self, what: impl fmt::Display) {
        self.misplaced += 1;
        self.tell(self.misplaced, format!("misplaced: {what}"));
    }

    /// Marks that are wrong in some way.
    pub fn wrong(&self) -> u64 {
        self.misplaced
    }

    fn tell(&mut self, so_far: u64, detail: String) {
        if so_far <= TOLD as u64 || self.details.len() < TOLD {
            self.details.push(detail);
        }
    }
}

/// One line, then a line for each difference told.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} marks: {} misplaced", self.marks, self.misplaced)?;
        self.details
            .iter()
            .try_for_each(|detail| write!(f, "\n  {detail}"))
    }
}
