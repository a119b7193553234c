//! `[alerts]` and the sections inside it: when to alert, and through which channels; and
//! `[heartbeat]`.

mod channel;

use almanack_adapters::{alert::Channel, heartbeat::Ask};
use almanack_core::alert::{Severity, decide::Behaviour, facts::Bounds, quiet::Quiet};
use almanack_engine::watch::WatchSettings;
use jiff::{civil::Time, tz::TimeZone};

use super::prelude::*;
pub(crate) use channel::TIMEOUT as CHANNEL_TIMEOUT;
pub(super) use channel::{is_loopback, mail_text};

sections! { AlertKeys; channel => Heartbeat }

/// A pebibyte: a larger value is a typing error.
const DISK_FREE_MAX: u64 = 1 << 50;
/// Most minutes of a day.
const MINUTE_MAX: i8 = 59;

/// When to alert, and how.
#[derive(Debug, Clone)]
pub(crate) struct Alerts {
    /// Time between two evaluations.
    pub(crate) every: SignedDuration,
    /// When something is wrong.
    pub(crate) bounds: Bounds,
    /// Cool-down and quiet hours.
    pub(crate) behaviour: Behaviour,
    /// The language of messages, as a tag; the edition's language by default.
    pub(crate) language: Option<String>,
    /// Where messages go.
    pub(crate) channels: Vec<Channel>,
}

fn usual() -> Bounds {
    Bounds::default()
}

settings! {
    /// When to alert people, and when not to.
    struct AlertKeys in "alerts" {
        /// Time between two evaluations of the rules.
        /// 两次规则评估之间的时间。
        every: SignedDuration = duration(seconds(1), minutes(5))
            .default(WatchSettings::default().every).reloadable();
        /// Alert when a slot was not planned for this long.
        /// 时间槽超过此时间仍未计划时告警。
        missing_after: SignedDuration =
            duration(seconds(1), days(1)).default(usual().missing).reloadable();
        /// Alert when a firing starts later than this.
        /// 触发晚于此时间开始时告警。
        late_after: SignedDuration =
            duration(seconds(1), days(1)).default(usual().late).reloadable();
        /// Alert when an attempt runs longer than this.
        /// 一次尝试运行超过此时间时告警。
        stuck_after: SignedDuration =
            duration(seconds(1), days(30)).default(usual().stuck).reloadable();
        /// Alert when due work was not started for this long.
        /// 到期的工作超过此时间仍未开始时告警。
        unclaimed_after: SignedDuration =
            duration(seconds(1), days(1)).default(usual().unclaimed).reloadable();
        /// Alert after this many final failures in a row.
        /// 连续最终失败达到此次数时告警。
        failing_after: u32 = count(1..=20).default(usual().failing).reloadable();
        /// Alert when a node sent no heartbeat for this long.
        /// 节点超过此时间没有心跳时告警。
        gone_after: SignedDuration =
            duration(seconds(10), days(1)).default(usual().gone).reloadable();
        /// Alert when a message bus was not connected for this long.
        /// 消息总线断开超过此时间时告警。
        disconnected_after: SignedDuration =
            duration(seconds(1), days(1)).default(usual().disconnected).reloadable();
        /// Alert when the disk of the database has fewer free bytes.
        /// 数据库所在磁盘的可用字节数低于此值时告警。
        disk_free_bytes: u64 =
            count(0..=DISK_FREE_MAX).default(usual().disk_free_bytes).reloadable();
        /// Alert when sources use more than this percentage of their checks per day.
        /// 源的检查次数超过每日预算的此百分比时告警。
        budget_percent: u32 = count(10..=1_000).default(usual().budget_percent).reloadable();
        /// Cool-down: how long the cause must be gone before an alert is closed.
        /// 冷却时间：原因消失多久后关闭告警。
        cool_down: SignedDuration =
            duration(seconds(0), hours(1)).default(Behaviour::default().cool_down).reloadable();
        /// Quiet hours in which alerts wait, like `22:00-07:00`.
        /// 免打扰时段，告警会等待，如 `22:00-07:00`。
        quiet: Option<Hours> = text_as(quiet_hours).unset("(none)").reloadable();
        /// Time zone of the quiet hours.
        /// 免打扰时段的时区。
        quiet_tz: String = text_as(zone_name).default("UTC".to_owned()).reloadable();
        /// Alerts to send in quiet hours, too: `critical` or `nothing`.
        /// 免打扰时段仍发送的告警：`critical` 或 `nothing`（无）。
        quiet_except: Option<Severity> =
            choice().default(Some(Severity::Critical)).reloadable();
        /// Language of messages, as a tag like `en` or `zh-CN`.
        /// 消息的语言标签，如 `en` 或 `zh-CN`。
        language: Option<String> = text().unset("(the edition's, or English)").reloadable();
    }
}

