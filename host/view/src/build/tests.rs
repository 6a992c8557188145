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
        id: "1".to_owned(),
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

/// Number, time, own time of calls; number and time of those that did not return.
type Counted = (u64, u64, u64, u64, u64);

fn add(sum: &mut Counted, duration: u64, own: u64, returned: bool) {
    let (cut, cut_time) = match returned {
        true => (0, 0),
        false => (1, duration),
    };
    *sum = (
        sum.0 + 1,
        sum.1 + duration,
        sum.2 + own,
        sum.3 + cut,
        sum.4 + cut_time,
    );
}

proptest! {
    /// Over what is kept and what is summed up: all calls, and all their time, of each
    /// function.
    #[test]
    fn totals_are_conserved(
        all in prop::collection::vec(
            (1u64..20, 0u32..3, 0u64..1 << 40, 0u64..1 << 20, 0u32..100, any::<bool>()), 0..300)
    ) {
        let mut builder = builder(20, &TIGHT);
        let mut expected = [Counted::default(); 3];
        for &(number, function, enter, duration, depth, returned) in &all {
            let strand = builder.find(0, number).unwrap();
            let (exit, own) = (enter + duration, duration / 2);
            builder.call(Call {
                strand, thread: 0, function, site: 0, enter, exit, own, depth, open: false,
                returned,
            });
            add(&mut expected[function as usize], duration, own, returned);
        }
        let data = builder.finish();
        prop_assert!(data.calls.kept.len() <= TIGHT.calls);
        let mut found = [Counted::default(); 3];
        for call in &data.calls.kept {
            add(&mut found[call.function as usize], call.duration(), call.own, call.returned);
        }
        for cell in &data.calls.cells {
            let sum = &mut found[cell.key.what as usize];
            *sum = (
                sum.0 + cell.count, sum.1 + cell.time, sum.2 + cell.own, sum.3 + cell.cut,
                sum.4 + cell.cut_time,
            );
        }
        prop_assert_eq!(found, expected);
        let totals = data.functions.iter();
        let totals = totals.map(|(_, t)| (t.calls, t.time, t.own, t.cut, t.cut_time));
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
                    depth: 0, open: false, returned: true,
                });
                builder.pause(Pause {
                    strand, from, to, open: false, why: Why::Lock, reason: 0, place: 0,
                    function: None, by: None, destroyed: false, holder: None, thread: Some(0),
                }, 0);
            }
            let data = builder.finish();
            (data.calls.kept, data.calls.cells, data.pauses.kept, data.pauses.cells)
        };
        let mut backwards = all.clone();
        backwards.reverse();
        prop_assert_eq!(build(&all), build(&backwards));
    }

    #[test]
    fn what_several_workers_take_is_what_one_takes(
        all in prop::collection::vec(
            (0usize..3, 1u64..20, 0u32..3, 0u64..1 << 30, 0u64..1 << 20), 0..200)
    ) {
        let mut one = builder(20, &TIGHT);
        let mut joined = builder(20, &TIGHT);
        let mut shares = [(); 3].map(|()| Share::new(&TIGHT));
        for &(by, number, what, from, duration) in &all {
            let (strand, to) = (one.find(0, number).unwrap(), from + duration);
            let call = Call {
                strand, thread: 0, function: what, site: what, enter: from, exit: to, own: 0,
                depth: 0, open: false, returned: duration % 2 == 0,
            };
            // It ends last, so that the end of all is a run's.
            let run = Run { strand, thread: what, from, to: to + number, by: Some(what) };
            one.call(call);
            one.run(run);
            // Each worker takes some of the calls, and another one the runs.
            shares[by].call(&joined, call, || call.site);
            shares[(by + 1) % 3].run(&joined, run);
        }
        for share in shares {
            joined.join(share, |_, site| site);
        }
        let facts = |builder: Builder| {
            let data = builder.finish();
            let totals = data.functions.into_iter().map(|(_, total)| total);
            let (calls, runs) = (data.calls, data.runs);
            (
                (calls.kept, calls.threshold, calls.summed, calls.cells, calls.shift),
                (runs.kept, runs.threshold, runs.summed, runs.cells, runs.shift),
                (totals.collect::<Vec<_>>(), data.end),
            )
        };
        prop_assert_eq!(facts(one), facts(joined));
    }

    #[test]
    fn the_threads_and_those_that_rested_or_ran_longest_are_listed(
        all in prop::collection::vec((0u32..5, 0u64..6, 0u64..6), 0..60), most in 0usize..40
    ) {
        let strands = all.iter().zip(1..).map(|(&(kind, running, suspended), number)| {
            let kind = if kind == 0 { StrandKind::Thread } else { StrandKind::Coroutine };
            Strand { running, ..strand(number, kind, suspended) }
        });
        let strands: Vec<Strand> = strands.collect();
        let mut expected = vec![false; strands.len()];
        let mut left = most;
        let mut take = |order: Vec<usize>, share: usize| {
            let order = order.into_iter().filter(|&index| !expected[index]);
            let taken: Vec<usize> = order.take(share.min(left)).collect();
            left -= taken.len();
            taken.into_iter().for_each(|index| expected[index] = true);
        };
        let by = |key: &dyn Fn(&Strand) -> u64| {
            let mut order: Vec<usize> = (0..strands.len()).collect();
            order.sort_by_key(|&index| Reverse(key(&strands[index])));
            order
        };
        let threads = (0..strands.len()).filter(|&at| strands[at].kind == StrandKind::Thread);
        take(threads.collect(), most);
        take(by(&|strand| strand.running), most / 3);
        take(by(&|strand| strand.suspended), most);
        if strands.len() <= most {
            expected.fill(true);
        }
        prop_assert_eq!(listed(&strands, most), expected);
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

/// A call that had not ended is timed up to its thread's last event; the page draws its wait up to
/// the end.
#[test]
fn a_wait_counts_as_long_as_its_call_is_timed() {
    let mut builder = builder(2, &Limits::default());
    let call = |strand, exit| Call {
        strand,
        thread: 0,
        function: 0,
        site: 0,
        enter: 10,
        exit,
        own: exit - 10,
        depth: 0,
        open: true,
        returned: false,
    };
    builder.call(call(0, 100));
    builder.call(call(1, 900));
    builder.pause(
        Pause {
            strand: 0,
            from: 70,
            to: u64::MAX,
            open: true,
            why: Why::Lock,
            reason: 0,
            place: 0,
            function: Some(0),
            by: None,
            destroyed: false,
            holder: None,
            thread: Some(0),
        },
        0,
    );
    let data = builder.finish();
    assert_eq!(data.pauses.kept[0].to, 900);
    let (_, total) = &data.functions[0];
    assert_eq!((total.own, total.waited), (980, 30));
    assert_eq!((total.calls, total.cut, total.longest), (2, 2, 0));
}

#[test]
fn an_open_wait_lasts_until_its_process_has_ended() {
    let mut builder = builder(2, &Limits::default());
    for (strand, to) in [(0, 300), (1, u64::MAX)] {
        let wait = Pause {
            strand,
            from: 70,
            to,
            open: true,
            why: Why::Lock,
            reason: 0,
            place: 0,
            function: None,
            by: None,
            destroyed: false,
            holder: None,
            thread: Some(0),
        };
        builder.pause(wait, 0);
    }
    builder.event(Event {
        strand: 1,
        time: 900,
        text: 0,
    });
    let pauses = builder.finish().pauses.kept;
    assert_eq!([pauses[0].to, pauses[1].to], [300, 900]);
}

/// A signal's handler runs calls while its thread waits: these are callees of the call that waits.
#[test]
fn calls_within_a_wait_are_no_part_of_what_its_function_waited() {
    let mut builder = builder(2, &Limits::default());
    builder.call(Call {
        strand: 0,
        thread: 0,
        function: 0,
        site: 0,
        enter: 10,
        exit: 110,
        own: 60,
        depth: 0,
        open: false,
        returned: true,
    });
    let wait = Pause {
        strand: 0,
        from: 20,
        to: 80,
        open: false,
        why: Why::Lock,
        reason: 0,
        place: 0,
        function: Some(0),
        by: None,
        destroyed: false,
        holder: None,
        thread: Some(0),
    };
    builder.pause(wait, 40);
    let data = builder.finish();
    assert_eq!(data.functions[0].1.waited, 20);
    assert_eq!(data.pauses.kept[0].to, 80);
}
