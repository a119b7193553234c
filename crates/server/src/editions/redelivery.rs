//! What people decide about deliveries of an edition: send one again, or skip it.

use almanack_core::{edition::turn::Chosen, store::EditionLine};
use almanack_engine::editions::Redelivered;

use super::{Dated, editions, refuse_key, view::line};
use crate::prelude::*;

/// Which deliveries are meant.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RedeliveryBody {
    /// The destination's name in the configuration.
    #[schema(example = "telegram")]
    destination: String,
    /// One message of several, from 1; all that the destination lacks when it is not named.
    #[schema(minimum = 1)]
    part: Option<u32>,
}

impl From<RedeliveryBody> for Chosen {
    fn from(body: RedeliveryBody) -> Self {
        Self {
            destination: body.destination,
            part: body.part,
        }
    }
}

/// What became of a decision about deliveries.
#[derive(Serialize, ToSchema)]
pub(crate) struct RedeliveryView {
    /// The edition as it is now.
    edition: EditionLine,
    /// The parts that changed; none if they were in that state already.
    parts: Vec<u32>,
}

impl From<Redelivered> for RedeliveryView {
    fn from(done: Redelivered) -> Self {
        Self {
            parts: done.parts,
            edition: line(done.account),
        }
    }
}

/// Send deliveries again that did not arrive, or of which nobody knows whether they did.
///
/// They are queued and sent at once. What a destination has confirmed is never sent again, so asking twice sends once.
#[utoipa::path(
    post, path = "/api/v1/editions/{date}/resend", tag = "editions",
    params(Dated),
    request_body = RedeliveryBody,
    responses((status = 200, description = "Which parts are sent again", body = RedeliveryView)),
)]
pub(crate) async fn resend_delivery(
    State(state): App,
    Dated(date): Dated,
    call: Call,
) -> Result<Json<RedeliveryView>> {
    refuse_key(&call)?;
    let editions = editions(&state)?;
    let chosen = call.json::<RedeliveryBody>()?.into();
    let resent = editions
        .resend(date, &chosen, &call.requester.origin())
        .await?;
    Ok(Json(resent.into()))
}

/// Skip deliveries that did not arrive, or of which nobody knows whether they did.
///
/// They hold up the edition no longer, and the destination's alert closes.
#[utoipa::path(
    post, path = "/api/v1/editions/{date}/skip", tag = "editions",
    params(Dated),
    request_body = RedeliveryBody,
    responses((status = 200, description = "Which parts are skipped", body = RedeliveryView)),
)]
pub(crate) async fn skip_delivery(
    State(state): App,
    Dated(date): Dated,
    call: Call,
) -> Result<Json<RedeliveryView>> {
    refuse_key(&call)?;
    let editions = editions(&state)?;
    let chosen = call.json::<RedeliveryBody>()?.into();
    let skipped = editions
        .skip(date, &chosen, &call.requester.origin())
        .await?;
    Ok(Json(skipped.into()))
}
