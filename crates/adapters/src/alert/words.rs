//! Alerts in one sentence each.

use almanack_core::{
    alert::{self, Severity, words},
    edition::{
        alert::{News, Rule},
        port::Notice,
    },
};
use jiff::SignedDuration;

/// The languages alerts are told in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    #[default]
    English,
    Chinese,
}

impl Language {
    /// By its tag: `zh`, `zh-CN`; English where there are no words.
    pub fn of(tag: &str) -> Self {
        let first = tag.split(['-', '_']).next().unwrap_or_default();
        if first.eq_ignore_ascii_case("zh") {
            Self::Chinese
        } else {
            Self::English
        }
    }

    /// What a message is about, in a few words.
    pub(super) fn title(self, notices: &[&alert::port::Notice]) -> String {
        let [notice] = notices else {
            let count = notices.len();
            return match self {
                Self::English => format!("Almanack: {count} alerts"),
                Self::Chinese => format!("Almanack：{count} 条告警"),
            };
        };
        let what = self.what(notice);
        match (self, notice.news) {
            (Self::English, alert::News::Opened) => format!("Almanack: {what}"),
            (Self::English, _) => format!("Almanack: over: {what}"),
            (Self::Chinese, alert::News::Opened) => format!("Almanack：{what}"),
            (Self::Chinese, _) => format!("Almanack：已恢复：{what}"),
        }
    }

    /// All notices, a line each.
    pub(super) fn text(self, notices: &[&alert::port::Notice]) -> String {
        let lines: Vec<String> = notices.iter().map(|notice| self.line(notice)).collect();
        lines.join("\n")
    }

    fn line(self, notice: &alert::port::Notice) -> String {
        let (what, alert) = (self.what(notice), &notice.alert);
        let detail = alert.detail.trim().trim_end_matches(['.', '。']);
        let mark = match (notice.news, alert.severity) {
            (alert::News::Closed | alert::News::Passed, _) => "✅",
            (alert::News::Opened, Severity::Critical) => "🚨",
            (alert::News::Opened, Severity::Warning) => "⚠️",
        };
        let until = alert.closed_at.unwrap_or(alert.opened_at);
        let lasted = until.duration_since(alert.opened_at);
        let lasted = format!("{:#}", SignedDuration::from_secs(lasted.as_secs()));
        match (self, notice.news) {
            (Self::English, alert::News::Opened) => format!("{mark} {} ({detail}).", upper(&what)),
            (Self::English, alert::News::Closed) => {
                format!("{mark} Over after {lasted}: {what} ({detail}).")
            }
            (Self::English, alert::News::Passed) => {
                format!("{mark} Came and went within {lasted}: {what} ({detail}).")
            }
            (Self::Chinese, alert::News::Opened) => format!("{mark} {what}（{detail}）。"),
            (Self::Chinese, alert::News::Closed) => {
                format!("{mark} 已恢复（持续 {lasted}）：{what}（{detail}）。")
            }
            (Self::Chinese, alert::News::Passed) => {
                format!("{mark} 曾发生，已自行恢复（持续 {lasted}）：{what}（{detail}）。")
            }
        }
    }

    fn what(self, notice: &alert::port::Notice) -> String {
        match self {
            Self::English => words::english(&notice.alert),
            Self::Chinese => words::chinese(&notice.alert),
        }
    }

    /// Title and text of a test.
    pub(super) fn test(self) -> (&'static str, &'static str) {
        match self {
            Self::English => (
                "Almanack: a test",
                "This is only a test: Almanack's alerts reach you here.",
            ),
            Self::Chinese => ("Almanack：测试", "这只是测试：Almanack 的告警会送达此处。"),
        }
    }

    /// What a notice about an edition is about, in a few words.
    pub(super) fn edition_title(self, notice: &Notice<'_>) -> String {
        match self {
            Self::English => format!("Almanack: edition of {}", notice.date),
            Self::Chinese => format!("Almanack：{} 日报", notice.date),
        }
    }

    /// A notice about an edition in one sentence.
    pub(super) fn sentence(self, notice: &Notice<'_>) -> String {
        let date = notice.date;
        let detail = notice.alert.detail.trim().trim_end_matches(['.', '。']);
        let what = match self {
            Self::English => english(&notice.alert.rule),
            Self::Chinese => chinese(&notice.alert.rule),
        };
        match (self, notice.news) {
            (Self::English, News::Opened) => format!("⚠️ Edition of {date}: {what} ({detail})."),
            (Self::English, News::Closed) => {
                format!("✅ Edition of {date}, over: {what} ({detail}).")
            }
            (Self::Chinese, News::Opened) => format!("⚠️ {date} 日报：{what}（{detail}）。"),
            (Self::Chinese, News::Closed) => {
                format!("✅ {date} 日报，已解除：{what}（{detail}）。")
            }
        }
    }
}

/// The same with a capital letter.
fn upper(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

fn english(rule: &Rule) -> String {
    match rule {
        Rule::Overdue => "it is late and not published".to_owned(),
        Rule::Unfinished => "its day ended before it was published".to_owned(),
        Rule::Empty => "no story could be completed".to_owned(),
        Rule::Spendthrift => "a batch spent too many requests".to_owned(),
        Rule::Destination(name) => format!("`{name}` does not take it"),
    }
}

fn chinese(rule: &Rule) -> String {
    match rule {
        Rule::Overdue => "超时仍未发布".to_owned(),
        Rule::Unfinished => "当天结束时仍未发布".to_owned(),
        Rule::Empty => "没有任何文章处理成功".to_owned(),
        Rule::Spendthrift => "单批请求数过多".to_owned(),
        Rule::Destination(name) => format!("发布到 `{name}` 失败"),
    }
}

#[cfg(test)]
mod tests {
    use almanack_core::edition::alert::Alert;
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_notice_is_one_sentence_in_either_language() {
        let alert = |rule| {
            Alert::new(
                rule,
                "HTTP 403: Forbidden.".to_owned(),
                Timestamp::UNIX_EPOCH,
            )
        };
        let said = |language: Language, rule, news| {
            let alert = alert(rule);
            language.sentence(&Notice {
                date: jiff::civil::date(2026, 1, 10),
                alert: &alert,
                news,
            })
        };
        let github = || Rule::Destination("github".to_owned());
        assert_eq!(
            said(Language::English, github(), News::Opened),
            "⚠️ Edition of 2026-01-10: `github` does not take it (HTTP 403: Forbidden)."
        );
        assert_eq!(
            said(Language::of("zh-CN"), Rule::Overdue, News::Closed),
            "✅ 2026-01-10 日报，已解除：超时仍未发布（HTTP 403: Forbidden）。"
        );
        assert_eq!(Language::of("en-GB"), Language::English);
        assert_eq!(Language::of("zhx"), Language::English);
    }
}
