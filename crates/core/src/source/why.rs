//! Why a source is looked at when it is, in words, from stored facts.
//!
//! The task says when the next look is, because a person may have moved it, or its host asked to
//! wait; the row says why. Where the two differ, the sentence says so instead of giving the row's
//! reason for a time it did not choose.

use jiff::{SignedDuration, Timestamp};

use super::{
    Source, State,
    check::FailureClass,
    hints::{HONOURED_MAX, Hints},
};
use crate::{
    duration::in_words,
    lang::Lang,
    say,
    schedule::WEEKDAYS,
    task::{Status, Task},
    words,
};

/// A task that is put for now is due a moment after its row was written; that is no difference
/// worth a sentence.
const DIFFERENCE_MIN: SignedDuration = SignedDuration::from_secs(1);

/// When a source is looked at next, by its current task where that is live, else by its row.
pub fn next_look_at(source: &Source, task: Option<&Task>) -> Option<Timestamp> {
    let live = task.filter(|task| source.state == State::Active && task.is_live());
    live.map(|task| task.execute_at)
        .or(source.stats.next_due_at)
}

/// Why the next look is when it is, in a sentence.
pub fn next_look(source: &Source, task: Option<&Task>, now: Timestamp, lang: Lang) -> String {
    match &source.state {
        State::Paused { since, note } => {
            let since = second(*since);
            let note = note
                .as_ref()
                .map(|note| say!(lang, " ({note})", "（{note}）"));
            let note = note.unwrap_or_default();
            say!(lang; "Not checked: paused since {since}{note}.", "不检查：自 {since} 起暂停{note}。")
        }
        State::Ended { since, reason } => {
            let since = second(*since);
            say!(lang; "Not checked: ended at {since} ({reason}).",
                "不检查：已于 {since} 终止（{reason}）。")
        }
        State::Active => active(source, task, now, lang),
    }
}

fn active(source: &Source, task: Option<&Task>, now: Timestamp, lang: Lang) -> String {
    let Some(task) = task.filter(|task| task.is_live()) else {
        return say!(lang; "Its task is missing; a node creates it again within minutes.",
            "它的任务缺失；节点会在几分钟内重新创建。");
    };
    if task.status == Status::Running {
        return say!(lang, "It is being checked now.", "正在检查。");
    }
    let (at, is_due) = (second(task.execute_at), task.execute_at <= now);
    let begin = if is_due {
        say!(lang, "Due for a check since {at}", "自 {at} 起等待检查")
    } else {
        say!(lang, "Next check at {at}", "下一次检查在 {at}")
    };
    match source.stats.next_due_at {
        Some(planned) if planned.duration_since(task.execute_at).abs() >= DIFFERENCE_MIN => {
            let planned = second(planned);
            say!(lang;
                "{begin}, not at {planned} as planned: its task was moved, or its host was busy.",
                "{begin}，而不是原计划的 {planned}：其任务被改期，或主机繁忙。")
        }
        _ => {
            let reason = reason(source, lang);
            say!(lang, "{begin}: {reason}.", "{begin}：{reason}。")
        }
    }
}

