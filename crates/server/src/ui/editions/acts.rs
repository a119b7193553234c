//! Actions on an edition: build it, publish it early, retry failed stories, start over.
//!
//! [`turn`] decides what is possible: a button is shown if the same function would not refuse.

use almanack_core::edition::Account;
use almanack_core::edition::turn::{self, Chosen, Day};
use almanack_engine::editions::{Editions, Error};

use crate::editions::acts::{RETRIES, RetryEditionBody, check_retries};
use crate::editions::runs::Runs;
use crate::editions::{Dated, editions_of};
use crate::ui::prelude::*;

pub(super) fn show(viewer: &Viewer, editions: &Editions, account: &Account) -> Markup {
    let (lang, edition, id) = (viewer.lang, &account.edition, account.edition.id);
    let here = links::edition(id);
    let stands = edition.archived_from.unwrap_or(edition.state);
    let runs = stands.is_open() && !account.is_pruned();
    let publishes = turn::force(account).is_ok();
    let resets = turn::reset(account, Day::Present, viewer.now).is_ok();
    let has_failed = account.counts().failed > 0;
    let redelivery = redelivering(viewer, account);
    let is_over = !(runs || publishes || has_failed || resets || redelivery.is_some());
    section! { lang; "acts", "Actions", "操作"; div class="stack" {
        div class="acts" {
            @if runs { (form::button(viewer, &format!("{here}/run"), lang.pick("Build to the end", "制作到底"))) }
            @if publishes { a class="button" href={ (here) "/publish" } { (lang.pick("Publish completed stories…", "发布已完成的文章…")) } }
            @if resets { a class="button" href={ (here) "/reset" } { (lang.pick("Start over…", "重新开始…")) } }
        }
        @if runs {
            p class="hint" { (pick!(lang;
                "Building takes minutes. A node does the work in the background; this page shows the progress.",
                "制作需要几分钟，由节点在后台执行，本页显示进度。")) }
            (Equivalent::act("POST", "edition", id, "run").show(viewer))
        }
        @if has_failed { (retrying(viewer, id, editions.settings.rules.retries_max)) }
        @if let Some(redelivery) = &redelivery { (redelivery) }
        @if is_over { (empty(lang.pick("No actions are left.", "已无可执行的操作。"))) }
    } }
}

fn retrying(viewer: &Viewer, id: EditionId, usual: u32) -> Markup {
    let lang = viewer.lang;
    let call = Equivalent::act("POST", "edition", id, "retry");
    let (day, most) = (id.to_string(), usual.to_string());
    let label = lang.pick("Only stories retried fewer times than", "仅限重试次数少于");
    let default_label = say!(lang, "default: {usual}", "默认：{usual}");
    let others = RETRIES.map(|most| (most.to_string(), most.to_string()));
    let options = [(String::new(), default_label)].into_iter().chain(others);
    let fields = html! {
        div class="fields" {
            (choice("retries_max", label, None, options))
            button type="submit" { (lang.pick("Retry failed stories", "重试失败的文章")) }
        }
    };
    html! {
        div {
            (form::form(viewer, &format!("{}/retry", links::edition(id)), &fields))
            (call.body(&json!({ "retries_max": usual })).cli(["edition", "retry", &day, "--max", &most]).show(viewer))
        }
    }
}

/// Queues an edition for building.
pub(crate) async fn run(Dated(id): Dated, Filled(state, viewer, _): Filled) -> Answer {
    let requested = editions_of(&state, id)?
        .request(id, &viewer.origin())
        .await?;
    let code = requested.receipt.map_or("nothing", |_| "queued");
    Ok(see(&format!("{}?did={code}", links::edition(id))))
}

/// Asks before an edition is published without some of its stories.
pub(crate) async fn ask_publishing(State(state): App, Dated(id): Dated, viewer: Viewer) -> Page {
    let lang = viewer.lang;
    let account = editions_of(&state, id)?.account(id).await?;
    let left_out = turn::force(&account).map_err(Error::from)?;
    let completed = account.counts().completed;
    let sentence = say!(lang;
        "Publishes the {completed} completed stories to every destination now and leaves out {left_out}. You cannot recall what readers have received; a later change becomes a new revision.",
        "将立即向所有发布目的地发布已完成的 {completed} 篇文章，另有 {left_out} 篇不收录。读者收到的内容无法撤回；之后的修改会成为新修订。");
    let question = Question {
        title: &say!(lang; "Publish the edition of {id} now?", "立即发布 {id} 的日报？"),
        sentence: html! { (sentence) },
        fields: html! {},
        button: lang.pick("Publish", "发布"),
        back: &links::edition(id),
        equivalent: Equivalent::act("POST", "edition", id, "publish"),
    };
    Ok(ask(&viewer, Place::Editions, &question))
}

/// Starts publishing the completed stories. Destinations may take minutes; the page does not wait.
pub(crate) async fn publish(
    Extension(runs): Extension<Arc<Runs>>,
    Dated(id): Dated,
    Filled(state, viewer, _): Filled,
) -> Answer {
    let editions = editions_of(&state, id)?.clone();
    let id = editions.day(Some(id))?;
    // Refusals are shown at once.
    turn::force(&editions.account(id).await?).map_err(Error::from)?;
    let by = viewer.origin();
    runs.begin(async move { editions.force_publish(id, &by).await })?;
    Ok(see(&format!("{}?did=publishing", links::edition(id))))
}

