//! `--shard` and `--merge`: parts of a run are put together, and machines stand side by side.

use crate::house::{House, RATIO, TWICE};
use predicates::prelude::{PredicateBooleanExt, predicate::str::contains};
use serde_json::Value;
use std::collections::BTreeSet;

/// A number of models at seven places of a sweep, with claims, one of which is along the sweep.
fn swept(house: &House, script: &str) {
    let slope = "\n[[claim]]\nid = 'flat'\nwords = 'it does not grow'\nreading = 'the slope is small'\nsays = 'sameness'\nform = 'slope'\nmodel = 'slow'\nalong = 'n'\nbound = { min = -0.1, max = 0.1 }\n";
    let ratios = RATIO.replace("denominator", "at = { n = 3 }\ndenominator");
    house.mine(script, "'fast', 'slow'", &format!("{ratios}{slope}"));
    house.edit(
        "timeout_s = 20",
        "timeout_s = 20, sweep = [{ n = [1, 2, 3, 4, 5, 6, 7] }]",
    );
    house.edit("workload =", "axis = 'n'\nworkload =");
}

/// Takes a part, or all.
fn take(house: &House, dir: &str, shard: Option<&str>) {
    let mut arguments = vec!["own/", "-n", "8", "-o", dir];
    arguments.extend(shard.iter().flat_map(|shard| ["--shard", shard]));
    house.compare(&arguments).assert().code(0);
}

