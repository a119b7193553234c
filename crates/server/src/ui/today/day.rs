//! What a day is made of, read from the store in bounded pieces.

use almanack_core::{
    edition::Account,
    plan::{Schedule, State as ScheduleState},
    source::Source,
    store::{EditionFilter, ScheduleFilter, SlotLine, SourceFilter, StatusCount, TaskLine},
};
use jiff::{SignedDuration, Timestamp};

use crate::{AppState, problem::Problem, ui::SEARCHED};

/// How far the ribbon reaches to either side.
const REACH: SignedDuration = SignedDuration::from_hours(12);
/// The line of now moves once a minute: what moves every second would be sent every second.
const STEP: i64 = 60;
/// Most ended tasks and ledger rows in the ribbon.
const PAST_MAX: usize = 2_000;
/// Most waiting tasks.
const AHEAD_MAX: usize = 300;
/// Most schedules, sources and running tasks that are looked at.
const SCHEDULES_MAX: usize = 40;
const SOURCES_MAX: usize = 200;
const RUNNING_MAX: usize = 50;
/// Most slots to come of one schedule.
const SLOTS_MAX: usize = 48;
/// Editions whose work and deliveries fall into the window.
const EDITIONS_MAX: usize = 2;

/// A schedule with its slots to come.
pub(super) struct Planned {
    pub(super) schedule: Schedule,
    pub(super) slots: Vec<Timestamp>,
}

/// Everything the page is about.
pub(super) struct Day {
    /// The window.
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
    /// The whole minute that the page shows.
    pub(super) now: Timestamp,
    pub(super) statuses: Vec<StatusCount>,
    pub(super) finished: Vec<TaskLine>,
    pub(super) running: Vec<TaskLine>,
    pub(super) upcoming: Vec<TaskLine>,
    pub(super) slots: Vec<SlotLine>,
    pub(super) schedules: Vec<Planned>,
    pub(super) sources: Vec<Source>,
    /// Sources that want attention, the first few.
    pub(super) wanting: Vec<Source>,
    pub(super) parked: Vec<Schedule>,
    pub(super) editions: Vec<Account>,
}

impl Day {
    /// Reads it.
    pub(super) async fn load(state: &AppState, now: Timestamp) -> Result<Self, Problem> {
        let store = &state.store;
        let now = whole_minute(now);
        let from = now.saturating_sub(REACH).unwrap_or(Timestamp::MIN);
        let until = now.saturating_add(REACH).unwrap_or(Timestamp::MAX);
        let soon = now + SignedDuration::from_secs(STEP);
        Ok(Self {
            from,
            until,
            now,
            statuses: store.count_statuses(SEARCHED).await?,
            finished: store.load_finished(from, soon, PAST_MAX).await?,
            running: store.load_running(RUNNING_MAX).await?,
            upcoming: store.load_upcoming(until, AHEAD_MAX).await?,
            slots: store.load_slots_between(from, soon, PAST_MAX).await?,
            schedules: planned(state, now, until).await?,
            sources: store.list_sources(&sources(false, SOURCES_MAX)).await?,
            wanting: store
                .list_sources(&sources(true, super::wants::SHOWN))
                .await?,
            parked: store.list_schedules(&in_state("parked")).await?,
            editions: editions(state).await?,
        })
    }

    /// What there was more of than is shown.
    pub(super) fn cut(&self) -> impl Iterator<Item = (usize, &'static str)> {
        let cut = [
            (self.finished.len(), PAST_MAX, "tasks that ended"),
            (self.slots.len(), PAST_MAX, "slots"),
            (self.upcoming.len(), AHEAD_MAX, "waiting tasks"),
            (self.sources.len(), SOURCES_MAX, "sources"),
            (self.schedules.len(), SCHEDULES_MAX, "schedules"),
        ];
        cut.into_iter()
            .filter(|(shown, most, _)| shown >= most)
            .map(|(shown, _, all)| (shown, all))
    }
}

fn whole_minute(now: Timestamp) -> Timestamp {
    Timestamp::from_second(now.as_second().div_euclid(STEP) * STEP).unwrap_or(now)
}

fn sources(needs_attention: bool, limit: usize) -> SourceFilter {
    SourceFilter {
        needs_attention,
        limit,
        ..SourceFilter::default()
    }
}

fn in_state(state: &str) -> ScheduleFilter {
    ScheduleFilter {
        state: Some(state.to_owned()),
        limit: super::wants::SHOWN,
        ..ScheduleFilter::default()
    }
}

async fn planned(
    state: &AppState,
    now: Timestamp,
    until: Timestamp,
) -> Result<Vec<Planned>, Problem> {
    let filter = ScheduleFilter {
        limit: SCHEDULES_MAX,
        ..ScheduleFilter::default()
    };
    let schedules = state.store.list_schedules(&filter).await?;
    let planned = schedules.into_iter().map(|schedule| Planned {
        slots: slots_to_come(state, &schedule, now, until),
        schedule,
    });
    Ok(planned.collect())
}

/// The slots that fire if nobody does anything.
fn slots_to_come(
    state: &AppState,
    schedule: &Schedule,
    now: Timestamp,
    until: Timestamp,
) -> Vec<Timestamp> {
    let first = state.schedules.next_firing(schedule);
    let (Some(first), Ok(ready)) = (first, state.schedules.ready(schedule)) else {
        return Vec::new();
    };
    let resting = matches!(schedule.state, ScheduleState::Parked { .. });
    std::iter::successors(Some(first.max(now)), |slot| ready.next_after(*slot))
        .take_while(|slot| *slot < until && !resting)
        .take(SLOTS_MAX)
        .collect()
}

/// The newest editions with all that belongs to them. Where none are made, reading finds none.
async fn editions(state: &AppState) -> Result<Vec<Account>, Problem> {
    let filter = EditionFilter {
        limit: EDITIONS_MAX,
        ..EditionFilter::default()
    };
    let mut accounts = Vec::new();
    for line in state.store.list_editions(&filter).await? {
        accounts.extend(state.store.load_account(line.edition.date).await?);
    }
    Ok(accounts)
}
