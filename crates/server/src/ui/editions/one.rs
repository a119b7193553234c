//! One edition: its state, its expected completion, and everything that belongs to it.

use std::collections::BTreeSet;

use almanack_core::alert::Alert;
use almanack_core::edition::delivery::{Delivery, State};
use almanack_core::edition::ladder;
use almanack_core::edition::story::{self, Story};
use almanack_core::edition::{Account, Edition, batch::Batch};
use almanack_engine::editions::{Editions, Status};

use super::{acts, desk, document, prompts, steps, usage, words};
use crate::editions::{Dated, editions_of};
use crate::picture::burn;
use crate::picture::grid::{self, Square};
use crate::ui::prelude::*;

#[derive(Debug, Deserialize)]
pub(crate) struct Query {
    did: Option<String>,
}

pub(crate) async fn show(Dated(id): Dated, sought: Sought<Query>) -> Answer {
    let Sought(state, viewer, query) = sought;
    let editions = editions_of(&state, id)?;
    let Some(status) = editions.status(id).await? else {
        editions.day(Some(id))?;
        return Ok(with_status(StatusCode::NOT_FOUND, nothing(&viewer, id)));
    };
    let (lang, account) = (viewer.lang, &status.account);
    let day = id.to_string();
    // Parts that the live script does not replace are not rendered again.
    let document = if viewer.live {
        None
    } else {
        document::newest(editions, account).await?
    };
    let revisions = editions.revisions(id).await?;
    let preview = document::preview(&viewer, account, document.as_ref());
    let undo = desk::undo(&viewer, query.did.as_deref(), &account.edition, &revisions);
    let did = query.did.as_deref().and_then(|code| done(lang, code));
    let body = html! {
        @if let Some(did) = did { (notice(&html! { p { (did) } @if let Some(undo) = undo { (undo) } })) }
        (live("edition", &standing(&viewer, editions, &status)))
        @if viewer.may(Scope::Operate) {
            @if let Some(desk) = desk::show(&viewer, account, document.as_ref()) { (desk) }
            (acts::show(&viewer, editions, account))
        }
        (section("revisions", lang.pick("Revisions", "修订历史"), &desk::history(&viewer, &revisions)))
        (section("document", lang.pick("Document", "文档"), &preview))
        @if let Some(prompts) = prompts::show(&viewer, editions, &account.edition) {
            (section("prompts", lang.pick("Prompts", "提示词"), &prompts))
        }
        (Equivalent::call("GET", format!("/api/v1/editions/{id}")).cli(["edition", "status", &day]).show(&viewer))
    };
    Ok(page(&viewer, Place::Editions, &title(lang, id), &body).into_response())
}

fn title(lang: Lang, id: EditionId) -> String {
    say!(lang, "Edition of {id}", "{id} 的日报")
}

/// The page of a day without an edition.
fn nothing(viewer: &Viewer, id: EditionId) -> Markup {
    let lang = viewer.lang;
    let body = html! {
        p { (lang.pick("There is no edition for this day.", "这一天没有日报。")) }
        @if viewer.may(Scope::Operate) {
            (form::button(viewer, &format!("{}/run", links::edition(id)), lang.pick("Build now", "立即制作")))
        }
        p { a href=(Place::Editions.path()) { (lang.pick("All editions", "全部日报")) } }
    };
    page(viewer, Place::Editions, &title(lang, id), &body)
}

fn done(lang: Lang, code: &str) -> Option<&'static str> {
    words! { lang, code?;
        "queued" =>
            "Queued. A node builds the edition step by step; this page shows the progress.",
            "已排队。节点会逐步制作，本页显示进度。";
        "nothing" => "Nothing left to build.", "没有需要制作的内容。";
        "publishing" =>
            "Publishing the completed stories. You can leave this page; the deliveries below show the progress.",
            "正在发布已完成的文章。您可以离开本页，下方的投递显示进度。";
        "retried" => "Failed stories will be retried.", "失败的文章将重试。";
        "none" => "No change: no failed story has retries left.", "未作更改：失败的文章均已用尽重试次数。";
        "resent" =>
            "A node sends it again within seconds. The deliveries below show the result.",
            "节点会在几秒内重新发送，下方的投递显示结果。";
        "skipped" => "The undelivered parts of this destination are skipped.", "已跳过该目的地未送达的部分。";
        "approved" => "Approved. A node sends the edition within seconds.", "已批准。节点会在几秒内发送。";
        "rejected" => "Rejected. Nothing of the edition is sent.", "已驳回，本期日报不会发送。";
        "corrected" => "Corrected. The new revision is in the list below.", "已更正，新修订见下方列表。";
        "retracted" => "Retracted. Destinations that can replace what they have get a note.", "已撤回。可替换内容的发布目的地会收到说明。";
        "restored" => "Restored as a new revision.", "已作为新修订恢复。";
        "reset" => "The edition starts over with its current stories.", "日报将用现有文章重新开始。";
    }
}