fn report(house: &House, dir: &str) -> Value {
    let text = std::fs::read_to_string(house.path(dir).join("report.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// What was found, without what the kernel counts and the commands, which are of other points.
fn found(house: &House, dir: &str) -> Value {
    fn clean(value: &mut Value) {
        if let Value::Object(fields) = value {
            fields.retain(|name, _| name != "commands");
            if let Some(Value::Object(counters)) = fields.get_mut("counters") {
                counters.retain(|name, _| name == "strand_switches");
            }
            fields.values_mut().for_each(clean);
        } else if let Value::Array(values) = value {
            values.iter_mut().for_each(clean);
        }
    }
    let mut found = report(house, dir)["experiments"].take();
    clean(&mut found);
    found
}

/// The points of a directory's samples.
fn places(house: &House, dir: &str) -> BTreeSet<String> {
    let samples = house.samples_in(dir);
    samples.iter().map(|it| it["point"].to_string()).collect()
}

/// Writes what another machine would have.
fn elsewhere(house: &House, dir: &str, field: &str, value: &str) {
    let path = house.path(dir).join("run.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut record: Value = serde_json::from_str(&text).unwrap();
    record["machine"][field] = value.into();
    std::fs::write(&path, record.to_string()).unwrap();
}

#[test]
fn parts_of_one_machine_are_what_the_whole_run_would_be() {
    let house = House::new();
    swept(&house, TWICE);
    take(&house, "whole", None);
    for shard in ["1/3", "2/3", "3/3"] {
        take(&house, &format!("part-{}", &shard[..1]), Some(shard));
    }
    // Each place is in one part, with all of its models, and the parts are as large as can be.
    let parts = [1, 2, 3].map(|part| places(&house, &format!("part-{part}")));
    let sizes = parts.each_ref().map(BTreeSet::len);
    assert_eq!(sizes.iter().sum::<usize>(), 7, "{parts:?}");
    assert!(sizes.iter().all(|size| [2, 3].contains(size)), "{parts:?}");
    let all: BTreeSet<String> = parts.into_iter().flatten().collect();
    assert_eq!(all, places(&house, "whole"));
    // A part says what it is, and judges no claim.
    let part = report(&house, "part-1");
    let note = part["notes"][0].as_str().unwrap();
    assert!(
        note.starts_with("Shard 1/3: ") && note.contains("of 7 places"),
        "{note}"
    );
    assert_eq!(part["experiments"][0]["claims"], Value::Array(vec![]));

    house
        .unseeded(&["--merge", "part-3", "part-1", "part-2"])
        .assert()
        .code(0)
        .stdout(contains("2 of 3 statements reproduced · 1 not"))
        .stdout(contains("REPORT   report/index.html"));
    let (whole, merged) = (report(&house, "whole"), report(&house, "report"));
    for field in ["seed", "mode", "version"] {
        assert_eq!(merged[field], whole[field], "{field}");
    }
    let whole = found(&house, "whole");
    assert!(
        found(&house, "report") == whole,
        "{}",
        found(&house, "report")
    );
    assert_eq!(whole[0]["claims"].as_array().unwrap().len(), 3);
    assert_eq!(house.samples_in("report").len(), 7 * 2 * 8);
    let orders: Vec<u64> = (house.samples_in("report").iter())
        .map(|sample| sample["order"].as_u64().unwrap())
        .collect();
    assert_eq!(orders, (0..7 * 2 * 8).collect::<Vec<u64>>());
    // The merged report is one like any other.
    house.unseeded(&["--show", "mine"]).assert().code(0);
    house
        .unseeded(&["--merge", "report", "-o", "again"])
        .assert()
        .code(0);
    assert!(found(&house, "again") == whole);
}

#[test]
fn a_part_names_the_commands_that_go_on_with_it() {
    let house = House::new();
    swept(&house, TWICE);
    let part = ["own/", "-n", "6", "--shard", "1/2"];
    house
        .compare(&part)
        .assert()
        .code(0)
        .stderr(contains(
            "comparing mine, shard 1/2, 6 samples a cell (seed 1)",
        ))
        .stdout(contains(
            "heddle compare --merge DIR… puts the parts together",
        ));
    assert!(house.path("report-1-of-2/index.html").exists());
    // Ended within its fifth sample, and gone on with as it says.
    let ended =
        format!("echo >> taken; [ $(wc -l < taken) = 5 ] && kill -INT $PPID && sleep 600\n{TWICE}");
    swept(&house, &ended);
    let goes_on = "heddle compare --resume -o report-2-of-2 goes on from here";
    let part = ["own/", "-n", "6", "--shard", "2/2"];
    house
        .compare(&part)
        .assert()
        .code(130)
        .stdout(contains(goes_on));
    house
        .unseeded(&["--resume", "-o", "report-2-of-2"])
        .assert()
        .code(0)
        .stderr(contains("going on with mine, shard 2/2"));
    assert_eq!(places(&house, "report-2-of-2").len(), 3);
    // Nothing of the lab is built to put runs together.
    let programs = house
        .unseeded(&["--merge", "report-1-of-2", "--programs"])
        .assert();
    programs.code(0).stdout("");
}

#[test]
fn another_seed_deals_otherwise_and_a_part_that_is_missing_is_told() {
    let house = House::new();
    swept(&house, TWICE);
    let dealt = |seed: &str| {
        let dir = format!("seed-{seed}");
        let arguments = [
            "own/", "-n", "6", "--shard", "1/2", "-o", &dir, "--seed", seed,
        ];
        house.unseeded(&arguments).assert().code(0);
        places(&house, &dir)
    };
    let dealt: BTreeSet<_> = ["1", "2", "3", "4"].map(dealt).into_iter().collect();
    assert!(dealt.len() > 1, "{dealt:?}");

    take(&house, "report-1-of-2", Some("1/2"));
    house
        .unseeded(&["--merge", "report-1-of-2"])
        .assert()
        .code(1)
        .stdout(contains("Partial: shard 2/2 is missing"));
    take(&house, "report-2-of-2", Some("2/2"));
    let both = ["report-1-of-2", "report-2-of-2"];
    for (arguments, error) in [
        (
            vec!["--merge", both[0], both[1], both[0]],
            "shard 1/2 is there twice",
        ),
        (
            vec!["--merge", both[0], both[1], "-o", both[0]],
            "report-1-of-2 is one of the runs to merge: name another place",
        ),
        (
            vec!["--merge", both[0], "own"],
            "there is no finished run in own",
        ),
        (vec!["own/", "--shard", "1/2"], "--seed"),
        (
            vec!["own/", "--shard", "3/2"],
            "expected I/N with I from 1 to N",
        ),
        (
            vec!["own/", "--shard", "2/8", "--seed", "1"],
            "there are only 7 places",
        ),
        (vec!["own/", "--merge", "a"], "cannot be used with"),
    ] {
        house
            .unseeded(&arguments)
            .assert()
            .code(2)
            .stderr(contains(error));
    }
    // Files that differ, and runs that were asked for something else, are not put together.
    house.edit("A fifth workload", "Another title");
    take(&house, "other", Some("2/2"));
    house
        .unseeded(&["--merge", both[0], "other"])
        .assert()
        .code(2)
        .stderr(contains(
            "the file of mine is not the same in report-1-of-2 and in other",
        ));
}

#[test]
fn machines_are_columns_and_their_times_are_not_mixed() {
    let house = House::new();
    swept(&house, TWICE);
    take(&house, "a", None);
    house
        .unseeded(&["--merge", "a", "a"])
        .assert()
        .code(2)
        .stderr(contains("a and a are whole runs of one machine"));
    // Elsewhere all is 100 times as slow, and `slow` is the faster of the two.
    let other = "b=300000; [ $m = slow ] && b=200000; line $(( b + noise ))\n";
    swept(&house, other);
    for shard in ["1/2", "2/2"] {
        take(&house, &format!("b-{}", &shard[..1]), Some(shard));
    }
    for dir in ["b-1", "b-2"] {
        elsewhere(&house, dir, "cpu", "Another <b>processor</b>");
        elsewhere(&house, dir, "host", &format!("node-{dir}"));
    }
    house
        .unseeded(&["--merge", "a", "b-1", "b-2", "-o", "both"])
        .assert()
        .code(0)
        .stdout(
            contains("2 machines")
                .and(contains("node-b-1 +1"))
                .and(contains("fast 1.00 µs"))
                .and(contains("slow 200 µs"))
                .and(contains("slow 2.00×"))
                .and(contains("fast 1.50×"))
                .and(contains("\"half as fast\"")),
        );
    let page = house.page_in("both");
    for text in [
        "node-b-1 +1",
        "machines differ",
        "no family is best on all",
        "200 µs",
    ] {
        assert!(page.contains(text), "{text}");
    }
    let html = std::fs::read_to_string(house.path("both/index.html")).unwrap();
    assert!(!html.contains("<b>processor"), "text is no markup");
    assert!(html.contains("href=\"machine-2.html\""));
    assert!(house.path("both/machine-2.html").exists());
    let data = report(&house, "both");
    assert_eq!(data["machines"].as_array().unwrap().len(), 2);
    assert_eq!(house.samples_in("both").len(), 2 * 7 * 2 * 8);
    house
        .unseeded(&["--merge", "both", "a", "-o", "more"])
        .assert()
        .code(2)
        .stderr(contains("both is a report of 2 machines"));
    house
        .unseeded(&["--show", "mine", "-o", "both"])
        .assert()
        .code(2)
        .stderr(contains("both is a report of 2 machines"));
    // A second report of machines takes the place of the first, which is kept.
    house
        .unseeded(&["--merge", "b-1", "b-2", "a", "-o", "both"])
        .assert()
        .code(0);
    assert!(house.path("both.old/machine-1.html").exists());
}
