#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "numbers of a test are small"
)]

mod rhythms;
mod undated;

use super::*;
use crate::source::policy::cadence::Frequency;

const START: i64 = 1_700_000_000;
const HOUR: i64 = 3_600;

fn trace(source: &str, published_s: Vec<i64>) -> Trace {
    Trace {
        source: source.to_owned(),
        published_s,
    }
}

fn fixed(hours: i64) -> Policy {
    Policy::Fixed(SignedDuration::from_hours(hours))
}

fn budget() -> Budget {
    Budget {
        floor: SignedDuration::from_mins(5),
        ..Budget::default()
    }
}

#[test]
fn a_source_starts_between_the_known_and_the_next_by_the_hash_of_its_id() {
    let times: Vec<i64> = (0..40).map(|number| START + number * HOUR).collect();
    let (a, known) = start(&trace("a", times.clone())).unwrap();
    assert_eq!(known, 10, "40 / 4 are known");
    assert!((times[9]..times[10]).contains(&a));
    let (b, _) = start(&trace("b", times.clone())).unwrap();
    assert_ne!(a, b, "another source starts at another instant");
    assert_eq!(
        start(&trace("a", times)).unwrap().0,
        a,
        "and the same one at the same"
    );
    let many: Vec<i64> = (0..400).map(|number| START + number * HOUR).collect();
    assert_eq!(
        start(&trace("a", many)).unwrap().1,
        30,
        "at most 30 are known"
    );
    let years: Vec<i64> = (0..40)
        .map(|number| START + number * 30 * 24 * HOUR)
        .collect();
    let (begin, known) = start(&trace("a", years.clone())).unwrap();
    assert_eq!(begin, years[39] - LONGEST_S, "not more than a year");
    assert_eq!(known, 27);
    for few in 0..4 {
        assert_eq!(
            start(&trace("a", (0..few).collect())),
            None,
            "{few} entries"
        );
    }
}

/// Eight entries, two known; the rest at hand-picked distances from the start.
#[test]
fn delays_hits_misses_and_checks_are_counted_by_the_protocol() {
    let known = vec![START - 10 * HOUR, START - 9 * HOUR];
    let far = START + 1_000 * HOUR;
    let mut probe = known.clone();
    probe.extend((0..6).map(|number| far + number));
    let (begin, _) = start(&trace("x", probe)).unwrap();
    // The instant depends on the gap to the first unknown entry; keep that entry where it is.
    let mut times = known;
    times.extend([
        far,
        far + 60,
        far + 120,
        far + 180,
        far + 240,
        far + 2 * HOUR,
    ]);
    let run = run(&fixed(1), &trace("x", times), &budget()).unwrap();
    let into = (far - begin).rem_euclid(HOUR);
    let first_h = (HOUR - into).rem_euclid(HOUR) as f64 / 3_600.0;
    assert!(
        (run.delays_h[0] - first_h).abs() < 1e-9,
        "{} {first_h}",
        run.delays_h[0]
    );
    assert_eq!(run.delays_h.len(), 6);
    let last_check = (far + 2 * HOUR - begin) / HOUR;
    assert_eq!(
        run.checks,
        last_check.cast_unsigned(),
        "counted to the last entry only"
    );
    assert_eq!(run.missed, 0);
    assert!((run.days - (far + 2 * HOUR - begin) as f64 / 86_400.0).abs() < 1e-9);
}

#[test]
fn what_leaves_the_document_unseen_is_missed_but_its_delay_counts() {
    let mut times: Vec<i64> = (0..30).map(|number| START + number * 60).collect();
    let burst = START + 100 * HOUR;
    times.extend((0..90).map(|number| burst + number));
    let run = run(&fixed(1), &trace("x", times), &budget()).unwrap();
    assert_eq!(
        (run.missed, run.delays_h.len()),
        (60, 90),
        "the document shows 30 of 90"
    );
    // The burst may be found by one check, which comes after the last entry and is not counted.
    assert!(run.hits <= 1);
}

#[test]
fn an_entry_at_the_instant_of_a_check_is_found_by_it() {
    let mut times = vec![START, START + 1];
    times.extend((1..=6).map(|number| START + 100 * HOUR + number * HOUR));
    let probe = trace("x", times.clone());
    let (begin, _) = start(&probe).unwrap();
    // Move the later entries onto the checks; the first unknown one keeps the start where it is.
    for (number, time) in times[3..].iter_mut().enumerate() {
        *time = begin + (120 + number as i64) * HOUR;
    }
    let run = run(&fixed(1), &trace("x", times), &budget()).unwrap();
    assert!(
        run.delays_h[1..].iter().all(|delay| *delay == 0.0),
        "{:?}",
        run.delays_h
    );
}

/// Sources with habits: one publishes on the hour at work, one in the mornings, one now and then.
fn habits() -> Vec<Trace> {
    let monday = 1_699_833_600_i64;
    let mut traces = Vec::new();
    for (name, hours, every) in [
        ("office", &[8, 9, 10, 11, 13, 14, 15, 16][..], 1),
        ("morning", &[6], 1),
        ("weekly", &[12], 7),
    ] {
        let mut times = Vec::new();
        for day in (0..140_i64).filter(|day| day % every == 0 && day % 7 < 5) {
            let times_of_day = hours
                .iter()
                .map(|hour| monday + day * 86_400 + hour * HOUR + (day * 37) % 120);
            times.extend(times_of_day);
        }
        traces.push(trace(name, times));
    }
    traces
}

