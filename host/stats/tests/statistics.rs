//! The intervals hold what they promise. All random numbers are seeded: a failure is a failure, not
//! bad luck.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use fastrand::Rng;
use heddle_results::Estimate;
use heddle_stats::{
    Crossover, Derived, FEWEST, FEWEST_ROUNDS, REPLICATES, Resampled, Run, Scale, account,
    change_point, crossover, holm, line, median, rank_correlation, rank_test, ratio, ratio_among,
    samples_to_settle, signed_rank_test, slope,
};
use proptest::prelude::*;

/// A log-normal time round 1000, as benchmark samples are: a long tail upward.
fn times(random: &mut Rng, count: usize, centre: f64) -> Vec<f64> {
    let normal = |random: &mut Rng| {
        let (u, v): (f64, f64) = (random.f64().max(1e-12), random.f64());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    };
    (0..count)
        .map(|_| centre * (0.2 * normal(random)).exp())
        .collect()
}

fn resampled(values: &[f64], seed: u64) -> Resampled {
    Resampled::new(values, seed).unwrap()
}

fn holds(estimate: Estimate, value: f64) -> bool {
    estimate.low <= value && value <= estimate.high
}

/// How many experiments are simulated: `./dev test` takes a quarter of those of `./dev test --all`.
fn experiments() -> u64 {
    if std::env::var_os("HEDDLE_TEST_QUICK").is_some() {
        100
    } else {
        400
    }
}

/// By how much more a share of a hundred experiments may be off than one of four hundred: the
/// difference of two standard deviations of each, for shares of 95 %.
fn slack() -> f64 {
    let two_deviations = |count: u64| 2.0 * (0.95 * 0.05 / count as f64).sqrt();
    two_deviations(experiments()) - two_deviations(400)
}

/// How often something is true in simulated experiments.
fn share(mut experiment: impl FnMut(&mut Rng, u64) -> bool) -> f64 {
    let mut random = Rng::with_seed(4711);
    (0..experiments())
        .filter(|seed| experiment(&mut random, *seed))
        .count() as f64
        / experiments() as f64
}

#[test]
fn the_interval_of_a_median_holds_it_about_95_times_in_100() {
    for count in [10, 20, 50] {
        let covered = share(|random, seed| {
            holds(
                resampled(&times(random, count, 1000.0), seed).median,
                1000.0,
            )
        });
        assert!(
            (0.90 - slack()..=0.99 + slack()).contains(&covered),
            "{count} samples: {covered}"
        );
    }
}

#[test]
fn the_interval_of_a_ratio_holds_it_about_95_times_in_100() {
    for count in [10, 20] {
        let covered = share(|random, seed| {
            let (over, under) = (times(random, count, 2000.0), times(random, count, 1000.0));
            holds(
                ratio(
                    &resampled(&over, 2 * seed),
                    &resampled(&under, 2 * seed + 1),
                )
                .unwrap(),
                2.0,
            )
        });
        assert!(
            (0.90 - slack()..=0.995 + slack()).contains(&covered),
            "{count} samples: {covered}"
        );
    }
}

#[test]
fn the_rank_test_agrees_with_tables() {
    // Complete separation of 10 and 10: U = 0, z = 49.5 / sqrt(175).
    let low: Vec<f64> = (0..10).map(f64::from).collect();
    let high: Vec<f64> = (10..20).map(f64::from).collect();
    let p = rank_test(&low, &high).unwrap();
    assert!((p - 1.827e-4).abs() < 1e-6, "{p}");
    assert_eq!(rank_test(&high, &low), Some(p));
    assert!(rank_test(&low, &low).unwrap() > 0.99);
    assert_eq!(rank_test(&[3.0; 6], &[3.0; 6]), Some(1.0));
    assert_eq!(rank_test(&[], &low), None);
    assert_eq!(rank_test(&[f64::NAN], &low), None);
    // 0.01 is below 0.05/4, 0.03 is not below 0.05/3, and so 0.005 alone does not carry it along.
    assert_eq!(
        holm(&[0.03, 0.01, 0.04, 0.005], 0.05),
        [false, true, false, true]
    );
}

