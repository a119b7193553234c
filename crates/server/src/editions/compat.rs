//! The founding documents' endpoints, at the root and by their own names (ED-21…ED-25).
//!
//! Programs written for the older system find the fields they know: `success`, `message`,
//! `taskDate`, the article counts under their names, and `error` on failure. Everything else is
//! added to it: every answer contains the state of the edition, every refusal is a problem as
//! elsewhere in this API. The day is today unless `date` names another, in the body or in the
//! query.

mod view;

use almanack_core::both;
use almanack_core::edition::{Account, EditionId};
use almanack_engine::editions::{Editions, Error};
use axum::Extension;

use self::view::{
    ForcePublishedView, Refused, ResetTaskView, RetriedTasksView, StandView, TaskStatusView,
    TriggeredView,
};
use super::acts::{check_retries, receipt_view};
use super::{Reported, editions, parse_date, refuse_key, report, runs::Runs};
use crate::prelude::*;

/// Which day.
#[derive(Default, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DayQuery {
    /// Day of the edition, YYYY-MM-DD. Default: today.
    #[param(format = Date)]
    #[schema(format = Date, example = "2026-01-05")]
    date: Option<String>,
}

/// Which stories to retry.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct RetryTasksBody {
    /// Only stories retried fewer times than this, 1 to 5. Default: the configured limit.
    #[schema(minimum = 1, maximum = 5)]
    max_retries: Option<u32>,
    /// Build the edition now and answer when it is built as far as possible.
    #[serde(default)]
    sync: bool,
    /// Day of the edition, YYYY-MM-DD. Default: today.
    #[schema(format = Date, example = "2026-01-05")]
    date: Option<String>,
}

/// A call about a day.
type DayAsked = Result<Asked<DayQuery>>;

struct Asking {
    editions: Arc<Editions>,
    id: EditionId,
}

impl Asking {
    /// The requested day, from the body or the query; if both name one, they must agree.
    fn about(state: &AppState, query: Option<&str>, body: Option<&str>) -> Result<Self> {
        let editions = editions(state)?.clone();
        let (query, body) = (query.map(parse_date), body.map(parse_date));
        let (query, body) = (query.transpose()?, body.transpose()?);
        if let (Some(query), Some(body)) = (query, body)
            && query != body
        {
            let detail = both!(
                "the query names {query}, the body {body}; name one day",
                "查询指定了 {query}，请求体指定了 {body}；请只指定一天"
            );
            return Err(Problem::invalid("date", detail));
        }
        let id = editions.day(query.or(body).map(EditionId::from))?;
        Ok(Self { editions, id })
    }

    /// As [`Self::about`], for a call whose body contains only the day.
    fn of(state: &AppState, query: DayAsked, call: &Call) -> Result<Self> {
        refuse_key(call)?;
        let Asked(query) = query?;
        let body: DayQuery = call.json_or_default()?;
        Self::about(state, query.date.as_deref(), body.date.as_deref())
    }

    /// Builds the edition as far as possible; a failure carries its state, too.
    async fn build(&self, runs: &Runs) -> Result<(Reported, StandView), Refused> {
        let ran = runs.build(&self.editions, self.id).await?;
        let stand = self.stand(&ran.account);
        match report(&ran.account, &ran.end) {
            Ok(report) => Ok((report, stand)),
            Err(problem) => Err(Refused::about(problem, stand)),
        }
    }

    fn stand(&self, account: &Account) -> StandView {
        StandView::of(account, &self.editions)
    }
}

/// Build a day's edition to the end and wait for the result.
///
/// May take many minutes, and continues if the caller disconnects. `success` says whether the
/// edition is published; if not, `message` says what is missing.
#[utoipa::path(
    post, path = "/trigger-export-sync", tag = "compat",
    params(DayQuery),
    request_body = DayQuery,
    responses((status = 200, description = "Built as far as possible", body = TriggeredView)),
)]
pub(crate) async fn trigger_export_sync(
    State(state): App,
    Extension(runs): Extension<Arc<Runs>>,
    query: DayAsked,
    call: Result<Call>,
) -> Result<Json<TriggeredView>, Refused> {
    let asking = Asking::of(&state, query, &call?)?;
    let (report, stand) = asking.build(&runs).await?;
    Ok(Json(TriggeredView {
        success: report.published,
        message: report.message,
        receipt: None,
        stand,
    }))
}

/// Queue a day's edition for building and answer at once.
#[utoipa::path(
    post, path = "/trigger-export", tag = "compat",
    params(DayQuery),
    request_body = DayQuery,
    responses(
        (status = 200, description = "Queued, or nothing left to do", body = TriggeredView),
    ),
)]
pub(crate) async fn trigger_export(
    State(state): App,
    query: DayAsked,
    call: Result<Call>,
) -> Result<Json<TriggeredView>, Refused> {
    let call = call?;
    let asking = Asking::of(&state, query, &call)?;
    let by = call.requester.origin();
    let requested = asking.editions.request(asking.id, &by).await?;
    let account = &requested.account;
    let (id, state) = (asking.id, account.edition.state);
    let receipt = receipt_view(&account.edition, requested.receipt.as_ref())?;
    let published = account.edition.is_published();
    let message = match (&receipt, published) {
        (Some(_), _) => {
            format!("the edition of {id} is queued; see /task-status for its progress")
        }
        (None, true) => format!("the edition of {id} is already published"),
        (None, false) => {
            format!("the edition of {id} is {state}; retry or reset it to build it again")
        }
    };
    Ok(Json(TriggeredView {
        success: receipt.is_some() || published,
        message,
        receipt,
        stand: asking.stand(account),
    }))
}

