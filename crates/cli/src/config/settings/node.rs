//! `[server]`, `[node]`, `[retry]`, `[retention]` and `[limits]`: one process among others.

use std::net::SocketAddr;

use almanack_core::{
    address::IpNet,
    backoff::Backoff,
    lease::LeasePolicy,
    run_log::{LOG_BYTES_DEFAULT, LOG_BYTES_MAX, LOG_BYTES_MIN},
    task::PAYLOAD_BYTES_MAX,
};
use url::Url;

use super::{calls::network, prelude::*};

sections! { Server, Node, RetryKeys, Retention, Limits }

settings! {
    /// The HTTP API and the dashboard.
    pub(crate) struct Server in "server" {
        /// Address and port to listen on; any other than loopback needs a token or a user first.
        /// 监听的地址和端口；监听非本机地址前须先创建令牌或用户。
        listen: SocketAddr = Form::new(Shape::Text, value::socket)
            .default(SocketAddr::from(([127, 0, 0, 1], 8080)));
        /// `Host` headers to accept besides the address it listens on; protects browsers against DNS rebinding.
        /// 除监听地址外还接受的 `Host` 请求头；防止浏览器遭受 DNS 重绑定攻击。
        allowed_hosts: Vec<String> = texts(value::host).default(Vec::new());
        /// Address at which others reach the nodes, like `https://news.example.org`, the same on all nodes: hubs push to it, and its `/about-requests` is named in the `User-Agent` of checks.
        /// 外界访问各节点的地址，如 `https://news.example.org`，所有节点必须相同：hub 向它推送，其 `/about-requests` 会写入检查请求的 `User-Agent`。
        public_url: Option<Url> =
            Form::new(Shape::Address, value::web_address).unset("(none)");
        /// Reverse proxies whose `X-Forwarded-For` is trusted, as networks or addresses.
        /// 信任其 `X-Forwarded-For` 的反向代理，写网段或地址。
        trusted_proxies: Vec<IpNet> = texts(network).default(Vec::new());
        /// How long to keep answering, reporting not ready, after a stop was requested.
        /// 收到停止请求后，以未就绪状态继续应答的时间。
        shutdown_delay: SignedDuration = duration(seconds(0), minutes(5)).default(seconds(3));
        /// Maximum number of open connections; for another one, the longest idle is closed.
        /// 同时打开的连接数上限；超出时关闭空闲最久的连接。
        connections: usize = count(1..=100_000).default(512);
        /// How long a connection may stay open without a complete request header.
        /// 连接在没有收到完整请求头时可保持的时间。
        header_timeout: SignedDuration = duration(seconds(1), hours(1)).default(seconds(30));
    }
}

settings! {
    /// This process as a node among others.
    pub(crate) struct Node in "node" {
        /// Name of this node in lists and logs.
        /// 本节点在列表和日志中的名称。
        name: Option<String> = text_as(node_name).unset("(host name and a random suffix)");
        /// How many tasks this node runs at once.
        /// 本节点同时执行的任务数。
        slots: usize = count(1..=10_000).default(64).reloadable();
        /// How long a claim stays valid without a heartbeat.
        /// 没有心跳时，认领的有效时间。
        lease: SignedDuration = duration(seconds(3), hours(1)).default(seconds(30));
        /// How long running attempts may continue after a stop was requested.
        /// 收到停止请求后，执行中的尝试可继续的时间。
        drain: SignedDuration = duration(seconds(0), hours(1)).default(seconds(20));
    }
}

impl Node {
    /// The node sends six heartbeats per lease and stops relying on the lease a sixth early, so two
    /// lost heartbeats and a slow disk do no harm.
    pub(crate) fn lease_policy(&self) -> LeasePolicy {
        LeasePolicy {
            ttl: self.lease,
            margin: self.lease / 6,
            beat: self.lease / 6,
        }
    }
}

fn node_name(name: &str) -> Read<String> {
    let fits = name.len() <= 100 && !name.chars().any(|c| c.is_control() || c.is_whitespace());
    let what = "a node's name has at most 100 bytes and no blanks";
    fitting(name, fits, what, "for example \"news-1\"")
}

