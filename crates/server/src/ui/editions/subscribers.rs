//! The newsletter: subscribers by state, mailings and how far they are, and who subscribed.
//!
//! Actions go through the same entry point as the API's. A list to import is pasted as text, so that
//! it works without the script; with it, a file is read into the field.

use almanack_core::newsletter::mailing::MailCounts;
use almanack_core::newsletter::subscriber::State as SubscriberState;
use almanack_core::newsletter::{Subscriber, SubscriberId, csv, mailing};
use almanack_core::store::SubscriberFilter;
use almanack_engine::newsletter::Imported;

use super::ledger::{mailing_path, subscriber_path};
use crate::newsletter::list::csv_of;
use crate::newsletter::{
    CountsView, MailingView, NewsletterView, admitted, overview, parse_address, parse_edition,
    subscribers,
};
use crate::ui::prelude::*;

/// Subscribers per page.
const PAGE: usize = 50;

#[derive(Debug, Deserialize)]
pub(crate) struct Query {
    /// Only those with larger numbers.
    after: Option<i64>,
    did: Option<String>,
}

const SNIPPET: &str = "\
[server]
public_url = \"https://news.example.org\"

[edition.mail]
host = \"smtp.example.org\"
user = \"daily\"
password = \"env:SMTP_PASSWORD\"
from = \"The Daily <daily@example.org>\"
secret = \"env:NEWSLETTER_SECRET\"   # whsec_…: signs links
";

pub(crate) async fn show(Sought(state, viewer, query): Sought<Query>) -> Page {
    let lang = viewer.lang;
    let view = overview(&state).await?;
    let removed = query.did.as_deref() == Some("removed");
    let body = html! {
        @if removed { (notice(&html! { p { (lang.pick("Deleted.", "已删除。")) } })) }
        @if view.configured {
            p class="hint" {
                @for it in &view.editions { @if let Some(form) = &it.form {
                    a href=(form) { (lang.pick("Public form", "公开订阅页面")) @if !it.edition.is_default() { ": " (it.edition) } } " "
                } }
            }
        } @else {
            p { (pick!(lang; "This node sends no mail. To send editions to subscribers, add a mail section to the configuration:",
                "该节点不发送邮件。要向订阅者发送日报，请在配置中加入邮件部分：")) }
            pre tabindex="0" { code { (SNIPPET) } }
            p { (lang.pick("See the guide: ", "详见指南：")) code { "docs/guide/newsletter.md" } }
        }
        @if view.configured || !view.subscribers.is_empty() {
            (lists(&state, &viewer, &view, query.after).await?)
        }
    };
    let title = lang.pick("Newsletter", "邮件订阅");
    Ok(page(&viewer, Place::Editions, title, &body))
}

async fn lists(
    state: &AppState,
    viewer: &Viewer,
    view: &NewsletterView,
    after: Option<i64>,
) -> Page {
    let lang = viewer.lang;
    Ok(html! {
        (section! { lang; "counts", "Subscribers", "订阅者";
            (live("count-rows", &counts(lang, &view.subscribers)))
        })
        (section! { lang; "mailings", "Mailings", "邮件发送";
            (live("mailing-rows", &mailings(viewer, &view.mailings)))
            (Equivalent::call("GET", "/api/v1/newsletter").cli(["edition", "subscriber", "status"]).show(viewer))
        })
        @if viewer.may(Scope::Operate) {
            (people(state, viewer, after).await?)
            (adding(viewer, view, None))
            (importing(viewer, view, None))
        }
    })
}

fn counts(lang: Lang, counts: &[CountsView]) -> Markup {
    table! { lang; "Subscribers by state", "各状态的订阅者";
        or "Nobody has subscribed yet.", "还没有订阅者。";
        for (it in counts) tr()
        "Edition", "日报" { th scope="row" { (it.edition) } }
        "Confirmed", "已确认" { td class="number" { (it.confirmed) } }
        "Waiting for confirmation", "等待确认" { td class="number" { (it.pending) } }
        "Unsubscribed", "已退订" { td class="number" { (it.unsubscribed) } }
        "Bounced", "被拒收" { td class="number" { (it.bounced) } }
    }
}

fn mailings(viewer: &Viewer, mailings: &[MailingView]) -> Markup {
    let (lang, may_read) = (viewer.lang, viewer.may(Scope::Operate));
    table! { lang; "Mailings, latest day first", "邮件发送，最近日期在前";
        or "No edition was mailed yet.", "还没有通过邮件发送的日报。";
        for (it in mailings) tr()
        "Day", "日期" { th scope="row" { @if may_read { a href=(mailing_path(it.mailing.id)) { (it.mailing.id) } } @else { (it.mailing.id) } } }
        "State", "状态" { td { (standing(lang, it)) } }
        "Sent", "已发送" { td class="number" { (it.messages.confirmed) } }
        "Waiting", "等待" { td class="number" { (it.messages.waiting + it.messages.unknown) } }
        "Failed", "失败" { td class="number" { (it.messages.failed) } }
        "Skipped", "已跳过" { td class="number" { (it.messages.skipped) } }
        "Begun", "开始时间" { td { (viewer.instant(it.mailing.created_at)) } }
    }
}

