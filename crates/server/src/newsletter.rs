//! Newsletters: subscribers by API, and the pages that readers and mail programs open (ED-43).
//!
//! Addresses are personal data: reading them takes the scope `operate`. What readers do needs no
//! sign-in: subscribing is confirmed by mail, and every other link is signed ([`pages`]).

pub(crate) mod bounces;
pub(crate) mod ledger;
pub(crate) mod list;
pub(crate) mod pages;

use almanack_core::{both, lang::Say};
use std::collections::BTreeMap;

use almanack_core::edition::{EditionName, delivery::OnUnknown};
use almanack_core::newsletter::mailing::MailCounts;
use almanack_core::newsletter::subscriber::{Added, State as SubscriberState};
use almanack_core::newsletter::{Address, Mailing, Subscriber, SubscriberId, csv};
use almanack_core::token::Scope;
use almanack_engine::newsletter::{Error, Subscribers};

use crate::access::Requester;
use crate::call::{in_path, unsupported};
use crate::prelude::*;
use crate::ui::viewer::Viewer;

/// Mailings listed.
pub(crate) const MAILINGS_MAX: usize = 30;

/// Carries out requests about subscribers.
pub(crate) fn subscribers(state: &AppState) -> Subscribers {
    Subscribers {
        store: Arc::clone(&state.changes),
        clock: Arc::clone(&state.clock),
    }
}

/// What only operators may read.
const PERSONAL: &str = "the list of subscribers, which is personal data,";

fn admit(requester: &Requester) -> Result<()> {
    requester.must(Scope::Operate, PERSONAL)
}

/// The same for a page.
pub(crate) fn admitted(viewer: &Viewer) -> Result<()> {
    viewer.must(Scope::Operate, PERSONAL).map(drop)
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Unknown => Self::new(
                Code::NoSuchSubscriber,
                both!("no such subscriber", "没有此订阅者"),
            ),
            Error::Busy => Self::new(Code::Contended, error.both()),
            Error::Store(error) => error.into(),
        }
    }
}

in_path! {
    /// The subscriber a path names.
    Numbered(SubscriberId), |text: String| text.parse().map(SubscriberId).map_err(|_| {
        let detail = both!("no such subscriber", "没有此订阅者");
        Problem::new(Code::NoSuchSubscriber, detail)
    })
}

/// A new subscriber.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubscriberBody {
    /// The mail address.
    address: String,
    /// The edition's name. Default: the default edition.
    edition: Option<String>,
    /// The language of the words around an edition, as a tag such as `en` or `zh-CN`.
    language: Option<String>,
    /// Whether the address is asked first, by a mail with a link. Default: false.
    #[serde(default)]
    confirm: bool,
}

/// A subscriber, and what adding it did.
#[derive(Serialize, ToSchema)]
#[schema(as = SubscriberAddedView)]
pub(crate) struct AddedView {
    /// `new`, `existing`, `confirmed` (it was pending) or `ended`: it unsubscribed or bounced, and
    /// only its holder can subscribe again. If the address is asked: `asked`, `existing`, or
    /// `waiting`: it got a confirmation mail within the hour, or often enough.
    added: Added,
    subscriber: Subscriber,
}

/// Add a subscriber whose consent you have, or ask an address whether its holder agrees.
///
/// A confirmation mail is sent only with `confirm`. Without it, whoever unsubscribed stays
/// unsubscribed.
#[utoipa::path(
    post, path = "/api/v1/subscribers", tag = "newsletter",
    request_body = SubscriberBody,
    responses((status = 200, description = "The subscriber", body = AddedView)),
)]
pub(crate) async fn add_subscriber(State(state): App, call: Call) -> Result<Json<AddedView>> {
    call.refuse_key()?;
    let body: SubscriberBody = call.json()?;
    let address = parse_address(&body.address)?;
    let edition = parse_edition(body.edition.as_deref())?;
    if body
        .language
        .as_deref()
        .is_some_and(|tag| !csv::is_language(tag))
    {
        let detail = both!(
            "language must be a tag such as en or zh-CN",
            "language 必须是语言标签，如 en 或 zh-CN"
        );
        return Err(Problem::invalid("language", detail));
    }
    let (subscribers, language) = (subscribers(&state), body.language);
    let (added, subscriber) = if body.confirm {
        let asked = subscribers.invite(edition, &address, language.as_deref());
        asked.await?
    } else {
        subscribers.add(edition, address, language).await?
    };
    Ok(Json(AddedView { added, subscriber }))
}

/// Send a subscriber who waits for it another confirmation mail.
#[utoipa::path(
    post, path = "/api/v1/subscribers/{id}/confirmation", tag = "newsletter",
    params(("id" = i64, Path, description = "Number of the subscriber")),
    responses((status = 200, description = "The subscriber", body = AddedView)),
)]
pub(crate) async fn resend_confirmation(
    State(state): App,
    Numbered(id): Numbered,
    call: Call,
) -> Result<Json<AddedView>> {
    call.refuse_key()?;
    let (added, subscriber) = subscribers(&state).ask_again(id).await?;
    Ok(Json(AddedView { added, subscriber }))
}

