use proptest::prelude::*;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

const NOW: i64 = 1_700_000_000;

#[test]
fn fixed_intervals_are_kept_but_for_the_floors() {
    let wait = |policy: &str, budget: Budget| {
        let policy: Policy = policy.parse().unwrap();
        let next = next_check(&policy, &History::new(), at(NOW), &budget, 3);
        next.at.duration_since(at(NOW)).as_secs()
    };
    let plain = Budget::default();
    assert_eq!(wait("fixed:1h", plain), 3_600);
    assert_eq!(
        wait("fixed:48h", plain),
        48 * 3_600,
        "the ceiling is for policies that learn"
    );
    assert_eq!(
        wait("fixed:1m", plain),
        900,
        "the floor is for every source"
    );
    assert_eq!(
        wait(
            "fixed:1h",
            Budget {
                stretch: 2.0,
                ..plain
            }
        ),
        7_200
    );
    assert_eq!(
        wait(
            "fixed:1h",
            Budget {
                stretch: f64::NAN,
                ..plain
            }
        ),
        3_600
    );
}

#[test]
fn a_schedule_is_kept_to_the_second() {
    let policy: Policy = "CRON_TZ=Europe/Berlin 0 8 * * *".parse().unwrap();
    let next = next_check(&policy, &History::new(), at(NOW), &Budget::default(), 3);
    assert_eq!(next.at.to_string(), "2023-11-15T07:00:00Z");
    assert_eq!(next.reason, Reason::Schedule);
    let over: Policy = "0 0 0 1 1 * 2020".parse().unwrap();
    let next = next_check(&over, &History::new(), at(NOW), &Budget::default(), 3);
    assert!(matches!(next.reason, Reason::ScheduleOver(_)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Every policy, whatever it has seen, looks later than now and decides the same twice.
    #[test]
    fn ss_11_the_next_check_is_always_ahead(
        gaps in prop::collection::vec(0_i64..400_000, 0..40), late in 0_i64..90_000_000, jitter: u64,
    ) {
        let mut history = History::new();
        let mut time = NOW;
        for gap in &gaps {
            time += gap;
            history.observe(at(time), &[at(time)], None);
        }
        let now = at(time + late);
        for policy in ["adaptive", "classic", "miniflux", "fixed:1h", "@hourly"] {
            let policy: Policy = policy.parse().unwrap();
            let next = next_check(&policy, &history, now, &Budget::default(), jitter);
            prop_assert!(next.at > now, "{policy}");
            let day = SignedDuration::from_hours(24);
            prop_assert!(next.at.duration_since(now) <= day, "{policy}");
            let again = next_check(&policy, &history.clone(), now, &Budget::default(), jitter);
            prop_assert_eq!(next, again);
        }
    }
}
