//! A publisher with a WebSub hub on loopback.
//!
//! `/topics/NAME` is an Atom feed that names `/hub`. The hub verifies what subscribers request,
//! signs what it pushes, and can be made to be silent, to refuse, or to lie. The test publishes
//! with [`Handle::publish`] and has it pushed with [`Handle::push`], so that nothing happens at a
//! time of its own.
//!
//! INVARIANT: the hub keeps to the W3C's recommendation wherever no behaviour says otherwise; it
//! shares no code with the subscriber.

use std::{collections::BTreeMap, fmt::Write as _, net::SocketAddr};

use axum::{
    Form, Router,
    extract::{ConnectInfo, Path, State},
    response::Response,
    routing::{get, post},
};
use hmac::{Hmac, Mac};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

pub use crate::stand::{Error, start};
use crate::{
    client,
    line::Met,
    reply::{Answer, Reply},
    stand::{self, Stand, Upstream},
};

/// The challenge that a subscriber must echo.
const CHALLENGE: &str = "challenge-7f3a";

/// How the hub behaves from now on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Behaviour {
    /// As it should.
    #[default]
    Fair,
    /// It accepts a request and never verifies it, as if it or its network had died.
    Mute,
    /// It accepts a request and then denies the subscription.
    Deny,
    /// It refuses requests at once.
    Refuse,
    /// It verifies a topic that nobody asked for.
    WrongTopic,
}

/// What is pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parcel {
    /// The newest entry alone.
    Newest,
    /// No body: something is new.
    Light,
    /// The newest entry, signed with another secret.
    Forged,
    /// The newest entry, not signed at all.
    Unsigned,
}

pub type Config = stand::Config<HubState>;

impl Config {
    /// A hub without subscribers.
    pub fn new(listen: SocketAddr) -> Self {
        Self::of(listen, ())
    }
}

/// What a subscriber requested, and whether it was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscriber {
    pub callback: String,
    pub topic: String,
    secret: String,
    pub lease_seconds: i64,
    /// Whether the subscriber echoed the challenge.
    pub is_verified: bool,
}

/// The publisher's entries, and who is subscribed to them.
#[derive(Debug, Default)]
pub struct HubState {
    entries: BTreeMap<String, Vec<Published>>,
    subscribers: BTreeMap<String, Subscriber>,
    behaviour: Behaviour,
}

#[derive(Debug, Clone)]
struct Published {
    title: String,
    at: Timestamp,
}

/// What requests are counted by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// A subscriber read the feed.
    Read,
    /// A subscriber requested a subscription.
    Subscribe,
}

/// Handle to a running hub from the same process.
pub type Handle = Stand<HubState>;
pub type Running = stand::Running<HubState>;

impl Handle {
    /// The address of a feed.
    pub fn topic_url(&self, name: &str) -> String {
        format!("{}/topics/{name}", self.url())
    }

    /// Changes the behaviour from now on.
    pub fn behave(&self, behaviour: Behaviour) {
        self.lock().state.behaviour = behaviour;
    }

    /// Publishes an entry now, without pushing it.
    pub fn publish(&self, name: &str, title: &str) {
        let entry = Published {
            title: title.to_owned(),
            at: self.now(),
        };
        let entries = &mut self.lock().state.entries;
        entries.entry(name.to_owned()).or_default().push(entry);
    }

    /// The subscriber of a feed, if one was verified.
    pub fn verified(&self, name: &str) -> Option<Subscriber> {
        let topic = self.topic_url(name);
        let subscribers = &self.lock().state.subscribers;
        let mut all = subscribers.values();
        all.find(|it| it.topic == topic && it.is_verified).cloned()
    }

    /// Pushes to every verified subscriber of a feed; the statuses of their answers.
    pub async fn push(&self, name: &str, parcel: Parcel) -> Result<Vec<u16>, client::Error> {
        let topic = self.topic_url(name);
        let newest = self.entries(name).pop();
        let body = match parcel {
            Parcel::Light => String::new(),
            _ => self.document(name, newest.as_slice()),
        };
        let subscribers: Vec<Subscriber> = {
            let all = &self.lock().state.subscribers;
            let ours = all
                .values()
                .filter(|it| it.topic == topic && it.is_verified);
            ours.cloned().collect()
        };
        let mut statuses = Vec::new();
        for subscriber in subscribers {
            statuses.push(distribute(&subscriber, &body, parcel).await?);
        }
        Ok(statuses)
    }

    fn entries(&self, name: &str) -> Vec<Published> {
        let entries = &self.lock().state.entries;
        entries.get(name).cloned().unwrap_or_default()
    }

    /// Atom, with the hub and the feed's own address.
    fn document(&self, name: &str, entries: &[Published]) -> String {
        let (base, topic) = (self.url(), self.topic_url(name));
        let shown = entries
            .iter()
            .rev()
            .fold(String::new(), |mut shown, entry| {
                let (title, at) = (&entry.title, entry.at);
                let _ = writeln!(
                    shown,
                    "<entry><title>{title}</title><id>{topic}#{title}</id>\
                 <link href=\"{topic}/{title}\"/><updated>{at}</updated></entry>"
                );
                shown
            });
        format!(
            "<?xml version=\"1.0\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
             <title>{name}</title><id>{topic}</id><updated>{}</updated>\n\
             <link rel=\"hub\" href=\"{base}/hub\"/><link rel=\"self\" href=\"{topic}\"/>\n\
             {shown}</feed>\n",
            self.now()
        )
    }

