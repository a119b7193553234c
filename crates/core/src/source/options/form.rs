//! Whether options can be stored: lengths, counts, names of headers, and secrets only as references.
//!
//! What an option does is decided where it is used. Here is what must never reach the database: a
//! secret itself, a text that would break a request or a line of a list, or anything without a
//! limit.

use std::collections::BTreeMap;

use url::Url;

use super::{Fetch, Options};
use crate::{
    both,
    headers::{REFERENCE, Rules, VALUE_BYTES_MAX},
    lang::{Lang, Say, Sentence, Words},
    say,
    source::entry::LINK_BYTES_MAX,
};

/// Most filter rules of a source.
pub const FILTERS_MAX: usize = 50;
/// Longest filter rule, in bytes.
const FILTER_BYTES_MAX: usize = 500;
/// Most texts that make a failure of a response.
pub const ERROR_TEXTS_MAX: usize = 20;
/// Longest of them, in bytes.
const ERROR_TEXT_BYTES_MAX: usize = 200;

/// Headers whose values are secrets.
const SECRET_HEADERS: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];
/// Headers that a check sets itself, with the option that is meant where there is one.
const OWN_HEADERS: [(&str, Words); 4] = [
    ("user-agent", ("use user_agent", "请使用 user_agent")),
    ("if-modified-since", THEMSELVES),
    ("if-none-match", THEMSELVES),
    ("range", ("documents are read whole", "文档总是完整读取")),
];
const THEMSELVES: Words = ("checks set it themselves", "检查会自行设置");

/// Why options cannot be stored. Never quotes a value: it may be a secret in the wrong place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub struct Unfit {
    /// Where in the options: `fetch.bearer`.
    pub path: String,
    /// What is wrong, as the rest of a sentence.
    pub why: Sentence,
}

impl Say for Unfit {
    fn say(&self, lang: Lang) -> String {
        let (path, why) = (&self.path, self.why.say(lang));
        say!(lang; "options.{path} {why}", "options.{path}：{why}")
    }
}

impl Unfit {
    pub(super) fn new(path: impl Into<String>, why: &impl Say) -> Self {
        let (path, why) = (path.into(), why.both());
        Self { path, why }
    }
}

/// Whether a text only says where a secret is kept.
pub fn is_reference(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    matches!(scheme, "env" | "file") && !rest.is_empty() && !rest.contains(char::is_control)
}

impl Options {
    /// Whether they can be stored.
    pub fn check(&self) -> Result<(), Unfit> {
        self.fetch.check()?;
        let (rules, texts) = (&self.filters, &self.error_texts);
        lines("filters", rules, FILTERS_MAX, FILTER_BYTES_MAX)?;
        lines("error_texts", texts, ERROR_TEXTS_MAX, ERROR_TEXT_BYTES_MAX)?;
        let site = self.site.as_deref();
        site.map_or(Ok(()), |site| web_page("site", site).map(drop))
    }
}

impl Fetch {
    fn check(&self) -> Result<(), Unfit> {
        headers(&self.headers)?;
        for (path, secret) in [
            ("fetch.bearer", &self.bearer),
            ("fetch.password", &self.password),
        ] {
            if let Some(text) = secret {
                within(path, text, VALUE_BYTES_MAX)?;
                holds(is_reference(text), path, &REFERENCE)?;
            }
        }
        let (user, agent) = (self.user.as_deref(), self.user_agent.as_deref());
        user.map_or(Ok(()), |it| within("fetch.user", it, VALUE_BYTES_MAX))?;
        agent.map_or(Ok(()), |it| within("fetch.user_agent", it, VALUE_BYTES_MAX))?;
        self.check_credentials()?;
        let proxy = self.proxy.as_deref();
        proxy.map_or(Ok(()), check_proxy)
    }

