//! `[events.kafka]`

use almanack_bus::{
    Error,
    kafka::{CONFIRM_WITHIN, Connection, IS_BUILT, Mechanism, SILENCE, Sasl, Settings},
};
use almanack_core::event::incoming::envelope::Reading;

use super::{super::prelude::*, ReadingKeys, TlsKeys, name, reading, tls};

const SECTION: &str = Brokers::NAME;
pub(super) const MAPPING: &str = "events.kafka.mapping";
/// The longest name of a topic that brokers accept.
const TOPIC_BYTES_MAX: usize = 249;

/// A cluster, and what to read there.
#[derive(Debug, Clone)]
pub(crate) struct Kafka {
    /// How to connect.
    pub(crate) connection: Connection,
    /// What to read; none if the cluster only receives events.
    pub(crate) consumer: Option<Settings>,
}

words! {
    Mechanism {
        "plain" = Self::Plain,
        "scram-sha-256" = Self::ScramSha256,
        "scram-sha-512" = Self::ScramSha512,
    }
}

settings! {
    /// A Kafka cluster that events come from and go to.
    pub(super) struct Brokers in "events.kafka" + ConsumerKeys + ReadingKeys + TlsKeys + SaslKeys {
        /// Brokers to connect to first, as `host:port`.
        /// 首先连接的 broker，写作 `host:port`。
        brokers: Option<Vec<String>> = texts(broker).unset("(none)");
    }
}

settings! {
    struct ConsumerKeys {
        /// Topic to read events from.
        /// 读取事件的主题。
        topic: Option<String> = topic_name().unset("(none; no events are read)");
        /// Consumer group.
        /// 消费者组。
        group: String = name("the name of a group", 200, |c| {
            !c.is_control() && !c.is_whitespace()
        }).default("almanack".to_owned());
        /// Topic for messages that cannot be read.
        /// 存放无法读取的消息的主题。
        dead_letter: Option<String> = topic_name().unset("(the topic's name plus \".dead-letter\")");
    }
}

settings! {
    struct SaslKeys {
        /// SASL mechanism to sign in with.
        /// 登录使用的 SASL 机制。
        sasl: Option<Mechanism> = choice().unset("(none)");
        /// User to sign in as.
        /// 登录用户名。
        username: Option<String> = text().unset("(none)");
        /// Password of the user.
        /// 用户的密码。
        password: Option<Secret> = secret().unset("(none)");
    }
}

pub(super) fn read(reader: &mut Reader<'_>) -> Option<Kafka> {
    let Brokers { brokers } = Brokers::read(reader);
    if !reader.is_mentioned(SECTION) {
        return None;
    }
    if !IS_BUILT {
        let hint = "build with `--features kafka`, use the image, or remove the section";
        let what = format!("[{SECTION}] cannot be used: {}", Error::NotBuilt);
        let place = reader.first_place(|path| path.is_within(SECTION));
        reader.push(Severity::Error, (what, place), hint);
        return None;
    }
    if !reader.is_given(SECTION, &["brokers"]) {
        let hint = "write brokers = [\"kafka.example.org:9092\"]";
        reader.half(SECTION, "brokers", hint);
    }
    let keys = ConsumerKeys::read_in(reader, SECTION);
    let reading = reading(reader, SECTION, MAPPING);
    let connection = Connection {
        brokers: brokers.unwrap_or_default(),
        tls: tls(reader, SECTION),
        sasl: sasl(reader),
        confirm_within: CONFIRM_WITHIN,
    };
    check_password_is_safe(reader, &connection);
    Some(Kafka {
        consumer: consumer(reader, &connection, keys, reading),
        connection,
    })
}

fn consumer(
    reader: &mut Reader<'_>,
    connection: &Connection,
    keys: ConsumerKeys,
    reading: Option<Reading>,
) -> Option<Settings> {
    let topic = keys.topic?;
    let dead_letter = keys.dead_letter;
    let dead_letter = dead_letter.unwrap_or_else(|| format!("{topic}.dead-letter"));
    if dead_letter == topic {
        let what = "dead letters must not go to the topic that is read";
        let hint = "name another topic, or leave the key out";
        let path = KeyPath::plain(SECTION, "dead_letter");
        return reader.complain(&path, Problem::new(what, hint));
    }
    Some(Settings {
        connection: connection.clone(),
        topic,
        group: keys.group,
        dead_letter,
        silence: SILENCE,
        reading: reading?,
    })
}

fn topic_name() -> Form<String> {
    name("the name of a topic", TOPIC_BYTES_MAX, in_topic)
}

fn in_topic(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-".contains(c)
}

fn broker(text: &str) -> Read<String> {
    let port = text.rsplit_once(':').and_then(|(host, port)| {
        let plain = !host.is_empty() && !host.contains(['/', '@', ' ']);
        port.parse::<u16>().ok().filter(|_| plain)
    });
    if port.is_some() {
        return Ok(text.to_owned());
    }
    let shown = text.rsplit('@').next().unwrap_or_default();
    let hint = "write host and port, like \"kafka.example.org:9092\"";
    Err(Problem::new(format!("`{shown}` is not a broker"), hint))
}

fn sasl(reader: &mut Reader<'_>) -> Option<Sasl> {
    let read = SaslKeys::read_in(reader, SECTION);
    let names = ["sasl", "username", "password"];
    let missing = names
        .into_iter()
        .find(|name| !reader.is_given(SECTION, &[name]));
    if let Some(missing) = missing.filter(|_| reader.is_given(SECTION, &names)) {
        let hint = "set all three: sasl = \"scram-sha-512\", username and password";
        reader.half(SECTION, missing, hint);
    }
    Some(Sasl {
        mechanism: read.sasl?,
        username: read.username?,
        password: read.password?,
    })
}

/// `plain` without TLS sends a readable password.
fn check_password_is_safe(reader: &mut Reader<'_>, connection: &Connection) {
    let is_plain = |sasl: &Sasl| sasl.mechanism == Mechanism::Plain;
    if connection.tls.is_none() && connection.sasl.as_ref().is_some_and(is_plain) {
        let what = "events.kafka.sasl: \"plain\" without TLS sends the password unencrypted";
        let hint = "write tls = true, or use \"scram-sha-512\"";
        reader.warn(what, (SECTION, "sasl"), hint);
    }
}
