//! `[callback]`, `[kinds.NAME]` and `[outbound]`: which services tasks call, and how.

use std::collections::BTreeMap;

use almanack_adapters::signature::SigningKey;
use almanack_core::{
    address::{IpNet, parse_net},
    callback::AlreadyDone,
    task::{Kind, MAX_RETRY_MAX},
};
use url::Url;

use super::{super::key::KINDS, prelude::*};

sections! { Callback, KindSettings, Outbound }

/// Longest contact.
const CONTACT_BYTES_MAX: usize = 200;

/// The key that calls are signed with.
pub(super) fn signing_key() -> Form<SigningKey> {
    kept_as(
        SigningKey::parse,
        "create one: echo whsec_$(openssl rand -base64 32)",
    )
}

/// How long a call may take.
pub(super) fn call_time() -> Form<SignedDuration> {
    duration(millis(100), minutes(30))
}

settings! {
    /// Calls to business services when tasks are due.
    pub(crate) struct Callback in "callback" {
        /// How long a call to a business service may take.
        /// 调用业务服务的超时时间。
        timeout: SignedDuration = call_time().default(seconds(10)).reloadable();
        /// Key that signs calls (Standard Webhooks, `whsec_…`).
        /// 为调用签名的密钥（Standard Webhooks，`whsec_…`）。
        secret: Option<SigningKey> = signing_key().unset("(calls are not signed)").reloadable();
    }
}

settings! {
    /// What differs for one kind of task.
    /// `None` means the general setting.
    pub(crate) struct KindSettings in "kinds" {
        /// Address to call for tasks of this kind that name none.
        /// 任务未指定地址时，此类任务调用的地址。
        url: Option<Url> =
            Form::new(Shape::Address, value::web_address).unset("(set by the task)").reloadable();
        /// How many tasks of this kind one node runs at once.
        /// 单个节点同时执行的此类任务数。
        slots: Option<usize> = count(1..=10_000).unset("(as in [node])").reloadable();
        /// How many tasks of this kind all nodes together run at once.
        /// 所有节点合计同时执行的此类任务数。
        slots_in_all: Option<usize> = count(1..=100_000).unset("(no limit)");
        /// How long a call may take.
        /// 调用的超时时间。
        timeout: Option<SignedDuration> = call_time().unset("(as in [callback])").reloadable();
        /// Key that signs calls of this kind.
        /// 为此类调用签名的密钥。
        secret: Option<SigningKey> = signing_key().unset("(as in [callback])").reloadable();
        /// Retries of a new task that sets no number.
        /// 新任务未指定时的重试次数。
        max_retry: Option<u32> = count(0..=MAX_RETRY_MAX).unset("3").reloadable();
        /// Error responses that mean the work was already done: a status, or `409:code`.
        /// 表示工作已完成的错误响应：状态码，或 `409:code`。
        already_done: Vec<AlreadyDone> = texts(already_done).default(Vec::new()).reloadable();
    }
}

impl Show for AlreadyDone {
    fn show(&self) -> String {
        match &self.code {
            Some(code) => format!("\"{}:{code}\"", self.status),
            None => format!("\"{}\"", self.status),
        }
    }
}

fn already_done(text: &str) -> Read<AlreadyDone> {
    AlreadyDone::parse(text).ok_or_else(|| {
        let hint = "write a status from 400 to 599, alone or with a code in the response: \
                    \"409:already_published\"";
        Problem::new(format!("`{text}` is not a response"), hint)
    })
}

/// Reads all kinds that have a table.
pub(super) fn kinds(reader: &mut Reader<'_>) -> BTreeMap<Kind, KindSettings> {
    let mut kinds = BTreeMap::new();
    for name in reader.named(KINDS) {
        match Kind::parse(&name) {
            Ok(kind) => drop(kinds.insert(kind, KindSettings::read_of(reader, KINDS, Some(&name)))),
            // The file was checked while it was walked; variables and flags are checked here.
            Err(error) => {
                let place = reader.first_place(|path| path.is_of(KINDS, &name));
                reader
                    .problems
                    .push(Problem::error(error.to_string(), place));
            }
        }
    }
    kinds
}

/// A limit across nodes is not adopted with a new kind, either: attempts that started without a
/// permit would return the permits of others.
pub(super) fn adopted_kinds(
    before: &BTreeMap<Kind, KindSettings>,
    after: &BTreeMap<Kind, KindSettings>,
) -> BTreeMap<Kind, KindSettings> {
    let adopt = |(kind, new): (&Kind, &KindSettings)| {
        let slots_in_all = before.get(kind).and_then(|old| old.slots_in_all);
        let old = KindSettings {
            slots_in_all,
            ..new.clone()
        };
        (kind.clone(), old.adopted(new))
    };
    after.iter().map(adopt).collect()
}

settings! {
    /// Where requests may go.
    pub(crate) struct Outbound in "outbound" {
        /// Private networks that callbacks and webhooks may call; public addresses are always allowed.
        /// 回调和 Webhook 可访问的内网网段；公网地址始终允许。
        allow: Vec<IpNet> = texts(network).default(Vec::new()).reloadable();
        /// Contact in the `User-Agent` of requests: a web address or a mailbox.
        /// 请求 `User-Agent` 中的联系方式：网址或邮箱。
        contact: Option<String> = text_as(contact).unset("(none)");
    }
}

/// A network, or one address.
pub(super) fn network(text: &str) -> Read<IpNet> {
    parse_net(text).ok_or_else(|| {
        let hint = "write a network or an address: \"10.0.0.0/8\", \"192.168.1.7\", \"fd00::/8\"; host \
                    names are checked by the addresses they resolve to";
        Problem::new(format!("`{text}` is not a network"), hint)
    })
}

/// It becomes part of a header that every called service can read.
fn contact(text: &str) -> Read<String> {
    let shaped = |c: char| c.is_ascii_graphic() && !matches!(c, '(' | ')' | '\\');
    let fits = text.len() <= CONTACT_BYTES_MAX && text.chars().all(shaped);
    let what = "a contact has at most 200 characters, no blanks and no parentheses";
    let hint = "a web address or a mailbox, like \"https://news.example.org/about\"";
    fitting(text, fits, what, hint)
}
