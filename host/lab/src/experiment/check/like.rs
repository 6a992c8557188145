//! What `[like]` says refers to something.

use super::Checker;
use crate::error::Result;
use crate::experiment::Mode;
use crate::models::hint;
use heddle_results::Value;

impl Checker<'_> {
    pub(super) fn like(&self) -> Result<()> {
        let Some(like) = &self.experiment.like else {
            return Ok(());
        };
        let wrong = |name: &str, message: String| self.wrong(like.span(), name, message);
        if like.get_ref().waits.is_some() && !self.experiment.times() {
            let message = "`waits` needs a metric that is a time, in ns, of which less is better";
            return wrong("waits", message.into());
        }
        for (field, value) in like.get_ref().numbers() {
            match value {
                Value::Number(number) if number.as_f64().is_some_and(|number| number > 0.0) => {}
                Value::String(name) => {
                    for mode in [Mode::Quick, Mode::Full] {
                        let swept = self.experiment.swept(mode);
                        let fixed = &self.experiment.extent(mode).params;
                        let known = swept.keys().chain(fixed.keys());
                        if !known.clone().any(|other| other == name) {
                            let hint = hint(name, known.map(String::as_str));
                            let mode = mode.name();
                            let message = format!("nothing gives `{name}` a value in {mode}{hint}");
                            return wrong(field, message);
                        }
                    }
                }
                _ => {
                    let message = format!("`{field}` must be a number above 0, or a parameter");
                    return wrong(field, message);
                }
            }
        }
        Ok(())
    }
}
