//! Where the time of a recorded sample went, as a bar and as numbers.

use heddle_results::{Shares, Traced, percent, text};
use serde::Serialize;

/// One recorded cell.
#[derive(Serialize)]
pub struct Time {
    /// In the order of [`Shares::NAMES`]; none if nothing was recorded.
    parts: Vec<Part>,
    /// `1.08×`: with the recorder over without.
    cost: String,
    /// The metric by which that is told.
    cost_by: String,
    /// What held its threads up, in words, or why it takes longer than the best.
    cause: String,
    /// Why nothing was recorded, or what is missing in the recording.
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Part {
    number: usize,
    /// Where the part begins, and how wide it is, in a bar that is 100 wide.
    from: String,
    wide: String,
    percent: String,
}

impl Time {
    /// `longer`: why it takes longer than the best.
    pub fn new(traced: &Traced, longer: Option<String>) -> Self {
        let time = traced.time.as_ref();
        let missing = time.iter().flat_map(|time| &time.missing);
        Self {
            parts: traced.shares().map(parts).unwrap_or_default(),
            cause: longer
                .or_else(|| Some(traced.told()?.says))
                .unwrap_or_default(),
            cost: traced.cost.map(text::times).unwrap_or_default(),
            cost_by: traced.cost_by.clone(),
            notes: traced.failed.iter().chain(missing).cloned().collect(),
        }
    }
}

fn parts(shares: Shares) -> Vec<Part> {
    let mut at = 0.0;
    let all = shares.parts().into_iter().enumerate();
    all.map(|(number, share)| {
        let wide = 100.0 * share.unwrap_or(0.0);
        let from = at;
        at += wide;
        Part {
            number,
            from: format!("{from:.2}"),
            wide: format!("{wide:.2}"),
            percent: percent(share),
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_results::ThreadTime;

    #[test]
    fn a_bar_is_as_wide_as_all_time() {
        let time = ThreadTime {
            running_ns: 25,
            locks_ns: 50,
            not_known_ns: 25,
            ..ThreadTime::default()
        };
        let traced = Traced {
            time: Some(time),
            cost: Some(1.5),
            ..Traced::default()
        };
        let bar = Time::new(&traced, None);
        let ends = |part: &Part| [&part.from, &part.wide].map(|it| it.parse::<f64>().unwrap());
        assert_eq!(ends(&bar.parts[0]), [0.0, 25.0]);
        assert_eq!(ends(&bar.parts[1]), [25.0, 50.0]);
        assert_eq!(ends(&bar.parts[6]), [75.0, 25.0]);
        assert_eq!(bar.parts[5].percent, "–");
        assert_eq!(bar.cost, "1.50×");
        assert_eq!(bar.cause, "locks (50 % of the time, clear)");
        let longer = Time::new(&traced, Some("2× as long".into()));
        assert_eq!(longer.cause, "2× as long");
    }

    #[test]
    fn what_was_not_recorded_has_no_bar_and_a_reason() {
        let traced = Traced {
            failed: Some("it is static".into()),
            ..Traced::default()
        };
        let bar = Time::new(&traced, None);
        assert!(bar.parts.is_empty());
        assert_eq!(bar.notes, ["it is static"]);
    }
}
