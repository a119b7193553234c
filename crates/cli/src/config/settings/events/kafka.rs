//! `[events.kafka]`

use almanack_bus::{
    Error,
    kafka::{CONFIRM_WITHIN, Connection, IS_BUILT, Mechanism, SILENCE, Sasl, Settings},
};

use super::{
    super::super::{
        key::KeyPath,
        reader::{Reader, Show},
        report::Problem,
        value::{self, Complaint, Read},
    },
    first_place, half, is_mentioned, name, reading, tls,
};

const SECTION: &str = "events.kafka";
const MAPPING: &str = "events.kafka.mapping";
/// The longest name of a topic that brokers accept.
const TOPIC_BYTES_MAX: usize = 249;

/// A cluster, and what is read there.
#[derive(Debug, Clone)]
pub(crate) struct Kafka {
    /// How it is reached.
    pub(crate) connection: Connection,
    /// What is read; a cluster may be there for happenings alone.
    pub(crate) consumer: Option<Settings>,
}

impl Show for Mechanism {
    fn show(&self) -> String {
        let name = match self {
            Self::Plain => "\"plain\"",
            Self::ScramSha256 => "\"scram-sha-256\"",
            Self::ScramSha512 => "\"scram-sha-512\"",
        };
        name.to_owned()
    }
}

pub(super) fn read(reader: &mut Reader<'_>) -> Option<Kafka> {
    let key = |name| KeyPath::plain(SECTION, name);
    let brokers = reader.optional(&key("brokers"), "(none)", value::texts(broker));
    if !is_mentioned(reader, SECTION) {
        return None;
    }
    if !IS_BUILT {
        let hint = "build it with `--features kafka`, use the image, or take the section out";
        let what = format!("[{SECTION}] cannot be used: {}", Error::NotBuilt);
        let place = first_place(reader, SECTION);
        reader.problems.push(Problem::error(what, place).hint(hint));
        return None;
    }
    if reader.place(&key("brokers")).is_none() {
        half(
            reader,
            SECTION,
            "brokers",
            "write brokers = [\"kafka.example.org:9092\"]",
        );
    }
    let consumer = read_consumer(reader);
    let connection = Connection {
        brokers: brokers.unwrap_or_default(),
        tls: tls(reader, SECTION),
        sasl: sasl(reader),
        confirm_within: CONFIRM_WITHIN,
    };
    check_password_is_safe(reader, &connection);
    let consumer = consumer.map(|(topic, group, dead_letter, reading)| Settings {
        connection: connection.clone(),
        topic,
        group,
        dead_letter,
        silence: SILENCE,
        reading,
    });
    Some(Kafka {
        connection,
        consumer,
    })
}

type Read4 = (
    String,
    String,
    String,
    almanack_core::event::incoming::Reading,
);

fn read_consumer(reader: &mut Reader<'_>) -> Option<Read4> {
    let key = |name| KeyPath::plain(SECTION, name);
    let topic_name = || name("the name of a topic", TOPIC_BYTES_MAX, in_topic);
    let topic = reader.optional(&key("topic"), "(none; no events are read)", topic_name());
    let group = name("the name of a group", 200, |c| {
        !c.is_control() && !c.is_whitespace()
    });
    let group = reader.value(&key("group"), "almanack".to_owned(), group);
    let reading = reading(reader, SECTION, MAPPING);
    let usual = "(the topic's name and \".dead-letter\")";
    let dead_letter = reader.optional(&key("dead_letter"), usual, topic_name());
    let topic = topic?;
    let dead_letter = dead_letter.unwrap_or_else(|| format!("{topic}.dead-letter"));
    if dead_letter == topic {
        let what = "dead letters must not go back to where they came from";
        let hint = "name another topic, or leave the key out";
        return reader.complain(&key("dead_letter"), Complaint::new(what, hint));
    }
    Some((topic, group, dead_letter, reading?))
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
    Err(Complaint::new(format!("`{shown}` is not a broker"), hint))
}

fn sasl(reader: &mut Reader<'_>) -> Option<Sasl> {
    let key = |name| KeyPath::plain(SECTION, name);
    let mechanisms = &[
        ("plain", Mechanism::Plain),
        ("scram-sha-256", Mechanism::ScramSha256),
        ("scram-sha-512", Mechanism::ScramSha512),
    ];
    let mechanism = reader.optional(&key("sasl"), "(none)", value::choice(mechanisms));
    let username = reader.optional(&key("username"), "(none)", value::text);
    let password = reader.secret(&key("password"), "(none)");
    let given = |name| reader.place(&key(name)).is_some();
    let missing = match (given("sasl"), given("username"), given("password")) {
        (false, false, false) | (true, true, true) => None,
        (false, ..) => Some("sasl"),
        (_, false, _) => Some("username"),
        (.., false) => Some("password"),
    };
    if let Some(missing) = missing {
        let hint = "who signs in needs all three: sasl = \"scram-sha-512\", username and password";
        half(reader, SECTION, missing, hint);
    }
    Some(Sasl {
        mechanism: mechanism?,
        username: username?,
        password: password?,
    })
}

/// `plain` shows the password to everybody on the way.
fn check_password_is_safe(reader: &mut Reader<'_>, connection: &Connection) {
    let is_plain = |sasl: &Sasl| sasl.mechanism == Mechanism::Plain;
    if connection.tls.is_none() && connection.sasl.as_ref().is_some_and(is_plain) {
        let place = reader.place(&KeyPath::plain(SECTION, "sasl"));
        let what = "events.kafka.sasl: \"plain\" without TLS sends the password readable";
        let hint = "write tls = true, or use \"scram-sha-512\"";
        reader
            .problems
            .push(Problem::warning(what, place).hint(hint));
    }
}
