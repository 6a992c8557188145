use crate::Region;

/// The figures of a run.
#[derive(Default)]
pub struct Outcome {
    ok: bool,
    checked: String,
    result: Option<String>,
    metrics: Vec<(&'static str, f64)>,
    counters: Vec<(&'static str, f64)>,
}

impl Outcome {
    /// The oracle's answer: `expected` says what is right, `came` what there was instead.
    pub fn new(ok: bool, expected: &str, came: &str) -> Self {
        let checked = if ok {
            expected.to_owned()
        } else {
            format!("expected: {expected}; {came}")
        };
        Self {
            ok,
            checked,
            ..Self::default()
        }
    }

    /// Sets the result, which is that of all models and languages with the same parameters.
    pub fn result(mut self, result: impl ToString) -> Self {
        self.result = Some(result.to_string());
        self
    }

    /// Adds a metric, its unit in the name.
    pub fn metric(mut self, name: &'static str, value: f64) -> Self {
        self.metrics.push((name, value));
        self
    }

    /// Adds the metrics of what was timed, as a whole and as `each` (wall) and `each_cpu` of so
    /// many operations.
    ///
    /// # Errors
    /// The same as [`Region::elapsed`]'s.
    pub fn timed(
        self,
        region: &Region,
        operations: u64,
        each: &'static str,
        each_cpu: &'static str,
    ) -> std::io::Result<Self> {
        let (wall, cpu) = region.elapsed()?;
        let share = |whole: u64| whole as f64 / operations as f64;
        Ok(self
            .metric("wall_ns", wall as f64)
            .metric("cpu_ns", cpu as f64)
            .metric("total_ns", wall as f64)
            .metric(each, share(wall))
            .metric(each_cpu, share(cpu)))
    }

    /// Adds a counter.
    pub fn counter(mut self, name: &'static str, value: f64) -> Self {
        self.counters.push((name, value));
        self
    }

    // Nothing in it needs to be escaped.
    pub(crate) fn line(&self, workload: &str, params: &str) -> String {
        let Self { ok, checked, .. } = self;
        let (metrics, counters) = (object(&self.metrics), object(&self.counters));
        let result = self
            .result
            .as_ref()
            .map(|text| format!("\"result\": \"{text}\", "));
        let result = result.unwrap_or_default();
        format!(
            "{{\"workload\": \"{workload}\", \"model\": \"tokio\", \"params\": {params}, \
             \"oracle\": {{\"ok\": {ok}, \"checked\": \"{checked}\"}}, \
             {result}\"metrics\": {metrics}, \"counters\": {counters}, \
             \"build\": {{\"compiler\": \"rustc\", \"flags\": \"--release\"}}}}"
        )
    }
}

fn object(numbers: &[(&str, f64)]) -> String {
    let members: Vec<_> = numbers
        .iter()
        .map(|(name, value)| format!("\"{name}\": {value}"))
        .collect();
    format!("{{{}}}", members.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_one_line() {
        let outcome = Outcome::new(false, "2 turns", "there was 1")
            .result(1)
            .metric("wall_ns", 2.5);
        assert_eq!(
            outcome.line("switch", "{}"),
            "{\"workload\": \"switch\", \"model\": \"tokio\", \"params\": {}, \
             \"oracle\": {\"ok\": false, \"checked\": \"expected: 2 turns; there was 1\"}, \
             \"result\": \"1\", \"metrics\": {\"wall_ns\": 2.5}, \"counters\": {}, \
             \"build\": {\"compiler\": \"rustc\", \"flags\": \"--release\"}}"
        );
    }
}
