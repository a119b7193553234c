//! croner, another implementation, in UTC: two readings of random expressions must agree.
//!
//! Zones are left out, because croner repeats runs around a spring change. So are its other known
//! slips: weekday 7 with `L`, steps over years, and `LW` in a list, which swallows a plain `L`.

use almanack_core::schedule::{Expression, Mode, Zone};
use croner::parser::{CronParser, Seconds};
use jiff::{Timestamp, tz::TimeZone};
use proptest::prelude::*;

use crate::random;

const COUNT: usize = 5;

fn ours(text: &str, from: Timestamp) -> Vec<Timestamp> {
    let timetable = Expression::parse(text, Mode::Strict).unwrap().compile("x");
    let zone = Zone::utc();
    let step = |at: Timestamp| timetable.next_after(at, &zone);
    std::iter::successors(step(from), |at| step(*at))
        .take(COUNT)
        .collect()
}

fn theirs(text: &str, from: Timestamp) -> Vec<Timestamp> {
    let parser = CronParser::builder().seconds(Seconds::Optional).build();
    let cron = parser.parse(text).unwrap();
    let found = cron.iter_after(from.to_zoned(TimeZone::UTC)).take(COUNT);
    found.map(|zoned| zoned.timestamp()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn dp_02_croner_reads_times_the_same(job in random::seconds(), second in 0..4_000_000_000_i64) {
        let (text, from) = (job.text(), Timestamp::from_second(second).unwrap());
        prop_assert_eq!(ours(&text, from), theirs(&text, from), "`{}` after {}", text, from);
    }

    #[test]
    fn dp_02_croner_reads_dates_the_same(job in random::dates(), second in 0..4_000_000_000_i64) {
        let (text, from) = (job.text(), Timestamp::from_second(second).unwrap());
        prop_assume!(!text.contains("LW,") && !text.contains(",LW"));
        let ours = ours(&text, from);
        // croner gives up on what is rare; what it does find must be what we find.
        prop_assume!(ours.len() == COUNT);
        let theirs = theirs(&text, from);
        prop_assert_eq!(&ours[..theirs.len()], &theirs, "`{}` after {}", text, from);
    }
}
