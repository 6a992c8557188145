//! The large report: something of everything.

use super::*;

/// Everything that the page can show: nine experiments like those of the first comparison.
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

    let mut c3_goal = claim(
        "c3.goal",
        "A switch takes less than 5 ns",
        None,
        "switch ns of fiber/asm",
        "≤ 5.00 ns",
        "1.92 ns (95 % 1.87–1.99 ns)",
        Verdict::Reproduced,
        "",
    );
    c3_goal.kind = Kind::Goal;
    c3.claims.push(c3_goal);

    let mut experiments = vec![a1, a2, a3, b1, c1, c3];
    experiments.extend(super::printed::three());
    let answers = [
        ("a1-matrix", "matrices", json!({"opt": "O2", "n": 256.0})),
        ("a2-kv", "shared counters under locks", json!({"opt": "O2"})),
        ("b1-switch", "small messages between two", json!({})),
        ("c3-swapcontext", "small messages between two", json!({})),
        (
            "e2-buffer",
            "a producer and a consumer",
            json!({"work": 100.0}),
        ),
    ];
    for (number, (id, usage, at)) in answers.into_iter().enumerate() {
        for experiment in experiments.iter_mut().filter(|it| it.id == id) {
            experiment.usage = usage.into();
            experiment.answers = vec![Answer {
                label: format!("the {} of {id}", experiment.workload),
                at: serde_json::from_value(at.clone()).unwrap(),
                why: Some("voluntary_switches".into()),
                order: Some(number as u32),
            }];
        }
    }
    super::compare_ends(&mut experiments);
    super::read_from_sources(&mut experiments);

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
        notes: vec![text(
            "Other programs used 23 % of this machine's processors meanwhile.",
        )],
        busy: Some(0.23),
        around: None,
        experiments,
    }
}
