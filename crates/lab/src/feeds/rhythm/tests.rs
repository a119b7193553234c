use jiff::SignedDuration;
use proptest::prelude::*;

use super::*;

const MORNING: i64 = 7 * 60;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn habit(rhythm: Rhythm, zone: &str, seed: u64) -> Habit {
    Habit {
        seed,
        rhythm,
        zone: TimeZone::get(zone).unwrap(),
        round_s: 1,
        first_at: at("2023-01-01T00:00:00Z"),
        last_at: None,
    }
}

fn rhythm(days: Days, permille: u64, entries: (i64, i64), hours: Hours) -> Rhythm {
    Rhythm {
        name: "",
        days,
        permille,
        entries,
        hours,
    }
}

fn mornings() -> Rhythm {
    let hours = Hours::Between(MORNING, MORNING + 3 * 60);
    rhythm(Days::Working, 960, (1, 3), hours)
}

fn bursty() -> Rhythm {
    rhythm(Days::Every, 100, (3, 15), Hours::Burst(7 * 60, 20 * 60))
}

fn news() -> Rhythm {
    rhythm(Days::Every, 1000, (80, 120), Hours::EditionHarness)
}

fn any_rhythm() -> impl Strategy<Value = Rhythm> {
    let days = prop_oneof![
        Just(Days::Every),
        Just(Days::Working),
        (0..7_i64).prop_map(Days::Weekly),
        (1..=28_i8).prop_map(Days::Monthly),
    ];
    let minutes = || (0..1300_i64, 0..140_i64);
    let hours = prop_oneof![
        Just(Hours::EditionHarness),
        minutes().prop_map(|(from, more)| Hours::Between(from, from + more)),
        minutes().prop_map(|(minute, spread)| Hours::About(minute, spread)),
        minutes().prop_map(|(from, more)| Hours::Burst(from, from + more)),
    ];
    let entries = (1..5_i64, 0..60_i64).prop_map(|(least, more)| (least, least + more));
    (days, 10..=1000_u64, entries, hours)
        .prop_map(|(days, permille, entries, hours)| rhythm(days, permille, entries, hours))
}

