//! Actions on an edition: build it, publish it early, retry failed stories, start over.

use almanack_core::both;
use almanack_core::{reschedule::Receipt, store::EditionLine};
use almanack_engine::editions::Ran;
use axum::Extension;

use super::{Dated, editions_of, refuse_key, report, runs::Runs, view::line};
use crate::prelude::*;
use crate::receipts::ReceiptView;

/// How often a story may be retried by hand.
pub(crate) const RETRIES: std::ops::RangeInclusive<u32> = 1..=5;

/// How to build an edition.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunEditionBody {
    /// Wait until the edition is built as far as possible. This may take many minutes.
    #[serde(default)]
    wait: bool,
}

/// Result of a build request.
#[derive(Serialize, ToSchema)]
pub(crate) struct EditionRunView {
    /// The edition now.
    edition: EditionLine,
    /// Whether it is published; null without `wait`.
    published: Option<bool>,
    /// The result in a sentence.
    message: String,
    /// Requests spent by this run; null without `wait`.
    requests: Option<u32>,
    /// Receipt of the task that builds it; null with `wait`, or if nothing is left to build.
    receipt: Option<ReceiptView>,
}

impl EditionRunView {
    fn ran(ran: &Ran) -> Result<Self> {
        let report = report(&ran.account, &ran.end)?;
        Ok(Self {
            published: Some(report.published),
            message: report.message,
            requests: Some(ran.requests),
            receipt: None,
            edition: line(&ran.account),
        })
    }
}

/// The receipt of the task that builds an edition.
pub(super) fn receipt_view(
    edition: &almanack_core::edition::Edition,
    receipt: Option<&Receipt>,
) -> Result<Option<ReceiptView>> {
    let identity = edition.run_identity()?;
    let receipt = receipt.cloned();
    Ok(receipt.map(|receipt| ReceiptView { identity, receipt }))
}

/// Build an edition.
///
/// Queues the build and answers at once; with `wait`, answers when it is built as far as possible.
/// The build continues if the caller disconnects. For a past day, it continues where it stopped.
#[utoipa::path(
    post, path = "/api/v1/editions/{date}/run", tag = "editions",
    request_body = RunEditionBody,
    responses(
        (status = 202, description = "Queued, or nothing left to do", body = EditionRunView),
        (status = 200, description = "Built as far as possible", body = EditionRunView),
    ),
)]
pub(crate) async fn run_edition(
    State(state): App,
    Extension(runs): Extension<Arc<Runs>>,
    Dated(id): Dated,
    call: Call,
) -> Result<(StatusCode, Json<EditionRunView>)> {
    refuse_key(&call)?;
    let body: RunEditionBody = call.json_or_default()?;
    let editions = editions_of(&state, id)?;
    let id = editions.day(Some(id))?;
    if body.wait {
        let ran = runs.build(editions, id).await?;
        return Ok((StatusCode::OK, Json(EditionRunView::ran(&ran)?)));
    }
    let requested = editions.request(id, &call.requester.origin()).await?;
    let (state, receipt) = (requested.account.edition.state, requested.receipt.as_ref());
    let message = match receipt {
        Some(_) => format!("the edition of {id} is queued"),
        None => format!("the edition of {id} is {state}; nothing left to build"),
    };
    let view = EditionRunView {
        published: None,
        message,
        requests: None,
        receipt: receipt_view(&requested.account.edition, receipt)?,
        edition: line(&requested.account),
    };
    Ok((StatusCode::ACCEPTED, Json(view)))
}

/// Result of publishing early.
#[derive(Serialize, ToSchema)]
pub(crate) struct EditionPublishView {
    /// The edition now: `published`, or `aggregating` while a destination refuses it.
    edition: EditionLine,
    /// Stories left out.
    left_out: u32,
    /// Requests spent.
    requests: u32,
}

/// Publish the completed stories of an edition now, without the others.
#[utoipa::path(
    post, path = "/api/v1/editions/{date}/publish", tag = "editions",
    responses((status = 200, description = "The result", body = EditionPublishView)),
)]
pub(crate) async fn publish_edition(
    State(state): App,
    Extension(runs): Extension<Arc<Runs>>,
    Dated(id): Dated,
    call: Call,
) -> Result<Json<EditionPublishView>> {
    refuse_key(&call)?;
    let editions = editions_of(&state, id)?.clone();
    let id = editions.day(Some(id))?;
    let by = call.requester.origin();
    let forced = runs
        .carry_out(async move { editions.force_publish(id, &by).await })
        .await?;
    Ok(Json(EditionPublishView {
        edition: line(&forced.account),
        left_out: forced.left_out,
        requests: forced.requests,
    }))
}

/// Which failed stories to retry.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RetryEditionBody {
    /// Only stories retried fewer times than this, 1 to 5. Default: the configured limit.
    #[schema(minimum = 1, maximum = 5)]
    pub(crate) retries_max: Option<u32>,
}

/// Result of retrying failed stories.
#[derive(Serialize, ToSchema)]
pub(crate) struct EditionRetryView {
    /// The edition now.
    edition: EditionLine,
    /// Stories that will be retried.
    stories: u32,
}

pub(crate) fn check_retries(retries_max: Option<u32>, path: &str) -> Result<()> {
    let most = retries_max.unwrap_or(*RETRIES.start());
    let detail = || {
        both!(
            "{path} must be 1 to 5, not {most}",
            "{path} 必须为 1 到 5，不能是 {most}"
        )
    };
    Problem::unless(RETRIES.contains(&most), path, detail)
}

/// Retry the failed stories of an edition.
#[utoipa::path(
    post, path = "/api/v1/editions/{date}/retry", tag = "editions",
    request_body = RetryEditionBody,
    responses((status = 200, description = "How many will be retried", body = EditionRetryView)),
)]
pub(crate) async fn retry_edition(
    State(state): App,
    Dated(id): Dated,
    call: Call,
) -> Result<Json<EditionRetryView>> {
    refuse_key(&call)?;
    let body: RetryEditionBody = call.json_or_default()?;
    check_retries(body.retries_max, "retries_max")?;
    let by = call.requester.origin();
    let retried = editions_of(&state, id)?
        .retry(id, body.retries_max, &by)
        .await?;
    Ok(Json(EditionRetryView {
        edition: line(&retried.account),
        stories: retried.stories,
    }))
}

/// Start an edition over with its current stories.
#[utoipa::path(
    post, path = "/api/v1/editions/{date}/reset", tag = "editions",
    responses((status = 200, description = "The edition after the reset", body = EditionLine)),
)]
pub(crate) async fn reset_edition(
    State(state): App,
    Dated(id): Dated,
    call: Call,
) -> Result<Json<EditionLine>> {
    refuse_key(&call)?;
    let account = editions_of(&state, id)?
        .reset(id, &call.requester.origin())
        .await?;
    Ok(Json(line(&account)))
}
