//! Reports made up for the tests. Their values are invented, in the proportions of a real run.
#![allow(dead_code, reason = "each test program uses a part")]

use heddle_results::*;
use serde_json::json;
use std::collections::BTreeMap;

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
        failures: vec![],
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
        };
    };
    let level = |other: &&(&str, Estimate)| other.1.low <= best.1.high;
    let models = medians
        .iter()
        .filter(level)
        .map(|(model, _)| model.to_string())
        .collect();
    let lead = medians
        .iter()
        .find(|other| !level(other))
        .map(|(model, other)| Lead {
            over: model.to_string(),
            times: Estimate {
                value: other.value / best.1.value,
                low: other.low / best.1.high,
                high: other.high / best.1.low,
            },
        });
    Winner { x, models, lead }
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
        words: words.into(),
        figure: figure.map(Into::into),
        computed: computed.into(),
        bound: bound.into(),
        ours: ours.into(),
        estimate: None,
        verdict,
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

/// Everything that the page can show: six experiments like those of the first comparison.
pub fn rich() -> Report {
    let random = &mut fastrand::Rng::with_seed(7);
    let text = |words: &str| words.to_string();

    let sizes = [16.0, 32.0, 64.0, 96.0, 128.0, 256.0];
    let matrix =
        |cubic: f64, start: f64, step: f64| move |n: f64| start + n * n * n * cubic + n * n * step;
    let matrix_groups = [("-O0", "O0", 3.1), ("-O2", "O2", 0.9)].map(|(label, level, cost)| {
        group(
            label,
            opt(level),
            Some("n"),
            &sizes,
            &[
                ("serial", true, &matrix(cost, 500.0, 0.0)),
                ("thread", false, &matrix(cost * 0.53, 90_000.0, 0.0)),
                ("stackless", false, &matrix(cost, 900.0, 12.0)),
            ],
            random,
        )
    });
    let a1 = ExperimentReport {
        id: text("a1-matrix"),
        title: text("Matrix multiplication"),
        question: text(
            "From which size on do threads beat coroutines that suspend at every element?",
        ),
        workload: text("matrix"),
        source: Some(Source {
            document: text("Threads against coroutines, seen through a function tracer"),
            place: text("Results"),
            words: text("the performance is the same below 100 and threads are ahead from 1000 on"),
        }),
        metric: metric("wall_ns", "run time", "ns", Better::Lower),
        axis: Some(text("n")),
        verdicts: vec![
            text(
                "matrix -O0: stackless wins up to n = 32; thread wins from n = 64, 1.92× (95 % 1.85–2.01) ahead of stackless at n = 256.",
            ),
            text(
                "matrix -O2: stackless wins up to n = 64; thread wins from n = 96, 1.83× (95 % 1.76–1.90) ahead of stackless at n = 256.",
            ),
        ],
        groups: matrix_groups.into(),
        claims: vec![
            claim(
                "a1.small",
                "the same below 100",
                None,
                "stackless ÷ thread, n < 100, -O0",
                "0.80 … 1.25",
                "0.12× … 1.31×",
                Verdict::NotReproduced,
                "n = 16 decides: 0.121× (0.11–0.13)",
            ),
            claim(
                "a1.large",
                "threads are ahead from 1000 on",
                None,
                "stackless ÷ thread, n ≥ 1000, -O0",
                "≥ 1.05",
                "",
                Verdict::Skipped,
                "no point of the quick sweep lies there: needs --full",
            ),
        ],
        commands: commands(&["serial", "thread", "stackless"], "matrix-O0"),
        ..Default::default()
    };

    let kv_groups = [("-O0", "O0", 1.0), ("-O2", "O2", 0.42)].map(|(label, level, cost)| {
        let models: [Curve; 3] = [
            ("serial", true, &move |_| 41e6 * cost),
            ("thread", false, &move |_| 68e6 * cost),
            ("stackless", false, &move |_| 47e6 * cost),
        ];
        group(label, opt(level), None, &[], &models, random)
    });
    let a2 = ExperimentReport {
        id: text("a2-kv"),
        title: text("Key–value store"),
        question: text("Do ten threads with a mutex beat ten coroutines without locks?"),
        workload: text("kv"),
        source: Some(Source {
            document: text("Threads against coroutines, seen through a function tracer"),
            place: text("Conclusion"),
            words: text("coroutines are slightly ahead"),
        }),
        metric: metric("wall_ns", "run time", "ns", Better::Lower),
        verdicts: vec![
            text("kv -O0: stackless wins at 47.1 ms, 1.44× (95 % 1.39–1.49) ahead of thread."),
            text("kv -O2: stackless wins at 19.8 ms, 1.45× (95 % 1.40–1.50) ahead of thread."),
        ],
        groups: kv_groups.into(),
        claims: vec![
            claim(
                "a2.results",
                "threads were ahead by only 17 %",
                Some("17 %"),
                "stackless ÷ thread at -O0",
                "1.02 … 1.32",
                "0.693× (95 % 0.671–0.719)",
                Verdict::NotReproduced,
                "",
            ),
            claim(
                "a2.conclusion",
                "coroutines are slightly ahead",
                None,
                "stackless ÷ thread at -O0",
                "< 0.95",
                "0.693× (95 % 0.671–0.719)",
                Verdict::Reproduced,
                "",
            ),
        ],
        commands: commands(&["serial", "thread", "stackless"], "kv-O0"),
        ..Default::default()
    };

    let operations = [1_000.0, 3_000.0, 10_000.0, 30_000.0];
    let mut file_group = group(
        "",
        Values::new(),
        Some("operations"),
        &operations,
        &[
            ("serial", true, &|n| 2.9e3 * n),
            ("thread", false, &|n| 7.9e3 * n),
            ("stackless", false, &|n| 3.1e3 * n),
        ],
        random,
    );
    let hung = &mut file_group.series[1].cells[3];
    (hung.values, hung.median, hung.failures) = (vec![], None, vec![Status::Hung, Status::Hung]);
    file_group.winners[3].lead = None;
    let a3 = ExperimentReport {
        id: text("a3-file"),
        title: text("One shared file"),
        question: text("What does locking each file operation cost?"),
        workload: text("file"),
        metric: metric("wall_ns", "run time", "ns", Better::Lower),
        axis: Some(text("operations")),
        verdicts: vec![text(
            "file: stackless wins at every size, 2.55× (95 % 2.46–2.63) ahead of thread at 10 000 operations.",
        )],
        groups: vec![file_group],
        claims: vec![claim(
            "a3.half",
            "at least 50 % better beyond 10,000 operations",
            Some("50 %"),
            "stackless ÷ thread, operations ≥ 10 000",
            "≤ 0.65",
            "0.392× … 0.661×",
            Verdict::Inconclusive,
            "some 34 samples a cell would settle it",
        )],
        troubles: vec![text(
            "thread at operations=30000: 2 of 2 samples hung (stopped after 10 s).",
        )],
        commands: commands(&["serial", "thread", "stackless"], "file-O2"),
        ..Default::default()
    };

    let switch: [Curve; 9] = [
        ("serial", true, &|_| 0.8),
        ("serial/syscall", true, &|_| 71.0),
        ("process/pipe", false, &|_| 1_610.0),
        ("thread", false, &|_| 1_480.0),
        ("fiber/pthread", false, &|_| 1_390.0),
        ("fiber/ucontext", false, &|_| 221.0),
        ("fiber/asm", false, &|_| 1.9),
        ("stackless", false, &|_| 1.87),
        ("goroutine", false, &|_| 98.0),
    ];
    let names = switch.map(|(name, ..)| name);
    let b1 = ExperimentReport {
        id: text("b1-switch"),
        title: text("What a switch costs"),
        question: text("How long does it take to hand the processor from one strand to the next?"),
        workload: text("switch"),
        source: Some(Source {
            document: text("Performance analysis of goroutine switching"),
            place: text("Coroutine Context Switch CPU Overhead"),
            words: text("The average overhead of each coroutine switch is 54ns"),
        }),
        metric: metric("switch_ns", "time per switch", "ns", Better::Lower),
        verdicts: vec![text(
            "switch: no significant difference between stackless and fiber/asm at 1.87 ns; both are 52.1× (95 % 50.3–54.0) ahead of goroutine.",
        )],
        groups: vec![group("", Values::new(), None, &[], &switch, random)],
        figures: vec![
            Figure {
                label: text("54 ns a goroutine switch, as published"),
                value: 54.0,
            },
            Figure {
                label: text("3.5 µs a thread switch, as published"),
                value: 3500.0,
            },
        ],
        claims: vec![
            claim(
                "b1.cost",
                "The average overhead of each coroutine switch is 54ns",
                Some("54 ns"),
                "goroutine",
                "36 … 81 ns",
                "97.8 ns (95 % 96.1–99.9)",
                Verdict::NotReproduced,
                "",
            ),
            claim(
                "b1.thread",
                "approximately 1/70 of the context switch overhead",
                Some("70"),
                "process/pipe ÷ goroutine",
                "46.7 … 105",
                "16.4× (95 % 16.0–16.9)",
                Verdict::NotReproduced,
                "",
            ),
        ],
        skipped: vec![SkippedModel {
            model: text("fiber/boost"),
            reason: text("needs Boost.Context: sudo apt install libboost-context-dev"),
        }],
        commands: commands(&names, "switch-O2"),
        ..Default::default()
    };

    let contexts = [2.0, 8.0, 32.0, 128.0, 512.0];
    let grid: [Curve; 3] = [
        ("fiber/pthread", false, &|n| 2_700.0 + 31_000.0 / 2.0 + n),
        ("fiber/ucontext", false, &|n| 440.0 + n / 4.0),
        ("fiber/asm", false, &|n| 4.0 + n / 100.0),
    ];
    let groups = [10.0, 100.0, 1000.0].map(|counter| {
        group(
            &format!("counter={counter}"),
            Values::from([("counter".to_string(), json!(counter))]),
            Some("contexts"),
            &contexts,
            &grid,
            random,
        )
    });
    let c1 = ExperimentReport {
        id: text("c1-switch-grid"),
        title: text("Coroutines in C: contexts × counter"),
        question: text(
            "How much faster is ucontext than a thread for every context, as contexts and yields grow?",
        ),
        workload: text("switch"),
        metric: metric("switch_ns", "time per yield", "ns", Better::Lower),
        axis: Some(text("contexts")),
        verdicts: vec![
            text(
                "switch counter=10: fiber/asm wins everywhere, 96.2× (95 % 91.3–101) ahead of fiber/ucontext at contexts = 128.",
            ),
            text(
                "switch counter=100: fiber/asm wins everywhere, 95.0× (95 % 90.8–99.5) ahead of fiber/ucontext at contexts = 128.",
            ),
            text(
                "switch counter=1000: fiber/asm wins everywhere, 94.4× (95 % 90.1–99.0) ahead of fiber/ucontext at contexts = 128.",
            ),
        ],
        groups: groups.into(),
        claims: vec![claim(
            "c1.contexts",
            "ucontext at least 20 times faster as contexts grow",
            Some("20"),
            "fiber/pthread ÷ fiber/ucontext, contexts ≥ 32",
            "≥ 13.3",
            "29.8× … 40.2×",
            Verdict::Reproduced,
            "at all 3 points",
        )],
        commands: commands(
            &["fiber/pthread", "fiber/ucontext", "fiber/asm"],
            "switch-O2",
        ),
        ..Default::default()
    };

    let mut c3 = ExperimentReport {
        id: text("c3-swapcontext"),
        title: text("What swapcontext pays for the signal mask"),
        question: text("How many hand-overs a second without and with a system call in each?"),
        workload: text("switch"),
        metric: metric(
            "switches_per_s",
            "hand-overs a second",
            "per_s",
            Better::Higher,
        ),
        verdicts: vec![text(
            "switch: fiber/asm wins at 521 M/s, 115× (95 % 112–119) ahead of fiber/ucontext.",
        )],
        groups: vec![group(
            "",
            Values::new(),
            None,
            &[],
            &[
                ("fiber/ucontext", false, &|_| 4.5e6),
                ("fiber/asm", false, &|_| 521e6),
            ],
            random,
        )],
        claims: vec![claim(
            "c3.faster",
            "assembly is far faster than swapcontext",
            None,
            "fiber/asm ÷ fiber/ucontext",
            "> 1.05",
            "115× (95 % 112–119)",
            Verdict::Reproduced,
            "",
        )],
        commands: commands(&["fiber/ucontext", "fiber/asm"], "switch-O2"),
        ..Default::default()
    };

    let won = &mut c3.groups[0].winners[0];
    won.models = vec![text("fiber/asm")];
    won.lead
        .iter_mut()
        .for_each(|lead| lead.over = text("fiber/ucontext"));

    Report {
        version: text("0.1.0"),
        command: ["heddle", "compare", "--quick"].map(text).into(),
        mode: text("quick"),
        seed: 2_411_880_934,
        started_ns: 1_795_294_930_000_000_000,
        took_ns: 221_400_000_000,
        machine: machine(),
        builds: [
            ("GCC 12.2.0", "-O0 -g"),
            ("GCC 12.2.0", "-O2"),
            ("go1.19.8", ""),
        ]
        .map(|(compiler, flags)| {
            BTreeMap::from([
                ("compiler".to_string(), text(compiler)),
                ("flags".to_string(), text(flags)),
            ])
        })
        .into(),
        notes: vec![],
        experiments: vec![a1, a2, a3, b1, c1, c3],
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
        failures: vec![],
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
    Report {
        version: "0.1.0".into(),
        command: vec!["heddle".into(), "compare".into(), "my experiments".into()],
        mode: "quick".into(),
        seed: 1,
        started_ns: 1_795_294_930_000_000_000,
        took_ns: 1_500_000_000,
        machine: machine(),
        experiments: vec![experiment],
        ..Default::default()
    }
}

/// `results.jsonl` of a report, as far as the page is concerned: a line a sample.
pub fn jsonl(report: &Report) -> String {
    let mut lines = String::new();
    for experiment in &report.experiments {
        for (group, series) in experiment
            .groups
            .iter()
            .flat_map(|group| group.series.iter().map(move |series| (group, series)))
        {
            for value in series.cells.iter().flat_map(|cell| &cell.values) {
                let line = json!({"experiment": experiment.id, "model": series.model, "point": group.at, "metrics": {&experiment.metric.name: value}});
                lines += &format!("{line}\n");
            }
        }
    }
    lines
}
