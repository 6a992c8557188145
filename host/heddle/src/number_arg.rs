//! Numbers as the command line gives them.

use std::ops::RangeInclusive;

/// A share of a whole in percent: `5`, `2.5` or `2.5%`.
///
/// # Errors
/// It is none; in words.
pub fn share(text: &str) -> Result<f64, String> {
    percent(text, 0.0..=100.0)
}

/// By how much something may grow, in percent: `10`, `250`.
///
/// # Errors
/// It is none; in words.
pub fn growth(text: &str) -> Result<f64, String> {
    percent(text, 0.0..=1_000_000.0)
}

/// How many: `20`; `0` is none of them.
///
/// # Errors
/// It is no number of things; in words.
pub fn count(text: &str) -> Result<usize, String> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_number);
    number.ok_or_else(|| "expected a whole number, such as 20".to_owned())
}

fn percent(text: &str, range: RangeInclusive<f64>) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    let value = number.parse().ok();
    value.filter(|value| range.contains(value)).ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        format!("expected a percentage from {least} to {most}, such as 5 or 2.5")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_mean_nothing_are_refused() {
        assert_eq!(share("2.5"), Ok(2.5));
        assert_eq!(
            ["0", "100%", "7 %"].map(share),
            [Ok(0.0), Ok(100.0), Ok(7.0)]
        );
        assert_eq!(growth("250"), Ok(250.0));
        for wrong in [
            "", "%", "-1", "-0.1", "nan", "NaN%", "inf", "-inf", "x", "5%%", "1e9",
        ] {
            assert!(share(wrong).is_err() && growth(wrong).is_err(), "{wrong}");
        }
        assert!(share("100.1").unwrap_err().contains("from 0 to 100,"));
        assert_eq!(["0", "20"].map(count), [Ok(0), Ok(20)]);
        for wrong in ["", "-1", "+1", "1.5", "x", "99999999999999999999"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }
}
