//! Derives every interval of the demo from its speed.
//!
//! Whatever the speed, users should see something every few real seconds and every part within a
//! minute. So the plan uses real seconds and converts them to the clock's. Leases also need real
//! time: a guard against a slow machine must be long in real time, however fast the clock runs.

use std::time::Duration;

use almanack_adapters::{alert::Language, clock::Speed};
use almanack_core::alert::facts::Bounds;
use jiff::{SignedDuration, Timestamp, Unit, tz::TimeZone};

use crate::when::show_duration;

/// From the demo's start to the first tick of the day's edition, in real seconds.
const LEAD_S: u64 = 4;
/// How long a node's lease lasts, in real time.
const LEASE: Duration = Duration::from_secs(20);
/// How long a batch of an edition and a delivery may take, in real time.
const BATCH_TIME: Duration = Duration::from_secs(20);
const DELIVERY_TIME: Duration = Duration::from_secs(10);
/// From one round of the watch to the next, in real time.
const WATCH_EVERY: Duration = Duration::from_millis(500);
/// How long something must be wrong before an alert, in real time: a heartbeat that is missing
/// (three leases), work that is late or was not planned, that nobody starts, that does not end.
const GONE: Duration = Duration::from_mins(1);
const LATE: Duration = Duration::from_secs(10);
const UNCLAIMED: Duration = Duration::from_secs(30);
const STUCK: Duration = Duration::from_mins(2);
/// Yesterday is made so fast that a second of a busy machine is hours: being late by less is no
/// news.
const YESTERDAY_LATE: SignedDuration = SignedDuration::from_hours(6);
/// Checks are counted for minutes only, over which chance decides, in percent of the budget.
const BUDGET_PERCENT: u32 = 400;
/// Checks per day and source, as `sources.checks_per_day` has it by default.
const CHECKS_PER_DAY: u64 = 24;
/// How long the node drains after Ctrl-C, in real time.
const DRAIN: Duration = Duration::from_secs(3);
/// Up to this speed an edition grows batch by batch, a tick every few real seconds. At higher
/// speeds its day would end first.
const BATCHWISE_MAX: f64 = 300.0;
/// Below this speed, a quarter of an hour is long.
const SLOW: f64 = 20.0;
/// The lowest speed used to choose yesterday's intervals.
const YESTERDAY: f64 = 120.0;
/// From tick to tick, in real seconds.
const TICK_S: u64 = 5;

/// Periods that divide their hour, day or minute.
const SECONDS: [u64; 5] = [5, 10, 15, 20, 30];
const MINUTES: [u64; 8] = [1, 2, 5, 10, 15, 20, 30, 60];
const HOURS: [u64; 7] = [1, 2, 3, 4, 6, 8, 12];

/// Zones without summer time, with how many hours they are ahead of UTC. At any hour it is morning
/// in one of them.
const MORNINGS: [(&str, i8); 6] = [
    ("Asia/Shanghai", 8),
    ("Asia/Dubai", 4),
    ("UTC", 0),
    ("America/Bogota", -5),
    ("Pacific/Honolulu", -10),
    ("Australia/Brisbane", 10),
];
/// Morning, in hours of the day.
const MORNING: std::ops::RangeInclusive<i8> = 5..=9;

/// When the demo begins, how fast it runs, and what follows from that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Plan {
    /// The clock's speed.
    pub(super) speed: Speed,
    /// What the clock shows at first: a little before a full hour, so that the edition starts while
    /// users watch.
    pub(super) starts_at: Timestamp,
    /// The editions' time zone: where it is morning then.
    pub(super) zone: &'static str,
    /// The hour there at which editions begin.
    pub(super) hour: i8,
    /// Whether one tick builds the whole edition; otherwise it grows batch by batch.
    pub(super) chain: bool,
    /// The language of the edition, and of what is printed.
    pub(super) language: Language,
}

impl Plan {
    /// The plan of a demo that starts at `wall`.
    pub(super) fn new(wall: Timestamp, speed: Speed, language: Language) -> Self {
        let hour_at = full_hour(wall);
        let lead = speed.shown(Duration::from_secs(LEAD_S));
        let utc = hour_at.to_zoned(TimeZone::UTC).hour();
        let (zone, hour) = morning(utc);
        Self {
            speed,
            starts_at: hour_at.saturating_sub(lead).unwrap_or(hour_at),
            zone,
            hour,
            chain: speed.times() > BATCHWISE_MAX,
            language,
        }
    }

    /// The same plan with timeouts for another clock speed.
    pub(super) fn at(&self, speed: Speed) -> Self {
        Self { speed, ..*self }
    }

