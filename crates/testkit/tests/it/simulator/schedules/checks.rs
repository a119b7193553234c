//! The reckoning: every slot that the oracle expects is matched to exactly one row of the ledger,
//! and every verdict to a cause that was injected.

mod eras;
mod firings;
mod verdicts;

use std::collections::BTreeMap;

use almanack_core::{
    lang::Lang,
    plan::{EXCLUDED_EVERY, Schedule, ScheduleName, Slot, State, Verdict},
    store::LedgerPage,
};
use almanack_engine::schedules::Schedules;
use jiff::{SignedDuration, Timestamp};

use self::{eras::Life, verdicts::Judge};
use super::{ScheduleSummary, calls, planners::World, rule, works};

/// A slot this close to the end may still be undecided; splay keeps some back for four minutes.
const WAIT_MAX: SignedDuration = SignedDuration::from_secs(10);
/// One row in so many is asked about.
const ASKED: usize = 7;

pub(super) async fn check(world: &World) -> Result<ScheduleSummary, String> {
    let names: Vec<String> = world.chronicle.pages().edits.keys().cloned().collect();
    let mut summary = ScheduleSummary::default();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let tasks = firings::load(&*world.store).await?;
    works::check(world).await?;
    calls::check(world)?;
    for name in names {
        let (schedule, rows) = load(world, &name).await?;
        summary.slots += check_one(world, &schedule, &rows, &tasks)?;
        check_why(world, &schedule, &rows).await?;
        for row in &rows {
            *counts.entry(row.verdict.as_str().to_owned()).or_default() += 1;
        }
    }
    summary.rows = counts.into_iter().collect();
    Ok(summary)
}

fn check_one(
    world: &World,
    schedule: &Schedule,
    rows: &[Slot],
    tasks: &firings::Tasks,
) -> Result<usize, String> {
    let pages = world.chronicle.pages();
    let end = world.truth.now();
    let life = Life::of(&pages, schedule.name.as_str(), (rows, end), world.skew)?;
    let covered = cover(schedule, &life, rows, end)?;
    let judge = Judge {
        name: schedule.name.as_str(),
        pages: &pages,
        life: &life,
        skew: world.skew,
        rows,
    };
    for (slot, row) in &covered {
        judge.judge(*slot, &rows[*row])?;
    }
    judge.judge_looks()?;
    firings::check(&pages, &life, schedule, rows, tasks)?;
    Ok(covered.len())
}

/// Matches every expected slot to its one row.
fn cover(
    schedule: &Schedule,
    life: &Life,
    rows: &[Slot],
    end: Timestamp,
) -> Result<Vec<(Timestamp, usize)>, String> {
    let name = &schedule.name;
    let mut covered = Vec::new();
    let mut rows = rows.iter().enumerate().peekable();
    let mut left = 0;
    let mut undecided = None;
    for (slot, era) in &life.slots {
        let Some((index, row)) = rows.peek().copied().filter(|(_, row)| row.slot_at <= *slot)
        else {
            let definition = &life.eras[*era].definition;
            // What is left out waits for the next one that is not, for an hour at most.
            let excluded = rule::is_left_out(definition, *slot);
            let recorded_after = if excluded {
                EXCLUDED_EVERY
            } else {
                SignedDuration::ZERO
            };
            if *slot + rule::spread(definition) + recorded_after + WAIT_MAX < end {
                return Err(format!("{name}: slot {slot} has no row in the ledger"));
            }
            undecided = undecided.or(Some(*slot));
            continue;
        };
        if left == 0 {
            if row.slot_at != *slot {
                return Err(format!("{name}: a row begins at {}, no slot", row.slot_at));
            }
            left = row.slots;
        }
        covered.push((*slot, index));
        left -= 1;
        if left == 0 {
            if row.last_at != *slot {
                return Err(format!(
                    "{name}: the row of {} ends at {}, not at {slot}",
                    row.slot_at, row.last_at
                ));
            }
            rows.next();
        }
    }
    if let Some((_, row)) = rows.next() {
        return Err(format!(
            "{name}: a row at {} ({} slots) covers no slot",
            row.slot_at, row.slots
        ));
    }
    check_cursor(schedule, life, &covered, undecided)?;
    Ok(covered)
}

