//! Run logs: what a firing's attempts printed or reported (DP-20).
//!
//! What was printed may be a secret of whoever wrote the program, so reading it takes the scope
//! `operate`. A client that follows a log asks with `wait`: the answer comes when there is more to
//! read, when the attempt has ended, or when the wait is over.

use almanack_core::both;
use almanack_core::plan::{
    DISPATCH, Firing, ScheduleName, Trigger, manual_identity, slot_identity,
};
use almanack_core::run_log::{LogText, LoggedAttempt, attempts, read_page};
use almanack_core::store::{HistoryPage, LogPage, RunId, Store};
use almanack_core::target::{Target, task_identity};
use almanack_core::task::{Identity, Status, Task, TaskId, Term};
use almanack_core::token::Scope;
use axum::Extension;
use tokio::sync::Semaphore;

use crate::access::Requester;
use crate::call::in_path;
use crate::prelude::*;
use crate::schedules::{Named, find};
use crate::tasks::body::parse_instant;

/// Bytes of a part, by default and at most.
const PART_DEFAULT: usize = 64 * 1024;
const PART_MAX: usize = 1024 * 1024;
/// Pieces that are read for a part of so many bytes: some are shorter than they may be.
const PIECE_BYTES: usize = 16 * 1024;
/// Longest wait for more, in seconds; an answer comes within 30.
const WAIT_MAX_S: u64 = 20;
/// How often is looked for more while a client waits, by the wall clock.
const LOOK_EVERY: SignedDuration = SignedDuration::from_secs(1);
/// Clients that may wait on one node; others are answered at once.
const WAITING_MAX: usize = 64;
/// Attempts that are listed, the newest.
const ATTEMPTS_MAX: usize = 100;

/// Room for clients that wait.
pub(crate) struct Waiting(Semaphore);

impl Default for Waiting {
    fn default() -> Self {
        Self(Semaphore::new(WAITING_MAX))
    }
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogQuery {
    /// The slot, or the time of a manual firing, as an RFC 3339 instant; write `+` as `%2B`.
    /// Default: the latest firing. Only for a schedule.
    #[param(format = DateTime)]
    slot: Option<String>,
    /// The attempt, by its `term`. Default: the latest.
    pub(crate) term: Option<i64>,
    /// Where to begin, in bytes: the `next_offset` of the previous part. Default: 0.
    pub(crate) offset: Option<u64>,
    /// Most bytes to read, up to 1048576. Default: 65536.
    pub(crate) limit: Option<usize>,
    /// Seconds to wait for more, up to 20. Default: 0.
    wait: Option<u64>,
}

/// A part of what an attempt of a firing printed or reported.
#[derive(Serialize, ToSchema)]
pub(crate) struct RunLogView {
    /// The firing.
    pub(crate) task_id: TaskId,
    /// Its subject; its kind is DISPATCH.
    pub(crate) subject: String,
    pub(crate) schedule: String,
    /// The slot that it fires for.
    pub(crate) slot_at: Timestamp,
    /// What made it fire: schedule, manual or backfill.
    #[schema(value_type = String)]
    pub(crate) trigger: Trigger,
    pub(crate) status: Status,
    /// Whether it is waiting, will be retried, or is running.
    pub(crate) live: bool,
    /// Its attempts, oldest first; the newest 100.
    pub(crate) attempts: Vec<LoggedAttempt>,
    /// The attempt that printed this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) term: Option<Term>,
    #[serde(flatten)]
    pub(crate) part: LogText,
    /// Whether nothing follows: the attempt has ended, and this is its end.
    pub(crate) ended: bool,
    /// The task that the firing put, whose history says more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) work: Option<Identity>,
}

in_path! {
    /// The task of a firing that a path names.
    FiringId(TaskId), |id: i64| Ok(TaskId(id))
}

/// Read what a firing printed or reported, part by part.
///
/// Text is kept up to `limits.run_log_bytes`; of more, the beginning and the end are kept, and
/// `left_out` says how much is missing. Known secrets are replaced. Follow a running attempt with
/// `offset` and `wait`.
#[utoipa::path(
    get, path = "/api/v1/firings/{id}/log", tag = "schedules",
    params(("id" = i64, Path, description = "Number of the firing's task"), LogQuery),
    responses((status = 200, description = "The part", body = RunLogView)),
)]
pub(crate) async fn get_firing_log(
    State(state): App,
    FiringId(id): FiringId,
    Asked(query): Asked<LogQuery>,
    requester: Requester,
    Extension(waiting): Extension<Arc<Waiting>>,
) -> Result<Json<RunLogView>> {
    admit(&requester)?;
    if query.slot.is_some() {
        return Err(Problem::in_query(both!(
            "slot is only for the log of a schedule",
            "slot 只用于日程的日志"
        )));
    }
    follow(&state, id, &query, &waiting).await.map(Json)
}

