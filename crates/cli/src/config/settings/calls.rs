//! `[callback]`, `[kinds.NAME]` and `[outbound]`: which services tasks call, and how.

use std::collections::BTreeMap;

use almanack_adapters::signature::SigningKey;
use almanack_core::{
    address::{IpNet, parse_net},
    backoff::Backoff,
    callback::AlreadyDone,
    event::incoming::mapping::Path,
    pace::{BURST_MAX, Pace, Rate},
    reserved::is_reserved,
    task::{Kind, MAX_RETRY_MAX},
    work::Deliver,
};
use url::Url;

use super::{
    super::key::KINDS,
    node::wait,
    prelude::*,
    released::{Released, released},
};

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
        /// Key that signs calls (Standard Webhooks, `whsec_…`); during a rotation the new and the old one, separated by a blank.
        /// 为调用签名的密钥（Standard Webhooks，`whsec_…`）；轮换期间为新旧两个密钥，以空格分隔。
        secret: Option<SigningKey> = signing_key().unset("(calls are not signed)").reloadable();
        /// Secrets that headers of tasks' callbacks may name, like `env:SHOP_TOKEN@shop.example`: a reference or a prefix with `*`, and the host that receives it.
        /// 任务回调的请求头可以引用的机密，如 `env:SHOP_TOKEN@shop.example`：引用或以 `*` 结尾的前缀，以及接收它的主机。
        secrets: Vec<Released> = texts(released).default(Vec::new()).reloadable();
    }
}

settings! {
    /// What differs for one kind of task.
    /// `None` means the general setting.
    pub(crate) struct KindSettings in "kinds" {
        /// Who runs tasks of this kind: `push` calls a service, `pull` leaves them to workers.
        /// 由谁执行此类任务：`push` 调用服务，`pull` 由工作进程领取。
        deliver: Deliver = choice().default(Deliver::Push).reloadable();
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
        /// How many tasks of this kind all nodes together start in a time: `100/min`, per `s`, `min`, `h` or `day`.
        /// 所有节点合计在单位时间内开始的此类任务数：如 `100/min`，单位 `s`、`min`、`h` 或 `day`。
        rate: Option<Rate> = text_as(rate).unset("(no limit)").reloadable();
        /// How many tasks may start at once after a time without starts.
        /// 一段时间没有任务开始后，可同时开始的任务数。
        burst: Option<u32> = count(1..=BURST_MAX).unset("(what a second brings, at least 1)").reloadable();
        /// Path in the payload to a key, like `$.tenant`: the rate is one of each key.
        /// 载荷中键的路径，如 `$.tenant`：速率按每个键分别计算。
        rate_by: Option<Path> = text_as(payload_path).unset("(one rate for the kind)").reloadable();
        /// Path in the payload to a key, like `$.tenant`: tasks of each key take turns, however many one of them has.
        /// 载荷中键的路径，如 `$.tenant`：各键的任务轮流执行，不论某个键有多少任务。
        share_by: Option<Path> = text_as(payload_path).unset("(by time)").reloadable();
        /// How long a call may take.
        /// 调用的超时时间。
        timeout: Option<SignedDuration> = call_time().unset("(as in [callback])").reloadable();
        /// Key that signs calls of this kind.
        /// 为此类调用签名的密钥。
        secret: Option<SigningKey> = signing_key().unset("(as in [callback])").reloadable();
        /// Retries of a new task that sets no number.
        /// 新任务未指定时的重试次数。
        max_retry: Option<u32> = count(0..=MAX_RETRY_MAX).unset("3").reloadable();
        /// Wait before the first retry of a task of this kind; it doubles with every further one.
        /// 此类任务第一次重试前的等待时间；之后每次翻倍。
        retry_base: Option<SignedDuration> = wait().unset("(as in [retry])").reloadable();
        /// Longest wait between two attempts at a task of this kind.
        /// 此类任务两次尝试之间的最长等待时间。
        retry_cap: Option<SignedDuration> = wait().unset("(as in [retry])").reloadable();
        /// A new task that sets no expiry is not started so long after its time.
        /// 新任务未指定过期时间时，超过预定时间这么久后不再开始。
        expires_after: Option<SignedDuration> =
            duration(seconds(1), days(3650)).unset("(never)").reloadable();
        /// Error responses that mean the work was already done: a status, or `409:code`.
        /// 表示工作已完成的错误响应：状态码，或 `409:code`。
        already_done: Vec<AlreadyDone> = texts(already_done).default(Vec::new()).reloadable();
    }
}