fn standing(viewer: &Viewer, editions: &Editions, status: &Status) -> Markup {
    let lang = viewer.lang;
    let account = &status.account;
    let stories = stories(viewer, editions, account);
    let batches = batches(viewer, status, editions.settings.rules.budget);
    html! {
        (section("state", lang.pick("Status", "状态"), &html! {
            (steps::draw(viewer, &account.edition, Some(status)))
            (desk::standing(viewer, &account.edition))
            @if let Some(reason) = &account.edition.reason { p class="warning" { (english(lang, reason)) } }
            (known(viewer, status))
        }))
        (section("stories", lang.pick("Stories", "文章"), &stories))
        (section("batches", lang.pick("Batches and budget", "批次与预算"), &batches))
        @if let Some(usage) = usage::show(viewer, editions, status) {
            (section("usage", lang.pick("Model use", "模型用量"), &usage))
        }
        (section("deliveries", lang.pick("Deliveries", "投递"), &deliveries(viewer, &account.deliveries)))
        (section("alerts", lang.pick("Alerts", "告警"), &alerts(viewer, &status.alerts)))
    }
}

fn known(viewer: &Viewer, status: &Status) -> Markup {
    let (lang, edition) = (viewer.lang, &status.account.edition);
    let plan = &status.forecast;
    let (done, planned) = (plan.batches_done, plan.batches_planned);
    facts! { lang;
        "State", "状态" { (state(lang, edition)) }
        "Stories", "文章" { (counts(lang, &status.account)) }
        "Plan", "计划" {
            a href="#batches" { (say!(lang, "{done} of {planned} batches", "{planned} 批中完成 {done} 批")) }
        }
        "Expected completion", "预计完成" { (viewer.at_or_dash(plan.finish_at)) }
        "Due", "截止时间" { (viewer.at_or_dash(edition.due_at)) }
        "Degraded stories", "降级的文章" { (degraded(lang, &status.account)) }
        "Published", "发布时间" { (viewer.at_or_dash(edition.published_at)) }
        "Revision", "修订" { a href="#document" { (edition.revision) } }
        "Stories from", "文章来源" { (or_dash(edition.story_source.as_deref())) }
        "Started", "开始于" { (viewer.at(edition.started_at)) }
        "Last changed", "最近变更" { (viewer.at(edition.updated_at)) }
    }
}

fn state(lang: Lang, edition: &Edition) -> Markup {
    html! {
        (words::state_badge(lang, edition.state))
        @if let Some(was) = edition.archived_from { " (" (lang.pick("previously ", "此前为 ")) (was.word(lang)) ")" }
    }
}

fn counts(lang: Lang, account: &Account) -> Markup {
    let counts = account.counts();
    let (total, pending, processing) = (counts.total, counts.pending, counts.processing);
    let (completed, failed) = (counts.completed, counts.failed);
    html! { a href="#stories" { (say!(lang;
    "{total}: {completed} completed, {processing} running, {pending} waiting, {failed} failed",
    "{total} 篇：完成 {completed}，运行中 {processing}，等待 {pending}，失败 {failed}")) } }
}

/// Stories that have less than they could, by cause.
fn degraded(lang: Lang, account: &Account) -> Markup {
    let counted: Vec<_> = ladder::degraded(account).collect();
    html! {
        @if counted.is_empty() { (dash()) }
        @for (place, (cause, count)) in counted.iter().enumerate() {
            @if place > 0 { ", " }
            (count) " (" (words::cause(lang, *cause)) ")"
        }
    }
}

