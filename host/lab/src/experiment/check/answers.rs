//! The rows of the summary: each has a label that fits, and names one point of the sweep.

use super::Checker;
use crate::error::Result;
use crate::experiment::Mode;
use crate::experiment::answer::{Answer, LONGEST_LABEL};
use crate::experiment::has;
use crate::models::hint;
use std::collections::BTreeSet;
use toml::Spanned;

impl Checker<'_> {
    /// All rows.
    pub(super) fn answers(&self) -> Result<()> {
        let mut labels = BTreeSet::new();
        for answer in &self.experiment.answers {
            let label = &answer.get_ref().label;
            if !labels.insert(label) {
                let message = format!("there are two answers `{label}`: labels must differ");
                return self.wrong(answer.span(), "label", message);
            }
            self.answer(answer)?;
        }
        Ok(())
    }

    fn answer(&self, spanned: &Spanned<Answer>) -> Result<()> {
        let Answer { label, at, why, .. } = spanned.get_ref();
        let wrong = |needle: &str, message: String| self.wrong(spanned.span(), needle, message);
        let length = label.chars().count();
        if label.trim().is_empty() || label.chars().any(char::is_control) {
            return wrong("label", "an answer needs a label on one line".into());
        }
        if length > LONGEST_LABEL {
            return wrong(
                "label",
                format!("the label has {length} characters: it may have {LONGEST_LABEL}"),
            );
        }
        if let Some(why) = why {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if why.is_empty() || !why.chars().all(plain) {
                return wrong(
                    "why",
                    format!("`{why}` is no name of a counter or a metric"),
                );
            }
        }
        let swept = self.experiment.swept(Mode::Quick);
        if let Some(name) = at.keys().find(|name| !swept.contains_key(*name)) {
            let hint = hint(name, swept.keys().map(String::as_str));
            return wrong(name, format!("`{name}` is not swept in quick{hint}"));
        }
        for mode in [Mode::Quick, Mode::Full] {
            let points = self.experiment.points(mode);
            let meant: Vec<_> = points.iter().filter(|point| has(point, at)).collect();
            if meant.is_empty() && mode == Mode::Quick {
                let message = "no point of the quick sweep is meant by it";
                return wrong("at", message.into());
            }
            // Where the full sweep has no such point, a full run derives its rows.
            let Some(first) = meant.first() else { continue };
            let differs = |name: &&String| {
                meant
                    .iter()
                    .any(|point| point.get(*name) != first.get(*name))
            };
            if let Some(name) = first.keys().find(differs) {
                let values: BTreeSet<String> = meant
                    .iter()
                    .filter_map(|point| point.get(name))
                    .map(ToString::to_string)
                    .collect();
                let values = values.into_iter().collect::<Vec<_>>().join(", ");
                return wrong(
                    "at",
                    format!(
                        "`at` must say which {name} is meant, in {} one of {values}",
                        mode.name()
                    ),
                );
            }
        }
        Ok(())
    }
}