#[test]
fn a_step_is_found_where_it_is_and_noise_has_none_about_95_times_in_100() {
    let step = [1.0, 2.0, 1.5, 1.2, 1.1, 5.0, 5.2, 5.1, 6.0, 5.5];
    let found = change_point(&step, 1).unwrap();
    // 2 of the 252 ways to choose five of ten, and a little by other splits.
    assert_eq!(found.at, 5);
    assert!((0.004..0.02).contains(&found.probability), "{found:?}");
    assert_eq!(change_point(&step[..7], 1), None);
    assert_eq!(change_point(&[4.0; 10], 1), None);
    assert_eq!(change_point(&[f64::NAN; 10], 1), None);
    let quiet = share(|random, seed| {
        let found = change_point(&times(random, 15, 1000.0), seed).unwrap();
        found.probability > 0.05
    });
    assert!(
        (0.92 - slack()..=0.98 + slack()).contains(&quiet),
        "{quiet}"
    );
}

#[test]
fn a_pair_of_the_same_differs_rarely_and_a_planted_factor_of_two_always() {
    let differs = |centre: f64| {
        share(|random, seed| {
            let (over, under) = (times(random, 10, centre), times(random, 10, 1000.0));
            !holds(
                ratio(
                    &resampled(&over, 2 * seed),
                    &resampled(&under, 2 * seed + 1),
                )
                .unwrap(),
                1.0,
            )
        })
    };
    assert!(differs(1000.0) <= 0.09 + slack(), "{}", differs(1000.0));
    assert!(differs(2000.0) >= 0.99, "{}", differs(2000.0));
}

#[test]
fn of_nine_of_the_same_some_differ_rarely() {
    for count in [10, 20] {
        // Resampling is what takes time, so both widths judge the same cells.
        let mut alone = 0;
        let together = share(|random, seed| {
            let mut cells: Vec<Resampled> = (0..9)
                .map(|cell| resampled(&times(random, count, 1000.0), 9 * seed + cell))
                .collect();
            cells.sort_by(|a, b| a.median.value.total_cmp(&b.median.value));
            let differs = |ratios: usize| {
                cells[1..]
                    .iter()
                    .any(|other| ratio_among(other, &cells[0], ratios).unwrap().low > 1.0)
            };
            alone += u64::from(differs(1));
            differs(8)
        });
        assert!(together <= 0.12 + slack(), "{together}");
        // Without the wider interval, every fifth experiment would find a difference.
        assert!(5 * alone >= experiments(), "{alone} of {}", experiments());
    }
}

#[test]
fn more_samples_make_the_interval_narrower_as_promised() {
    let mut random = Rng::with_seed(1);
    let width = |count: usize, random: &mut Rng| {
        let widths: Vec<f64> = (0..60)
            .map(|seed| {
                let estimate = resampled(&times(random, count, 1000.0), seed).median;
                estimate.high - estimate.low
            })
            .collect();
        median(&widths).unwrap()
    };
    let (few, many) = (width(20, &mut random), width(180, &mut random));
    // 9 times the samples: a third of the width.
    assert!((2.2..=4.0).contains(&(few / many)), "{few} / {many}");
}

#[test]
fn degenerate_cells_say_nothing_wrong() {
    assert!(Resampled::new(&[], 1).is_none());
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(Resampled::new(&[1.0, bad, 2.0], 1).is_none());
        assert!(median(&[1.0, bad]).is_none());
    }
    let one = resampled(&[5.0], 1);
    assert_eq!(
        (
            one.median.low,
            one.median.value,
            one.median.high,
            one.enough()
        ),
        (5.0, 5.0, 5.0, false)
    );
    let same = resampled(&[7.0; 10], 1);
    assert_eq!(
        (
            same.median.low,
            same.median.value,
            same.median.high,
            same.enough()
        ),
        (7.0, 7.0, 7.0, true)
    );
    assert_eq!(
        ratio(&same, &same),
        Some(Estimate {
            value: 1.0,
            low: 1.0,
            high: 1.0
        })
    );
    let five = resampled(&[1.0, 2.0, 3.0, 4.0, 5.0], 1);
    assert_eq!(
        (five.median.low, five.median.high, five.count < FEWEST),
        (1.0, 5.0, true)
    );
    for not_positive in [0.0, -3.0] {
        let cell = resampled(&[not_positive, 1.0, 2.0, 3.0, 4.0, 5.0], 1);
        assert!(!cell.positive && ratio(&cell, &same).is_none() && ratio(&same, &cell).is_none());
        assert!(slope(&[(1.0, &cell, None), (2.0, &same, None)]).is_none());
        assert!(crossover(&[(1.0, &cell, &same), (2.0, &same, &same)]).is_none());
    }
    assert!(
        slope(&[(4.0, &same, None), (4.0, &same, None)]).is_none(),
        "one x is no line"
    );
    assert!(
        slope(&[(0.0, &same, None), (4.0, &same, None)]).is_none(),
        "0 has no logarithm"
    );
}