    /// The plan of the simulated yesterday: nothing more often than every few minutes.
    pub(super) fn yesterday(&self) -> Self {
        let quiet = Speed::new(YESTERDAY).unwrap_or(self.speed);
        Self {
            speed: if self.speed < quiet {
                quiet
            } else {
                self.speed
            },
            chain: true,
            ..*self
        }
    }

    /// Whether the next check may be further away than users watch.
    pub(super) fn is_slow(&self) -> bool {
        self.speed.times() < SLOW
    }

    /// Real seconds as time of the clock.
    pub(super) fn shown(&self, real_s: u64) -> SignedDuration {
        self.speed.shown(Duration::from_secs(real_s))
    }

    /// A schedule that fires about every `real_s` real seconds, at round times of its zone.
    pub(super) fn every(&self, real_s: u64) -> String {
        match self.step(real_s) {
            (step, 1) => format!("*/{step} * * * * *"),
            (1, 60) => "* * * * *".to_owned(),
            (60, 60) => "0 * * * *".to_owned(),
            (step, 60) => format!("*/{step} * * * *"),
            (24, _) => "0 6 * * *".to_owned(),
            (step, _) => format!("0 */{step} * * *"),
        }
    }

    /// The first round period that is not shorter than `real_s` real seconds, and its unit in
    /// seconds.
    fn step(&self, real_s: u64) -> (u64, u64) {
        let seconds = self.shown(real_s).as_secs().unsigned_abs().max(1);
        let least = |steps: &[u64], unit: u64| {
            let step = steps.iter().copied().find(|it| it * unit >= seconds);
            step.map(|step| (step, unit))
        };
        least(&SECONDS, 1)
            .or_else(|| least(&MINUTES, 60))
            .or_else(|| least(&HOURS, 3_600))
            .unwrap_or((24, 3_600))
    }

    /// The same without round times: for work that takes longer than its interval.
    pub(super) fn every_exactly(&self, real_s: u64) -> String {
        let seconds = SignedDuration::from_secs(self.shown(real_s).as_secs().max(1));
        format!("@every {}", show_duration(seconds))
    }

    /// The tick schedule: from the hour of the edition to the end of its day.
    pub(super) fn ticks(&self) -> String {
        let hour = self.hour;
        match self.step(TICK_S) {
            (step, 1) => format!("*/{step} * {hour}-23 * * *"),
            (step @ 1..60, 60) if !self.chain => format!("*/{step} {hour}-23 * * *"),
            _ => format!("*/15 {hour}-23 * * *"),
        }
    }

    /// The shortest time between two checks of a source: the usual floor where a day passes
    /// quickly.
    pub(super) fn floor(&self) -> SignedDuration {
        let (shortest, usual) = (SignedDuration::from_secs(10), SignedDuration::from_mins(15));
        self.shown(15).clamp(shortest, usual)
    }

    /// Checks per day and source: as usual, so that what was learned decides when to check. Where
    /// an hour takes long, about one every 15 real seconds, so that there is something to see.
    pub(super) fn checks_per_day(&self) -> u64 {
        if !self.is_slow() {
            return CHECKS_PER_DAY;
        }
        let apart = self.shown(15).as_secs().unsigned_abs().max(1);
        (86_400 / apart).clamp(CHECKS_PER_DAY, 1_440)
    }

    /// From one round of the watch to the next; never less than usual.
    pub(super) fn watch_every(&self) -> SignedDuration {
        let usual = SignedDuration::from_secs(20);
        self.speed.shown(WATCH_EVERY).max(usual)
    }

    /// Widens the bounds of alerts: leases and the machine's slowness are in real time, and a fast
    /// clock makes them long.
    pub(super) fn widen(&self, bounds: &mut Bounds) {
        let least = |bound: &mut SignedDuration, real| {
            *bound = self.speed.shown(real).max(*bound);
        };
        least(&mut bounds.gone, GONE);
        least(&mut bounds.late, LATE);
        least(&mut bounds.missing, LATE);
        bounds.late = bounds.late.max(YESTERDAY_LATE);
        bounds.budget_percent = bounds.budget_percent.max(BUDGET_PERCENT);
        least(&mut bounds.unclaimed, UNCLAIMED);
        least(&mut bounds.stuck, STUCK);
    }

    /// How often the configuration is reloaded.
    pub(super) fn reload(&self) -> SignedDuration {
        self.shown(2)
            .clamp(SignedDuration::from_secs(2), SignedDuration::from_hours(1))
    }

    /// The lease.
    pub(super) fn lease(&self) -> SignedDuration {
        self.speed.shown(LEASE)
    }