/// On recorded times Miniflux's bar is 0.32; times drawn one by one from a rhythm have no runs of
/// short gaps, which it follows worst.
#[test]
fn ss_15_the_adaptive_policy_beats_the_others_at_their_own_number_of_checks() {
    let traces = rhythms::traces();
    let replay = Replay::new(&traces);
    for (policy, at_most) in [("classic", 0.45), ("fixed:1h", 0.41), ("miniflux", 0.45)] {
        let policy: Policy = policy.parse().unwrap();
        let other = replay.report(&policy, &budget()).overall;
        let found = replay.calibrate(&Policy::Adaptive, other.checks, &budget());
        let ours = replay.report(&Policy::Adaptive, &found.budget);
        let off = ours.overall.checks as f64 / other.checks as f64 - 1.0;
        assert!(
            off.abs() < 0.005,
            "{policy}: {} checks of {}",
            ours.overall.checks,
            other.checks
        );
        let ratio = ours.overall.mean_delay_h / other.mean_delay_h;
        assert!(ratio <= at_most, "{policy}: {ratio:.3} times its delay");
        for class in &ours.classes {
            let ratio = class.figures.mean_delay_h / class.fixed.mean_delay_h;
            assert!(
                ratio <= 1.05,
                "{policy}, {}: {ratio:.3} times a fixed interval",
                class.frequency
            );
        }
    }
}

/// Slow sources among busy ones, at a number of checks for all of them. With the checks that new
/// ones get, they wait no longer than if these were spread evenly; `slow_share` says how many they
/// get later.
#[test]
fn ss_15_slow_sources_wait_no_longer_than_with_their_checks_evenly_spread() {
    let mut traces = rhythms::slow(60);
    traces.extend(rhythms::traces().into_iter().take(6));
    let replay = Replay::new(&traces);
    let all = replay.checks(&fixed(2), &budget());
    let slow = |slow_share: f64| {
        let budget = Budget {
            slow_share,
            ..budget()
        };
        let found = replay.calibrate(&Policy::Adaptive, all, &budget);
        let report = replay.report(&Policy::Adaptive, &found.budget);
        let mut classes = report.classes.into_iter();
        let class = classes.find(|class| class.frequency == Frequency::Monthly);
        (class.unwrap(), report.overall)
    };
    let (new, cheap) = slow(0.0);
    let early = new.figures.early_delay_h.unwrap();
    // An entry waits for half a fixed interval on average.
    let own = 12.0 / new.figures.early_checks_per_source_day;
    let even = new.even.early_delay_h.unwrap();
    assert!(
        early <= own && early <= even,
        "the first fortnight: {early:.3} h, evenly {own:.3} h, all alike {even:.3} h"
    );
    for share in [0.85, 1.0] {
        let (given, dear) = slow(share);
        let checks = given.figures.checks_per_source_day / dear.checks_per_source_day;
        assert!(checks >= share * 0.93, "{checks:.3} of {share}");
        let ratio = given.figures.mean_delay_h / given.fixed.mean_delay_h;
        assert!(ratio <= 1.05, "{share}: {ratio:.3} times a fixed interval");
        assert!(cheap.mean_delay_h < dear.mean_delay_h, "busy ones pay");
    }
}

/// A node stores histories as bytes between checks; that must not change what it decides.
#[test]
fn ss_15_a_history_that_was_stored_decides_as_one_that_was_not() {
    for trace in habits() {
        let (start_s, mut seen) = start(&trace).unwrap();
        let times = &trace.published_s;
        let (mut kept, mut stored) = (History::new(), History::new());
        let mut now = at(start_s);
        let (mut decisions, mut differ) = (0, 0);
        let mut new = instants(&times[..seen]);
        while seen < times.len() {
            kept.observe(now, &new, None);
            stored = History::decode(&stored.encode()).unwrap();
            stored.observe(now, &new, None);
            let next = next_check(&Policy::Adaptive, &kept, now, &budget(), 1).at;
            differ +=
                u32::from(next_check(&Policy::Adaptive, &stored, now, &budget(), 1).at != next);
            decisions += 1;
            now = next;
            let shown = seen + times[seen..].partition_point(|time| at(*time) <= now);
            new = instants(&times[seen..shown]);
            seen = shown;
        }
        assert!(
            differ * 50 <= decisions,
            "{}: {differ} of {decisions}",
            trace.source
        );
    }
}

#[test]
fn a_number_that_cannot_be_had_gives_the_nearest() {
    let traces = habits();
    let traces = &traces[1..2];
    let found = Replay::new(traces).calibrate(&Policy::Adaptive, u64::MAX / 4, &budget());
    let most = Replay::new(traces).checks(
        &fixed(1),
        &Budget {
            stretch: 1.0 / 12.0,
            ..budget()
        },
    );
    assert!(
        found.checks <= most,
        "{} with a floor of five minutes",
        found.checks
    );
    assert!(found.checks * 2 > most, "{} of {most}", found.checks);
}

#[test]
fn lines_are_read_and_refused() {
    let mut traces = Traces::default();
    for line in ["b\t30", "a\t5", "# a remark", "", "b\t20\r\n", "  \n"] {
        traces.line(line).unwrap();
    }
    for (line, problem) in [
        ("a 5", BadLine::NoTab),
        ("\t5", BadLine::NoSource),
        ("a\tfive", BadLine::NoTime("five".to_owned())),
        ("a\t-1", BadLine::NoTime("-1".to_owned())),
        (
            "a\t99999999999999999999",
            BadLine::NoTime("99999999999999999999".to_owned()),
        ),
    ] {
        assert_eq!(traces.line(line), Err(problem), "{line}");
    }
    let read = traces.finish();
    assert_eq!(read, [trace("a", vec![5]), trace("b", vec![20, 30])]);
}
