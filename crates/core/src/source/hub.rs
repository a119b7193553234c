//! WebSub: a hub that pushes what a source publishes, so that checking is only for safety (SS-23).
//!
//! ```text
//! a document names a hub ─► Named ─ request ─► Requested ─ the hub verifies ─► Subscribed
//!                             ▲                    │ denied                     │ lease over
//!                             └── reach lost       ▼                            ▼
//!                                               Refused ◄──── asked again ──── Lapsed
//! ```
//!
//! There is no second clock. A subscription is requested and renewed by checks, which happen at
//! least daily; a request that came to nothing is made again at a later check, so a node may die at
//! any point. The database decides: a hub's confirmation is believed only if the row says that it
//! was requested.
//!
//! What must stay true: a hub is a hurry, never the truth. A source is checked as if it had no hub
//! whenever the hub has no lease, has not pushed yet, or was seen to miss an entry.

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    SourceId,
    check::{Ask, Document, Failure, Look},
    entry::FoundEntry,
};
use crate::{finish::shorten, lang::Lang, say, time::to_micros};

/// The lease that is requested.
pub const LEASE: SignedDuration = SignedDuration::from_hours(10 * 24);
/// The longest lease that is believed; a hub that promises more is asked again all the same.
const LEASE_MAX: SignedDuration = SignedDuration::from_hours(365 * 24);
/// How many times longer than without a hub the next check is put off.
const STRETCH: i32 = 12;
/// A hub that has not pushed for so long is not relied on.
const LATELY: SignedDuration = SignedDuration::from_hours(30 * 24);
/// An entry this new may still be on its way from the hub.
const IN_FLIGHT: SignedDuration = SignedDuration::from_mins(10);
/// After a missed entry, so many pushes in a row are wanted before the hub is relied on again.
const PUSHES_WANTED: u32 = 3;
/// The wait after the second request in a row that came to nothing; it doubles from there. The
/// first is made again at the next check: most often it was a node that died.
const ASK_AGAIN: SignedDuration = SignedDuration::from_mins(10);
/// The longest of these waits, and the wait after a refusal.
const ASK_AGAIN_MAX: SignedDuration = SignedDuration::from_hours(24);

/// A hub, and the topic by which it knows a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedHub {
    /// Address of the hub.
    pub hub: String,
    /// The source's own address, as its publisher writes it.
    pub topic: String,
}

/// A WebSub subscription, as the source's row keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Hub {
    /// Address of the hub.
    pub hub: String,
    /// The topic, as the publisher names it (`rel="self"`).
    pub topic: String,
    /// Random: what the callback's address and the secret are derived from. Never shown.
    pub token: String,
    /// The home that the hub was asked to push to ([`Hubs::home`]).
    pub home: String,
    /// When the subscription was last requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_at: Option<Timestamp>,
    /// Requests since the hub last confirmed one.
    pub requests: u32,
    /// Since when the hub is to push.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed_at: Option<Timestamp>,
    /// Until when the hub has confirmed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leased_until: Option<Timestamp>,
    /// When the hub last pushed something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pushed_at: Option<Timestamp>,
    /// Pushes wanted before the hub is relied on again: it missed an entry.
    pub pushes_wanted: u32,
    /// Why the hub refused, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

names! {
    /// How far a subscription is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum HubState {
        /// The source names a hub, and none was asked.
        Named = "named",
        /// The hub was asked and has not confirmed it.
        Requested = "requested",
        /// The hub has confirmed it.
        Subscribed = "subscribed",
        /// The hub's confirmation is over.
        Lapsed = "lapsed",
        /// The hub refused.
        Refused = "refused",
    }
}

names! {
    /// Whether hubs can push to this node.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Reach {
        /// They can.
        Open = "open",
        /// The node has no public address.
        NoAddress = "no_address",
        /// Pushing is switched off.
        Off = "off",
    }
}

/// The answer of a hub to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HubAnswer {
    /// It will verify the request.
    Accepted,
    /// It does not want it; the text is for people.
    Refused(String),
    /// It could not be asked now, or has trouble.
    NotNow(String),
}

/// A document that was pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushed {
    pub body: Vec<u8>,
    pub content_type: Option<String>,
}

/// The outside of subscriptions: requests to hubs, what only a secret can prove, and what is
/// pushed.
#[async_trait]
pub trait Hubs: Send + Sync {
    /// Whether hubs can push to this node.
    fn reach(&self) -> Reach;

    /// Identifies the address and the key that callbacks and secrets are made of. A subscription
    /// that was made for another home is of no use.
    fn home(&self) -> &str;

    /// A new random token.
    fn token(&self) -> String;

    /// Asks the hub to push to this node. Idempotent: asked again, a hub renews the lease. Keeps to
    /// the pace of the hub's host.
    async fn subscribe(&self, id: SourceId, hub: &Hub, now: Timestamp) -> HubAnswer;

    /// Whether this is the last part of the callback's address. Takes as long for a wrong one.
    fn admits(&self, hub: &Hub, token: &str) -> bool;

