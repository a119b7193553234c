//! `[edition.mail]`: editions as a newsletter (ED-43).

use almanack_adapters::{
    alert::mail::Security, newsletter::smtp::SmtpSettings, signature::SigningKey,
};
use almanack_core::edition::{EditionName, delivery::OnUnknown};

use super::super::{
    alerts::{is_loopback, mail_text},
    calls::signing_key,
    prelude::*,
};

sections! { MailKeys }

settings! {
    /// Sends editions to subscribers by mail.
    struct MailKeys in "edition.mail" {
        /// Mail server.
        /// 邮件服务器。
        host: Option<String> = text().unset("(none)");
        /// Encryption: `starttls`, `tls`, or `none` for a server on this machine.
        /// 加密方式：`starttls`、`tls`，本机服务器可用 `none`。
        tls: Security = choice().default(Security::Starttls);
        /// Port of the mail server.
        /// 邮件服务器的端口。
        port: u16 = count(1..=65_535).default(Security::Starttls.port())
            .depends("the usual port of `tls`") => |_| tls.port();
        /// User to sign in as.
        /// 登录用户名。
        user: Option<String> = text().unset("(no sign-in)");
        /// Password of the user.
        /// 用户的密码。
        password: Option<Secret> = secret().unset("(none)");
        /// Sender, like `The Daily <daily@site.example>`.
        /// 发件人，如 `The Daily <daily@site.example>`。
        from: Option<String> = text_as(mail_text).unset("(none)");
        /// Address that replies go to.
        /// 回复地址。
        reply_to: Option<String> = text_as(mail_text).unset("(the sender)");
        /// Key that signs the links to confirm and to unsubscribe, the same on all nodes.
        /// 为确认和退订链接签名的密钥，所有节点必须相同。
        secret: Option<SigningKey> = signing_key().unset("(none)");
        /// Messages per minute.
        /// 每分钟发送的邮件数。
        pace: u32 = count(1..=60_000).default(120);
        /// How long the mail server may take for one message.
        /// 邮件服务器处理一封邮件的时间上限。
        timeout: SignedDuration = duration(seconds(1), minutes(10)).default(seconds(60));
        /// When it is unknown whether a message was sent: `skip` it, or `repeat` it.
        /// 不确定邮件是否已发送时：`skip` 跳过，或 `repeat` 重发。
        on_unknown: OnUnknown = choice().default(OnUnknown::Skip);
        /// Refusals in a row after which an address gets no more mail.
        /// 连续被拒收多少次后不再向该地址发送。
        bounces: u32 = count(1..=100).default(3);
        /// Let anyone subscribe at `/editions/subscribe`, or `/editions/NAME/subscribe` of a named edition; the address is confirmed by mail.
        /// 允许任何人在 `/editions/subscribe`（有名称的日报在 `/editions/NAME/subscribe`）订阅；地址需通过邮件确认。
        subscribe: bool = truth().default(true);
        /// Line at the end of every mail, such as your name and postal address.
        /// 每封邮件末尾的一行文字，如名称和通信地址。
        footer: Option<String> = text().unset("(none)");
    }
}

/// How editions are mailed.
#[derive(Debug, Clone)]
pub(crate) struct Newsletter {
    pub(crate) smtp: SmtpSettings,
    pub(crate) key: SigningKey,
    pub(crate) pace: u32,
    pub(crate) timeout: SignedDuration,
    pub(crate) on_unknown: OnUnknown,
    pub(crate) bounces: u32,
    pub(crate) subscribe: bool,
    pub(crate) footer: Option<String>,
}

pub(super) fn read(reader: &mut Reader<'_>, name: EditionName) -> Option<Newsletter> {
    const MAIL: &str = MailKeys::NAME;
    let read = MailKeys::read(reader);
    if !reader.is_mentioned(MAIL) {
        return None;
    }
    check_is_whole(reader);
    let host = read.host?;
    if read.tls == Security::None && !is_loopback(&host) {
        let hint = "write \"starttls\" or \"tls\"; without TLS, mail can be read on its way";
        let what = "mail without TLS is allowed only to a server on this machine";
        reader.complain::<()>(&KeyPath::plain(MAIL, "tls"), Problem::new(what, hint));
    }
    Some(Newsletter {
        smtp: SmtpSettings {
            host,
            port: read.port,
            security: read.tls,
            login: read.user.zip(read.password),
            from: read.from?,
            reply_to: read.reply_to,
            list: name.to_string(),
            timeout: read.timeout.unsigned_abs(),
        },
        key: read.secret?,
        pace: read.pace,
        timeout: read.timeout,
        on_unknown: read.on_unknown,
        bounces: read.bounces,
        subscribe: read.subscribe,
        footer: read.footer,
    })
}

fn check_is_whole(reader: &mut Reader<'_>) {
    const MAIL: &str = MailKeys::NAME;
    for (name, what, hint) in [
        ("host", "the server", "set edition.mail.host"),
        ("from", "the sender", "set edition.mail.from"),
        (
            "secret",
            "the key that signs links",
            "create one: echo whsec_$(openssl rand -base64 32)",
        ),
    ] {
        if !reader.is_given(MAIL, &[name]) {
            reader.half(MAIL, what, hint);
        }
    }
    for (given, name) in [("user", "password"), ("password", "user")] {
        let hint = format!("set edition.mail.{name}");
        reader.needs(MAIL, &[given], (name, name, &hint));
    }
    if !reader.is_given("server", &["public_url"]) {
        let hint = "set server.public_url, like \"https://news.example.org\"";
        reader.half(
            MAIL,
            "the address of this server, which links in mail need,",
            hint,
        );
    }
}
