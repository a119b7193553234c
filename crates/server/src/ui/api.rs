//! The API reference: every operation as tables, with recorded examples, and a form to try it.
//!
//! Rendered from the OpenAPI document, so it cannot differ from what is routed. Public, as the
//! document is: it says nothing about this node. The page is complete without the script; only
//! trying a call needs it ([`super::assets::TRY`]), and a requester who may.

use crate::openapi::read::{Answer, Content, Field as ApiField, Operation, Parameter};
use crate::ui::prelude::*;

use super::assets;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Query {
    q: Option<String>,
}

pub(super) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/ui/api", get(index))
        .route("/ui/api/{tag}", get(resource))
}

/// All operations by resource, or those about a word.
async fn index(viewer: Viewer, Asked(query): Asked<Query>) -> Page {
    let lang = viewer.lang;
    let word = query
        .q
        .as_deref()
        .map(str::trim)
        .filter(|word| !word.is_empty());
    let found = || {
        let all = Operation::all().iter();
        all.filter(move |it| word.is_none_or(|word| it.is_about(word)))
    };
    let body = html! {
        (intro(lang))
        form method="get" action="/ui/api" class="fields" role="search" {
            (Field::search("q", lang.pick("Word", "关键词"), word))
            button type="submit" { (lang.pick("Filter", "筛选")) }
            @if word.is_some() { a href="/ui/api" { (lang.pick("Show all", "显示全部")) } }
        }
        @if found().next().is_none() {
            (empty(lang.pick("No operation matches.", "没有符合条件的操作。")))
        }
        @for tag in tags(found()) {
            (section(&format!("tag-{tag}"), resource_name(lang, tag), &html! {
                ul class="calls" { @for it in found().filter(|it| it.tag == tag) { (entry(lang, it)) } }
            }))
        }
    };
    Ok(page(
        &viewer,
        Place::Elsewhere,
        lang.pick("API reference", "API 参考"),
        &body,
    ))
}

fn intro(lang: Lang) -> Markup {
    html! {
        p {
            (lang.pick("For programs: ", "供程序使用："))
            a href="/api/v1/openapi.json" { "openapi.json" } " (OpenAPI 3.1). "
            (lang.pick(
                "Texts are in the language that Accept-Language prefers, English or Chinese.",
                "应答中的文字按 Accept-Language 使用英文或中文。"))
        }
    }
}

/// One resource: its operations in full.
async fn resource(viewer: Viewer, Path(tag): Path<String>) -> Page {
    let lang = viewer.lang;
    let of_it: Vec<&Operation> = Operation::all().iter().filter(|it| it.tag == tag).collect();
    if of_it.is_empty() {
        let detail = both!("the API has no resource `{tag}`", "API 中没有资源 `{tag}`");
        return Err(Problem::new(Code::NoSuchPath, detail));
    }
    let body = html! {
        p { a href="/ui/api" { (lang.pick("All resources", "全部资源")) } }
        nav class="card" aria-label=(lang.pick("Operations", "操作")) {
            ul class="calls" { @for it in &of_it { (entry(lang, it)) } }
        }
        @for it in &of_it { (operation(&viewer, it)) }
        script defer src=(*assets::TRY) {}
    };
    let name = resource_name(lang, &tag);
    let title = say!(lang, "API: {name}", "API：{name}");
    Ok(page(&viewer, Place::Elsewhere, &title, &body))
}

/// The resources of some operations, in the document's order.
fn tags<'a>(operations: impl Iterator<Item = &'a Operation>) -> Vec<&'a str> {
    let mut tags: Vec<&str> = Vec::new();
    for it in operations {
        if !tags.contains(&it.tag.as_str()) {
            tags.push(&it.tag);
        }
    }
    tags
}

fn entry(lang: Lang, it: &Operation) -> Markup {
    html! {
        li {
            a href={ "/ui/api/" (it.tag) "#" (it.id) } { (call_line(it)) }
            " " (prose(lang, &it.summary))
        }
    }
}

fn call_line(it: &Operation) -> Markup {
    html! { b class="method" { (it.method) } " " code { (it.path) } }
}

fn operation(viewer: &Viewer, it: &Operation) -> Markup {
    let lang = viewer.lang;
    let heading = format!("{}-title", it.id);
    html! {
        section id=(it.id) aria-labelledby=(heading) {
            h2 id=(heading) { a href={ "#" (it.id) } { (call_line(it)) } }
            p { (prose(lang, &it.summary)) }
            @if !it.description.is_empty() { p { (prose(lang, &it.description)) } }
            p class="hint" { (needs(lang, it.scope.as_deref())) }
            @if !it.parameters.is_empty() { (parameters(lang, &it.parameters)) }
            @if let Some(body) = &it.body {
                h3 { (lang.pick("Body", "请求体")) " " code { (body.media_type) } }
                (content(lang, body))
            }
            @for answer in &it.answers { (self::answer(lang, answer)) }
            (curl(viewer, it))
            @if viewer.requester.is_some() { (form_to_try(lang, it)) }
        }
    }
}

fn needs(lang: Lang, scope: Option<&str>) -> String {
    match scope {
        Some(scope) => say!(lang, "Needs scope {scope}.", "需要 {scope} 权限。"),
        None => say!(lang, "Public.", "公开。"),
    }
}

