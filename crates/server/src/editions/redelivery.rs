//! Decisions about deliveries of an edition: send again, or skip.

use almanack_core::{edition::turn::Chosen, store::EditionLine};
use almanack_engine::editions::Redelivered;

use super::{Dated, editions_of, refuse_key, view::line};
use crate::prelude::*;

/// Result of a decision about deliveries.
#[derive(Serialize, ToSchema)]
pub(crate) struct RedeliveryView {
    /// The edition now.
    edition: EditionLine,
    /// The parts that changed; empty if they were already in that state.
    parts: Vec<u32>,
}

impl From<Redelivered> for RedeliveryView {
    fn from(done: Redelivered) -> Self {
        Self {
            parts: done.parts,
            edition: line(&done.account),
        }
    }
}

/// Send failed or unconfirmed deliveries again.
///
/// They are queued and sent at once. Confirmed deliveries are never sent again, so repeating the
/// call is harmless.
#[utoipa::path(
    post, path = "/api/v1/editions/{date}/resend", tag = "editions",
    request_body = Chosen,
    responses((status = 200, description = "The parts that are sent again", body = RedeliveryView)),
)]
pub(crate) async fn resend_delivery(
    State(state): App,
    Dated(id): Dated,
    call: Call,
) -> Result<Json<RedeliveryView>> {
    refuse_key(&call)?;
    let editions = editions_of(&state, id)?;
    let (chosen, by) = (call.json::<Chosen>()?, call.requester.origin());
    let resent = editions.resend(id, &chosen, &by).await?;
    Ok(Json(resent.into()))
}

/// Skip failed or unconfirmed deliveries.
///
/// They no longer block the edition, and the destination's alert closes.
#[utoipa::path(
    post, path = "/api/v1/editions/{date}/skip", tag = "editions",
    request_body = Chosen,
    responses((status = 200, description = "The skipped parts", body = RedeliveryView)),
)]
pub(crate) async fn skip_delivery(
    State(state): App,
    Dated(id): Dated,
    call: Call,
) -> Result<Json<RedeliveryView>> {
    refuse_key(&call)?;
    let editions = editions_of(&state, id)?;
    let (chosen, by) = (call.json::<Chosen>()?, call.requester.origin());
    let skipped = editions.skip(id, &chosen, &by).await?;
    Ok(Json(skipped.into()))
}