words! {
    Deliver { "push" = Deliver::Push, "pull" = Deliver::Pull }
}

/// What says how a service is called, or how many tasks a node runs: idle where workers take them.
const OF_PUSHED: [&str; 6] = [
    "url",
    "slots",
    "slots_in_all",
    "timeout",
    "secret",
    "already_done",
];

/// A kind is pushed or pulled, never both.
fn check_pulled(reader: &mut Reader<'_>, name: &str, kind: &Kind) {
    if is_reserved(kind) {
        let what = format!("tasks of kind `{name}` belong to Almanack itself and cannot be pulled");
        let path = KeyPath::in_table(KINDS, Some(name), "deliver");
        reader.refuse(what, path, "leave out deliver");
    }
    for key in OF_PUSHED {
        let path = KeyPath::in_table(KINDS, Some(name), key);
        if reader.place(&path).is_some() {
            let what = format!("kinds.{name}.{key} is for pushed kinds, and this one is pulled");
            let hint = "remove it, or deliver = \"pull\"; workers say by themselves how many tasks they take";
            reader.refuse(what, path, hint);
        }
    }
}

impl Show for Rate {
    fn show(&self) -> String {
        format!("\"{self}\"")
    }
}

fn rate(text: &str) -> Read<Rate> {
    let hint = "write a number per s, min, h or day: \"100/min\"";
    Rate::parse(text).map_err(|error| Problem::new(error.to_string(), hint))
}

fn payload_path(text: &str) -> Read<Path> {
    let hint = "a path into the payload: \"$.tenant\" or \"/tenant\"";
    Path::parse(text).map_err(|error| Problem::new(error.to_string(), hint))
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
            Ok(kind) => {
                let of_kind = KindSettings::read_of(reader, KINDS, Some(&name));
                if of_kind.deliver == Deliver::Pull {
                    check_pulled(reader, &name, &kind);
                }
                check_retry(reader, &name, &of_kind);
                check_pace(reader, &name, &of_kind);
                kinds.insert(kind, of_kind);
            }
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

fn check_retry(reader: &mut Reader<'_>, name: &str, kind: &KindSettings) {
    if kind
        .retry_cap
        .is_some_and(|cap| Some(cap) < kind.retry_base)
    {
        let what = format!("kinds.{name}.retry_cap is shorter than its retry_base");
        let place = reader.first_place(|path| path.is_of(KINDS, name));
        reader.problems.push(Problem::error(what, place));
    }
}

/// What belongs to a rate is nothing without one.
fn check_pace(reader: &mut Reader<'_>, name: &str, settings: &KindSettings) {
    if settings.rate.is_some() {
        return;
    }
    let lonely = [
        ("burst", settings.burst.is_some()),
        ("rate_by", settings.rate_by.is_some()),
    ];
    for (key, _) in lonely.into_iter().filter(|(_, given)| *given) {
        let place = reader.first_place(|path| path.is_of(KINDS, name) && path.name == key);
        let what = format!("`{key}` needs a `rate`: rate = \"100/min\"");
        reader.problems.push(Problem::error(what, place));
    }
}

impl KindSettings {
    /// How failures of this kind wait, if not as usual. A longer first wait raises the usual cap.
    pub(crate) fn backoff(&self, usual: Backoff) -> Option<Backoff> {
        if self.retry_base.is_none() && self.retry_cap.is_none() {
            return None;
        }
        let cap = self.retry_cap.unwrap_or(usual.cap);
        let base = self.retry_base.unwrap_or(usual.base.min(cap));
        Some(Backoff {
            base,
            cap: cap.max(base),
            ..usual
        })
    }

    /// How fast its tasks may start, if that is limited.
    pub(crate) fn pace(&self) -> Option<Pace> {
        let rate = self.rate?;
        Some(Pace {
            rate: self.burst.map_or(rate, |burst| rate.with_burst(burst)),
            by: self.rate_by.clone(),
        })
    }
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
