//! Editions by day, today's on top.

use almanack_core::edition::{Counts, EditionName, delivery::Delivery};
use almanack_core::store::{EditionFilter, EditionLine};
use almanack_engine::editions::{Editions, Error};

use super::{one, steps};
use crate::editions::{any_editions, parse_id, parse_name};
use crate::ui::prelude::*;

/// Editions per page; small, because the deliveries of each are read.
const PAGE: usize = 20;

#[derive(Debug, Deserialize)]
pub(crate) struct Query {
    /// Only what comes after this edition.
    after: Option<String>,
    /// Only editions of this name.
    name: Option<String>,
}

pub(crate) async fn show(Sought(state, viewer, query): Sought<Query>) -> Page {
    let after = query.after.as_deref().map(parse_id).transpose()?;
    let name = query.name.as_deref().map(parse_name).transpose()?;
    let body = if state.editions.is_empty() {
        unconfigured(viewer.lang)
    } else {
        configured(&viewer, &state, (name, after)).await?
    };
    Ok(Place::Editions.page(&viewer, &body))
}

const SNIPPET: &str = "\
[edition]
language = \"en\"             # zh-CN unless you say otherwise

[edition.directory]
path = \"/srv/site/_posts\"   # where the Markdown goes
";

/// How to configure editions on this node.
fn unconfigured(lang: Lang) -> Markup {
    html! {
        p { (pick!(lang;
            "This node does not build editions. To turn them on, add an editions section to the configuration:",
            "该节点不制作日报。要启用，请在配置中加入日报部分：")) }
        pre tabindex="0" { code { (SNIPPET) } }
        p { (pick!(lang;
            "Without a model key, titles stay unchanged and summaries are sentences of the article. See the guide: ",
            "没有模型密钥时，标题保持不变，摘要取自原文的句子。详见指南：")) code { "docs/guide/editions.md" } }
    }
}

async fn configured(
    viewer: &Viewer,
    state: &AppState,
    (name, after): (Option<EditionName>, Option<EditionId>),
) -> Page {
    let lang = viewer.lang;
    let editions = any_editions(state)?;
    let filter = EditionFilter {
        name,
        after,
        limit: PAGE + 1,
        ..EditionFilter::default()
    };
    let mut lines = editions.list(&filter).await?;
    let more = paging::cut(&mut lines, PAGE);
    let shown = |one: &&Arc<Editions>| name.is_none_or(|name| one.settings.name == name);
    let today: Vec<EditionId> = state
        .editions
        .iter()
        .filter(shown)
        .map(|one| one.today())
        .collect();
    let has = |id: &EditionId| lines.iter().any(|line| line.edition.id == *id);
    let missing_now: Vec<EditionId> = if after.is_none() {
        today.iter().filter(|id| !has(id)).copied().collect()
    } else {
        Vec::new()
    };
    let mut sent = Vec::with_capacity(lines.len());
    for line in &lines {
        sent.push(delivered(editions, line).await?);
    }
    let here = Place::Editions.path();
    let last = lines.last().filter(|_| more);
    let last = last.map(|last| last.edition.id.to_string());
    let named = name.map(|name| name.to_string());
    let next = last.map(|last| {
        let mut query = vec![("after", last.as_str())];
        query.extend(named.as_deref().map(|name| ("name", name)));
        address(here, query)
    });
    Ok(html! {
        p class="acts lead" {
            a class="button" href="/ui/editions/subscribers" { (lang.pick("Newsletter", "邮件订阅")) }
            @if let Some(one) = state.editions.iter().next().filter(|_| today.len() == 1) {
                a class="button" href=(links::reader(one.settings.name)) { (lang.pick("Public pages", "读者页面")) }
            }
        }
        (makers(viewer, state, name))
        @if let ([today], true, None) = (&missing_now[..], lines.is_empty(), after) { (first(viewer, *today)) }
        @else { @for today in missing_now { (missing(viewer, today)) } }
        (section! { lang; "days", "By day", "按日期";
            (live("rows", &html! {
                (rows(viewer, &lines, &sent, &today))
                (pager(lang, after.is_some().then_some(here), next.as_deref()))
            }))
            (Equivalent::call("GET", "/api/v1/editions").cli(["edition", "list"]).show(viewer))
        })
    })
}