    /// The drain period after Ctrl-C.
    pub(super) fn drain(&self) -> SignedDuration {
        self.speed.shown(DRAIN)
    }

    /// How long a batch of an edition may take; never less than usual.
    pub(super) fn batch_time(&self) -> SignedDuration {
        self.speed
            .shown(BATCH_TIME)
            .max(SignedDuration::from_mins(4))
    }

    /// How long a delivery may take; never less than usual.
    pub(super) fn delivery_time(&self) -> SignedDuration {
        self.speed
            .shown(DELIVERY_TIME)
            .max(SignedDuration::from_mins(2))
    }
}

fn full_hour(at: Timestamp) -> Timestamp {
    let whole = jiff::TimestampRound::new()
        .smallest(Unit::Hour)
        .mode(jiff::RoundMode::Floor);
    at.round(whole).unwrap_or(at)
}

/// A zone where it is morning at this hour of UTC, and the hour there.
fn morning(utc: i8) -> (&'static str, i8) {
    let local = |ahead: i8| (utc + ahead).rem_euclid(24);
    let found = MORNINGS
        .into_iter()
        .find(|(_, ahead)| MORNING.contains(&local(*ahead)));
    found.map_or(("UTC", utc), |(zone, ahead)| (zone, local(ahead)))
}

#[cfg(test)]
mod tests {
    use almanack_core::schedule::{Expression, Mode};

    use super::*;

    fn plan(times: f64) -> Plan {
        let wall = "2026-11-15T17:22:32Z".parse().unwrap();
        Plan::new(wall, Speed::new(times).unwrap(), Language::English)
    }

    #[test]
    fn it_begins_a_little_before_a_full_hour_that_is_morning_somewhere() {
        let plan = plan(60.0);
        assert_eq!(plan.starts_at.to_string(), "2026-11-15T16:56:00Z");
        assert_eq!((plan.zone, plan.hour), ("Pacific/Honolulu", 7));
        for utc in 0..24 {
            let (zone, hour) = morning(utc);
            assert!(MORNING.contains(&hour), "{utc} in {zone}");
            let at: Timestamp = format!("2026-07-15T{utc:02}:00:00Z").parse().unwrap();
            let there = at.to_zoned(TimeZone::get(zone).unwrap());
            assert_eq!(there.hour(), hour, "{utc} in {zone}");
        }
    }

    #[test]
    fn schedules_fire_every_few_real_seconds_at_any_speed() {
        for (times, real_s, expression) in [
            (1.0, 10, "*/10 * * * * *"),
            (1.0, 45, "* * * * *"),
            (60.0, 10, "*/10 * * * *"),
            (60.0, 25, "*/30 * * * *"),
            (60.0, 60, "0 * * * *"),
            (600.0, 10, "0 */2 * * *"),
            (3_600.0, 10, "0 */12 * * *"),
            (3_600.0, 30, "0 6 * * *"),
        ] {
            assert_eq!(
                plan(times).every(real_s),
                expression,
                "{real_s} s at {times}"
            );
        }
        for times in [1.0, 7.0, 40.0, 60.0, 299.0, 600.0, 3_600.0] {
            let plan = plan(times);
            for text in [plan.every(7), plan.every_exactly(7), plan.ticks()] {
                let read = Expression::parse(&text, Mode::Strict);
                assert!(read.is_ok(), "{text} at {times}");
            }
        }
    }

    #[test]
    fn guards_are_long_in_real_time_at_any_speed() {
        for times in [1.0, 60.0, 3_600.0] {
            let plan = plan(times);
            for guard in [plan.lease(), plan.batch_time(), plan.delivery_time()] {
                assert!(plan.speed.real(guard) >= Duration::from_secs(10), "{times}");
            }
            assert!(plan.floor() <= SignedDuration::from_mins(15), "{times}");
            // A node beats three times in a lease: no beat that is on time raises an alert.
            let mut bounds = Bounds::default();
            plan.widen(&mut bounds);
            assert!(bounds.gone >= plan.lease() + plan.lease(), "{times}");
            for bound in [bounds.late, bounds.missing, bounds.unclaimed, bounds.stuck] {
                assert!(plan.speed.real(bound) >= LATE, "{times}");
            }
        }
    }

    #[test]
    fn sources_are_checked_as_often_as_usual_where_an_hour_passes_while_people_watch() {
        for (times, checks) in [(1.0, 1_440), (10.0, 576), (60.0, 24), (3_600.0, 24)] {
            assert_eq!(plan(times).checks_per_day(), checks, "at {times}");
        }
    }
}
