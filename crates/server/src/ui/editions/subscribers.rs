//! The newsletter: subscribers by state, mailings and how far they are, and who subscribed.

use almanack_core::newsletter::subscriber::State as SubscriberState;
use almanack_core::newsletter::{Subscriber, SubscriberId, mailing};
use almanack_core::store::SubscriberFilter;

use crate::newsletter::{CountsView, MailingView, overview};
use crate::ui::prelude::*;

/// Subscribers per page.
const PAGE: usize = 50;

#[derive(Debug, Deserialize)]
pub(crate) struct Query {
    /// Only those with larger numbers.
    after: Option<i64>,
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
    let body = html! {
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
        }
        (section! { lang; "counts", "Subscribers", "订阅者";
            (live("counts", &counts(lang, &view.subscribers)))
        })
        (section! { lang; "mailings", "Mailings", "邮件发送";
            (live("mailings", &mailings(&viewer, &view.mailings)))
            (Equivalent::call("GET", "/api/v1/newsletter").cli(["edition", "subscriber", "status"]).show(&viewer))
        })
        @if viewer.may(Scope::Operate) { (people(&state, &viewer, query.after).await?) }
    };
    let title = lang.pick("Newsletter", "邮件订阅");
    Ok(page(&viewer, Place::Editions, title, &body))
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
    let lang = viewer.lang;
    table! { lang; "Mailings, latest day first", "邮件发送，最近日期在前";
        or "No edition was mailed yet.", "还没有通过邮件发送的日报。";
        for (it in mailings) tr()
        "Day", "日期" { th scope="row" { a href=(links::edition(it.mailing.id)) { (it.mailing.id) } } }
        "State", "状态" { td { (standing(lang, it)) } }
        "Sent", "已发送" { td class="number" { (it.messages.confirmed) } }
        "Waiting", "等待" { td class="number" { (it.messages.waiting + it.messages.unknown) } }
        "Failed", "失败" { td class="number" { (it.messages.failed) } }
        "Skipped", "已跳过" { td class="number" { (it.messages.skipped) } }
        "Begun", "开始时间" { td { (viewer.instant(it.mailing.created_at)) } }
    }
}

fn standing(lang: Lang, it: &MailingView) -> Markup {
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
        (Equivalent::call("GET", "/api/v1/subscribers").cli(["edition", "subscriber", "list"]).show(viewer))
    })
}

fn rows(viewer: &Viewer, rows: &[Subscriber]) -> Markup {
    let lang = viewer.lang;
    table! { lang; "Addresses, oldest first", "地址，最早的在前"; or "None.", "无。";
        for (it in rows) tr()
        "Address", "地址" { th scope="row" { (it.address.as_str()) } }
        "State", "状态" { td { (state_of(lang, it.state)) } }
        "Edition", "日报" { td { (it.edition) } }
        "Bounces", "拒收次数" { td class="number" { (it.bounces) } }
        "Confirmed", "确认时间" { td { (viewer.at_or_dash(it.confirmed_at)) } }
        "Ended", "结束时间" { td { (viewer.at_or_dash(it.ended_at)) } }
    }
}

fn state_of(lang: Lang, state: SubscriberState) -> Markup {
    let (look, words) = match state {
        SubscriberState::Pending => ("waiting", lang.pick("waiting for confirmation", "等待确认")),
        SubscriberState::Confirmed => ("done", lang.pick("confirmed", "已确认")),
        SubscriberState::Unsubscribed => ("cancelled", lang.pick("unsubscribed", "已退订")),
        SubscriberState::Bounced => ("failed", lang.pick("bounced", "被拒收")),
    };
    badge(look, words)
}
