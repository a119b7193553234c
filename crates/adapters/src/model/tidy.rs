//! A model's summary without what it puts around it.

use almanack_core::edition::summary::shorten;

/// Words that announce a summary, in small letters; what follows them and a colon is the summary.
const LEAD_INS: [&str; 9] = [
    "摘要",
    "总结",
    "概要",
    "内容摘要",
    "文章摘要",
    "评论摘要",
    "评论要点",
    "summary",
    "tl;dr",
];
/// What stands around such a word.
const ORNAMENTS: [char; 7] = ['*', '#', '_', ' ', '【', '】', '>'];
/// A summary may be so much longer than asked for, in hundredths, before it is cut: a whole sentence is
/// worth more than a bound that nobody sees.
const SLACK: usize = 150;

/// The summary in a reply, not much longer than asked for; nothing where there is none.
pub(super) fn summary(reply: &str, chars: usize) -> Option<String> {
    let text = without_lead_in(without_fence(without_thoughts(reply))).trim();
    let has_words = text.chars().any(char::is_alphanumeric);
    has_words.then(|| shorten(text, chars.saturating_mul(SLACK) / 100))
}

/// Some models think aloud before they answer. Thoughts without an end are all there is.
fn without_thoughts(reply: &str) -> &str {
    let reply = reply.trim();
    if !reply.starts_with("<think>") {
        return reply;
    }
    reply
        .split_once("</think>")
        .map_or("", |(_, answer)| answer.trim())
}

/// What is fenced, if the whole of it is.
fn without_fence(text: &str) -> &str {
    let Some(fenced) = text.strip_prefix("```") else {
        return text;
    };
    let (_language, body) = fenced.split_once('\n').unwrap_or(("", fenced));
    body.trim_end().strip_suffix("```").unwrap_or(body).trim()
}

fn without_lead_in(text: &str) -> &str {
    let lead_in = |text: &str| -> Option<usize> {
        let (at, colon) = text
            .char_indices()
            .take(24)
            .find(|(_, c)| matches!(c, '：' | ':' | '\n'))?;
        let word = text.get(..at)?.trim_matches(ORNAMENTS).to_lowercase();
        LEAD_INS
            .contains(&word.as_str())
            .then_some(at + colon.len_utf8())
    };
    let rest = lead_in(text).and_then(|at| text.get(at..)).unwrap_or(text);
    // `**摘要**：` has its ornaments before the colon, `**摘要：**` after it.
    if rest.len() < text.len() {
        rest.trim_start_matches(['*', '_', ' ', '\n'])
    } else {
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_what_is_left_without_its_wrapping() {
        for (reply, expected, why) in [
            ("这是摘要内容。", Some("这是摘要内容。"), "as asked"),
            ("  这是。\n", Some("这是。"), "space"),
            ("摘要：这是。", Some("这是。"), "a lead-in"),
            ("**摘要**：这是。", Some("这是。"), "in bold"),
            (
                "**摘要：**\n\n这是。",
                Some("这是。"),
                "in bold with its colon",
            ),
            ("## 总结\n这是。", Some("这是。"), "a heading"),
            ("【内容摘要】：这是。", Some("这是。"), "in brackets"),
            ("Summary: It is.", Some("It is."), "in English"),
            ("Rust: it is.", Some("Rust: it is."), "no lead-in"),
            ("```\n这是。\n```", Some("这是。"), "a fence"),
            (
                "```markdown\n摘要：这是。\n```",
                Some("这是。"),
                "a fence and a lead-in",
            ),
            ("<think>hmm</think>\n这是。", Some("这是。"), "thoughts"),
            ("<think>hmm", None, "nothing but thoughts"),
            ("", None, "nothing"),
            (" \n", None, "space only"),
            ("摘要：", None, "a lead-in only"),
            ("```\n```", None, "a fence only"),
            ("……", None, "no words"),
        ] {
            assert_eq!(summary(reply, 300).as_deref(), expected, "{why}");
        }
    }

    #[test]
    fn a_summary_that_is_far_too_long_is_cut_at_the_end_of_a_sentence() {
        let reply = "数据库很快。".repeat(100);
        let cut = summary(&reply, 20).unwrap();
        assert_eq!(cut, "数据库很快。".repeat(5));
        let nearly = "数据库很快。".repeat(4);
        assert_eq!(
            summary(&nearly, 20).unwrap(),
            nearly,
            "a little more is fine"
        );
    }
}
