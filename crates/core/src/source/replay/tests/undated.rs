//! Sources that give no times, checked by when their entries were first seen (SS-25).
//!
//! The same sources with and without times, at the same price: what is learned of the ones without
//! must lead to about as many checks, and may not cost much delay.

use super::*;

/// Replays a source whose entries have no times, from its first look on.
fn run_undated(trace: &Trace, budget: &Budget) -> Run {
    let times = &trace.published_s;
    let (start_s, mut seen) = start(trace).unwrap();
    let end = at(*times.last().unwrap());
    let mut now = at(start_s);
    let mut history = History::new();
    history.observe_undated(now, None, seen, None);
    let mut run = Run {
        checks: 0,
        hits: 0,
        missed: 0,
        days: hours(end.duration_since(now)) / 24.0,
        delays_h: Vec::new(),
        early: 0,
        early_checks: 0,
    };
    while seen < times.len() {
        let before = now;
        now = next_check(&Policy::Adaptive, &history, now, budget, 1).at;
        let waited = now.duration_since(before);
        assert!(
            budget.floor <= waited && waited <= budget.ceiling,
            "{waited}"
        );
        let shown = seen + times[seen..].partition_point(|time| at(*time) <= now);
        run.checks += u64::from(now <= end);
        let new = times[seen..shown].iter();
        run.delays_h
            .extend(new.map(|time| hours(now.duration_since(at(*time)))));
        match shown - seen {
            0 => history.observe(now, &[], None),
            new => history.observe_undated(now, Some(before), new, None),
        }
        seen = shown;
    }
    run
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

#[test]
fn ss_25_undated_sources_find_the_pace_of_dated_ones() {
    let mut sums = [0, 0];
    for trace in rhythms::traces() {
        let dated = run(&Policy::Adaptive, &trace, &budget()).unwrap();
        let undated = run_undated(&trace, &budget());
        let checks = undated.checks as f64 / dated.checks as f64;
        let delay = mean(&undated.delays_h) / mean(&dated.delays_h);
        assert!(
            (0.5..1.5).contains(&checks) && delay < 1.7,
            "{}: {checks:.2} times the checks, {delay:.2} times the delay",
            trace.source
        );
        sums = [sums[0] + dated.checks, sums[1] + undated.checks];
    }
    let whole = sums[1] as f64 / sums[0] as f64;
    assert!((0.8..1.2).contains(&whole), "{whole:.2} times the checks");
}

/// A check sees nothing but what came since the last. If that taught its own pace, a source that was
/// checked too often or too rarely at first would be so for ever.
#[test]
fn ss_25_what_is_learned_does_not_depend_on_how_often_it_was_checked() {
    let day = SignedDuration::from_hours(24);
    for (why, every_s, gap_s) in [
        ("fast, checked hourly", 600, 3_600),
        ("fast, checked twice a day", 600, 12 * 3_600),
        ("daily, checked every quarter of an hour", 86_400, 900),
        ("daily, checked daily", 86_400, 86_400),
        ("weekly, checked hourly", 7 * 86_400, 3_600),
    ] {
        let mut history = History::new();
        let (mut now, mut published) = (START, START);
        history.observe_undated(at(now), None, 20, None);
        while now < START + 60 * 86_400 {
            let before = now;
            now += gap_s;
            let mut new = 0;
            while published + every_s <= now {
                published += every_s;
                new += 1;
            }
            match new {
                0 => history.observe(at(now), &[], None),
                new => history.observe_undated(at(now), Some(at(before)), new, None),
            }
        }
        let found = history.entries_per_day(at(now));
        // Of more entries than a history keeps one by one, the surplus is not counted.
        let most = 64.0 * day.as_secs_f64() / gap_s as f64;
        let true_rate = (86_400.0 / every_s as f64).min(most);
        let off = found / true_rate;
        assert!((0.8..1.25).contains(&off), "{why}: {found:.2} a day");
    }
}