/// The editions that this node makes, each with its days and its pages; one alone needs no table.
fn makers(viewer: &Viewer, state: &AppState, chosen: Option<EditionName>) -> Markup {
    let lang = viewer.lang;
    let zone = |one: &Editions| one.settings.zone.iana_name().unwrap_or("UTC").to_owned();
    let all: Vec<&Arc<Editions>> = state.editions.iter().collect();
    if let [one] = all[..] {
        let zone = zone(one);
        return html! {
            p class="hint" { (say!(lang, "Days are in {zone}.", "日期按 {zone} 计。")) }
        };
    }
    html! {
        (table! { lang; "Editions of this node", "该节点制作的日报"; or "There are no editions.", "没有日报。";
            for (one in all) tr(data-row)
            "Name", "名称" {
                th scope="row" {
                    a href=(address(Place::Editions.path(), [("name", one.settings.name.as_str())])) { (one.settings.name) }
                    @if chosen == Some(one.settings.name) { " " span class="hint" { (lang.pick("shown below", "如下所示")) } }
                }
            }
            "Title", "标题" { td { span lang="" { (one.settings.title) } } }
            "Language", "语言" { td { (one.settings.language) } }
            "Time zone", "时区" { td { (zone(one)) } }
            "Public pages", "读者页面" { td { a href=(links::reader(one.settings.name)) { (links::reader(one.settings.name)) } } }
        })
        @if chosen.is_some() { p { a href=(Place::Editions.path()) { (lang.pick("Show all editions", "显示全部日报")) } } }
    }
}

/// There is no edition yet: what one is, and how to get the first.
fn first(viewer: &Viewer, today: EditionId) -> Markup {
    let lang = viewer.lang;
    let run = format!("{}/run", links::edition(today));
    let day = today.to_string();
    let begin = html! {
        @if viewer.may(Scope::Operate) {
            (form::form(viewer, &run, &html! {
                button type="submit" class="primary" { (lang.pick("Build today's edition", "制作今天的日报")) }
            }))
        }
        p class="hint" {
            (lang.pick("Without a model it quotes the stories. See the guide: ", "没有模型时引用原文。详见指南："))
            code { "docs/guide/editions.md" }
        }
        (Equivalent::call("POST", format!("/api/v1/editions/{day}/run")).cli(["edition", "run"]).show(viewer))
    };
    parts::first(
        viewer,
        pick!(lang;
        "An edition is the digest of a day: stories are fetched, read and summarized in batches, and published once to each destination.",
        "日报是一天的汇编：获取文章，分批阅读并摘要，再向每个目的地各发布一次。"),
        &begin,
    )
}

/// Today's edition has not started.
fn missing(viewer: &Viewer, today: EditionId) -> Markup {
    let lang = viewer.lang;
    section! { lang; "today", "Today", "今日";
        p { (say!(lang, "The edition of {today} has not started; the first tick of the day starts it.", "{today} 的日报尚未开始，将由当天的第一个节拍启动。")) }
        @if viewer.may(Scope::Operate) { (form::button(viewer, &format!("{}/run", links::edition(today)), lang.pick("Build now", "立即制作"))) }
    }
}

fn rows(
    viewer: &Viewer,
    lines: &[EditionLine],
    sent: &[Vec<Delivery>],
    today: &[EditionId],
) -> Markup {
    let lang = viewer.lang;
    let lines = lines.iter().zip(sent);
    let lines = lines.map(|(line, sent)| (&line.edition, &line.counts, sent));
    table! { lang; "Editions, newest day first", "日报，最近日期在前"; or "There are no editions yet.", "还没有日报。";
        for ((edition, counts, sent) in lines) tr(data-row id={ "edition-" (edition.id) })
        "Day", "日期" {
            th scope="row" {
                a href=(links::edition(edition.id)) data-open { time datetime=(edition.id.date) { (edition.id) } }
                @if today.contains(&edition.id) { " " span class="hint" { (lang.pick("today", "今日")) } }
            }
        }
        "State", "状态" {
            td {
                (steps::draw(viewer, edition, None))
                @if edition.waiting().is_some() { (badge("unknown", lang.pick("waits for approval", "等待批准"))) }
                @if edition.retraction.is_some() { (badge("cancelled", lang.pick("retracted", "已撤回"))) }
            }
        }
        "Stories", "文章" { td { (stories(lang, edition.id, counts)) } }
        "Revision", "修订" [wide] {
            td class="number" {
                @if edition.revision > 0 { a href={ (links::edition(edition.id)) "#document" } { (edition.revision) } }
                @else { "0" }
            }
        }
        "Published", "发布时间" [mid] { td { (viewer.at_or_dash(edition.published_at)) } }
        "Deliveries", "投递" { td { (one::delivered(viewer, sent)) } }
    }
}

fn stories(lang: Lang, id: EditionId, counts: &Counts) -> Markup {
    let href = format!("{}#stories", links::edition(id));
    let (completed, total, failed) = (counts.completed, counts.total, counts.failed);
    html! {
        a href=(href) { (say!(lang; "{completed} of {total}", "{total} 篇中 {completed} 篇")) }
        @if failed > 0 { br; a href=(href) { (say!(lang, "{failed} failed", "{failed} 篇失败")) } }
    }
}

/// The deliveries of an edition; none without a document.
async fn delivered(editions: &Editions, line: &EditionLine) -> Result<Vec<Delivery>> {
    if line.edition.revision == 0 {
        return Ok(Vec::new());
    }
    match editions.look(line.edition.id).await {
        Ok(account) => Ok(account.deliveries),
        Err(Error::Unknown(_)) => Ok(Vec::new()),
        // Its own page shows the error; the list shows it and the others (SF-06).
        Err(error) if error.is_unreadable() => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}