/// Read what a schedule's firing printed or reported: the latest, or that of a slot.
#[utoipa::path(
    get, path = "/api/v1/schedules/{name}/log", tag = "schedules",
    params(LogQuery),
    responses((status = 200, description = "The part", body = RunLogView)),
)]
pub(crate) async fn get_schedule_log(
    State(state): App,
    Named(name): Named,
    Asked(query): Asked<LogQuery>,
    requester: Requester,
    Extension(waiting): Extension<Arc<Waiting>>,
) -> Result<Json<RunLogView>> {
    admit(&requester)?;
    let id = match &query.slot {
        Some(slot) => at_slot(&state, &name, parse_instant(slot, "slot")?).await?,
        None => latest(&state, &name).await?,
    };
    follow(&state, id, &query, &waiting).await.map(Json)
}

/// Refuses requesters that may only read.
fn admit(requester: &Requester) -> Result<()> {
    requester.must(Scope::Operate, "the log of a run, which may hold secrets,")
}

async fn at_slot(state: &AppState, name: &ScheduleName, at: Timestamp) -> Result<TaskId> {
    find(state, name).await?;
    let identities = [slot_identity(name, at)?, manual_identity(name, at)?];
    let found = state.store.load_current(&identities).await?;
    let found = found.into_iter().flatten().next();
    let missing = || {
        let detail = both!(
            "`{name}` has no firing at {at}; GET /api/v1/schedules/{name}/slots lists its firings",
            "`{name}` 在 {at} 没有触发；GET /api/v1/schedules/{name}/slots 会列出其触发"
        );
        Problem::new(Code::NoSuchFiring, detail)
    };
    found.map(|task| task.id).ok_or_else(missing)
}

/// The firing that a schedule made last.
pub(crate) async fn latest(state: &AppState, name: &ScheduleName) -> Result<TaskId> {
    let schedule = find(state, name).await?;
    let missing = || {
        Problem::new(
            Code::NoSuchFiring,
            both!("`{name}` has not fired yet", "`{name}` 还没有触发过"),
        )
    };
    let identity = schedule.last_firing().ok_or_else(missing)?;
    let found = state.store.load_current(&[identity]).await?;
    let found = found.into_iter().flatten().next();
    let forgotten = || {
        let detail = both!(
            "the latest firing of `{name}` is no longer kept",
            "`{name}` 最近一次触发的记录已不再保留"
        );
        Problem::new(Code::NoSuchFiring, detail)
    };
    found.map(|task| task.id).ok_or_else(forgotten)
}

