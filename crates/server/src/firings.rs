//! `/api/v1/firings/{id}`: whoever a webhook called reports about its work (DP-19).
//!
//! The call carried the addresses, each with a signature over the firing's number; that signature
//! is all that is asked for, and it is in the query, which is not logged. A wrong one is answered the
//! same for every number, so nothing can be learned about firings by trying.

use almanack_core::follow::{Report, Stage, may_report};
use almanack_core::task::TaskId;
use almanack_core::{both, lang::Say};
use almanack_engine::reports::{Error, Reports};
use axum::body::{Body, to_bytes};
use axum::extract::{Path, Query};

use crate::Reporting;
use crate::prelude::*;

/// Largest body of a report.
const BODY_BYTES_MAX: usize = 64 * 1024;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Signed {
    /// The signature from the call.
    #[serde(default)]
    signature: String,
}

/// A report that was taken.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReportedView {
    /// The firing's task.
    task_id: i64,
    /// What was reported.
    reported: Stage,
    /// When the next report is due; null after the last.
    next_report_until: Option<Timestamp>,
}

/// Report that the work of a firing has begun.
///
/// The addresses of all three reports, with their signature, are in the call of a webhook whose
/// target has `report_within`.
#[utoipa::path(
    post, path = "/api/v1/firings/{id}/start", tag = "schedules",
    params(("id" = i64, Path, description = "Number of the firing's task"), Signed),
    request_body(content = Option<Report>),
    responses((status = 200, description = "Taken", body = ReportedView)),
)]
pub(crate) async fn report_start(
    state: App,
    Path(id): Path<i64>,
    Query(signed): Query<Signed>,
    body: Body,
) -> Result<Json<ReportedView>> {
    take(state, (id, Stage::Start), &signed, body).await
}

/// Report that the work of a firing goes on.
#[utoipa::path(
    post, path = "/api/v1/firings/{id}/progress", tag = "schedules",
    params(("id" = i64, Path, description = "Number of the firing's task"), Signed),
    request_body(content = Option<Report>),
    responses((status = 200, description = "Taken", body = ReportedView)),
)]
pub(crate) async fn report_progress(
    state: App,
    Path(id): Path<i64>,
    Query(signed): Query<Signed>,
    body: Body,
) -> Result<Json<ReportedView>> {
    take(state, (id, Stage::Progress), &signed, body).await
}

/// Report the end of the work of a firing. Counts once; later reports are refused.
#[utoipa::path(
    post, path = "/api/v1/firings/{id}/finish", tag = "schedules",
    params(("id" = i64, Path, description = "Number of the firing's task"), Signed),
    request_body = Report,
    responses((status = 200, description = "Taken", body = ReportedView)),
)]
pub(crate) async fn report_finish(
    state: App,
    Path(id): Path<i64>,
    Query(signed): Query<Signed>,
    body: Body,
) -> Result<Json<ReportedView>> {
    take(state, (id, Stage::Finish), &signed, body).await
}

async fn take(
    State(state): App,
    (id, reported): (i64, Stage),
    signed: &Signed,
    body: Body,
) -> Result<Json<ReportedView>> {
    let firing = TaskId(id);
    let reporting = state.reporting.get();
    let genuine = |it: &&Reporting| may_report(&*it.verifier, firing, &signed.signature);
    let Some(reporting) = reporting.as_ref().as_ref().filter(genuine) else {
        let detail = both!(
            "the signature does not belong to this firing; use the address from the call",
            "签名不属于此触发；请使用调用中给出的地址"
        );
        return Err(Problem::new(Code::BadSignature, detail));
    };
    let report = read(body).await?;
    let reports = Reports {
        store: Arc::clone(&state.changes),
        clock: Arc::clone(&state.clock),
        sleeper: Arc::clone(&state.sleeper),
        logs: Arc::clone(&reporting.logs),
    };
    let next_report_until = reports.take(firing, reported, &report).await?;
    Ok(Json(ReportedView {
        task_id: id,
        reported,
        next_report_until,
    }))
}

/// An empty body is an empty report.
async fn read(body: Body) -> Result<Report> {
    let body = to_bytes(body, BODY_BYTES_MAX).await.map_err(|_| {
        let detail = both!(
            "a report must have at most {BODY_BYTES_MAX} bytes",
            "报告最多 {BODY_BYTES_MAX} 字节"
        );
        Problem::new(Code::BodyTooLarge, detail)
    })?;
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Report::default());
    }
    serde_json::from_slice(&body).map_err(|error| {
        Problem::new(
            Code::InvalidBody,
            both!("not a report: {error}", "不是报告：{error}"),
        )
    })
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let detail = error.both();
        match error {
            Error::NotExpected(_) => Self::new(Code::NoSuchFiring, detail),
            Error::Ended { .. } | Error::Cancelled(_) => Self::new(Code::FiringEnded, detail),
            Error::Invalid(_) => Self::new(Code::InvalidValue, detail),
            Error::Store(error) => error.into(),
        }
    }
}