pub(crate) fn parse_address(text: &str) -> Result<Address> {
    Address::parse(text).map_err(|why| Problem::invalid("address", why.both()))
}

/// The name of an edition; the default one without it.
pub(crate) fn parse_edition(text: Option<&str>) -> Result<EditionName> {
    let name = text.map(EditionName::parse).transpose();
    let name = name.map_err(|why| Problem::invalid("edition", why.both()))?;
    Ok(name.unwrap_or_default())
}

/// Delete a subscriber and everything kept about them.
///
/// A deleted address can be added or imported again; to stop mail, unsubscribe it.
#[utoipa::path(
    delete, path = "/api/v1/subscribers/{id}", tag = "newsletter",
    params(("id" = i64, Path, description = "Number of the subscriber")),
    responses((status = 200, description = "The subscriber as it was", body = Subscriber)),
)]
pub(crate) async fn remove_subscriber(
    State(state): App,
    Numbered(id): Numbered,
    call: Call,
) -> Result<Json<Subscriber>> {
    call.refuse_key()?;
    Ok(Json(subscribers(&state).remove(id).await?))
}

/// Unsubscribe somebody who asked you to.
#[utoipa::path(
    post, path = "/api/v1/subscribers/{id}/unsubscribe", tag = "newsletter",
    params(("id" = i64, Path, description = "Number of the subscriber")),
    responses((status = 200, description = "The subscriber", body = Subscriber)),
)]
pub(crate) async fn unsubscribe(
    State(state): App,
    Numbered(id): Numbered,
    call: Call,
) -> Result<Json<Subscriber>> {
    call.refuse_key()?;
    Ok(Json(subscribers(&state).unsubscribe(id).await?))
}

/// Subscribers of an edition, counted.
#[derive(Serialize, ToSchema)]
#[schema(as = SubscriberCountsView)]
pub(crate) struct CountsView {
    /// The edition's name.
    #[schema(value_type = String)]
    pub(crate) edition: EditionName,
    pub(crate) pending: u64,
    pub(crate) confirmed: u64,
    pub(crate) unsubscribed: u64,
    pub(crate) bounced: u64,
}

/// A mailing and its messages, counted.
#[derive(Serialize, ToSchema)]
pub(crate) struct MailingView {
    #[serde(flatten)]
    pub(crate) mailing: Mailing,
    pub(crate) messages: MailCounts,
}

/// An edition that this node mails.
#[derive(Serialize, ToSchema)]
#[schema(as = MailedEditionView)]
pub(crate) struct MailedView {
    /// The edition's name.
    #[schema(value_type = String)]
    pub(crate) edition: EditionName,
    /// What becomes of a message that may have arrived: `skip` or `repeat`.
    pub(crate) on_unknown: &'static str,
    /// The path of the form to subscribe; null if it is closed.
    pub(crate) form: Option<String>,
}

/// What is known about newsletters.
#[derive(Serialize, ToSchema)]
pub(crate) struct NewsletterView {
    /// Whether this node sends mail.
    pub(crate) configured: bool,
    /// The editions it mails.
    pub(crate) editions: Vec<MailedView>,
    pub(crate) subscribers: Vec<CountsView>,
    /// The newest mailings, latest day first.
    pub(crate) mailings: Vec<MailingView>,
}

/// Show subscribers by state, and the progress of mailings.
#[utoipa::path(
    get, path = "/api/v1/newsletter", tag = "newsletter",
    responses((status = 200, description = "Counts", body = NewsletterView)),
)]
pub(crate) async fn get_newsletter(State(state): App) -> Result<Json<NewsletterView>> {
    Ok(Json(overview(&state).await?))
}

pub(crate) async fn overview(state: &AppState) -> Result<NewsletterView> {
    let mut mailings = Vec::new();
    for mailing in state.store.list_mailings(MAILINGS_MAX).await? {
        let messages = state.store.count_mails(mailing.id).await?;
        mailings.push(MailingView { mailing, messages });
    }
    let mailed = state.newsletters.iter().map(|it| MailedView {
        edition: it.settings.edition,
        on_unknown: match it.settings.on_unknown {
            OnUnknown::Skip => "skip",
            OnUnknown::Repeat => "repeat",
        },
        form: pages::form_of(state, it.settings.edition),
    });
    let editions: Vec<MailedView> = mailed.collect();
    Ok(NewsletterView {
        configured: !editions.is_empty(),
        editions,
        subscribers: counted(state).await?,
        mailings,
    })
}

async fn counted(state: &AppState) -> Result<Vec<CountsView>> {
    let mut editions: BTreeMap<EditionName, CountsView> = BTreeMap::new();
    for row in state.store.count_subscribers().await? {
        let edition = row.edition;
        let view = editions.entry(edition).or_insert_with(|| CountsView {
            edition,
            pending: 0,
            confirmed: 0,
            unsubscribed: 0,
            bounced: 0,
        });
        *match row.state {
            SubscriberState::Pending => &mut view.pending,
            SubscriberState::Confirmed => &mut view.confirmed,
            SubscriberState::Unsubscribed => &mut view.unsubscribed,
            SubscriberState::Bounced => &mut view.bounced,
        } = row.count;
    }
    Ok(editions.into_values().collect())
}
