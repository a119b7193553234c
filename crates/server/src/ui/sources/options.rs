//! What was set about a source beyond its address and its rules, as a list.

use almanack_core::source::options::Options;

use crate::ui::prelude::*;

/// The options that differ from the defaults. References to secrets are shown, never secrets.
pub(super) fn show(lang: Lang, options: &Options) -> Markup {
    let fetch = &options.fetch;
    let line = |title: &str, value: &str| html! { li { (title) ": " code { (value) } } };
    let given = [
        (lang.pick("Bearer token", "Bearer 令牌"), &fetch.bearer),
        (lang.pick("User name", "用户名"), &fetch.user),
        (lang.pick("Password", "密码"), &fetch.password),
        (lang.pick("Proxy", "代理"), &fetch.proxy),
        ("User-Agent", &fetch.user_agent),
        (lang.pick("Page for readers", "供阅读的网页"), &options.site),
    ];
    let robots = fetch.robots.map(|on| {
        let [respected, ignored] = [lang.pick("respected", "遵守"), lang.pick("ignored", "忽略")];
        if on { respected } else { ignored }
    });
    html! {
        ul {
            @if options.from_file { li { (lang.pick("defined by the configuration file", "由配置文件定义")) } }
            @for (name, value) in &fetch.headers { (line(name, value)) }
            @for (title, value) in given { @if let Some(value) = value { (line(title, value)) } }
            @if let Some(robots) = robots { li { "robots.txt: " (robots) } }
            @for rule in &options.filters { (line(lang.pick("Rule", "规则"), rule)) }
            @for text in &options.error_texts { (line(lang.pick("Failure text", "失败文本"), text)) }
            @if options.full_text { li { (lang.pick("the whole text of new entries is fetched", "获取新条目的全文")) } }
        }
    }
}
