//! Lists of subscribers: pages, and CSV in and out.

use almanack_core::both;
use almanack_core::newsletter::subscriber::State as SubscriberState;
use almanack_core::newsletter::{Subscriber, SubscriberId, csv};
use almanack_core::store::SubscriberFilter;
use almanack_engine::newsletter::Imported;

use super::{admit, parse_edition, subscribers, unsupported};
use crate::access::Requester;
use crate::prelude::*;

/// Subscribers read at a time for an export.
const EXPORT_STEP: usize = 1_000;
/// The media type of CSV.
const MEDIA_TYPE: &str = "text/csv";

#[derive(Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SubscribersQuery {
    /// Only of the edition with this name.
    edition: Option<String>,
    /// Only in this state: pending, confirmed, unsubscribed or bounced.
    state: Option<String>,
    /// Page size, 1 to 500. Default: 50.
    limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

impl SubscribersQuery {
    fn filter(&self) -> Result<SubscriberFilter> {
        let edition = self.edition.as_deref();
        let edition = edition.map(|name| parse_edition(Some(name))).transpose()?;
        Ok(SubscriberFilter {
            edition,
            state: self.state.as_deref().map(parse_state).transpose()?,
            after: self.cursor.as_deref().map(parse_cursor).transpose()?,
            limit: paging::size(self.limit, PAGE_DEFAULT, PAGE_MAX)?,
        })
    }
}

fn parse_state(text: &str) -> Result<SubscriberState> {
    SubscriberState::parse(text).ok_or_else(|| {
        let names = SubscriberState::ALL.map(SubscriberState::as_str).join(", ");
        Problem::in_query(both!(
            "state must be one of {names}",
            "state 必须是以下之一：{names}"
        ))
    })
}

fn parse_cursor(text: &str) -> Result<SubscriberId> {
    paging::read(text, |id| id.parse().ok().map(SubscriberId))
}

/// A page of subscribers, oldest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct SubscribersView {
    subscribers: Vec<Subscriber>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    next_cursor: Option<String>,
}

/// List subscribers, oldest first.
#[utoipa::path(
    get, path = "/api/v1/subscribers", tag = "newsletter",
    params(SubscribersQuery),
    responses((status = 200, description = "The page", body = SubscribersView)),
)]
pub(crate) async fn list_subscribers(
    State(state): App,
    Asked(query): Asked<SubscribersQuery>,
    requester: Requester,
) -> Result<Json<SubscribersView>> {
    admit(&requester)?;
    let found = state.store.list_subscribers(&query.filter()?).await?;
    Ok(Json(SubscribersView {
        next_cursor: found.next.map(paging::cursor),
        subscribers: found.rows,
    }))
}

/// Export subscribers as CSV.
#[utoipa::path(
    get, path = "/api/v1/subscribers/csv", tag = "newsletter",
    params(SubscribersQuery),
    responses((status = 200, description = "CSV", body = String, content_type = "text/csv")),
)]
pub(crate) async fn export_subscribers(
    State(state): App,
    Asked(query): Asked<SubscribersQuery>,
    requester: Requester,
) -> Answer {
    admit(&requester)?;
    csv_of(&state, query.filter()?).await
}

/// Subscribers as a file.
pub(crate) async fn csv_of(state: &AppState, filter: SubscriberFilter) -> Answer {
    let mut filter = SubscriberFilter {
        limit: EXPORT_STEP,
        ..filter
    };
    let mut text = csv::HEAD.to_owned();
    loop {
        let page = state.store.list_subscribers(&filter).await?;
        text.extend(page.rows.iter().map(csv::write));
        filter.after = page.next;
        if filter.after.is_none() {
            break;
        }
    }
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"subscribers.csv\"",
        ),
    ];
    Ok((headers, text).into_response())
}

/// Result of an import.
#[derive(Serialize, ToSchema)]
#[schema(as = SubscribersImportedView)]
pub(crate) struct ImportedView {
    /// New subscribers.
    added: usize,
    /// Subscribers that already existed.
    existing: usize,
    /// Unsubscribed or bounced before; they stay so.
    ended: usize,
    /// Lines that were refused.
    refused: usize,
    /// Reasons for the first hundred refusals.
    problems: Vec<String>,
}

impl From<Imported> for ImportedView {
    fn from(imported: Imported) -> Self {
        let Imported {
            added,
            existing,
            ended,
            refused,
            problems,
        } = imported;
        Self {
            added,
            existing,
            ended,
            refused,
            problems,
        }
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportQuery {
    /// The edition's name. Default: the default edition.
    edition: Option<String>,
}

/// Import subscribers from CSV whose consent you have.
///
/// The first line may name the columns: `email`, and optionally `language` and `state`. No
/// confirmation mail is sent. Importing twice adds nobody twice, and whoever unsubscribed stays
/// unsubscribed.
#[utoipa::path(
    post, path = "/api/v1/subscribers/csv", tag = "newsletter",
    params(ImportQuery),
    request_body(content = String, content_type = "text/csv"),
    responses((status = 200, description = "The result", body = ImportedView)),
)]
pub(crate) async fn import_subscribers(
    State(state): App,
    Asked(query): Asked<ImportQuery>,
    call: Call,
) -> Result<Json<ImportedView>> {
    call.refuse_key()?;
    let media_type = call.media_type().unwrap_or_default().to_ascii_lowercase();
    if media_type != MEDIA_TYPE {
        return Err(unsupported(MEDIA_TYPE));
    }
    let edition = parse_edition(query.edition.as_deref())?;
    let utf_8 = || {
        Problem::new(
            Code::InvalidBody,
            both!("the list is not UTF-8", "列表不是 UTF-8"),
        )
    };
    let text = std::str::from_utf8(call.bytes()).map_err(|_| utf_8())?;
    let imported = subscribers(&state).import(edition, text).await?;
    Ok(Json(imported.into()))
}