/// Publish the completed stories of a day's edition now, without the others.
#[utoipa::path(
    post, path = "/force-publish", tag = "compat",
    params(DayQuery),
    request_body = DayQuery,
    responses((status = 200, description = "The result", body = ForcePublishedView)),
)]
pub(crate) async fn force_publish(
    State(state): App,
    Extension(runs): Extension<Arc<Runs>>,
    query: DayAsked,
    call: Result<Call>,
) -> Result<Json<ForcePublishedView>, Refused> {
    let call = call?;
    let by = call.requester.origin();
    let asking = Asking::of(&state, query, &call)?;
    let (editions, id) = (asking.editions.clone(), asking.id);
    let forced = runs
        .carry_out(async move { editions.force_publish(id, &by).await })
        .await?;
    let account = &forced.account;
    let success = account.edition.is_published();
    let (printed, left_out) = (account.counts().completed, forced.left_out);
    let message = if success {
        format!("the edition of {id} is published with {printed} stories; {left_out} left out")
    } else {
        let open = super::open_destinations(account).join(", ");
        let state = account.edition.state;
        format!("the edition of {id} is {state}: {open} refused it; it will be retried")
    };
    Ok(Json(ForcePublishedView {
        success,
        message,
        skipped: left_out,
        stand: asking.stand(account),
    }))
}

/// Retry the failed stories of a day's edition.
#[utoipa::path(
    post, path = "/retry-failed-tasks", tag = "compat",
    params(DayQuery),
    request_body = RetryTasksBody,
    responses((status = 200, description = "How many will be retried", body = RetriedTasksView)),
)]
pub(crate) async fn retry_failed_tasks(
    State(state): App,
    Extension(runs): Extension<Arc<Runs>>,
    query: DayAsked,
    call: Result<Call>,
) -> Result<Json<RetriedTasksView>, Refused> {
    let call = call?;
    refuse_key(&call)?;
    let body: RetryTasksBody = call.json_or_default()?;
    check_retries(body.max_retries, "maxRetries")?;
    let Asked(query) = query?;
    let asking = Asking::about(&state, query.date.as_deref(), body.date.as_deref())?;
    let (editions, id) = (&asking.editions, asking.id);
    let before = editions.account(id).await?.edition.state;
    let by = call.requester.origin();
    let retried = editions.retry(id, body.max_retries, &by).await?;
    let count = retried.stories;
    let mut view = RetriedTasksView {
        success: true,
        message: match count {
            0 => "no change: no failed story has retries left".to_owned(),
            count => format!("failed stories to retry: {count}"),
        },
        retry_count: count,
        reset_count: count,
        // If no story is retried, there is nothing to build.
        synced: body.sync && count > 0,
        status_reset: retried.account.edition.state != before,
        stand: asking.stand(&retried.account),
    };
    if view.synced {
        let (report, stand) = asking.build(&runs).await?;
        view.success = report.published;
        view.message = format!("{}; {}", view.message, report.message);
        view.stand = stand;
    }
    Ok(Json(view))
}

/// Start a day's edition over with its current stories.
#[utoipa::path(
    post, path = "/reset-task", tag = "compat",
    params(DayQuery),
    request_body = DayQuery,
    responses((status = 200, description = "The edition after the reset", body = ResetTaskView)),
)]
pub(crate) async fn reset_task(
    State(state): App,
    query: DayAsked,
    call: Result<Call>,
) -> Result<Json<ResetTaskView>, Refused> {
    let call = call?;
    let asking = Asking::of(&state, query, &call)?;
    let by = call.requester.origin();
    let account = asking.editions.reset(asking.id, &by).await?;
    Ok(Json(ResetTaskView {
        success: true,
        message: format!(
            "the edition of {} starts over with its current stories",
            asking.id
        ),
        stand: asking.stand(&account),
    }))
}

/// Show the state of a day's edition.
#[utoipa::path(
    get, path = "/task-status", tag = "compat",
    params(DayQuery),
    responses(
        (status = 200, description = "The state; `exists` is false if there is no edition", body = TaskStatusView),
    ),
)]
pub(crate) async fn task_status(
    State(state): App,
    query: DayAsked,
) -> Result<Json<TaskStatusView>, Refused> {
    let Asked(query) = query?;
    let asking = Asking::about(&state, query.date.as_deref(), None)?;
    Ok(Json(match asking.editions.look(asking.id).await {
        Ok(account) => TaskStatusView::standing(asking.stand(&account)),
        Err(unknown @ Error::Unknown(_)) => TaskStatusView::none(asking.id, unknown.to_string()),
        Err(error) => return Err(error.into()),
    }))
}
