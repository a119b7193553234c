//! Texts about sources, in both languages.

use almanack_core::source::policy::cadence::{Cadence, Frequency};
use almanack_core::source::{Attention, SourceType, State};
use almanack_core::{source::check::FailureClass, source::recent::CheckOutcome};

use crate::ui::prelude::*;

/// A state by its API name.
pub(super) fn state_name(lang: Lang, state: &str) -> &'static str {
    words! { lang, state;
        "paused" => "paused", "已暂停";
        "ended" => "ended", "已终止";
        _ => "active", "启用中";
    }
}

/// The state of a source, and what needs attention.
pub(super) fn standing(lang: Lang, source: &Source) -> Markup {
    let class = match source.state {
        State::Active => "active",
        State::Paused { .. } => "paused",
        State::Ended { .. } => "cancelled",
    };
    html! {
        (badge(class, state_name(lang, source.state.as_str())))
        @if let Some(wanted) = source.attention {
            " " (badge("unknown", attention(lang, wanted)))
        }
    }
}

/// What needs attention, in a word.
pub(super) fn attention(lang: Lang, wanted: Attention) -> &'static str {
    words! { lang, wanted;
        Attention::Silent => "silent", "沉默";
        Attention::Truncated => "truncated", "被截断";
        Attention::Identity => "unreliable ids", "标识不可靠";
        Attention::Failing => "failing", "持续失败";
        Attention::Duplicate => "duplicate", "重复";
        Attention::Credentials => "credentials", "需要凭据";
        Attention::Gone => "gone", "已消失";
    }
}

/// The same in a sentence.
pub(super) fn attention_meaning(lang: Lang, wanted: Attention) -> &'static str {
    words! { lang, wanted;
        Attention::Silent =>
            "Unusually quiet for this source. It may have moved or stopped publishing.",
            "沉默时间超出惯常，可能已迁移或停止更新。";
        Attention::Truncated => "Its document has more entries than sources.entries_per_document allows. The oldest are not read.",
            "文档中的条目多于 sources.entries_per_document 的上限，最旧的条目未被读取。";
        Attention::Identity => "Its ids change, or several entries share one. Entries are recognised by their links.",
            "其标识会变化，或多个条目共用一个标识，因此改用链接识别条目。";
        Attention::Failing => "Checks have failed many times in a row. They continue at a slower pace.",
            "检查已连续失败多次，将以较低频率继续。";
        Attention::Duplicate => "It moved to the address of another source. You can remove one of the two.",
            "已迁移到另一个信源的地址，您可以移除其中之一。";
        Attention::Credentials => "The server requires credentials that are missing or expired.",
            "对方服务器要求凭据，而凭据缺失或已过期。";
        Attention::Gone => "The server says it is gone for good. It is no longer checked; resume it to try again.",
            "对方服务器表示它已永久消失，不再检查；恢复它即可重试。";
    }
}

/// A type of sources.
pub(super) fn source_type(lang: Lang, of: SourceType) -> &'static str {
    words! { lang, of;
        SourceType::Rss => "feed", "订阅源";
        SourceType::Custom => "custom rules", "自定义规则";
    }
}

/// A cadence with what it means: `P2 · every hour`.
pub(super) fn cadence(lang: Lang, cadence: Cadence) -> String {
    let meaning = match cadence {
        Cadence::P0 => lang.pick("every 15 minutes", "每 15 分钟"),
        Cadence::P1 => lang.pick("every 30 minutes", "每 30 分钟"),
        Cadence::P2 => lang.pick("every hour", "每小时"),
        Cadence::P3 => lang.pick("every 2 hours", "每 2 小时"),
        Cadence::P4 => lang.pick("every 4 hours", "每 4 小时"),
        Cadence::P5 => lang.pick("every 8 hours", "每 8 小时"),
        Cadence::P6 => lang.pick("every day", "每天"),
        Cadence::P7 => lang.pick("not checked", "不检查"),
    };
    format!("{cadence} · {meaning}")
}

/// How often a source publishes.
pub(super) fn frequency(lang: Lang, frequency: Frequency) -> &'static str {
    words! { lang, frequency;
        Frequency::Realtime => "continuously", "实时";
        Frequency::High => "several times a day", "一天多次";
        Frequency::Daily => "daily", "每天";
        Frequency::DailyFixed => "every other day", "隔天";
        Frequency::Weekly => "weekly", "每周";
        Frequency::Monthly => "monthly", "每月";
        Frequency::Low => "rarely", "很少";
    }
}

/// A class of failures, in a few words.
pub(super) fn failure(lang: Lang, class: FailureClass) -> &'static str {
    words! { lang, class;
        FailureClass::RateLimited => "rate limited", "请求过于频繁";
        FailureClass::Unauthorised => "credentials required", "需要凭据";
        FailureClass::Forbidden => "refused by the server", "服务器拒绝";
        FailureClass::Gone => "gone", "已永久移除";
        FailureClass::NotFound => "not found", "未找到";
        FailureClass::Server => "server error", "服务器故障";
        FailureClass::Dns => "host name not found", "域名无法解析";
        FailureClass::Connection => "no connection", "无法连接";
        FailureClass::Tls => "certificate refused", "证书无效";
        FailureClass::Timeout => "timed out", "超时";
        FailureClass::Refused => "address not allowed", "地址不被允许";
        FailureClass::Redirect => "endless redirects", "重定向异常";
        FailureClass::TooLarge => "too large", "内容过大";
        FailureClass::NotAFeed => "not a feed", "不是订阅源";
        FailureClass::Malformed => "malformed content", "内容损坏";
        FailureClass::Rules => "rules match nothing", "规则无匹配";
    }
}

/// The result of a check.
pub(crate) fn outcome(lang: Lang, outcome: CheckOutcome) -> String {
    match outcome {
        CheckOutcome::New(count) => say!(lang, "{count} new", "{count} 条新条目"),
        CheckOutcome::Nothing => lang.pick("nothing new", "无新内容").to_owned(),
        CheckOutcome::Unchanged => lang.pick("not modified", "未修改").to_owned(),
        CheckOutcome::Failed(class) => failure(lang, class).to_owned(),
    }
}

/// The shape of a check.
pub(crate) fn shape(outcome: CheckOutcome) -> Outcome {
    match outcome {
        CheckOutcome::New(_) | CheckOutcome::Nothing | CheckOutcome::Unchanged => Outcome::Done,
        CheckOutcome::Failed(_) => Outcome::Failed,
    }
}
