//! Labels of an axis' ticks, and parameters: round numbers without digits that say nothing.

use heddle_results::text::{self, prefixes};

/// The factor and the name that suit a value.
fn suitable(value: f64, unit: &str) -> (f64, &'static str) {
    let prefixes = prefixes(unit);
    // A tick may lie a rounding error below the power of ten that it stands for.
    prefixes
        .iter()
        .find(|(factor, _)| value.abs() >= factor * (1.0 - 1e-9))
        .or(prefixes.last())
        .copied()
        .unwrap_or((1.0, ""))
}

/// `1.00` → `1`, `2.50` → `2.5`.
fn trimmed(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

/// A number, with an exponent where it is far from one.
fn short(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-5..1e9).contains(&magnitude) {
        return format!("{value:.2e}")
            .replace(".00e", "e")
            .replace('-', "−");
    }
    trimmed(&text::number(value)).to_string()
}

fn with_unit(number: &str, name: &str) -> String {
    let space = if name.is_empty() || name.starts_with('/') {
        ""
    } else {
        "\u{a0}"
    };
    format!("{number}{space}{name}")
}

/// A parameter's value, exactly: `8`, `10 000`, `0.25`.
pub(crate) fn parameter(value: f64) -> String {
    match value.abs() {
        whole if whole.fract() == 0.0 && whole < 1e15 => text::count(value),
        near if (1e-5..1e15).contains(&near) => value.to_string(),
        _ => format!("{value:e}"),
    }
}

/// Labels for ticks in rising order: each in its own unit if `own_units` (a logarithmic axis), else
/// all in the unit that suits the largest. A unit that is a word of the experiment is left to the
/// axis' caption.
pub(crate) fn labels(ticks: &[f64], unit: &str, own_units: bool) -> Vec<String> {
    let own = |tick: f64| {
        let (factor, name) = suitable(tick, unit);
        with_unit(&short(tick / factor), name)
    };
    if own_units {
        return ticks.iter().copied().map(own).collect();
    }
    let largest = ticks
        .iter()
        .fold(0.0_f64, |most, tick| most.max(tick.abs()));
    let (factor, name) = suitable(largest, unit);
    let step = ticks
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) / factor)
        .fold(f64::INFINITY, f64::min);
    let places = if step.is_normal() {
        (-(step.log10() + 1e-9).floor()).clamp(0.0, 9.0) as usize
    } else {
        0
    };
    let number = |value: f64| match places {
        _ if value.abs() >= 1e9 => short(value),
        0 => text::count(value.round()),
        _ => format!("{value:.places$}").replace('-', "−"),
    };
    ticks
        .iter()
        .map(|&tick| {
            if tick == 0.0 {
                "0".into()
            } else {
                with_unit(&number(tick / factor), name)
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_labels_say_no_more_than_they_know() {
        let labels =
            |ticks: &[f64], unit, own| labels(ticks, unit, own).join("|").replace('\u{a0}', " ");
        assert_eq!(labels(&[1.0, 100.0, 1e4], "ns", true), "1 ns|100 ns|10 µs");
        assert_eq!(labels(&[1e-9, 1e12], "", true), "1e−9|1e12");
        assert_eq!(
            labels(&[0.0, 500.0, 1000.0], "ns", false),
            "0|0.5 µs|1.0 µs"
        );
        assert_eq!(labels(&[0.0, 50.0, 100.0], "points", false), "0|50|100");
        assert_eq!(labels(&[10.0, 10.05], "", false), "10.00|10.05");
        assert_eq!(labels(&[-0.5, 0.0], "", false), "−0.5|0");
    }

    #[test]
    fn parameters_are_exact() {
        assert_eq!(
            [8.0, 10_000.0, 0.25, 1e300].map(parameter),
            ["8", "10\u{202f}000", "0.25", "1e300"]
        );
    }

    #[test]
    fn extremes_stay_short() {
        for value in [
            f64::MAX,
            f64::MIN_POSITIVE,
            -f64::MAX,
            f64::NAN,
            f64::INFINITY,
        ] {
            for unit in ["ns", "bytes", "per_s", "", "frames"] {
                assert!(
                    labels(&[value], unit, true)[0].chars().count() < 16,
                    "{:?}",
                    labels(&[value], unit, true)
                );
                assert!(
                    labels(&[value], unit, false)[0].chars().count() < 16,
                    "{:?}",
                    labels(&[value], unit, false)
                );
            }
            assert!(parameter(value).len() < 26);
        }
    }
}