/// The stories: an overview, and each with its result.
fn stories(viewer: &Viewer, editions: &Editions, account: &Account) -> Markup {
    let (lang, stories) = (viewer.lang, &account.stories);
    if stories.is_empty() {
        return empty(words! { lang, account.edition.revision > 0;
            true => "The stories were deleted after their retention period; the document is kept.",
                "文章已超过保留期限被删除，文档仍然保留。";
            false => "The story list has not been fetched yet.", "尚未获取文章列表。";
        });
    }
    let squares = stories.iter().map(|story| Square {
        name: format!("{}. {}", story.rank, headline(story)),
        outcome: words::story_outcome(story.status),
        href: Some(format!("#story-{}", story.rank)),
    });
    let frame = viewer.frame("grid", lang.pick("Stories by rank", "按排名的文章"));
    let batch = |number| {
        let label = say!(lang, "batch {number}", "批次 {number}");
        html! { a href={ "#batch-" (number) } aria-label=(label) { (number) } }
    };
    let rows = table! { lang; "Stories by rank", "按排名的文章";
        for (story in stories) tr(data-row id={ "story-" (story.rank) })
        "Rank", "排名" { td class="number" { (story.rank) } }
        // Its language may differ from the page's.
        "Story", "文章" { th scope="row" class="name" lang="" { (named(lang, story)) } }
        "Status", "状态" { td { (words::story(lang, story.status)) } }
        "Batch", "批次" { td class="number" { (or_dash(story.batch.map(batch))) } }
        "Note or error", "备注或错误" {
            td {
                @if let Some(note) = story.written.note { (words::note(lang, note)) }
                @if let Some(cause) = story.written.degraded_by { " (" (words::cause(lang, cause)) ")" }
                @if let Some(error) = &story.error_message { " " span class="bad" { (english(lang, error)) } }
                @if story.written.note.is_none() && story.error_message.is_none() { (dash()) }
                " " (prompts::others(lang, editions.outside.writer.prompts(), &story.written.prompts))
            }
        }
        "Retries", "重试" {
            td {
                (story.retry_count)
                @if let Some(at) = story.retry_at.filter(|_| story.status == story::Status::Failed) { " · " (viewer.at(at)) }
            }
        }
    };
    html! { (grid::draw(&squares.collect::<Vec<_>>(), &frame)) (rows) }
}

fn headline(story: &Story) -> &str {
    let written = story.written.title.as_deref();
    written.unwrap_or(&story.listed.title)
}

fn named(lang: Lang, story: &Story) -> Markup {
    let (listed, title) = (&story.listed, headline(story));
    let said = lang.pick("discussion", "讨论");
    html! {
        (outside(&listed.url, title))
        @if title != listed.title { br; span class="hint" { (listed.title) } }
        @if let Some(talk) = &listed.discussion_url {
            br; span class="hint" lang=(lang.tag()) { (outside(talk, said)) }
        }
    }
}

/// The batches and their spending.
fn batches(viewer: &Viewer, status: &Status, budget: u32) -> Markup {
    let (lang, account) = (viewer.lang, &status.account);
    if account.batches.is_empty() {
        return empty(lang.pick("No batch has started yet.", "尚无批次开始。"));
    }
    let name = |index| say!(lang, "batch {index}", "批次 {index}");
    let took = |batch: &Batch| {
        let took = batch.duration_ms().map(SignedDuration::from_millis);
        took.map(|took| length(lang, took))
    };
    let rows = table! { lang; "Batches by number", "按编号的批次";
        for (batch in &account.batches) tr(data-row id={ "batch-" (batch.index) })
        "Batch", "批次" { th scope="row" class="narrow" { (name(batch.index)) } }
        "Status", "状态" { td { (words::batch(lang, batch.status)) } }
        "Node", "节点" { td class="narrow" { a href="/ui/nodes" { (batch.node) } } }
        "Stories", "文章" { td class="number" { (batch.story_count) } }
        "Requests", "请求" { td class="number" { (batch.spend.requests) } }
        "Model requests", "模型请求" { td class="number" { (batch.spend.model_requests) } }
        "Tokens in / out", "输入/输出 Token" {
            td class="number" { (batch.spend.tokens_in) " / " (batch.spend.tokens_out) }
        }
        "Started", "开始" { td { (viewer.at(batch.started_at)) } }
        "Took", "耗时" { td class="narrow" { (or_dash(took(batch).as_deref())) } }
        "Error", "错误" { td { (or_dash(batch.error_message.as_ref().map(|it| english(lang, it)))) } }
    };
    let spent = account.batches.iter().map(|batch| burn::Batch {
        name: name(batch.index),
        spent: u64::from(batch.spend.requests),
        href: Some(format!("#batch-{}", batch.index)),
    });
    html! { (spending(viewer, status, budget, &spent.collect::<Vec<_>>())) (rows) }
}

