//! Reports made up for the tests. Their values are invented, in the proportions of a real run.
#![allow(dead_code, reason = "each test program uses a part")]

mod printed;
mod rich;

use heddle_results::*;
use serde_json::json;
use std::collections::BTreeMap;

pub use rich::rich;

/// A model, whether it is a reference, and its median at each place.
type Curve<'a> = (&'a str, bool, &'a dyn Fn(f64) -> f64);

/// A cell round `middle`; the samples come from a seed, the interval from their order statistics.
pub fn cell(
    x: Option<f64>,
    at: &Values,
    axis: &str,
    middle: f64,
    spread: f64,
    number: usize,
    random: &mut fastrand::Rng,
) -> Cell {
    let values: Vec<f64> = (0..number)
        .map(|_| {
            let normal: f64 = (0..6).map(|_| random.f64() - 0.5).sum();
            let outlier = if random.f64() < 0.06 {
                1.0 + random.f64() * 0.6
            } else {
                1.0
            };
            middle * (1.0 + spread * normal) * outlier
        })
        .collect();
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let median = Estimate {
        value: sorted[number / 2],
        low: sorted[number / 4],
        high: sorted[(number * 3 / 4).min(number - 1)],
    };
    let mut point = at.clone();
    if let Some(x) = x {
        point.insert(axis.to_string(), json!(x));
    }
    let counters = [
        ("voluntary_switches", (middle / 3.0).round()),
        ("peak_rss_bytes", 3.4e6 + middle),
        ("user_ns", middle * 900.0),
        ("sys_ns", middle * 120.0),
    ];
    let counters = counters
        .map(|(name, value)| (name.to_string(), value))
        .into();
    Cell {
        x,
        point,
        values,
        median: Some(median),
        counters,
        fixed: BTreeMap::new(),
        to_base: None,
        columns: vec![],
        failures: vec![],
        traced: None,
    }
}

/// A group: models with their medians at each place.
pub fn group(
    label: &str,
    at: Values,
    axis: Option<&str>,
    xs: &[f64],
    models: &[Curve],
    random: &mut fastrand::Rng,
) -> Group {
    let places: Vec<Option<f64>> = if axis.is_some() {
        xs.iter().copied().map(Some).collect()
    } else {
        vec![None]
    };
    let series: Vec<Series> = models
        .iter()
        .map(|(model, reference, middle)| Series {
            model: model.to_string(),
            reference: *reference,
            cells: places
                .iter()
                .map(|x| {
                    cell(
                        *x,
                        &at,
                        axis.unwrap_or(""),
                        middle(x.unwrap_or(0.0)),
                        0.05,
                        12,
                        random,
                    )
                })
                .collect(),
        })
        .collect();
    let winners = (0..places.len())
        .map(|place| winner(places[place], place, &series))
        .collect();
    Group {
        label: label.to_string(),
        at,
        series,
        winners,
    }
}

/// Who has the lowest median; the experiment whose metric is better when higher sets its own.
fn winner(x: Option<f64>, place: usize, series: &[Series]) -> Winner {
    let mut medians: Vec<(&str, Estimate)> = series
        .iter()
        .filter(|series| !series.reference)
        .filter_map(|series| Some((series.model.as_str(), series.cells[place].median?)))
        .collect();
    medians.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let Some(best) = medians.first().copied() else {
        return Winner {
            x,
            models: vec![],
            lead: None,
            like: None,
            ties: vec![],
            behind: vec![],
        };
    };
    let level = |other: &&(&str, Estimate)| other.1.low <= best.1.high;
    let models = medians
        .iter()
        .filter(level)
        .map(|(model, _)| model.to_string())
        .collect();
    let lead = |(model, other): &(&str, Estimate)| Lead {
        over: model.to_string(),
        times: Estimate {
            value: other.value / best.1.value,
            low: other.low / best.1.high,
            high: other.high / best.1.low,
        },
    };
    let (ties, behind): (Vec<_>, Vec<_>) = medians.iter().skip(1).partition(level);
    let behind: Vec<Lead> = behind.into_iter().map(lead).collect();
    Winner {
        x,
        models,
        lead: behind.first().cloned(),
        like: None,
        ties: ties.into_iter().map(lead).collect(),
        behind,
    }
}

/// A claim whose texts are given, in the order of the ledger.
#[allow(clippy::too_many_arguments, reason = "the columns of a table")]
pub fn claim(
    id: &str,
    words: &str,
    figure: Option<&str>,
    computed: &str,
    bound: &str,
    ours: &str,
    verdict: Verdict,
    note: &str,
) -> ClaimReport {
    ClaimReport {
        id: id.into(),
        kind: Kind::Claim,
        words: words.into(),
        short: String::new(),
        document: String::new(),
        part: String::new(),
        reading: String::new(),
        figure: figure.map(Into::into),
        computed: computed.into(),
        bound: bound.into(),
        within: Limits::default(),
        ours: ours.into(),
        estimate: None,
        compared: vec![],
        coefficients: vec![],
        cells: vec![],
        verdict,
        needed: (verdict == Verdict::Inconclusive).then_some(34),
        unsteady: false,
        note: note.into(),
        why: if verdict == Verdict::Skipped {
            String::new()
        } else {
            "thread: 9 812 voluntary switches, stackless: 0".into()
        },
    }
}

pub fn metric(name: &str, label: &str, unit: &str, better: Better) -> Metric {
    Metric {
        name: name.into(),
        label: label.into(),
        unit: unit.into(),
        better,
    }
}

fn opt(level: &str) -> Values {
    Values::from([("opt".to_string(), json!(level))])
}