    /// Asks a subscriber whether it wants what was requested in its name.
    async fn verify(&self, subscriber: Subscriber) {
        let behaviour = self.lock().state.behaviour;
        let Ok(client) = client::build() else { return };
        let asked = |topic: &str, mode: &str| {
            let lease = subscriber.lease_seconds.to_string();
            let query = [
                ("hub.mode", mode),
                ("hub.topic", topic),
                ("hub.challenge", CHALLENGE),
                ("hub.lease_seconds", &lease),
                ("hub.reason", "not for you"),
            ];
            client.get(&subscriber.callback).query(&query).send()
        };
        match behaviour {
            Behaviour::Mute | Behaviour::Refuse => {}
            Behaviour::Deny => drop(asked(&subscriber.topic, "denied").await),
            Behaviour::Fair | Behaviour::WrongTopic => {
                let topic = match behaviour {
                    Behaviour::WrongTopic => "http://other.example/",
                    _ => &subscriber.topic,
                };
                let Ok(answer) = asked(topic, "subscribe").await else {
                    return;
                };
                let is_verified = answer.status() == 200
                    && answer.text().await.is_ok_and(|text| text == CHALLENGE);
                if is_verified {
                    let subscribers = &mut self.lock().state.subscribers;
                    subscribers.insert(
                        subscriber.callback.clone(),
                        Subscriber {
                            is_verified,
                            ..subscriber
                        },
                    );
                }
            }
        }
        self.changed();
    }
}

async fn distribute(
    subscriber: &Subscriber,
    body: &str,
    parcel: Parcel,
) -> Result<u16, client::Error> {
    let key = match parcel {
        Parcel::Forged => "another secret",
        _ => &subscriber.secret,
    };
    let mut request = client::build()?
        .post(&subscriber.callback)
        .header("content-type", "application/atom+xml")
        .body(body.to_owned());
    if parcel != Parcel::Unsigned {
        let signature = format!("sha256={}", signature(key, body));
        request = request.header("x-hub-signature", signature);
    }
    let answer = request.send().await?;
    Ok(answer.status().as_u16())
}

fn signature(key: &str, body: &str) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(key.as_bytes());
    let bytes = mac.map(|mut mac| {
        mac.update(body.as_bytes());
        mac.finalize().into_bytes()
    });
    let bytes = bytes.unwrap_or_default();
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Upstream for HubState {
    const NAME: &'static str = "hub";
    const WELCOME: &'static str = "GET /topics/{name} is a feed; POST /hub subscribes to it.\n";
    type Setup = ();
    type Matching = ();
    type Effect = ();
    type Kind = Call;
    type Facts = ();

    fn open((): &(), _: Timestamp) -> Self {
        Self::default()
    }

    fn routes(stand: Stand<Self>) -> Router {
        Router::new()
            .route("/topics/{name}", get(read))
            .route("/hub", post(subscribe))
            .with_state(stand)
    }
}

async fn read(
    State(stand): State<Handle>,
    ConnectInfo(met): ConnectInfo<Met>,
    Path(name): Path<String>,
) -> Response {
    stand.lock().journal.note(stand.now(), Call::Read, ());
    let document = stand.document(&name, &stand.entries(&name));
    let reply = Reply::new("application/atom+xml", document);
    stand.send(&met, Answer::Reply(reply), ()).await
}

/// What a subscriber requests.
#[derive(Deserialize)]
struct Requested {
    #[serde(rename = "hub.mode")]
    mode: String,
    #[serde(rename = "hub.callback")]
    callback: String,
    #[serde(rename = "hub.topic")]
    topic: String,
    #[serde(rename = "hub.secret", default)]
    secret: String,
    #[serde(rename = "hub.lease_seconds")]
    lease_seconds: i64,
}

async fn subscribe(
    State(stand): State<Handle>,
    ConnectInfo(met): ConnectInfo<Met>,
    Form(requested): Form<Requested>,
) -> Response {
    stand.lock().journal.note(stand.now(), Call::Subscribe, ());
    let refuses = stand.lock().state.behaviour == Behaviour::Refuse;
    let is_ours = requested
        .topic
        .starts_with(&format!("{}/topics/", stand.url()));
    if refuses || !is_ours || requested.mode != "subscribe" {
        let reply = Reply::status(422, "this topic is not ours\n");
        return stand.send(&met, Answer::Reply(reply), ()).await;
    }
    let subscriber = Subscriber {
        callback: requested.callback,
        topic: requested.topic,
        secret: requested.secret,
        lease_seconds: requested.lease_seconds,
        is_verified: false,
    };
    // A hub verifies after it has answered.
    let hub = stand.clone();
    tokio::spawn(async move { hub.verify(subscriber).await });
    let reply = Reply::status(202, "");
    stand.send(&met, Answer::Reply(reply), ()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pushes_are_signed_as_rfc_4231_computes_it() {
        let signed = signature("Jefe", "what do ya want for nothing?");
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(signed, expected);
    }
}