/// Retries failed stories.
pub(crate) async fn retry(Dated(id): Dated, filled: Filled<RetryEditionBody>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let most = form.retries_max;
    check_retries(most, "retries_max")?;
    let retried = editions_of(&state, id)?
        .retry(id, most, &viewer.origin())
        .await?;
    let code = match retried.stories {
        0 => "none",
        _ => "retried",
    };
    Ok(see(&format!("{}?did={code}", links::edition(id))))
}

/// Asks before an edition starts over.
pub(crate) async fn ask_reset(State(state): App, Dated(id): Dated, viewer: Viewer) -> Page {
    let lang = viewer.lang;
    let account = editions_of(&state, id)?.account(id).await?;
    turn::reset(&account, Day::Present, viewer.now).map_err(Error::from)?;
    let counts = account.counts();
    let (total, completed, requests) = (counts.total, counts.completed, account.requests());
    let question = Question {
        title: &say!(lang; "Start the edition of {id} over?", "重新开始 {id} 的日报？"),
        sentence: html! {
            (say!(lang;
                "All {total} stories go back to Waiting. The text of the {completed} completed stories is lost, and everything is fetched, written and paid for again (requests so far: {requests}). Running batches are abandoned.",
                "全部 {total} 篇文章将恢复为等待状态。已完成的 {completed} 篇的内容会丢失，所有内容需要重新抓取、撰写并再次产生费用（目前已用 {requests} 次请求）。正在运行的批次会被放弃。"))
            @if account.edition.is_published() { " " (pick!(lang;
                "Readers keep the published document until you publish the new revision.",
                "在新修订发布之前，读者看到的仍是已发布的文档。")) }
        },
        fields: html! {},
        button: lang.pick("Start over", "重新开始"),
        back: &links::edition(id),
        equivalent: Equivalent::act("POST", "edition", id, "reset"),
    };
    Ok(ask(&viewer, Place::Editions, &question))
}

pub(crate) async fn reset(Dated(id): Dated, Filled(state, viewer, _): Filled) -> Answer {
    editions_of(&state, id)?.reset(id, &viewer.origin()).await?;
    Ok(see(&format!("{}?did=reset", links::edition(id))))
}

/// The chosen deliveries and the decision about them.
#[derive(Debug, Deserialize)]
pub(crate) struct Redelivery {
    destination: String,
    part: Option<u32>,
    act: Act,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Act {
    Resend,
    Skip,
}

/// Destinations with open deliveries: where the same function would not refuse.
fn destinations<'a>(account: &'a Account, viewer: &Viewer) -> Vec<&'a str> {
    let names = account.deliveries.iter();
    let mut names: Vec<&str> = names.map(|one| one.destination.as_str()).collect();
    names.dedup();
    names.retain(|name| {
        let all = Chosen {
            destination: (*name).to_owned(),
            part: None,
        };
        turn::skip(account, &all, "", viewer.now).is_ok_and(|(change, _)| change.is_some())
    });
    names
}

/// The form, if there is something to decide.
fn redelivering(viewer: &Viewer, account: &Account) -> Option<Markup> {
    let (lang, id) = (viewer.lang, account.edition.id);
    let names = destinations(account, viewer);
    let first = (*names.first()?).to_owned();
    let fields = html! {
        div class="fields" {
            (choice("destination", lang.pick("Destination", "发布目的地"), None, names.iter().map(|name| (name, name))))
            label { (lang.pick("Part (empty: all undelivered parts)", "部分（留空表示全部未送达的部分）"))
                input type="number" name="part" min="1" step="1";
            }
            button type="submit" name="act" value="resend" { (lang.pick("Send again", "重新发送")) }
            button type="submit" name="act" value="skip" { (lang.pick("Skip", "跳过")) }
        }
    };
    let day = id.to_string();
    let call = Equivalent::act("POST", "edition", id, "resend");
    Some(html! {
        div {
            (form::form(viewer, &format!("{}/redeliver", links::edition(id)), &fields))
            p class="hint" { (pick!(lang;
                "Sending again can deliver a message twice if the first one arrived.",
                "如果上一次其实已送达，重新发送会让读者收到两次。")) }
            (call.body(&json!({ "destination": first })).cli(["edition", "resend", &first, &day]).show(viewer))
        }
    })
}

/// Applies the decision.
pub(crate) async fn redeliver(Dated(id): Dated, filled: Filled<Redelivery>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let (editions, by) = (editions_of(&state, id)?, viewer.origin());
    let (destination, part) = (form.destination, form.part);
    let chosen = Chosen { destination, part };
    let (done, code) = match form.act {
        Act::Resend => (editions.resend(id, &chosen, &by).await, "resent"),
        Act::Skip => (editions.skip(id, &chosen, &by).await, "skipped"),
    };
    done?;
    Ok(see(&format!("{}?did={code}", links::edition(id))))
}