pub(super) fn wait() -> Form<SignedDuration> {
    duration(millis(1), days(30))
}

settings! {
    /// How waits between attempts grow.
    struct RetryKeys in "retry" {
        /// Wait before the first retry; it doubles with every further one.
        /// 第一次重试前的等待时间；之后每次翻倍。
        base: SignedDuration = wait().default(Backoff::default().base).reloadable();
        /// Longest wait between two attempts.
        /// 两次尝试之间的最长等待时间。
        cap: SignedDuration = wait().default(Backoff::default().cap).reloadable();
        /// Longest `Retry-After` of a called service that is followed.
        /// 遵从被调用服务 `Retry-After` 的最长时间。
        retry_after_cap: SignedDuration =
            wait().default(Backoff::default().retry_after_cap).reloadable();
    }
}

/// How waits between attempts grow.
pub(super) fn backoff(reader: &mut Reader<'_>) -> Backoff {
    let read = RetryKeys::read(reader);
    let what = "retry.cap is shorter than retry.base";
    let bounds = (read.base, read.cap);
    check_order(reader, bounds, RetryKeys::NAME, (["cap", "base"], what));
    Backoff {
        base: read.base,
        cap: read.cap,
        retry_after_cap: read.retry_after_cap,
    }
}

/// Refuses an upper bound below its lower one.
pub(super) fn check_order(
    reader: &mut Reader<'_>,
    (least, most): (SignedDuration, SignedDuration),
    section: &'static str,
    (names, what): ([&'static str; 2], &str),
) {
    if most < least {
        let mut paths = names.iter().map(|name| KeyPath::plain(section, name));
        let place = paths.find_map(|path| reader.place(&path));
        let hint = format!("make {} the longer one", names[0]);
        reader.push(Severity::Error, (what, place), hint);
    }
}

settings! {
    /// How long finished tasks are kept.
    pub(crate) struct Retention in "retention" {
        /// Days to keep finished tasks; 0 keeps them forever.
        /// 已结束任务的保留天数；0 表示永久保留。
        days: u32 = count(0..=36_500).default(30);
        /// Days to keep what runs of schedules printed, at most as long as their tasks; 0 keeps it as long.
        /// 调度运行输出的保留天数，不超过其任务；0 表示与任务一样久。
        run_log_days: u32 = count(0..=36_500).default(14);
    }
}

impl Retention {
    /// How long what runs printed is kept; `None` keeps it as long as their tasks.
    pub(crate) fn keep_run_logs_for(&self) -> Option<SignedDuration> {
        keep_for(self.run_log_days)
    }

    /// How long finished tasks are kept; `None` keeps them forever.
    pub(crate) fn keep_for(&self) -> Option<SignedDuration> {
        keep_for(self.days)
    }
}

/// The time to keep something for so many days; `None` keeps it forever.
pub(super) fn keep_for(count: u32) -> Option<SignedDuration> {
    (count > 0).then(|| days(i64::from(count)))
}

settings! {
    /// Largest sizes and counts.
    pub(crate) struct Limits in "limits" {
        /// Largest payload of a task, in bytes.
        /// 任务负载的最大字节数。
        payload_bytes: usize = count(2..=PAYLOAD_BYTES_MAX).default(65_536);
        /// Maximum number of tasks in one batch request.
        /// 一次批量请求中的任务数上限。
        batch_items: usize = count(1..=100_000).default(10_000);
        /// Maximum number of kinds without a `[kinds.NAME]` section that tasks may wait in.
        /// 没有 `[kinds.NAME]` 配置的任务类型数上限。
        kinds: usize = count(1..=10_000).default(250);
        /// Most bytes to keep of what a run of a schedule printed; of more, its beginning and its end are kept.
        /// 调度单次运行输出的保留上限（字节）；超出时保留开头和结尾。
        run_log_bytes: u64 = count(LOG_BYTES_MIN..=LOG_BYTES_MAX)
            .default(LOG_BYTES_DEFAULT).reloadable();
    }
}