impl Alerts {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let read = AlertKeys::read(reader);
        let quiet = read.quiet.map(|hours| Quiet {
            from: hours.from,
            until: hours.until,
            zone: TimeZone::get(&read.quiet_tz).unwrap_or(TimeZone::UTC),
            except: read.quiet_except,
        });
        Self {
            every: read.every,
            bounds: Bounds {
                missing: read.missing_after,
                late: read.late_after,
                stuck: read.stuck_after,
                unclaimed: read.unclaimed_after,
                failing: read.failing_after,
                gone: read.gone_after,
                disconnected: read.disconnected_after,
                disk_free_bytes: read.disk_free_bytes,
                budget_percent: read.budget_percent,
                // Set where the settings of editions are known.
                overdue: None,
            },
            behaviour: Behaviour {
                cool_down: read.cool_down,
                quiet,
            },
            language: read.language,
            channels: channel::read_all(reader),
        }
    }
}

/// A daily span of local time.
#[derive(Debug, Clone, Copy)]
struct Hours {
    from: Time,
    until: Time,
}

impl Show for Hours {
    fn show(&self) -> String {
        let clock = |time: Time| format!("{:02}:{:02}", time.hour(), time.minute());
        format!("\"{}-{}\"", clock(self.from), clock(self.until))
    }
}

fn quiet_hours(text: &str) -> Read<Hours> {
    let read = text.split_once('-').and_then(|(from, until)| {
        Some(Hours {
            from: wall_time(from.trim())?,
            until: wall_time(until.trim())?,
        })
    });
    match read {
        Some(hours) if hours.from == hours.until => Err(Problem::new(
            format!("`{text}` is an empty span of hours"),
            "for example \"22:00-07:00\"; leave the key out for no quiet hours",
        )),
        Some(hours) => Ok(hours),
        None => Err(Problem::new(
            format!("`{text}` is not a span of hours"),
            "for example \"22:00-07:00\"",
        )),
    }
}

/// A time of day, like `07:00`.
pub(super) fn wall_time(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    let minute = minute
        .parse()
        .ok()
        .filter(|it| (0..=MINUTE_MAX).contains(it))?;
    Time::new(hour.parse().ok()?, minute, 0, 0).ok()
}

fn zone_name(name: &str) -> Read<String> {
    let hint = "for example \"Europe/Berlin\" or \"UTC\"";
    let refused = |_| Problem::new(format!("`{name}` is not a time zone"), hint);
    TimeZone::get(name)
        .map(|_| name.to_owned())
        .map_err(refused)
}

words! {
    Option<Severity> { "critical" = Some(Severity::Critical), "nothing" = None }
    Severity { "warning" = Self::Warning, "critical" = Self::Critical }
    Ask { "get" = Self::Get, "post" = Self::Post }
}

settings! {
    /// Requests to an outside monitor while this node works.
    pub(crate) struct Heartbeat in "heartbeat" {
        /// Address of a monitor that expects a request while this node works (dead man's switch).
        /// 监控服务地址，节点正常工作时定期请求它（死人开关）。
        url: Option<Secret> = secret_address().unset("(no heartbeat is sent)");
        /// Time between two requests.
        /// 两次请求之间的时间。
        every: SignedDuration = duration(seconds(1), days(1)).default(minutes(1));
        /// HTTP method of the request.
        /// 请求的 HTTP 方法。
        method: Ask = choice().default(Ask::Get);
    }
}

/// An address that is itself the secret.
pub(super) fn secret_address() -> Form<Secret> {
    kept(|found| {
        let url = url::Url::parse(found.trim()).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let shaped = url.map(|url| Secret::new(url.as_str()));
        let hint = "write an address that starts with https:// and a host";
        shaped.ok_or_else(|| Problem::new("the secret is not a web address", hint))
    })
}