fn spending(viewer: &Viewer, status: &Status, budget: u32, batches: &[burn::Batch]) -> Markup {
    let begun = u32::try_from(batches.len()).unwrap_or(u32::MAX);
    let planned = status.forecast.batches_planned.max(begun);
    let limit = u64::from(budget) * u64::from(planned);
    let caption = pick!(viewer.lang; "Budget spent per batch", "各批次花费的预算");
    let frame = viewer.frame("burn", caption);
    let account = &status.account;
    let (list, all) = (account.edition.list_requests, account.requests());
    html! {
        (burn::draw(limit, batches, &frame))
        p class="hint" { (say!(viewer.lang;
            "Request budget per tick: {budget}; planned batches: {planned}. Spent so far, with the list ({list}) and deliveries: {all}.",
            "每个节拍的请求预算：{budget}；计划批次：{planned}。至今共用 {all} 次（含列表 {list} 次与投递）。")) }
    }
}

/// The ledger of deliveries.
fn deliveries(viewer: &Viewer, deliveries: &[Delivery]) -> Markup {
    let lang = viewer.lang;
    let rows = table! { lang; "Deliveries by destination and part", "按目的地与部分的投递";
        or "No deliveries yet, or no destination is configured and the edition is only on this server's pages.",
            "尚无投递，或未配置发布目的地（日报仅发布在本服务器的页面上）。";
        for (delivery in deliveries) tr(data-row id={ "delivery-" (delivery.destination) "-" (delivery.part) })
        "Destination", "发布目的地" { th scope="row" { (delivery.destination) } }
        "Part", "部分" { td class="number" { (delivery.part) } }
        "State", "状态" { td { (words::of_delivery(lang, delivery)) } }
        "Attempts", "尝试" { td class="number" { (delivery.attempts) } }
        "Receipt", "回执" { td { (or_dash(delivery.receipt.as_ref().map(|it| outside(it, it)))) } }
        "Detail", "说明" {
            td {
                (or_dash(delivery.detail.as_ref().map(|it| english(lang, it))))
                @if let Some(at) = delivery.retry_at.filter(|_| !delivery.state.is_settled()) {
                    br; (lang.pick("next attempt ", "下次尝试 ")) (viewer.at(at))
                }
            }
        }
        "Requests", "请求" { td class="number" { (delivery.requests) } }
        "Changed", "变更时间" { td { (viewer.at(delivery.updated_at)) } }
    };
    let present: BTreeSet<State> = deliveries.iter().map(|delivery| delivery.state).collect();
    html! {
        (rows)
        @for state in present {
            @if let Some(meaning) = words::delivery_meaning(lang, state) {
                p class={ @if state == State::Unknown { "warning" } @else { "hint" } } { (words::delivery(lang, state)) ": " (meaning) }
            }
        }
    }
}

/// Every destination with its most urgent state.
pub(super) fn delivered(viewer: &Viewer, deliveries: &[Delivery]) -> Markup {
    let names = deliveries.iter().map(|one| one.destination.as_str());
    let mut names: Vec<&str> = names.collect();
    names.dedup();
    let urgency = |state: State| match state {
        State::Confirmed => 0,
        State::Skipped => 1,
        State::Intended => 2,
        State::Sent => 3,
        State::Failed => 4,
        State::Unknown => 5,
    };
    html! {
        @if names.is_empty() { (dash()) }
        @else {
            ul class="tags" {
                @for name in names {
                    @let states = deliveries.iter().filter(|one| one.destination == name).map(|one| one.state);
                    @if let Some(state) = states.max_by_key(|state| urgency(*state)) {
                        li { (name) " " (words::delivery(viewer.lang, state)) }
                    }
                }
            }
        }
    }
}

/// The alerts of the edition, open ones first.
fn alerts(viewer: &Viewer, alerts: &[Alert]) -> Markup {
    let lang = viewer.lang;
    let mut sorted: Vec<&Alert> = alerts.iter().collect();
    sorted.sort_by_key(|alert| (alert.closed_at.is_some(), alert.opened_at));
    let class = |alert: &Alert| {
        if alert.closed_at.is_some() {
            "done"
        } else {
            "unknown"
        }
    };
    table! { lang; "Alerts", "告警"; or "No alerts.", "没有告警。";
        for (alert in sorted) tr()
        "Alert", "告警" { th scope="row" { (badge(class(alert), &alert.say(lang))) } }
        "What", "内容" { td { (said(lang, &alert.detail)) } }
        "Since", "开始" { td { (viewer.at(alert.opened_at)) } }
        "Until", "结束" {
            td {
                @if let Some(at) = alert.closed_at { (viewer.at(at)) }
                @else { (lang.pick("ongoing", "持续中")) }
            }
        }
    }
}
