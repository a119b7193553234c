//! Editions by day, today's on top.

use almanack_core::store::{EditionFilter, EditionLine};
use almanack_core::{edition::Counts, edition::delivery::Delivery};
use almanack_engine::editions::{Editions, Error};

use super::{one, steps};
use crate::ui::prelude::*;

/// Editions per page; small, because the deliveries of each are read.
const PAGE: usize = 20;

#[derive(Debug, Deserialize)]
pub(crate) struct Query {
    /// Only days before this.
    before: Option<String>,
}

pub(crate) async fn show(Sought(state, viewer, query): Sought<Query>) -> Page {
    let body = match &state.editions {
        None => unconfigured(viewer.lang),
        Some(editions) => {
            let before = query.before.as_deref().map(crate::editions::parse_date);
            configured(&viewer, editions, before.transpose()?).await?
        }
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

async fn configured(viewer: &Viewer, editions: &Editions, before: Option<Date>) -> Page {
    let lang = viewer.lang;
    let filter = EditionFilter {
        before,
        limit: PAGE + 1,
        ..EditionFilter::default()
    };
    let mut lines = editions.list(&filter).await?;
    let more = paging::cut(&mut lines, PAGE);
    let today = editions.today();
    let is_missing = before.is_none() && lines.iter().all(|line| line.edition.date != today);
    let mut sent = Vec::with_capacity(lines.len());
    for line in &lines {
        sent.push(delivered(editions, line).await?);
    }
    let here = Place::Editions.path();
    let last = lines.last().filter(|_| more);
    let last = last.map(|last| last.edition.date.to_string());
    let next = last.map(|last| address(here, [("before", last.as_str())]));
    let zone = editions.settings.zone.iana_name().unwrap_or("UTC");
    Ok(html! {
        p class="hint" { (say!(lang, "Days are in {zone}.", "日期按 {zone} 计。")) " " a href="/editions" { (lang.pick("Public pages", "读者页面")) } }
        @if is_missing { (missing(viewer, today)) }
        (section! { lang; "days", "By day", "按日期";
            (live("rows", &html! {
                (rows(viewer, &lines, &sent, today))
                (pager(lang, before.is_some().then_some(here), next.as_deref()))
            }))
            (Equivalent::call("GET", "/api/v1/editions").cli(["edition", "list"]).show(viewer))
        })
    })
}

/// Today's edition has not started.
fn missing(viewer: &Viewer, today: Date) -> Markup {
    let lang = viewer.lang;
    section! { lang; "today", "Today", "今日";
        p { (say!(lang, "The edition of {today} has not started; the first tick of the day starts it.", "{today} 的日报尚未开始，将由当天的第一个节拍启动。")) }
        @if viewer.may(Scope::Operate) { (form::button(viewer, &format!("{}/run", links::edition(today)), lang.pick("Build now", "立即制作"))) }
    }
}

fn rows(viewer: &Viewer, lines: &[EditionLine], sent: &[Vec<Delivery>], today: Date) -> Markup {
    let lang = viewer.lang;
    let lines = lines.iter().zip(sent);
    let lines = lines.map(|(line, sent)| (&line.edition, &line.counts, sent));
    table! { lang; "Editions, newest day first", "日报，最近日期在前"; or "There are no editions yet.", "还没有日报。";
        for ((edition, counts, sent) in lines) tr(data-row id={ "edition-" (edition.date) })
        "Day", "日期" {
            th scope="row" {
                a href=(links::edition(edition.date)) data-open { time datetime=(edition.date) { (edition.date) } }
                @if edition.date == today { " " span class="hint" { (lang.pick("today", "今日")) } }
            }
        }
        "State", "状态" { td { (steps::draw(viewer, edition, None)) } }
        "Stories", "文章" { td { (stories(lang, edition.date, counts)) } }
        "Revision", "修订" {
            td class="number" {
                @if edition.revision > 0 { a href={ (links::edition(edition.date)) "#document" } { (edition.revision) } }
                @else { "0" }
            }
        }
        "Published", "发布时间" { td { (viewer.at_or_dash(edition.published_at)) } }
        "Deliveries", "投递" { td { (one::delivered(viewer, sent)) } }
    }
}

fn stories(lang: Lang, date: Date, counts: &Counts) -> Markup {
    let href = format!("{}#stories", links::edition(date));
    let (completed, total, failed) = (counts.completed, counts.total, counts.failed);
    html! {
        a href=(href) { (say!(lang; "{completed} of {total} completed", "{total} 篇中完成 {completed} 篇")) }
        @if failed > 0 { br; a href=(href) { (say!(lang, "{failed} failed", "{failed} 篇失败")) } }
    }
}

/// The deliveries of an edition; none without a document.
async fn delivered(editions: &Editions, line: &EditionLine) -> Result<Vec<Delivery>> {
    if line.edition.revision == 0 {
        return Ok(Vec::new());
    }
    match editions.look(line.edition.date).await {
        Ok(account) => Ok(account.deliveries),
        Err(Error::Unknown(_)) => Ok(Vec::new()),
        // Its own page shows the error; the list shows it and the others (SF-06).
        Err(error) if error.is_unreadable() => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}