/// The cursor is at the first slot that is not in the ledger.
fn check_cursor(
    schedule: &Schedule,
    life: &Life,
    covered: &[(Timestamp, usize)],
    undecided: Option<Timestamp>,
) -> Result<(), String> {
    let Some(era) = life
        .eras
        .last()
        .filter(|_| !matches!(schedule.state, State::Removed { .. }))
    else {
        return Ok(());
    };
    let decided = covered
        .last()
        .map_or(era.from, |(slot, _)| (*slot).max(era.from));
    let ahead = decided + SignedDuration::from_hours(24 * 130);
    let next = undecided.or_else(|| era.slots(decided, ahead).first().copied());
    if schedule.next_at != next {
        return Err(format!(
            "{}: the next slot is {next:?}, not {:?}",
            schedule.name, schedule.next_at
        ));
    }
    Ok(())
}

async fn load(world: &World, name: &str) -> Result<(Schedule, Vec<Slot>), String> {
    let name = ScheduleName::parse(name).map_err(|error| error.to_string())?;
    let found = world.store.load_schedules(&[name]).await;
    let found = found.map_err(|error| error.to_string())?.pop().flatten();
    let schedule = found.ok_or("a schedule is gone from the store")?;
    let page = LedgerPage {
        before: Timestamp::MAX,
        limit: 1_000_000,
    };
    let rows = world.store.load_slots(schedule.id, page).await;
    let mut rows = rows.map_err(|error| error.to_string())?;
    rows.reverse();
    Ok((schedule, rows))
}

/// `almanack why` has the right sentence.
async fn check_why(world: &World, schedule: &Schedule, rows: &[Slot]) -> Result<(), String> {
    let clock = std::sync::Arc::new(almanack_core::time::CorrectedClock::new(
        std::sync::Arc::new(super::super::time::NodeClock::new(world.truth, 0, 0)),
    ));
    let zones = std::sync::Arc::clone(&world.zones);
    let schedules = Schedules::new(std::sync::Arc::clone(&world.store), clock, zones);
    for row in rows.iter().step_by(ASKED) {
        let answer = schedules
            .why(&schedule.name, row.last_at, Lang::English)
            .await;
        let sentence = answer.map_err(|error| error.to_string())?.sentence;
        if !words(row.verdict)
            .iter()
            .any(|words| sentence.contains(words))
        {
            let (name, verdict) = (&schedule.name, row.verdict.as_str());
            return Err(format!(
                "{name}: why {} ({verdict}) says: {sentence}",
                row.last_at
            ));
        }
    }
    Ok(())
}

fn words(verdict: Verdict) -> &'static [&'static str] {
    use almanack_core::plan::Reason;
    match verdict {
        Verdict::Fired => &["fired"],
        Verdict::CaughtUp => &["was missed and caught up"],
        // No schedule here is a monitor.
        Verdict::Pinged | Verdict::Skipped(Reason::NoPing | Reason::NeverPinged) => &[],
        Verdict::Skipped(Reason::Paused) => &["was skipped: the schedule was paused by ada"],
        Verdict::Skipped(Reason::TooLate) => &["more than its grace"],
        Verdict::Skipped(Reason::NotCaughtUp) => &["its catch-up policy skips it"],
        Verdict::Skipped(Reason::OverCap) => &["max_catch_up"],
        Verdict::Skipped(Reason::Overlap) => &["had not ended", "fired in the same moment"],
        Verdict::Skipped(Reason::Changed) => &["when the schedule was changed"],
        Verdict::Skipped(Reason::Cancelled) => &["had been cancelled"],
        Verdict::Skipped(Reason::Excluded) => &["calendar weekend", "quiet hours"],
    }
}