pub(super) fn standing(lang: Lang, it: &MailingView) -> Markup {
    let (look, words) = match it.mailing.state {
        mailing::State::Running => ("running", lang.pick("Running", "进行中")),
        mailing::State::Done => ("done", lang.pick("Done", "完成")),
        mailing::State::Held => ("failed", lang.pick("Needs attention", "需要处理")),
    };
    html! {
        (badge(look, words))
        @if let Some(error) = &it.mailing.error { " " span class="hint" lang="en" { (error) } }
    }
}

/// The messages of a mailing, counted.
pub(super) fn counts_of(lang: Lang, counts: &MailCounts) -> String {
    let (sent, waiting, doubt) = (counts.confirmed, counts.waiting, counts.unknown);
    let (failed, skipped) = (counts.failed, counts.skipped);
    say!(lang; "{sent} sent, {waiting} waiting, {doubt} in doubt, {failed} failed, {skipped} skipped",
        "已发送 {sent}，待发送 {waiting}，存疑 {doubt}，失败 {failed}，跳过 {skipped}")
}

async fn people(state: &AppState, viewer: &Viewer, after: Option<i64>) -> Page {
    let lang = viewer.lang;
    let filter = SubscriberFilter {
        after: after.map(SubscriberId),
        limit: PAGE,
        ..SubscriberFilter::default()
    };
    let found = state.store.list_subscribers(&filter).await?;
    let here = "/ui/editions/subscribers";
    let next = found.next.map(|id| id.to_string());
    let next = next.map(|id| address(here, [("after", id.as_str())]));
    Ok(section! { lang; "people", "Addresses", "地址";
        (rows(viewer, &found.rows))
        (pager(lang, after.is_some().then_some(here), next.as_deref()))
        p class="acts" { a class="button" href="/ui/editions/subscribers/export" download="subscribers.csv" { (lang.pick("Download as CSV", "下载 CSV")) } }
        (Equivalent::call("GET", "/api/v1/subscribers").cli(["edition", "subscriber", "list"]).show(viewer))
    })
}

fn rows(viewer: &Viewer, rows: &[Subscriber]) -> Markup {
    let lang = viewer.lang;
    table! { lang; "Addresses, oldest first", "地址，最早的在前"; or "None.", "无。";
        for (it in rows) tr()
        "Address", "地址" { th scope="row" { a href=(subscriber_path(it.id)) { (it.address.as_str()) } } }
        "State", "状态" { td { (state_of(lang, it.state)) } }
        "Edition", "日报" { td { (it.edition) } }
        "Bounces", "拒收次数" { td class="number" { (it.bounces) } }
        "Confirmed", "确认时间" { td { (viewer.at_or_dash(it.confirmed_at)) } }
        "Ended", "结束时间" { td { (viewer.at_or_dash(it.ended_at)) } }
    }
}

pub(super) fn state_of(lang: Lang, state: SubscriberState) -> Markup {
    let (look, words) = match state {
        SubscriberState::Pending => ("waiting", lang.pick("waiting for confirmation", "等待确认")),
        SubscriberState::Confirmed => ("done", lang.pick("confirmed", "已确认")),
        SubscriberState::Unsubscribed => ("cancelled", lang.pick("unsubscribed", "已退订")),
        SubscriberState::Bounced => ("failed", lang.pick("bounced", "被拒收")),
    };
    badge(look, words)
}

/// The edition to choose, where there are several.
fn of_which(lang: Lang, view: &NewsletterView) -> Markup {
    let names: Vec<&str> = view.editions.iter().map(|it| it.edition.as_str()).collect();
    let label = lang.pick("Edition", "日报");
    html! { @if names.len() > 1 { (choice("edition", label, None, names.iter().map(|name| (name, name)))) }
    @else if let Some(only) = names.first() { (form::hidden([("edition", only)])) } }
}

fn adding(viewer: &Viewer, view: &NewsletterView, wrong: Option<(&AddForm, &Problem)>) -> Markup {
    let lang = viewer.lang;
    let typed = wrong.map_or("", |(form, _)| form.address.as_str());
    let agreed = [
        (
            "ask",
            lang.pick("Send a mail with a link to confirm", "发送带链接的确认邮件"),
        ),
        (
            "add",
            lang.pick(
                "They agreed already: subscribe at once",
                "对方已同意：立即订阅",
            ),
        ),
    ];
    let fields = html! {
        @if let Some((_, problem)) = wrong { (refused(lang, problem)) }
        div class="fields" {
            label { (lang.pick("Mail address", "邮箱地址"))
                input type="email" name="address" required maxlength="254" value=(typed); }
            (of_which(lang, view))
            label { (lang.pick("Language (empty: the edition's)", "语言（留空则与日报相同）"))
                input name="language" maxlength="35" placeholder="en"; }
            (choice("how", lang.pick("Consent", "同意"), None, agreed))
            button type="submit" { (lang.pick("Add", "添加")) }
        }
    };
    section! { lang; "add", "Add a subscriber", "添加订阅者";
        (form::form(viewer, "/ui/editions/subscribers", &fields))
        (Equivalent::call("POST", "/api/v1/subscribers").body(&json!({ "address": "ada@site.example", "confirm": true }))
            .cli(["edition", "subscriber", "add", "ada@site.example", "--confirm"]).show(viewer))
    }
}

