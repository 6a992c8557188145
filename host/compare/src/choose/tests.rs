//! A made-up report: I/O from 10 to 1000 alive and 1 to 100 µs, and one place for memory.

use super::{of_machines, text};
use crate::hints::Hints;
use crate::show::OfMachine;
use heddle_results::{
    ExperimentReport, Found, Group, Lead, Like, Metric, Report, Values, WaitsOn, Winner, Work,
    find_near,
};

fn estimate(value: f64) -> heddle_results::Estimate {
    heddle_results::Estimate {
        value,
        low: value * 0.9,
        high: value * 1.1,
    }
}

/// A place with these at the front, and threads behind.
fn winner(alive: f64, work_ns: Option<f64>, front: &[&str]) -> Winner {
    let behind = vec![Lead {
        over: "thread".into(),
        times: estimate(3.0),
    }];
    Winner {
        x: Some(alive),
        like: Some(Like {
            waits_on: WaitsOn::Io,
            alive,
            work_ns,
        }),
        models: front.iter().map(|it| (*it).to_owned()).collect(),
        lead: behind.first().cloned(),
        ties: vec![],
        behind,
    }
}

fn experiment(id: &str, unit: &str, winners: Vec<Winner>) -> ExperimentReport {
    ExperimentReport {
        id: id.into(),
        axis: Some("n".into()),
        metric: Metric {
            unit: unit.into(),
            ..Metric::default()
        },
        groups: vec![Group {
            label: String::new(),
            at: Values::new(),
            series: vec![],
            winners,
        }],
        ..ExperimentReport::default()
    }
}

fn report() -> Report {
    let server = vec![
        winner(10.0, Some(1e3), &["stackless", "goroutine"]),
        winner(
            100.0,
            Some(1e4),
            &["cooperative/stackless", "event-loop/single"],
        ),
        winner(1000.0, Some(1e5), &["fiber/asm"]),
    ];
    let idle = vec![winner(10_000.0, None, &["stackless"])];
    Report {
        experiments: vec![
            experiment("server", "ns", server),
            experiment("idle", "bytes", idle),
        ],
        ..Report::default()
    }
}

fn asked(waits_on: WaitsOn, alive: f64, work_us: f64) -> Work {
    Work {
        waits_on,
        alive,
        work_ns: 1e3 * work_us,
    }
}

fn told(report: &Report, work: Work) -> String {
    let found: Found = find_near(report, work);
    text::of(report, work, &found, &Hints::of(None, None, None), 100)
}

#[test]
fn a_choice_is_what_is_at_the_front_in_the_nearest_cells() {
    let report = report();
    let near = told(&report, asked(WaitsOn::Io, 12.0, 1.2));
    assert!(
        near.starts_with(
            "CHOOSE    coroutine or goroutine, which cannot be told apart in the nearest cell\n"
        ),
        "{near}"
    );
    assert!(
        near.contains("NEAREST   server, n=10: 10 alive, 1.00 µs between two waits\n"),
        "{near}"
    );
    assert!(
        near.contains("behind: thread 3.00× (95 % 2.70–3.30)"),
        "{near}"
    );
    // Between two cells that have only one kind in common.
    let between = told(&report, asked(WaitsOn::Io, 32.0, 3.2));
    assert!(
        between.starts_with("CHOOSE    coroutine, at the front in all of the 2 nearest cells\n"),
        "{between}"
    );
    // Between two that have none.
    let torn = told(&report, asked(WaitsOn::Io, 316.0, 31.6));
    assert!(torn.starts_with("CHOOSE    nothing surely: no kind of model is at the front in all of the 2 nearest cells\n"), "{torn}");
}

#[test]
fn nothing_is_said_of_work_beyond_what_was_measured() {
    let report = report();
    for (work, why) in [
        (
            asked(WaitsOn::Io, 10_000.0, 20.0),
            "10\u{202f}000 alive, where 10 to 1\u{202f}000 were measured. `heddle compare --full`",
        ),
        (asked(WaitsOn::Io, 9.0, 20.0), "9 alive, where 10 to"),
        (
            asked(WaitsOn::Io, 20.0, 200.0),
            "200 µs between two waits, where 1.00 µs to 100 µs were",
        ),
        (
            asked(WaitsOn::Io, 10.0, 100.0),
            "the nearest cell is 100× away",
        ),
        (
            asked(WaitsOn::Locks, 20.0, 20.0),
            "no work that waits on locks",
        ),
    ] {
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (text, why) = (plain(&told(&report, work)), plain(why));
        assert!(text.starts_with("CHOOSE nothing"), "{text}");
        assert!(text.contains(&why), "{text}");
        assert!(find_near(&report, work).kinds.is_empty());
    }
    let timeless = Report {
        experiments: vec![experiment(
            "idle",
            "bytes",
            vec![winner(10.0, None, &["thread"])],
        )],
        ..Report::default()
    };
    let text = told(&timeless, asked(WaitsOn::Io, 10.0, 20.0));
    assert!(
        text.starts_with("CHOOSE    nothing: no such work of the report"),
        "{text}"
    );
    // Memory has cells of its own.
    let many = told(&report, asked(WaitsOn::Io, 10_000.0, 20.0));
    assert!(
        many.contains("MEMORY    idle, n=10000: 10\u{202f}000 alive\n"),
        "{many}"
    );
    assert!(
        find_near(&report, asked(WaitsOn::Io, 100.0, 20.0))
            .memory
            .is_none()
    );
}

#[test]
fn each_of_several_machines_answers_for_itself() {
    let of_machine = |name: &str, models: &[&str]| {
        let mut report = Report {
            experiments: vec![experiment(
                "server",
                "ns",
                vec![winner(10.0, Some(1e3), models)],
            )],
            ..Report::default()
        };
        (report.machine.cpu, report.machine.cpus) = (format!("{name} processor"), 4);
        OfMachine {
            name: name.into(),
            report,
        }
    };
    let machines = [
        of_machine("laptop", &["stackless"]),
        of_machine("server", &["goroutine"]),
    ];
    let hints = Hints::of(None, None, None);
    let asked_at = |alive| of_machines(asked(WaitsOn::Io, alive, 1.0), &machines, &hints, 100);
    let (value, text, chosen) = asked_at(10.0);
    assert!(chosen);
    assert!(
        text.starts_with(
            "MACHINE   laptop: laptop processor, 4 processors\n\
             CHOOSE    coroutine, at the front in the nearest cell\n"
        ),
        "{text}"
    );
    assert!(
        text.contains(
            "\n\nMACHINE   server: server processor, 4 processors\n\
             CHOOSE    goroutine, at the front in the nearest cell\n"
        ),
        "{text}"
    );
    let kinds = |number: usize| &value["machines"][number]["kinds"];
    assert_eq!(
        (&kinds(0)[0], &kinds(1)[0]),
        (&"coroutine".into(), &"goroutine".into())
    );
    // One place alone was measured.
    let (_, text, chosen) = asked_at(11.0);
    assert!(
        !chosen && text.contains("11 alive, where 10 were measured"),
        "{text}"
    );
}
