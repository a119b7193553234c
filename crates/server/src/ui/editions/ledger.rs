//! The newsletter's ledger on pages: a mailing with its messages, and a subscriber with theirs, with
//! what a person may do about them (ED-43).

use almanack_core::edition::delivery::State as MailState;
use almanack_core::newsletter::SubscriberId;
use almanack_core::newsletter::mailing::Mail;
use almanack_core::newsletter::subscriber::State as SubscriberState;
use almanack_core::store::MailFilter;

use super::subscribers::{counts_of, standing, state_of};
use super::words;
use crate::editions::Dated;
use crate::newsletter::ledger::{MessageView, mailing_ledger, parse_state, subscriber_ledger};
use crate::newsletter::{Numbered, admitted, subscribers};
use crate::ui::prelude::*;

/// Messages per page.
const PAGE: usize = 50;
const LIST: &str = "/ui/editions/subscribers";

pub(super) fn mailing_path(id: EditionId) -> String {
    format!("{LIST}/mailings/{id}")
}

pub(super) fn subscriber_path(id: SubscriberId) -> String {
    format!("{LIST}/{id}")
}

#[derive(Debug, Deserialize)]
pub(crate) struct MailingQuery {
    state: Option<String>,
    /// Only to subscribers with larger numbers.
    after: Option<i64>,
}

/// A mailing.
pub(crate) async fn mailing(Dated(id): Dated, sought: Sought<MailingQuery>) -> Page {
    let Sought(state, viewer, query) = sought;
    admitted(&viewer)?;
    let wanted = query.state.as_deref().filter(|it| !it.is_empty());
    let wanted = wanted.map(parse_state).transpose()?;
    let filter = MailFilter {
        id,
        state: wanted,
        after: query.after.map(SubscriberId),
        limit: PAGE,
    };
    let view = mailing_ledger(&state, &filter).await?;
    let (lang, here) = (viewer.lang, mailing_path(id));
    let named = wanted.map_or("", MailState::as_str);
    let last = view
        .ledger
        .last()
        .map(|it| it.mail.subscriber_id.to_string());
    let next = last.filter(|_| view.next_cursor.is_some());
    let next = next.map(|after| address(&here, [("state", named), ("after", after.as_str())]));
    let first = address(&here, [("state", named)]);
    let (it, day) = (&view.mailing, id.to_string());
    let all = [(String::new(), lang.pick("all", "全部").to_owned())];
    let options = MailState::ALL.map(|it| (it.as_str().to_owned(), said(lang, it).to_owned()));
    let body = html! {
        (section! { lang; "mailing", "Mailing", "邮件发送";
            (facts! { lang;
                "Edition", "日报" { a href=(links::edition(id)) { (id) } }
                "State", "状态" { (standing(lang, it)) }
                "Messages", "邮件" { (counts_of(lang, &it.messages)) }
                "Begun", "开始时间" { (viewer.at(it.mailing.created_at)) }
                "Ended", "结束时间" { (viewer.at_or_dash(it.mailing.ended_at)) }
            })
        })
        (section! { lang; "ledger", "Messages", "邮件";
            form method="get" action=(here) { div class="fields" {
                (choice("state", lang.pick("State", "状态"), Some(named), all.into_iter().chain(options)))
                button type="submit" { (lang.pick("Show", "显示")) }
            } }
            (messages(&viewer, &view.ledger))
            (pager(lang, query.after.is_some().then_some(first.as_str()), next.as_deref()))
            (Equivalent::call("GET", format!("/api/v1/newsletter/mailings/{id}")).cli(["edition", "mailing", &day]).show(&viewer))
        })
    };
    let title = say!(lang, "Mailing of {id}", "{id} 的邮件发送");
    Ok(page(&viewer, Place::Editions, &title, &body))
}

