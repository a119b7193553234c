use proptest::prelude::*;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn times(seconds: &[i64]) -> Vec<Timestamp> {
    seconds.iter().map(|second| at(*second)).collect()
}

/// A source that published at 08:10 on workdays for some weeks.
fn workdays(weeks: i64) -> History {
    const MONDAY: i64 = 1_699_833_600;
    let mut history = History::new();
    for day in (0..weeks * 7).filter(|day| day % 7 < 5) {
        let time = MONDAY + day * 86_400 + 8 * 3_600 + 600;
        history.observe(at(time + 300), &[at(time)], None);
    }
    history
}

#[test]
fn ss_01_facts_follow_what_was_seen() {
    let history = workdays(8);
    assert_eq!((history.checks(), history.hits()), (40, 40));
    assert_eq!(history.frequency(), Frequency::Daily);
    let hour = history.publish_hour().unwrap();
    assert!((hour.mean - 8.166).abs() < 0.01);
    let now = history.newest_at().unwrap();
    let per_day = history.entries_per_day(now);
    assert!((0.5..1.1).contains(&per_day), "{per_day}");
    let week = history.week(now);
    let busiest = (0..168)
        .max_by(|a, b| week[*a].total_cmp(&week[*b]))
        .unwrap();
    assert_eq!(busiest % 24, 8);
    assert!(
        week[8] > 20.0 * week[5 * 24 + 8],
        "Monday {} Saturday {}",
        week[8],
        week[128]
    );
}

#[test]
fn a_silence_is_judged_by_the_sources_own_habit() {
    let history = workdays(8);
    let silent = history.silent_after().unwrap();
    let hours = silent.as_secs() / 3_600;
    assert!(
        (72..24 * 21).contains(&hours),
        "a weekend is no silence, months are: {hours} h"
    );
    assert_eq!(History::new().silent_after(), None);
}

#[test]
fn only_believable_bytes_are_read() {
    let bytes = workdays(3).encode();
    assert!(History::decode(&bytes).is_ok());
    assert_eq!(History::decode(&[]), Err(Corrupt));
    assert_eq!(History::decode(&bytes[..bytes.len() - 1]), Err(Corrupt));
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x10;
        assert_eq!(History::decode(&damaged), Err(Corrupt), "byte {place}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever was seen, it fits, and what is read is what was written.
    #[test]
    fn a_history_fits_and_survives_the_store(
        checks in prop::collection::vec((0_i64..2_000_000, prop::collection::vec(-40_000_000_i64..40_000_000, 0..40)), 0..40),
    ) {
        let mut history = History::new();
        let mut now = 1_700_000_000;
        for (gap, published) in checks {
            now += gap;
            let published: Vec<i64> = published.iter().map(|off| now + off).collect();
            history.observe(at(now), &times(&published), None);
        }
        let bytes = history.encode();
        prop_assert!(bytes.len() <= ENCODED_MAX, "{}", bytes.len());
        let read = History::decode(&bytes).unwrap();
        prop_assert_eq!(&read.recent, &history.recent);
        prop_assert_eq!(read.encode(), bytes, "written again it is the same");
    }

    #[test]
    fn garbage_is_refused_not_believed(bytes in prop::collection::vec(any::<u8>(), 0..3_000)) {
        prop_assert_eq!(History::decode(&bytes), Err(Corrupt));
    }
}
