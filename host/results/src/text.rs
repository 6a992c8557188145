//! Numbers as people read them: three significant digits, a unit that fits, digits in groups.
//!
//! The command and the page print the same numbers through the same functions.

mod phrase;
mod scaled;

pub use phrase::phrase;
pub use scaled::{BELOW_NOISE, Scaled, below_noise, measured, prefixes};

use std::time::Duration;

/// The space between groups of three digits: narrow, and no line break there.
const GROUP: char = '\u{202f}';

/// `1.30`, `41.2`, `412`, `12 345`: three significant digits, and no digit lost before the point.
///
/// ```
/// use heddle_results::text::number;
/// assert_eq!(number(1.2999), "1.30");
/// assert_eq!(number(0.00041239), "0.000412");
/// assert_eq!(number(999.7), "1\u{202f}000");
/// assert_eq!(number(4.2e18), "4.20e18");
/// ```
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "?".into()
        } else if value > 0.0 {
            "∞".into()
        } else {
            "−∞".into()
        };
    }
    if value == 0.0 {
        return "0".into();
    }
    // What rounding makes of the value decides how many digits follow the point: 9.999 is 10.0, not
    // 10.00.
    let magnitude = format!("{:.2e}", value.abs());
    let exponent: i32 = magnitude
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0);
    if !(-9..15).contains(&exponent) {
        return format!("{value:.2e}").replace('-', "−");
    }
    let places = usize::try_from(2 - exponent).unwrap_or(0);
    let digits = format!("{:.places$}", value.abs());
    format!("{}{}", if value < 0.0 { "−" } else { "" }, grouped(&digits))
}

/// A count: whole where it is whole, its digits in groups.
pub fn count(value: f64) -> String {
    if value.abs() < 1e15 && (value - value.round()).abs() < 1e-9 {
        let sign = if value < 0.0 { "−" } else { "" };
        return format!("{sign}{}", grouped(&format!("{:.0}", value.abs())));
    }
    number(value)
}

/// A value of a metric in the unit that suits it: `1.30 ns`, `4.12 ms`, `64.0 KB`, `3.10 M/s`,
/// `17.0 items`.
pub fn quantity(value: f64, unit: &str) -> String {
    let scale = prefixes(unit);
    if scale.is_empty() {
        return match unit {
            "" => number(value),
            other => format!("{} {other}", number(value)),
        };
    }
    // 999.96 ns is 1.00 µs, not 1 000 ns.
    let shown = value.abs() * 1.0005;
    let suits = |(least, _): &&(f64, &str)| shown >= *least;
    let (divisor, name) = scale
        .iter()
        .find(suits)
        .or(scale.last())
        .copied()
        .unwrap_or((1.0, unit));
    let text = number(value / divisor);
    if name.starts_with('/') {
        format!("{text}{name}")
    } else {
        format!("{text} {name}")
    }
}

/// `1.80×`.
pub fn times(value: f64) -> String {
    format!("{}×", number(value))
}

/// A time that the user waits: `1 h 05 min`, `1 min 20 s`, `8 s`; rounded up, as a promise.
///
/// ```
/// use heddle_results::text::wait;
/// use std::time::Duration;
/// assert_eq!(wait(Duration::from_millis(200)), "1 s");
/// assert_eq!(wait(Duration::from_secs(80)), "1 min 20 s");
/// assert_eq!(wait(Duration::from_secs(3900)), "1 h 05 min");
/// ```
pub fn wait(time: Duration) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours, minutes, _) => format!("{hours} h {minutes:02} min"),
    }
}

/// The unit that a name carries at its end: `user_ns` is in `ns`, `peak_rss_bytes` in `bytes`; a
/// plain count has none.
pub fn unit_of(name: &str) -> &'static str {
    if name.ends_with("_ns") {
        "ns"
    } else if name.ends_with("_bytes") {
        "bytes"
    } else if name.ends_with("_per_s") {
        "per_s"
    } else {
        ""
    }
}

