//! The data of a day, read from the store in bounded parts.

use almanack_core::alert::Alert;
use almanack_core::edition::{Account, State as EditionState};
use almanack_core::plan::State as ScheduleState;
use almanack_core::store::{
    AlertFilter, EditionFilter, Kinds, ScheduleFilter, SlotLine, SourceFilter, StatusCount,
};

use crate::ui::SEARCHED;
use crate::ui::prelude::*;

/// Half of the window.
const REACH: SignedDuration = SignedDuration::from_hours(12);
/// The now line moves once a minute: a change every second would be sent every second.
const STEP: i64 = 60;
/// Most ended tasks and ledger rows.
const PAST_MAX: usize = 1_000;
const AHEAD_MAX: usize = 300;
/// Most schedules, sources and running tasks.
const SCHEDULES_MAX: usize = 40;
const SOURCES_MAX: usize = 200;
const RUNNING_MAX: usize = 50;
/// Most future slots of one schedule.
const SLOTS_MAX: usize = 150;
const ALERTS_MAX: usize = 100;
/// Editions whose work and deliveries fall into the window.
const EDITIONS_NEWEST: usize = 2;
/// Editions searched for open deliveries.
const EDITIONS_MAX: usize = 14;

/// A schedule with its future slots.
pub(super) struct Planned {
    pub(super) schedule: Schedule,
    pub(super) slots: Vec<Timestamp>,
}

pub(super) struct Day {
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
    /// The current minute.
    pub(super) now: Timestamp,
    pub(super) statuses: Vec<StatusCount>,
    pub(super) finished: Vec<TaskLine>,
    pub(super) running: Vec<TaskLine>,
    pub(super) upcoming: Vec<TaskLine>,
    pub(super) slots: Vec<SlotLine>,
    pub(super) schedules: Vec<Planned>,
    pub(super) sources: Vec<Source>,
    /// The first sources that need attention.
    pub(super) wanting: Vec<Source>,
    pub(super) parked: Vec<Schedule>,
    pub(super) editions: Vec<Account>,
    /// The newest open alerts.
    pub(super) alerts: Vec<Alert>,
}

impl Day {
    /// Whether nothing was ever put, planned or added.
    pub(super) fn is_empty(&self) -> bool {
        self.statuses.is_empty()
            && self.finished.is_empty()
            && self.schedules.is_empty()
            && self.sources.is_empty()
            && self.editions.is_empty()
    }

    pub(super) async fn load(state: &AppState, now: Timestamp) -> Result<Self> {
        let store = &state.store;
        let now = whole_minute(now);
        let from = now.saturating_sub(REACH).unwrap_or(Timestamp::MIN);
        let until = now.saturating_add(REACH).unwrap_or(Timestamp::MAX);
        let soon = now + SignedDuration::from_secs(STEP);
        let (all, wanting) = (
            sources(false, SOURCES_MAX),
            sources(true, super::wants::SHOWN),
        );
        let parked = in_state("parked");
        // Side by side: none of them needs what another answers.
        let tasks = async {
            tokio::try_join!(
                store.count_statuses(SEARCHED, Kinds::Business),
                store.load_finished(from, soon, PAST_MAX),
                store.load_running(RUNNING_MAX),
                store.load_upcoming(Timestamp::MIN, until, AHEAD_MAX),
                store.load_slots_between(from, soon, PAST_MAX),
            )
            .map_err(Problem::from)
        };
        let others = async {
            tokio::try_join!(
                store.list_sources(&all),
                store.list_sources(&wanting),
                store.list_schedules(&parked),
                store.load_alerts(open_alerts()),
            )
            .map_err(Problem::from)
        };
        let parts = tokio::try_join!(tasks, others, planned(state, now, until), editions(state))?;
        let (tasks, (sources, wanting, parked, alerts), schedules, editions) = parts;
        let (statuses, finished, running, upcoming, slots) = tasks;
        Ok(Self {
            from,
            until,
            now,
            statuses,
            finished,
            running,
            upcoming,
            slots,
            schedules,
            sources: sources.rows,
            wanting: wanting.rows,
            parked: parked.rows,
            editions,
            alerts,
        })
    }

    /// Notes about truncated data.
    pub(super) fn cut(&self, lang: Lang) -> Vec<String> {
        let is_long = |planned: &Planned| planned.slots.len() >= SLOTS_MAX;
        let cut = [
            (
                self.finished.len() >= PAST_MAX || self.slots.len() >= PAST_MAX,
                say!(lang; "Shows only the newest {PAST_MAX} finished tasks and slots.",
                    "仅显示最新的 {PAST_MAX} 个已结束任务与时点。"),
            ),
            (
                self.upcoming.len() >= AHEAD_MAX,
                say!(lang; "Shows only the next {AHEAD_MAX} waiting tasks of each kind.",
                    "每种等待中的任务仅显示最近的 {AHEAD_MAX} 个。"),
            ),
            (
                self.schedules.iter().any(is_long),
                say!(lang; "Shows only the next {SLOTS_MAX} slots of each schedule.",
                    "每个日程仅显示接下来的 {SLOTS_MAX} 个时点。"),
            ),
            (
                self.schedules.len() >= SCHEDULES_MAX,
                say!(lang; "Shows future slots of the first {SCHEDULES_MAX} schedules only.",
                    "仅显示前 {SCHEDULES_MAX} 个日程的未来时点。"),
            ),
            (
                self.sources.len() >= SOURCES_MAX,
                say!(lang; "Shows checks of the first {SOURCES_MAX} sources only.",
                    "仅显示前 {SOURCES_MAX} 个信源的检查。"),
            ),
        ];
        cut.into_iter()
            .filter_map(|(is_cut, text)| is_cut.then_some(text))
            .collect()
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

fn open_alerts() -> AlertFilter {
    AlertFilter {
        closed_from: Timestamp::MAX,
        limit: ALERTS_MAX,
    }
}

fn in_state(state: &str) -> ScheduleFilter {
    ScheduleFilter {
        state: Some(state.to_owned()),
        limit: super::wants::SHOWN,
        ..ScheduleFilter::default()
    }
}

async fn planned(state: &AppState, now: Timestamp, until: Timestamp) -> Result<Vec<Planned>> {
    let filter = ScheduleFilter {
        limit: SCHEDULES_MAX,
        ..ScheduleFilter::default()
    };
    let schedules = state.store.list_schedules(&filter).await?.rows;
    let planned = schedules.into_iter().map(|schedule| Planned {
        slots: slots_to_come(state, &schedule, now, until),
        schedule,
    });
    Ok(planned.collect())
}

/// Slots that will fire as things are.
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
    std::iter::successors(Some(first.max(now)), |slot| ready.next_firing_after(*slot))
        .take_while(|slot| *slot < until && !resting)
        .take(SLOTS_MAX)
        .collect()
}

/// The newest editions with their parts, and earlier ones with undelivered parts: those still need
/// attention. Finds none if editions are not configured.
async fn editions(state: &AppState) -> Result<Vec<Account>> {
    let filter = EditionFilter {
        limit: EDITIONS_MAX,
        ..EditionFilter::default()
    };
    let lines = state.store.list_editions(&filter).await?;
    let mut accounts = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let ended_as = line.edition.archived_from.unwrap_or(line.edition.state);
        if place < EDITIONS_NEWEST || ended_as != EditionState::Published {
            match state.store.load_account(line.edition.id).await {
                // Its own page shows the error; this one shows the others (SF-06).
                Err(error) if error.is_unreadable() => {}
                account => accounts.extend(account?),
            }
        }
    }
    Ok(accounts)
}
