//! The channels of `[alerts]`, a section each. A channel is on as soon as it is configured. A
//! half-configured channel is an error: otherwise alerts would silently go nowhere.

use std::{collections::BTreeMap, net::IpAddr, path::Path, time::Duration};

use almanack_adapters::{
    alert::{
        Channel, Wants, Way,
        exec::Program,
        mail::{self, MailSettings, Security},
    },
    bearer::Bearer,
    signature::SigningKey,
    telegram::{API_URL, BotSettings, BotToken},
};
use almanack_core::alert::{Rule, Severity};

use super::{
    super::{calls::signing_key, edition::bot_token, prelude::*},
    secret_address,
};
use crate::suggest;

sections! { Webhook, Telegram, Smtp, Ntfy, Slack, Exec }

/// How long a channel may take to answer.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

settings! {
    struct Filter {
        /// Send only alerts of these rules; an empty list sends all.
        /// 仅发送这些规则的告警；列表为空则全部发送。
        rules: Vec<String> = words_of(rules(), rule).default(Vec::new()).reloadable();
        /// Send only alerts of at least this severity.
        /// 仅发送达到此严重程度的告警。
        severity: Severity = choice().default(Severity::Warning).reloadable();
    }
}

/// All that are configured, in the order of the reference.
pub(super) fn read_all(reader: &mut Reader<'_>) -> Vec<Channel> {
    type ReadWay = fn(&mut Reader<'_>) -> Option<Way>;
    let ways: [(&'static str, ReadWay); 6] = [
        (Webhook::NAME, webhook),
        (Telegram::NAME, telegram),
        (Smtp::NAME, smtp),
        (Ntfy::NAME, ntfy),
        (Slack::NAME, slack),
        (Exec::NAME, exec),
    ];
    let mut channels = Vec::new();
    for (section, way) in ways {
        // The report does not list channels that are not configured.
        if !reader.is_mentioned(section) {
            continue;
        }
        let way = way(reader);
        let filter = Filter::read_in(reader, section);
        channels.extend(way.map(|way| Channel {
            name: section.trim_start_matches("alerts.").to_owned(),
            way,
            wants: Wants {
                rules: filter.rules.into_iter().collect(),
                severity: Some(filter.severity),
            },
        }));
    }
    channels
}

fn rules() -> impl Iterator<Item = &'static str> {
    Rule::ALL.into_iter().map(Rule::as_str)
}

fn rule(text: &str) -> Read<String> {
    if rules().any(|name| name == text) {
        return Ok(text.to_owned());
    }
    let hint = suggest::nearest(text, rules()).map_or_else(
        || format!("write some of: {}", rules().collect::<Vec<_>>().join(", ")),
        |near| format!("did you mean \"{near}\"?"),
    );
    Err(Problem::new(format!("`{text}` is not an alert rule"), hint))
}

settings! {
    /// Alerts to a web address.
    struct Webhook in "alerts.webhook" + Filter {
        /// Web address that receives alerts as JSON.
        /// 以 JSON 接收告警的网址。
        url: Option<String> = address().unset("(none)").reloadable();
        /// Key that signs calls.
        /// 为调用签名的密钥。
        secret: Option<SigningKey> = signing_key().unset("(calls are not signed)").reloadable();
    }
}

fn webhook(reader: &mut Reader<'_>) -> Option<Way> {
    let Webhook { url, secret } = Webhook::read(reader);
    let url_is_missing = ("url", "the address", "set alerts.webhook.url");
    reader.needs(Webhook::NAME, &["secret"], url_is_missing);
    Some(Way::Webhook {
        url: url?,
        key: secret,
    })
}

settings! {
    /// Alerts to a Telegram chat.
    struct Telegram in "alerts.telegram" + Filter {
        /// Token of the bot that sends alerts.
        /// 发送告警的机器人令牌。
        token: Option<BotToken> = bot_token().unset("(none)").reloadable();
        /// Chat to send to: `@channel` or its number.
        /// 接收的会话：`@channel` 或其编号。
        chat: Option<String> = text().unset("(none)").reloadable();
        /// Base address of the Telegram API.
        /// Telegram API 的基础地址。
        api_url: String = address().default(API_URL.to_owned()).reloadable();
    }
}

fn telegram(reader: &mut Reader<'_>) -> Option<Way> {
    let read = Telegram::read(reader);
    let hint = "set alerts.telegram.chat to \"@channel\" or the chat's number";
    reader.needs(Telegram::NAME, &["token"], ("chat", "the chat", hint));
    let hint = "set alerts.telegram.token, like token = \"env:NAME\"";
    reader.needs(
        Telegram::NAME,
        &["chat"],
        ("token", "the bot's token", hint),
    );
    Some(Way::Telegram(BotSettings {
        token: read.token?,
        chat: read.chat?,
        api_url: read.api_url,
        timeout: TIMEOUT,
    }))
}

words! {
    Security { "starttls" = Self::Starttls, "tls" = Self::Tls, "none" = Self::None }
}

settings! {
    /// Alerts by mail.
    struct Smtp in "alerts.smtp" + Filter {
        /// Mail server.
        /// 邮件服务器。
        host: Option<String> = text().unset("(none)").reloadable();
        /// Encryption: `starttls`, `tls`, or `none` for a server on this machine.
        /// 加密方式：`starttls`、`tls`，本机服务器可用 `none`。
        tls: Security = choice().default(Security::Starttls).reloadable();
        /// Port of the mail server.
        /// 邮件服务器的端口。
        port: u16 = count(1..=65_535).default(Security::Starttls.port())
            .depends("the usual port of `tls`").reloadable() => |_| tls.port();
        /// User to sign in as.
        /// 登录用户名。
        user: Option<String> = text().unset("(no sign-in)").reloadable();
        /// Password of the user.
        /// 用户的密码。
        password: Option<Secret> = secret().unset("(none)").reloadable();
        /// Sender, like `Almanack <almanack@site.example>`.
        /// 发件人，如 `Almanack <almanack@site.example>`。
        from: Option<String> = text_as(mail_text).unset("(none)").reloadable();
        /// Recipients.
        /// 收件人。
        to: Vec<String> = texts(mail_text).default(Vec::new()).reloadable();
    }
}

fn smtp(reader: &mut Reader<'_>) -> Option<Way> {
    let read = Smtp::read(reader);
    check_smtp_is_whole(reader);
    let host = read.host?;
    if read.tls == Security::None && !is_loopback(&host) {
        let hint = "write \"starttls\" or \"tls\"; without TLS, mail can be read on its way";
        let what = "mail without TLS is allowed only to a server on this machine";
        reader.complain::<()>(&KeyPath::plain(Smtp::NAME, "tls"), Problem::new(what, hint));
    }
    Some(Way::Mail(MailSettings {
        host,
        port: read.port,
        security: read.tls,
        login: read.user.zip(read.password),
        from: read.from?,
        to: Some(read.to).filter(|to| !to.is_empty())?,
    }))
}

fn check_smtp_is_whole(reader: &mut Reader<'_>) {
    let any = &["host", "from", "to", "user", "password"][..];
    for (given, name, what) in [
        (any, "host", "the server"),
        (any, "from", "the sender"),
        (any, "to", "the recipients"),
        (&["user"], "password", "password"),
        (&["password"], "user", "user"),
    ] {
        let hint = format!("set alerts.smtp.{name}");
        reader.needs(Smtp::NAME, given, (name, what, &hint));
    }
}

pub(in super::super) fn is_loopback(host: &str) -> bool {
    let address = host.parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

pub(in super::super) fn mail_text(text: &str) -> Read<String> {
    match mail::parse_address(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(error) => Err(Problem::new(
            error.to_string(),
            "for example \"ops@site.example\" or \"Almanack <almanack@site.example>\"",
        )),
    }
}

settings! {
    /// Alerts by ntfy.
    struct Ntfy in "alerts.ntfy" + Filter {
        /// Address of the ntfy topic, like `https://ntfy.sh/my-topic`.
        /// ntfy 主题的地址，如 `https://ntfy.sh/my-topic`。
        url: Option<String> = Form::new(Shape::Address, topic).unset("(none)").reloadable();
        /// Access token of the ntfy server.
        /// ntfy 服务器的访问令牌。
        token: Option<Bearer> = kept(|token| {
            let refused = || Problem::new("this is not a token", "tokens of ntfy start with tk_");
            Bearer::new(token).ok_or_else(refused)
        }).unset("(none)").reloadable();
    }
}

fn ntfy(reader: &mut Reader<'_>) -> Option<Way> {
    let Ntfy { url, token } = Ntfy::read(reader);
    let url_is_missing = ("url", "the address", "set alerts.ntfy.url, topic included");
    reader.needs(Ntfy::NAME, &["token"], url_is_missing);
    Some(Way::Ntfy { url: url?, token })
}

fn topic(raw: &Raw) -> Read<String> {
    let url = value::web_address(raw)?;
    let segments = url
        .path_segments()
        .map(|parts| parts.filter(|part| !part.is_empty()));
    if segments.is_some_and(|mut parts| parts.next().is_some()) && url.query().is_none() {
        return Ok(url.to_string());
    }
    Err(Problem::new(
        "the address contains no topic",
        "for example \"https://ntfy.sh/my-topic\"",
    ))
}

settings! {
    /// Alerts to Slack.
    struct Slack in "alerts.slack" + Filter {
        /// Incoming webhook of Slack, or of a service that accepts the same.
        /// Slack 的 Incoming Webhook，或兼容的服务。
        url: Option<Secret> = secret_address().unset("(none)").reloadable();
    }
}

fn slack(reader: &mut Reader<'_>) -> Option<Way> {
    let url = Slack::read(reader).url?;
    Some(Way::Slack { url })
}

settings! {
    /// Alerts by a program on this machine.
    struct Exec in "alerts.exec" + Filter {
        /// Program to run for each alert, by full path, and its arguments.
        /// 每次告警运行的程序（完整路径）及其参数。
        command: Vec<String> =
            texts(|text| Ok(text.to_owned())).default(Vec::new()).reloadable();
        /// How long the program may take.
        /// 程序的超时时间。
        timeout: SignedDuration =
            duration(seconds(1), minutes(1)).default(seconds(20)).reloadable();
    }
}

fn exec(reader: &mut Reader<'_>) -> Option<Way> {
    let read = Exec::read(reader);
    let program = read.command.first()?;
    if !Path::new(program).is_absolute() {
        let hint = "for example [\"/usr/local/bin/page\", \"--urgent\"]";
        let what = format!("`{program}` is not the full path of a program");
        let path = KeyPath::plain(Exec::NAME, "command");
        return reader.complain(&path, Problem::new(what, hint));
    }
    Some(Way::Exec(Program {
        timeout: read.timeout.unsigned_abs(),
        argv: read.command,
        // Set where the settings of commands are known.
        environment: BTreeMap::new(),
        directory: PathBuf::new(),
    }))
}
