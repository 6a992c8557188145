use super::range::Range;

/// The numbers in what a source prints: one in `20×`, two in `97-99 %`; `1/70` is a seventieth.
pub(super) struct Printed(Vec<f64>);

impl Printed {
    /// Those that there are.
    pub fn read(text: &str) -> Self {
        let part = |c: char| c.is_ascii_digit() || ".,/".contains(c);
        let words = text.split(|c: char| !part(c));
        let words = words.map(|word| word.trim_matches(|c: char| !c.is_ascii_digit()));
        Self(words.filter_map(number).collect())
    }

    /// The number, if there is no other.
    pub fn single(text: &str) -> Option<f64> {
        match Self::read(text).0[..] {
            [number] => Some(number),
            _ => None,
        }
    }

    /// Whether there is a number, and a bound on a ratio holds each. Some percent of another's time
    /// are that share of it; some percent more, or less, are so much beside 1.
    pub fn within(&self, bound: &Range, percent: bool) -> bool {
        let meant = |number: f64| match percent {
            true => vec![number / 100.0, 1.0 + number / 100.0, 1.0 - number / 100.0],
            false => vec![number],
        };
        let inside = |number: &f64| meant(*number).into_iter().any(|it| bound.contains(it));
        !self.0.is_empty() && self.0.iter().all(inside)
    }
}

/// A number with groups of three digits, or a quotient of two.
fn number(word: &str) -> Option<f64> {
    let whole = |word: &str| word.replace(',', "").parse::<f64>().ok();
    let value = match word.split_once('/') {
        Some((above, below)) => whole(above)? / whole(below)?,
        None => whole(word)?,
    };
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_figure_are_found() {
        for (text, numbers) in [
            ("52.6 %", &[52.6][..]),
            ("20.0", &[20.0]),
            ("97-99 %", &[97.0, 99.0]),
            ("90–120%", &[90.0, 120.0]),
            ("1/70", &[1.0 / 70.0]),
            ("about 10,000 times.", &[10_000.0]),
            ("20×", &[20.0]),
            ("3-5 µs", &[3.0, 5.0]),
            ("1/0", &[]),
            ("1/2/3", &[]),
            ("…, ./", &[]),
            ("dear", &[]),
            ("", &[]),
        ] {
            assert_eq!(Printed::read(text).0, numbers, "{text}");
            assert_eq!(
                Printed::single(text).is_some(),
                numbers.len() == 1,
                "{text}"
            );
        }
    }

    #[test]
    fn a_figure_is_in_a_bound_where_one_of_its_meanings_is() {
        let bound = |min, max| Range::new(Some(min), Some(max)).unwrap();
        for (text, percent, min, max, inside) in [
            ("17 %", true, 1.02, 1.32, true),
            ("17 %", true, 0.02, 0.32, true),
            ("17 %", true, 0.68, 0.98, true),
            ("17 %", true, 1.2, 1.5, false),
            ("97-99 %", true, 0.9, 1.0, true),
            ("97-99 %", true, 0.9, 0.98, false),
            ("70", false, 46.7, 105.0, true),
            ("70", false, 0.67, 1.5, false),
            ("", false, 0.0, 9.0, false),
        ] {
            let within = Printed::read(text).within(&bound(min, max), percent);
            assert_eq!(within, inside, "{text} in {min} … {max}");
        }
    }
}
