use super::*;
use crate::source::Definition;

const NOW: Timestamp = Timestamp::constant(1_767_323_045, 0);

fn requests(requests: u64) -> Counts {
    Counts {
        requests,
        ..Counts::default()
    }
}

#[test]
fn ss_26_counts_add_up_and_the_longest_wait_stays() {
    let courtesy = Courtesy::default();
    let wait = |seconds| Counts {
        requested: RequestedWaits {
            cache_s: Some(seconds),
            ..RequestedWaits::default()
        },
        ..requests(1)
    };
    courtesy.count("b.test", NOW, &wait(60));
    courtesy.count("b.test", NOW, &wait(600));
    courtesy.count("a.test", NOW, &wait(5));
    let taken = courtesy.take();
    assert_eq!(courtesy.take(), [], "taken once");
    courtesy.give_back(&taken);
    courtesy.count("b.test", NOW, &wait(6));
    let again = courtesy.take();
    let hosts: Vec<_> = again
        .iter()
        .map(|it| (it.host.as_str(), it.counts.requests))
        .collect();
    assert_eq!(hosts, [("a.test", 1), ("b.test", 3)]);
    assert_eq!(again[1].counts.requested.cache_s, Some(600));
}

#[test]
fn ss_26_a_day_is_utc_and_written_as_a_date() {
    let day = Day::of(NOW);
    assert_eq!(day.to_string(), "2026-01-02");
    assert_eq!(day.back(2).to_string(), "2025-12-31");
    assert_eq!(Day::of(Timestamp::constant(-1, 0)), Day(-1));
    let courtesy = Courtesy::default();
    courtesy.count("a.test", NOW, &requests(1));
    courtesy.count("a.test", NOW + SignedDuration::from_hours(24), &requests(1));
    assert_eq!(courtesy.take().len(), 2);
}

#[test]
fn ss_26_further_hosts_are_counted_together() {
    let courtesy = Courtesy::default();
    for number in 0..HOSTS_MAX + 3 {
        courtesy.count(&format!("{number}.test"), NOW, &requests(1));
    }
    courtesy.count("7.test", NOW, &requests(1));
    let taken = courtesy.take();
    assert_eq!(taken.len(), HOSTS_MAX + 1);
    let of = |host: &str| {
        taken
            .iter()
            .find(|it| it.host == host)
            .unwrap()
            .counts
            .requests
    };
    assert_eq!((of(FURTHER_HOSTS), of("7.test")), (3, 2));
}

#[test]
fn ss_26_a_check_keeps_what_was_asked_or_it_does_not() {
    let hour = SignedDuration::from_hours(1);
    let source = |hints: Hints, class: Option<FailureClass>, backoff: Option<SignedDuration>| {
        let mut source = Source::new(Definition::default(), NOW);
        source.memory.hints = hints;
        source.stats.last_check_at = Some(NOW);
        source.stats.last_error_class = class;
        source.stats.backoff_until = backoff.map(|wait| NOW + wait);
        source
    };
    let fresh = Hints {
        fresh_for: Some(3_600),
        ..Hints::default()
    };
    // 03:04 on a Friday, so the next hour is skipped.
    let skipping = Hints {
        skip_hours: 1 << 4,
        ..Hints::default()
    };
    let limited = Some(FailureClass::RateLimited);
    for (source, after, expected, why) in [
        (
            source(Hints::default(), None, None),
            hour,
            None,
            "nothing was asked",
        ),
        (
            source(fresh, None, None),
            hour,
            Some(true),
            "came when it was over",
        ),
        (
            source(fresh, None, None),
            hour / 2,
            Some(false),
            "came earlier",
        ),
        (
            source(skipping, None, None),
            hour,
            Some(false),
            "came in a skipped hour",
        ),
        (
            source(skipping, None, None),
            hour * 2,
            Some(true),
            "came after it",
        ),
        (
            source(fresh, limited, Some(hour)),
            hour,
            Some(true),
            "waited as it was asked",
        ),
        (
            source(fresh, limited, Some(hour)),
            hour / 2,
            Some(false),
            "did not",
        ),
        (
            source(fresh, limited, None),
            hour * 9,
            Some(false),
            "a person ended the wait",
        ),
    ] {
        assert_eq!(keeps(&source, NOW + after), expected, "{why}");
    }
}
