//! The line that a lab program prints.

use super::process::{End, Finished, STDOUT_LIMIT};
use heddle_results::{Status, Value};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Characters that a result may have: enough for a checksum or a short answer.
const RESULT_LIMIT: usize = 200;

/// What a run amounts to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// What went wrong.
    pub detail: Option<String>,
    /// What the oracle compared.
    pub checked: Option<String>,
    /// The name of the code that ran, if the program gives one.
    pub ran: Option<String>,
    /// The result that is compared between models, if the program gives one.
    pub result: Option<String>,
    /// Metrics.
    pub metrics: BTreeMap<String, f64>,
    /// Counters.
    pub counters: BTreeMap<String, f64>,
    /// Compiler and flags.
    pub build: BTreeMap<String, String>,
}

/// Unknown fields are allowed: a program may use them for itself.
#[derive(Deserialize)]
struct Line {
    model: String,
    oracle: Oracle,
    ran: Option<String>,
    result: Option<String>,
    metrics: BTreeMap<String, Value>,
    #[serde(default)]
    counters: BTreeMap<String, Value>,
    #[serde(default)]
    build: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Oracle {
    ok: bool,
    /// It knows that it would never end.
    #[serde(default)]
    deadlock: bool,
    #[serde(default)]
    checked: String,
}

/// Reads a finished process as a sample of `model`, whose `metric` is compared.
pub fn read(finished: &Finished, model: &str, metric: &str) -> Outcome {
    let line = parse(finished, model, metric);
    let failed = |status, detail: String| Outcome {
        status,
        detail: Some(detail),
        checked: None,
        ran: None,
        result: None,
        metrics: BTreeMap::new(),
        counters: BTreeMap::new(),
        build: BTreeMap::new(),
    };
    let with_stderr = |text: String| match tail(&finished.stderr) {
        tail if tail.is_empty() => text,
        tail => format!("{text}; stderr: {tail}"),
    };
    match (&finished.end, line) {
        (End::TimedOut, _) => failed(
            Status::Hung,
            with_stderr("stopped at the time limit".into()),
        ),
        (End::Interrupted, _) => failed(Status::Crashed, "interrupted".into()),
        (End::TooLarge, _) => failed(Status::Crashed, "it wrote too much".into()),
        (End::Signal(signal), _) => failed(
            Status::Crashed,
            with_stderr(format!("killed by {}", signal_name(*signal))),
        ),
        (End::Exit(_), Ok(line)) if line.oracle.deadlock => {
            failed(Status::Hung, one_line(&line.oracle.checked))
        }
        // A program may say a wrong result with its exit code too; the line says more.
        (End::Exit(code), Ok(line)) if *code == 0 || !line.oracle.ok => said(line),
        (End::Exit(0), Err(why)) => failed(Status::Garbage, with_stderr(why)),
        (End::Exit(code), _) => failed(Status::Crashed, with_stderr(format!("exit code {code}"))),
    }
}

/// What a program's line says.
fn said(line: Line) -> Outcome {
    let checked = Some(one_line(&line.oracle.checked)).filter(|checked| !checked.is_empty());
    let (status, detail) = match (line.oracle.ok, &checked) {
        (true, _) => (Status::Ok, None),
        (false, None) => (Status::Wrong, Some("wrong result".to_owned())),
        (false, Some(checked)) => (Status::Wrong, Some(format!("wrong result: {checked}"))),
    };
    let named = |name: Option<String>| name.map(|name| one_line(&name));
    Outcome {
        status,
        detail,
        checked,
        ran: named(line.ran).filter(|code| !code.is_empty()),
        result: named(line.result),
        metrics: numbers(&line.metrics),
        counters: numbers(&line.counters),
        build: line.build,
    }
}

/// Why a program cannot run here, in its own words.
pub(super) fn reason(finished: &Finished) -> String {
    let said = tail(&finished.stderr);
    let said = said.strip_prefix("error: ").unwrap_or(&said);
    if said.is_empty() {
        "it cannot run here and does not say why".into()
    } else {
        said.to_owned()
    }
}

fn parse(finished: &Finished, model: &str, metric: &str) -> Result<Line, String> {
    if finished.too_much {
        return Err(format!("it printed more than {} KiB", STDOUT_LIMIT / 1024));
    }
    let text = String::from_utf8_lossy(&finished.stdout);
    let mut lines = text.lines().filter(|line| line.starts_with('{'));
    let Some(json) = lines.next() else {
        return Err(match text.trim() {
            "" => "it printed nothing: expected one line of JSON on standard output".into(),
            other => format!(
                "it printed no line that begins with {{, but {}",
                excerpt(other)
            ),
        });
    };
    if lines.next().is_some() {
        return Err("it printed more than one line of JSON: expected one for each run".into());
    }
    let line: Line = serde_json::from_str(json)
        .map_err(|error| format!("its line is not as expected: {error}: {}", excerpt(json)))?;
    if line.model != model {
        return Err(format!(
            "it was asked for model {model} and ran {}",
            excerpt(&line.model)
        ));
    }
    let length = line
        .result
        .as_ref()
        .map_or(0, |result| result.chars().count());
    if length > RESULT_LIMIT {
        return Err(format!(
            "its result has {length} characters, at most {RESULT_LIMIT} are compared: \
             print a checksum"
        ));
    }
    match line.metrics.get(metric) {
        Some(Value::Number(_)) => Ok(line),
        Some(other) => Err(format!(
            "metric {metric} must be a number, it is {}",
            excerpt(&other.to_string())
        )),
        // A wrong result needs no metrics.
        None if !line.oracle.ok => Ok(line),
        None => {
            let printed = line
                .metrics
                .keys()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(", ");
            Err(format!(
                "it printed no metric {metric}, which this experiment compares, but {}",
                if printed.is_empty() { "none" } else { &printed }
            ))
        }
    }
}

/// The numbers among the values; others (null where something could not be counted) are left out.
fn numbers(values: &BTreeMap<String, Value>) -> BTreeMap<String, f64> {
    values
        .iter()
        .filter_map(|(name, value)| {
            Some((
                name.clone(),
                value.as_f64().filter(|value| value.is_finite())?,
            ))
        })
        .collect()
}

/// At most 80 characters, quoted.
fn excerpt(text: &str) -> String {
    let short: String = plain(text).chars().take(80).collect();
    format!(
        "\"{short}{}\"",
        if text.chars().count() > 80 { "…" } else { "" }
    )
}

/// What the oracle says, for people: on one line, at most 1000 characters.
fn one_line(text: &str) -> String {
    plain(text.trim()).chars().take(1000).collect()
}

/// Without line ends and what would move a terminal's cursor or change its colours.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// The last lines of standard error, on one line.
fn tail(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let last = lines[lines.len().saturating_sub(3)..].join(" / ");
    let kept = plain(&last);
    let surplus = kept.chars().count().saturating_sub(400);
    kept.chars().skip(surplus).collect()
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGABRT => "SIGABRT (it aborted)",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGILL => "SIGILL",
        libc::SIGKILL => "SIGKILL (from outside, or memory ran out)",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGTERM => "SIGTERM",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGPIPE => "SIGPIPE",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"workload":"w","model":"m","oracle":{"ok":true,"checked":"all"},"metrics":{"wall_ns":5},"counters":{"x":1,"y":null},"new":[1]}"#;