/// Answers when there is something to read, or when the wait is over.
async fn follow(
    state: &AppState,
    id: TaskId,
    query: &LogQuery,
    waiting: &Waiting,
) -> Result<RunLogView> {
    let wait = query.wait.unwrap_or(0);
    if wait > WAIT_MAX_S {
        let detail = both!(
            "wait must be 0 to {WAIT_MAX_S} seconds, not {wait}",
            "wait 必须为 0 到 {WAIT_MAX_S} 秒，不能是 {wait}"
        );
        return Err(Problem::in_query(detail));
    }
    let limit = paging::size(query.limit, PART_DEFAULT, PART_MAX)?;
    let from = query.offset.unwrap_or(0);
    let room = waiting.0.try_acquire().ok();
    let mut looks = if room.is_some() { wait } else { 0 };
    loop {
        let view = load(&*state.store, id, query.term.map(Term), (from, limit)).await?;
        let is_news = !view.part.text.is_empty() || view.ended || !view.live;
        if is_news || looks == 0 {
            return Ok(view);
        }
        looks -= 1;
        let now = state.clock.now();
        let pace = LOOK_EVERY.as_secs_f64() * state.speed;
        let pace = SignedDuration::try_from_secs_f64(pace).unwrap_or(LOOK_EVERY);
        tokio::select! {
            () = state.leaving.cancelled() => return Ok(view),
            () = state.sleeper.until(now.saturating_add(pace).unwrap_or(now)) => {}
        }
    }
}

/// A part of an attempt's log: from a byte on, so many at most.
pub(crate) async fn load(
    store: &dyn Store,
    id: TaskId,
    term: Option<Term>,
    (from, bytes_max): (u64, usize),
) -> Result<RunLogView> {
    let task = store.load_task(id).await?;
    let task = task.filter(|task| task.identity.kind.as_str() == DISPATCH);
    let missing = || {
        let detail = both!(
            "task {id} does not exist, or is not the firing of a schedule",
            "任务 {id} 不存在，或不是日程的触发"
        );
        Problem::new(Code::NoSuchFiring, detail)
    };
    let task = task.ok_or_else(missing)?;
    let firing = Firing::read(&task.payload)?;
    let page = HistoryPage {
        before: None,
        limit: ATTEMPTS_MAX,
    };
    let records = store.load_history(&task.identity, page).await?;
    let extents = store.load_run_log_extents(id).await?;
    let attempts = attempts(&task, records, &extents);
    let attempt = match term {
        Some(term) => {
            let unknown = || {
                let detail = both!(
                    "firing {id} has no attempt of term {}",
                    "触发 {id} 没有任期为 {} 的尝试",
                    term.0
                );
                Problem::in_query(detail)
            };
            let asked = attempts.iter().find(|it| it.covers(term));
            Some(asked.ok_or_else(unknown)?)
        }
        None => attempts.last(),
    };
    let term = attempt.map(|it| it.term);
    let is_over = attempt.map_or(!task.is_live(), |it| is_over(&task, it));
    let part = match term {
        Some(term) => {
            read(
                store,
                RunId { task_id: id, term },
                (from, bytes_max),
                is_over,
            )
            .await?
        }
        None => LogText::default(),
    };
    let printed = attempt.map_or(0, |it| it.printed_bytes);
    Ok(RunLogView {
        task_id: id,
        subject: task.identity.subject.to_string(),
        work: work(&firing),
        schedule: firing.schedule,
        slot_at: firing.nominal_at,
        trigger: firing.trigger,
        status: task.status,
        live: task.is_live(),
        ended: is_over && part.next_offset >= printed,
        attempts,
        term,
        part,
    })
}

async fn read(
    store: &dyn Store,
    run: RunId,
    (from, bytes_max): (u64, usize),
    is_over: bool,
) -> Result<LogText> {
    let page = LogPage {
        run,
        from,
        pieces: bytes_max / PIECE_BYTES + 1,
    };
    let pieces = store.load_run_log(page).await?;
    Ok(read_page(&pieces, from, bytes_max, is_over))
}

/// An attempt that another one has followed is over, whatever it still prints. One that handed its
/// work over is over when that is: reports are part of its log.
fn is_over(task: &Task, attempt: &LoggedAttempt) -> bool {
    let is_running = task.status == Status::Running && task.term == attempt.term;
    let works_on = task.is_live() && attempt.is_handed_over();
    !is_running && !works_on
}

/// What a firing at Almanack's own work has put.
fn work(firing: &Firing) -> Option<Identity> {
    match &firing.target {
        Target::Task { kind, subject, .. } => task_identity(kind, subject, firing.nominal_at).ok(),
        _ => None,
    }
}