#[test]
fn a_power_law_has_its_power_as_slope() {
    let mut random = Rng::with_seed(9);
    let cells: Vec<(f64, Resampled)> = [8.0_f64, 16.0, 32.0, 64.0]
        .iter()
        .map(|n| (*n, resampled(&times(&mut random, 12, n.powi(3)), *n as u64)))
        .collect();
    let points: Vec<_> = cells.iter().map(|(n, cell)| (*n, cell, None)).collect();
    let found = slope(&points).unwrap();
    assert!(
        holds(found.slope, 3.0)
            && found.slope.high - found.slope.low < 0.5
            && found.r_squared > 0.98,
        "{found:?}"
    );
    // The ratio of a thing to itself doesn't grow.
    let same: Vec<_> = cells
        .iter()
        .map(|(n, cell)| (*n, cell, Some(cell)))
        .collect();
    assert_eq!(
        slope(&same).unwrap().slope,
        Estimate {
            value: 0.0,
            low: 0.0,
            high: 0.0
        }
    );
}

#[test]
fn lines_have_the_costs_that_were_put_into_them() {
    // 80 once and 12 each against 1000 once and 2 each meet at 92.
    let xs = [1.0, 8.0, 64.0, 512.0];
    let cells = |random: &mut Rng, seed: u64, once: f64, each: f64| -> Vec<(f64, Resampled)> {
        let cell = |x: &f64| {
            let values = times(random, 20, once + each * x);
            (*x, resampled(&values, seed * 1000 + *x as u64))
        };
        xs.iter().map(cell).collect()
    };
    let fitted = |cells: &[(f64, Resampled)]| {
        let points: Vec<_> = cells.iter().map(|(x, cell)| (*x, cell)).collect();
        line(&points).unwrap()
    };
    let covered = share(|random, seed| {
        let many = fitted(&cells(random, 2 * seed, 80.0, 12.0));
        let large = fitted(&cells(random, 2 * seed + 1, 1000.0, 2.0));
        let found = |value: &Derived, wanted| holds(value.estimate().unwrap(), wanted);
        found(&many.each(), 12.0)
            && found(&many.once(), 80.0)
            && found(&large.once(), 1000.0)
            && found(&many.passes(&large), 92.0)
    });
    // Four intervals of 95 %, not independent of one another.
    assert!(covered >= 0.78 - slack(), "{covered}");

    let mut random = Rng::with_seed(5);
    let (steep, flat) = (
        fitted(&cells(&mut random, 1, 10.0, 10.0)),
        fitted(&cells(&mut random, 2, 10_000.0, 1.0)),
    );
    let never = flat.passes(&steep).estimate().unwrap();
    assert_eq!((never.value, never.low), (f64::INFINITY, f64::INFINITY));
    // Too few places, or none apart, are no line.
    let cell = resampled(&[1.0, 1.1, 1.2, 1.3, 1.4, 1.5], 1);
    assert!(line(&[(1.0, &cell), (2.0, &cell)]).is_none());
    assert!(line(&[(1.0, &cell), (1.0, &cell), (1.0, &cell)]).is_none());
    assert!(line(&[]).is_none());
    let zero = resampled(&[0.0, 1.1, 1.2, 1.3, 1.4, 1.5], 1);
    assert!(line(&[(1.0, &cell), (2.0, &zero), (3.0, &cell)]).is_none());
}

