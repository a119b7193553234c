//! Bulk changes: cancel, retry or move all tasks that a filter finds.

use almanack_core::bulk::{Action, Bulk, BulkId, BulkRequest, DryRun};
use almanack_core::task::TaskId;
use almanack_core::{both, lang::Say};
use almanack_engine::bulk::{Bulks, Error};

use crate::call::in_path;
use crate::prelude::*;
use crate::tasks::{body::parse_instant, find::FilterBody};

/// A bulk change.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BulkBody {
    action: Action,
    filter: FilterBody,
    /// Move: by so many seconds, from each task's own time.
    by_s: Option<i64>,
    /// Move: to this instant.
    #[schema(format = DateTime)]
    to: Option<String>,
    /// Only count what would change.
    #[serde(default)]
    dry_run: bool,
    /// Change no newer rows: the `through_task_id` of a dry run.
    through_task_id: Option<i64>,
}

impl BulkBody {
    fn into_request(self) -> Result<BulkRequest> {
        let to = self.to.as_deref().map(|to| parse_instant(to, "to"));
        Ok(BulkRequest {
            action: self.action,
            by_s: self.by_s,
            to: to.transpose()?,
            filter: self.filter.into_filter()?,
        })
    }
}

/// A page of bulk changes, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct BulksView {
    bulks: Vec<Bulk>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    next_cursor: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct BulksQuery {
    /// Page size, 1 to 500. Default: 50.
    limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

in_path! {
    /// The bulk change a path names.
    Numbered(BulkId), |id: String| id.parse().map(BulkId).map_err(|_| unknown(&id))
}

pub(crate) fn bulks(state: &AppState) -> Bulks {
    Bulks {
        store: Arc::clone(&state.changes),
        clock: Arc::clone(&state.clock),
    }
}

/// Cancel, retry or move all tasks that match a filter.
///
/// Cancel affects live tasks, retry failed ones, move waiting ones. A dry run counts exactly what
/// would change. Otherwise the change begins, and any node carries it out.
#[utoipa::path(
    post, path = "/api/v1/tasks/bulk", tag = "tasks",
    request_body = BulkBody,
    responses(
        (status = 202, description = "The change has begun", body = Bulk),
        (status = 200, description = "What a change would do", body = DryRun),
    ),
)]
pub(crate) async fn change_tasks(State(state): App, call: Call) -> Answer {
    call.refuse_key_because(both!(
        "bulk changes do not accept an Idempotency-Key; list them to see whether one has begun",
        "批量更改不接受 Idempotency-Key；请列出它们以查看是否已开始"
    ))?;
    let body: BulkBody = call.json()?;
    let (dry_run, through) = (body.dry_run, body.through_task_id.map(TaskId));
    let request = body.into_request()?;
    if dry_run {
        let counted = bulks(&state).dry_run(&request).await?;
        return Ok(Json(counted).into_response());
    }
    let by = call.requester.origin();
    let begun = bulks(&state).start(request, through, &by).await?;
    Ok((StatusCode::ACCEPTED, Json(begun)).into_response())
}

/// Show a bulk change and how far it got.
#[utoipa::path(
    get, path = "/api/v1/bulk/{id}", tag = "tasks",
    params(("id" = i64, Path, description = "Number of the bulk change")),
    responses((status = 200, description = "The bulk change", body = Bulk)),
)]
pub(crate) async fn get_bulk(State(state): App, Numbered(id): Numbered) -> Result<Json<Bulk>> {
    let found = state.store.load_bulk(id).await?;
    found.map(Json).ok_or_else(|| Error::Unknown(id).into())
}

/// List bulk changes, newest first.
#[utoipa::path(
    get, path = "/api/v1/bulk", tag = "tasks",
    params(BulksQuery),
    responses((status = 200, description = "The page", body = BulksView)),
)]
pub(crate) async fn list_bulks(
    State(state): App,
    Asked(query): Asked<BulksQuery>,
) -> Result<Json<BulksView>> {
    let limit = paging::size(query.limit, PAGE_DEFAULT, PAGE_MAX)?;
    let before = query.cursor.as_deref();
    let before = before.map(|text| paging::read(text, |key| key.parse().ok().map(BulkId)));
    let page = state.store.list_bulks(before.transpose()?, limit).await?;
    Ok(Json(BulksView {
        bulks: page.rows,
        next_cursor: page.next.map(paging::cursor),
    }))
}

/// Stop a bulk change that runs. What it changed stays changed.
#[utoipa::path(
    post, path = "/api/v1/bulk/{id}/cancel", tag = "tasks",
    params(("id" = i64, Path, description = "Number of the bulk change")),
    responses((status = 200, description = "The bulk change", body = Bulk)),
)]
pub(crate) async fn cancel_bulk(
    State(state): App,
    Numbered(id): Numbered,
    call: Call,
) -> Result<Json<Bulk>> {
    let stopped = bulks(&state).cancel(id, &call.requester.origin()).await?;
    Ok(Json(stopped))
}

fn unknown(id: &str) -> Problem {
    let id: String = id.chars().take(20).collect();
    Problem::new(
        Code::NoSuchBulk,
        both!("no bulk change {id}", "没有批量更改 {id}"),
    )
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Unclear(unclear) => {
                use almanack_core::bulk::Unclear;
                let path = match unclear {
                    Unclear::NoFilter => "filter",
                    Unclear::NoTime | Unclear::Timeless(_) | Unclear::By => "by_s",
                };
                Self::new(Code::InvalidValue, unclear.both()).at(path)
            }
            Error::Unknown(id) => unknown(&id.to_string()),
            Error::Ended(_) => Self::new(Code::BulkEnded, error.both()),
            Error::Store(error) => error.into(),
        }
    }
}
