//! `[events.nats]`

use almanack_bus::nats::{ACK_WITHIN, Connection, Login, Settings, covers};

use super::{
    super::super::{
        key::KeyPath,
        reader::Reader,
        secret::{has_password, without_password},
        value::{self, Complaint, Read},
    },
    half, is_mentioned, name, reading, tls,
};

const SECTION: &str = "events.nats";
const MAPPING: &str = "events.nats.mapping";

/// A server, and what is read there.
#[derive(Debug, Clone)]
pub(crate) struct Nats {
    /// How it is reached.
    pub(crate) connection: Connection,
    /// What is read; a server may be there for happenings alone.
    pub(crate) consumer: Option<Settings>,
}

pub(super) fn read(reader: &mut Reader<'_>) -> Option<Nats> {
    let key = |name| KeyPath::plain(SECTION, name);
    let servers = reader.optional(&key("servers"), "(none)", value::texts(server));
    if !is_mentioned(reader, SECTION) {
        return None;
    }
    if reader.place(&key("servers")).is_none() {
        half(
            reader,
            SECTION,
            "servers",
            "write servers = [\"nats://nats.example.org:4222\"]",
        );
    }
    let consumer = read_consumer(reader);
    let connection = Connection {
        servers: servers.unwrap_or_default(),
        tls: tls(reader, SECTION),
        login: login(reader),
    };
    let consumer = consumer.map(|read| Settings {
        connection: connection.clone(),
        ..read
    });
    Some(Nats {
        connection,
        consumer,
    })
}

fn read_consumer(reader: &mut Reader<'_>) -> Option<Settings> {
    let key = |name| KeyPath::plain(SECTION, name);
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let stream = name("the name of a stream", 200, plain);
    let stream = reader.optional(&key("stream"), "(none; no events are read)", stream);
    let subject = || name("a subject", 200, |c| !c.is_control() && !c.is_whitespace());
    let all = reader.value(&key("subject"), ">".to_owned(), subject());
    let durable = name("the name of a consumer", 200, plain);
    let durable = reader.value(&key("durable"), "almanack".to_owned(), durable);
    let reading = reading(reader, SECTION, MAPPING);
    let usual = "(\"dead-letter.\" and the stream's name)";
    let dead_letter = reader.optional(&key("dead_letter"), usual, subject());
    let stream = stream?;
    let dead_letter = dead_letter.unwrap_or_else(|| format!("dead-letter.{stream}"));
    if all != ">" && covers(&all, &dead_letter) {
        let what = format!("`{all}` would bring dead letters back to where they came from");
        let hint = "name a subject for dead letters that the consumer does not read";
        return reader.complain(&key("dead_letter"), Complaint::new(what, hint));
    }
    Some(Settings {
        connection: Connection::default(),
        stream,
        subject: all,
        durable,
        dead_letter,
        ack_within: ACK_WITHIN,
        reading: reading?,
    })
}

fn server(text: &str) -> Read<String> {
    let hint = "write \"nats://nats.example.org:4222\"";
    if has_password(text) || text.contains('@') {
        let what = format!("`{}` holds who signs in", without_password(text));
        let hint = "use token, credentials, or username and password, and say where they are kept";
        return Err(Complaint::new(what, hint));
    }
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let scheme = text.split_once("://").map_or("nats", |(scheme, _)| scheme);
    let plain = !rest.is_empty() && !rest.contains(['/', ' ']);
    if plain && matches!(scheme, "nats" | "tls") {
        return Ok(text.to_owned());
    }
    Err(Complaint::new(
        format!("`{text}` is not a NATS server"),
        hint,
    ))
}

fn login(reader: &mut Reader<'_>) -> Login {
    let key = |name| KeyPath::plain(SECTION, name);
    let credentials = reader.secret(&key("credentials"), "(none)");
    let token = reader.secret(&key("token"), "(none)");
    let username = reader.optional(&key("username"), "(none)", value::text);
    let password = reader.secret(&key("password"), "(none)");
    let given = |name| reader.place(&key(name)).is_some();
    let ways = ["credentials", "token", "username"];
    let many = ways.into_iter().filter(|name| given(name)).count();
    let missing = match (given("username"), given("password")) {
        (true, false) => Some("password"),
        (false, true) => Some("username"),
        _ => None,
    };
    if let Some(missing) = missing {
        half(
            reader,
            SECTION,
            missing,
            "a name and a password go together",
        );
    }
    if many > 1 {
        let what = "there is more than one way to sign in";
        let hint = "keep one of credentials, token, and username with password";
        let first = ways
            .into_iter()
            .find(|name| reader.place(&key(name)).is_some());
        reader.complain::<()>(&key(first.unwrap_or("token")), Complaint::new(what, hint));
    }
    match (credentials, token, username, password) {
        (Some(credentials), ..) => Login::Credentials(credentials),
        (None, Some(token), ..) => Login::Token(token),
        (None, None, Some(username), Some(password)) => Login::Password { username, password },
        _ => Login::Nobody,
    }
}