    /// Whether a signature (`sha256=…`) is the hub's for this body. Takes as long for a wrong one.
    fn verifies(&self, hub: &Hub, signature: &str, body: &[u8]) -> bool;

    /// Reads what was pushed as a check reads what it fetched.
    async fn read(&self, ask: &Ask, pushed: Pushed, now: Timestamp) -> Result<Document, Failure>;
}

/// What a check that was made means for the subscription.
#[derive(Debug, Clone, Copy)]
pub struct Tending<'a> {
    pub look: &'a Look,
    pub reach: Reach,
    /// Where hubs push to.
    pub home: &'a str,
    /// For a subscription that begins.
    pub token: &'a str,
    /// When the source is checked next.
    pub next_at: Option<Timestamp>,
    pub now: Timestamp,
}

/// Brings a source's hub up to date after a check; answers whether the hub is to be asked, which
/// the row then says already.
pub fn tend(hub: &mut Option<Hub>, made: &Tending<'_>) -> bool {
    match made.look {
        Look::Document(document) => name(hub, document.hub.as_ref(), made),
        Look::Unchanged(_) => {
            let named = hub.as_ref().map(Hub::named);
            name(hub, named.as_ref(), made);
        }
        // Nothing was seen of the source, and its host may be in trouble.
        Look::Failed(_) | Look::Wait(_) => return false,
    }
    let Some(hub) = hub else { return false };
    if made.reach != Reach::Open || !hub.is_to_be_asked(made) {
        return false;
    }
    hub.requested_at = Some(to_micros(made.now));
    hub.requests = hub.requests.saturating_add(1);
    true
}

/// A subscription belongs to one hub, one topic and one home; another one begins anew.
fn name(hub: &mut Option<Hub>, named: Option<&NamedHub>, made: &Tending<'_>) {
    let Some(named) = named else {
        *hub = None;
        return;
    };
    let is_same = |known: &Hub| known.named() == *named && known.home == made.home;
    if !hub.as_ref().is_some_and(is_same) {
        *hub = Some(Hub {
            hub: named.hub.clone(),
            topic: named.topic.clone(),
            token: made.token.to_owned(),
            home: made.home.to_owned(),
            ..Hub::default()
        });
    }
}

impl Hub {
    fn named(&self) -> NamedHub {
        NamedHub {
            hub: self.hub.clone(),
            topic: self.topic.clone(),
        }
    }

    /// How far the subscription is.
    pub fn state(&self, now: Timestamp) -> HubState {
        match (self.requested_at, self.leased_until) {
            _ if self.refused.is_some() => HubState::Refused,
            (_, Some(until)) if until > now => HubState::Subscribed,
            (_, Some(_)) => HubState::Lapsed,
            (Some(_), None) => HubState::Requested,
            (None, None) => HubState::Named,
        }
    }

    /// Whether the hub is relied on: it has a lease, has pushed lately and missed nothing since.
    pub fn is_relied_on(&self, now: Timestamp) -> bool {
        let lately = |at: Timestamp| now.duration_since(at) <= LATELY;
        self.state(now) == HubState::Subscribed
            && self.pushes_wanted == 0
            && self.pushed_at.is_some_and(lately)
    }

    /// When a source whose hub is relied on is checked for safety, instead of at `at`; `None` if it
    /// is checked as usual. Never after the lease: from then on checking has to do.
    pub fn safety_check(
        &self,
        now: Timestamp,
        at: Timestamp,
        ceiling: SignedDuration,
    ) -> Option<Timestamp> {
        let leased_until = self.leased_until.filter(|_| self.is_relied_on(now))?;
        let wait = at.duration_since(now).saturating_mul(STRETCH).min(ceiling);
        let later = now.saturating_add(wait).ok()?.min(leased_until);
        (later > at).then(|| to_micros(later))
    }

    /// Notes that a check found entries which the hub had time to push.
    pub fn note_found(
        &mut self,
        fresh: &[(String, FoundEntry)],
        last_check_at: Option<Timestamp>,
        now: Timestamp,
    ) {
        let leased = self.state(now) == HubState::Subscribed;
        let Some(since) = self.confirmed_at.filter(|_| leased) else {
            return;
        };
        let arrived = now.saturating_sub(IN_FLIGHT).unwrap_or(now);
        let is_missed = |found: &FoundEntry| match found.published_at {
            Some(at) => (since..=arrived).contains(&at),
            // It appeared after the check before, whenever that was.
            None => last_check_at.is_some_and(|at| at >= since),
        };
        if fresh.iter().any(|(_, found)| is_missed(found)) {
            self.pushes_wanted = PUSHES_WANTED;
        }
    }

    /// Notes a push; only one with new entries shows that the hub does its work.
    pub fn note_pushed(&mut self, entries: usize, now: Timestamp) {
        self.pushed_at = self.pushed_at.max(Some(to_micros(now)));
        self.pushes_wanted = self.pushes_wanted.saturating_sub(u32::from(entries > 0));
    }

    /// Whether the hub may confirm a subscription to `topic`: it was asked for one.
    pub fn expects(&self, topic: &str) -> bool {
        self.requested_at.is_some() && self.topic == topic
    }

