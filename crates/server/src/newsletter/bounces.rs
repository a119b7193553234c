//! Bounces that come later: as an address, or as the mail in which a server reports them (RFC 3464).

use almanack_core::edition::EditionName;
use almanack_core::newsletter::Subscriber;
use almanack_core::newsletter::bounce::{self, Effect};
use almanack_engine::newsletter::{Error, Reported};

use super::{parse_address, parse_edition, subscribers, unsupported};
use crate::prelude::*;

/// Refusals after which an address gets no more mail, where no newsletter is configured.
const BOUNCES_DEFAULT: u32 = 3;
/// The media type of a mail.
const MEDIA_TYPE: &str = "message/rfc822";

fn limit(state: &AppState, edition: EditionName) -> u32 {
    let configured = state.newsletters.get(edition);
    configured.map_or(BOUNCES_DEFAULT, |it| it.settings.bounces_max)
}

/// A bounce that a mail server reported later.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BounceBody {
    /// The mail address that bounced.
    address: String,
    /// The edition's name. Default: the default edition.
    edition: Option<String>,
    /// Whether the address gets no more mail at once, as after a permanent error; otherwise it is
    /// counted. Default: true.
    #[serde(default = "yes")]
    permanent: bool,
}

fn yes() -> bool {
    true
}

/// Report that mail to an address bounced.
#[utoipa::path(
    post, path = "/api/v1/subscribers/bounce", tag = "newsletter",
    request_body = BounceBody,
    responses((status = 200, description = "The subscriber", body = Subscriber)),
)]
pub(crate) async fn report_bounce(State(state): App, call: Call) -> Result<Json<Subscriber>> {
    call.refuse_key()?;
    let body: BounceBody = call.json()?;
    let address = parse_address(&body.address)?;
    let edition = parse_edition(body.edition.as_deref())?;
    let found = state.changes.find_subscriber(edition, &address).await?;
    let id = found.ok_or(Error::Unknown)?.id;
    let limit = if body.permanent {
        1
    } else {
        limit(&state, edition)
    };
    Ok(Json(subscribers(&state).bounce(id, limit).await?))
}

/// What a mail reported.
#[derive(Serialize, ToSchema)]
#[schema(as = BounceReportView)]
pub(crate) struct ReportView {
    /// Whether it is a report that mail could not be delivered; any other mail changes nothing.
    is_report: bool,
    /// `counted` against the address, `noted` in the ledger because it is about something else, or
    /// `none`: the message is known to have failed, was never sent, or is not named.
    effect: Effect,
    /// Why the mail server did not deliver it.
    reason: Option<String>,
    /// Whom it is about, if they are known.
    subscriber: Option<Subscriber>,
}

/// Take the mail in which a server reports that it could not deliver a message (RFC 3464).
///
/// Pipe what arrives at the sender's address here. Each message counts once, and only if the ledger
/// has it as sent; after the configured number in a row, the address gets no more mail.
#[utoipa::path(
    post, path = "/api/v1/newsletter/bounces", tag = "newsletter",
    request_body(content = String, content_type = "message/rfc822"),
    responses((status = 200, description = "What it changed", body = ReportView)),
)]
pub(crate) async fn take_bounce(State(state): App, call: Call) -> Result<Json<ReportView>> {
    call.refuse_key()?;
    let media_type = call.media_type().unwrap_or_default().to_ascii_lowercase();
    if media_type != MEDIA_TYPE {
        return Err(unsupported(MEDIA_TYPE));
    }
    let report = bounce::read(&String::from_utf8_lossy(call.bytes()));
    let taken = match &report {
        Some(report) => {
            let limit = |edition| limit(&state, edition);
            subscribers(&state).take_report(report, limit).await
        }
        None => Err(Error::Unknown),
    };
    let (effect, subscriber) = match taken {
        Ok(Reported { effect, subscriber }) => (effect, Some(subscriber)),
        // A report about nobody whom we know is no mistake of whoever pipes mail.
        Err(Error::Unknown) => (Effect::None, None),
        Err(error) => return Err(error.into()),
    };
    Ok(Json(ReportView {
        is_report: report.is_some(),
        effect,
        reason: report.map(|report| report.refusal.detail),
        subscriber,
    }))
}
