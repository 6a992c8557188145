//! Reports of any shape, with any texts.

use super::{assert_fits, seen, setting};
use crate::summary::Setting;
use heddle_results::{
    Answer, Cell, ClaimReport, Estimate, ExperimentReport, Group, Kind, Lead, Limits, Metric,
    Report, Series, SkippedModel, Status, ThreadTime, Traced, Value, Values, Verdict, Winner,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -1e3..1e3_f64,
        Just(0.0),
        Just(f64::INFINITY),
        Just(f64::NAN)
    ]
}

fn estimate() -> impl Strategy<Value = Estimate> {
    (number(), number(), number()).prop_map(|(value, low, high)| Estimate { value, low, high })
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![".{0,12}", "[a-z]{1,8}(/[a-z]{1,20})?", "(.{0,30} ){0,9}"]
}

fn model() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("thread".to_owned()),
        Just("fiber/asm".to_owned()),
        Just("fiber/ucontext".to_owned()),
        word()
    ]
}

fn values() -> impl Strategy<Value = Values> {
    let value = prop_oneof![
        (0..4_u64).prop_map(Value::from),
        word().prop_map(Value::from)
    ];
    proptest::collection::btree_map("[n-p]", value, 0..3)
}

fn status() -> impl Strategy<Value = Status> {
    prop_oneof![
        Just(Status::Ok),
        Just(Status::Hung),
        Just(Status::Crashed),
        Just(Status::Wrong),
        Just(Status::Garbage)
    ]
}

prop_compose! {
    fn traced()(
        failed in option::of(word()),
        times in option::of(any::<[u32; 6]>()),
        (allocation, switching, cost) in
            (option::of(any::<u32>()), option::of(number()), option::of(number())),
        cost_by in word(),
        missing in vec(word(), 0..3),
    ) -> Traced {
        let time = times.map(|[running, processor, locks, io, not_known, kernel_switches]| {
            ThreadTime {
                running_ns: running.into(), processor_ns: processor.into(),
                locks_ns: locks.into(), io_ns: io.into(), not_known_ns: not_known.into(),
                kernel_switches: kernel_switches.into(), missing: missing.clone(),
                allocation_ns: allocation.map(u64::from), ..ThreadTime::default()
            }
        });
        let told = None;
        Traced { command: vec![], failed, time, told, switching_ns: switching, cost, cost_by }
    }
}

prop_compose! {
    fn cell()(
        x in option::of(0..3_u8),
        point in values(),
        values in vec(number(), 0..4),
        median in option::of(estimate()),
        counters in proptest::collection::btree_map(word(), number(), 0..3),
        failures in vec(status(), 0..3),
        traced in option::of(traced()),
    ) -> Cell {
        Cell {
            x: x.map(f64::from), point, values, median, counters, fixed: Values::new(),
            to_base: None, columns: vec![],
            failures, traced,
        }
    }
}

prop_compose! {
    fn lead()(over in model(), times in estimate()) -> Lead {
        Lead { over, times }
    }
}

prop_compose! {
    fn winner()(
        x in option::of(0..3_u8),
        models in vec(model(), 0..5),
        behind in vec(lead(), 0..9),
    ) -> Winner {
        let lead = behind.first().cloned();
        Winner { x: x.map(f64::from), models, lead, like: None, ties: vec![], behind }
    }
}

prop_compose! {
    fn group()(
        label in word(),
        at in values(),
        series in vec((model(), any::<bool>(), vec(cell(), 0..3)), 0..5),
        winners in vec(winner(), 0..3),
    ) -> Group {
        let series = series
            .into_iter()
            .map(|(model, reference, cells)| Series { model, reference, cells })
            .collect();
        Group { label, at, series, winners }
    }
}

prop_compose! {
    fn claim()(
        id in word(),
        words in "(.{0,30} ){0,9}",
        short in word(),
        kind in prop_oneof![Just(Kind::Claim), Just(Kind::Question), Just(Kind::Goal)],
        ours in word(),
        estimate in option::of(estimate()),
        within in (option::of(number()), option::of(number())),
        verdict in prop_oneof![
            Just(Verdict::Reproduced),
            Just(Verdict::NotReproduced),
            Just(Verdict::Inconclusive),
            Just(Verdict::Skipped)
        ],
        needed in option::of(any::<u64>()),
        note in word(),
    ) -> ClaimReport {
        let (min, max) = within;
        ClaimReport {
            id, kind, words, short, document: String::new(), part: String::new(),
            reading: String::new(), figure: None, computed: String::new(), bound: String::new(),
            cells: vec![], within: Limits { min, max }, ours, estimate, compared: vec![],
            coefficients: vec![], verdict, needed, unsteady: false, note, why: String::new(),
        }
    }
}

prop_compose! {
    fn experiment()(
        names in (word(), word(), word()),
        axis in option::of("[n-p]"),
        answers in vec((word(), values(), option::of(word()), option::of(any::<u32>())), 0..3),
        groups in vec(group(), 0..4),
        claims in vec(claim(), 0..4),
        skipped in vec((model(), word()), 0..3),
        troubles in vec(word(), 0..2),
        verdicts in vec("(.{0,30} ){0,20}", 0..4),
    ) -> ExperimentReport {
        let (id, title, unit) = names;
        let answers = answers
            .into_iter()
            .map(|(label, at, why, order)| Answer { label, at, why, order })
            .collect();
        let skipped = skipped
            .into_iter()
            .map(|(model, reason)| SkippedModel { model, reason })
            .collect();
        let metric = Metric { unit, ..Metric::default() };
        ExperimentReport {
            id, title, axis, answers, metric, groups, claims, skipped, troubles, verdicts,
            ..ExperimentReport::default()
        }
    }
}

proptest! {
    #[test]
    fn no_report_makes_it_too_long_or_too_wide(
        experiments in prop_oneof![vec(experiment(), 0..3), vec(experiment(), 0..40)],
        notes in vec(word(), 0..5),
        width in 60..=120_usize,
        page in option::of("(/.{0,30}){0,6}"),
        resumable in any::<bool>(),
    ) {
        let report = Report { experiments, notes, ..Report::default() };
        let setting = Setting { page, resumable, ..setting(width) };
        let text = seen(&report, &setting);
        assert_fits(&text, width);
    }
}