/// Whom to add, and how.
#[derive(Debug, Deserialize)]
pub(crate) struct AddForm {
    address: String,
    edition: Option<String>,
    language: Option<String>,
    #[serde(default)]
    how: How,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum How {
    #[default]
    Ask,
    Add,
}

/// Adds a subscriber, or asks them.
pub(crate) async fn add(Filled(state, viewer, form): Filled<AddForm>) -> Answer {
    match added(&state, &form).await {
        Ok(path) => Ok(see(&path)),
        Err(problem) if problem.code == Code::InvalidValue => {
            let view = overview(&state).await?;
            let body = adding(&viewer, &view, Some((&form, &problem)));
            let title = viewer.lang.pick("Add a subscriber", "添加订阅者");
            Ok(again(page(&viewer, Place::Editions, title, &body)))
        }
        Err(problem) => Err(problem),
    }
}

async fn added(state: &AppState, form: &AddForm) -> Result<String> {
    let address = parse_address(&form.address)?;
    let edition = parse_edition(form.edition.as_deref())?;
    let language = form.language.as_deref().filter(|tag| !tag.is_empty());
    if language.is_some_and(|tag| !csv::is_language(tag)) {
        let detail = both!(
            "language must be a tag such as en or zh-CN",
            "language 须为语言标签，例如 en 或 zh-CN"
        );
        return Err(Problem::invalid("language", detail));
    }
    let subscribers = subscribers(state);
    let (added, row) = match form.how {
        How::Ask => subscribers.invite(edition, &address, language).await?,
        How::Add => {
            let language = language.map(str::to_owned);
            subscribers.add(edition, address, language).await?
        }
    };
    Ok(format!("{}?did={added}", subscriber_path(row.id)))
}

fn importing(viewer: &Viewer, view: &NewsletterView, done: Option<&Imported>) -> Markup {
    let lang = viewer.lang;
    let fields = html! {
        // Without the script no code reads the file, so the field is hidden.
        p hidden data-file { label { (lang.pick("CSV file", "CSV 文件"))
            input type="file" accept=".csv,text/csv" data-into="subscribers-text"; } }
        label class="wide" for="subscribers-text" { (lang.pick("CSV with the columns email, language and state, or an address per line", "CSV（列：email、language、state），或每行一个地址")) }
        textarea id="subscribers-text" name="list" required rows="5" spellcheck="false" {}
        div class="fields" { (of_which(lang, view)) button type="submit" { (lang.pick("Import", "导入")) } }
    };
    section! { lang; "import", "Import", "导入";
        @if let Some(done) = done { (outcome(lang, done)) }
        p class="hint" { (pick!(lang; "Only people who agreed: no mail is sent to confirm. Importing twice adds nobody twice, and whoever unsubscribed stays so.",
            "仅限已同意的人：不会发送确认邮件。重复导入不会重复添加，已退订者保持退订。")) }
        (form::form(viewer, "/ui/editions/subscribers/import", &fields))
        (Equivalent::call("POST", "/api/v1/subscribers/csv").cli(["edition", "subscriber", "import", "people.csv"]).show(viewer))
    }
}

fn outcome(lang: Lang, done: &Imported) -> Markup {
    let Imported {
        added,
        existing,
        ended,
        refused,
        problems,
    } = done;
    html! {
        p role="status" { (say!(lang; "{added} added, {existing} existed, {ended} stay unsubscribed, {refused} refused.",
            "新增 {added}，已存在 {existing}，保持退订 {ended}，被拒绝 {refused}。")) }
        @if !problems.is_empty() { ul { @for problem in problems { li { (english(lang, problem)) } } } }
    }
}

/// A list to import.
#[derive(Debug, Deserialize)]
pub(crate) struct ImportForm {
    list: String,
    edition: Option<String>,
}

/// Imports a list. The answer is a page and no redirect, because the result is not stored.
pub(crate) async fn import(Filled(state, viewer, form): Filled<ImportForm>) -> Page {
    let edition = parse_edition(form.edition.as_deref())?;
    let done = subscribers(&state).import(edition, &form.list).await?;
    let view = overview(&state).await?;
    let body = importing(&viewer, &view, Some(&done));
    let title = viewer.lang.pick("Import result", "导入结果");
    Ok(page(&viewer, Place::Editions, title, &body))
}

/// All subscribers as a file. Separate from the API's, because a browser has a session and no token.
pub(crate) async fn export(State(state): App, viewer: Viewer) -> Answer {
    admitted(&viewer)?;
    csv_of(&state, SubscriberFilter::default()).await
}
