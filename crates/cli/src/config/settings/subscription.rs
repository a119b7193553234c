//! `[event_delivery]` and `[[subscription]]`: who receives which events, and how.

use almanack_adapters::signature::SigningKey;
use almanack_core::{
    event::outgoing::{BATCH_MAX, Mode, Name, Subscription, Subscriptions, Type, Wants},
    source::category::folder,
    task::Kind,
};
use url::Url;

use super::{
    super::key::SUBSCRIPTIONS,
    calls::{call_time, signing_key},
    prelude::*,
};
use crate::suggest;

sections! { SubscriptionKeys, EventDeliveryKeys }

/// Longest name of a Kafka topic or a NATS subject.
const TOPIC_BYTES_MAX: usize = 249;
/// The ways to deliver; each subscription has exactly one.
const WAYS: [&str; 3] = ["url", "kafka_topic", "nats_subject"];

/// Who receives events.
#[derive(Debug, Clone)]
pub(crate) struct EventDelivery {
    /// This Almanack's own name, as a URI reference.
    pub(crate) source: String,
    /// All subscribers, in the order of their names.
    pub(crate) subscribers: Vec<Subscriber>,
}

/// A subscriber, and how events are delivered to it.
#[derive(Debug, Clone)]
pub(crate) struct Subscriber {
    /// The events it receives.
    pub(crate) subscription: Subscription,
    /// How events are delivered.
    pub(crate) way: Way,
    /// How an event is encoded.
    pub(crate) mode: Mode,
}

/// How events are delivered to a subscriber.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    /// By a signed POST.
    Webhook {
        /// The address.
        url: Url,
        /// The key that signs calls.
        key: Option<Box<SigningKey>>,
        /// How long a call may take.
        timeout: SignedDuration,
    },
    /// On a topic of the brokers in `[events.kafka]`.
    Kafka { topic: String },
    /// On a subject of the servers in `[events.nats]`.
    Nats { subject: String },
}

impl Way {
    /// The destination, without secrets.
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

words! { Mode { "structured" = Self::Structured, "binary" = Self::Binary } }

settings! {
    /// Outgoing events.
    struct EventDeliveryKeys in "event_delivery" {
        /// Name of this installation, as CloudEvents `source`: an address or a path.
        /// 本安装的名称，即 CloudEvents 的 `source`：网址或路径。
        source: String = text_as(reference).default("/almanack".to_owned()).reloadable();
    }
}

settings! {
    /// Who receives events: a web address, a Kafka topic or a NATS subject.
    pub(crate) struct SubscriptionKeys in "subscription" {
        /// Web address that receives events.
        /// 接收事件的网址。
        url: Option<Url> =
            Form::new(Shape::Address, value::web_address).unset("(none)").reloadable();
        /// Key that signs calls to `url`.
        /// 为调用 `url` 签名的密钥。
        secret: Option<SigningKey> = signing_key().unset("(calls are not signed)").reloadable();
        /// How long a call to `url` may take.
        /// 调用 `url` 的超时时间。
        timeout: SignedDuration = call_time().default(seconds(10)).reloadable();
        /// Kafka topic that receives events, on the brokers in `[events.kafka]`.
        /// 接收事件的 Kafka 主题，位于 `[events.kafka]` 的集群。
        kafka_topic: Option<String> = text_as(topic).unset("(none)").reloadable();
        /// NATS subject that receives events, on the servers in `[events.nats]`.
        /// 接收事件的 NATS 主题，位于 `[events.nats]` 的服务器。
        nats_subject: Option<String> = text_as(topic).unset("(none)").reloadable();
        /// CloudEvents mode: `structured` puts all in the body, `binary` puts attributes in headers.
        /// CloudEvents 模式：`structured` 全部放在正文，`binary` 属性放在头部。
        mode: Mode = choice().default(Mode::default()).reloadable();
        /// Deliver up to this many events per call to `url`, as a CloudEvents batch.
        /// 每次调用 `url` 最多投递的事件数，以 CloudEvents 批量格式。
        batch: Option<usize> = count(1..=BATCH_MAX).unset("(one per call, not a batch)").reloadable();
        /// Event types to deliver; an empty list delivers all.
        /// 要投递的事件类型；列表为空则全部投递。
        events: Vec<Type> =
            words_of(Type::ALL.map(Type::as_str), event_type).default(Vec::new()).reloadable();
        /// Kinds of tasks to deliver events of; an empty list delivers all.
        /// 要投递哪些任务类型的事件；列表为空则全部投递。
        kinds: Vec<Kind> = texts(kind).default(Vec::new()).reloadable();
        /// Categories of sources to deliver events of, with all below them; an empty list delivers all.
        /// 要投递哪些分类（含其下级）的源的事件；列表为空则全部投递。
        categories: Vec<String> = texts(category).default(Vec::new()).reloadable();
        /// Deliver only events of subjects that start with this.
        /// 仅投递主体以此开头的事件。
        subject_prefix: Option<String> = text().unset("(any)").reloadable();
    }
}

impl EventDelivery {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let names = reader.named(SUBSCRIPTIONS);
        let read = names.iter().filter_map(|name| read_one(reader, name));
        let subscribers = read.collect();
        Self {
            source: EventDeliveryKeys::read(reader).source,
            subscribers,
        }
    }

