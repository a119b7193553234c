//! Measures what many schedules cost: a quiet second, a busy minute, memory.
//!
//! The planner runs pass by pass with a clock set by the measurement, so that only the pass itself
//! is timed.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use almanack_adapters::clock::{Stopwatch, SystemClock};
use almanack_core::{
    calendar::{CalendarRecord, Reading},
    plan::{Definition, Origin, Schedule, ScheduleId, ScheduleName, ScheduleWrite, State},
    store::Store,
    target::Target,
    time::{Clock, LATEST},
};
use almanack_engine::{planner::Planner, zones::Zones};
use almanack_lab::figures::{half_most_all, rounded};
use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;

use super::{Error, Memory, Result, wrong};
use crate::args::ScheduleLoadArguments;

const BATCH: usize = 1_000;
const CALENDAR: &str = "holidays";
/// The range of their slots.
const YEAR_S: i64 = 365 * 86_400;
/// Time until the first slots: until then it is quiet.
const QUIET_S: i64 = 7_200;

/// The results.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ScheduleFigures {
    /// Schedules in the store.
    pub(crate) schedules: usize,
    /// Seconds to write them.
    pub(crate) filled_s: f64,
    /// A pass with nothing due: half of them, 99 % of them, all of them.
    pub(crate) quiet_ms: [f64; 3],
    /// Slots that were due in one minute.
    pub(crate) fired: u64,
    /// The pass that fired them.
    pub(crate) busy_ms: f64,
    #[serde(flatten)]
    pub(crate) memory: Memory,
}

/// A clock that shows the time it is set to.
struct Standing(AtomicI64);

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(self.0.load(Ordering::Relaxed)).unwrap_or(LATEST)
    }
}

/// Fills the store and measures.
pub(crate) async fn schedules(
    store: Arc<dyn Store>,
    load: &ScheduleLoadArguments,
) -> Result<ScheduleFigures> {
    let now = SystemClock.now();
    let busy_at = whole_minute(now, QUIET_S)?;
    let watch = Stopwatch::start();
    fill(&*store, load, now, busy_at).await?;
    let filled_s = watch.seconds();
    let clock = Arc::new(Standing(AtomicI64::new(now.as_microsecond())));
    let planner = Planner::new(store, clock.clone(), Arc::new(Zones::default()));
    let quiet_ms = quiet(&planner, load.passes).await?;
    clock.0.store(busy_at.as_microsecond(), Ordering::Relaxed);
    let watch = Stopwatch::start();
    let passed = planner.pass().await?;
    Ok(ScheduleFigures {
        schedules: load.count,
        filled_s: rounded(filled_s, 3),
        quiet_ms,
        fired: passed.fired,
        busy_ms: rounded(watch.seconds() * 1_000.0, 3),
        memory: Memory::now(),
    })
}

async fn quiet(planner: &Planner, passes: usize) -> Result<[f64; 3]> {
    let mut took = Vec::with_capacity(passes);
    for _ in 0..passes {
        let watch = Stopwatch::start();
        let quiet = planner.pass().await?;
        took.push(watch.seconds() * 1_000.0);
        if quiet.fired + quiet.skipped > 0 {
            return Err(Error::Wrong("a pass with nothing due fired".to_owned()));
        }
    }
    Ok(half_most_all(took, 3))
}

async fn fill(
    store: &dyn Store,
    load: &ScheduleLoadArguments,
    now: Timestamp,
    busy_at: Timestamp,
) -> Result<()> {
    let count = i64::try_from(load.count.max(1)).unwrap_or(i64::MAX);
    if load.calendar {
        store.write_calendar(&calendar(now)?, None).await?;
    }
    let mut writes = Vec::with_capacity(BATCH);
    for (number, place) in (0..load.count).zip(0_i64..) {
        let slot = if number < load.due {
            busy_at
        } else {
            whole_minute(busy_at, 120 + YEAR_S / count * place)?
        };
        writes.push(write(number, slot, load.calendar, now)?);
        if writes.len() == BATCH || number + 1 == load.count {
            store.write_schedules(std::mem::take(&mut writes)).await?;
        }
    }
    Ok(())
}

fn whole_minute(from: Timestamp, ahead_s: i64) -> Result<Timestamp> {
    let second = from.as_second() + ahead_s;
    let minute = Timestamp::from_second(second - second.rem_euclid(60));
    minute.map_err(wrong)
}

/// A calendar whose day has passed.
fn calendar(now: Timestamp) -> Result<CalendarRecord> {
    let definition = r#"{"dates":[{"on":"2000-01-01"}]}"#;
    Ok(CalendarRecord {
        name: CALENDAR.to_owned(),
        origin: Origin::Api,
        definition: serde_json::from_str(definition).map_err(wrong)?,
        copy: None,
        reading: Reading::default(),
        version: 1,
        applied: 1,
        created_at: now,
        changed_at: now,
    })
}

/// A schedule that fires once a year, at `slot`.
fn write(number: usize, slot: Timestamp, calendar: bool, now: Timestamp) -> Result<ScheduleWrite> {
    let local = TimeZone::UTC.to_datetime(slot);
    let (minute, hour) = (local.minute(), local.hour());
    let expression = format!("{minute} {hour} {} {} *", local.day(), local.month());
    let url = "https://example.org/hook".to_owned();
    let mut definition = Definition::new(expression, Target::webhook(url));
    definition
        .except
        .extend(calendar.then(|| CALENDAR.to_owned()));
    let name = ScheduleName::parse(&format!("bench-{number}"));
    let schedule = Schedule {
        id: ScheduleId(0),
        name: name.map_err(wrong)?,
        origin: Origin::Api,
        definition: definition.into(),
        revision: 1,
        version: 1,
        state: State::Active,
        next_at: Some(slot),
        waits_since: None,
        look_at: Some(slot),
        last: None,
        beside: Vec::new(),
        runs: 0,
        created_at: now,
        changed_at: now,
    };
    Ok(ScheduleWrite {
        seen: None,
        schedule,
        takes_back: None,
        slots: Vec::new(),
        fires: Vec::new(),
        cancels: Vec::new(),
        edit: None,
        monitor: None,
        event_tasks: Vec::new(),
        decided_at: now,
    })
}