/// Iterations at 2 and, above the line, two P operations at 30 each, and `uncounted` for each
/// iteration, with some noise.
fn philosophers(random: &mut Rng, seed: u64, uncounted: f64) -> Vec<(f64, [Resampled; 2])> {
    let cell = |iterations: &f64, above: f64, random: &mut Rng, seed: u64| {
        resampled(&times(random, 20, 2.0 * iterations + above), seed)
    };
    [10.0, 100.0, 1000.0]
        .iter()
        .zip(3 * seed..)
        .map(|(iterations, seed)| {
            let slow = cell(iterations, 60.0 + uncounted * iterations, random, 2 * seed);
            (
                *iterations,
                [slow, cell(iterations, 0.0, random, 2 * seed + 1)],
            )
        })
        .collect()
}

fn pairs(cells: &[(f64, [Resampled; 2])], p_operations: f64) -> Vec<[Run<'_>; 2]> {
    let run = |iterations: f64, p_operations, time| Run {
        counts: vec![iterations, p_operations],
        time,
    };
    cells
        .iter()
        .map(|(iterations, [slow, fast])| {
            [
                run(*iterations, p_operations, slow),
                run(*iterations, 0.0, fast),
            ]
        })
        .collect()
}

#[test]
fn an_account_has_the_costs_that_were_put_into_it() {
    let covered = share(|random, seed| {
        let cells = philosophers(random, seed, 0.0);
        let account = account(&pairs(&cells, 2.0)).unwrap();
        let cost = |term: usize| account.cost(term).unwrap().estimate().unwrap();
        holds(cost(0), 2.0) && holds(cost(1), 30.0)
    });
    // Two intervals of 95 %, independent or nearly so.
    assert!(covered >= 0.85 - slack(), "{covered}");

    let mut random = Rng::with_seed(6);
    let explained = |random: &mut Rng, uncounted| {
        let cells = philosophers(random, 1, uncounted);
        let account = account(&pairs(&cells, 2.0)).unwrap();
        account.explained().estimate().unwrap().value
    };
    let (all, some) = (explained(&mut random, 0.0), explained(&mut random, 4.0));
    assert!(all > 0.9, "{all}");
    assert!(some < 0.7, "{some}: most of the difference is of no term");
    // Nothing was counted, or the same twice: there is no telling what it costs.
    let cells = philosophers(&mut random, 2, 0.0);
    assert!(account(&pairs(&cells, 0.0)).is_none());
    let mut twice = pairs(&cells, 2.0);
    for run in twice.iter_mut().flatten() {
        run.counts.push(run.counts[0]);
    }
    assert!(account(&twice).is_none());
    assert!(account(&[]).is_none());
}

#[test]
fn a_crossover_is_found_between_the_points_and_in_its_interval() {
    let mut random = Rng::with_seed(3);
    // n against 10·√n swap at n = 100.
    let xs = [10.0_f64, 40.0, 400.0, 1600.0];
    let cells: Vec<(f64, Resampled, Resampled)> = xs
        .iter()
        .map(|n| {
            let (over, under) = (
                times(&mut random, 20, *n),
                times(&mut random, 20, 10.0 * n.sqrt()),
            );
            (
                *n,
                resampled(&over, 1 + *n as u64),
                resampled(&under, 2 + *n as u64),
            )
        })
        .collect();
    let points: Vec<_> = cells
        .iter()
        .map(|(n, over, under)| (*n, over, under))
        .collect();
    let Some(Crossover::At { x, times: 1 }) = crossover(&points) else {
        panic!("{:?}", crossover(&points))
    };
    assert!(holds(x, 100.0) && x.low > 40.0 && x.high < 300.0, "{x:?}");
    // Before the swap there is none, and it is sure.
    assert_eq!(
        crossover(&points[..2]),
        Some(Crossover::Never {
            above: false,
            sure: true
        })
    );
    assert_eq!(
        crossover(&points[2..]),
        Some(Crossover::Never {
            above: true,
            sure: true
        })
    );
    // The same on both sides: nowhere ahead, nowhere sure.
    let same: Vec<_> = cells.iter().map(|(n, over, _)| (*n, over, over)).collect();
    assert!(matches!(
        crossover(&same),
        Some(Crossover::Never { sure: false, .. })
    ));
}

