//! The fields of the form that edits a source.

use almanack_core::source::policy::cadence::Cadence;

use super::Edit;
use crate::ui::prelude::*;
use crate::ui::sources::words;

/// All fields, grouped.
pub(super) fn show(lang: Lang, edit: &Edit) -> Markup {
    html! {
        (general(lang, edit))
        (rules(lang, edit))
        (request(lang, edit))
        (content(lang, edit))
    }
}

fn group(title: &str, fields: &Markup) -> Markup {
    html! { fieldset class="fields" { legend { (title) } (fields) } }
}

/// Several lines of text.
fn area(name: &str, label: &str, value: Option<&str>) -> Markup {
    html! { label class="wide" { (label)
        textarea name=(name) rows="3" spellcheck="false" { (value.unwrap_or_default()) }
    } }
}

fn general(lang: Lang, edit: &Edit) -> Markup {
    let [name, category] = [
        pick!(lang; "Name (default: the feed's own title)", "名称（默认：订阅源自己的标题）"),
        pick!(lang; "Category, folders separated by /", "分类：以 / 分隔的文件夹"),
    ];
    let policy = pick!(lang; "Policy: adaptive, classic, fixed:30m or a schedule expression (default: the node's)",
        "策略：adaptive、classic、fixed:30m 或日程表达式（默认：节点的策略）");
    let site = pick!(lang; "Page for readers (optional)", "供阅读的网页（可选）");
    let learned = [("", lang.pick("learned", "自动学习").to_owned())];
    let cadences = Cadence::ALL.map(|one| (one.as_str(), words::cadence(lang, one)));
    let cadences = learned.into_iter().chain(cadences);
    group(
        lang.pick("Source", "信源"),
        &html! {
            (Field::text("address", lang.pick("Address", "地址"), edit.address.as_deref()).wide().most(2000).required())
            (Field::text("name", name, edit.name.as_deref()).wide().most(500))
            (Field::text("category", category, edit.category.as_deref()).wide().most(500))
            (choice("cadence", lang.pick("Cadence", "节奏"), edit.cadence.as_deref(), cadences))
            (Field::text("policy", policy, edit.policy.as_deref()).wide().most(300))
            (Field::text("site", site, edit.site.as_deref()).wide().most(2000))
        },
    )
}

fn rules(lang: Lang, edit: &Edit) -> Markup {
    let how = options! { lang;
        "feed" => "feed (RSS, Atom, JSON Feed)", "订阅源（RSS、Atom、JSON Feed）";
        "html" => "page, by CSS selectors", "网页，按 CSS 选择器";
        "json" => "JSON, by paths", "JSON，按路径";
        "sitemap" => "sitemap", "站点地图";
    };
    let rule = |name, label, value: &Option<String>| {
        html! { (Field::text(name, label, value.as_deref()).most(300)) }
    };
    group(
        lang.pick("Read as", "读取方式"),
        &html! {
            (choice("how", lang.pick("Format", "格式"), edit.how.as_deref(), how))
            (rule("item", lang.pick("Entries (page, JSON)", "条目（网页、JSON）"), &edit.item))
            (rule("title", lang.pick("Title (page, JSON)", "标题（网页、JSON）"), &edit.title))
            (rule("link", lang.pick("Link (page, JSON)", "链接（网页、JSON）"), &edit.link))
            (rule("date", lang.pick("Publication time (page, JSON)", "发布时间（网页、JSON）"), &edit.date))
            (rule("summary", lang.pick("Summary (page, JSON)", "摘要（网页、JSON）"), &edit.summary))
            (rule("id", lang.pick("Id (JSON)", "标识（JSON）"), &edit.id))
            (rule("containing", lang.pick("Address contains (sitemap)", "地址包含（站点地图）"), &edit.containing))
        },
    )
}

fn request(lang: Lang, edit: &Edit) -> Markup {
    let robots = options! { lang;
        "" => "for pages only", "仅对网页";
        "on" => "respect it", "遵守";
        "off" => "ignore it", "忽略";
    };
    let reference = |name, label, value: &Option<String>| {
        html! { (Field::text(name, label, value.as_deref()).most(1000).example("env:NAME")) }
    };
    let headers = pick!(lang; "Further headers, one Name: value per line; secrets as env:NAME or file:PATH",
        "其他请求头，每行一个 Name: value；机密写作 env:NAME 或 file:PATH");
    group(
        lang.pick("Request", "请求"),
        &html! {
            (area("headers", headers, edit.headers.as_deref()))
            (reference("bearer", lang.pick("Bearer token: env:NAME or file:PATH", "Bearer 令牌：env:NAME 或 file:PATH"), &edit.bearer))
            (Field::text("user", lang.pick("User name (basic authentication)", "用户名（基本认证）"), edit.user.as_deref()).most(1000))
            (reference("password", lang.pick("Password: env:NAME or file:PATH", "密码：env:NAME 或 file:PATH"), &edit.password))
            (Field::text("proxy", lang.pick("Proxy", "代理"), edit.proxy.as_deref()).most(2000))
            (Field::text("user_agent", lang.pick("User-Agent (default: the node's)", "User-Agent（默认：节点的）"), edit.user_agent.as_deref()).most(1000))
            (choice("robots", "robots.txt", edit.robots.as_deref(), robots))
        },
    )
}

fn content(lang: Lang, edit: &Edit) -> Markup {
    let [filters, errors] = [
        pick!(lang; "Keep and block rules, one per line: block title contains \"sponsored\"",
            "保留与屏蔽规则，每行一条：block title contains \"sponsored\""),
        pick!(lang; "Texts that make a response a failure, one per line",
            "使响应视为失败的文本，每行一条"),
    ];
    group(
        lang.pick("Entries", "条目"),
        &html! {
            (area("filters", filters, edit.filters.as_deref()))
            (area("error_texts", errors, edit.error_texts.as_deref()))
            label class="tick" {
                input type="checkbox" name="full_text" value="on" checked[edit.full_text.is_some()];
                (pick!(lang; "Fetch the whole text of new entries from their links", "从链接获取新条目的全文"))
            }
        },
    )
}
