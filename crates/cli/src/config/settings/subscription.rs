//! `[happenings]` and `[[subscription]]`: who is told of what happens, and how.

use almanack_adapters::signature::SigningKey;
use almanack_core::{
    happening::{Mode, Name, Subscription, Subscriptions, Type, Wants},
    task::Kind,
};
use jiff::SignedDuration;
use url::Url;

use super::{
    super::{
        key::{KeyPath, SUBSCRIPTIONS},
        layer::Raw,
        reader::{Reader, Show},
        report::Problem,
        value::{self, Complaint, Read},
    },
    signing_key, timeout_bounds,
};
use crate::suggest;

/// Longest name of a Kafka topic or a NATS subject.
const TOPIC_BYTES_MAX: usize = 249;
/// The ways to tell, of which each subscription has one.
const WAYS: [&str; 3] = ["url", "kafka_topic", "nats_subject"];

/// Who is told of what happens.
#[derive(Debug, Clone)]
pub(crate) struct Happenings {
    /// This Almanack's own name, as a URI reference.
    pub(crate) source: String,
    /// Everybody who wants to hear, in the order of their names.
    pub(crate) subscribers: Vec<Subscriber>,
}

/// Somebody who wants to hear, and how they are told.
#[derive(Debug, Clone)]
pub(crate) struct Subscriber {
    /// What they want to hear.
    pub(crate) subscription: Subscription,
    /// How they are told.
    pub(crate) way: Way,
    /// How an event is written for them.
    pub(crate) mode: Mode,
}

/// How a subscriber is told.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    /// By a signed POST.
    Webhook {
        /// The address.
        url: Url,
        /// What calls are signed with.
        key: Option<Box<SigningKey>>,
        /// How long an answer may take.
        timeout: SignedDuration,
    },
    /// On a topic of the brokers in `[events.kafka]`.
    Kafka {
        /// Which.
        topic: String,
    },
    /// On a subject of the servers in `[events.nats]`.
    Nats {
        /// Which.
        subject: String,
    },
}

impl Way {
    /// Where to, in a word and without secrets.
    pub(crate) fn shown(&self) -> String {
        match self {
            // What follows the host may be a key.
            Self::Webhook { url, .. } => format!("webhook {}", url.origin().ascii_serialization()),
            Self::Kafka { topic } => format!("kafka {topic}"),
            Self::Nats { subject } => format!("nats {subject}"),
        }
    }
}

impl Show for Type {
    fn show(&self) -> String {
        format!("\"{}\"", self.as_str())
    }
}

impl Show for Mode {
    fn show(&self) -> String {
        match self {
            Self::Structured => "\"structured\"".to_owned(),
            Self::Binary => "\"binary\"".to_owned(),
        }
    }
}

impl Show for Kind {
    fn show(&self) -> String {
        format!("\"{self}\"")
    }
}

impl Happenings {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let source = KeyPath::plain("happenings", "source");
        let names = reader.named(SUBSCRIPTIONS);
        let read = names.iter().filter_map(|name| read_one(reader, name));
        let subscribers = read.collect();
        Self {
            source: reader.value(&source, "/almanack".to_owned(), reference),
            subscribers,
        }
    }

    /// Everybody, for whoever decides what is told.
    pub(crate) fn subscriptions(&self) -> Subscriptions {
        let all = self.subscribers.iter();
        Subscriptions {
            source: self.source.clone(),
            all: all.map(|it| it.subscription.clone()).collect(),
        }
    }
}

fn read_one(reader: &mut Reader<'_>, name: &str) -> Option<Subscriber> {
    let key = |key| KeyPath::named(SUBSCRIPTIONS, name, key);
    let wants = Wants {
        types: reader.value(&key("events"), Vec::new(), value::texts(event_type)),
        kinds: reader.value(&key("kinds"), Vec::new(), value::texts(kind)),
        subject_prefix: reader.optional(&key("subject_prefix"), "(any)", value::text),
    };
    let modes = &[("structured", Mode::Structured), ("binary", Mode::Binary)];
    let mode = reader.value(&key("mode"), Mode::default(), value::choice(modes));
    let way = read_way(reader, name);
    Some(Subscriber {
        subscription: Subscription {
            // The file was checked while it was walked; flags are checked here.
            name: named(reader, name)?,
            wants,
        },
        way: way?,
        mode,
    })
}

fn named(reader: &mut Reader<'_>, name: &str) -> Option<Name> {
    match Name::parse(name) {
        Ok(name) => Some(name),
        Err(error) => {
            let place = reader.first_place(SUBSCRIPTIONS, name);
            let problem = Problem::error(error.to_string(), place);
            reader.problems.push(problem);
            None
        }
    }
}

/// The one way to tell. None or two of them are a mistake: what is told to nobody is found out by nobody.
fn read_way(reader: &mut Reader<'_>, name: &str) -> Option<Way> {
    let key = |key| KeyPath::named(SUBSCRIPTIONS, name, key);
    let given: Vec<&str> = WAYS
        .into_iter()
        .filter(|way| reader.layer.contains_key(&key(way)))
        .collect();
    let url = reader.optional(&key("url"), "(none)", value::web_address);
    let secret = signing_key(reader, &key("secret"), "(calls are not signed)");
    let usual = SignedDuration::from_secs(10);
    let timeout = reader.value(&key("timeout"), usual, value::duration(timeout_bounds()));
    let topic = reader.optional(&key("kafka_topic"), "(none)", topic);
    let subject = reader.optional(&key("nats_subject"), "(none)", self::topic);
    if given.len() != 1 {
        let what = match given.len() {
            0 => format!("subscription `{name}` does not say where to tell"),
            _ => format!(
                "subscription `{name}` says {}: one of them",
                given.join(" and ")
            ),
        };
        let place = reader.first_place(SUBSCRIPTIONS, name);
        let hint = "give it a url, a kafka_topic or a nats_subject; who is told twice has two subscriptions";
        reader.problems.push(Problem::error(what, place).hint(hint));
        return None;
    }
    let webhook = url.map(|url| Way::Webhook {
        url,
        key: secret.map(Box::new),
        timeout,
    });
    webhook
        .or_else(|| topic.map(|topic| Way::Kafka { topic }))
        .or_else(|| subject.map(|subject| Way::Nats { subject }))
}

fn event_type(text: &str) -> Read<Type> {
    Type::parse(text).ok_or_else(|| {
        let names = Type::ALL.map(Type::as_str);
        let hint = match suggest::nearest(text, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names.join(", ")),
        };
        Complaint::new(format!("`{text}` is nothing that happens"), hint)
    })
}

fn kind(text: &str) -> Read<Kind> {
    Kind::parse(text)
        .map_err(|error| Complaint::new(error.to_string(), "for example \"ARTICLE_PUBLISH\""))
}

fn topic(raw: &Raw) -> Read<String> {
    let text = value::text(raw)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if text.len() <= TOPIC_BYTES_MAX && text.chars().all(plain) {
        return Ok(text);
    }
    let hint = "letters, digits, `.`, `_` and `-`, like \"almanack.happenings\"";
    Err(Complaint::new(
        format!("`{text}` is not a name of a topic"),
        hint,
    ))
}

/// Whatever receivers tell one Almanack from another by: an address or a path.
fn reference(raw: &Raw) -> Read<String> {
    let text = value::text(raw)?;
    let fits = text.len() <= 200 && text.chars().all(|c| c.is_ascii_graphic());
    if fits {
        return Ok(text);
    }
    let hint = "an address or a path without blanks, like \"https://almanack.example.org\"";
    Err(Complaint::new(
        format!("`{text}` cannot name a source"),
        hint,
    ))
}
