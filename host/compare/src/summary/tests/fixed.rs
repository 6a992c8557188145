//! A report with something of everything.

use heddle_results::{
    Answer, Cell, ClaimReport, Estimate, ExperimentReport, Group, Kind, Lead, Limits, Machine,
    Metric, Report, Series, SkippedModel, Source, Status, Value, Values, Verdict, Winner,
};
use std::collections::BTreeMap;

fn estimate(value: f64) -> Estimate {
    Estimate {
        value,
        low: value * 0.9,
        high: value * 1.1,
    }
}

fn point(pairs: &[(&str, Value)]) -> Values {
    let own = |(name, value): &(&str, Value)| ((*name).to_owned(), value.clone());
    pairs.iter().map(own).collect()
}

/// A place at which `front` ties, and the others are behind by these factors.
fn group(label: &str, at: Values, x: Option<f64>, front: &[&str], behind: &[(&str, f64)]) -> Group {
    let series = |model: &str, median: f64, switches: f64| Series {
        model: model.into(),
        reference: false,
        cells: vec![Cell {
            x,
            point: at.clone(),
            values: vec![median; 20],
            median: Some(estimate(median)),
            counters: BTreeMap::from([("switches_per_request".into(), switches)]),
            fixed: BTreeMap::new(),
            to_base: None,
            columns: vec![],
            failures: vec![],
            traced: None,
        }],
    };
    let ahead = front.iter().map(|model| series(model, 100.0, 0.044));
    let others = behind
        .iter()
        .map(|(model, factor)| series(model, 100.0 * factor, 1.03));
    let behind: Vec<Lead> = behind
        .iter()
        .map(|(model, factor)| Lead {
            over: (*model).into(),
            times: estimate(*factor),
        })
        .collect();
    Group {
        label: label.into(),
        at: at.clone(),
        series: ahead.chain(others).collect(),
        winners: vec![Winner {
            x,
            models: front.iter().map(|model| (*model).into()).collect(),
            lead: behind.first().cloned(),
            like: None,
            ties: vec![],
            behind,
        }],
    }
}

fn claim(
    id: &str,
    words: &str,
    ours: &str,
    value: f64,
    verdict: Verdict,
    needed: Option<u64>,
) -> ClaimReport {
    ClaimReport {
        id: id.into(),
        kind: Kind::Claim,
        words: words.into(),
        short: String::new(),
        document: "An article".into(),
        part: String::new(),
        reading: String::new(),
        figure: None,
        computed: "thread ÷ stackless".into(),
        bound: "≤ 1".into(),
        within: Limits {
            min: None,
            max: Some(1.0),
        },
        ours: ours.into(),
        estimate: Some(estimate(value)),
        compared: vec![],
        coefficients: vec![],
        cells: vec![],
        verdict,
        needed,
        unsteady: false,
        note: String::new(),
        why: String::new(),
    }
}

fn experiment(id: &str, unit: &str, groups: Vec<Group>) -> ExperimentReport {
    ExperimentReport {
        id: id.into(),
        title: format!("The {id} experiment"),
        source: Some(Source {
            document: "An article".into(),
            ..Source::default()
        }),
        metric: Metric {
            name: "wall_ns".into(),
            label: "time".into(),
            unit: unit.into(),
            ..Metric::default()
        },
        groups,
        ..ExperimentReport::default()
    }
}

/// Three experiments: times, memory, and one that failed.
pub fn report() -> Report {
    let at = point(&[("opt", "O2".into())]);
    let mut first = experiment(
        "first",
        "ns",
        vec![group(
            "-O2",
            at.clone(),
            Some(8.0),
            &[
                "thread",
                "cooperative/asm",
                "cooperative/stackless",
                "fiber/asm",
            ],
            &[
                ("goroutine", 1.28),
                ("fiber/ucontext", 2.5),
                ("tokio", 3.0),
                ("process/fork", 12_345.6),
            ],
        )],
    );
    first.axis = Some("n".into());
    first.verdicts = vec!["first, -O2: thread wins at 100 ns, 1.28× ahead of goroutine.".into()];
    first.answers = vec![Answer {
        label: "HTTP, 64 clients".into(),
        at: point(&[("opt", "O2".into()), ("n", 8.into())]),
        why: Some("switches_per_request".into()),
        order: Some(2),
    }];
    first.claims = vec![
        claim(
            "first.far",
            "approximately 70 times lower than the overhead caused by system calls, which nobody expected",
            "2.79× (95 % 2.51–3.07)",
            2.79,
            Verdict::NotReproduced,
            None,
        ),
        claim(
            "first.bold",
            "20x faster or more",
            "0.0461× (95 % 0.04–0.05) at n=8",
            0.0461,
            Verdict::Reproduced,
            None,
        ),
        claim(
            "first.open",
            "about the same",
            "1.01× (95 % 0.9–1.1)",
            1.01,
            Verdict::Inconclusive,
            Some(27),
        ),
    ];
    first.skipped = vec![SkippedModel {
        model: "boost-fiber".into(),
        reason: "Boost.Fiber is missing: `apt-get install libboost-fiber-dev`, then build again"
            .into(),
    }];

    let mut second = experiment(
        "second",
        "bytes",
        vec![group(
            "",
            Values::new(),
            None,
            &["stackless"],
            &[("thread", 174.2)],
        )],
    );
    second.answers = vec![Answer {
        label: "idle, memory".into(),
        at: Values::new(),
        why: None,
        order: Some(1),
    }];
    second.claims = vec![claim(
        "second.open",
        "8 MB",
        "12.7 KB (95 % 12–13 KB)",
        12.7,
        Verdict::Inconclusive,
        None,
    )];
    second.claims[0].verdict = Verdict::Skipped;
    second.claims[0].note = "needs --full: the quick sweep does not reach there".into();

    let same = claim(
        "second.same",
        "20x faster or more",
        "0.0582× (95 % 0.05–0.06)",
        0.0582,
        Verdict::Reproduced,
        None,
    );
    let mut question = claim(
        "second.question",
        "Is it so without stacks, too?",
        "2.00× (95 % 1.9–2.1)",
        2.0,
        Verdict::NotReproduced,
        None,
    );
    question.kind = Kind::Question;
    question.document.clear();
    second.claims.extend([same, question]);

    let mut third = experiment(
        "third",
        "ns",
        vec![group("", Values::new(), None, &[], &[])],
    );
    third.groups[0].winners[0].models.clear();
    third.groups[0].series = vec![Series {
        model: "concurrent".into(),
        reference: false,
        cells: vec![Cell {
            x: None,
            point: Values::new(),
            values: vec![],
            median: None,
            counters: BTreeMap::new(),
            fixed: BTreeMap::new(),
            to_base: None,
            columns: vec![],
            failures: vec![Status::Hung; 2],
            traced: None,
        }],
    }];
    third.answers = vec![Answer {
        label: "philosophers".into(),
        at: Values::new(),
        why: None,
        order: None,
    }];

    let mut fourth = experiment("fourth", "ns", vec![]);
    fourth.answers = vec![Answer {
        label: "timer".into(),
        at: Values::new(),
        why: None,
        order: None,
    }];
    fourth.skipped = vec![SkippedModel {
        model: "goroutine".into(),
        reason: "Go is missing: `apt-get install golang-go`".into(),
    }];
    Report {
        mode: "quick".into(),
        seed: 7,
        machine: Machine {
            cpus: 2,
            ..Machine::default()
        },
        notes: vec![
            "10 samples a cell instead of 20, to end within 4 min 00 s (`--budget`).".into(),
        ],
        experiments: vec![first, second, third, fourth],
        ..Report::default()
    }
}