fn messages(viewer: &Viewer, rows: &[MessageView]) -> Markup {
    let lang = viewer.lang;
    table! { lang; "Messages by subscriber", "按订阅者的邮件"; or "No such messages.", "没有符合条件的邮件。";
        for (it in rows) tr()
        "Address", "地址" { th scope="row" { a href=(subscriber_path(it.mail.subscriber_id)) { (it.address.as_str()) } } }
        "State", "状态" { td { (mail_state(lang, &it.mail)) } }
        "Tries", "尝试" { td class="number" { (it.mail.attempts) } }
        "Detail", "说明" { td { (detail(viewer, &it.mail)) } }
        "Changed", "变更时间" { td { (viewer.at(it.mail.updated_at)) } }
    }
}

/// What became of a message.
fn mail_state(lang: Lang, mail: &Mail) -> Markup {
    let look = match (mail.state, mail.retry_at) {
        (MailState::Failed, None) => "failed",
        (MailState::Failed, Some(_)) => return words::delivery(lang, mail.state),
        (MailState::Intended, _) => "planned",
        (MailState::Sent, _) => "running",
        (MailState::Confirmed, _) => "done",
        (MailState::Unknown, _) => "unknown",
        (MailState::Skipped, _) => "skipped",
    };
    badge(look, said(lang, mail.state))
}

fn said(lang: Lang, state: MailState) -> &'static str {
    words! { lang, state;
        MailState::Intended => "waiting", "待发送";
        MailState::Sent => "being sent", "发送中";
        MailState::Confirmed => "sent", "已发送";
        MailState::Unknown => "in doubt", "存疑";
        MailState::Failed => "failed", "失败";
        MailState::Skipped => "skipped", "已跳过";
    }
}

