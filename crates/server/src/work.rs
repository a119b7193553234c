//! Workers: tasks of pulled kinds, taken and reported on ([`almanack_engine::work`]).
//!
//! A thin layer: bodies and answers are `core`'s types. The scope is `work`, which allows nothing
//! else. A worker that waits costs a connection and nothing more; when its connection ends, so does
//! its wait.

use almanack_core::both;
use almanack_core::work::{
    ExtendedTasks, ReportedTasks, WorkClaim, WorkExtend, WorkFinish, WorkRelease, WorkTasks,
};
use almanack_core::{finish::Outcome, work::HeldTask};
use almanack_engine::work::Work;

use crate::prelude::*;

/// Longer than the longest wait, by as much as any other answer may take.
pub(crate) const ANSWER_WITHIN: std::time::Duration = std::time::Duration::from_mins(1);
/// A worker without a name or a token.
const WORKER: &str = "worker";

/// Take tasks that are due, or wait for some.
///
/// Only kinds with `deliver = "pull"`. Each task is yours until its lease passes: extend the lease
/// while you work, then finish or release the task. Answers with no tasks when the wait is over.
#[utoipa::path(
    post, path = "/api/v1/work/claim", tag = "work",
    request_body = WorkClaim,
    responses((status = 200, description = "The tasks", body = WorkTasks)),
)]
pub(crate) async fn claim_work(State(state): App, call: Call) -> Result<Json<WorkTasks>> {
    let work = admit(&state, &call)?;
    let wanted = call.json::<WorkClaim>()?.read()?;
    let worker = wanted
        .worker
        .as_deref()
        .unwrap_or(match call.requester.name() {
            "anonymous" => WORKER,
            name => name,
        });
    let tasks = work.claim(&wanted, worker, &state.leaving).await?;
    Ok(Json(WorkTasks { tasks }))
}

/// Extend leases.
///
/// A lease covers everything that was taken in one call. Stop working on a task that is lost: it
/// was cancelled, rescheduled, or its lease has passed.
#[utoipa::path(
    post, path = "/api/v1/work/extend", tag = "work",
    request_body = WorkExtend,
    responses((status = 200, description = "The leases, in order", body = ExtendedTasks)),
)]
pub(crate) async fn extend_work(State(state): App, call: Call) -> Result<Json<ExtendedTasks>> {
    let work = admit(&state, &call)?;
    let body: WorkExtend = call.json()?;
    let lease = body.read()?;
    let tasks = work.extend(&body.tasks, lease).await?;
    Ok(Json(ExtendedTasks { tasks }))
}

/// Report how attempts ended.
///
/// Fenced by the term: a report about an attempt that was taken away is `late` and changes nothing
/// but the history. Repeating a call is safe.
#[utoipa::path(
    post, path = "/api/v1/work/finish", tag = "work",
    request_body = WorkFinish,
    responses((status = 200, description = "The results, in order", body = ReportedTasks)),
)]
pub(crate) async fn finish_work(State(state): App, call: Call) -> Result<Json<ReportedTasks>> {
    let work = admit(&state, &call)?;
    report(work, call.json::<WorkFinish>()?.read()?).await
}

/// Give tasks back untried: they are due again, and the attempt does not count.
#[utoipa::path(
    post, path = "/api/v1/work/release", tag = "work",
    request_body = WorkRelease,
    responses((status = 200, description = "The results, in order", body = ReportedTasks)),
)]
pub(crate) async fn release_work(State(state): App, call: Call) -> Result<Json<ReportedTasks>> {
    let work = admit(&state, &call)?;
    report(work, call.json::<WorkRelease>()?.read()?).await
}

/// Terms are what makes repeating safe here, so a key would promise what it does not keep.
fn admit<'a>(state: &'a AppState, call: &Call) -> Result<&'a Arc<Work>> {
    call.refuse_key_because(both!(
        "requests of workers do not accept an Idempotency-Key; the term makes repeating them safe",
        "工作者的请求不接受 Idempotency-Key；任期使重复请求是安全的"
    ))?;
    state.work.as_ref().ok_or_else(|| {
        let detail = both!(
            "this process hands out no tasks; ask a node",
            "此进程不分发任务；请向节点请求"
        );
        Problem::new(Code::NotConfigured, detail)
    })
}

async fn report(work: &Work, reports: Vec<(HeldTask, Outcome)>) -> Result<Json<ReportedTasks>> {
    let tasks = work.report(reports).await?;
    Ok(Json(ReportedTasks { tasks }))
}
