//! Alerts in one sentence each.

use almanack_core::alert::{News, Severity, port::Notice};
use almanack_core::lang::Say;
use jiff::SignedDuration;

use super::ReviewLinks;
use crate::language::Language;

impl Language {
    /// What a message is about, in a few words.
    pub(super) fn title(self, notices: &[&Notice]) -> String {
        let [notice] = notices else {
            let count = notices.len();
            return match self {
                Self::English => format!("Almanack: {count} alerts"),
                Self::Chinese => format!("Almanack：{count} 条告警"),
            };
        };
        let what = self.what(notice);
        match (self, notice.news) {
            (Self::English, News::Opened) => format!("Almanack: {what}"),
            (Self::English, _) => format!("Almanack: resolved: {what}"),
            (Self::Chinese, News::Opened) => format!("Almanack：{what}"),
            (Self::Chinese, _) => format!("Almanack：已恢复：{what}"),
        }
    }

    /// All notices, a line each.
    pub(super) fn text(self, notices: &[&Notice]) -> String {
        let lines: Vec<String> = notices.iter().map(|notice| self.line(notice)).collect();
        lines.join("\n")
    }

    /// The same with links, which come first: a long message is cut at its end.
    pub(super) fn private_text(self, notices: &[&Notice], links: Option<&ReviewLinks>) -> String {
        let mut texts: Vec<(bool, String)> = notices
            .iter()
            .map(|notice| {
                let review = notice.review.as_ref();
                let address = review.and_then(|review| Some(links?.link(review)));
                let decide = address.map(|address| format!("\n{}", self.review(&address)));
                let text = self.line(notice);
                (
                    decide.is_none(),
                    text + decide.as_deref().unwrap_or_default(),
                )
            })
            .collect();
        texts.sort_by_key(|(is_plain, _)| *is_plain);
        let texts: Vec<String> = texts.into_iter().map(|(_, text)| text).collect();
        texts.join("\n")
    }

    fn line(self, notice: &Notice) -> String {
        let (what, alert) = (self.what(notice), &notice.alert);
        let detail = alert.detail.for_reader(self.lang()).0;
        let detail = detail.trim().trim_end_matches(['.', '。']);
        let mark = match (notice.news, alert.severity) {
            (News::Closed | News::Passed, _) => "✅",
            (News::Opened, Severity::Critical) => "🚨",
            (News::Opened, Severity::Warning) => "⚠️",
        };
        let until = alert.closed_at.unwrap_or(alert.opened_at);
        let lasted = until.duration_since(alert.opened_at);
        let lasted = format!("{:#}", SignedDuration::from_secs(lasted.as_secs()));
        match (self, notice.news) {
            (Self::English, News::Opened) => format!("{mark} {} ({detail}).", upper(&what)),
            (Self::English, News::Closed) => {
                format!("{mark} Resolved after {lasted}: {what} ({detail}).")
            }
            (Self::English, News::Passed) => {
                format!("{mark} Occurred and resolved within {lasted}: {what} ({detail}).")
            }
            (Self::Chinese, News::Opened) => format!("{mark} {what}（{detail}）。"),
            (Self::Chinese, News::Closed) => {
                format!("{mark} 已恢复（持续 {lasted}）：{what}（{detail}）。")
            }
            (Self::Chinese, News::Passed) => {
                format!("{mark} 曾发生，已自行恢复（持续 {lasted}）：{what}（{detail}）。")
            }
        }
    }

    fn what(self, notice: &Notice) -> String {
        notice.alert.say(self.lang())
    }

    /// Title and text of a test.
    pub(super) fn test(self) -> (&'static str, &'static str) {
        match self {
            Self::English => (
                "Almanack: test",
                "This is a test: Almanack's alerts arrive here.",
            ),
            Self::Chinese => (
                "Almanack：测试",
                "这是一条测试消息：Almanack 的告警会发送到这里。",
            ),
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

#[cfg(test)]
mod tests {
    use almanack_core::alert::{About, Alert, Key, Rule};
    use jiff::Timestamp;

    use super::*;

    fn said(language: Language, (rule, about): (Rule, About), news: News) -> String {
        let alert = Alert {
            key: Key { rule, about },
            severity: Severity::Critical,
            detail: "HTTP 403: Forbidden.".to_owned().into(),
            opened_at: Timestamp::UNIX_EPOCH,
            cool_down_since: None,
            closed_at: None,
            returns: 0,
            open_notified_at: None,
            close_notified_at: None,
            notify_at: None,
            taken_by: Vec::new(),
            version: 0,
        };
        let channels = None;
        language.text(&[&Notice {
            alert,
            news,
            channels,
            review: None,
        }])
    }

    #[test]
    fn a_notice_is_one_sentence_in_either_language() {
        let date = jiff::civil::date(2026, 1, 10);
        let destination = "github".to_owned();
        let edition = date.into();
        let github = About::Delivery {
            edition,
            destination,
        };
        assert_eq!(
            said(Language::English, (Rule::Destination, github), News::Opened),
            "🚨 The delivery of the edition of 2026-01-10 to github failed or could not be confirmed \
             (HTTP 403: Forbidden)."
        );
        let edition = About::Edition(edition);
        assert_eq!(
            said(
                Language::of("zh-CN"),
                (Rule::Overdue, edition),
                News::Closed
            ),
            "✅ 已恢复（持续 0s）：2026-01-10 日报超时仍未发布（HTTP 403: Forbidden）。"
        );
        assert_eq!(Language::of("en-GB"), Language::English);
        assert_eq!(Language::of("zhx"), Language::English);
    }
}
