//! `[sources]`: how often sources are checked, how politely, and how long entries are kept.

use almanack_core::{
    address::IpNet,
    host_pace::Pace,
    source::{
        entry::{ENTRIES_MAX, ENTRIES_PER_DOCUMENT},
        filter::{Filters, RULES_MAX},
        policy::{Policy, UnknownPolicy},
    },
};

use super::{
    calls::network,
    node::{check_order, keep_for},
    prelude::*,
    released::{Released, released},
};
use crate::when;

sections! { Sources }

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

settings! {
    /// How often sources are checked, how politely, and how long entries are kept.
    pub(crate) struct Sources in "sources" {
        /// Private networks that sources may be in; public addresses are always allowed.
        /// 源可以位于的内网网段；公网地址始终允许。
        allow: Vec<IpNet> = texts(network).default(Vec::new());
        /// Secrets that sources may name, like `env:NEWS_TOKEN@news.example`: a reference or a prefix with `*`, and the host that receives it.
        /// 源可以引用的机密，如 `env:NEWS_TOKEN@news.example`：引用或以 `*` 结尾的前缀，以及接收它的主机。
        secrets: Vec<Released> = texts(released).default(Vec::new());
        /// When to check a source without its own policy: `adaptive`, `classic`, `fixed:1h` or a schedule.
        /// 没有单独策略的源的检查策略：`adaptive`、`classic`、`fixed:1h` 或调度表达式。
        policy: Policy = text_as(policy).default(Policy::Adaptive);
        /// Checks per source and day, averaged over all sources.
        /// 每个源每天的检查次数，按所有源平均。
        checks_per_day: u32 = count(1..=1_440).default(24);
        /// Checks that slow sources get at least, in percent of an even spread; busy sources pay for it.
        /// 慢源至少获得的检查次数，以平均分配的百分比计；由繁忙的源承担。
        slow_percent: u32 = count(0..=100).default(0);
        /// Shortest time between two checks of a source.
        /// 同一源两次检查之间的最短时间。
        floor: SignedDuration = duration(seconds(1), days(1)).default(minutes(15));
        /// Longest time between two checks of a source.
        /// 同一源两次检查之间的最长时间。
        ceiling: SignedDuration = duration(seconds(1), days(30)).default(hours(24));
        /// Interval while nothing has been learned about a source, or learning fails.
        /// 尚未学到源的规律或学习失败时的检查间隔。
        interval: SignedDuration = duration(seconds(1), days(30)).default(hours(1));
        /// Days to keep entries; 0 keeps them forever.
        /// 条目的保留天数；0 表示永久保留。
        keep_days: u32 = count(0..=36_500).default(90);
        /// Maximum number of entries to keep per source.
        /// 每个源保留的条目数上限。
        keep_per_source: usize = count(1..=1_000_000).default(500);
        /// Rules for the entries of all sources, like `block title contains "sponsored"`.
        /// 适用于所有源的条目规则，如 `block title contains "sponsored"`。
        filters: Vec<String> = texts(rule).default(Vec::new());
        /// How long one check may take.
        /// 一次检查的超时时间。
        timeout: SignedDuration = duration(seconds(1), minutes(5)).default(seconds(30));
        /// Largest document, in bytes after decompression.
        /// 文档的最大字节数（解压后）。
        body_bytes: usize = count(256 * KIB..=64 * MIB).default(8 * MIB);
        /// Entries to read of one document; of more, the newest are read and the source needs attention.
        /// 每个文档读取的条目数；超出时只读取最新的，并提示该源需要关注。
        entries_per_document: usize = count(200..=ENTRIES_MAX).default(ENTRIES_PER_DOCUMENT);
        /// Requests to one host at the same time.
        /// 对同一主机的并发请求数。
        host_concurrency: usize = count(1..=100).default(Pace::default().at_once)
            .also(&["HOTNEWS_RSS_HOST_CONCURRENCY"]);
        /// Requests to one host within a time, like `5/10s`.
        /// 一段时间内对同一主机的请求数，如 `5/10s`。
        host_pace: Rate = text_as(rate).default(Rate(Pace::default()));
        /// Whether to have hubs push new entries (WebSub); needs `server.public_url`.
        /// 是否让 hub 推送新条目（WebSub）；需要设置 `server.public_url`。
        push: bool = truth().default(true);
        /// Key that the secrets of push subscriptions are derived from; the same on all nodes.
        /// 用于派生推送订阅密钥的主密钥；所有节点必须相同。
        push_secret: Option<Secret> = secret().unset("(from random tokens in the database alone)");
        /// Whether anyone may report new entries of a source by XML-RPC (`POST /ping`).
        /// 是否允许任何人通过 XML-RPC（`POST /ping`）通知某个源有新条目。
        ping: bool = truth().default(false);
    }
}

/// Reads them, and refuses bounds that contradict each other.
pub(super) fn read(reader: &mut Reader<'_>) -> Sources {
    let read = Sources::read(reader);
    let what = "sources.ceiling is shorter than sources.floor";
    let bounds = (read.floor, read.ceiling);
    check_order(reader, bounds, "sources", (["ceiling", "floor"], what));
    if read.filters.len() > RULES_MAX {
        let what = format!("sources.filters has more than {RULES_MAX} rules");
        let place = reader.place(&KeyPath::plain("sources", "filters"));
        reader.push(
            Severity::Error,
            (what, place),
            "join some: `matches \"one|other\"`",
        );
    }
    read
}

impl Sources {
    /// The limit of requests per host.
    pub(crate) fn pace(&self) -> Pace {
        Pace {
            at_once: self.host_concurrency,
            ..self.host_pace.0
        }
    }

    /// How long entries are kept; `None` keeps them forever.
    pub(crate) fn keep_for(&self) -> Option<SignedDuration> {
        keep_for(self.keep_days)
    }
}

pub(super) fn rule(text: &str) -> Read<String> {
    let read = Filters::parse(&[text]);
    read.map(|_| text.to_owned()).map_err(|bad| {
        let what = format!("`{text}`, column {}: {}", bad.column(), bad.what);
        Problem::new(what, bad.hint.0)
    })
}

fn policy(text: &str) -> Read<Policy> {
    text.parse().map_err(|unknown: UnknownPolicy| {
        let text = unknown.to_string();
        let (what, hint) = text.split_once("; ").unwrap_or((&text, ""));
        Problem::new(what, hint)
    })
}

/// So many requests within so long, written `5/10s`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate(pub(crate) Pace);

impl Show for Rate {
    fn show(&self) -> String {
        let per = when::show_duration(self.0.per);
        format!("\"{}/{per}\"", self.0.requests)
    }
}

fn rate(text: &str) -> Read<Rate> {
    let example = "write requests per time, like \"5/10s\" or \"60/1m\"";
    let refused = || Problem::new(format!("`{text}` is not a pace"), example);
    let (requests, per) = text.split_once('/').ok_or_else(refused)?;
    let requests: usize = requests.trim().parse().map_err(|_| refused())?;
    let per = when::parse_duration(per.trim()).map_err(|_| refused())?;
    let fits = (1..=10_000).contains(&requests) && (seconds(1)..=days(1)).contains(&per);
    if !fits {
        let what = format!("`{text}` is out of range");
        return Err(Problem::new(what, "1 to 10000 requests within 1s to 24h"));
    }
    Ok(Rate(Pace {
        requests,
        per,
        ..Pace::default()
    }))
}
