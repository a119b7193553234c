//! Alerts in one sentence each.

use almanack_core::edition::{
    alert::{News, Rule},
    port::Notice,
};

/// The languages alerts are told in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Simplified Chinese.
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

    /// A notice in one sentence.
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