/// An instant as people say it.
fn second(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

fn reason(source: &Source, lang: Lang) -> &str {
    let unknown = match source.stats.last_check_at {
        None => lang.pick("it has not been checked yet", "尚未检查过"),
        Some(_) => lang.pick("no reason was kept", "未保留原因"),
    };
    let kept = source.reason.as_ref();
    kept.map_or(unknown, |reason| reason.for_reader(lang).0)
}

/// What a publisher requests, each request in a sentence; none when it requests nothing.
pub fn requests(hints: &Hints, lang: Lang) -> Vec<String> {
    let honoured = |seconds: Option<u32>| {
        let seconds = seconds.filter(|seconds| *seconds > 0);
        seconds.map(|seconds| honoured(seconds, lang))
    };
    let fresh = honoured(hints.fresh_for);
    let fresh = fresh
        .map(|time| say!(lang; "Its response is fresh for {time}.", "其响应在 {time}内有效。"));
    let every = honoured(hints.every);
    let every = every.map(|time| {
        say!(lang; "It asks for no more than one check in {time}.",
        "它要求每 {time}最多检查一次。")
    });
    let hours = listed(hints.skip_hours, 24, |hour| format!("{hour:02}:00"));
    let hours = hours.map(|hours| {
        say!(lang;
        "It asks not to be checked in the hours beginning at {hours} UTC.",
        "它要求在以下 UTC 时刻起的一小时内不检查：{hours}。")
    });
    let days = listed(hints.skip_days, 7, |day| weekday(day, lang).to_owned());
    let days = days.map(|days| {
        say!(lang; "It asks not to be checked on {days}.",
        "它要求在以下日子不检查：{days}。")
    });
    [fresh, every, hours, days].into_iter().flatten().collect()
}

/// A day of the week from Monday.
fn weekday(day: usize, lang: Lang) -> &'static str {
    let chinese = ["周一", "周二", "周三", "周四", "周五", "周六", "周日"];
    lang.pick(WEEKDAYS[(day + 1) % 7], chinese[day])
}

/// The places of the bits that are set, in words.
fn listed(bits: u32, count: usize, name: impl Fn(usize) -> String) -> Option<String> {
    let set: Vec<String> = (0..count)
        .filter(|bit| bits >> bit & 1 == 1)
        .map(name)
        .collect();
    (!set.is_empty()).then(|| set.join(", "))
}

/// A request, and how far it is honoured.
fn honoured(seconds: u32, lang: Lang) -> String {
    let asked = SignedDuration::from_secs(i64::from(seconds));
    let request = in_words(asked, lang);
    if asked <= HONOURED_MAX {
        return request;
    }
    let most = in_words(HONOURED_MAX, lang);
    say!(lang; "{request}, which is honoured up to {most}", "{request}（最多遵守 {most}）")
}

/// What a failure means and what is done about it.
pub fn meaning(class: FailureClass, lang: Lang) -> &'static str {
    words! { lang, class;
        FailureClass::RateLimited =>
            "its server limits requests; the next check waits as long as it asks, or six hours",
            "服务器限制请求；下一次检查按其要求等待，或等待六小时";
        FailureClass::Unauthorised =>
            "its server requires credentials that are missing or have expired; update them",
            "服务器要求凭据，而凭据缺失或已过期；请更新";
        FailureClass::Forbidden =>
            "its server refuses access; the next check is in twelve hours",
            "服务器拒绝访问；十二小时后再次检查";
        FailureClass::Gone =>
            "its server says it is gone for good; it is no longer checked",
            "服务器表示它已永久移除；不再检查";
        FailureClass::NotFound => "there is nothing at its address for now", "其地址目前没有内容";
        FailureClass::Server => "its server has an internal error", "服务器内部错误";
        FailureClass::Dns => "the host name in its address does not resolve", "其地址中的域名无法解析";
        FailureClass::Connection => "the connection to its server failed", "无法连接到服务器";
        FailureClass::Tls => "the TLS connection to its server failed", "与服务器的 TLS 连接失败";
        FailureClass::Timeout => "its server took too long to respond", "服务器响应超时";
        FailureClass::Refused => "this node may not fetch its address", "本节点不允许访问其地址";
        FailureClass::Redirect =>
            "too many redirects, or a redirect to an address this node may not fetch",
            "重定向过多，或重定向到本节点不允许访问的地址";
        FailureClass::TooLarge => "its response is larger than the limit", "响应超过大小上限";
        FailureClass::NotAFeed =>
            "its response is not in the expected format; it may be a login page",
            "响应不是预期的格式；可能是登录页面";
        FailureClass::Malformed => "its response is incomplete or malformed", "响应不完整或已损坏";
        FailureClass::Rules =>
            "the source's rules match nothing in the response; the page may have changed",
            "信源的规则在响应中没有匹配；网页可能已改版";
    }
}

#[cfg(test)]
mod tests;
