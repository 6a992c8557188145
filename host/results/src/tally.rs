use crate::{ClaimReport, Kind, NEEDS_FULL, Statement, Verdict};

/// How many statements, questions or goals came out how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    kind: Kind,
    /// In the order of [`Verdict::ALL`].
    counts: [usize; 4],
    /// Of those that were skipped, the ones that only `--full` can judge.
    needs_full: usize,
}

impl Tally {
    /// Of statements, each of which counts once, whatever its parts.
    pub fn of_statements<'a>(statements: impl IntoIterator<Item = &'a Statement<'a>>) -> Self {
        let mut tally = Self::new(Kind::Claim);
        for statement in statements {
            tally.add(statement.verdict(), statement.needs_full());
        }
        tally
    }

    /// Of the claims that are of this kind.
    pub fn of_claims<'a>(kind: Kind, claims: impl IntoIterator<Item = &'a ClaimReport>) -> Self {
        let mut tally = Self::new(kind);
        for claim in claims.into_iter().filter(|claim| claim.kind == kind) {
            tally.add(claim.verdict, claim.note.starts_with(NEEDS_FULL));
        }
        tally
    }

    fn new(kind: Kind) -> Self {
        Self {
            kind,
            counts: [0; 4],
            needs_full: 0,
        }
    }

    fn add(&mut self, verdict: Verdict, needs_full: bool) {
        for (count, other) in self.counts.iter_mut().zip(Verdict::ALL) {
            *count += usize::from(verdict == other);
        }
        self.needs_full += usize::from(verdict == Verdict::Skipped && needs_full);
    }

    /// How many there are.
    pub fn all(&self) -> usize {
        self.counts.iter().sum()
    }

    /// How many have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let counts = self.counts.iter().zip(Verdict::ALL);
        counts
            .filter(|(_, other)| *other == verdict)
            .map(|(count, _)| count)
            .sum()
    }

    /// `27 of 45 reproduced`, `9 not`, `6 inconclusive`, `2 need --full`, `1 skipped`; of questions
    /// `12 yes`, `5 no` … Those of which there are none are left out, but for the first of claims.
    /// `noun` says what each is: `27 of 45 statements reproduced`.
    pub fn phrases(&self, noun: &str) -> Vec<String> {
        let [reproduced, not, open, skipped] = Verdict::ALL.map(|verdict| {
            let word = verdict.word(self.kind);
            (self.count(verdict), word)
        });
        let mut phrases = Vec::new();
        if self.kind == Kind::Claim {
            let all = self.all();
            let noun = match (noun, all) {
                ("", _) => String::new(),
                (noun, 1) => format!("{noun} "),
                (noun, _) => format!("{noun}s "),
            };
            phrases.push(format!(
                "{} of {} {noun}{}",
                reproduced.0,
                self.all(),
                reproduced.1
            ));
        } else if reproduced.0 > 0 {
            phrases.push(format!("{} {}", reproduced.0, reproduced.1));
        }
        // After `27 of 45 reproduced`, `9 not` says enough.
        let short = self.kind != Kind::Question && !phrases.is_empty();
        let not = (not.0, if short { "not" } else { not.1 });
        let full = match self.needs_full {
            1 => "needs --full",
            _ => "need --full",
        };
        let rest = [
            not,
            open,
            (self.needs_full, full),
            (skipped.0 - self.needs_full, skipped.1),
        ];
        let rest = rest.into_iter().filter(|(count, _)| *count > 0);
        phrases.extend(rest.map(|(count, word)| format!("{count} {word}")));
        phrases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_says_how_many_of_how_many_and_leaves_out_what_there_is_not() {
        let tally = |kind, counts, needs_full| {
            Tally {
                kind,
                counts,
                needs_full,
            }
            .phrases("statement")
            .join(", ")
        };
        assert_eq!(
            tally(Kind::Claim, [27, 9, 6, 3], 2),
            "27 of 45 statements reproduced, 9 not, 6 inconclusive, 2 need --full, 1 skipped"
        );
        assert_eq!(
            tally(Kind::Claim, [0, 1, 0, 1], 1),
            "0 of 2 statements reproduced, 1 not, 1 needs --full"
        );
        assert_eq!(
            tally(Kind::Question, [0, 1, 2, 1], 0),
            "1 no, 2 not settled, 1 skipped"
        );
        assert_eq!(
            tally(Kind::Goal, [1, 1, 1, 0], 0),
            "1 reached, 1 not, 1 inconclusive"
        );
        assert_eq!(tally(Kind::Goal, [0, 1, 0, 0], 0), "1 not reached");
    }
}
