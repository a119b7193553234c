//! What sites say when they refuse, and what that means: one table.

use almanack_core::source::check::FailureClass;

/// A text of the table, and what it means.
pub(super) type Known = (FailureClass, &'static str);

/// What sites say, in lower case.
const TEXTS: [(FailureClass, &[&str]); 3] = [
    (
        FailureClass::RateLimited,
        &[
            "操作过于频繁",
            "访问过于频繁",
            "请求过于频繁",
            "操作太频繁",
            "访问太频繁",
            "请求太频繁",
            "访问频率过高",
            "请求频率过高",
            "请求次数过多",
            "rate limit",
            "rate limited",
            "rate limit exceeded",
            "ratelimit",
            "too many requests",
            "too many attempts",
        ],
    ),
    (
        FailureClass::Unauthorised,
        &[
            "登录已过期",
            "登录已失效",
            "登录过期",
            "登录失效",
            "请先登录",
            "请登录",
            "尚未登录",
            "用户未登录",
            "账号未登录",
            "需要登录",
            "session expired",
            "session has expired",
            "your session timed out",
            "sign in to continue",
            "log in to continue",
            "login to continue",
            "please sign in",
            "please log in",
            "please login",
            "login required",
            "you must be logged in",
            "not logged in",
            "authentication required",
            "token expired",
            "token has expired",
            "invalid access token",
            "unauthorized",
            "unauthorised",
        ],
    ),
    (
        FailureClass::Forbidden,
        &[
            "验证码",
            "安全验证",
            "人机验证",
            "访问被拒绝",
            "拒绝访问",
            "禁止访问",
            "访问受限",
            "没有权限",
            "access denied",
            "access forbidden",
            "403 forbidden",
            "permission denied",
            "captcha",
            "verify you are human",
            "verify that you are human",
            "are you a robot",
            "not a robot",
            "unusual traffic",
            "you have been blocked",
            "request has been blocked",
        ],
    ),
];
/// What else stands in a title that is such a text.
const AROUND: [&str; 12] = [
    "please try again later",
    "try again later",
    "please",
    "exceeded",
    "error",
    "sorry",
    "请稍后再试",
    "请稍后重试",
    "稍后再试",
    "抱歉",
    "您的",
    "您",
];

/// The longest text of the table that is in another.
pub(super) fn find(text: &str) -> Option<Known> {
    let text = text.to_lowercase().replace('’', "'");
    let all = TEXTS
        .iter()
        .flat_map(|(class, texts)| texts.iter().map(|text| (*class, *text)));
    all.filter(|(_, words)| has_words(&text, words))
        .max_by_key(|(_, words)| words.len())
}

/// Whether words are in a text as words: a corporate limit is no rate limit.
fn has_words(text: &str, words: &str) -> bool {
    let joins = |char: Option<char>| char.is_some_and(|char| char.is_ascii_alphanumeric());
    text.match_indices(words).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + words.len()..].chars().next();
        let begins = words.starts_with(|char: char| char.is_ascii());
        !(begins && (joins(before) || joins(after.filter(|after| *after != 's'))))
    })
}

/// A text of the table that is all, or nearly all, of a title.
pub(super) fn nothing_but(title: &str) -> Option<Known> {
    let found = find(title)?;
    let title = title.to_lowercase().replace('’', "'");
    let mut rest = title.replacen(found.1, " ", 1);
    for around in AROUND {
        rest = rest.replace(around, " ");
    }
    let letters = |text: &str| text.chars().filter(|char| char.is_alphanumeric()).count();
    (2 * letters(&rest) <= letters(found.1)).then_some(found)
}
