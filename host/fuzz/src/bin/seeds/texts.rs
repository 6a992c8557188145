//! What people and programs write as text.

use super::Corpus;
use heddle_lab::experiment::Mode;
use heddle_lab::output::{Identity, Record};
use heddle_lab::run::{Options, Shard};
use heddle_results::{ProcessUsage, Sample, Status};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Heddle's own experiments, under the name that the target gives its file.
pub fn experiments(corpus: &Corpus) {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/experiments");
    for entry in std::fs::read_dir(own).unwrap() {
        let path = entry.unwrap().path();
        let id = path.file_stem().unwrap().to_string_lossy().into_owned();
        if path.extension().is_some_and(|end| end == "toml") {
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.replacen(&format!("id = \"{id}\""), "id = \"e\"", 1);
            corpus.add(&id, text.as_bytes());
        }
    }
}

/// Patterns of every kind, with names of every kind.
pub fn filters(corpus: &Corpus) {
    let names = "_Z3addii.constprop.0\n_ZNKSt6vectorIiSaIiEE4sizeEv\n_ZSt4swapIiEvRT_S1_\nmain\n\
                 _Z4leafPZ4leafiE14_Z4leafi.Frame.actor\nname@@GLIBC_2.2.5\n_ZN1AclEi\n\
                 _ZZ3foovENKUlvE_clEv\n_Z1fDpT_\n_ZN12_GLOBAL__N_11fEv.part.0.cold\n";
    for (number, (range, pattern)) in [
        ("1.5s..2s", "add"),
        ("300ms..", "glob:std::*"),
        ("..2.25us", r"re:^add\(int"),
        (".5min..31s", "vector.*size"),
        ("7.9ns..8ns", "glob:*::f(?*"),
        ("0..1", "[[:alpha:]]{2,5}(a|b)+$"),
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!("{range}\n{pattern}\n{names}");
        corpus.add(&format!("pattern-{number}"), text.as_bytes());
    }
}

/// The `modules` of a process, which plans answer.
pub fn plans(corpus: &Corpus) {
    let lines = "load 1 1000 3000 1000 2000 100 - /a\nload 1 5000 6000 5000 6000 5000 abcd /b c\n\
                 unload 2 1000\nload 2 7000 8000 7000 8000 7000 - /c\nload 3 9000 a000 90";
    corpus.add("modules", lines.as_bytes());
    corpus.add("whole", lines.rsplit_once('\n').unwrap().0.as_bytes());
}

/// Runs that can be resumed or put together, with samples of every end.
pub fn results(corpus: &Corpus) {
    let part = Shard { number: 2, of: 3 };
    for (name, full, each, shard) in [
        ("quick", false, 12, None),
        ("full", true, 4, None),
        ("part", false, 2, Some(part)),
    ] {
        let options = Options {
            mode: if full { Mode::Full } else { Mode::Quick },
            models: Vec::new(),
            samples: Some(each),
            timeout: Some(Duration::from_secs(2)),
            budget: Duration::from_secs(60),
            seed: 7,
            shard,
            trace: None,
            lab: "/lab".into(),
        };
        let command = vec!["heddle".to_owned(), "compare".to_owned()];
        let mut record = Record::new(&[], &options, (None, true), command).unwrap();
        record.machine = Default::default();
        record.experiments = vec![Identity {
            id: "e".into(),
            path: "/e.toml".into(),
            hash: "0".into(),
            text: include_str!("../../e.toml").into(),
        }];
        let mut text = serde_json::to_string_pretty(&record).unwrap() + "\n\n";
        for (number, model) in ["serial", "thread", "stackless"].into_iter().enumerate() {
            for n in 1..=3 {
                for sample in 0..each {
                    let taken = taken(model, n, sample, number as u32 + 1);
                    text += &(serde_json::to_string(&taken).unwrap() + "\n");
                }
            }
        }
        corpus.add(name, text.as_bytes());
    }
}

fn taken(model: &str, n: u32, sample: u32, factor: u32) -> Sample {
    let (good, time) = (sample % 5 != 4, f64::from(1000 * n * factor + 10 * sample));
    let values = |pairs: &[(&str, f64)]| -> BTreeMap<String, f64> {
        let pairs = pairs.iter();
        pairs
            .map(|&(name, value)| (name.to_owned(), value))
            .collect()
    };
    let point: heddle_results::Values =
        [("n".to_owned(), n.into()), ("opt".to_owned(), "O0".into())].into();
    Sample {
        experiment: "e".into(),
        workload: "w".into(),
        model: model.into(),
        params: point.clone(),
        point,
        sample,
        order: 3 * sample + factor,
        seed: 7,
        started_ns: 1_700_000_000_000_000_000,
        status: if good { Status::Ok } else { Status::Crashed },
        detail: (!good).then(|| "signal 11".to_owned()),
        checked: good.then(|| "sum".to_owned()),
        ran: None,
        result: good.then(|| "42".to_owned()),
        command: vec!["/bin/true".into()],
        metrics: values(&[("wall_ns", time)]),
        counters: values(&[("switches", 4.0)]),
        process: ProcessUsage::default(),
        around: None,
        traced: None,
        build: [("compiler".to_owned(), "g++ 12".to_owned())].into(),
        machine: Arc::default(),
    }
}