    /// The hub confirms the subscription for this long.
    pub fn confirm(&mut self, lease: Option<SignedDuration>, now: Timestamp) {
        let lease = lease
            .unwrap_or(LEASE)
            .clamp(SignedDuration::ZERO, LEASE_MAX);
        if self.state(now) != HubState::Subscribed {
            self.confirmed_at = Some(to_micros(now));
        }
        let until = now.saturating_add(lease).unwrap_or(now);
        self.leased_until = Some(to_micros(until));
        self.requests = 0;
        self.refused = None;
    }

    /// The hub refuses the subscription, or ends it.
    pub fn refuse(&mut self, reason: &str) {
        let reason = reason.trim();
        let reason = if reason.is_empty() {
            "no reason given"
        } else {
            reason
        };
        self.refused = Some(shorten(reason));
        self.leased_until = None;
        self.confirmed_at = None;
    }

    /// Nothing can be pushed any more: this node is not reachable.
    pub fn lose_reach(&mut self) {
        self.leased_until = None;
        self.confirmed_at = None;
        self.requested_at = None;
        self.requests = 0;
    }

    fn is_to_be_asked(&self, made: &Tending<'_>) -> bool {
        let Some(requested_at) = self.requested_at else {
            return true;
        };
        let waited = made.now.duration_since(requested_at);
        match self.state(made.now) {
            HubState::Refused => waited >= ASK_AGAIN_MAX,
            // A check that is late must still find the lease, so the next one is too late to renew.
            HubState::Subscribed => self.ends_before_next_but_one(made) && waited >= self.wait(),
            HubState::Named | HubState::Requested | HubState::Lapsed => waited >= self.wait(),
        }
    }

    fn ends_before_next_but_one(&self, made: &Tending<'_>) -> bool {
        let interval = made
            .next_at
            .map_or(SignedDuration::ZERO, |at| at.duration_since(made.now));
        let next_but_one = made.now.saturating_add(interval.saturating_mul(2));
        self.leased_until <= next_but_one.ok()
    }

    /// How long a request is waited for before the next.
    fn wait(&self) -> SignedDuration {
        let doublings = match self.requests {
            0 | 1 => return SignedDuration::ZERO,
            requests => (requests - 2).min(20),
        };
        ASK_AGAIN.saturating_mul(1 << doublings).min(ASK_AGAIN_MAX)
    }
}

/// Why a source is pushed or not, in a sentence; `None` if it names no hub.
pub fn sentence(hub: Option<&Hub>, reach: Reach, now: Timestamp, lang: Lang) -> Option<String> {
    let hub = hub?;
    let at = &hub.hub;
    let state = hub.state(now);
    Some(match (reach, state) {
        (Reach::Off, _) => say!(lang;
            "The hub {at} could push it, but push is off (`sources.push`).",
            "其 hub {at} 可以推送它，但推送已关闭（`sources.push`）。"),
        (Reach::NoAddress, _) => say!(lang;
            "The hub {at} could push it, but this node has no public address; set `server.public_url`.",
            "其 hub {at} 可以推送它，但本节点没有公开地址；请设置 `server.public_url`。"),
        (Reach::Open, HubState::Named) => say!(lang;
            "It names the hub {at}, which is asked to push at the next check.",
            "它指定了 hub {at}，下次检查时会请求其推送。"),
        (Reach::Open, HubState::Requested) => say!(lang;
            "The hub {at} was asked to push and has not confirmed it yet.",
            "已请求 hub {at} 推送，对方尚未确认。"),
        (Reach::Open, HubState::Refused) => {
            let why = hub.refused.as_deref().unwrap_or_default();
            say!(lang; "The hub {at} refuses to push: {why}. It is asked again once a day.",
                "其 hub {at} 拒绝推送：{why}。每天会再请求一次。")
        }
        (Reach::Open, HubState::Lapsed) => say!(lang;
            "The subscription to the hub {at} has ended and is renewed by a check.",
            "对 hub {at} 的订阅已到期，将在检查时续订。"),
        (Reach::Open, HubState::Subscribed) => subscribed(hub, now, lang),
    })
}

fn subscribed(hub: &Hub, now: Timestamp, lang: Lang) -> String {
    let at = &hub.hub;
    if hub.is_relied_on(now) {
        return say!(lang; "The hub {at} pushes new entries; checks are only for safety.",
            "其 hub {at} 会推送新条目；检查只是为了保险。");
    }
    match (hub.pushed_at, hub.pushes_wanted) {
        (Some(_), 0) => say!(lang;
            "The hub {at} has not pushed for a month, so it is checked as usual.",
            "其 hub {at} 已一个月没有推送，因此照常检查。"),
        (None, 0) => say!(lang; "The hub {at} has not pushed yet, so it is checked as usual.",
            "其 hub {at} 还没有推送过，因此照常检查。"),
        _ => say!(lang; "The hub {at} missed entries, so it is checked as usual.",
            "其 hub {at} 漏掉了条目，因此照常检查。"),
    }
}

#[cfg(test)]
mod tests;