fn any_habit() -> impl Strategy<Value = Habit> {
    let zones = prop::sample::select(vec![
        "Asia/Shanghai",
        "Asia/Kolkata",
        "Europe/Berlin",
        "America/New_York",
        // Its clocks change at midnight: one day a year has no first hour.
        "America/Santiago",
        "Pacific/Auckland",
        "UTC",
    ]);
    let rounds = prop::sample::select(vec![1_i64, 60, 300]);
    let lives = prop::option::of(0..900_i64);
    (any_rhythm(), zones, any::<u64>(), rounds, lives).prop_map(
        |(rhythm, zone, seed, round_s, lives)| {
            let habit = habit(rhythm, zone, seed);
            let dies = |days: i64| habit.first_at + SignedDuration::from_hours(24 * days);
            Habit {
                round_s,
                last_at: lives.map(dies),
                ..habit
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn asking_for_the_newest_equals_enumerating_all(
        habit in any_habit(), after_s in 0..60_000_000_i64, count in 0..60_usize,
    ) {
        let now = habit.first_at + SignedDuration::from_secs(after_s);
        let mut all = habit.published(habit.first_at, now + SignedDuration::from_secs(1));
        prop_assert!(all.is_sorted_by(|a, b| a < b), "in order, each once");
        all.reverse();
        all.truncate(count);
        prop_assert_eq!(habit.newest(now, count), all);
    }

    #[test]
    fn parts_of_a_time_hold_together_what_the_whole_holds(
        habit in any_habit(), from_s in 0..40_000_000_i64, one_s in 0..5_000_000_i64, two_s in 0..5_000_000_i64,
    ) {
        let from = habit.first_at + SignedDuration::from_secs(from_s);
        let middle = from + SignedDuration::from_secs(one_s);
        let until = middle + SignedDuration::from_secs(two_s);
        let parts = [habit.published(from, middle), habit.published(middle, until)].concat();
        prop_assert_eq!(habit.published(from, until), parts);
    }

    #[test]
    fn nothing_is_published_before_the_first_or_after_the_last(habit in any_habit()) {
        let (early, late) = (at("2020-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z"));
        let all = habit.published(early, late);
        prop_assert!(all.iter().all(|it| *it >= habit.first_at));
        if let Some(last_at) = habit.last_at {
            prop_assert!(all.iter().all(|it| *it < last_at));
            prop_assert_eq!(habit.newest(late, 1), all.last().copied().into_iter().collect::<Vec<_>>());
        }
    }
}

#[test]
fn each_rhythm_publishes_about_as_often_as_its_name_says() {
    // (rhythm, entries in the 52 weeks of 2024 at least and at most)
    let few = rhythm(Days::Every, 400, (1, 1), Hours::Between(8 * 60, 22 * 60));
    let once = |days, minute| rhythm(days, 960, (1, 1), Hours::About(minute, 30));
    let rows = [
        (news(), 27_000..35_000),
        (mornings(), 440..560),
        (once(Days::Every, 1430), 335..362),
        (few, 120..172),
        (once(Days::Weekly(6), 5), 46..53),
        (bursty(), 200..480),
        (once(Days::Monthly(1), 10), 10..13),
    ];
    let from = at("2024-01-01T00:00:00Z");
    for (shown, expected) in rows {
        for (seed, zone) in [(1, "Asia/Tokyo"), (2, "America/New_York")] {
            let until = from + SignedDuration::from_hours(24 * 364);
            let seen = habit(shown, zone, seed).published(from, until).len();
            assert!(expected.contains(&seen), "{shown:?} in {zone}: {seen}");
        }
    }
}

#[test]
fn weekday_mornings_are_mornings_of_the_feeds_own_zone_across_the_year() {
    for zone in ["Asia/Shanghai", "Europe/Berlin", "America/Los_Angeles"] {
        let habit = habit(mornings(), zone, 9);
        let all = habit.published(at("2024-01-01T00:00:00Z"), at("2025-01-01T00:00:00Z"));
        assert!(all.len() > 300);
        for it in all {
            let local = it.to_zoned(habit.zone.clone());
            let weekday = local.weekday().to_monday_zero_offset();
            assert!((7..=10).contains(&local.hour()) && weekday < 5, "{local}");
        }
    }
}

#[test]
fn a_weekly_column_keeps_its_weekday_and_its_time() {
    let column = rhythm(Days::Weekly(4), 960, (1, 1), Hours::About(9 * 60, 30));
    let habit = habit(column, "Europe/London", 3);
    for it in habit.published(at("2024-01-01T00:00:00Z"), at("2025-01-01T00:00:00Z")) {
        let local = it.to_zoned(habit.zone.clone());
        assert_eq!(local.weekday(), jiff::civil::Weekday::Friday, "{local}");
        assert!((8..=9).contains(&local.hour()), "{local}");
    }
}

#[test]
fn news_sleeps_at_night_and_bursts_come_at_once() {
    let news = habit(news(), "Asia/Tokyo", 4);
    let all = news.published(at("2024-03-04T00:00:00Z"), at("2024-04-01T00:00:00Z"));
    let hour = |it: &Timestamp| it.to_zoned(news.zone.clone()).hour();
    let night = all.iter().filter(|it| (1..5).contains(&hour(it))).count();
    let day = all.iter().filter(|it| (8..12).contains(&hour(it))).count();
    assert!(day > 10 * night, "{day} by day, {night} by night");

    let all =
        habit(bursty(), "UTC", 4).published(at("2024-01-01T00:00:00Z"), at("2025-01-01T00:00:00Z"));
    let quick =
        |pair: &[Timestamp]| pair[1].duration_since(pair[0]) <= SignedDuration::from_mins(12);
    let gaps = all.windows(2).filter(|pair| quick(pair)).count();
    assert!(gaps * 2 > all.len(), "{gaps} short gaps of {}", all.len());
}

#[test]
fn every_entry_lies_in_the_day_that_drew_it_even_where_a_day_has_no_first_hour() {
    let midnight = rhythm(Days::Every, 960, (1, 1), Hours::About(20, 0));
    let habit = habit(midnight, "America/Santiago", 6);
    let first = habit.day_at(habit.first_at.as_second());
    let days = first..first + 1000;
    let drawn: Vec<i64> = days.clone().flat_map(|day| habit.entries_in(day)).collect();
    assert!(drawn.is_sorted_by(|a, b| a < b));
    for day in days {
        let inside = |at: &i64| habit.day_at(*at) == day;
        assert!(habit.entries_in(day).iter().all(inside), "day {day}");
    }
}

#[test]
fn another_seed_is_another_feed_and_the_same_seed_the_same() {
    let all = |seed| {
        let habit = habit(bursty(), "UTC", seed);
        habit.published(habit.first_at, at("2024-01-01T00:00:00Z"))
    };
    assert_eq!(all(1), all(1));
    assert_ne!(all(1), all(2));
}