fn commands(models: &[&str], program: &str) -> BTreeMap<String, String> {
    models
        .iter()
        .map(|model| {
            (
                model.to_string(),
                format!("build/lab/{program} --model={model} --contexts=8 --counter=20000"),
            )
        })
        .collect()
}

fn machine() -> Machine {
    Machine {
        host: "loom".into(),
        cpu: "Example CPU @ 2.10GHz".into(),
        cpus: 2,
        memory_bytes: 8_200_000_000,
        kernel: "Linux 6.18.0".into(),
        system: "Debian GNU/Linux 12 (bookworm)".into(),
    }
}

/// Claims know the document of their experiment's source, and each how it was read.
fn read_from_sources(experiments: &mut [ExperimentReport]) {
    for experiment in experiments {
        let source = experiment.source.get_or_insert_with(|| Source {
            document: "Coroutines in C/C++: beyond Duff's Device".into(),
            place: "The limitations".into(),
            words: String::new(),
        });
        let claims = experiment.claims.iter_mut();
        for claim in claims.filter(|claim| claim.kind == Kind::Claim) {
            claim.document.clone_from(&source.document);
            if claim.reading.is_empty() {
                claim.reading = format!("the bound is {}, as the words say it", claim.bound);
            }
        }
    }
}

/// Two models, three samples each: small enough to be read as a whole.
pub fn small() -> Report {
    let cell = |values: [f64; 3]| Cell {
        x: None,
        point: Values::new(),
        values: values.to_vec(),
        median: Some(Estimate {
            value: values[1],
            low: values[0],
            high: values[2],
        }),
        counters: BTreeMap::from([("voluntary_switches".to_string(), values[0])]),
        fixed: BTreeMap::new(),
        to_base: None,
        columns: vec![],
        failures: vec![],
        traced: None,
    };
    let series = |model: &str, values| Series {
        model: model.into(),
        reference: false,
        cells: vec![cell(values)],
    };
    let group = Group {
        label: String::new(),
        at: Values::new(),
        series: vec![
            series("thread", [400.0, 410.0, 430.0]),
            series("mine", [200.0, 205.0, 207.0]),
        ],
        winners: vec![Winner {
            x: None,
            models: vec!["mine".into()],
            lead: Some(Lead {
                over: "thread".into(),
                times: Estimate {
                    value: 2.0,
                    low: 1.93,
                    high: 2.15,
                },
            }),
            like: None,
            ties: vec![],
            behind: vec![],
        }],
    };
    let experiment = ExperimentReport {
        id: "mine".into(),
        title: "Mine".into(),
        question: "Is mine twice as fast?".into(),
        workload: "mine".into(),
        metric: metric("wall_ns", "run time", "ns", Better::Lower),
        verdicts: vec!["mine: mine wins at 205 ns, 2.00× (95 % 1.93–2.15) ahead of thread.".into()],
        groups: vec![group],
        figures: vec![Figure {
            label: "300 ns, as published".into(),
            value: 300.0,
        }],
        claims: vec![claim(
            "mine.twice",
            "twice as fast",
            Some("2"),
            "thread ÷ mine",
            "1.33 … 3",
            "2.00× (95 % 1.93–2.15)",
            Verdict::Reproduced,
            "",
        )],
        commands: commands(&["thread", "mine"], "mine"),
        ..Default::default()
    };
    let mut experiments = [experiment];
    read_from_sources(&mut experiments);
    Report {
        version: "0.1.0".into(),
        command: vec!["heddle".into(), "compare".into(), "my experiments".into()],
        mode: "quick".into(),
        seed: 1,
        started_ns: 1_795_294_930_000_000_000,
        took_ns: 1_500_000_000,
        machine: machine(),
        experiments: experiments.into(),
        ..Default::default()
    }
}

/// Claims were decided by the first two models of their experiment.
fn compare_ends(experiments: &mut [ExperimentReport]) {
    for experiment in experiments {
        let series = experiment.groups.iter().flat_map(|group| &group.series);
        let compared = series.take(2).filter_map(|series| {
            let point = series.cells.first()?.point.clone();
            let model = series.model.clone();
            Some(Compared { model, point })
        });
        let compared: Vec<Compared> = compared.collect();
        for claim in &mut experiment.claims {
            claim.compared.clone_from(&compared);
        }
    }
}

/// The large report many times over, with as many cells as a run of all experiments.
pub fn large() -> Report {
    let mut report = rich();
    let own = report.experiments.clone();
    for copy in 1..9 {
        for experiment in &own {
            let mut experiment = experiment.clone();
            experiment.id += &format!("-{copy}");
            experiment.usage = format!("something else {copy}");
            for claim in &mut experiment.claims {
                claim.words += &format!(", in work {copy}");
            }
            report.experiments.push(experiment);
        }
    }
    report
}

/// `results.jsonl` of a report, as far as the page is concerned: a line a sample.
pub fn jsonl(report: &Report) -> String {
    let mut lines = String::new();
    for experiment in &report.experiments {
        for series in experiment.groups.iter().flat_map(|group| &group.series) {
            for cell in &series.cells {
                for value in &cell.values {
                    let line = json!({"experiment": experiment.id, "model": series.model, "point": cell.point, "status": "ok", "metrics": {&experiment.metric.name: value}, "command": ["lab/it", "--once"]});
                    lines += &format!("{line}\n");
                }
            }
        }
    }
    lines
}

/// Verdict sentences as the page has them: without the experiment's id, which stands beside.
pub fn sentences(experiment: &ExperimentReport) -> impl Iterator<Item = &str> {
    experiment.verdicts.iter().map(|verdict| {
        let rest = verdict.strip_prefix(&experiment.id);
        rest.map_or(&**verdict, |rest| rest.trim_start_matches([':', ',', ' ']))
    })
}