    fn outcome(end: End, stdout: &str, stderr: &str) -> (Status, String) {
        let outcome = whole_outcome(end, stdout, stderr);
        (outcome.status, outcome.detail.unwrap_or_default())
    }

    fn whole_outcome(end: End, stdout: &str, stderr: &str) -> Outcome {
        let finished = Finished {
            end,
            stdout: stdout.into(),
            too_much: false,
            stderr: stderr.into(),
            usage: Default::default(),
        };
        read(&finished, "m", "wall_ns")
    }

    #[test]
    fn every_way_to_fail_has_a_name_and_a_reason() {
        let wrong = GOOD.replace("true", "false");
        let deadlock = r#"{"model":"m","oracle":{"ok":false,"deadlock":true,"checked":"all of 5 wait"},"metrics":{}}"#;
        for (end, stdout, stderr, status, reason) in [
            (End::Exit(0), GOOD, "noise", Status::Ok, ""),
            (
                End::Exit(0),
                &*format!("hello\n{GOOD}\n"),
                "",
                Status::Ok,
                "",
            ),
            (End::Exit(1), &wrong, "", Status::Wrong, "wrong result: all"),
            (End::Exit(0), &wrong, "", Status::Wrong, "wrong result: all"),
            (
                End::Exit(1),
                GOOD,
                "out of luck\n",
                Status::Crashed,
                "exit code 1; stderr: out of luck",
            ),
            (
                End::Signal(libc::SIGSEGV),
                "",
                "",
                Status::Crashed,
                "killed by SIGSEGV",
            ),
            (
                End::TimedOut,
                GOOD,
                "",
                Status::Hung,
                "stopped at the time limit",
            ),
            (End::Exit(1), deadlock, "", Status::Hung, "all of 5 wait"),
            (End::Exit(0), "", "", Status::Garbage, "it printed nothing"),
            (
                End::Exit(0),
                "hi",
                "",
                Status::Garbage,
                "no line that begins with {, but \"hi\"",
            ),
            (End::Exit(0), "{", "", Status::Garbage, "not as expected"),
            (End::Exit(0), "{}", "", Status::Garbage, "missing field"),
            (
                End::Exit(0),
                &*format!("{GOOD}\n{GOOD}"),
                "",
                Status::Garbage,
                "more than one line",
            ),
            (
                End::Exit(0),
                &GOOD.replace("\"m\"", "\"n\""),
                "",
                Status::Garbage,
                "asked for model m and ran \"n\"",
            ),
            (
                End::Exit(0),
                &GOOD.replace("wall_ns", "cpu_ns"),
                "",
                Status::Garbage,
                "no metric wall_ns, which this experiment compares, but cpu_ns",
            ),
            (
                End::Exit(0),
                &GOOD.replace(":5}", ":null}"),
                "",
                Status::Garbage,
                "must be a number",
            ),
            (
                End::Exit(0),
                &GOOD.replace(":5}", ":1e999}"),
                "",
                Status::Garbage,
                "not as expected",
            ),
            (
                End::Exit(0),
                &GOOD.replace("\"new\":[1]", "\"result\":7"),
                "",
                Status::Garbage,
                "not as expected",
            ),
            (
                End::Exit(0),
                &GOOD.replace(
                    "\"new\":[1]",
                    &format!("\"result\":\"{}\"", "x".repeat(201)),
                ),
                "",
                Status::Garbage,
                "its result has 201 characters",
            ),
        ] {
            let (got, detail) = outcome(end, stdout, stderr);
            assert_eq!(got, status, "{stdout}");
            assert!(
                detail.contains(reason) && detail.is_empty() == reason.is_empty(),
                "{detail} / {reason}"
            );
        }
    }

    #[test]
    fn what_the_oracle_says_cannot_change_the_terminal() {
        let wrong = GOOD
            .replace("true", "false")
            .replace("all", r"\u001b[2Ja\nb");
        let (status, detail) = outcome(End::Exit(0), &wrong, "");
        assert_eq!((status, &*detail), (Status::Wrong, "wrong result:  [2Ja b"));
    }

    #[test]
    fn a_counter_that_could_not_be_counted_is_left_out() {
        assert_eq!(
            whole_outcome(End::Exit(0), GOOD, "").counters,
            BTreeMap::from([("x".into(), 1.0)])
        );
    }

    #[test]
    fn a_line_may_name_the_code_that_ran_and_give_a_result() {
        let absent = whole_outcome(End::Exit(0), GOOD, "");
        assert_eq!((absent.ran, absent.result), (None, None));
        let more = GOOD.replace("\"new\":[1]", r#""ran":"serial","result":"4\n2""#);
        let present = whole_outcome(End::Exit(0), &more, "");
        assert_eq!(present.ran.as_deref(), Some("serial"));
        assert_eq!(present.result.as_deref(), Some("4 2"));
    }
}