fn detail(viewer: &Viewer, mail: &Mail) -> Markup {
    let lang = viewer.lang;
    html! {
        (or_dash(mail.detail.as_ref().map(|it| english(lang, it))))
        @if let Some(at) = mail.retry_at { br; (lang.pick("next attempt ", "下次尝试 ")) (viewer.at(at)) }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct SubscriberQuery {
    did: Option<String>,
    /// Only messages of days before.
    before: Option<String>,
}

/// A subscriber.
pub(crate) async fn subscriber(Numbered(id): Numbered, sought: Sought<SubscriberQuery>) -> Page {
    let Sought(state, viewer, query) = sought;
    admitted(&viewer)?;
    let before = query.before.as_deref().and_then(|day| day.parse().ok());
    let view = subscriber_ledger(&state, id, (before, PAGE)).await?;
    let (lang, here, it) = (viewer.lang, subscriber_path(id), &view.subscriber);
    let last = view.ledger.last().map(|mail| mail.id.date.to_string());
    let next = last.filter(|_| view.next_cursor.is_some());
    let next = next.map(|day| address(&here, [("before", day.as_str())]));
    let number = id.to_string();
    let body = html! {
        @if let Some(did) = query.did.as_deref().and_then(|code| done(lang, code)) { (notice(&html! { p { (did) } })) }
        (section! { lang; "who", "Subscriber", "订阅者";
            (facts! { lang;
                "Address", "地址" { (it.address.as_str()) }
                "Edition", "日报" { (it.edition) }
                "State", "状态" { (state_of(lang, it.state)) }
                "Language", "语言" { (or_dash(it.language.as_deref())) }
                "Bounces", "拒收次数" { (it.bounces) }
                "Added", "添加时间" { (viewer.at(it.created_at)) }
                "Confirmed", "确认时间" { (viewer.at_or_dash(it.confirmed_at)) }
                "Ended", "结束时间" { (viewer.at_or_dash(it.ended_at)) }
            })
            div class="acts" {
                @if it.state != SubscriberState::Confirmed {
                    (form::button(&viewer, &format!("{here}/ask"), lang.pick("Send a mail to confirm", "发送确认邮件")))
                }
                @if it.state != SubscriberState::Unsubscribed {
                    (form::button(&viewer, &format!("{here}/unsubscribe"), lang.pick("Unsubscribe", "退订")))
                }
                a class="button" href={ (here) "/remove" } { (lang.pick("Delete…", "删除…")) }
            }
        })
        (section! { lang; "ledger", "Messages", "邮件";
            (of_editions(&viewer, &view.ledger))
            (pager(lang, before.is_some().then_some(here.as_str()), next.as_deref()))
            (Equivalent::call("GET", format!("/api/v1/subscribers/{id}")).cli(["edition", "subscriber", "show", &number]).show(&viewer))
        })
    };
    Ok(page(&viewer, Place::Editions, it.address.as_str(), &body))
}

fn of_editions(viewer: &Viewer, rows: &[Mail]) -> Markup {
    let lang = viewer.lang;
    table! { lang; "Messages, newest day first", "邮件，最近日期在前"; or "No edition was mailed to them yet.", "还没有发送过日报。";
        for (it in rows) tr()
        "Edition", "日报" { th scope="row" { a href=(mailing_path(it.id)) { (it.id) } } }
        "State", "状态" { td { (mail_state(lang, it)) } }
        "Tries", "尝试" { td class="number" { (it.attempts) } }
        "Detail", "说明" { td { (detail(viewer, it)) } }
        "Changed", "变更时间" { td { (viewer.at(it.updated_at)) } }
    }
}

fn done(lang: Lang, code: &str) -> Option<&'static str> {
    words! { lang, code?;
        "new" => "Subscribed. No mail was sent to confirm.", "已订阅，未发送确认邮件。";
        "existing" => "No change: subscribed already.", "未作更改：已经订阅。";
        "confirmed" => "Confirmed, and subscribed.", "已确认并订阅。";
        "ended" =>
            "No change: whoever unsubscribed or bounced is subscribed again only by their own confirmation.",
            "未作更改：已退订或被拒收的地址只能由本人重新确认。";
        "asked" => "A mail with a link is on its way.", "确认邮件已在发送途中。";
        "waiting" =>
            "No change: the address got a mail with a link within the hour, or five in a month.",
            "未作更改：一小时内已发送过确认邮件，或一个月内已发送五封。";
        "unsubscribed" => "Unsubscribed.", "已退订。";
    }
}

/// Sends another mail to confirm.
pub(crate) async fn ask_again(Numbered(id): Numbered, Filled(state, _, _): Filled) -> Answer {
    let (added, _) = subscribers(&state).ask_again(id).await?;
    Ok(see(&format!("{}?did={added}", subscriber_path(id))))
}

pub(crate) async fn unsubscribe(Numbered(id): Numbered, Filled(state, _, _): Filled) -> Answer {
    subscribers(&state).unsubscribe(id).await?;
    Ok(see(&format!("{}?did=unsubscribed", subscriber_path(id))))
}

/// Asks before a subscriber is deleted.
pub(crate) async fn ask_removing(
    State(state): App,
    Numbered(id): Numbered,
    viewer: Viewer,
) -> Page {
    admitted(&viewer)?;
    let (lang, number) = (viewer.lang, id.to_string());
    let row = subscribers(&state).load(id).await?;
    let question = Question {
        title: &say!(lang, "Delete {}?", "删除 {}？", row.address),
        sentence: html! { (pick!(lang;
        "The address and its messages in the ledger are deleted. It can then be added or imported again; to stop mail, unsubscribe it instead.",
        "该地址及其邮件记录会被删除，之后可再次添加或导入。若只想停发邮件，请改用退订。")) },
        fields: html! {},
        button: lang.pick("Delete", "删除"),
        back: &subscriber_path(id),
        equivalent: Equivalent::call("DELETE", format!("/api/v1/subscribers/{id}")).cli([
            "edition",
            "subscriber",
            "remove",
            &number,
        ]),
    };
    Ok(form::ask(&viewer, Place::Editions, &question))
}

pub(crate) async fn remove(Numbered(id): Numbered, Filled(state, _, _): Filled) -> Answer {
    subscribers(&state).remove(id).await?;
    Ok(see(&format!("{LIST}?did=removed")))
}