    /// All subscriptions, for the part that decides what to deliver.
    pub(crate) fn subscriptions(&self) -> Subscriptions {
        let all = self.subscribers.iter();
        Subscriptions {
            source: self.source.clone(),
            all: all.map(|it| it.subscription.clone()).collect(),
        }
    }
}

fn read_one(reader: &mut Reader<'_>, name: &str) -> Option<Subscriber> {
    let read = SubscriptionKeys::read_of(reader, SUBSCRIPTIONS, Some(name));
    let batch = read.batch;
    let mode = mode(reader, name, &read)?;
    let wants = Wants {
        types: read.events.clone(),
        kinds: read.kinds.clone(),
        categories: read.categories.clone(),
        subject_prefix: read.subject_prefix.clone(),
    };
    let way = way(reader, name, read);
    Some(Subscriber {
        subscription: Subscription {
            // The file was checked while it was walked; flags are checked here.
            name: named(reader, name)?,
            wants,
            batch,
        },
        way: way?,
        mode,
    })
}

/// A batch is a list of whole events in one call, so it has neither attributes in headers nor a
/// message for each event.
fn mode(reader: &mut Reader<'_>, name: &str, read: &SubscriptionKeys) -> Option<Mode> {
    if read.batch.is_none() {
        return Some(read.mode);
    }
    let why = match (&read.url, read.mode) {
        (None, _) => "has `batch` and no url",
        (Some(_), Mode::Binary) => "has `batch` and mode \"binary\"",
        (Some(_), _) => return Some(Mode::Batched),
    };
    let what = format!("subscription `{name}` {why}");
    let place = reader.first_place(|path| path.is_of(SUBSCRIPTIONS, name));
    let hint = "a batch is one call to `url` with whole events; remove `batch`, or use it with url and mode \"structured\"";
    reader.push(Severity::Error, (what, place), hint);
    None
}

fn named(reader: &mut Reader<'_>, name: &str) -> Option<Name> {
    match Name::parse(name) {
        Ok(name) => Some(name),
        Err(error) => {
            let place = reader.first_place(|path| path.is_of(SUBSCRIPTIONS, name));
            let problem = Problem::error(error.to_string(), place);
            reader.problems.push(problem);
            None
        }
    }
}

/// The one way to deliver. None or two of them is an error: otherwise events would silently be
/// lost.
fn way(reader: &mut Reader<'_>, name: &str, read: SubscriptionKeys) -> Option<Way> {
    let is_given = |way: &&'static str| {
        let path = KeyPath::in_table(SUBSCRIPTIONS, Some(name), way);
        reader.layer.contains_key(&path)
    };
    let given: Vec<&str> = WAYS.into_iter().filter(is_given).collect();
    if given.len() != 1 {
        let what = match given.len() {
            0 => format!("subscription `{name}` has no destination"),
            _ => format!(
                "subscription `{name}` has {}; only one is allowed",
                given.join(" and ")
            ),
        };
        let place = reader.first_place(|path| path.is_of(SUBSCRIPTIONS, name));
        let hint = "set url, kafka_topic or nats_subject; for two destinations, write two \
                    subscriptions";
        reader.push(Severity::Error, (what, place), hint);
        return None;
    }
    let webhook = read.url.map(|url| Way::Webhook {
        url,
        key: read.secret.map(Box::new),
        timeout: read.timeout,
    });
    webhook
        .or_else(|| read.kafka_topic.map(|topic| Way::Kafka { topic }))
        .or_else(|| read.nats_subject.map(|subject| Way::Nats { subject }))
}

fn event_type(text: &str) -> Read<Type> {
    Type::parse(text).ok_or_else(|| {
        let names = Type::ALL.map(Type::as_str);
        let hint = match suggest::nearest(text, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("event types: {}", names.join(", ")),
        };
        Problem::new(format!("`{text}` is not an event type"), hint)
    })
}

fn kind(text: &str) -> Read<Kind> {
    Kind::parse(text)
        .map_err(|error| Problem::new(error.to_string(), "for example \"ARTICLE_PUBLISH\""))
}

/// A category, with everything below it.
pub(super) fn category(text: &str) -> Read<String> {
    folder(text).ok_or_else(|| {
        let what = format!("`{text}` is not a category");
        Problem::new(what, "write its folders, like \"news/coast\"")
    })
}

fn topic(text: &str) -> Read<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let fits = text.len() <= TOPIC_BYTES_MAX && text.chars().all(plain);
    let hint = "letters, digits, `.`, `_` and `-`, like \"almanack.events\"";
    fitting(
        text,
        fits,
        format!("`{text}` is not the name of a topic"),
        hint,
    )
}

/// What distinguishes one Almanack from another for receivers: an address or a path.
fn reference(text: &str) -> Read<String> {
    let fits = text.len() <= 200 && text.chars().all(|c| c.is_ascii_graphic());
    let hint = "an address or a path without blanks, like \"https://almanack.example.org\"";
    fitting(text, fits, format!("`{text}` cannot name a source"), hint)
}