fn parameters(lang: Lang, of: &[Parameter]) -> Markup {
    table! { lang; "Parameters", "参数";
        for (it in of) tr()
        "Parameter", "参数" { (name(lang, &it.field)) }
        "In", "位置" { td { (place(lang, &it.place)) } }
        "Type", "类型" { td { code { (it.field.shape) } } }
        "Meaning", "含义" { td class="words" { (prose(lang, &it.field.description)) } }
        "Example", "示例" { td { (or_dash((!it.example.is_empty()).then(|| html! { code { (it.example) } }))) } }
    }
}

fn place(lang: Lang, place: &str) -> &str {
    match place {
        "path" => lang.pick("path", "路径"),
        "query" => lang.pick("query", "查询"),
        "header" => lang.pick("header", "请求头"),
        other => other,
    }
}

fn content(lang: Lang, of: &Content) -> Markup {
    let fields = table! { lang; "Fields", "字段";
        for (it in &of.fields) tr()
        "Field", "字段" { (name(lang, it)) }
        "Type", "类型" { td { code { (it.shape) } } }
        "Meaning", "含义" { td class="words" { (prose(lang, &it.description)) } }
    };
    html! {
        @if of.fields.is_empty() { p { code { (of.shape) } } } @else { (fields) }
        @if let Some(example) = &of.example { pre tabindex="0" { code { (example) } } }
    }
}

fn name(lang: Lang, of: &ApiField) -> Markup {
    html! {
        th scope="row" {
            code { (of.name) }
            @if of.is_required { " " span class="hint" { (lang.pick("required", "必填")) } }
        }
    }
}

/// An answer; what a success looks like is open, what most operations share is folded.
fn answer(lang: Lang, of: &Answer) -> Markup {
    html! {
        h3 { (lang.pick("Answer", "应答")) " " code { (of.status) } " " (prose(lang, &of.description)) }
        @if let Some(it) = &of.content {
            details open[it.example.is_some()] {
                summary { code { (it.media_type) } " " code { (it.shape) } }
                (content(lang, it))
            }
        }
    }
}

/// The call with its recorded example.
fn curl(viewer: &Viewer, it: &Operation) -> Markup {
    let in_path = it
        .parameters
        .iter()
        .filter(|it| it.place == "path" && !it.example.is_empty());
    let path = in_path.fold(it.path.clone(), |path, parameter| {
        path.replace(&format!("{{{}}}", parameter.field.name), &parameter.example)
    });
    let example = it.body.as_ref().and_then(|body| body.example.as_deref());
    let body = example.and_then(|example| serde_json::from_str::<serde_json::Value>(example).ok());
    let call = Equivalent::call(method(&it.method), path);
    let call = match &body {
        Some(body) => call.body(body),
        None => call,
    };
    call.show(viewer)
}

fn method(name: &str) -> &'static str {
    let known = ["GET", "PUT", "POST", "PATCH", "DELETE"];
    known
        .into_iter()
        .find(|method| *method == name)
        .unwrap_or("GET")
}

/// Sends the call from the page. The script shows the form, asks before a change, and shows status,
/// headers and body.
fn form_to_try(lang: Lang, it: &Operation) -> Markup {
    let (method, path) = (&it.method, &it.path);
    let confirm = (method != "GET").then(|| {
        say!(
            lang,
            "Really send {method} {path}? It may change data.",
            "确定发送 {method} {path}？这可能更改数据。"
        )
    });
    let body = it.body.as_ref();
    html! {
        details class="try" hidden {
            summary { (lang.pick("Try it", "试一试")) }
            form data-call data-method=(method) data-path=(path) data-confirm=[confirm]
              data-type=[body.map(|body| body.media_type.as_str())] class="stack" {
                div class="fields" {
                    @for it in &it.parameters {
                        label { (it.field.name)
                            input type="text" name=(it.field.name) data-in=(it.place) required[it.field.is_required]
                              value=[(it.place == "path").then_some(it.example.as_str())] autocomplete="off" spellcheck="false";
                        }
                    }
                }
                @if let Some(body) = body {
                    label { (lang.pick("Body", "请求体"))
                        textarea name="body" rows="8" spellcheck="false" { (body.example.as_deref().unwrap_or_default()) }
                    }
                }
                button type="submit" { (lang.pick("Send", "发送")) }
                div class="answer" role="status" hidden data-failed=(lang.pick("No answer", "没有应答")) {
                    p { b data-status {} }
                    pre tabindex="0" { code data-headers {} }
                    pre tabindex="0" { code data-body {} }
                }
            }
        }
    }
}

/// A text of the document, which is English.
fn prose(lang: Lang, text: &str) -> Markup {
    html! { @if lang == Lang::English { (marked(text)) } @else { span lang="en" { (marked(text)) } } }
}

fn resource_name(lang: Lang, tag: &str) -> &str {
    let known = words! { lang, tag?;
        "tasks" => "Tasks", "任务";
        "kinds" => "Kinds", "类型";
        "events" => "Events", "事件";
        "receipts" => "Receipts", "回执";
        "schedules" => "Schedules", "日程";
        "monitors" => "Monitors", "监控";
        "calendars" => "Calendars", "日历";
        "sources" => "Sources", "信源";
        "editions" => "Editions", "日报";
        "newsletter" => "Newsletter", "邮件订阅";
        "pages" => "Pages for readers", "读者页面";
        "work" => "Workers", "工作者";
        "radar" => "Time radar", "时间雷达";
        "nodes" => "Nodes", "节点";
        "alerts" => "Alerts", "告警";
        "access" => "Tokens and users", "令牌与用户";
        "health" => "Health", "健康检查";
        "tick" => "Tick", "外部触发";
        "compat" => "Compatible endpoints", "兼容接口";
        "description" => "Description", "接口描述";
    };
    known.unwrap_or(tag)
}
