//! What is kept and what is summed up is everything.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use proptest::prelude::*;

fn strand(number: u64, kind: StrandKind, suspended: u64) -> Strand {
    Strand {
        process: 0,
        number,
        kind,
        tid: None,
        thread: 0,
        name: format!("f{}", number % 3),
        parent: None,
        resumer: None,
        born: 0,
        died: None,
        running: number,
        suspended,
        activations: 1,
        calls: 1,
    }
}

fn builder(strands: u64, limits: &Limits) -> Builder {
    let kind = |number| match number {
        1 => StrandKind::Thread,
        _ => StrandKind::Fiber,
    };
    let strands = (1..=strands).map(|number| strand(number, kind(number), number % 7));
    let process = Process {
        pid: 1,
        name: "p".to_owned(),
    };
    let mut builder = Builder::new(Head::default(), vec![process], strands.collect(), limits);
    for name in ["a", "b", "c"] {
        builder.function(Function {
            name: name.to_owned(),
            module: String::new(),
        });
    }
    builder
}

const TIGHT: Limits = Limits {
    calls: 20,
    pauses: 10,
    strands: 8,
    rows: 4,
    cells: 12,
    events: 3,
};

proptest! {
    /// Over what is kept and what is summed up: all calls, and all their time, of each
    /// function.
    #[test]
    fn totals_are_conserved(
        all in prop::collection::vec(
            (1u64..20, 0u32..3, 0u64..1 << 40, 0u64..1 << 20, 0u32..100), 0..300)
    ) {
        let mut builder = builder(20, &TIGHT);
        let mut expected = [(0u64, 0u64, 0u64); 3];
        for &(number, function, enter, duration, depth) in &all {
            let strand = builder.find(0, number).unwrap();
            let (exit, own) = (enter + duration, duration / 2);
            builder.call(Call {
                strand, thread: 0, function, site: 0, enter, exit, own, depth, open: false,
            });
            let sum = &mut expected[function as usize];
            *sum = (sum.0 + 1, sum.1 + duration, sum.2 + own);
        }
        let data = builder.finish();
        prop_assert!(data.calls.kept.len() <= TIGHT.calls);
        let mut found = [(0u64, 0u64, 0u64); 3];
        for call in &data.calls.kept {
            let sum = &mut found[call.function as usize];
            *sum = (sum.0 + 1, sum.1 + call.duration(), sum.2 + call.own);
        }
        for cell in &data.calls.cells {
            let sum = &mut found[cell.key.what as usize];
            *sum = (sum.0 + cell.count, sum.1 + cell.time, sum.2 + cell.own);
        }
        prop_assert_eq!(found, expected);
        let totals = data.functions.iter().map(|(_, t)| (t.calls, t.time, t.own));
        prop_assert_eq!(totals.collect::<Vec<_>>(), expected.to_vec());
    }

    /// The order in which things come changes nothing.
    #[test]
    fn order_does_not_matter(
        all in prop::collection::vec((1u64..20, 0u32..3, 0u64..1 << 30, 0u64..1 << 20), 0..120)
    ) {
        let build = |all: &[(u64, u32, u64, u64)]| {
            let mut builder = builder(20, &TIGHT);
            for &(number, what, from, duration) in all {
                let strand = builder.find(0, number).unwrap();
                let to = from + duration;
                builder.call(Call {
                    strand, thread: 0, function: what, site: 0, enter: from, exit: to, own: 0,
                    depth: 0, open: false,
                });
                builder.pause(Pause {
                    strand, from, to, open: false, why: Why::Lock, reason: 0, place: 0,
                    function: None, by: None, holder: None, thread: 0,
                });
            }
            let data = builder.finish();
            (data.calls.kept, data.calls.cells, data.pauses.kept, data.pauses.cells)
        };
        let mut backwards = all.clone();
        backwards.reverse();
        prop_assert_eq!(build(&all), build(&backwards));
    }
}

#[test]
fn the_longest_suspended_strands_are_listed_and_the_others_are_in_their_groups() {
    let data = builder(1000, &TIGHT).finish();
    assert_eq!(data.strands.len(), 8);
    assert_eq!(data.strands[0].0.kind, StrandKind::Thread);
    assert!(
        data.strands
            .iter()
            .filter(|(strand, _)| strand.suspended == 6)
            .count()
            >= 5
    );
    let all: u64 = data.groups.iter().map(|group| group.strands).sum();
    let listed: u64 = data.groups.iter().map(|group| group.listed).sum();
    assert_eq!((all, listed), (1000, 8));
}
