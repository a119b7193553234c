//! The channels of `[alerts]`, a section each. A channel is there as soon as it is configured, and half of one is a mistake: an alert that
//! silently goes nowhere is found out on the worst day.

use std::{collections::BTreeSet, net::IpAddr, path::Path};

use almanack_adapters::{
    alert::mail::{self, Security},
    bearer::Bearer,
    signature::SigningKey,
    telegram::{API_URL, BotToken},
};
use almanack_core::{
    alert::{Rule, Severity},
    secret::Secret,
};
use jiff::SignedDuration;

use super::{
    super::{
        super::{
            key::KeyPath,
            layer::Raw,
            reader::{Reader, Show},
            value::{self, Complaint, Read},
        },
        edition::{address, bot_token, half, is_given},
        seconds, signing_key,
    },
    secret_address,
};
use crate::suggest;

const WEBHOOK: &str = "alerts.webhook";
const TELEGRAM: &str = "alerts.telegram";
const SMTP: &str = "alerts.smtp";
const NTFY: &str = "alerts.ntfy";
const SLACK: &str = "alerts.slack";
const EXEC: &str = "alerts.exec";
/// Rules of editions, which tell by the same channels.
const OF_EDITIONS: [&str; 5] = [
    "overdue",
    "unfinished",
    "empty",
    "spendthrift",
    "destination",
];

/// A way to be told, and what is told by it.
#[derive(Debug, Clone)]
pub(crate) struct AlertChannel {
    /// Its name: that of its section.
    pub(crate) name: &'static str,
    /// How people are reached.
    pub(crate) way: AlertWay,
    /// Only by these rules; all when empty.
    pub(crate) rules: BTreeSet<String>,
    /// Only what matters at least so much.
    pub(crate) severity: Option<Severity>,
}

/// How people are reached.
#[derive(Debug, Clone)]
pub(crate) enum AlertWay {
    /// A program that listens.
    Webhook {
        url: String,
        key: Option<SigningKey>,
    },
    /// People in a chat.
    Telegram {
        token: BotToken,
        chat: String,
        api_url: String,
    },
    /// People who read mail.
    Smtp {
        host: String,
        port: u16,
        security: Security,
        login: Option<(String, Secret)>,
        from: String,
        to: Vec<String>,
    },
    /// Phones.
    Ntfy { url: String, token: Option<Bearer> },
    /// People in a channel of Slack, or of what understands the same.
    Slack { url: Secret },
    /// A program of this machine.
    Exec {
        argv: Vec<String>,
        timeout: SignedDuration,
    },
}

