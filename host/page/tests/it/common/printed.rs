//! Experiments whose claim is a table that their source prints.

use super::*;

const DOCUMENT: &str =
    "A Comparison of Concurrent Programming and Cooperative Multithreading (Euro-Par 2000)";

/// Published, and ours where it was measured: its middle as a ratio.
type Row = (u32, &'static str, Option<f64>);

fn cell(&(work, figure, ours): &Row) -> CellReport {
    let published: f64 = figure.parse().unwrap();
    let within = Limits {
        min: Some((published - 10.0) / 100.0),
        max: Some((published + 10.0) / 100.0),
    };
    let estimate = ours.map(|value| Estimate {
        value,
        low: value * 0.97,
        high: value * 1.04,
    });
    let verdict = match (estimate, within) {
        (
            Some(it),
            Limits {
                min: Some(min),
                max: Some(max),
            },
        ) if it.low >= min && it.high <= max => Verdict::Reproduced,
        (
            Some(it),
            Limits {
                min: Some(min),
                max: Some(max),
            },
        ) if it.high < min || it.low > max => Verdict::NotReproduced,
        (Some(_), _) => Verdict::Inconclusive,
        (None, _) => Verdict::Skipped,
    };
    CellReport {
        place: format!("work={work}"),
        at: Values::from([("work".to_string(), json!(work))]),
        computed: "cooperative/asm ÷ concurrent".into(),
        figure: figure.into(),
        percent: true,
        bound: format!("{}–{}", published - 10.0, published + 10.0),
        within,
        ours: estimate.map_or_else(String::new, |it| {
            format!("{} (95 % {}–{})", it.value, it.low, it.high)
        }),
        estimate,
        verdict,
        note: match ours {
            Some(_) => String::new(),
            None => "needs --full: the quick sweep does not reach there".into(),
        },
    }
}

fn experiment(
    id: &str,
    workload: &str,
    part: &str,
    rows: &[Row],
    better: Verdict,
) -> ExperimentReport {
    let cells: Vec<CellReport> = rows.iter().map(cell).collect();
    let verdict = Verdict::of_all(cells.iter().map(|cell| cell.verdict));
    let (number, _) = id.split_once('-').unwrap();
    let ratio = "cooperative/asm ÷ concurrent";
    let table = ClaimReport {
        part: part.into(),
        reading: "CM is cooperative/asm, CP is concurrent, both on one processor; \
                  a printed cell holds within ten points"
            .into(),
        cells,
        ..claim(
            &format!("{number}.table"),
            "Table 1. Execution time ratio CM/CP (%) for three applications",
            None,
            ratio,
            "within 10 points of each figure",
            "1 of 3 cells reproduced",
            verdict,
            "3 of 5 cells measured: --full measures all",
        )
    };
    let faster = ClaimReport {
        short: "the CM programs perform better".into(),
        reading: format!("CM is ahead at each work of {workload}; ahead means a ratio below 0.95"),
        ..claim(
            &format!("{number}.better"),
            "For the applications in Table 1, the CM programs perform better for \
             two reasons: they perform no P/V operations (i.e., they synchronize using shared \
             variables and less often) and they make fewer context switches.",
            None,
            ratio,
            "≤ 0.95",
            if better == Verdict::Skipped {
                ""
            } else {
                "0.812× (95 % 0.79–0.84) at work=10 000; 0.612× to 0.812× over 3 points"
            },
            better,
            if better == Verdict::Skipped {
                "concurrent hung at work=100"
            } else {
                ""
            },
        )
    };
    let question = ClaimReport {
        kind: Kind::Question,
        ..claim(
            &format!("{number}.stackless"),
            "Is CM ahead of CP without stacks, too?",
            None,
            "cooperative/stackless ÷ concurrent",
            "≤ 0.95",
            "0.931× (95 % 0.90–0.97)",
            Verdict::Inconclusive,
            "about 24 samples a cell would settle it (`-n 24`), 12 were taken",
        )
    };
    let models: [Curve; 3] = [
        ("concurrent", false, &|work| 90.0 + work),
        ("cooperative/asm", false, &|work| 20.0 + work),
        ("cooperative/stackless", false, &|work| 18.0 + work),
    ];
    let random = &mut fastrand::Rng::with_seed(3);
    let works: Vec<f64> = rows.iter().take(3).map(|row| row.0.into()).collect();
    ExperimentReport {
        id: id.into(),
        title: format!("The {workload} under CP and CM"),
        question: "What do semaphores and implicit switches cost?".into(),
        workload: workload.into(),
        source: Some(Source {
            document: DOCUMENT.into(),
            place: "Table 1, section 3.1".into(),
            words: table.words.clone(),
        }),
        metric: metric("item_ns", "time per item", "ns", Better::Lower),
        axis: Some("work".into()),
        groups: vec![group(
            "",
            Values::new(),
            Some("work"),
            &works,
            &models,
            random,
        )],
        claims: vec![table, faster, question],
        ..Default::default()
    }
}

/// Table 1 of the Euro-Par paper, in three experiments.
pub fn three() -> Vec<ExperimentReport> {
    let philosophers = [
        (100, "20.0", Some(0.0342)),
        (1_000, "44.3", Some(0.241)),
        (10_000, "52.8", Some(0.612)),
        (100_000, "53.8", None),
        (1_000_000, "52.9", None),
    ];
    let buffer = [
        (100, "92.7", Some(0.712)),
        (1_000, "92.9", Some(0.931)),
        (10_000, "93.1", Some(0.992)),
        (100_000, "93.3", None),
        (1_000_000, "93.1", None),
    ];
    let readers = [
        (100, "77.8", Some(0.612)),
        (1_000, "74.8", Some(0.781)),
        (10_000, "70.8", Some(0.812)),
        (100_000, "69.8", None),
        (1_000_000, "70.2", None),
    ];
    vec![
        experiment(
            "e1-philosophers",
            "philosophers",
            "DP",
            &philosophers,
            Verdict::Skipped,
        ),
        experiment("e2-buffer", "buffer", "PC", &buffer, Verdict::Reproduced),
        experiment(
            "e3-readers-writers",
            "readers-writers",
            "",
            &readers,
            Verdict::Reproduced,
        ),
    ]
}
