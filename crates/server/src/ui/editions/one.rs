//! One edition: where it stands, when it is expected, and everything that belongs to it.

use almanack_core::edition::{Account, Edition};
use almanack_engine::editions::{Editions, Status};
use axum::response::IntoResponse as _;
use jiff::civil::Date;

use super::{acts, batches, deliveries, document, path, steps, stories, words};
use crate::editions::{Dated, editions};
use crate::ui::form;
use crate::ui::prelude::*;

/// What the page is asked for besides the day.
#[derive(Debug, Deserialize)]
pub(crate) struct Query {
    did: Option<String>,
}

/// The page of an edition.
pub(crate) async fn show(
    State(state): App,
    viewer: Viewer,
    Dated(date): Dated,
    Sought(query): Sought<Query>,
) -> Answer {
    let editions = editions(&state)?;
    let Some(status) = editions.status(date).await? else {
        editions.day(Some(date))?;
        return Ok(told(&viewer, StatusCode::NOT_FOUND, nothing(&viewer, date)));
    };
    let did = query
        .did
        .as_deref()
        .and_then(|code| done(viewer.lang, code));
    Ok(found(&viewer, editions, &status, did)
        .await?
        .into_response())
}

async fn found(
    viewer: &Viewer,
    editions: &Editions,
    status: &Status,
    did: Option<&'static str>,
) -> Result<Markup> {
    let (lang, account) = (viewer.lang, &status.account);
    let (edition, date) = (&account.edition, account.edition.date.to_string());
    // What the script does not show again is not made again.
    let document = if viewer.live {
        None
    } else {
        let completed = account.counts().completed;
        document::newest(editions, edition.date, edition.revision, completed).await?
    };
    let was_published = edition.is_published() || account.was_published();
    let body = html! {
        @if let Some(did) = did { (notice(&html! { p { (did) } })) }
        (live("edition", &standing(viewer, editions, status)))
        @if viewer.may(Scope::Operate) { (acts::show(viewer, editions, account)) }
        (section("document", lang.pick("Document", "文档"), &document::preview(viewer, edition.date, edition.revision, was_published, document.as_ref())))
        (Equivalent::call("GET", format!("/api/v1/editions/{date}")).cli(&["edition", "status", &date]).show(viewer))
    };
    Ok(page(
        viewer,
        Place::Editions,
        &title(lang, edition.date),
        &body,
    ))
}

fn title(lang: Lang, date: Date) -> String {
    say!(lang, "Edition of {date}", "{date} 的日报")
}

/// There is none of this day.
fn nothing(viewer: &Viewer, date: Date) -> Markup {
    let lang = viewer.lang;
    let body = html! {
        p { (lang.pick("There is no edition of this day.", "这一天没有日报。")) }
        @if viewer.may(Scope::Operate) { (form::button(viewer, &format!("{}/run", path(date)), lang.pick("Build it now", "立即制作"))) }
        p { a href=(Place::Editions.path()) { (lang.pick("All editions", "全部日报")) } }
    };
    page(viewer, Place::Editions, &title(lang, date), &body)
}

/// What was done, by its code.
fn done(lang: Lang, code: &str) -> Option<&'static str> {
    Some(match code {
        "queued" => pick!(lang;
            "It is queued: a node builds it to its end, step by step. This page shows how far it is.",
            "已排队：节点会逐步制作直至完成，本页显示进度。"),
        "nothing" => lang.pick("There is nothing left to build.", "没有剩余的工作。"),
        "publishing" => pick!(lang;
            "What is completed is being published. It goes on whether or not you stay; the deliveries below show how far it is.",
            "正在发布已完成的内容。无论您是否停留都会继续，下方的投递显示进度。"),
        "retried" => lang.pick("Failed stories were put back.", "失败的文章已放回队列。"),
        "none" => lang.pick(
            "No failed story had tries left; nothing changed.",
            "没有可再重试的失败文章，没有任何改变。",
        ),
        "resent" => pick!(lang;
            "It is sent again: a node does so within seconds. The deliveries below show what becomes of it.",
            "将重新发送：节点会在几秒内执行，下方的投递显示结果。"),
        "skipped" => lang.pick(
            "What the destination lacks is skipped.",
            "已跳过该目的地未收到的内容。",
        ),
        "reset" => lang.pick(
            "It begins anew with the stories it has.",
            "将用现有文章重新开始。",
        ),
        _ => return None,
    })
}

/// Everything that changes by itself.
fn standing(viewer: &Viewer, editions: &Editions, status: &Status) -> Markup {
    let lang = viewer.lang;
    let Status { account, forecast } = status;
    let progress = steps::Progress {
        counts: account.counts(),
        done: forecast.batches_done,
        planned: forecast.batches_planned,
    };
    let budget = editions.settings().rules.budget;
    html! {
        (section("state", lang.pick("Where it stands", "现状"), &html! {
            (steps::draw(viewer, &account.edition, Some(progress)))
            @if let Some(reason) = &account.edition.reason { p class="warning" { (lang.english(reason)) } }
            (known(viewer, status))
        }))
        (section("stories", lang.pick("Stories", "文章"), &stories::show(viewer, &account.stories, account.edition.revision > 0)))
        (section("batches", lang.pick("Batches and budget", "批次与预算"), &batches::show(viewer, account, forecast, budget)))
        (section("deliveries", lang.pick("Deliveries", "投递"), &deliveries::show(viewer, &account.deliveries)))
        (section("alerts", lang.pick("Alerts", "告警"), &deliveries::alerts(viewer, &account.alerts)))
    }
}

fn known(viewer: &Viewer, status: &Status) -> Markup {
    let (lang, edition) = (viewer.lang, &status.account.edition);
    let plan = &status.forecast;
    let (done, planned) = (plan.batches_done, plan.batches_planned);
    facts(&[
        (lang.pick("State", "状态"), state(lang, edition)),
        (lang.pick("Stories", "文章"), counts(lang, &status.account)),
        (
            lang.pick("Plan", "计划"),
            html! { a href="#batches" { (say!(lang, "{done} of {planned} batches", "{planned} 批中完成 {done} 批")) } },
        ),
        (
            lang.pick("Expected to be finished", "预计完成"),
            viewer.at_or_dash(plan.finish_at),
        ),
        (
            lang.pick("Published", "发布时间"),
            viewer.at_or_dash(edition.published_at),
        ),
        (
            lang.pick("Revision", "版本"),
            html! { a href="#document" { (edition.revision) } },
        ),
        (
            lang.pick("Stories from", "文章来源"),
            or_dash(edition.story_source.as_deref()),
        ),
        (
            lang.pick("Worked on since", "开始于"),
            viewer.at(edition.started_at),
        ),
        (
            lang.pick("Last changed", "最近变更"),
            viewer.at(edition.updated_at),
        ),
    ])
}

fn state(lang: Lang, edition: &Edition) -> Markup {
    html! {
        (words::state_badge(lang, edition.state))
        @if let Some(was) = edition.archived_from { " (" (lang.pick("it was ", "此前为 ")) (words::state(lang, was)) ")" }
    }
}

fn counts(lang: Lang, account: &Account) -> Markup {
    let counts = account.counts();
    let (total, pending, processing) = (counts.total, counts.pending, counts.processing);
    let (completed, failed) = (counts.completed, counts.failed);
    html! { a href="#stories" { (say!(lang;
    "{total}: {completed} completed, {processing} in work, {pending} pending, {failed} failed",
    "{total} 篇：完成 {completed}，处理中 {processing}，等待 {pending}，失败 {failed}")) } }
}