#[test]
fn the_sample_size_that_would_settle_a_claim() {
    let estimate = Estimate {
        value: 2.0,
        low: 1.0,
        high: 4.0,
    };
    // ln 2 to the bound at 4/3: (ln 2 / ln 1.5)² = 2.92 times the samples.
    assert_eq!(
        samples_to_settle(10, estimate, Some(4.0 / 3.0), None, Scale::Log),
        Some(30)
    );
    // Outside of the bound it is as far.
    assert_eq!(
        samples_to_settle(10, estimate, None, Some(4.0 / 3.0), Scale::Log),
        Some(30)
    );
    assert_eq!(
        samples_to_settle(10, estimate, None, Some(2.0), Scale::Log),
        None,
        "on the bound"
    );
    let line = Estimate {
        value: 1.0,
        low: 0.8,
        high: 1.2,
    };
    assert_eq!(
        samples_to_settle(10, line, Some(0.9), Some(1.1), Scale::Linear),
        Some(40)
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn an_interval_is_in_order_and_within_the_samples(
        values in prop::collection::vec(-1e12..1e12f64, 1..40),
        seed: u64,
    ) {
        let found = resampled(&values, seed);
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        prop_assert!(least <= found.median.low && found.median.low <= found.median.value);
        prop_assert!(found.median.value <= found.median.high && found.median.high <= most);
        prop_assert_eq!(found.replicates.len(), REPLICATES);
        prop_assert_eq!(found.median, resampled(&values, seed).median, "the same seed says the same");
    }

    #[test]
    fn the_order_and_the_unit_of_samples_do_not_matter(
        mut values in prop::collection::vec(1.0..1e9f64, 2..30),
        seed: u64,
    ) {
        let found = resampled(&values, seed).median;
        let in_seconds: Vec<f64> = values.iter().map(|value| value * 1024.0).collect();
        let scaled = resampled(&in_seconds, seed).median;
        let times_1024 = (found.low * 1024.0, found.value * 1024.0, found.high * 1024.0);
        prop_assert_eq!((scaled.low, scaled.value, scaled.high), times_1024);
        values.reverse();
        prop_assert_eq!(resampled(&values, seed).median, found);
    }

    #[test]
    fn a_slower_model_never_looks_faster(
        values in prop::collection::vec(1.0..1e6f64, 6..20),
        factor in 1.0..4.0f64,
        seed: u64,
    ) {
        let slower: Vec<f64> = values.iter().map(|value| value * factor).collect();
        let (base, slow) = (resampled(&values, seed), resampled(&slower, seed ^ 1));
        let found = ratio(&slow, &base).unwrap();
        prop_assert!(found.value >= 1.0 - 1e-12);
        prop_assert!(found.low <= found.value && found.value <= found.high);
        let inverse = ratio(&base, &slow).unwrap();
        prop_assert!((inverse.value * found.value - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_settled_claim_needs_more_samples_than_were_taken(
        value in 0.5..2.0f64,
        spread in 1.01..3.0f64,
        bound in 0.5..2.0f64,
        taken in 6..200usize,
    ) {
        let estimate = Estimate { value, low: value / spread, high: value * spread };
        if let Some(needed) = samples_to_settle(taken, estimate, Some(bound), None, Scale::Log) {
            prop_assert!(needed > taken);
        }
    }
}

#[test]
fn signed_ranks_are_those_of_the_tables() {
    // Wilcoxon's tables: of 8 pairs a sum of 3 has 5 of 256 sums at or below it, of 10 a sum of 8
    // has 25 of 1024.
    let signed = |n: u32, negative: &[u32]| -> Vec<f64> {
        (1..=n)
            .map(|rank| match negative.contains(&rank) {
                true => -f64::from(rank),
                false => f64::from(rank),
            })
            .collect()
    };
    for (n, negative, probability) in [
        (6, &[][..], 2.0 / 64.0),
        (8, &[3], 2.0 * 5.0 / 256.0),
        (10, &[8], 2.0 * 25.0 / 1024.0),
        (20, &[], 2.0 / 1_048_576.0),
    ] {
        let found = signed_rank_test(&signed(n, negative)).unwrap();
        assert!((found - probability).abs() < 1e-12, "{n}: {found}");
    }
    // Pairs without a difference say nothing; equal differences share ranks.
    assert_eq!(signed_rank_test(&[0.0, 0.0]), Some(1.0));
    assert_eq!(signed_rank_test(&[1.0, 1.0, -1.0, 1.0]), Some(10.0 / 16.0));
    assert_eq!(signed_rank_test(&[]), None);
    assert_eq!(signed_rank_test(&[f64::NAN]), None);
    // Beyond 60 pairs it is approximated: both agree where they meet.
    let mut random = fastrand::Rng::with_seed(9);
    let all: Vec<f64> = (0..60).map(|_| random.f64() - 0.4).collect();
    let mut more = all.clone();
    more.push(0.001);
    let (exact, near) = (
        signed_rank_test(&all).unwrap(),
        signed_rank_test(&more).unwrap(),
    );
    assert!((exact / near).ln().abs() < 0.2, "{exact} {near}");
}

#[test]
fn ranks_that_go_together_correlate() {
    let pairs = |f: &dyn Fn(f64) -> f64| -> Vec<(f64, f64)> {
        (0..20).map(|x| (f64::from(x), f(f64::from(x)))).collect()
    };
    let close = |found: Option<f64>, to: f64| (found.unwrap() - to).abs() < 1e-12;
    assert!(close(rank_correlation(&pairs(&|x| x.exp())), 1.0));
    assert!(close(rank_correlation(&pairs(&|x| -x * x)), -1.0));
    // Of five pairs of which two neighbours are swapped: 1 - 6 * 2 / (5 * 24).
    let swapped = [(1.0, 2.0), (2.0, 1.0), (3.0, 3.0), (4.0, 4.0), (5.0, 5.0)];
    assert!(close(rank_correlation(&swapped), 0.9));
    assert_eq!(rank_correlation(&pairs(&|_| 1.0)), None);
    assert_eq!(rank_correlation(&[(1.0, f64::NAN), (2.0, 1.0)]), None);
    assert_eq!(rank_correlation(&[(1.0, 1.0)]), None);
}

/// The ratio of two models, which is 2, on a machine that is up to `phases` times as slow in some
/// rounds: resampled in rounds, and apart.
fn in_phases(random: &mut Rng, count: usize, phases: f64, seed: u64) -> (Estimate, Estimate) {
    let (mut over, mut under) = (times(random, count, 2000.0), times(random, count, 1000.0));
    for round in 0..count {
        let slow = phases.powf(random.f64());
        over[round] *= slow;
        under[round] *= slow;
    }
    let rounds = |values: &[f64]| Resampled::in_rounds(values, seed).unwrap();
    let apart = ratio(
        &resampled(&over, 2 * seed),
        &resampled(&under, 2 * seed + 1),
    );
    (
        ratio(&rounds(&over), &rounds(&under)).unwrap(),
        apart.unwrap(),
    )
}

#[test]
fn the_interval_of_a_ratio_in_rounds_holds_it_and_is_narrower_where_rounds_differ() {
    for (phases, at_most) in [(1.0, 1.0), (2.0, 0.8), (4.0, 0.6)] {
        let (mut wide, mut apart) = (0.0, 0.0);
        let covered = share(|random, seed| {
            let (together, alone) = in_phases(random, FEWEST_ROUNDS, phases, seed);
            wide += (together.high / together.low).ln();
            apart += (alone.high / alone.low).ln();
            holds(together, 2.0)
        });
        assert!(covered >= 0.93 - slack(), "phases of {phases}: {covered}");
        let narrower = wide / apart;
        assert!(narrower < at_most, "phases of {phases}: {narrower} as wide");
    }
}
