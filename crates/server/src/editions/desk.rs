//! Decisions of people about a finished edition: approve or reject it, correct it, take it back
//! (ED-42).

use almanack_core::{
    edition::{
        revision::{Correction, RevisionLine},
        turn::Meant,
    },
    store::EditionLine,
};
use almanack_engine::editions::Decided;

use super::{Dated, editions_of, refuse_key, view::line};
use crate::prelude::*;

/// Which document a decision is about.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecisionBody {
    /// The revision that was read: the call is refused if a newer one exists. Default: the newest.
    #[schema(minimum = 1)]
    revision: Option<u32>,
}

impl DecisionBody {
    fn meant(&self) -> Meant {
        Meant {
            revision: self.revision,
            since: None,
        }
    }
}

/// Result of a decision about a held edition.
#[derive(Serialize, ToSchema)]
pub(crate) struct DecisionView {
    /// The edition now.
    edition: EditionLine,
    /// Whether this call decided; false if it was decided so before.
    changed: bool,
}

impl From<Decided> for DecisionView {
    fn from(decided: Decided) -> Self {
        Self {
            edition: line(&decided.account),
            changed: decided.changed,
        }
    }
}

/// Approve an edition that waits for a person.
///
/// It is delivered at once. A rejected or dropped edition can still be approved.
#[utoipa::path(
    post, path = "/api/v1/editions/{date}/approve", tag = "editions",
    request_body = DecisionBody,
    responses((status = 200, description = "The edition after the decision", body = DecisionView)),
)]
pub(crate) async fn approve_edition(
    State(state): App,
    Dated(id): Dated,
    call: Call,
) -> Result<Json<DecisionView>> {
    refuse_key(&call)?;
    let body: DecisionBody = call.json_or_default()?;
    let by = call.requester.origin();
    let decided = editions_of(&state, id)?
        .approve(id, body.meant(), &by)
        .await?;
    Ok(Json(decided.into()))
}

/// Reject an edition that waits for a person.
///
/// Nothing of it is sent. An approved edition is retracted instead.
#[utoipa::path(
    post, path = "/api/v1/editions/{date}/reject", tag = "editions",
    request_body = DecisionBody,
    responses((status = 200, description = "The edition after the decision", body = DecisionView)),
)]
pub(crate) async fn reject_edition(
    State(state): App,
    Dated(id): Dated,
    call: Call,
) -> Result<Json<DecisionView>> {
    refuse_key(&call)?;
    let body: DecisionBody = call.json_or_default()?;
    let by = call.requester.origin();
    let decided = editions_of(&state, id)?
        .reject(id, body.meant(), &by)
        .await?;
    Ok(Json(decided.into()))
}

/// A correction of the newest document.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CorrectionBody {
    /// What to change.
    correction: Correction,
    /// The revision that was read: the call is refused if a newer one exists. Default: the newest.
    #[schema(minimum = 1)]
    revision: Option<u32>,
}

/// Correct an edition: drop, move or edit a story.
///
/// Makes a new revision and sends it to the destinations that can replace what they have. A waiting
/// edition goes on waiting, and links to earlier revisions stop working.
#[utoipa::path(
    post, path = "/api/v1/editions/{date}/correct", tag = "editions",
    request_body = CorrectionBody,
    responses((status = 200, description = "The edition with its new revision", body = EditionLine)),
)]
pub(crate) async fn correct_edition(
    State(state): App,
    Dated(id): Dated,
    call: Call,
) -> Result<Json<EditionLine>> {
    refuse_key(&call)?;
    let body: CorrectionBody = call.json()?;
    let by = call.requester.origin();
    let editions = editions_of(&state, id)?;
    let corrected = editions.correct(id, &body.correction, body.revision, &by);
    Ok(Json(line(&corrected.await?)))
}

/// Why an edition is retracted.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RetractionBody {
    /// The note to readers, at most 500 characters. Default: only that it was retracted.
    #[schema(max_length = 500)]
    note: Option<String>,
}

/// Retract an edition.
///
/// Its page says so, feeds leave it out, and destinations that can replace what they have get a
/// note. The others are listed as skipped deliveries.
#[utoipa::path(
    post, path = "/api/v1/editions/{date}/retract", tag = "editions",
    request_body = RetractionBody,
    responses((status = 200, description = "The edition with its new revision", body = EditionLine)),
)]
pub(crate) async fn retract_edition(
    State(state): App,
    Dated(id): Dated,
    call: Call,
) -> Result<Json<EditionLine>> {
    refuse_key(&call)?;
    let body: RetractionBody = call.json_or_default()?;
    let by = call.requester.origin();
    let editions = editions_of(&state, id)?;
    let retracted = editions.retract(id, body.note.as_deref(), &by).await?;
    Ok(Json(line(&retracted)))
}

/// Restore a retracted edition.
#[utoipa::path(
    post, path = "/api/v1/editions/{date}/restore", tag = "editions",
    responses((status = 200, description = "The edition with its new revision", body = EditionLine)),
)]
pub(crate) async fn restore_edition(
    State(state): App,
    Dated(id): Dated,
    call: Call,
) -> Result<Json<EditionLine>> {
    refuse_key(&call)?;
    let by = call.requester.origin();
    let restored = editions_of(&state, id)?.restore(id, &by).await?;
    Ok(Json(line(&restored)))
}

/// The revisions of an edition, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct RevisionsView {
    revisions: Vec<RevisionLine>,
}

/// List the revisions of an edition: who made each, and what it changed.
#[utoipa::path(
    get, path = "/api/v1/editions/{date}/revisions", tag = "editions",
    responses((status = 200, description = "Newest first", body = RevisionsView)),
)]
pub(crate) async fn list_revisions(
    State(state): App,
    Dated(id): Dated,
) -> Result<Json<RevisionsView>> {
    let revisions = editions_of(&state, id)?.revisions(id).await?;
    Ok(Json(RevisionsView { revisions }))
}