/// All that are configured, in the order of the reference.
pub(super) fn read_all(reader: &mut Reader<'_>) -> Vec<AlertChannel> {
    type Way = fn(&mut Reader<'_>) -> Option<AlertWay>;
    let ways: [(&'static str, &'static str, Way); 6] = [
        ("webhook", WEBHOOK, webhook),
        ("telegram", TELEGRAM, telegram),
        ("smtp", SMTP, smtp),
        ("ntfy", NTFY, ntfy),
        ("slack", SLACK, slack),
        ("exec", EXEC, exec),
    ];
    let mut channels = Vec::new();
    for (name, section, way) in ways {
        // Nobody wants to read of channels that nobody has.
        if !reader.layer.keys().any(|path| path.section == section) {
            continue;
        }
        let way = way(reader);
        let key = |name| KeyPath::plain(section, name);
        let rules = reader.value(&key("rules"), Vec::new(), value::texts(rule));
        let severity = reader
            .value(&key("severity"), Least(Severity::Warning), severity)
            .0;
        channels.extend(way.map(|way| AlertChannel {
            name,
            way,
            rules: rules.into_iter().collect(),
            severity: Some(severity),
        }));
    }
    channels
}

#[derive(Clone, Copy)]
struct Least(Severity);

impl Show for Least {
    fn show(&self) -> String {
        format!("\"{}\"", self.0.as_str())
    }
}

fn severity(raw: &Raw) -> Read<Least> {
    const WORDS: &[(&str, Least)] = &[
        ("warning", Least(Severity::Warning)),
        ("critical", Least(Severity::Critical)),
    ];
    value::choice(WORDS)(raw)
}

fn rule(text: &str) -> Read<String> {
    let names = || Rule::ALL.into_iter().map(Rule::as_str).chain(OF_EDITIONS);
    if names().any(|name| name == text) {
        return Ok(text.to_owned());
    }
    let hint = suggest::nearest(text, names()).map_or_else(
        || format!("write some of: {}", names().collect::<Vec<_>>().join(", ")),
        |near| format!("did you mean \"{near}\"?"),
    );
    Err(Complaint::new(
        format!("`{text}` is not a rule of alerts"),
        hint,
    ))
}

fn webhook(reader: &mut Reader<'_>) -> Option<AlertWay> {
    let key = |name| KeyPath::plain(WEBHOOK, name);
    let url = reader.optional(&key("url"), "(none)", address);
    let signed = signing_key(reader, &key("secret"), "(calls are not signed)");
    if !is_given(reader, WEBHOOK, &["url"]) && is_given(reader, WEBHOOK, &["secret"]) {
        half(reader, WEBHOOK, "the address", "set alerts.webhook.url");
    }
    Some(AlertWay::Webhook {
        url: url?,
        key: signed,
    })
}

fn telegram(reader: &mut Reader<'_>) -> Option<AlertWay> {
    let key = |name| KeyPath::plain(TELEGRAM, name);
    let token = bot_token(reader, &key("token"), "(none)");
    let chat = reader.optional(&key("chat"), "(none)", value::text);
    let api_url = reader.value(&key("api_url"), API_URL.to_owned(), address);
    let given = |name| is_given(reader, TELEGRAM, &[name]);
    match (given("token"), given("chat")) {
        (true, false) => half(
            reader,
            TELEGRAM,
            "the chat",
            "set alerts.telegram.chat to \"@channel\" or the chat's number",
        ),
        (false, true) => half(
            reader,
            TELEGRAM,
            "the bot's token",
            "set alerts.telegram.token to where it is kept",
        ),
        _ => {}
    }
    Some(AlertWay::Telegram {
        token: token?,
        chat: chat?,
        api_url,
    })
}

fn smtp(reader: &mut Reader<'_>) -> Option<AlertWay> {
    let key = |name| KeyPath::plain(SMTP, name);
    let host = reader.optional(&key("host"), "(none)", value::text);
    let security = reader.value(&key("tls"), Tls(Security::Starttls), tls).0;
    let usual = u32::from(security.port());
    let port: u32 = reader.value(&key("port"), usual, value::count(1..=65_535));
    let user = reader.optional(&key("user"), "(nobody signs in)", value::text);
    let password = reader.secret(&key("password"), "(none)");
    let from = reader.optional(&key("from"), "(none)", mail_address);
    let to = reader.value(&key("to"), Vec::new(), value::texts(mail_text));
    let given = |reader: &Reader<'_>, name| is_given(reader, SMTP, &[name]);
    let all = ["host", "from", "to", "user", "password"];
    if is_given(reader, SMTP, &all) {
        for (name, what) in [
            ("host", "the server"),
            ("from", "the sender"),
            ("to", "who gets it"),
        ] {
            if !given(reader, name) {
                half(reader, SMTP, what, &format!("set alerts.smtp.{name}"));
            }
        }
        let (named, kept) = (given(reader, "user"), given(reader, "password"));
        if named != kept {
            let missing = if named { "password" } else { "user" };
            half(reader, SMTP, missing, &format!("set alerts.smtp.{missing}"));
        }
    }
    let host = host?;
    if security == Security::None && !is_loopback(&host) {
        let hint = "write \"starttls\" or \"tls\"; without, everybody on the way reads along";
        let what = "mail without TLS is for a server on this machine";
        reader.complain::<()>(&key("tls"), Complaint::new(what, hint));
    }
    Some(AlertWay::Smtp {
        host,
        port: u16::try_from(port).ok()?,
        security,
        login: user.zip(password),
        from: from?,
        to: Some(to).filter(|to| !to.is_empty())?,
    })
}

#[derive(Clone, Copy)]
struct Tls(Security);

impl Show for Tls {
    fn show(&self) -> String {
        let word = match self.0 {
            Security::Starttls => "starttls",
            Security::Tls => "tls",
            Security::None => "none",
        };
        format!("\"{word}\"")
    }
}

fn tls(raw: &Raw) -> Read<Tls> {
    const WORDS: &[(&str, Tls)] = &[
        ("starttls", Tls(Security::Starttls)),
        ("tls", Tls(Security::Tls)),
        ("none", Tls(Security::None)),
    ];
    value::choice(WORDS)(raw)
}

fn is_loopback(host: &str) -> bool {
    let address = host.parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn mail_address(raw: &Raw) -> Read<String> {
    mail_text(&value::text(raw)?)
}

fn mail_text(text: &str) -> Read<String> {
    match mail::parse_address(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(error) => Err(Complaint::new(
            error.to_string(),
            "for example \"ops@site.example\" or \"Almanack <almanack@site.example>\"",
        )),
    }
}

fn ntfy(reader: &mut Reader<'_>) -> Option<AlertWay> {
    let key = |name| KeyPath::plain(NTFY, name);
    let url = reader.optional(&key("url"), "(none)", topic);
    let token = reader.secret(&key("token"), "(none)");
    if !is_given(reader, NTFY, &["url"]) && is_given(reader, NTFY, &["token"]) {
        half(
            reader,
            NTFY,
            "the address",
            "set alerts.ntfy.url, topic included",
        );
    }
    let bearer = token.as_ref().and_then(|token| Bearer::new(token.expose()));
    if token.is_some() && bearer.is_none() {
        let hint = "ntfy's tokens begin with tk_";
        reader.complain::<()>(&key("token"), Complaint::new("this is no token", hint));
    }
    Some(AlertWay::Ntfy {
        url: url?,
        token: bearer,
    })
}

fn topic(raw: &Raw) -> Read<String> {
    let url = value::web_address(raw)?;
    let segments = url
        .path_segments()
        .map(|parts| parts.filter(|part| !part.is_empty()));
    if segments.is_some_and(|mut parts| parts.next().is_some()) && url.query().is_none() {
        return Ok(url.to_string());
    }
    Err(Complaint::new(
        "the address names no topic",
        "for example \"https://ntfy.sh/my-topic\"",
    ))
}

fn slack(reader: &mut Reader<'_>) -> Option<AlertWay> {
    let path = KeyPath::plain(SLACK, "url");
    let url = secret_address(reader, &path, "(none)")?;
    Some(AlertWay::Slack { url })
}

fn exec(reader: &mut Reader<'_>) -> Option<AlertWay> {
    let key = |name| KeyPath::plain(EXEC, name);
    let path = key("command");
    let argv = reader.value(&path, Vec::new(), value::texts(|text| Ok(text.to_owned())));
    let timeout = reader.value(
        &key("timeout"),
        SignedDuration::from_secs(20),
        value::duration(seconds(1..=60)),
    );
    let program = argv.first()?;
    if !Path::new(program).is_absolute() {
        let hint = "for example [\"/usr/local/bin/page\", \"--urgent\"]";
        let what = format!("`{program}` is not the full path of a program");
        return reader.complain(&path, Complaint::new(what, hint));
    }
    Some(AlertWay::Exec { argv, timeout })
}