    /// A request carries one set of credentials.
    fn check_credentials(&self) -> Result<(), Unfit> {
        let has_colon = self.user.as_deref().is_some_and(|user| user.contains(':'));
        holds(
            !has_colon,
            "fetch.user",
            &("must not contain a colon", "不能含冒号"),
        )?;
        let is_half = self.user.is_some() != self.password.is_some();
        let together = (
            "and fetch.password belong together",
            "须与 fetch.password 一起设置",
        );
        holds(!is_half, "fetch.user", &together)?;
        let names = self.headers.keys();
        let by_header = names
            .filter(|name| name.eq_ignore_ascii_case("authorization"))
            .count();
        let ways =
            by_header + usize::from(self.bearer.is_some()) + usize::from(self.user.is_some());
        let why = (
            "has several credentials; set bearer, or user and password, or an Authorization header",
            "有多个凭据；请只设置 bearer、user 与 password、或 Authorization 请求头之一",
        );
        holds(ways <= 1, "fetch", &why)
    }
}

fn headers(headers: &BTreeMap<String, String>) -> Result<(), Unfit> {
    let is_secret = |name: &str| {
        SECRET_HEADERS
            .iter()
            .any(|secret| name.eq_ignore_ascii_case(secret))
    };
    let rules = Rules {
        own: &OWN_HEADERS,
        is_secret,
    };
    crate::headers::check(headers, rules).map_err(|unfit| {
        let name = unfit
            .name
            .map(|name| format!(".{name}"))
            .unwrap_or_default();
        Unfit::new(format!("fetch.headers{name}"), &unfit.why)
    })?;
    // A source has options for schemes, so its headers are whole references.
    let mut secrets = headers.iter().filter(|(name, _)| is_secret(name));
    match secrets.find(|(_, value)| !is_reference(value)) {
        Some((name, _)) => Err(Unfit::new(format!("fetch.headers.{name}"), &REFERENCE)),
        None => Ok(()),
    }
}

/// A value that fits into one line of a request.
fn within(path: &str, value: &str, limit: usize) -> Result<(), Unfit> {
    let why = both!(
        "must have 1 to {limit} bytes of printable ASCII",
        "必须为 1 到 {limit} 字节的可打印 ASCII"
    );
    let fits = !value.trim().is_empty() && value.len() <= limit;
    let printable = value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    holds(fits && printable, path, &why)
}

fn lines(path: &str, lines: &[String], most: usize, limit: usize) -> Result<(), Unfit> {
    let count = lines.len();
    let why = both!(
        "has {count} lines; the limit is {most}",
        "有 {count} 行；上限为 {most} 行"
    );
    holds(count <= most, path, &why)?;
    let fits = |line: &String| {
        !line.trim().is_empty() && line.len() <= limit && !line.contains(char::is_control)
    };
    let why = both!(
        "must have lines of 1 to {limit} bytes without control characters",
        "每行必须为 1 到 {limit} 字节，且不含控制字符"
    );
    holds(lines.iter().all(fits), path, &why)
}

fn check_proxy(proxy: &str) -> Result<(), Unfit> {
    let path = "fetch.proxy";
    let url = web_page(path, proxy)?;
    let is_bare = matches!(url.path(), "" | "/") && url.query().is_none();
    let why = (
        "must be the address of a proxy without a path",
        "必须是不含路径的代理地址",
    );
    holds(is_bare, path, &why)
}

/// A web address without credentials.
fn web_page(path: &str, text: &str) -> Result<Url, Unfit> {
    let url = Url::parse(text).ok().filter(|url| {
        let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
        let is_bare = url.username().is_empty() && url.password().is_none();
        is_web && is_bare && text.len() <= LINK_BYTES_MAX && !text.contains(char::is_control)
    });
    let why = (
        "must be an http or https address without user name or password",
        "必须是不含用户名和密码的 http 或 https 地址",
    );
    url.ok_or_else(|| Unfit::new(path, &why))
}

fn holds(fits: bool, path: &str, why: &impl Say) -> Result<(), Unfit> {
    if fits {
        return Ok(());
    }
    Err(Unfit::new(path, why))
}