/// `398–410 ns`: the unit once where both ends have the same.
///
/// ```
/// use heddle_results::text::interval;
/// assert_eq!(interval(398.0, 410.0, "ns"), "398–410 ns");
/// assert_eq!(interval(998.0, 1_020.0, "ns"), "998 ns–1.02 µs");
/// assert_eq!(interval(-0.5, 2.0, "ns"), "−0.500 to 2.00 ns");
/// ```
pub fn interval(low: f64, high: f64, unit: &str) -> String {
    let (low, high) = (quantity(low, unit), quantity(high, unit));
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, a)), Some((_, b))) if a == b => range(number, &high),
        _ => range(&low, &high),
    }
}

/// Both ends of a range: with a dash, or, where one end is negative and a dash would look like
/// another minus, in words.
///
/// ```
/// use heddle_results::text::range;
/// assert_eq!(range("1.40", "1.50"), "1.40–1.50");
/// assert_eq!(range("−0.9", "0.9"), "−0.9 to 0.9");
/// ```
pub fn range(low: &str, high: &str) -> String {
    if [low, high].iter().any(|end| end.starts_with('−')) {
        format!("{low} to {high}")
    } else {
        format!("{low}–{high}")
    }
}

/// A number whose digits are given, with a typographic minus.
pub fn minus(digits: &str) -> String {
    digits.replace('-', "−")
}

/// A counter's name in words, without its unit: `peak_rss_bytes` → `peak rss`.
pub fn words(name: &str) -> String {
    let bare = ["_ns", "_bytes"]
        .iter()
        .find_map(|unit| name.strip_suffix(unit))
        .unwrap_or(name);
    let words = bare.replace('_', " ");
    // P as in P and V.
    words.replace("p operations", "P operations")
}

/// A counter's value, in the unit that its name carries.
pub fn counter(name: &str, value: f64) -> String {
    match unit_of(name) {
        "" => count(value),
        // A time or a size cannot be below zero: it was too small to be told from nothing.
        _ if value < 0.0 => BELOW_NOISE.to_owned(),
        unit => quantity(value, unit),
    }
}

/// Puts the digits before the point in groups of three.
fn grouped(digits: &str) -> String {
    let (whole, fraction) = digits
        .split_once('.')
        .map_or((digits, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut text = String::with_capacity(digits.len() + 8);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            text.push(GROUP);
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_get_the_unit_that_suits_them() {
        for (value, unit, text) in [
            (0.0, "ns", "0 ns"),
            (1.3, "ns", "1.30 ns"),
            (999.96, "ns", "1.00 µs"),
            (41_200.0, "ns", "41.2 µs"),
            (2.5e9, "ns", "2.50 s"),
            (7.2e12, "ns", "7\u{202f}200 s"),
            (0.05, "ns", "0.0500 ns"),
            (64_000.0, "bytes", "64.0 KB"),
            (3.1e6, "per_s", "3.10 M/s"),
            (12.0, "per_s", "12.0/s"),
            (17.0, "items", "17.0 items"),
            (-2.0, "ns", "−2.00 ns"),
        ] {
            assert_eq!(quantity(value, unit), text);
        }
    }

    #[test]
    fn rounding_never_adds_a_digit() {
        assert_eq!(number(9.999), "10.0");
        assert_eq!(number(99.99), "100");
        assert_eq!(number(1.0), "1.00");
    }

    #[test]
    fn counters_are_read_out_whole() {
        assert_eq!(counter("voluntary_switches", 9812.0), "9\u{202f}812");
        assert_eq!(counter("user_ns", 1_500_000.0), "1.50 ms");
        assert_eq!(counter("syscalls_per_switch", 1.01), "1.01");
        assert_eq!(counter("grown_bytes", -2790.0), "below noise");
        assert_eq!(counter("balance", -2.0), "−2");
        assert_eq!(words("peak_rss_bytes"), "peak rss");
        assert_eq!(words("blocked_p_operations"), "blocked P operations");
    }
}
