//! The ledger of a newsletter: what became of each message, by mailing and by subscriber (ED-43).

use almanack_core::both;
use almanack_core::edition::EditionId;
use almanack_core::edition::delivery::State as MailState;
use almanack_core::newsletter::mailing::Mail;
use almanack_core::newsletter::{Address, Subscriber, SubscriberId};
use almanack_core::store::MailFilter;
use jiff::civil::Date;

use super::{MailingView, Numbered, admit, subscribers};
use crate::access::Requester;
use crate::editions::Dated;
use crate::prelude::*;

/// A message of a mailing.
#[derive(Serialize, ToSchema)]
#[schema(as = MailingMessageView)]
pub(crate) struct MessageView {
    #[serde(flatten)]
    pub(crate) mail: Mail,
    /// Whom it is for.
    #[schema(value_type = String)]
    pub(crate) address: Address,
}

/// A mailing with a page of its messages.
#[derive(Serialize, ToSchema)]
pub(crate) struct MailingLedgerView {
    #[serde(flatten)]
    pub(crate) mailing: MailingView,
    /// Its messages, by number of the subscriber.
    pub(crate) ledger: Vec<MessageView>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub(crate) next_cursor: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LedgerQuery {
    /// Only messages in this state: intended, sent, confirmed, unknown, failed or skipped.
    state: Option<String>,
    /// Page size, 1 to 500. Default: 50.
    limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// Show the mailing of an edition, and what became of each message.
#[utoipa::path(
    get, path = "/api/v1/newsletter/mailings/{edition}", tag = "newsletter",
    params(("edition" = String, Path, description = "The edition, as DATE or NAME@DATE"), LedgerQuery),
    responses((status = 200, description = "The mailing", body = MailingLedgerView)),
)]
pub(crate) async fn get_mailing(
    State(state): App,
    Dated(id): Dated,
    Asked(query): Asked<LedgerQuery>,
    requester: Requester,
) -> Result<Json<MailingLedgerView>> {
    admit(&requester)?;
    let wanted = query.state.as_deref().map(parse_state).transpose()?;
    let after = query.cursor.as_deref().map(parse_cursor).transpose()?;
    let filter = MailFilter {
        id,
        state: wanted,
        after,
        limit: paging::size(query.limit, PAGE_DEFAULT, PAGE_MAX)?,
    };
    Ok(Json(mailing_ledger(&state, &filter).await?))
}

pub(crate) fn parse_state(text: &str) -> Result<MailState> {
    MailState::parse(text).ok_or_else(|| {
        let names = MailState::ALL.map(MailState::as_str).join(", ");
        Problem::in_query(both!(
            "state must be one of {names}",
            "state 须为以下之一：{names}"
        ))
    })
}

fn parse_cursor(text: &str) -> Result<SubscriberId> {
    paging::read(text, |id| id.parse().ok().map(SubscriberId))
}

pub(crate) async fn mailing_ledger(
    state: &AppState,
    filter: &MailFilter,
) -> Result<MailingLedgerView> {
    let id: EditionId = filter.id;
    let Some(mailing) = state.store.load_mailing(id).await? else {
        let detail = format!("the edition {id} was not mailed");
        return Err(Problem::new(Code::NoSuchEdition, detail));
    };
    let messages = state.store.count_mails(id).await?;
    let page = state.store.list_mails(filter).await?;
    let ledger = page.rows.into_iter();
    let ledger = ledger.map(|(mail, address)| MessageView { mail, address });
    Ok(MailingLedgerView {
        mailing: MailingView { mailing, messages },
        ledger: ledger.collect(),
        next_cursor: page.next.map(paging::cursor),
    })
}

/// A subscriber with a page of their messages.
#[derive(Serialize, ToSchema)]
pub(crate) struct SubscriberLedgerView {
    #[serde(flatten)]
    pub(crate) subscriber: Subscriber,
    /// What became of each message, newest day first.
    pub(crate) ledger: Vec<Mail>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub(crate) next_cursor: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct MessagesQuery {
    /// Page size, 1 to 500. Default: 50.
    limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// Show a subscriber, and what became of each message to them.
#[utoipa::path(
    get, path = "/api/v1/subscribers/{id}", tag = "newsletter",
    params(("id" = i64, Path, description = "Number of the subscriber"), MessagesQuery),
    responses((status = 200, description = "The subscriber", body = SubscriberLedgerView)),
)]
pub(crate) async fn get_subscriber(
    State(state): App,
    Numbered(id): Numbered,
    Asked(query): Asked<MessagesQuery>,
    requester: Requester,
) -> Result<Json<SubscriberLedgerView>> {
    admit(&requester)?;
    let before = query.cursor.as_deref();
    let before = before.map(|text| paging::read(text, |day| day.parse().ok()));
    let limit = paging::size(query.limit, PAGE_DEFAULT, PAGE_MAX)?;
    let page = (before.transpose()?, limit);
    Ok(Json(subscriber_ledger(&state, id, page).await?))
}

pub(crate) async fn subscriber_ledger(
    state: &AppState,
    id: SubscriberId,
    (before, limit): (Option<Date>, usize),
) -> Result<SubscriberLedgerView> {
    let subscriber = subscribers(state).load(id).await?;
    let mut ledger = state.store.mails_to(id, before, limit + 1).await?;
    let more = paging::cut(&mut ledger, limit);
    let last = ledger.last().map(|mail| mail.id.date);
    Ok(SubscriberLedgerView {
        next_cursor: last.filter(|_| more).map(paging::cursor),
        subscriber,
        ledger,
    })
}
