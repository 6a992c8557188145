//! A part of a trace's time.

use heddle_trace_file::Nanos;

/// From one time of the trace, included, to another, excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    /// The first time in it.
    pub from: Nanos,
    /// `u64::MAX`: the trace's end.
    pub to: Nanos,
}

/// Units in ns.
const UNITS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
];

impl TimeRange {
    /// Reads `1.5s..2s`, where one of the ends may be left out.
    ///
    /// # Errors
    /// It is none; in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (from, to) = text
            .split_once("..")
            .ok_or("expected FROM..TO: 1.5s..2s, 300ms.. or ..2s")?;
        if from.is_empty() && to.is_empty() {
            return Err("it has no end: write 300ms.. or ..2s".to_owned());
        }
        let time = |text: &str, none| match text {
            "" => Ok(none),
            _ => time(text).ok_or_else(|| {
                format!("`{text}` is no time: write it as 1.5s, 20ms, 300us or 40ns")
            }),
        };
        let range = TimeRange {
            from: time(from.trim(), Nanos(0))?,
            to: time(to.trim(), Nanos(u64::MAX))?,
        };
        match range.from < range.to {
            true => Ok(range),
            false => Err("it ends before it begins".to_owned()),
        }
    }

    /// The two ends, as [`TimeRange::parse`] reads them.
    pub fn said(self) -> String {
        let end = |time: Nanos, none| match time {
            time if time == none => String::new(),
            time => said(time),
        };
        format!(
            "{}..{}",
            end(self.from, Nanos(0)),
            end(self.to, Nanos(u64::MAX))
        )
    }

    /// Whether an event at this time lies in it.
    pub fn has(self, time: Nanos) -> bool {
        self.from <= time && time < self.to
    }

    /// The nearest time to this one that is not outside.
    pub fn nearest(self, time: Nanos) -> Nanos {
        time.clamp(self.from, self.to)
    }

    /// How much of the time between these two is outside, in ns.
    pub fn outside(self, begin: Nanos, end: Nanos) -> u64 {
        (end - begin).0 - (self.nearest(end) - self.nearest(begin)).0
    }
}

/// A time in its largest unit of which it has one: `1.5s`, `20ms`.
pub fn said(time: Nanos) -> String {
    let fits = |unit: &&(&str, u64)| unit.0 != "min" && unit.0 != "us" && time.0 >= unit.1;
    let &(unit, nanos) = UNITS.iter().rev().find(fits).unwrap_or(&UNITS[0]);
    let (whole, rest) = (time.0 / nanos, time.0 % nanos);
    let digits = nanos.ilog10() as usize;
    let number = format!("{whole}.{rest:0digits$}");
    format!(
        "{}{unit}",
        number.trim_end_matches('0').trim_end_matches('.')
    )
}

/// `1.5s`, `20ms`; a number alone means seconds, as `heddle replay` prints them. More digits than a
/// nanosecond has are cut off.
fn time(text: &str) -> Option<Nanos> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = match unit.trim() {
        "" => "s",
        unit => unit,
    };
    let (_, unit) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !digits(fraction) {
        return None;
    }
    let whole: u64 = match whole {
        "" => 0,
        whole => whole.parse().ok()?,
    };
    let (mut part, mut digit) = (0, unit);
    for byte in fraction.bytes() {
        digit /= 10;
        part += digit * u64::from(byte - b'0');
    }
    Some(Nanos(whole.checked_mul(unit)?.checked_add(part)?))
}

#[cfg(test)]
mod tests {
    use super::TimeRange;
    use heddle_trace_file::Nanos;

    #[test]
    fn ends_may_be_open_and_have_units_and_fractions() {
        let end = u64::MAX;
        for (text, from, to) in [
            ("1.5s..2s", 1_500_000_000, 2_000_000_000),
            ("300ms..", 300_000_000, end),
            ("..2", 0, 2_000_000_000),
            ("0.000148325..0.021784419", 148_325, 21_784_419),
            (" 1 us .. 2.25µs", 1_000, 2_250),
            (".5min..31s", 30_000_000_000, 31_000_000_000),
            ("7.9ns..8ns", 7, 8),
        ] {
            let expected = TimeRange {
                from: Nanos(from),
                to: Nanos(to),
            };
            assert_eq!(TimeRange::parse(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "1s",
            "..",
            "2s..1s",
            "1s..1s",
            "x..",
            "1h..2h",
            "1..2..3",
            "-1s..",
            "..s",
            ".s..",
            "1.2.3s..",
            "99999999999999999999s..",
        ] {
            assert!(TimeRange::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_lies_outside_is_measured() {
        let range = TimeRange::parse("10ns..20ns").unwrap();
        for (begin, end, outside) in [
            (0, 5, 5),
            (5, 12, 5),
            (12, 18, 0),
            (18, 25, 5),
            (5, 25, 10),
            (25, 26, 1),
            (26, 25, 0),
        ] {
            let measured = range.outside(Nanos(begin), Nanos(end));
            assert_eq!(measured, outside, "{begin} to {end}");
        }
    }
}
