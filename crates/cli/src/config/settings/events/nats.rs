//! `[events.nats]`

use almanack_bus::nats::{ACK_WITHIN, Connection, Login, Settings, covers};
use almanack_core::event::incoming::envelope::Reading;

use super::{
    super::{
        super::secret::{has_password, without_password},
        prelude::*,
    },
    ReadingKeys, TlsKeys, name, reading, tls,
};

const SECTION: &str = Servers::NAME;
pub(super) const MAPPING: &str = "events.nats.mapping";

/// A server, and what to read there.
#[derive(Debug, Clone)]
pub(crate) struct Nats {
    /// How to connect.
    pub(crate) connection: Connection,
    /// What to read; none if the server only receives events.
    pub(crate) consumer: Option<Settings>,
}

settings! {
    /// A NATS server with JetStream that events come from and go to.
    pub(super) struct Servers in "events.nats" + ConsumerKeys + ReadingKeys + TlsKeys + LoginKeys {
        /// Servers to connect to, like `nats://nats.example.org:4222`.
        /// 连接的服务器，如 `nats://nats.example.org:4222`。
        servers: Option<Vec<String>> = texts(server).unset("(none)");
    }
}

settings! {
    struct ConsumerKeys {
        /// Stream to read events from.
        /// 读取事件的流。
        stream: Option<String> =
            name("the name of a stream", 200, is_plain).unset("(none; no events are read)");
        /// Subject to read in the stream; wildcards are allowed.
        /// 在流中读取的主题；可用通配符。
        subject: String = subject_name().default(">".to_owned());
        /// Name of the durable consumer.
        /// 持久消费者的名称。
        durable: String =
            name("the name of a consumer", 200, is_plain).default("almanack".to_owned());
        /// Subject for messages that cannot be read.
        /// 存放无法读取的消息的主题。
        dead_letter: Option<String> =
            subject_name().unset("(\"dead-letter.\" plus the stream's name)");
    }
}

settings! {
    struct LoginKeys {
        /// Credentials file of a user (JWT and seed).
        /// 用户凭证文件（JWT 和种子）。
        credentials: Option<Secret> = secret().unset("(none)");
        /// Token to sign in with.
        /// 登录令牌。
        token: Option<Secret> = secret().unset("(none)");
        /// User to sign in as.
        /// 登录用户名。
        username: Option<String> = text().unset("(none)");
        /// Password of the user.
        /// 用户的密码。
        password: Option<Secret> = secret().unset("(none)");
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-".contains(c)
}

fn subject_name() -> Form<String> {
    name("a subject", 200, |c| !c.is_control() && !c.is_whitespace())
}

pub(super) fn read(reader: &mut Reader<'_>) -> Option<Nats> {
    let Servers { servers } = Servers::read(reader);
    if !reader.is_mentioned(SECTION) {
        return None;
    }
    if !reader.is_given(SECTION, &["servers"]) {
        let hint = "write servers = [\"nats://nats.example.org:4222\"]";
        reader.half(SECTION, "servers", hint);
    }
    let keys = ConsumerKeys::read_in(reader, SECTION);
    let reading = reading(reader, SECTION, MAPPING);
    let connection = Connection {
        servers: servers.unwrap_or_default(),
        tls: tls(reader, SECTION),
        login: login(reader),
    };
    Some(Nats {
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
    let (stream, all) = (keys.stream?, keys.subject);
    let dead_letter = keys.dead_letter;
    let dead_letter = dead_letter.unwrap_or_else(|| format!("dead-letter.{stream}"));
    if all != ">" && covers(&all, &dead_letter) {
        let what = format!("`{all}` would read dead letters again");
        let hint = "set dead_letter to a subject that the consumer does not read";
        let path = KeyPath::plain(SECTION, "dead_letter");
        return reader.complain(&path, Problem::new(what, hint));
    }
    Some(Settings {
        connection: connection.clone(),
        stream,
        subject: all,
        durable: keys.durable,
        dead_letter,
        ack_within: ACK_WITHIN,
        reading: reading?,
    })
}

fn server(text: &str) -> Read<String> {
    let hint = "write \"nats://nats.example.org:4222\"";
    if has_password(text) || text.contains('@') {
        let what = format!("`{}` contains credentials", without_password(text));
        let hint = "remove them, and set token, credentials, or username and password";
        return Err(Problem::new(what, hint));
    }
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let scheme = text.split_once("://").map_or("nats", |(scheme, _)| scheme);
    let plain = !rest.is_empty() && !rest.contains(['/', ' ']);
    if plain && matches!(scheme, "nats" | "tls") {
        return Ok(text.to_owned());
    }
    Err(Problem::new(format!("`{text}` is not a NATS server"), hint))
}

fn login(reader: &mut Reader<'_>) -> Login {
    let read = LoginKeys::read_in(reader, SECTION);
    for (name, missing) in [("username", "password"), ("password", "username")] {
        let hint = "set username and password together";
        reader.needs(SECTION, &[name], (missing, missing, hint));
    }
    let ways = ["credentials", "token", "username"].into_iter();
    let ways: Vec<&str> = ways
        .filter(|way| reader.is_given(SECTION, &[way]))
        .collect();
    if let [first, _, ..] = ways[..] {
        let what = "more than one way to sign in is set";
        let hint = "keep one of credentials, token, and username with password";
        reader.complain::<()>(&KeyPath::plain(SECTION, first), Problem::new(what, hint));
    }
    match (
        read.credentials,
        read.token,
        read.username.zip(read.password),
    ) {
        (Some(credentials), ..) => Login::Credentials(credentials),
        (None, Some(token), _) => Login::Token(token),
        (None, None, Some((username, password))) => Login::Password { username, password },
        _ => Login::Anonymous,
    }
}
