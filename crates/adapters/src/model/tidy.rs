//! A model's summary without what it puts around it.

use almanack_core::edition::summary::{is_complete, shorten, whole};

use super::prompt::MARKS;

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
/// Decoration around such a word.
const ORNAMENTS: [char; 7] = ['*', '#', '_', ' ', '【', '】', '>'];
/// A summary may be so much longer than asked for, in hundredths, before it is cut: a whole
/// sentence is worth more than an exact bound.
const SLACK: usize = 150;

/// How a reply begins that announces what follows; it ends with a colon and is alone on its line.
const ANNOUNCEMENTS: [&str; 7] = ["好的", "当然", "以下", "这是", "sure", "here", "certainly"];
/// How one ends that offers more.
const OFFERS: [&str; 7] = [
    "如果需要",
    "如需",
    "希望",
    "请随时",
    "if you",
    "let me know",
    "hope",
];
/// How one begins that says no.
const EXCUSES: [&str; 8] = [
    "抱歉",
    "很抱歉",
    "对不起",
    "我无法",
    "sorry",
    "i'm sorry",
    "i cannot",
    "i can't",
];
/// A longer one that begins like this has something to say.
const EXCUSE_CHARS_MAX: usize = 120;

/// The summary in a reply, not much longer than asked for; `None` where it has none: an empty
/// reply, an excuse, or the text given back.
pub(super) fn summary(reply: &str, chars: usize) -> Option<String> {
    let reply = without_controls(reply);
    let text = without_politeness(without_fence(without_thoughts(&reply)));
    let text = without_lead_in(text).trim();
    let has_words = text.chars().any(char::is_alphanumeric);
    let says_something = has_words && !is_excuse(text) && !MARKS.iter().any(|it| text.contains(it));
    let text = without_stump(text);
    says_something.then(|| shorten(text, chars.saturating_mul(SLACK) / 100))
}

/// A reply without the sentence that the model was cut off in. One that never ends its sentences is
/// left as it is.
fn without_stump(text: &str) -> &str {
    let ended = whole(text);
    let keeps_enough = ended.chars().count() * 2 >= text.chars().count();
    if is_complete(text) || !keeps_enough {
        return text;
    }
    ended
}

/// Of the control characters, only the ends of lines stay: not every database takes the others.
fn without_controls(reply: &str) -> String {
    let is_text = |c: &char| matches!(c, '\n' | '\t') || !c.is_control();
    let plain = reply.chars().filter(is_text);
    plain.map(|c| if c == '\t' { ' ' } else { c }).collect()
}

fn is_excuse(text: &str) -> bool {
    begins_with(text, &EXCUSES) && text.chars().count() <= EXCUSE_CHARS_MAX
}

fn begins_with(text: &str, words: &[&str]) -> bool {
    let lower = text.to_lowercase();
    words.iter().any(|word| lower.starts_with(word))
}

/// A reply without the announcement before it and, where there was one, without the offer after it.
fn without_politeness(text: &str) -> &str {
    let announced = text.split_once("\n\n").filter(|(first, _)| {
        let first = first.trim_end();
        first.ends_with([':', '：']) && begins_with(first, &ANNOUNCEMENTS)
    });
    let Some((_, text)) = announced else {
        return text;
    };
    let offer = text
        .rsplit_once("\n\n")
        .filter(|(_, last)| begins_with(last.trim(), &OFFERS));
    offer.map_or(text, |(text, _)| text).trim()
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
            (
                "\u{0}这\u{7}是。\r\n\r\nA\tb.\u{1b}",
                Some("这是。\n\nA b."),
                "what no database takes",
            ),
            ("\u{0}摘要：\u{0}", None, "nothing else"),
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
            (
                "好的，以下是结果：\n\n这是。\n\n如果需要调整，请随时告诉我。",
                Some("这是。"),
                "politeness",
            ),
            (
                "这是。\n\n如果需要，请看原文。",
                Some("这是。\n\n如果需要，请看原文。"),
                "only where it was announced",
            ),
            (
                "数据库变快了。新的引擎支持事务。原因是新的编",
                Some("数据库变快了。新的引擎支持事务。"),
                "cut off in the middle of a sentence",
            ),
            ("抱歉，我暂时无法完成这个请求。", None, "an excuse"),
            ("I'm sorry, but I can't.", None, "another"),
            ("<<<TEXT\nThe article", None, "the text given back"),
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
